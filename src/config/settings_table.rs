//! The table of the allocators' settings, the only place with their names.

use SettingKind::{Factor, Limit, Registers, Row, Switch};

/// Kind of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// `on` or `off`.
    Switch,
    /// A whole number in a range, its ends included.
    Whole {
        /// Least value.
        min: u32,
        /// Greatest value.
        max: u32,
    },
    /// A whole number, or `none` for no limit.
    Limit,
    /// A finite number from 0.
    Factor,
    /// A range of registers, `16..32`, or `none`.
    Registers,
    /// The length of a register tuple, or `none` for any length.
    Row,
}

/// A row of the table of settings.
#[derive(Debug)]
pub struct SettingSpec {
    /// Name.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: SettingKind,
    /// Description.
    pub help: &'static str,
}

const COUNT: SettingKind = SettingKind::Whole { min: 0, max: u32::MAX };
const TRIALS: SettingKind = SettingKind::Whole { min: 1, max: 100 };
const FROM_ONE: SettingKind = SettingKind::Whole { min: 1, max: u32::MAX };

const fn row(name: &'static str, kind: SettingKind, help: &'static str) -> SettingSpec {
    SettingSpec { name, kind, help }
}

/// All settings. Names with `RegAlloc` are ptxas's own.
pub const SETTINGS: &[SettingSpec] = &[
    row("predicates", COUNT, "Number of predicates."),
    row("packs-halves", Switch, "Two 16-bit values share a register."),
    row("caller-saved", Registers, "Registers that calls clobber."),
    row("reserved", Registers, "Registers that are never allocated."),
    row("tuples", Switch, "Registers that an instruction uses as one tuple are allocated as one tuple."),
    row("matrix-tuple", Row, "The longest tuple of a matrix instruction of one warp."),
    row("warpgroup-tuple", Row, "The longest tuple of a matrix instruction of four warps."),
    row("cost-is-product", Switch, "The frequencies of definitions and uses are multiplied; off adds them."),
    row("latency-1", Factor, "Cost of an access to a spilled value while up to `cache-1` bytes are live."),
    row("latency-2", Factor, "Cost of an access to a spilled value while up to `cache-2` bytes are live."),
    row("latency-3", Factor, "Cost of an access to a spilled value while more than `cache-2` bytes are live."),
    row("cache-1", COUNT, "Live bytes up to which an access costs `latency-1`."),
    row("cache-2", COUNT, "Live bytes up to which an access costs `latency-2`."),
    row("loop-base", Factor, "Factor of a live range's cost for each loop around it."),
    row("uniform-factor", Factor, "Factor of the cost of values that are the same in all threads of a warp."),
    row("clamp", Factor, "Highest cost of a live range."),
    row("store-factor", Factor, "Cost of a store, in loads."),
    row(
        "high-pressure-weight",
        Factor,
        "Cost of an access, instead of the latencies, in a register file whose pressure exceeds its registers.",
    ),
    row(
        "register-usage-level",
        SettingKind::Whole { min: 0, max: 10 },
        "ptxas's option of this name: the cost of spills is multiplied by a fifth of the value; 5 changes nothing.",
    ),
    row("floor-primary", Factor, "Live ranges whose spill costs less than this are spilled last."),
    row(
        "floor-secondary",
        Factor,
        "Live ranges whose reads after their last definition cost at most this are also spilled last; 0 sets no floor.",
    ),
    row("zero-cost-pruning", Switch, "Live ranges that cost nothing to spill are spilled last, too."),
    row(
        "density-budget",
        Limit,
        "Live ranges are also spilled last if, wherever they are live, there are at least this many registers for each \
         live range.",
    ),
    row(
        "aggregate-copies",
        Switch,
        "If only a copy in an arm of a diamond reads a value, the value's cost includes the cost of the copy.",
    ),
    row("RegAllocEstimatedLoopIterations", FROM_ONE, "Trip count of loops, instead of LLVM's estimate."),
    row("budget-fraction", Switch, "Only a part of a small number of registers is used, as in ptxas, for occupancy."),
    row(
        "budget-fraction-least",
        Factor,
        "Part of the registers that is used if there are up to 160; the part rises to 1 at 255 registers.",
    ),
    row(
        "degree-limit",
        Limit,
        "`briggs`: the K of its degree tests, in registers. It does not limit registers: the limit comes from the \
         kernel.",
    ),
    row("degree-factor", Factor, "`briggs`: weight of a neighbour's degree in its merge test."),
    row(
        "always-below",
        Factor,
        "`briggs`: a copy is merged if both sides have a degree below this part of K (`degree-limit`).",
    ),
    row(
        "never-above",
        Factor,
        "`briggs`: a copy is not merged if the result would have a degree above this multiple of K (`degree-limit`).",
    ),
    row("local-most", COUNT, "The most bytes of local memory for the slots of a thread."),
    row("cleanup", Switch, "The code of an allocation is cleaned up; in a compilation, loads are placed lazily."),
    row(
        "split-threshold",
        Limit,
        "Live ranges that span more instructions are split at loops; with 0 or none, no live range is split.",
    ),
    row("split-all-above", Limit, "If there are more live ranges than this, all are split at loops, however short."),
    row("split-rounds", COUNT, "Number of rounds in which all live ranges are allocated again after splits."),
    row("split-iterations", Limit, "The most loop boundaries at which one round splits."),
    row("split-gain", Factor, "A round splits at a boundary if the split can save more words than this."),
    row("RegAllocCoalescing", Switch, "`fatpoint`: the sides of copies are merged."),
    row("RegAllocCoalesceMaxFanout", FROM_ONE, "`fatpoint`: the most copies that are merged into one live range."),
    row("RegAllocCoalesceMaxDepth", FROM_ONE, "`fatpoint`: the most live ranges that become one live range."),
    row("RegAllocCoalesceMaxWidth", FROM_ONE, "`fatpoint`: greatest width of live ranges that are merged, in units."),
    row("merge-by-weight", Switch, "`fatpoint`: a copy is merged only if its target weighs no more than its source."),
    row("merge-rounds", FROM_ONE, "`fatpoint`: number of passes over all copies."),
    row(
        "RegAllocNumNonSpillTrials",
        TRIALS,
        "`fatpoint`: number of trials without spills, followed by as many with spills.",
    ),
    row("spill-trials", TRIALS, "`fatpoint`: number of trials with spills, if it differs from the number without."),
    row("retry-step", FROM_ONE, "`fatpoint`: units by which the aim falls with each trial with spills."),
    row(
        "guidance-queues",
        Switch,
        "`fatpoint`: guidance first takes live ranges that wait for their next read, by cost.",
    ),
];
