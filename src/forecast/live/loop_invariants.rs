//! HoistInvariants: values that are computed in a loop although they do not change in it.
//!
//! The document on ptxas's allocator lists an optional pass with the name HoistInvariants directly before the
//! allocation. A knob sets the pass's policy: all loops, inner loops, or no loops. A value that is moved before a loop
//! is live throughout the loop. LLVM has already moved all values that it could. The remaining invariants are
//! addresses, conversions and wide constants that instruction selection put next to their uses. ptxas 13.0.88 was
//! observed to follow the policy of inner loops, and to move all of a loop's arithmetic or none of it (the notebook has
//! the experiments). The model does not use these counts; only reports show them.

use crate::analysis::{Loop, Loops, Occurrence, Occurrences};
use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::footprint::behaviour::Behaviours;
use crate::function::{Function, Inst, Operand, VReg};
use crate::index::IndexVec;

/// Loops whose invariants are moved. The knob's third value, no loops, needs no analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::forecast) enum Policy {
    /// All loops: invariants move before the outermost loop in which they do not change.
    Always,
    /// Innermost loops: invariants move before this loop alone.
    InnerLoops,
}

/// Places of computations after invariants are moved.
#[derive(Debug)]
pub(in crate::forecast) struct Invariants {
    /// Innermost loop around each register's definitions, after invariants are moved as far as the policy allows.
    homes: IndexVec<VReg, Option<Loop>>,
    /// Whether each instruction is moved.
    is_moved: IndexVec<Inst, bool>,
}

impl Invariants {
    /// Moves all instructions that can be moved. An instruction can be moved if it has no effects or reads memory that
    /// is not written, if its results have one definition, and if its operands do not change in the loop. O((operands +
    /// definitions) · depth).
    pub(in crate::forecast) fn new(function: &Function, footprint: &RegisterFootprint, policy: Policy) -> Self {
        let RegisterFootprint { cfg, loops, behaviours, occurrences, .. } = footprint;
        let home = |reg| definitions(occurrences, reg).filter_map(|definition| loops.innermost(definition.block)).min();
        let mut homes: IndexVec<VReg, Option<Loop>> = function.regs().map(home).collect();
        let mut is_moved = IndexVec::filled(false, function.num_insts());
        let mut is_inner = IndexVec::<Loop, bool>::filled(true, loops.len());
        for outer in is_inner.ids().filter_map(|inner| loops.parent(inner)) {
            is_inner[outer] = false;
        }
        for &block in cfg.rpo() {
            let Some(here) = loops.innermost(block) else { continue };
            if policy == Policy::InnerLoops && !is_inner[here] {
                continue;
            }
            for inst in function.block_insts(block) {
                if !may_move(function, behaviours, occurrences, inst) {
                    continue;
                }
                let read = function.operands(inst).iter().filter_map(Operand::read_reg);
                // Inner loops have smaller numbers. Among the loops around one block, the smallest number is the
                // innermost loop.
                let changes_in = read.filter_map(|reg| common(loops, homes[reg], Some(here))).min();
                if changes_in == Some(here) {
                    continue;
                }
                is_moved[inst] = true;
                let target = if policy == Policy::Always { changes_in } else { loops.parent(here) };
                function.operands(inst).iter().filter_map(Operand::def).for_each(|reg| homes[reg] = target);
            }
        }
        Self { homes, is_moved }
    }

    /// Returns the most words that are moved out of a loop and read by instructions that stay in the loop. These words
    /// would be live throughout the loop. O(occurrences · depth).
    pub(in crate::forecast) fn most_words(&self, function: &Function, footprint: &RegisterFootprint) -> u32 {
        let RegisterFootprint { occurrences, loops, words, .. } = footprint;
        let mut through = IndexVec::<Loop, u32>::filled(0, loops.len());
        for reg in function.regs() {
            let Some(definition) = definitions(occurrences, reg).next().filter(|found| self.is_moved[found.inst])
            else {
                continue;
            };
            let here = loops.innermost(definition.block);
            let uses = occurrences.of(reg).iter().filter(|occurrence| occurrence.is_use());
            // The innermost loop with a read of the register, among the loops that its definition leaves.
            let read_in = uses.filter_map(|read| common(loops, self.place(function, loops, read), here)).min();
            let num_words = words.occupied(reg).count() as u32;
            let mut around = read_in;
            while let Some(this) = around.filter(|_| around != self.homes[reg]) {
                through[this] += num_words;
                around = loops.parent(this);
            }
        }
        through.iter().copied().max().unwrap_or(0)
    }

    /// Returns the innermost loop around an instruction after invariants are moved.
    fn place(&self, function: &Function, loops: &Loops, read: &Occurrence) -> Option<Loop> {
        if !self.is_moved[read.inst] {
            return loops.innermost(read.block);
        }
        function.operands(read.inst).iter().find_map(Operand::def).and_then(|result| self.homes[result])
    }
}

fn definitions(occurrences: &Occurrences, reg: VReg) -> impl Iterator<Item = &Occurrence> {
    occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def())
}

