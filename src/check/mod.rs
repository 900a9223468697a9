//! The symbolic checker: proves from view and edits alone that a change keeps the meaning.
//! [`slots`] has a second, narrower check, of stores and reloads alone.
//!
//! It knows nothing of how the edits were made, of liveness, or of any opcode beyond its [role](crate::function::Role)
//! and [effects](crate::function::Effects). [`check`] applies the edits and compares the two functions.
//!
//! # What is proven
//! The edited function has the same blocks (and empty ones on edges), so both functions run along the same paths as
//! long as their branches read the same, or the complement where they are turned. It is enough to show, for corresponding runs:
//! * every instruction that is still in its block reads in each operand what it read before ([`obligations`]);
//!   a debug value reads that or nothing;
//! * the instructions with effects are the same ones, in their blocks, and those that conflict keep their order; call
//!   sequences stay whole ([`effects`], [`calls`]);
//! * what may fault runs only where it ran, and with the operands that it had there ([`speculation`]);
//! * a jump goes where it went, or two jumps have changed places under the complement of a comparison ([`turned`]);
//! * an access to shared memory with another base and another offset has the address that it had ([`addresses`]);
//! * constraints within one instruction hold as they held ([`operands`]).
//!
//! Other pure instructions may be deleted, moved and cloned freely: what they compute is proven where it is used. A
//! value that was undefined before may become any value.
//!
//! # How equality is proven
//! [`values`] numbers values within each block, in each function by itself: a read resolves to what an instruction of
//! the block computes, to a constant, or to what a location held at the block's entry. Copies vanish on the way, so do
//! a part taken of what was just packed and all parts of one value packed again.
//!
//! [`equality`] holds goals: two values, one of each function, at the same point of a visit of a block. A goal is
//! * proven where both are the same constant, or the same instruction that both functions have in the block (its own
//!   operands are obligations), or where the old one is undefined;
//! * reduced to the arguments, where both apply the same operation;
//! * reduced to the whole, where the old one puts parts of one value together with what is undefined: that may be the
//!   rest of it;
//! * else reduced to the ends of all predecessors: an entry value becomes what the location holds there, a PHI its
//!   input, an operation is carried along with its arguments;
//! * not proven where none of this is possible, as with a result of a load that the other side does not have. Where the
//!   edited function has it, it is enough that the old value proves to be undefined on all paths.
//!
//! A goal that was met before is assumed. This is sound by induction on the run: the arguments of an operation, and the
//! operands of an instruction in both functions, were computed earlier in the visit; a step to a predecessor goes one
//! visit back. So every chain of goals ends at the function's start, and no goal rests on itself at the same time.
//!
//! # Cost
//! Numbering is linear but for sorting each block's definitions. Goals are at most blocks × pairs of values that meet
//! there; registers whose definitions the edits left alone make none. Terms that are carried along are bounded in size,
//! and in number for each operand, so the search ends soon; what is not proven within the bounds is reported, never
//! assumed.
//! Rideau and Leroy, "Validating register allocation and spilling" (CC 2010), prove the same by data flow forwards;
//! goals backwards need no meet of equations and pay only for what the edits touched.

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

/// Proves that the edited function means the same as the view; else tells every place where it may not.
///
/// The view must be [valid](Function::validate).
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
