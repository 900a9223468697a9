//! Registers that have a value, among those that the disassembler counts as live.
//!
//! The disassembler looks backwards from the uses alone. It takes for live what is read later under a condition and was
//! never written yet; and in a subroutine every register that the calling convention keeps for the caller, whether the
//! caller has a value in it or not. None of these needs a register. So a register counts only where a write may reach it.

use crate::machine::control_flow::ControlFlow;
use crate::machine::instruction::{Instruction, Kind};
use crate::machine::life_ranges::{LifeRanges, Mark};

/// Registers, a bit each, in the order of the table's columns.
type Registers = Vec<u64>;

/// Frees the registers that no write reaches. Behind a call, whatever the table has may be the callee's result.
/// O(instructions · registers) for each pass over the blocks, of which there are seldom more than four.
pub(super) fn keep_assigned(table: &mut LifeRanges, code: &[Instruction], flow: &ControlFlow, is_kernel: bool) {
    let words = table.width().div_ceil(64);
    let blocks: Vec<_> = (0..table.len()).filter(|&row| flow.start(flow.block(row)) == row).collect();
    // What is assigned where each block begins, by the number of its first instruction.
    let mut before: Vec<Registers> = vec![vec![0; words]; blocks.len()];
    let number_of = |row: usize| blocks.partition_point(|&start| start <= row).saturating_sub(1);
    let ends: Vec<Vec<usize>> = blocks.iter().map(|&start| flow.ends_before(flow.block(start)).collect()).collect();
    for (number, start) in before.iter_mut().enumerate() {
        if ends[number].is_empty() && !(number == 0 && is_kernel) {
            start.fill(u64::MAX);
        }
    }
    let mut behind = before.clone();
    loop {
        let mut has_changed = false;
        for (number, &start) in blocks.iter().enumerate() {
            for &end in &ends[number] {
                let is_return = code[end].kind == Kind::Call && end + 1 == start;
                let from = number_of(end);
                for word in 0..words {
                    before[number][word] |= if is_return { u64::MAX } else { behind[from][word] };
                }
            }
            let last = blocks.get(number + 1).copied().unwrap_or(table.len());
            let mut at = before[number].clone();
            (start..last).for_each(|row| advance(&mut at, table, row));
            has_changed |= at != behind[number];
            behind[number] = at;
        }
        if !has_changed {
            break;
        }
    }
    for (number, &start) in blocks.iter().enumerate() {
        let last = blocks.get(number + 1).copied().unwrap_or(table.len());
        let mut at = std::mem::take(&mut before[number]);
        for row in start..last {
            let unassigned: Vec<usize> = (0..table.width())
                .filter(|&column| {
                    let has_value = at[column / 64] >> (column % 64) & 1 != 0;
                    !has_value && matches!(table.row(row)[column], Mark::Live | Mark::Read)
                })
                .collect();
            advance(&mut at, table, row);
            unassigned.into_iter().for_each(|column| table.free(row, column));
        }
    }
}

/// Goes over an instruction.
fn advance(at: &mut Registers, table: &LifeRanges, row: usize) {
    for (column, mark) in table.row(row).iter().enumerate() {
        let bit = 1 << (column % 64);
        match mark {
            Mark::Free => at[column / 64] &= !bit,
            Mark::Written | Mark::ReadAndWritten => at[column / 64] |= bit,
            Mark::Live | Mark::Read => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::drawn_tables::{code_of_texts, of_texts};
    use crate::machine::life_ranges::Kind as Registers;

    /// How many registers are live at each instruction in the end.
    fn live(rows: &[(&str, &str)], is_kernel: bool) -> Vec<u32> {
        let code = code_of_texts(rows);
        let mut table = of_texts(rows);
        keep_assigned(&mut table, &code, &ControlFlow::of(&code), is_kernel);
        (0..table.len()).map(|row| table.live(row, Registers::General)).collect()
    }

    /// A register that is never written before needs none in a kernel, but may be an argument of a function.
    #[test]
    fn registers_without_a_value() {
        let rows = [("MOV R0, 0x1", "^:"), ("@P0 MOV R1, R0", "v^"), ("MOV R2, R1", " v"), ("EXIT", "  ")];
        assert_eq!(live(&rows, true), [1, 2, 1, 0]);
        assert_eq!(live(&rows, false), [2, 2, 1, 0]);
    }

    /// What a loop writes is live where it begins again; behind a call anything may be a result.
    #[test]
    fn loops_and_calls() {
        let rows = [("NOP", " :"), ("MOV R0, 0x1", "^:"), ("MOV R1, R0", "v^"), ("@P0 BRA 0x10", " :"), ("EXIT", " v")];
        assert_eq!(live(&rows, true), [0, 2, 2, 1, 1]);
        let rows = [("NOP", ":"), ("CALL 0x40", ":"), ("MOV R0, R0", "v"), ("EXIT", " "), ("RET", ":")];
        assert_eq!(live(&rows, true), [0, 0, 1, 0, 0]);
    }
}
