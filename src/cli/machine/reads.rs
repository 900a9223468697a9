//! Finds the instructions that read a register's value.

use crate::machine::control_flow::ControlFlow;
use crate::machine::life_ranges::{Kind, LifeRanges, Mark};

/// Returns the instructions that may read the value that `row` leaves in the register, in code order. The search
/// follows control flow from `row` to the next write on each path. A conditional write does not end a path.
/// O(instructions).
pub(crate) fn reads(table: &LifeRanges, flow: &ControlFlow, row: usize, kind: Kind, register: usize) -> Vec<usize> {
    let mark = |row: usize| table.marks(row, kind).get(register).copied().unwrap_or(Mark::Free);
    let mut found = Vec::new();
    // In the first block, the instructions before `row` and those after `row` are visited separately.
    let mut is_seen = vec![false; table.len()];
    let mut starts =
        if flow.end(flow.block(row)) > row + 1 { vec![row + 1] } else { flow.starts_behind(flow.block(row)) };
    while let Some(start) = starts.pop() {
        let block = flow.block(start);
        let end = flow.end(block);
        let mut at = start;
        while at < end && !is_seen[at] && mark(at) != Mark::Free {
            is_seen[at] = true;
            if mark(at).is_read() {
                found.push(at);
            }
            if mark(at).is_write() && !table.text(at).starts_with('@') {
                break;
            }
            at += 1;
        }
        if at == end {
            starts.extend(flow.starts_behind(block));
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::drawn_tables::{COPIES_IN_A_LOOP, code_of_texts, of_texts};

    /// Reads are found along control flow up to the next write; a conditional write hides no read.
    #[test]
    fn reads_reach_over_control_flow() {
        let (table, flow) = (of_texts(&COPIES_IN_A_LOOP), ControlFlow::of(&code_of_texts(&COPIES_IN_A_LOOP)));
        let of = |row: usize, register: usize| reads(&table, &flow, row, Kind::General, register);
        assert_eq!((of(0, 0), of(2, 0)), (vec![1, 4], vec![1, 4]));
        assert_eq!((of(1, 1), of(4, 1)), (vec![1, 2], vec![]));
    }

    /// A jump past the last instruction leads to no reads.
    #[test]
    fn jumps_out_of_the_code() {
        let rows = [("FADD R0, R1, R1", "^v"), ("@P0 BRA 0x30", ":"), ("FADD R1, R0, R0", "v^")];
        let (table, flow) = (of_texts(&rows), ControlFlow::of(&code_of_texts(&rows)));
        assert_eq!(reads(&table, &flow, 0, Kind::General, 0), [2]);
    }
}
