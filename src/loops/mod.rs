//! Brings loops into the form that ptxas unrolls.
//!
//! LLVM ends many loops in two jumps: `@%p bra EXIT; bra.uni HEADER`. In functions with simple control flow, ptxas does
//! not unroll these loops. If the same loop ends in `@%p bra HEADER` under the complement of the comparison, ptxas
//! unrolls it by four or more: [`UnrolledLoops`] lists the forms. This module swaps the two jumps and changes nothing
//! else. If ptxas unrolls the loop, more loads are in flight, and an iteration executes fewer instructions.
//!
//! In PTX, some compilers print `.pragma "nounroll"` before a loop's label, where ptxas ignores it. This module inserts
//! the pragma after the label, where ptxas obeys it, and changes nothing else of the loop. The pragma before the label
//! stays, because it may belong to another loop.
//!
//! Some loops stay:
//! * a loop that the source says not to unroll;
//! * a loop that ptxas would unroll wrongly for some numbers ([`right`]), such as each loop that continues by an order
//!   of signed numbers;
//! * a loop with a barrier, another instruction that threads execute together, or an asynchronous copy: these loops are
//!   pipelined by hand;
//! * a loop whose branch has no comparison of its own;
//! * a loop with an unknown trip count in which too many words are live, or computed, for four bodies at full
//!   occupancy;
//! * all loops of a kernel with a register limit by `.maxnreg` or `.minnctapersm`: ptxas would also unroll these loops,
//!   and spill.
//!
//! The last two kinds are changed with [`LoopShape::All`]: a search uses it and measures the result.

mod right;
#[cfg(test)]
mod tests;
mod wrong;

use std::cell::LazyCell;

use crate::analysis::pressure::Pressure;
use crate::analysis::{Cfg, Dominators, LiveRanges, Loop, Loops, Obstacle, Occurrences, UnrolledLoops, Unrolling};
use crate::config::LoopShape;
use crate::function::assembly::assembly_text;
use crate::function::{
    Block, Edit, EditList, Effects, Function, Inst, NoUnroll, Operand, TwoJumps, VReg, text_of_complement,
};
use crate::target::Classification;
use right::is_unrolled_rightly;
pub use wrong::{Fault, WrongLoop, wrong_loops};

/// Most words that are live in a loop. Above this bound, four bodies may take more than 32 registers, which is the most
/// that a thread may use with 64 warps. Without this bound, one of 2,625 kernels lost warps: 33 words were live in its
/// loop.
const MOST_WORDS: u32 = 28;

/// Most live words in a loop, plus the words that an iteration computes: four bodies of many instructions keep more of
/// their values live at once. Without this bound, one of the corpus's kernels lost warps: 24 words were live in its
/// loop, and an iteration computed 46. No kernel with a sum of 68 or less lost warps.
const MOST_WORDS_WITH_COMPUTED: u32 = 68;

/// The changed loops, and the loops that stay though ptxas would unroll them in another form, with the reasons.
#[derive(Debug)]
pub struct Outcome {
    /// The edits.
    pub edits: EditList,
    /// The loops that ptxas unrolls after the change, each with its last block.
    pub turned: Vec<(Block, Unrolling)>,
    /// The headers of loops that the source says not to unroll, if ptxas obeys only after the change.
    pub told: Vec<Block>,
    /// The loops that stay, each with its last block.
    pub left: Vec<(Block, Reason)>,
}

/// Reason for which a loop stays, though ptxas would unroll it in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The source says not to unroll it.
    Pragma,
    /// The kernel has `.maxnreg` or `.minnctapersm`.
    Bounds,
    /// Too many words are live in it for four bodies.
    Pressure,
    /// ptxas would change the trip count for some numbers: see [`right`].
    Overflow,
    /// It has an instruction that threads execute together, or one that is asynchronous.
    Synchronised,
    /// No other form of its end is known, or its predicate has other readers.
    Predicate,
}

impl Reason {
    /// Returns the reason in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pragma => "a pragma forbids unrolling",
            Self::Bounds => "the kernel has a register limit",
            Self::Pressure => "too many values are live or computed to unroll it at full occupancy",
            Self::Overflow => "in ptxas's code, its trip count would be wrong if the counter overflows or is rounded",
            Self::Synchronised => "it has a barrier, an asynchronous copy or a similar instruction",
            Self::Predicate => "its end has another form, or its predicate is read elsewhere",
        }
    }
}

/// Parts of mnemonics, LLVM's opcodes and inline assembly that denote asynchronous copies or waits.
const ASYNCHRONOUS: [&str; 8] =
    ["cp.async", "cp_async", "mbarrier", "wgmma", "tcgen05", "barrier", "bar.sync", "griddepcontrol"];

