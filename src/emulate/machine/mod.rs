//! Runs a launch.
//!
//! * [`world`]: what all threads share; [`block`], [`warp`]: blocks, warps and their frames; [`place`], [`pending`],
//!   [`phase`]: addresses, copies on their way, and mbarriers;
//! * [`schedule`]: which warp runs next, and which of its threads;
//! * [`next`]: where threads go; [`meeting`]: what they hear of each other;
//! * [`step`]: one instruction; [`access`], [`atomic`], [`copies`], [`call`], [`barrier`], [`mbarrier`], [`collective`],
//!   [`matrix`], [`group`]: those of a family.

mod access;
mod atomic;
mod barrier;
mod block;
mod call;
mod collective;
mod copies;
mod group;
mod matrix;
mod mbarrier;
mod meeting;
mod next;
mod pending;
mod phase;
mod place;
mod schedule;
mod step;
mod warp;
mod world;

pub use access::RACE;
pub(super) use schedule::run;
pub(super) use world::{Outcome, Setting, Turns};

/// Why a launch ends early: nothing can be said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Halt(String);

/// A launch that ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stopped {
    pub(super) reason: String,
    /// Instructions of warps until then.
    pub(super) steps: u64,
    /// There were more of them than allowed.
    pub(super) is_long: bool,
}

/// What a step gives, unless the launch ends.
type Ran<T> = Result<T, Box<Halt>>;

fn halt<T>(reason: impl Into<String>) -> Ran<T> {
    Err(Box::new(Halt(reason.into())))
}
