//! The checker's index types.

use crate::define_index;

define_index! {
    /// What holds a value: a register, or a slot that edits made, seen as of one class.
    Location, "loc"
}
define_index! {
    /// A constant.
    ConstantId, "const"
}
define_index! {
    /// An opcode with its operands, registers left out.
    SkeletonId, "op"
}
define_index! {
    /// An operation on values, away from the instruction that performs it.
    TermId, "term"
}
