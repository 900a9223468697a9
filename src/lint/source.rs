//! Facts that the rules need from the code of a function. They are small, so a compiler can keep them after the code is
//! gone.

use std::collections::BTreeMap;

use crate::function::{Function, Inst, LaunchBounds};
use crate::loops::{Fault, wrong_loops};
use crate::target::Classification;

/// A line that occurs at least this often in one block belongs to an unrolled loop.
pub(super) const UNROLLED: u32 = 16;

/// Facts about a function's source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Its file, if known.
    pub file: Option<String>,
    /// The lowest line of an instruction; 0 if no instruction has a line.
    pub(super) begin: u32,
    /// Launch bounds of a kernel.
    pub(super) bounds: Option<LaunchBounds>,
    /// The lines that occur in one block [this often](UNROLLED), with their counts.
    repeated: BTreeMap<u32, u32>,
    /// The loops that ptxas unrolls wrongly for some numbers: the line of the deciding comparison, the fault, and
    /// whether such numbers are likely.
    pub(super) wrong_loops: Vec<(u32, Fault, bool)>,
}

impl Source {
    /// Collects the facts about a function. O(n log n) in its instructions.
    pub fn of((function, classification): (&Function, &Classification)) -> Self {
        let lines = function.insts().map(|inst| function.line(inst));
        Self {
            file: function.file().map(str::to_owned),
            begin: lines.filter(|&line| line != 0).min().unwrap_or(0),
            bounds: function.kernel().copied(),
            repeated: repeated(function),
            wrong_loops: wrong_loops((function, classification))
                .into_iter()
                .map(|wrong| (function.line(wrong.comparison), wrong.fault, wrong.is_likely))
                .collect(),
        }
    }

    /// Returns the facts without the first line, for a compiler that knows the first line itself. The lowest line is
    /// then wrong if an inlined function has lower lines.
    pub fn without_begin(self) -> Self {
        Self { begin: 0, ..self }
    }

    /// Returns how often a line occurs in one block; 0 if that is less than [`UNROLLED`].
    pub(super) fn times(&self, line: u32) -> u32 {
        self.repeated.get(&line).copied().unwrap_or(0)
    }
}

/// Counts how often lines occur in one block: a count is the number of a line's instructions that write registers and
/// have the same opcode. One place in the source may have more than one such instruction, but seldom has many.
fn repeated(function: &Function) -> BTreeMap<u32, u32> {
    let mut most = BTreeMap::new();
    let mut writes = Vec::new();
    for block in function.blocks() {
        let is_write = |inst: &Inst| {
            function.line(*inst) != 0 && function.operands(*inst).iter().any(|operand| operand.def().is_some())
        };
        let insts = function.block_insts(block).filter(is_write);
        writes.extend(insts.map(|inst| (function.line(inst), function.opcode(inst))));
        writes.sort_unstable();
        for same in writes.chunk_by(|one, other| one == other) {
            let times = same.len() as u32;
            if times >= UNROLLED {
                let most = most.entry(same[0].0).or_insert(0);
                *most = times.max(*most);
            }
        }
        writes.clear();
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a function with blocks of instructions: each entry has an opcode, a line and a count.
    fn function(blocks: &[&[(&str, u32, usize)]]) -> Function {
        let mut text = "mfv 1\nfunction \"k\"\nopcode ADD\nopcode LD_i32\nregs %0".to_owned();
        let count: usize = blocks.iter().flat_map(|block| block.iter()).map(|&(_, _, times)| times).sum();
        text += &format!("{}\n", " B32".repeat(count));
        let mut reg = 0;
        for (number, block) in blocks.iter().enumerate() {
            text += &format!("bb{number}: frequency 1.0 depth 0\n");
            for &(opcode, line, times) in *block {
                for _ in 0..times {
                    text += &format!("%{reg} = {opcode} 0 :: read line {line}\n");
                    reg += 1;
                }
            }
        }
        Function::parse(&(text.clone() + "end\n")).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// The count of a line is the count of its most frequent opcode, in the block with the highest such count. A line
    /// with a lower count than the limit is not listed.
    #[test]
    fn repeated_lines() {
        let code = function(&[
            &[("LD_i32", 4, 16), ("ADD", 4, 15), ("ADD", 5, 15)],
            &[("ADD", 4, 20), ("ADD", 5, 15), ("LD_i32", 6, 8), ("ADD", 6, 8)],
        ]);
        let source = Source::of((&code, &Classification::by_name(code.opcodes())));
        assert_eq!([4, 5, 6].map(|line| source.times(line)), [20, 0, 0]);
        assert_eq!((source.begin, source.file), (4, None));
    }
}
