//! Findings of the verifier.

use std::fmt;

use crate::function::{Block, Function, Inst, Position, Slot, VReg};

/// An error in a slot, in a store to a slot, or in a reload from a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// A reload that no store reaches on any path.
    NoStore,
    /// A reload that some path reaches without a store.
    MaybeUnwritten,
    /// A reload of a slot in which another value was stored.
    Overwritten,
    /// A reload of a value although its register was written again after the store.
    Old,
    /// A reload with another class than the store: another width, or another encoding of a predicate.
    Encoding,
    /// A reload whose readers read two registers before the edits.
    TwoValues,
    /// An access that is narrower or wider than its slot.
    Width,
    /// A slot whose alignment is too small for the stored value.
    Misaligned,
    /// A slot without an array, or beyond the end of the array.
    Outside,
    /// A slot that overlaps another slot.
    Overlap,
    /// A store or reload inside a call sequence.
    CallSequence,
    /// A note: a store to a slot that no path reads afterwards.
    Unread,
}

impl FindingKind {
    /// All kinds, in the order of the table in docs/checker.md.
    pub const ALL: [Self; 12] = [
        Self::NoStore,
        Self::MaybeUnwritten,
        Self::Overwritten,
        Self::Old,
        Self::Encoding,
        Self::TwoValues,
        Self::Width,
        Self::Misaligned,
        Self::Outside,
        Self::Overlap,
        Self::CallSequence,
        Self::Unread,
    ];

    /// Returns a short name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoStore => "reload without a store",
            Self::MaybeUnwritten => "reload of unwritten memory",
            Self::Overwritten => "reload of another value",
            Self::Old => "reload of an old value",
            Self::Encoding => "reload in another encoding",
            Self::TwoValues => "reload for two values",
            Self::Width => "access of another width",
            Self::Misaligned => "misaligned slot",
            Self::Outside => "slot outside its array",
            Self::Overlap => "overlapping slots",
            Self::CallSequence => "access in a call sequence",
            Self::Unread => "store that nothing reads",
        }
    }

    /// Whether the function may compute something else. Otherwise the finding is a note.
    pub fn is_error(self) -> bool {
        self != Self::Unread
    }

    /// Returns the correction.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::NoStore => "store the register after its definition",
            Self::MaybeUnwritten => "move the store to a place on all paths to the reload",
            Self::Overwritten => "give each of the two values its own slot",
            Self::Old => "move the store after the last definition before the reload",
            Self::Encoding => "reload the class that was stored",
            Self::TwoValues => "insert a reload for each of the two registers",
            Self::Width => "make the slot as large as the register",
            Self::Misaligned => "align the slot to its size",
            Self::Outside => "make the array larger",
            Self::Overlap => "move one of the slots after the part of the other slot's last thread",
            Self::CallSequence => "move the access before or after the sequence",
            Self::Unread => "remove the store",
        }
    }
}

/// A place: before an instruction of the view, or at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The block.
    pub block: Block,
    /// The instruction of the view. `None` at the end of the block.
    pub before: Option<Inst>,
    /// The source line of that instruction; 0 if unknown.
    pub line: u32,
}

impl Place {
    pub(super) fn new(before: &Function, at: Position) -> Self {
        Self { block: at.block, before: at.before, line: at.before.map_or(0, |inst| before.line(inst)) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.before {
            Some(inst) => write!(f, "before {inst} in {}", self.block)?,
            None => write!(f, "at the end of {}", self.block)?,
        }
        if self.line > 0 {
            write!(f, " (line {})", self.line)?;
        }
        Ok(())
    }
}

/// One error in a slot or an access, or one unnecessary store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The slot.
    pub slot: Slot,
    /// The register of the access, by its number in the edited function. `None` if the finding concerns the slot
    /// itself.
    pub reg: Option<VReg>,
    /// The place of the access.
    pub place: Option<Place>,
    /// The reason, on one line.
    pub reason: String,
}

impl fmt::Display for Finding {
    /// `reload of unwritten memory: %9 and slot0, before i7 in bb3 (line 12): …; move the store …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kind.name())?;
        if let Some(reg) = self.reg {
            write!(f, "{reg} and ")?;
        }
        write!(f, "{}", self.slot)?;
        if let Some(place) = self.place {
            write!(f, ", {place}")?;
        }
        write!(f, ": {}; {}", self.reason, self.kind.remedy())
    }
}
