//! What the coalescer tells of its work: for statistics and remarks.

use std::time::Duration;

use crate::function::Inst;

/// Why a copy stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The two registers hold different values at one point.
    Interference,
    /// The registers live in more than one block, and such copies are not to be merged.
    Global,
    /// One register is a frame address, which later passes fold only while it has one definition.
    FrameAddress,
    /// One live range is large and has been tried often.
    LargeRange,
    /// The limit of merges is reached.
    MergeLimit,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Refusal; 5] =
        [Self::Interference, Self::Global, Self::FrameAddress, Self::LargeRange, Self::MergeLimit];

    /// The reason in words, for statistics and remarks.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interference => "interference",
            Self::Global => "global copy",
            Self::FrameAddress => "frame address",
            Self::LargeRange => "large range",
            Self::MergeLimit => "merge limit",
        }
    }

    /// Whether another merge can lift it.
    pub(super) fn may_pass(self) -> bool {
        match self {
            Self::FrameAddress => true,
            Self::Interference | Self::Global | Self::LargeRange | Self::MergeLimit => false,
        }
    }
}

/// The coalescer's account of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Merges of two registers.
    pub merges: usize,
    /// Copies that became constants, and an instruction of the view that defines the constant.
    pub rematerialised: Vec<(Inst, Inst)>,
    /// Copies, packs and unpacks that went, in layout order.
    pub removed: Vec<Inst>,
    /// Copies that stay, in layout order, and why.
    pub refused: Vec<(Inst, Refusal)>,
    /// Rounds until nothing changed.
    pub rounds: usize,
    /// The time that the analyses took, in all rounds.
    pub analyses: Duration,
    /// The time that everything else took.
    pub coalescing: Duration,
    /// What the option `trace` asks for: a line for each thing.
    pub trace: String,
}