/// Whether an instruction computes the same result for the same operands, and is the only definition of its results.
fn may_move(function: &Function, behaviours: &Behaviours, occurrences: &Occurrences, inst: Inst) -> bool {
    let mut written = function.operands(inst).iter().filter_map(Operand::def).peekable();
    behaviours.gives_the_same(function, inst)
        && written.peek().is_some()
        && written.all(|reg| definitions(occurrences, reg).nth(1).is_none())
}

/// Returns the innermost loop around both loops.
fn common(loops: &Loops, mut one: Option<Loop>, mut other: Option<Loop>) -> Option<Loop> {
    while let (Some(first), Some(second)) = (one, other) {
        match first.cmp(&second) {
            std::cmp::Ordering::Equal => return one,
            std::cmp::Ordering::Less => one = loops.parent(first),
            std::cmp::Ordering::Greater => other = loops.parent(second),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Invariants, Policy};
    use crate::forecast::footprint::RegisterFootprint;
    use crate::function::Function;
    use crate::fuzzing::{Options, lowered_function};

    /// Returns the words moved out of a loop, for both policies.
    fn most_words(function: &Function) -> [u32; 2] {
        let footprint = RegisterFootprint::by_name(function);
        [Policy::Always, Policy::InnerLoops]
            .map(|policy| Invariants::new(function, &footprint, policy).most_words(function, &footprint))
    }

    /// Two nested loops with `body` in the inner loop. %0 is computed before both, %1 changes in the outer loop, %2 in
    /// the inner loop.
    fn nested(body: &str) -> [u32; 2] {
        let text = format!(
            "mfv 1\nfunction \"f\"\nopcode ADD32ri\nopcode ADD32rr\nopcode CBranch\nopcode INT_PTX_SREG_TID_x\nopcode LD_i32\n\
             opcode MOV_B32_i constant\nopcode ST_i32\nregs %0 B32 B32 B32 B32 B32 B1 B64\n\
             bb0: frequency 1.0 depth 0 -> bb1\n  %0 = INT_PTX_SREG_TID_x\n  %1 = MOV_B32_i 1\n  %2 = MOV_B32_i 2\n\
             bb1: frequency 2.0 depth 1 -> bb2\n  %1 = ADD32ri %1, 1\n\
             bb2: frequency 4.0 depth 2 -> bb2 bb3\n  %2 = ADD32ri %2, 1\n{body}  \
             CBranch %5, bb2 :: terminator\nbb3: frequency 2.0 depth 1 -> bb1 bb4\n  CBranch %5, bb1 :: terminator\n\
             bb4: frequency 1.0 depth 0\nend\n"
        );
        most_words(&Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    const STORE: &str = "  ST_i32 %4, 0, 0, 3, 32, %6, 0 :: write global\n";

    /// Instructions without varying operands move as far as the policy allows. A value and its only use take one word
    /// together. Constants take none. Instructions with varying operands, or with memory that is written, stay.
    #[test]
    fn invariants_leave_loops() {
        assert_eq!(nested(&format!("  %4 = ADD32ri %0, 5\n{STORE}")), [1, 1]);
        assert_eq!(nested(&format!("  %4 = ADD32ri %1, 5\n{STORE}")), [1, 1]);
        assert_eq!(nested(&format!("  %3 = ADD32ri %0, 5\n  %4 = ADD32rr %3, %1\n{STORE}")), [1, 1]);
        assert_eq!(nested(&format!("  %3 = ADD32ri %0, 5\n  %4 = ADD32rr %3, %2\n{STORE}")), [1, 1]);
        assert_eq!(nested(&format!("  %4 = ADD32ri %2, 5\n{STORE}")), [0, 0]);
        assert_eq!(nested(&format!("  %4 = MOV_B32_i 5\n{STORE}")), [0, 0]);
        assert_eq!(nested(&format!("  %4 = LD_i32 0, 0, 1, 3, 32, -1, %6, 0 :: read global\n{STORE}")), [0, 0]);
    }

    /// Only the policy of all loops moves invariants that are in the outer loop alone.
    #[test]
    fn outer_loops() {
        let text = "mfv 1\nfunction \"f\"\nopcode ADD32ri\nopcode CBranch\nopcode INT_PTX_SREG_TID_x\nopcode ST_i32\n\
                    regs %0 B32 B32 B1 B64\nbb0: frequency 1.0 depth 0 -> bb1\n  %0 = INT_PTX_SREG_TID_x\n\
                    bb1: frequency 2.0 depth 1 -> bb2\n  %1 = ADD32ri %0, 1\n\
                    ST_i32 %1, 0, 0, 3, 32, %3, 0 :: write global\n\
                    bb2: frequency 4.0 depth 2 -> bb2 bb3\n  CBranch %2, bb2 :: terminator\n\
                    bb3: frequency 2.0 depth 1 -> bb1 bb4\n  CBranch %2, bb1 :: terminator\n\
                    bb4: frequency 1.0 depth 0\nend\n";
        assert_eq!(most_words(&Function::parse(text).expect("a view")), [1, 0]);
    }

    /// In any function without loops, nothing moves.
    #[test]
    fn any_function() {
        arbtest::arbtest(|u| {
            let function = lowered_function(u, &Options::default())?;
            let most = most_words(&function);
            if RegisterFootprint::by_name(&function).loops.is_empty() {
                assert_eq!(most, [0, 0], "{function}");
            }
            Ok(())
        })
        .budget_ms(500);
    }
}
