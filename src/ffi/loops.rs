//! Decides which loops LLVM unrolls.

use super::abi::{self, nvptx_ra_loop, nvptx_ra_loop_facts, nvptx_ra_loop_mark};
use super::guard::entry;
use crate::error::Error;
use crate::optimise::choice::unroll_of;
use crate::optimise::unroll::{self, Facts, Loop, Mark, Reads, UnrollMetadata};

/// An unknown number counts as a request not to unroll, so that the loop stays unchanged.
fn asked_of(number: u32) -> UnrollMetadata {
    match number {
        abi::NVPTX_RA_LOOP_ASKS_NOTHING => UnrollMetadata::Nothing,
        abi::NVPTX_RA_LOOP_ASKS_UNROLLING => UnrollMetadata::Unrolling,
        _ => UnrollMetadata::Restraint,
    }
}

fn loop_of(raw: &nvptx_ra_loop) -> Loop {
    Loop {
        parent: (raw.parent != abi::NVPTX_RA_NONE).then_some(raw.parent as usize),
        count: (raw.flags & abi::NVPTX_RA_LOOP_COUNTED != 0).then_some(raw.count),
        size: (raw.size != 0).then_some(raw.size),
        matrices: raw.matrices,
    }
}

/// Returns which facts of a loop the decision reads.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_loop_reads(choice: u32, asked: u32) -> u32 {
    entry(
        |_| abi::NVPTX_RA_LOOP_READS_NOTHING,
        || match unroll::reads(unroll_of(choice), asked_of(asked)) {
            Reads::Nothing => abi::NVPTX_RA_LOOP_READS_NOTHING,
            Reads::Asked => abi::NVPTX_RA_LOOP_READS_ASKED,
            Reads::Nest => abi::NVPTX_RA_LOOP_READS_NEST,
            Reads::Stack => abi::NVPTX_RA_LOOP_READS_STACK,
            Reads::Bounds => abi::NVPTX_RA_LOOP_READS_BOUNDS,
        },
    )
}

/// Decides the unrolling of a loop. The loop stays unchanged on an error.
///
/// # Safety
/// `facts` must be null or point to live facts, whose pointers are null or point to live memory of the given lengths.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_mark_loop(facts: *const nvptx_ra_loop_facts) -> nvptx_ra_loop_mark {
    entry(
        |_| nvptx_ra_loop_mark::default(),
        || {
            // SAFETY: as the caller promises.
            let mark = unsafe { facts.as_ref().map_or(Ok(Mark::Leave), |facts| decide(facts)) };
            let (kind, count) = match mark.unwrap_or(Mark::Leave) {
                Mark::Leave => (abi::NVPTX_RA_LOOP_LEAVE, 0),
                Mark::Disable => (abi::NVPTX_RA_LOOP_DISABLE, 0),
                Mark::Full => (abi::NVPTX_RA_LOOP_FULL, 0),
                Mark::Count(count) => (abi::NVPTX_RA_LOOP_COUNT, count),
            };
            nvptx_ra_loop_mark { kind, count }
        },
    )
}

/// # Safety
/// As for [`nvptx_ra_mark_loop`].
unsafe fn decide(facts: &nvptx_ra_loop_facts) -> Result<Mark, Error> {
    // SAFETY: as the caller promises.
    let (loops, exits) = unsafe {
        (abi::array(facts.loops, facts.num_loops, "loops")?, abi::array(facts.exits, facts.num_exits, "exits")?)
    };
    let nest: Vec<Loop> = loops.iter().map(loop_of).collect();
    let has = |flag| loops.first().is_some_and(|whole| whole.flags & flag != 0);
    let known = Facts {
        nest: &nest,
        exits,
        turns: facts.turns,
        end: abi::NVPTX_RA_LOOP_END.into(),
        walks_stack: facts.walks_stack != 0,
        ends_at_lesser: facts.ends_at_lesser != 0,
        may_leave_rest: has(abi::NVPTX_RA_LOOP_RESTS),
        is_uncontrolled: has(abi::NVPTX_RA_LOOP_UNCONTROLLED),
    };
    Ok(unroll::decide(unroll_of(facts.choice), asked_of(facts.asked), &known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Unroll;
    use crate::optimise::choice::number_of;

    fn facts(choice: u32, asked: u32, loops: &[nvptx_ra_loop], exits: &[u32]) -> nvptx_ra_loop_facts {
        nvptx_ra_loop_facts {
            choice,
            asked,
            loops: loops.as_ptr(),
            num_loops: loops.len() as u64,
            exits: exits.as_ptr(),
            num_exits: exits.len() as u64,
            turns: exits.first().copied().unwrap_or(0),
            walks_stack: 1,
            ..nvptx_ra_loop_facts::default()
        }
    }

    /// The facts reach the core, and the mark reaches the shim.
    #[test]
    fn marks() {
        let of = |choice, asked, size, exits: &[u32]| {
            let loops = [nvptx_ra_loop { size, parent: abi::NVPTX_RA_NONE, ..nvptx_ra_loop::default() }];
            let facts = facts(choice, asked, &loops, exits);
            // SAFETY: the facts and their arrays are alive.
            let mark = unsafe { nvptx_ra_mark_loop(&raw const facts) };
            (mark.kind, mark.count)
        };
        let (nothing, unrolling) = (abi::NVPTX_RA_LOOP_ASKS_NOTHING, abi::NVPTX_RA_LOOP_ASKS_UNROLLING);
        assert_eq!(of(number_of(Unroll::Asked), nothing, 4, &[8]), (abi::NVPTX_RA_LOOP_DISABLE, 0));
        assert_eq!(of(number_of(Unroll::Cut), unrolling, 4, &[10_000]), (abi::NVPTX_RA_LOOP_COUNT, 10_000));
        assert_eq!(of(number_of(Unroll::Stack), nothing, 40, &[400]), (abi::NVPTX_RA_LOOP_FULL, 0));
        assert_eq!(of(number_of(Unroll::Stack), nothing, 0, &[400]), (abi::NVPTX_RA_LOOP_LEAVE, 0));
    }

    /// Invalid input leaves the loop unchanged.
    #[test]
    fn what_is_wrong_changes_nothing() {
        // SAFETY: null stands for no facts.
        assert_eq!(unsafe { nvptx_ra_mark_loop(std::ptr::null()) }.kind, abi::NVPTX_RA_LOOP_LEAVE);
        let mut wrong = facts(number_of(Unroll::Cut), abi::NVPTX_RA_LOOP_ASKS_UNROLLING, &[], &[10_000]);
        wrong.loops = std::ptr::null();
        wrong.num_loops = 1;
        // SAFETY: null stands for no facts.
        assert_eq!(unsafe { nvptx_ra_mark_loop(&raw const wrong) }.kind, abi::NVPTX_RA_LOOP_LEAVE);
        assert_eq!(nvptx_ra_loop_reads(9, 9), abi::NVPTX_RA_LOOP_READS_NOTHING);
    }
}
