//! The machine instructions of a function: how many there are, where control goes, and how often what was spilled
//! moves. The disassembler's [listing](super::listing) is read as them, and [machine code](super::machine_code) itself.

use std::sync::Arc;

use nvptx_ra::analysis::{Cfg, Dominators, block_frequencies};
use nvptx_ra::function::{Block, Function, FunctionBuilder, OpcodeTable};
use nvptx_ra::index::EntityIndex;

/// Machine instructions of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sass {
    /// All but NOPs.
    pub(super) instructions: u32,
    /// Those that access local memory.
    pub(super) local: u32,
    /// Bytes moved between registers and fixed places of the stack, each access ten times for each loop around it.
    /// Spilled values move so, and whatever else has a place there.
    pub(super) stack_traffic: u64,
    /// Bytes moved between registers and shared memory, counted alike.
    pub(super) shared_traffic: u64,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// In bytes from the start of the function.
    pub(super) address: u32,
    pub(super) kind: Kind,
    /// Whether something decides if it is done.
    pub(super) is_conditional: bool,
    /// The address that it names, where it is one that control may go to.
    pub(super) target: Option<u32>,
}

/// What matters of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// NOP.
    Nothing,
    /// LDL, STL: with the bytes that it moves from or to a fixed place of the stack, 0 for another place.
    Local(u32),
    /// LDS, STS: with the bytes that it moves.
    Shared(u32),
    /// A branch to an address that it names.
    Branch,
    /// A branch to an address in a register.
    IndirectBranch,
    /// A call.
    Call,
    /// EXIT, RET, KILL.
    End,
    /// BSSY, whose address is where a thread that waits at BSYNC continues.
    Meeting,
    /// Any other.
    Other,
}

impl Sass {
    /// What the instructions of a function are. O(n log n).
    pub(super) fn of(instructions: &[Instruction]) -> Self {
        let count = |is: fn(&Kind) -> bool| instructions.iter().filter(|one| is(&one.kind)).count() as u32;
        let mut sass = Self {
            instructions: count(|kind| *kind != Kind::Nothing),
            local: count(|kind| matches!(kind, Kind::Local(_))),
            stack_traffic: 0,
            shared_traffic: 0,
        };
        if instructions.iter().any(|one| matches!(one.kind, Kind::Local(_) | Kind::Shared(_))) {
            let frequencies = frequencies(instructions);
            // Below 2^53, and there exact, for all nests that a program has; beyond, it stays the largest.
            let sum = |bytes: fn(&Instruction) -> u32| {
                instructions.iter().zip(&frequencies).map(|(one, runs)| f64::from(bytes(one)) * runs).sum::<f64>()
                    as u64
            };
            sass.stack_traffic = sum(Instruction::stack_bytes);
            sass.shared_traffic = sum(Instruction::shared_bytes);
        }
        sass
    }
}

impl Instruction {
    fn stack_bytes(&self) -> u32 {
        match self.kind {
            Kind::Local(bytes) => bytes,
            _ => 0,
        }
    }

    fn shared_bytes(&self) -> u32 {
        match self.kind {
            Kind::Shared(bytes) => bytes,
            _ => 0,
        }
    }

    /// The address that it may continue at, beside the next one. A call comes back to the next. Subroutines stand
    /// behind what calls them; other functions have code of their own.
    fn target(&self) -> Option<u32> {
        match self.kind {
            Kind::Branch | Kind::Meeting => self.target,
            Kind::Call => self.target.filter(|&target| target > self.address),
            _ => None,
        }
    }

    /// Whether what follows it begins a block.
    fn leaves(&self) -> bool {
        !matches!(self.kind, Kind::Nothing | Kind::Local(_) | Kind::Shared(_) | Kind::Other)
    }

    /// Whether the next instruction may follow it.
    fn falls_through(&self) -> bool {
        match self.kind {
            Kind::Branch | Kind::IndirectBranch | Kind::End => self.is_conditional,
            _ => true,
        }
    }
}

/// How often each instruction runs in a run of the function, by the loops around it.
fn frequencies(instructions: &[Instruction]) -> Vec<f64> {
    let (graph, blocks) = control_flow(instructions);
    let cfg = Cfg::new(&graph);
    let frequencies = block_frequencies(&graph, &cfg, &Dominators::new(&graph, &cfg));
    blocks.into_iter().map(|block| frequencies[block]).collect()
}

/// The control flow as a function without instructions, and the block of each instruction. A jump to an address in a
/// register may go to each block that nothing else leads to.
fn control_flow(instructions: &[Instruction]) -> (Function, Vec<Block>) {
    let mut leaders: Vec<u32> = instructions.iter().filter_map(Instruction::target).collect();
    leaders.extend(instructions.iter().take(1).map(|first| first.address));
    leaders.extend(instructions.windows(2).filter(|pair| pair[0].leaves()).map(|pair| pair[1].address));
    leaders.sort_unstable();
    leaders.dedup();
    let block_at = |address: u32| leaders.partition_point(|&leader| leader <= address).saturating_sub(1);
    let mut successors: Vec<Vec<Block>> = vec![Vec::new(); leaders.len()];
    let mut is_reached = vec![false; leaders.len()];
    let mut indirect = Vec::new();
    for (at, instruction) in instructions.iter().enumerate() {
        let from = block_at(instruction.address);
        let next = instructions.get(at + 1).map(|next| next.address);
        let next = next.filter(|&next| block_at(next) != from && instruction.falls_through());
        for to in next.into_iter().chain(instruction.target()).map(block_at) {
            successors[from].push(Block::new(to));
            is_reached[to] = true;
        }
        indirect.extend((instruction.kind == Kind::IndirectBranch).then_some(from));
    }
    for from in indirect {
        successors[from].extend((1..leaders.len()).filter(|&to| !is_reached[to]).map(Block::new));
    }
    let mut builder = FunctionBuilder::new("", Arc::new(OpcodeTable::new()));
    for successors in &successors {
        builder.block(successors, 1.0, 0);
    }
    (builder.finish(), instructions.iter().map(|one| Block::new(block_at(one.address))).collect())
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
        Sass::of(&instructions.iter().enumerate().map(one).collect::<Vec<_>>()).stack_traffic
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
