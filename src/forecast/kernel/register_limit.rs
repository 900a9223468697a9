//! Which limit on registers a kernel gets.

use crate::config::RegisterBudget;
use crate::forecast::kernel::forecast::Forecast;
use crate::target::machine::Architecture;

/// Bytes of spills from which on a limit pays. ptxas that gives registers up for occupancy spills thousands of bytes,
/// or a few bytes that are cheaper than the warps.
const MUCH: u32 = 512;

impl Forecast {
    /// Whether a kernel may get a limit: it has none of its own, and all of its callees are known, because others may need
    /// more. A kernel that asks for registers while it runs gets none: ptxas may ignore that without a limit, and do it with one.
    fn may_be_limited(&self) -> bool {
        !(self.is_at_least() || self.is_repartitioned || self.max_registers.is_some())
    }

    /// The registers that a kernel should be limited to, as `.maxnreg` does it; `None` leaves it as it is.
    pub fn limit(&self, wanted: RegisterBudget) -> Option<u32> {
        match wanted {
            RegisterBudget::Most(registers) if self.may_be_limited() => Some(registers),
            RegisterBudget::Off | RegisterBudget::Most(_) => None,
        }
    }

    /// What the hardware has for a block of the kernel's size, if ptxas should be told.
    ///
    /// Of kernels that say how large their blocks are, but not how many of them an SM is to hold, ptxas sometimes
    /// spills far below what the hardware has, for an occupancy that nobody asked for; told the hardware's number, it
    /// does not. The forecast shows it by many spills with less than half of the registers. Nearer to all of them a
    /// limit changes nothing, or spills up or down as it happens; and with a number of blocks ptxas goes by that, and a
    /// limit does nothing.
    pub fn hardware_limit(&self, architecture: &Architecture) -> Option<u32> {
        if !self.may_be_limited() || self.min_blocks.is_some() || self.spill_bytes() < MUCH {
            return None;
        }
        let limit = architecture.registers_for_blocks(self.threads?, 1)?;
        (2 * self.registers < limit).then_some(limit)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::forecast::{Case, UnknownCall, UnknownCallee, forecast_by_name};
    use crate::function::{FunctionBuilder, LaunchBounds};

    /// The forecast of a kernel under bounds, with spills made up.
    fn spilling(bounds: LaunchBounds, spill_store_bytes: u32) -> Forecast {
        let mut function = FunctionBuilder::new("k", Arc::default()).finish();
        function.kernel = Some(bounds);
        let case = Case { architecture: architecture(), max_registers: None };
        let forecasts = forecast_by_name(&[function], &case).expect("the tables can be read");
        Forecast { spill_store_bytes, spill_load_bytes: 0, ..forecasts[0].clone() }
    }

    fn architecture() -> &'static Architecture {
        Architecture::by_name("sm_90").expect("a processor")
    }

    fn auto(forecast: &Forecast) -> Option<u32> {
        forecast.hardware_limit(architecture())
    }

    /// Who spills much with less than half of what the hardware has for one block of that size gets that; who spills
    /// little, uses half of it, has no bounds, or bounds that no launch can meet, gets nothing.
    #[test]
    fn spills_under_bounds() {
        let bounds = LaunchBounds { max_threads: Some(704), ..LaunchBounds::default() };
        assert_eq!(auto(&spilling(bounds, MUCH)), Some(80));
        assert_eq!(auto(&spilling(bounds, MUCH - 4)), None);
        assert_eq!(auto(&Forecast { spill_load_bytes: 4, ..spilling(bounds, MUCH - 4) }), Some(80));
        assert_eq!(auto(&Forecast { registers: 39, ..spilling(bounds, MUCH) }), Some(80));
        assert_eq!(auto(&Forecast { registers: 40, ..spilling(bounds, MUCH) }), None);
        assert_eq!(auto(&spilling(LaunchBounds { max_threads: Some(1025), ..bounds }, MUCH)), None);
        assert_eq!(auto(&spilling(LaunchBounds::default(), MUCH)), None);
        assert_eq!(
            auto(&spilling(LaunchBounds { max_threads: None, required_threads: Some(128), ..bounds }, MUCH)),
            Some(255)
        );
    }

    /// Where a kernel says how many blocks an SM is to hold, ptxas uses what they leave.
    #[test]
    fn blocks_wanted() {
        let bounds = LaunchBounds { max_threads: Some(256), ..LaunchBounds::default() };
        assert_eq!(auto(&spilling(bounds, MUCH)), Some(255));
        for min_blocks in [1, 2] {
            assert_eq!(auto(&spilling(LaunchBounds { min_blocks: Some(min_blocks), ..bounds }, MUCH)), None);
        }
    }

    /// A limit of the kernel's own stays, callees that are not known forbid any, and nothing is done unasked.
    #[test]
    fn kept_as_they_are() {
        let bounds = LaunchBounds { max_threads: Some(512), ..LaunchBounds::default() };
        let own = spilling(LaunchBounds { max_registers: Some(32), ..bounds }, MUCH);
        let call = UnknownCall { callee: UnknownCallee::Pointer, caller: "k".into(), line: 0 };
        let open = Forecast { unknown_calls: vec![call], ..spilling(bounds, MUCH) };
        for kept in [own, open] {
            assert_eq!((kept.limit(RegisterBudget::Most(40)), auto(&kept)), (None, None));
        }
        assert_eq!(spilling(bounds, MUCH).limit(RegisterBudget::Off), None);
        assert_eq!(spilling(bounds, 0).limit(RegisterBudget::Most(40)), Some(40));
    }
}
