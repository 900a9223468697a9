//! Sums up a function's machine instructions: their number, and the traffic of spilled values.

use nvptx_ra::tune::ptxas_output::Sass;

use super::control_flow::ControlFlow;
use super::instruction::{Instruction, Kind};

/// Sums up instructions. O(n log n).
pub(crate) fn of(instructions: &[Instruction]) -> Sass {
    let count = |is: fn(&Kind) -> bool| instructions.iter().filter(|one| is(&one.kind)).count() as u32;
    let mut sass = Sass {
        instructions: count(|kind| *kind != Kind::Nothing),
        local: count(|kind| matches!(kind, Kind::Local(_))),
        work: count(|kind| matches!(kind, Kind::Shared(_) | Kind::Work)),
        stack_traffic: 0,
        shared_traffic: 0,
    };
    if instructions.iter().any(|one| matches!(one.kind, Kind::Local(_) | Kind::Shared(_))) {
        let frequencies = ControlFlow::of(instructions).frequencies();
        // For the loop nests of real programs, the sum is below 2^53 and so exact. A larger sum saturates.
        let sum = |bytes: fn(&Instruction) -> u32| {
            instructions.iter().zip(&frequencies).map(|(one, runs)| f64::from(bytes(one)) * runs).sum::<f64>() as u64
        };
        sass.stack_traffic = sum(stack_bytes);
        sass.shared_traffic = sum(shared_bytes);
    }
    sass
}

/// Returns the bytes that an instruction accesses at a fixed offset from the stack pointer.
fn stack_bytes(instruction: &Instruction) -> u32 {
    match instruction.kind {
        Kind::Local(bytes) => bytes,
        _ => 0,
    }
}

/// Returns the bytes that an instruction accesses in shared memory.
fn shared_bytes(instruction: &Instruction) -> u32 {
    match instruction.kind {
        Kind::Shared(bytes) => bytes,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::Kind::{Branch, Call, End, IndirectBranch, Local, Nothing, Other};
    use super::*;

    /// Returns the traffic of instructions at addresses of 16 bytes each; `true` marks a condition.
    fn traffic(instructions: &[(Kind, bool, Option<u32>)]) -> u64 {
        let one = |(at, &(kind, is_conditional, target)): (usize, &(Kind, bool, Option<u32>))| Instruction {
            address: at as u32 * 16,
            kind,
            is_conditional,
            target,
        };
        of(&instructions.iter().enumerate().map(one).collect::<Vec<_>>()).stack_traffic
    }

    const WORD: (Kind, bool, Option<u32>) = (Local(4), false, None);

    /// An access in a loop counts ten times, in a nested loop a hundred times, and after the loop once.
    #[test]
    fn loops() {
        let nest = [WORD, WORD, WORD, (Branch, true, Some(0x20)), (Branch, true, Some(0x10)), WORD, (End, false, None)];
        assert_eq!(traffic(&nest), 4 + 40 + 400 + 4);
    }

    /// If a block after the end jumps back into straight code, the code between is no loop.
    #[test]
    fn code_out_of_line_is_no_loop() {
        let code = [
            (Branch, true, Some(0x40)),
            (Nothing, false, None),
            WORD,
            (End, false, None),
            WORD,
            (Branch, false, Some(0x10)),
        ];
        assert_eq!(traffic(&code), 8);
    }

    /// The blocks of a jump table belong to the loop that they return to.
    #[test]
    fn jump_tables() {
        let table = [
            (Nothing, false, None),
            (IndirectBranch, false, None),
            WORD,
            (Branch, false, Some(0x10)),
            (Other, false, None),
            (Branch, true, Some(0x10)),
            (End, false, None),
        ];
        assert_eq!(traffic(&table), 40);
    }

    /// A subroutine's return is no back edge, whatever its address. The subroutine's accesses count once.
    #[test]
    fn subroutines_are_no_loops() {
        let code = [WORD, (Call, false, Some(0x40)), WORD, (End, false, None), WORD, (End, false, Some(0))];
        assert_eq!(traffic(&code), 12);
        let backward = [WORD, (Call, false, Some(0)), (End, false, None)];
        assert_eq!(traffic(&backward), 4);
    }
}
