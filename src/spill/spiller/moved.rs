//! A value that is moved out of the way, with the places of its stores and loads.

use super::choice::Chosen;
use crate::analysis::Occurrence;
use crate::function::Function;
use crate::spill::at::At;

/// A value that is moved out of the way, and where it comes back.
pub(super) struct Moved {
    pub(super) chosen: Chosen,
    pub(super) reloads: Vec<Reload>,
    /// Where it is stored: at one place at least, unless it is computed again.
    pub(super) stores: Vec<At>,
    /// The end of the instructions behind the only definition, in its block, at whose reads its register is live.
    pub(super) until: u32,
}

/// A new register that a value is loaded into.
pub(super) struct Reload {
    pub(super) at: At,
    pub(super) reads: Vec<Occurrence>,
}

impl Reload {
    /// Whether a read is tied to a definition: the value then comes back in its own register.
    pub(super) fn is_tied(&self, function: &Function) -> bool {
        self.reads.iter().any(|read| function.operands(read.inst)[read.operand as usize].tied.is_some())
    }
}
