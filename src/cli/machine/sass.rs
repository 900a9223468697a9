//! What the machine instructions of a function come to: how many there are, and how often what was spilled moves.

use nvptx_ra::tune::ptxas_output::Sass;

use super::control_flow::ControlFlow;
use super::instruction::{Instruction, Kind};

/// What the instructions of a function are. O(n log n).
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
        // Below 2^53, and there exact, for all nests that a program has; beyond, it stays the largest.
        let sum = |bytes: fn(&Instruction) -> u32| {
            instructions.iter().zip(&frequencies).map(|(one, runs)| f64::from(bytes(one)) * runs).sum::<f64>() as u64
        };
        sass.stack_traffic = sum(stack_bytes);
        sass.shared_traffic = sum(shared_bytes);
    }
    sass
}

/// Bytes that an instruction moves from or to a fixed place of the stack.
fn stack_bytes(instruction: &Instruction) -> u32 {
    match instruction.kind {
        Kind::Local(bytes) => bytes,
        _ => 0,
    }
}

/// Bytes that an instruction moves from or to shared memory.
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

    /// The traffic of instructions at addresses of 16 bytes each; a condition is marked by `true`.
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

    /// An access in a loop counts ten times, in a loop inside it a hundred times, behind it once.
    #[test]
    fn loops() {
        let nest = [WORD, WORD, WORD, (Branch, true, Some(0x20)), (Branch, true, Some(0x10)), WORD, (End, false, None)];
        assert_eq!(traffic(&nest), 4 + 40 + 400 + 4);
    }

    /// A block that stands behind the end, and goes back into straight code, makes no loop of what is between.
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

    /// The blocks of a jump table are part of the loop that they return to.
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

    /// A subroutine that returns goes back to no loop, whatever address its return names; what it holds counts once.
    #[test]
    fn subroutines_are_no_loops() {
        let code = [WORD, (Call, false, Some(0x40)), WORD, (End, false, None), WORD, (End, false, Some(0))];
        assert_eq!(traffic(&code), 12);
        let backward = [WORD, (Call, false, Some(0)), (End, false, None)];
        assert_eq!(traffic(&backward), 4);
    }
}
