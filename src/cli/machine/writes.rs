//! Finds the instructions that wrote a register's value.

use crate::machine::control_flow::ControlFlow;
use crate::machine::life_ranges::{Kind, LifeRanges, Mark};

/// Returns the instructions whose writes may have made the register's value at `row`, in code order.
///
/// The search follows control flow backwards to the first write on each path. A conditional write does not end a path.
/// The result is empty if no path has a write: the disassembler then counts the register as live at the start of the
/// function. O(instructions).
pub(crate) fn writes(table: &LifeRanges, flow: &ControlFlow, row: usize, kind: Kind, register: usize) -> Vec<usize> {
    let mark = |row: usize| table.marks(row, kind).get(register).copied().unwrap_or(Mark::Free);
    let mut found = Vec::new();
    // In the first block, the instructions before `row` and those after `row` are visited separately.
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

/// Returns the last write up to `row` in the code, else the first write after `row`. If there are several writes,
/// messages use this write.
pub(crate) fn nearest(writes: &[usize], row: usize) -> Option<usize> {
    let behind = writes.partition_point(|&write| write <= row);
    behind.checked_sub(1).or(Some(0)).and_then(|at| writes.get(at)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::drawn_tables::{COPIES_IN_A_LOOP, code_of_texts, of_texts};

    /// Returns the writes that reach a register at an instruction.
    fn of(rows: &[(&str, &str)], row: usize, register: usize) -> Vec<usize> {
        writes(&of_texts(rows), &ControlFlow::of(&code_of_texts(rows)), row, Kind::General, register)
    }

    /// Both paths into a loop count. A conditional write hides no other write. A path ends where the register is free.
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
