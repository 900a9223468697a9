//! Values that are undefined on some path: checks whether a definition reaches each read on another path.

use super::eligible::Candidate;
use crate::analysis::{Cfg, LiveRanges, Occurrence, Occurrences};
use crate::function::{Block, Function, Role};

/// Whether a definition reaches each read of a value on some path, without an instruction in between that makes the
/// value undefined. Otherwise, no store would precede the read, so the value keeps its register. O((reads + writes) ·
/// log blocks), plus the edges of the blocks that the value is live into.
pub(super) fn reaches_all_reads(
    function: &Function,
    value: &Candidate,
    occurrences: &Occurrences,
    (live, cfg): (&LiveRanges, &Cfg),
) -> bool {
    let mut live_into: Vec<Block> = live.live_ins(value.reg).iter().map(|live_in| live_in.block).collect();
    live_into.sort_unstable();
    let all = occurrences.of(value.reg);
    let defines = |write: &Occurrence| function.role(write.inst) != Role::Undef;
    // The blocks that write the value, and whether the value is defined at their ends.
    let mut left: Vec<(Block, bool)> = Vec::new();
    for write in all.iter().filter(|access| access.is_def()) {
        left.pop_if(|last| last.0 == write.block);
        left.push((write.block, defines(write)));
    }
    let is_written = |block: Block| left.binary_search_by_key(&block, |&(written, _)| written).is_ok();
    let mut is_reached = vec![false; live_into.len()];
    let defining = left.iter().filter(|&&(block, is_defined)| is_defined && cfg.is_reachable(block));
    let mut todo: Vec<Block> = defining.map(|&(block, _)| block).collect();
    while let Some(block) = todo.pop() {
        for &succ in function.succs(block) {
            if let Ok(at) = live_into.binary_search(&succ)
                && !std::mem::replace(&mut is_reached[at], true)
                && !is_written(succ)
            {
                todo.push(succ);
            }
        }
    }
    let mut last: Option<&Occurrence> = None;
    all.iter().all(|access| {
        if access.is_def() {
            last = Some(access);
        }
        let is_reached = || live_into.binary_search(&access.block).is_ok_and(|at| is_reached[at]);
        !access.is_use() || last.filter(|write| write.block == access.block).map_or_else(is_reached, defines)
    })
}

#[cfg(test)]
mod tests {
    use super::super::goal::SpillGoal;
    use crate::config::{KeepInLoops, Redefined, SpillTo};
    use crate::function::{Edit, Function};
    use crate::spill::tests::{function, spill_as};

    /// Returns a function that loads `%0` in a branch. If `%1` still has the same value, it reads `%0` in another
    /// branch, after a point with three live words.
    fn in_branches(kernel: &str, read: &str) -> Function {
        let body = format!(
            "bb0: frequency 1.0 depth 0 -> bb1 bb2\n{read}  %1 = SETP_i32rr 1, 2\n  CBranch %1, bb2 :: terminator\n\
             bb1: frequency 0.5 depth 0 -> bb2\n  %0 = LD_i32 1 :: read\n\
             bb2: frequency 1.0 depth 0 -> bb3 bb4\n  %2 = LD_i32 2 :: read\n  %3 = LD_i32 3 :: read\n\
             ST_i32 %2, %3 :: write\n  CBranch %1, bb4 :: terminator\n\
             bb3: frequency 0.5 depth 0 -> bb4\n  ST_i32 %0, 4 :: write\n\
             bb4: frequency 1.0 depth 0\n  Return :: terminator\n"
        );
        function(kernel, "B32 B1 B32 B32", &body)
    }

    /// Returns the registers that are spilled to shared memory, stored after each definition.
    fn moved(function: &Function) -> Vec<u32> {
        let (in_loops, redefined, hoists) = (KeepInLoops::On, Redefined::On, true);
        let goal = SpillGoal { in_loops, redefined, hoists, ..SpillGoal::plain(2, SpillTo::SHARED | SpillTo::LOCAL) };
        spill_as(function, &goal).expect("a place").spilled.iter().map(|spilled| spilled.reg.0).collect()
    }

    /// A value that a kernel defines and reads under the same condition is spilled, though it has no definition on some
    /// path.
    #[test]
    fn what_is_defined_and_read_under_a_condition() {
        assert_eq!(moved(&in_branches("kernel maxntid 64\n", "")), [0]);
        // The caller may have defined the value.
        assert_eq!(moved(&in_branches("", "")), [0; 0]);
        // One of the reads is not preceded by any definition.
        assert_eq!(moved(&in_branches("kernel maxntid 64\n", "  ST_i32 %0, 5 :: write\n")), [0; 0]);
    }

    /// Returns the blocks in which the values that are spilled to shared memory are stored.
    fn stored(function: &Function) -> Vec<u32> {
        let (in_loops, redefined) = (KeepInLoops::On, Redefined::On);
        let outcome = spill_as(function, &SpillGoal { in_loops, redefined, ..SpillGoal::plain(2, SpillTo::SHARED) })
            .expect("a place");
        let stores = outcome.edits.edits().iter().filter_map(|edit| match edit {
            Edit::InsertSpill { at, .. } => Some(at.block.0),
            _ => None,
        });
        stores.collect()
    }

