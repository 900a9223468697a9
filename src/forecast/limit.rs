//! Which limit on registers a kernel gets.

use super::Forecast;
use crate::config::RegisterBudget;
use crate::target::machine::Architecture;

impl Forecast {
    /// The registers that a kernel should be limited to, as `.maxnreg` does it; `None` leaves it as it is.
    ///
    /// A kernel keeps a limit of its own, and one whose callees are not all known gets none: they may need more. On its
    /// own, ptxas sometimes spills below what the hardware has for blocks of the kernel's size, for an occupancy that
    /// nobody asked for; told the hardware's number, it does not. Told so where it uses them all already, it spills a
    /// little more as often as less.
    pub fn limit(&self, architecture: &Architecture, wanted: RegisterBudget) -> Option<u32> {
        if self.is_at_least || self.max_registers.is_some() {
            return None;
        }
        match wanted {
            RegisterBudget::Off => None,
            RegisterBudget::Most(registers) => Some(registers),
            RegisterBudget::Auto if self.spill_bytes() == 0 => None,
            RegisterBudget::Auto => {
                let limit = architecture.registers_for_blocks(self.threads?, self.min_blocks.unwrap_or(1))?;
                (self.registers < limit).then_some(limit)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::forecast::{Case, forecast};
    use crate::function::{FunctionBuilder, LaunchBounds};

    /// The forecast of a kernel under bounds, with spills made up.
    fn spilling(bounds: LaunchBounds, spill_store_bytes: u32) -> Forecast {
        let mut function = FunctionBuilder::new("k", Arc::default()).finish();
        function.kernel = Some(bounds);
        let case = Case { architecture: architecture(), max_registers: None };
        let forecasts = forecast(&[function], &case).expect("the tables can be read");
        Forecast { spill_store_bytes, spill_load_bytes: 0, ..forecasts[0].clone() }
    }

    fn architecture() -> &'static Architecture {
        Architecture::by_name("sm_90").expect("a processor")
    }

    fn auto(forecast: &Forecast) -> Option<u32> {
        forecast.limit(architecture(), RegisterBudget::Auto)
    }

    /// Who spills below what the hardware has for blocks of that size, that many of them, gets that; who does not
    /// spill, uses all of it, has no bounds, or bounds that no launch can meet, gets nothing.
    #[test]
    fn spills_under_bounds() {
        let bounds = LaunchBounds { max_threads: Some(704), ..LaunchBounds::default() };
        assert_eq!(auto(&spilling(bounds, 64)), Some(80));
        assert_eq!(auto(&spilling(bounds, 0)), None);
        assert_eq!(auto(&Forecast { registers: 79, ..spilling(bounds, 64) }), Some(80));
        assert_eq!(auto(&Forecast { registers: 80, ..spilling(bounds, 64) }), None);
        assert_eq!(auto(&spilling(LaunchBounds { min_blocks: Some(2), ..bounds }, 64)), Some(40));
        assert_eq!(auto(&spilling(LaunchBounds { min_blocks: Some(32), ..bounds }, 64)), None);
        assert_eq!(auto(&spilling(LaunchBounds::default(), 64)), None);
        assert_eq!(
            auto(&spilling(LaunchBounds { max_threads: None, required_threads: Some(128), ..bounds }, 64)),
            Some(255)
        );
    }

    /// A limit of the kernel's own stays, callees that are not known forbid any, and nothing is done unasked.
    #[test]
    fn kept_as_they_are() {
        let bounds = LaunchBounds { max_threads: Some(512), ..LaunchBounds::default() };
        let own = spilling(LaunchBounds { max_registers: Some(32), ..bounds }, 64);
        let open = Forecast { is_at_least: true, ..spilling(bounds, 64) };
        for wanted in [RegisterBudget::Auto, RegisterBudget::Most(40)] {
            assert_eq!((own.limit(architecture(), wanted), open.limit(architecture(), wanted)), (None, None));
        }
        assert_eq!(spilling(bounds, 64).limit(architecture(), RegisterBudget::Off), None);
        assert_eq!(spilling(bounds, 0).limit(architecture(), RegisterBudget::Most(40)), Some(40));
    }
}
