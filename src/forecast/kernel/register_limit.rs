//! The register limit that a kernel gets.

use crate::config::KernelRegisterLimit;
use crate::forecast::kernel::forecast::Forecast;
use crate::target::machine::Architecture;

/// Fewest bytes of spills at which a limit pays. If ptxas gives up registers for occupancy, it spills thousands of
/// bytes, or a few bytes that are cheaper than the warps.
const MUCH: u32 = 512;

impl Forecast {
    /// Whether a kernel may get a limit: it has no limit of its own, and all of its callees are known, because unknown
    /// callees may need more. A kernel that requests registers at run time gets no limit: ptxas may ignore the requests
    /// without a limit and honour them with a limit.
    fn may_be_limited(&self) -> bool {
        !(self.is_at_least() || self.is_repartitioned || self.max_registers.is_some())
    }

    /// Returns the register limit for the kernel, which acts like `.maxnreg`. `None` leaves the kernel without a limit.
    pub fn limit(&self, wanted: KernelRegisterLimit) -> Option<u32> {
        match wanted {
            KernelRegisterLimit::Most(registers) if self.may_be_limited() => Some(registers),
            KernelRegisterLimit::Off | KernelRegisterLimit::Most(_) => None,
        }
    }

    /// Returns the registers that the hardware has for a block of the kernel's size, if a limit should pass this number
    /// to ptxas.
    ///
    /// If a kernel gives the size of its blocks, but not the number of blocks on an SM, ptxas sometimes spills far
    /// below the hardware's registers, for an occupancy that was not requested. With the hardware's number as a limit,
    /// ptxas does not spill for occupancy. The forecast of such a kernel has many spills and less than half of the
    /// registers. For a kernel with a forecast of more registers, a limit changes nothing, or changes spills in either
    /// direction. If a kernel gives the number of blocks, ptxas follows that number, and a limit has no effect.
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

    /// Forecasts a kernel under bounds, with made-up spills.
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

    /// A kernel gets the hardware's registers for one block of its size if it spills much with less than half of them.
    /// It gets no limit if it spills little, uses half of them, has no bounds, or has bounds that no launch can meet.
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

    /// If a kernel gives the number of blocks on an SM, ptxas uses the registers that these blocks leave.
    #[test]
    fn blocks_wanted() {
        let bounds = LaunchBounds { max_threads: Some(256), ..LaunchBounds::default() };
        assert_eq!(auto(&spilling(bounds, MUCH)), Some(255));
        for min_blocks in [1, 2] {
            assert_eq!(auto(&spilling(LaunchBounds { min_blocks: Some(min_blocks), ..bounds }, MUCH)), None);
        }
    }

    /// A kernel's own limit stays, unknown callees forbid a limit, and no limit is set unless requested.
    #[test]
    fn kept_as_they_are() {
        let bounds = LaunchBounds { max_threads: Some(512), ..LaunchBounds::default() };
        let own = spilling(LaunchBounds { max_registers: Some(32), ..bounds }, MUCH);
        let call = UnknownCall { callee: UnknownCallee::Pointer, caller: "k".into(), line: 0 };
        let open = Forecast { unknown_calls: vec![call], ..spilling(bounds, MUCH) };
        for kept in [own, open] {
            assert_eq!((kept.limit(KernelRegisterLimit::Most(40)), auto(&kept)), (None, None));
        }
        assert_eq!(spilling(bounds, MUCH).limit(KernelRegisterLimit::Off), None);
        assert_eq!(spilling(bounds, 0).limit(KernelRegisterLimit::Most(40)), Some(40));
    }
}
