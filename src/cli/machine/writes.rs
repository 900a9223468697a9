//! Which instructions wrote what a register holds at an instruction.

use crate::machine::control_flow::ControlFlow;
use crate::machine::life_ranges::{Kind, LifeRanges, Mark};

/// The instructions whose write of the register may be what it holds at `row`, in the order of the code: control flow is
/// followed backwards from there to the first write on each path. A write under a condition does not end a path. None
/// where no path has a write: it is live where the function begins, as the disassembler sees it. O(instructions).
pub(crate) fn writes(table: &LifeRanges, flow: &ControlFlow, row: usize, kind: Kind, register: usize) -> Vec<usize> {
    let mark = |row: usize| table.marks(row, kind).get(register).copied().unwrap_or(Mark::Free);
    let mut found = Vec::new();
    // The part of the first block ahead of the row, and the part behind it, are walked apart.
    let mut is_seen = vec![false; table.len()];
    let mut ends = vec![row];
    while let Some(end) = ends.pop() {
        let block = flow.block(end);
        let mut at = end;
        let goes_on = loop {
            if is_seen[at] || mark(at) == Mark::Free {
                break false;
            }
            is_seen[at] = true;
            if mark(at).is_write() {
                found.push(at);
                if !table.text(at).starts_with('@') {
                    break false;
                }
            }
            if at == flow.start(block) {
                break true;
            }
            at -= 1;
        };
        if goes_on {
            ends.extend(flow.ends_before(block));
        }
    }
    found.sort_unstable();
    found
}

/// The write that stands nearest ahead of `row` in the code, else the first behind it: the one that is named where
/// there are several.
pub(crate) fn nearest(writes: &[usize], row: usize) -> Option<usize> {
    let behind = writes.partition_point(|&write| write <= row);
    behind.checked_sub(1).or(Some(0)).and_then(|at| writes.get(at)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::drawn_tables::{COPIES_IN_A_LOOP, code_of_texts, of_texts};

    /// The writes that reach a register at an instruction.
    fn of(rows: &[(&str, &str)], row: usize, register: usize) -> Vec<usize> {
        writes(&of_texts(rows), &ControlFlow::of(&code_of_texts(rows)), row, Kind::General, register)
    }

    /// Both ways into a loop count, a write under a condition hides none, and where nothing is held a path ends.
    #[test]
    fn writes_reach_over_control_flow() {
        assert_eq!(of(&COPIES_IN_A_LOOP, 1, 0), [0, 2]);
        assert_eq!(of(&COPIES_IN_A_LOOP, 4, 0), [0, 2]);
        assert_eq!(of(&COPIES_IN_A_LOOP, 4, 1), [4]);
        assert_eq!(of(&COPIES_IN_A_LOOP, 3, 1), [1]);
        assert_eq!(of(&COPIES_IN_A_LOOP, 0, 1), Vec::<usize>::new());
        assert_eq!([nearest(&[0, 2], 1), nearest(&[4], 1), nearest(&[], 1)], [Some(0), Some(4), None]);
    }
}