    /// No store follows an instruction that makes the value undefined. The value that ends there is not stored either:
    /// the slot may belong to another value from there on, so no reload would find the value.
    #[test]
    fn what_is_made_undefined() {
        assert_eq!(stored(&in_branches("kernel maxntid 64\n", "  %0 = IMPLICIT_DEF\n")), [1]);
        let ends = "  %0 = LD_i32 5 :: read\n  %0 = IMPLICIT_DEF\n";
        assert_eq!(stored(&in_branches("kernel maxntid 64\n", ends)), [1]);
        // The same holds in a device function, because its caller has not defined the value.
        assert_eq!(moved(&in_branches("", "  %0 = IMPLICIT_DEF\n")), [0]);
    }

    /// If all paths to a read have an instruction that makes the value undefined, no store precedes the read.
    #[test]
    fn what_is_read_where_it_is_undefined() {
        let read = "  %0 = LD_i32 5 :: read\n  %0 = IMPLICIT_DEF\n  ST_i32 %0, 6 :: write\n";
        assert_eq!(moved(&in_branches("kernel maxntid 64\n", read)), [0; 0]);
        let later = |first: &str| {
            let body = format!(
                "bb0: frequency 1.0 depth 0 -> bb1 bb2\n  %1 = SETP_i32rr 1, 2\n  %0 = LD_i32 5 :: read\n\
                 CBranch %1, bb2 :: terminator\n\
                 bb1: frequency 0.5 depth 0 -> bb3\n  ST_i32 %0, 4 :: write\n{first}\
                 bb2: frequency 0.5 depth 0\n  %2 = LD_i32 2 :: read\n  %3 = LD_i32 3 :: read\n  ST_i32 %2, %3 :: write\n\
                 ST_i32 %0, 4 :: write\n  Return :: terminator\n\
                 bb3: frequency 0.5 depth 0\n  ST_i32 %0, 6 :: write\n  Return :: terminator\n"
            );
            moved(&function("kernel maxntid 64\n", "B32 B1 B32 B32", &body))
        };
        assert_eq!((later(""), later("  %0 = IMPLICIT_DEF\n")), (vec![0], vec![]));
    }

    /// A definition in unreachable code does not reach any read.
    #[test]
    fn what_dead_code_defines() {
        let with = |edge: &str| {
            let body = format!(
                "bb0: frequency 1.0 depth 0 -> bb1{edge}\n  %1 = SETP_i32rr 1, 2\n  CBranch %1, bb1 :: terminator\n\
                 bb1: frequency 1.0 depth 0\n  %2 = LD_i32 2 :: read\n  %3 = LD_i32 3 :: read\n  ST_i32 %2, %3 :: write\n\
                 ST_i32 %0, 4 :: write\n  %0 = LD_i32 5 :: read\n  Return :: terminator\nbb2: frequency 0.5 depth 0 -> bb1\n  %0 = LD_i32 1 :: read\n"
            );
            moved(&function("kernel maxntid 64\n", "B32 B1 B32 B32", &body))
        };
        assert_eq!((with(" bb2"), with("")), (vec![0], vec![]));
    }

    /// A value that an iteration of a loop may define is reloaded in the loop. Before the loop, the slot has no value.
    #[test]
    fn no_load_ahead_of_the_loop_that_defines() {
        let body = "bb0: frequency 1.0 depth 0 -> bb1\n  %1 = SETP_i32rr 1, 2\n\
            bb1: frequency 10.0 depth 1 -> bb2 bb3\n  CBranch %1, bb3 :: terminator\n\
            bb2: frequency 5.0 depth 1 -> bb3\n  %0 = LD_i32 1 :: read\n\
            bb3: frequency 10.0 depth 1 -> bb4 bb5\n  %2 = LD_i32 2 :: read\n  %3 = LD_i32 3 :: read\n\
            ST_i32 %2, %3 :: write\n  CBranch %1, bb5 :: terminator\n\
            bb4: frequency 5.0 depth 1 -> bb5\n  ST_i32 %0, 4 :: write\n\
            bb5: frequency 10.0 depth 1 -> bb1 bb6\n  CBranch %1, bb1 :: terminator\n\
            bb6: frequency 1.0 depth 0\n  Return :: terminator\n";
        let function = function("kernel maxntid 64\n", "B32 B1 B32 B32", body);
        let (in_loops, redefined, hoists) = (KeepInLoops::On, Redefined::On, true);
        let goal = SpillGoal { in_loops, redefined, hoists, ..SpillGoal::plain(2, SpillTo::SHARED) };
        let outcome = spill_as(&function, &goal).expect("a place");
        let loads = outcome.edits.edits().iter().filter_map(|edit| match edit {
            Edit::InsertReload { at, .. } => Some(at.block.0),
            _ => None,
        });
        assert_eq!(loads.collect::<Vec<_>>(), [4]);
    }
}