/// Swaps the last branches of loops so that ptxas unrolls them. The function must have left SSA form. O(n log n) in
/// operands and blocks if a loop ends in two jumps or has a misplaced pragma, else O(blocks).
pub fn shape_loops((function, classification): (&Function, &Classification), wanted: LoopShape) -> Outcome {
    let mut outcome =
        Outcome { edits: EditList::new(function), turned: Vec::new(), told: Vec::new(), left: Vec::new() };
    let is_concerned = |block: Block| {
        function.no_unroll(block) == NoUnroll::Ahead
            || TwoJumps::of(function, block).is_some_and(|jumps| jumps.other <= block)
    };
    if !function.blocks().any(is_concerned) {
        return outcome;
    }
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let loops = Loops::new(&cfg, &dominators);
    let occurrences = Occurrences::new(function, &|_| true);
    let shapes = Shapes {
        function,
        loops: &loops,
        occurrences: &occurrences,
        minds_registers: wanted != LoopShape::All,
        unrolled: UnrolledLoops::new((function, classification), &loops, &occurrences),
    };
    let pressure = LazyCell::new(|| {
        let registers: Vec<VReg> = function.regs().collect();
        Pressure::new(function, &LiveRanges::new(function, &cfg, &dominators, &occurrences, &registers))
    });
    let has_room = |this: Loop, unrolling: Unrolling| {
        let most = |&block: &Block| {
            let insts = function.block_range(block);
            pressure.most_in(&(insts.start.0..insts.end.0))
        };
        let blocks = shapes.unrolled.blocks(this);
        let is_few = || {
            let words = blocks.iter().map(most).max().unwrap_or_default();
            words <= MOST_WORDS && words + computed_words(function, blocks) <= MOST_WORDS_WITH_COMPUTED
        };
        matches!(unrolling, Unrolling::Whole(_)) || is_few()
    };
    for this in shapes.unrolled.loops() {
        let header = loops.header(this);
        if function.no_unroll(header) == NoUnroll::Ahead {
            outcome.edits.push(Edit::InsertPragma { block: header });
            outcome.told.push(header);
            continue;
        }
        let Some(latch) = shapes.unrolled.latch(this) else { continue };
        let unrolling = match shapes.unrolled.unrolling(this) {
            Err(Obstacle::Branch(Some(unrolling))) => unrolling,
            Err(Obstacle::Pragma(Some(_))) => {
                outcome.left.push((latch, Reason::Pragma));
                continue;
            }
            _ => continue,
        };
        match shapes.turn(this, latch) {
            Ok(_) if shapes.minds_registers && !has_room(this, unrolling) => {
                outcome.left.push((latch, Reason::Pressure))
            }
            Ok(edit) => {
                outcome.edits.push(edit);
                outcome.turned.push((latch, unrolling));
            }
            Err(reason) => outcome.left.push((latch, reason)),
        }
    }
    outcome.edits.finish();
    outcome
}

/// Returns the 32-bit words that an iteration of a loop computes. A predicate counts as one word, unlike in
/// [`RegClass::words`](crate::function::RegClass::words).
fn computed_words(function: &Function, blocks: &[Block]) -> u32 {
    let insts = blocks.iter().flat_map(|&block| function.block_insts(block));
    let defs = insts.flat_map(|inst| function.operands(inst)).filter_map(Operand::def);
    defs.map(|reg| function.class(reg).bits().div_ceil(32)).sum()
}

struct Shapes<'a> {
    function: &'a Function,
    loops: &'a Loops,
    occurrences: &'a Occurrences,
    unrolled: UnrolledLoops<'a>,
    /// Whether a loop stays if four of its bodies may exceed the register limit.
    minds_registers: bool,
}

impl Shapes<'_> {
    /// Returns the edit that swaps the last branches of a loop.
    fn turn(&self, this: Loop, latch: Block) -> Result<Edit, Reason> {
        let bounds = self.function.kernel().copied().unwrap_or_default();
        if self.minds_registers && (bounds.max_registers.is_some() || bounds.min_blocks.is_some()) {
            return Err(Reason::Bounds);
        }
        if self.unrolled.blocks(this).iter().any(|&block| self.is_synchronised(block)) {
            return Err(Reason::Synchronised);
        }
        let jumps = TwoJumps::of(self.function, latch).filter(|jumps| !jumps.is_negated).ok_or(Reason::Predicate)?;
        // The loop has no integer counter, so a float decides.
        let counter = self.unrolled.counter(this).ok_or(Reason::Overflow)?;
        if !is_unrolled_rightly(self.function, self.loops, self.occurrences, this, &counter) {
            return Err(Reason::Overflow);
        }
        let is_here = self.function.block_of(counter.comparison) == latch && counter.comparison < jumps.branch;
        // ptxas unrolls some loops in two jumps, but not with `ne` of signed numbers if the bound is its first operand.
        // In LLVM's code, the edit makes the counter the first operand.
        let first = self.function.operands(counter.comparison).iter().find(|operand| !operand.is_def());
        let is_first = first.and_then(Operand::reg) == Some(counter.counted)
            || text_of_complement(self.function, counter.comparison).is_some();
        if !is_here || self.minds_registers && !is_first || !self.is_of_the_branch_alone(jumps.predicate) {
            return Err(Reason::Predicate);
        }
        Ok(Edit::TurnBranch { block: latch, comparison: counter.comparison })
    }

    /// Whether a predicate has one definition and is read only by the branch.
    fn is_of_the_branch_alone(&self, predicate: VReg) -> bool {
        let occurrences = self.occurrences.of(predicate);
        let definitions = occurrences.iter().filter(|occurrence| occurrence.is_def()).count();
        definitions == 1 && occurrences.len() == 2 && self.occurrences.debug_uses(predicate).is_empty()
    }

    fn is_synchronised(&self, block: Block) -> bool {
        self.function.block_insts(block).any(|inst| self.is_synchronisation(inst))
    }

    fn is_synchronisation(&self, inst: Inst) -> bool {
        let is_asynchronous = |text: &str| {
            let text = text.to_ascii_lowercase();
            ASYNCHRONOUS.iter().any(|word| text.contains(word))
        };
        let function = self.function;
        function.effects(inst).contains(Effects::CONVERGENT)
            || is_asynchronous(function.opcodes().name(function.opcode(inst)))
            || assembly_text(function, inst).is_some_and(is_asynchronous)
    }
}
