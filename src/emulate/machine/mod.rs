//! Runs a launch.
//!
//! * [`world`]: state shared by all threads; [`block`], [`warp`], [`frame`]: blocks, warps and their frames; [`place`],
//!   [`pending`], [`phase`], [`pool`]: addresses, pending copies, mbarriers, and the registers that warps share;
//! * [`schedule`]: the order of warps and of their threads; [`cycle`]: warps that repeat their states;
//! * [`traffic`]: sectors and passes of accesses; [`trace`]: each warp's instructions, in order;
//! * [`next`]: control flow after an instruction; [`meeting`]: acquire and release;
//! * [`step`]: one instruction; [`partial`]: instructions with partly undefined sources; [`access`], [`atomic`],
//!   [`copies`], [`bulk`], [`span`], [`tensor`], [`tensor_memory`], [`tensor_product`], [`call`], [`barrier`],
//!   [`mbarrier`], [`collective`], [`matrix`], [`group`], [`registers`]: families of instructions.

mod access;
mod atomic;
mod barrier;
mod block;
mod bulk;
mod call;
mod collective;
mod copies;
mod cycle;
mod frame;
mod group;
mod matrix;
mod mbarrier;
mod meeting;
mod next;
mod partial;
mod pending;
mod phase;
mod place;
mod pool;
mod registers;
mod schedule;
mod span;
mod step;
mod tensor;
mod tensor_memory;
mod tensor_product;
mod trace;
mod traffic;
mod warp;
mod world;

pub use access::RACE;
pub(super) use schedule::run;
pub use trace::{AccessOfWarp, Step, WarpTrace};
pub use traffic::{AccessSpace, Traffic};
pub(super) use world::{Outcome, Setting, Turns};

/// The way in which a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The launch cannot be compared.
    Unsaid,
    /// The program executes more instructions than allowed.
    Long,
    /// The program does not end.
    Endless,
}

/// The reason why a run stopped, as a sentence, and the kind of stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Halt {
    reason: String,
    end: End,
}

/// A launch that was stopped.
#[derive(Debug)]
pub(super) struct AbandonedLaunch {
    pub(super) reason: String,
    pub(super) end: End,
    /// The results up to the stop.
    pub(super) outcome: Box<Outcome>,
}

impl AbandonedLaunch {
    /// Returns the reason why the launch cannot be compared. If the program does not end, the text says so, with the
    /// reason.
    pub(super) fn told(&self) -> String {
        let reason = &self.reason;
        if self.end == End::Endless { format!("it does not end: {reason}") } else { reason.clone() }
    }
}

/// The result of a step, unless the launch stops.
type Ran<T> = Result<T, Box<Halt>>;

fn halt<T>(reason: impl Into<String>) -> Ran<T> {
    Err(Box::new(Halt { reason: reason.into(), end: End::Unsaid }))
}

/// Stops a launch whose program does not end.
fn endless<T>(reason: impl Into<String>) -> Ran<T> {
    Err(Box::new(Halt { reason: reason.into(), end: End::Endless }))
}
