//! What the verifier finds.

use std::fmt;

use crate::function::{Block, Function, Inst, Position, Slot, VReg};

/// What is wrong with a slot, or with a store to it or a reload from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// A reload to which no path leads from a store.
    NoStore,
    /// A reload to which some path leads without a store.
    MaybeUnwritten,
    /// A reload of memory that another value has overwritten.
    Overwritten,
    /// A reload of a value that its register no longer has.
    Old,
    /// A reload as another class than that of the store: of another width, or a predicate in another encoding.
    Encoding,
    /// A reload for readers of two registers.
    TwoValues,
    /// An access that is narrower or wider than its slot.
    Width,
    /// A slot that is not aligned to what is stored there.
    Misaligned,
    /// A slot in no array, or behind the end of the array.
    Outside,
    /// A slot where another one lies.
    Overlap,
    /// A store or reload within a call sequence.
    CallSequence,
    /// A note: a store whose slot no path reads.
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

    /// A short name, as reports show it.
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

    /// Whether the function may compute something else; otherwise the finding is a note.
    pub fn is_error(self) -> bool {
        self != Self::Unread
    }

    /// What makes it right.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::NoStore => "store the register behind its definition",
            Self::MaybeUnwritten => "move the store to where all paths to the reload lead through it",
            Self::Overwritten => "give the two values slots of their own",
            Self::Old => "move the store behind the last definition ahead of the reload",
            Self::Encoding => "reload the class that was stored",
            Self::TwoValues => "give each of them a reload of its own",
            Self::Width => "make the slot as large as the register",
            Self::Misaligned => "align the slot to its size",
            Self::Outside => "make the array larger",
            Self::Overlap => "move one of them behind the other's last thread",
            Self::CallSequence => "move it ahead of the sequence or behind it",
            Self::Unread => "leave it out",
        }
    }
}

/// Where something stands: in front of an instruction of the view, or at a block's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The block.
    pub block: Block,
    /// The instruction of the view; `None`: there is none behind it in its block.
    pub before: Option<Inst>,
    /// The line of that instruction, 0 where unknown.
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
            Some(inst) => write!(f, "in front of {inst} in {}", self.block)?,
            None => write!(f, "at the end of {}", self.block)?,
        }
        if self.line > 0 {
            write!(f, " (line {})", self.line)?;
        }
        Ok(())
    }
}

/// One thing that is wrong with a slot, or could be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The slot.
    pub slot: Slot,
    /// The register of the access, as it is named in the edited function; `None`: it is about the slot itself.
    pub reg: Option<VReg>,
    /// Where the access stands.
    pub place: Option<Place>,
    /// What is wrong, on one line.
    pub reason: String,
}

impl fmt::Display for Finding {
    /// `reload of unwritten memory: %9 from slot0 in front of i7 in bb3 (line 12): …; move the store …`
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
