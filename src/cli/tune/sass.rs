//! Machine code as the disassembler prints it: how many instructions, and how often what was spilled moves.

use std::collections::BTreeMap;
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
}

/// An instruction.
struct Instruction<'a> {
    /// In bytes from the start of the function.
    address: u32,
    has_guard: bool,
    opcode: &'a str,
    operands: &'a str,
}

/// What each function of a listing is, by its name. O(length · log length).
pub(super) fn read(listing: &str) -> BTreeMap<String, Sass> {
    let mut functions: BTreeMap<String, Vec<Instruction<'_>>> = BTreeMap::new();
    let mut name = "";
    for line in listing.lines() {
        if let Some(found) = line.trim_start().strip_prefix("Function : ") {
            name = found.trim();
            functions.entry(name.to_owned()).or_default();
        }
        if let (Some(of_function), Some(instruction)) = (functions.get_mut(name), Instruction::read(line)) {
            of_function.push(instruction);
        }
    }
    functions.into_iter().map(|(name, instructions)| (name, measure(&instructions))).collect()
}

fn measure(instructions: &[Instruction<'_>]) -> Sass {
    let is_local = |instruction: &&Instruction<'_>| instruction.is_local();
    let mut sass = Sass {
        instructions: instructions.iter().filter(|instruction| instruction.opcode != "NOP").count() as u32,
        local: instructions.iter().filter(is_local).count() as u32,
        stack_traffic: 0,
    };
    if sass.local > 0 {
        let frequencies = frequencies(instructions);
        let bytes = instructions.iter().zip(frequencies).map(|(one, runs)| f64::from(one.stack_bytes()) * runs);
        // Below 2^53, and there exact, for all nests that a program has; beyond, it stays the largest.
        sass.stack_traffic = bytes.sum::<f64>() as u64;
    }
    sass
}

impl<'a> Instruction<'a> {
    /// Reads a line as `/*0010*/  @P0 LDL R1, [R2] ;  /* 0x… */`.
    fn read(line: &'a str) -> Option<Self> {
        let (address, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
        let address = u32::from_str_radix(address, 16).ok().filter(|_| address.len() >= 4)?;
        let text = rest.split(';').next()?.trim();
        let (has_guard, text) = match text.strip_prefix('@') {
            Some(guarded) => (true, guarded.split_once(' ')?.1.trim_start()),
            None => (false, text),
        };
        let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
        let is_opcode = opcode.starts_with(|c: char| c.is_ascii_uppercase());
        is_opcode.then_some(Self { address, has_guard, opcode, operands: operands.trim() })
    }

    /// The opcode without its modifiers.
    fn base(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    fn is_local(&self) -> bool {
        matches!(self.base(), "LDL" | "STL")
    }

    /// Bytes that it moves from or to a fixed place of the stack: R1 is the stack's pointer.
    fn stack_bytes(&self) -> u32 {
        if !self.is_local() || !(self.operands.contains("[R1]") || self.operands.contains("[R1+0x")) {
            return 0;
        }
        let width = self.opcode.split('.').find_map(|modifier| match modifier {
            "U8" | "S8" => Some(1),
            "U16" | "S16" => Some(2),
            "64" => Some(8),
            "128" => Some(16),
            _ => None,
        });
        width.unwrap_or(4)
    }

    /// The address that it may continue at, beside the next one. Subroutines stand behind what calls them; other
    /// functions have listings of their own.
    fn target(&self) -> Option<u32> {
        let last = self.operands.rsplit([',', ' ']).next()?;
        let target = u32::from_str_radix(last.strip_prefix("0x")?, 16).ok().filter(|_| self.leaves())?;
        (self.base() != "CALL" || target > self.address).then_some(target)
    }

    /// Whether what follows it begins a block. A thread that waits at BSYNC continues where its BSSY says.
    fn leaves(&self) -> bool {
        matches!(
            self.base(),
            "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "JMXU" | "CALL" | "RET" | "EXIT" | "BSSY" | "KILL"
        )
    }

    /// Whether it goes to an address in a register.
    fn is_indirect(&self) -> bool {
        matches!(self.base(), "BRX" | "BRXU" | "JMX" | "JMXU")
    }

    /// Whether the next instruction may follow it.
    fn falls_through(&self) -> bool {
        let is_conditional = self.has_guard || self.operands.contains(',');
        match self.base() {
            "BRA" | "JMP" => is_conditional,
            "BRX" | "BRXU" | "JMX" | "JMXU" | "RET" | "EXIT" | "KILL" => self.has_guard,
            _ => true,
        }
    }
}

/// How often each instruction runs in a run of the function, by the loops around it.
fn frequencies(instructions: &[Instruction<'_>]) -> Vec<f64> {
    let (graph, blocks) = control_flow(instructions);
    let cfg = Cfg::new(&graph);
    let frequencies = block_frequencies(&graph, &cfg, &Dominators::new(&graph, &cfg));
    blocks.into_iter().map(|block| frequencies[block]).collect()
}

/// The control flow as a function without instructions, and the block of each instruction. A jump to an address in a
/// register may go to each block that nothing else leads to.
fn control_flow(instructions: &[Instruction<'_>]) -> (Function, Vec<Block>) {
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
        indirect.extend(instruction.is_indirect().then_some(from));
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
    use super::*;

    /// A listing of the instructions, at addresses of 16 bytes each.
    fn listing(instructions: &[&str]) -> String {
        let line = |(at, text): (usize, &&str)| format!("        /*{:04x}*/  {text} ;  /* 0x0 */\n", at * 16);
        let lines: String = instructions.iter().enumerate().map(line).collect();
        format!("\t\tFunction : a\n\t.headerflags\t@\"EF\"\n{lines}")
    }

    fn traffic(instructions: &[&str]) -> u64 {
        read(&listing(instructions))["a"].stack_traffic
    }

    /// Instructions are counted for each function, NOPs apart, local accesses beside.
    #[test]
    fn counts_instructions() {
        let first = listing(&["LDC R1, c[0x0][0x28]", "@!P0 STL.64 [R1], R4", "NOP"]);
        let words = "                                       /* 0x000fe20000000800 */\n";
        let read = read(&format!("{first}{words}\t\tFunction : b\n        /*0000*/  EXIT ;  /* 0x0 */\n"));
        assert_eq!(read["a"], Sass { instructions: 2, local: 1, stack_traffic: 8 });
        assert_eq!(read["b"], Sass { instructions: 1, local: 0, stack_traffic: 0 });
    }

    /// Bytes go by the width of the access, and only fixed places of the stack count.
    #[test]
    fn widths() {
        assert_eq!(traffic(&["LDL R0, [R1+0x8]", "STL.128 [R1], R4", "LDL.U8 R0, [R1]", "LDL.LU R0, [R1]"]), 25);
        assert_eq!(traffic(&["LDL R0, [R2]", "LDL R0, [R12+0x4]", "LDG.E R0, [R1]"]), 0);
    }

    /// An access in a loop counts ten times, in a loop inside it a hundred times, behind it once.
    #[test]
    fn loops() {
        let nest =
            ["STL [R1], R0", "LDL R0, [R1]", "LDL R0, [R1]", "@P0 BRA 0x20", "@!P1 BRA 0x10", "LDL R0, [R1]", "EXIT"];
        assert_eq!(traffic(&nest), 4 + 40 + 400 + 4);
    }

    /// A block that stands behind the end, and goes back into straight code, makes no loop of what is between.
    #[test]
    fn code_out_of_line_is_no_loop() {
        assert_eq!(traffic(&["@P0 BRA 0x40", "NOP", "LDL R0, [R1]", "EXIT", "STL [R1], R0", "BRA 0x10"]), 8);
    }

    /// The blocks of a jump table are part of the loop that they return to.
    #[test]
    fn jump_tables() {
        assert_eq!(traffic(&["NOP", "BRX R6 -0x20", "LDL R0, [R1]", "BRA 0x10", "NOP", "@P0 BRA 0x10", "EXIT"]), 40);
    }

    /// Broken listings are read as far as they go, without a panic.
    #[test]
    fn broken_listings() {
        assert!(read("").is_empty());
        for text in ["@P0", "BRA 0xfffffff0", "BRA", "BRX R6", "@P0 STL [R1], R0", "LDL"] {
            let read = read(&listing(&[text]));
            assert!(read["a"].instructions <= 1, "{text}");
        }
    }
}
