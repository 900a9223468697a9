//! What keeps the stack variables of a function in memory.

use crate::function::{Inst, VReg};

/// What keeps the variables of a function in memory, as the analysis meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromotionRefusal {
    /// There are none.
    NoStack,
    /// This instruction gives an address away, or does with it what is not followed.
    GivenAway(Inst),
    /// This register holds an address of a variable, or something else.
    Mixed(VReg),
    /// Nothing loads or stores them.
    NotAccessed,
    /// This access has values of a width that is not promoted.
    Width(Inst),
    /// This one has values of another width than the first.
    OtherWidth(Inst, Inst),
    /// This one does not lie on whole values.
    Misaligned(Inst),
    /// They are too many values.
    TooMany,
    /// What this access means would have to be picked from too many values.
    TooManyMeant(Inst),
    /// Picking what this access means costs more than the memory.
    Costly(Inst),
}
