//! Which limit on registers a kernel gets.

use super::Forecast;
use crate::config::RegisterBudget;
use crate::target::machine::Architecture;

impl Forecast {
    /// The registers that a kernel should be limited to, as `.maxnreg` does it; `None` leaves it as it is.
    ///
    /// A kernel keeps a limit of its own, and one whose callees are not all known gets none: they may need more. On its
    /// own, ptxas sometimes spills below what the hardware has for blocks of the kernel's size, for an occupancy that
    /// nobody asked for; told the hardware's number, it does not.
    pub fn limit(&self, architecture: &Architecture, wanted: RegisterBudget) -> Option<u32> {
        if self.is_at_least || self.max_registers.is_some() {
            return None;
        }
        match wanted {
            RegisterBudget::Off => None,
            RegisterBudget::Most(registers) => Some(registers),
            RegisterBudget::Auto if self.spill_bytes() == 0 => None,
            RegisterBudget::Auto => architecture.registers_for_blocks(self.threads?, self.min_blocks.unwrap_or(1)),
        }
    }
}
