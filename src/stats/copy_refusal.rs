//! Reasons for which copies stay, for statistics and remarks.

/// Reason for which a copy stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CopyRefusal {
    /// The two registers hold different values at one point.
    Interference,
    /// The registers live in more than one block, and an option excludes such copies.
    Global,
    /// One register is a frame address, which later passes fold only while it has one definition.
    FrameAddress,
    /// One live range is large and has been tried often.
    LargeRange,
    /// The limit of merges is reached.
    MergeLimit,
}

impl CopyRefusal {
    /// All reasons.
    pub const ALL: [CopyRefusal; 5] =
        [Self::Interference, Self::Global, Self::FrameAddress, Self::LargeRange, Self::MergeLimit];

    /// Returns the reason in words, for statistics and remarks.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interference => "interference",
            Self::Global => "global copy",
            Self::FrameAddress => "frame address",
            Self::LargeRange => "large range",
            Self::MergeLimit => "merge limit",
        }
    }

    /// Whether another merge can remove the reason.
    pub(crate) fn may_pass(self) -> bool {
        match self {
            Self::FrameAddress => true,
            Self::Interference | Self::Global | Self::LargeRange | Self::MergeLimit => false,
        }
    }
}
