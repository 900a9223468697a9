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
    row("predicates", COUNT, "How many predicates there are."),
    row("packs-halves", Switch, "Two 16-bit values share a register."),
    row("caller-saved", Registers, "The registers that calls clobber."),
    row("reserved", Registers, "Registers that are never allocated."),
    row("tuples", Switch, "Registers that an instruction names as one row are allocated as one row."),
    row("matrix-tuple", Row, "The longest row of a matrix instruction of one warp."),
    row("warpgroup-tuple", Row, "The longest row of a matrix instruction of four warps."),
    row("cost-is-product", Switch, "Frequencies of definitions and uses are multiplied; off adds them."),
    row("latency-1", Factor, "What an access to a spilled value costs while up to `cache-1` bytes are live."),
    row("latency-2", Factor, "The same up to `cache-2` bytes."),
    row("latency-3", Factor, "The same beyond them."),
    row("cache-1", COUNT, "Live bytes up to which an access costs `latency-1`."),
    row("cache-2", COUNT, "Live bytes up to which an access costs `latency-2`."),
    row("loop-base", Factor, "What each loop around a live range multiplies its cost by."),
    row("uniform-factor", Factor, "What values that are the same in all threads of a warp cost more."),
    row("clamp", Factor, "The most that a live range costs."),
    row("store-factor", Factor, "What a store costs in loads."),
    row(
        "high-pressure-weight",
        Factor,
        "What an access costs instead in a file in which more is live at once than it has registers.",
    ),
    row(
        "register-usage-level",
        SettingKind::Whole { min: 0, max: 10 },
        "ptxas's option of that name: spilling costs a fifth of it as much; 5 changes nothing.",
    ),
    row("floor-primary", Factor, "What costs less to spill is spilled last."),
    row("floor-secondary", Factor, "So is that whose reads behind its last definition cost no more; 0 is no floor."),
    row("zero-cost-pruning", Switch, "So is that which costs nothing to spill."),
    row(
        "density-budget",
        Limit,
        "So is that which is live only where at least so many registers come to each live range.",
    ),
    row(
        "aggregate-copies",
        Switch,
        "A value that an arm of a diamond copies, and that nothing else reads, costs as much as the copy, too.",
    ),
    row(
        "RegAllocEstimatedLoopIterations",
        FROM_ONE,
        "How often loops are taken to turn, in place of what LLVM estimates.",
    ),
    row("budget-fraction", Switch, "Of few registers only a part is used, as ptxas does for occupancy."),
    row("budget-fraction-least", Factor, "The part of up to 160 registers; it rises to 1 at 255."),
    row(
        "degree-limit",
        Limit,
        "`briggs`: the K of its degree tests, in registers. No register limit: that comes from the kernel.",
    ),
    row("degree-factor", Factor, "`briggs`: what the degree of a neighbour counts in its merge test."),
    row("always-below", Factor, "`briggs`: a copy is merged where both sides have less than this part of K as degree."),
    row("never-above", Factor, "`briggs`: none is merged where the result would have more than this multiple of K."),
    row("local-most", COUNT, "The most bytes of local memory for the slots of a thread."),
    row("cleanup", Switch, "The code of an allocation is cleaned up; in a compilation, loads are placed lazily."),
    row("split-threshold", Limit, "Live ranges that span more instructions are split at loops; 0 or none: none are."),
    row("split-all-above", Limit, "With more live ranges than these, all are split at loops, however short."),
    row("split-rounds", COUNT, "How many times everything is placed anew with live ranges split."),
    row("split-iterations", Limit, "The most boundaries of loops that one round splits at."),
    row("split-gain", Factor, "A boundary is split at where that can save more words than these."),
    row("RegAllocCoalescing", Switch, "`fatpoint` merges the sides of copies."),
    row("RegAllocCoalesceMaxFanout", FROM_ONE, "`fatpoint`: the most copies that are merged into one live range."),
    row("RegAllocCoalesceMaxDepth", FROM_ONE, "`fatpoint`: the most live ranges that become one."),
    row("RegAllocCoalesceMaxWidth", FROM_ONE, "`fatpoint`: the widest live ranges that are merged, in units."),
    row("merge-by-weight", Switch, "`fatpoint` merges only where the target of a copy weighs no more than its source."),
    row("merge-rounds", FROM_ONE, "`fatpoint`: how often all copies are gone through."),
    row("RegAllocNumNonSpillTrials", TRIALS, "`fatpoint`: trials without spilling, and then as many with it."),
    row("spill-trials", TRIALS, "`fatpoint`: attempts with spilling; as many as trials without unless given."),
    row("retry-step", FROM_ONE, "`fatpoint`: how many units less each attempt with spilling aims at."),
    row(
        "guidance-queues",
        Switch,
        "`fatpoint`: guidance takes live ranges that wait for their next read first, by cost.",
    ),
];
