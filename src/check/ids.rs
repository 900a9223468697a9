//! The checker's index types.

use crate::define_index;

define_index! {
    /// A holder of a value: a register, or a slot that the edits create, for values of one class.
    Location, "loc"
}
define_index! {
    /// A constant.
    ConstantId, "const"
}
define_index! {
    /// An opcode with its operands, without the registers.
    SkeletonId, "op"
}
define_index! {
    /// An operation on values, independent of the instruction that executes it.
    TermId, "term"
}
