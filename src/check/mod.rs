//! The symbolic checker: proves from the view and the edits alone that a change keeps the meaning. [`slots`] is a
//! second, narrower check of stores and reloads only.
//!
//! The checker does not know how the edits were chosen. It knows no liveness. It knows only the
//! [role](crate::function::Role) and the [effects](crate::function::Effects) of an opcode. [`check`] applies the edits
//! and compares the two functions.
//!
//! # What is proven
//! The edited function has the same blocks, plus empty blocks on edges. Both functions therefore take the same paths as
//! long as their branches read the same values. If two jumps have changed places, the branch must read the complement.
//! For corresponding executions, it is sufficient to prove:
//! * Each operand of an instruction that is still in its block reads the same value as before ([`obligations`]). A
//!   debug value may also read no value.
//! * Instructions with effects are kept in their blocks, and instructions with conflicting effects keep their order.
//!   Call sequences stay whole ([`effects`], [`calls`]).
//! * An instruction that may fault executes only on paths on which it executed before, with the same operands
//!   ([`speculation`]).
//! * A jump goes to the same block, or two jumps have changed places and the comparison is the complement ([`turned`]).
//! * An access to shared memory with another base and offset has an unchanged address ([`addresses`]).
//! * Constraints within one instruction still hold ([`operands`]).
//!
//! Other pure instructions may be deleted, moved and cloned: their results are proven at their uses. A value that was
//! undefined before may become any value.
//!
//! # How equality is proven
//! [`values`] numbers values within each block, separately for each function. A read resolves to the result of an
//! instruction of the block, to a constant, or to the content of a location at the block's entry. Copies disappear. An
//! unpack of a value that was just packed disappears, and so does a pack of all parts of one value.
//!
//! [`equality`] proves goals. A goal is two values, one of each function, at the same point of a visit of a block. A
//! goal is
//! * proven, if both values are the same constant, if the old value is undefined, or if both values are the result of
//!   one instruction that both functions have in the block (its operands have obligations of their own);
//! * reduced to the arguments, if both values are results of the same operation;
//! * reduced to the whole value, if the old value packs parts of one value with undefined parts, because the undefined
//!   parts may be the rest of that value;
//! * otherwise reduced to the ends of all predecessors: an entry value becomes the content of the location there, a PHI
//!   becomes its input, and an operation moves there with its arguments;
//! * failed if none of these steps is possible, for example for the result of a load that the other function does not
//!   have. If only the edited function has the load, it is sufficient that the old value is undefined on all paths.
//!
//! A goal that was met before is assumed. The assumption is sound by induction on the execution: the arguments of an
//! operation, and the operands of an instruction in both functions, were computed earlier in the visit; a step to a
//! predecessor goes back by one visit. Therefore every chain of goals ends at the function's start, and no goal depends
//! on itself at the same time.
//!
//! # Cost
//! Numbering is linear, apart from sorting each block's definitions. The number of goals is at most blocks × pairs of
//! values that meet there. Registers whose definitions are unchanged need no goals. The size of terms and their number
//! for each operand are bounded, so the search is short. A goal beyond these bounds is reported, never assumed. Rideau
//! and Leroy, "Validating register allocation and spilling" (CC 2010), prove the same property by forward data flow.
//! Backward goals need no meet of equations, and their cost depends only on the size of the change.

mod addresses;
mod calls;
mod computation;
mod describe;
mod effects;
mod equality;
mod error;
mod ids;
pub mod lowered;
mod obligations;
mod operands;
mod pair;
pub mod slots;
mod speculation;
mod terms;
mod turned;
mod values;

pub use error::{CheckError, ErrorKind};

use crate::function::{EditList, Function};
use pair::Pair;

/// Proves that the edited function computes the same as the view.
///
/// The view must be [valid](Function::validate).
///
/// # Errors
/// Every place where the edited function may compute something else.
pub fn check(before: &Function, edits: &EditList) -> Result<(), Vec<CheckError>> {
    let applied = edits.apply(before).map_err(|error| vec![error.into()])?;
    let pair = Pair::new(before, &applied);
    let mut errors = Vec::new();
    let addresses = addresses::proven(&pair);
    let turned = turned::proven(&pair, &mut errors);
    obligations::check(&pair, &addresses, &mut errors);
    effects::check(&pair, &mut errors);
    calls::check(&pair, &mut errors);
    operands::check(&pair, (&addresses, &turned), &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
