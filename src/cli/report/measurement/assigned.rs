//! Finds the registers that have a value, among the registers that the disassembler counts as live.
//!
//! The disassembler only looks backwards from uses. It counts a register as live if a conditional instruction reads it
//! later, even if no write reaches the read. In a subroutine, it counts every register that the calling convention
//! preserves for the caller, even if the register has no value of the caller. In both cases, the function does not need
//! the register. So this module counts a register only if a write may reach the instruction.

use crate::machine::control_flow::ControlFlow;
use crate::machine::instruction::{Instruction, Kind};
use crate::machine::life_ranges::{LifeRanges, Mark};

/// A set of registers, one bit each, in the order of the table's columns.
type Registers = Vec<u64>;

/// Marks registers that no write reaches as free. After a call, every register in the table may be the callee's result.
/// O(instructions · registers) for each pass over the blocks; there are seldom more than four passes.
pub(super) fn keep_assigned(table: &mut LifeRanges, code: &[Instruction], flow: &ControlFlow, is_kernel: bool) {
    let words = table.width().div_ceil(64);
    let blocks: Vec<_> = (0..table.len()).filter(|&row| flow.start(flow.block(row)) == row).collect();
    // The registers with a value at the start of each block, by the block's index in `blocks`.
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

/// Updates the set of registers with a value after one instruction.
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

    /// Returns how many registers remain live at each instruction.
    fn live(rows: &[(&str, &str)], is_kernel: bool) -> Vec<u32> {
        let code = code_of_texts(rows);
        let mut table = of_texts(rows);
        keep_assigned(&mut table, &code, &ControlFlow::of(&code), is_kernel);
        (0..table.len()).map(|row| table.live(row, Registers::General)).collect()
    }

    /// A register that is read but never written is not counted in a kernel. In a function, it may be an argument.
    #[test]
    fn registers_without_a_value() {
        let rows = [("MOV R0, 0x1", "^:"), ("@P0 MOV R1, R0", "v^"), ("MOV R2, R1", " v"), ("EXIT", "  ")];
        assert_eq!(live(&rows, true), [1, 2, 1, 0]);
        assert_eq!(live(&rows, false), [2, 2, 1, 0]);
    }

    /// A value that a loop writes is live at the loop's next iteration. After a call, any register may be a result.
    #[test]
    fn loops_and_calls() {
        let rows = [("NOP", " :"), ("MOV R0, 0x1", "^:"), ("MOV R1, R0", "v^"), ("@P0 BRA 0x10", " :"), ("EXIT", " v")];
        assert_eq!(live(&rows, true), [0, 2, 2, 1, 1]);
        let rows = [("NOP", ":"), ("CALL 0x40", ":"), ("MOV R0, R0", "v"), ("EXIT", " "), ("RET", ":")];
        assert_eq!(live(&rows, true), [0, 0, 1, 0, 0]);
    }
}
