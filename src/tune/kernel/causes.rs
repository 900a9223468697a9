//! What limits stock decides what is tried first, and whether anything is.
//!
//! Spilled values go to shared memory as soon as the first orders are tried. Where warps wait, more warps and loads that begin
//! earlier come first; where the work itself takes the time, what takes instructions away. Bandwidth that takes all of it
//! leaves nothing to gain. Turned loops stay at the end, behind the best of all else.

use std::collections::VecDeque;

use super::Kernel;
use super::rounds::ROUND;
use crate::tune::aim::Aim;
use crate::tune::predicted::Cause;
use crate::tune::variant::Variant;

/// The orders that begin loads early.
const LOADS_AHEAD: [&str; 2] = ["latency", "eager"];

impl Kernel {
    /// Takes what limits stock, ahead of the first round.
    pub fn note_cause(&mut self, aim: &Aim, cause: Cause) {
        self.cause = Some(cause);
        if self.is_limited_by_bandwidth() {
            return self.end_rounds();
        }
        let first = self.first_by_cause(aim, cause);
        if self.has_first_choices || first.is_empty() {
            // All else depends on the choices ahead of LLVM's optimisations.
            return;
        }
        // What few kernels have is tried at once with the defaults.
        let default = Variant::DEFAULT;
        let ahead = [default.toggled_name(), default.with_blocks_said(), default];
        let ahead = self.queue.iter().rposition(|variant| ahead.contains(variant));
        // Of what spills, the first orders gain the most, and a search of few runs needs them.
        let behind = if self.stock.spill_bytes() > 0 { ROUND - 1 } else { 0 };
        let at = ahead.map_or(0, |at| at + 1) + behind;
        let rest = self.queue.split_off(at.min(self.queue.len()));
        let rest: VecDeque<Variant> = rest.into_iter().filter(|variant| !first.contains(variant)).collect();
        self.queue.extend(first.into_iter().chain(rest));
    }

    /// Whether nothing helps: bandwidth takes the time of stock, which spills nothing, and no benchmark says otherwise.
    pub fn is_limited_by_bandwidth(&self) -> bool {
        self.cause == Some(Cause::Bandwidth) && self.stock.spill_bytes() == 0 && self.stock.timing.is_none()
    }

    /// What is tried early.
    fn first_by_cause(&self, aim: &Aim, cause: Cause) -> Vec<Variant> {
        let default = Variant::DEFAULT;
        if self.stock.spill_bytes() > 0 {
            let kept = self.with_kept_values(aim, &default, &self.stock).into_iter().take(1);
            return self.may_spill_to_shared.then(|| default.with_smem_spilling()).into_iter().chain(kept).collect();
        }
        match cause {
            Cause::Work => {
                vec![default.with_bits("on"), default.toggled_shared_addresses(), default.toggled_simd_video()]
            }
            Cause::Latency => {
                let step = self.winning_step(aim, &self.stock).map(|step| default.with_limit(step));
                let orders = self.queue.iter().filter(|variant| {
                    variant.kept().is_none()
                        && LOADS_AHEAD.contains(&variant.order())
                        && **variant == default.with_order(variant.order(), 0)
                });
                step.into_iter().chain(orders.cloned()).collect()
            }
            Cause::Bandwidth => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{aim, kernel_with};
    use super::*;
    use crate::tune::aim::Budget;
    use crate::tune::evidence::Real;
    use crate::tune::figures::{Block, Figures, tests::figures};
    use crate::tune::optimisations::Choices;

    fn text_with(stock: Figures) -> Kernel {
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        Kernel::new("k", "0", block, stock, "stock".into(), Choices::Nothing)
    }

    /// What is proposed first where such a cause limits such a stock.
    fn first(stock: Figures, cause: Option<Cause>) -> Vec<String> {
        let mut kernel = text_with(stock);
        cause.into_iter().for_each(|cause| kernel.note_cause(&aim(0), cause));
        (0..6).map(|_| kernel.propose(&aim(0)).to_string()).collect()
    }

    fn with_registers(stock: Figures, registers: u32) -> Figures {
        Figures { real: Real { registers, ..stock.real }, ..stock }
    }

    /// Each cause has its own axes first, behind the defaults, and nothing is proposed twice.
    #[test]
    fn order_by_cause() {
        let (whole, spilling) = (with_registers(figures(0, 32, 500), 64), with_registers(figures(400, 32, 500), 255));
        let of = |stock, cause| first(stock, cause)[1..].join(" ");
        let plain = of(whole, None);
        let [work, latency] = [Cause::Work, Cause::Latency].map(|cause| of(whole, Some(cause)));
        assert!(latency.contains("maxnreg") && latency.contains("latency"), "{latency}");
        assert!(work.contains("bit-spill") && !work.contains("maxnreg") && work != plain, "{work}");
        let spilled = of(spilling, Some(Cause::Latency));
        assert!(spilled.contains("regalloc=") && !of(spilling, None).contains("regalloc="), "{spilled}");
        let all: std::collections::BTreeSet<String> = first(whole, Some(Cause::Latency)).into_iter().collect();
        assert_eq!(all.len(), 6);
    }

    /// Bandwidth ends the search of what spills nothing, without any run; not of what spills, and not beside a benchmark.
    #[test]
    fn nothing_helps_against_bandwidth() {
        let timing = Some(crate::tune::timing::Timing { median: 1.0, spread: 0.0 });
        let is_asked = |stock: Figures| {
            let mut kernel = text_with(stock);
            kernel.note_cause(&aim(0), Cause::Bandwidth);
            let runs = kernel.share_of(&Budget { runs: 16 });
            assert_eq!(kernel.is_over(runs), kernel.is_limited_by_bandwidth());
            !kernel.ask(&aim(0), runs).is_empty()
        };
        assert!(!is_asked(figures(0, 32, 500)));
        assert!(is_asked(figures(100, 32, 500)));
        assert!(is_asked(Figures { timing, ..figures(0, 32, 500) }));
        let mut other = kernel_with(figures(0, 32, 500));
        other.note_cause(&aim(0), Cause::Latency);
        assert!(!other.ask(&aim(0), 16).is_empty());
    }
}
