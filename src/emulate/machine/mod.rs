//! Runs a launch.
//!
//! * [`world`]: what all threads share; [`block`], [`warp`], [`frame`]: blocks, warps and their frames; [`place`], [`pending`],
//!   [`phase`], [`pool`]: addresses, copies on their way, mbarriers, and registers that warps share;
//! * [`schedule`]: which warp runs next, and which of its threads; [`cycle`]: warps that repeat what they did;
//! * [`traffic`]: what accesses move; [`trace`]: what each warp did, in order;
//! * [`next`]: where threads go; [`meeting`]: what they hear of each other;
//! * [`step`]: one instruction; [`partial`]: one of which sources are undefined in part; [`access`], [`atomic`], [`copies`], [`bulk`], [`span`], [`tensor`], [`tensor_memory`], [`tensor_product`], [`call`], [`barrier`], [`mbarrier`], [`collective`],
//!   [`matrix`], [`group`], [`registers`]: those of a family.

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

/// Why a run of a launch is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing can be said of the launch.
    Unsaid,
    /// The program runs more instructions than allowed.
    Long,
    /// The program does not end.
    Endless,
}

/// A sentence on the end of a run, and which end it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Halt {
    reason: String,
    end: End,
}

/// A launch that was given up.
#[derive(Debug)]
pub(super) struct AbandonedLaunch {
    pub(super) reason: String,
    pub(super) end: End,
    /// What ran until then.
    pub(super) outcome: Box<Outcome>,
}

impl AbandonedLaunch {
    /// Why nothing can be said of the launch: of a program that does not end, that it does not.
    pub(super) fn told(&self) -> String {
        let reason = &self.reason;
        if self.end == End::Endless { format!("it does not end: {reason}") } else { reason.clone() }
    }
}

/// What a step gives, unless the launch ends.
type Ran<T> = Result<T, Box<Halt>>;

fn halt<T>(reason: impl Into<String>) -> Ran<T> {
    Err(Box::new(Halt { reason: reason.into(), end: End::Unsaid }))
}

/// Gives up a launch whose program does not end.
fn endless<T>(reason: impl Into<String>) -> Ran<T> {
    Err(Box::new(Halt { reason: reason.into(), end: End::Endless }))
}
