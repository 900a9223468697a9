//! Why the stack variables of a function are not promoted.

use crate::function::{Inst, VReg};

/// Why the variables of a function are not promoted, as the analysis finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromotionRefusal {
    /// There are no variables.
    NoStack,
    /// This instruction lets an address escape, or its use of the address is not followed.
    GivenAway(Inst),
    /// This register holds an address of a variable on some paths and another value on others.
    Mixed(VReg),
    /// Nothing loads or stores them.
    NotAccessed,
    /// This access has values of a width that is not promoted.
    Width(Inst),
    /// The second access has values of another width than the first.
    OtherWidth(Inst, Inst),
    /// This access crosses the borders of values.
    Misaligned(Inst),
    /// There are too many values.
    TooMany,
    /// This access would have to select from too many values.
    TooManyMeant(Inst),
    /// Selecting the value of this access costs more than the memory.
    Costly(Inst),
}
