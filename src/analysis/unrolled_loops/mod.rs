//! The loops that ptxas unrolls, and the number of copies.
//!
//! ptxas 13.0.88 and 13.5.37 unroll only innermost loops of one form:
//!
//! - The last branch goes back to the header under a predicate that is not negated. Alternatively, the header has the
//!   test and the last block has a jump.
//! - The predicate comes from one comparison of integers of 32 or 64 bits, or from an ordered comparison of floats.
//! - The comparison is between a value to which the loop adds a constant and a value that the loop does not change.
//!
//! A loop with an unknown trip count becomes four copies of its body and a remainder. A loop with a known trip count
//! becomes that many copies, or as many as fit into about 320 instructions. The figures are from probes.
//!
//! The analysis reads the code in either form: LLVM's opcodes and PTX's mnemonics.

mod counter;
mod float_counter;
#[cfg(test)]
mod tests;

pub use counter::Counter;
pub use float_counter::FloatCounter;

use super::{Loop, Loops, Occurrences};
use crate::function::assembly::assembly_text;
use crate::function::ptx_opcode::{PtxOpcode, as_llvm};
use crate::function::{Block, Effects, Function, Inst, NoUnroll, Operand, Role, VReg, Value, is_negated};
use crate::index::IndexVec;
use crate::target::Classification;

/// Copies of the body of a loop with an unknown trip count.
const BODIES: u32 = 4;

/// The greatest weight of such a body.
const MOST_WEIGHT: u32 = 46;

/// The greatest weight of such a body if it accesses no memory.
const MOST_WEIGHT_WITHOUT_ACCESSES: u32 = 18;

/// The approximate total weight of all copies, if the trip count is known and the loop is not unrolled completely.
const WEIGHT_OF_ALL: u32 = 320;

/// ptxas does not unroll a loop if fewer copies than this would fit.
const LEAST_BODIES: u32 = 8;

/// Limits of complete unrolling: a body of at most the first weight is unrolled completely if all copies together weigh
/// at most the second.
const WHOLE: [(u32, u32); 3] = [(6, 2_000), (12, 1_100), (u32::MAX, 544)];

/// The longest chain of copies and constants that is followed.
const LONGEST_CHAIN: u32 = 8;

/// How ptxas unrolls a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrolling {
    /// Completely: as many copies as iterations, and no loop remains.
    Whole(u32),
    /// Partially: a loop with this many copies of the body.
    Partly(u32),
}

impl Unrolling {
    /// Returns the number of copies.
    pub fn bodies(self) -> u32 {
        match self {
            Self::Whole(bodies) | Self::Partly(bodies) => bodies,
        }
    }
}

/// The first reason for which ptxas does not unroll a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The loop contains another loop.
    InnerLoop,
    /// This instruction forbids unrolling: a call, a fence or a trap.
    Instruction(Inst),
    /// The loop has several back edges or several exits, or its exit is in a middle block.
    Edges,
    /// The last branch is two jumps, or has a negated guard, or is `.uni`. Holds how ptxas would unroll the loop with
    /// another form of the branch; `None` if there are other obstacles.
    Branch(Option<Unrolling>),
    /// The source forbids unrolling at a place that ptxas reads. Holds how ptxas would unroll the loop without the
    /// pragma and with another form of the last branch; `None` if there are other obstacles.
    Pragma(Option<Unrolling>),
    /// The loop has no counter with a constant step, or has not exactly one comparison of the counter with a value that
    /// the loop does not change.
    Counter,
    /// The body is too long.
    Length,
}

/// The loops of a function, each with its blocks.
pub struct UnrolledLoops<'a> {
    function: &'a Function,
    classification: &'a Classification,
    loops: &'a Loops,
    occurrences: &'a Occurrences,
    /// The blocks of innermost loops, in code order.
    blocks: IndexVec<Loop, Vec<Block>>,
    is_outer: IndexVec<Loop, bool>,
}

/// The branch that decides whether a loop continues.
struct Decision {
    /// The branch instruction.
    branch: Inst,
    /// Whether the branch has a form that ptxas recognises.
    is_plain: bool,
    /// Whether the branch ends the latch, so that the taken branch continues the loop. Otherwise the branch ends the
    /// header.
    is_at_latch: bool,
    /// Whether the loop continues if the predicate is true.
    goes_on_if_true: bool,
}

impl<'a> UnrolledLoops<'a> {
    /// Collects the loops of a function. O(blocks).
    pub fn new(
        (function, classification): (&'a Function, &'a Classification),
        loops: &'a Loops,
        occurrences: &'a Occurrences,
    ) -> Self {
        let mut blocks = IndexVec::filled(Vec::new(), loops.len());
        let mut is_outer = IndexVec::filled(false, loops.len());
        for block in function.blocks() {
            if let Some(innermost) = loops.innermost(block) {
                blocks[innermost].push(block);
            }
        }
        blocks.ids().filter_map(|inner| loops.parent(inner)).for_each(|outer| is_outer[outer] = true);
        Self { function, classification, loops, occurrences, blocks, is_outer }
    }

    /// Returns the loops in order.
    pub fn loops(&self) -> impl Iterator<Item = Loop> + use<> {
        self.blocks.ids()
    }

    /// Returns the unrolling of each loop, in order.
    pub fn all(&self) -> impl Iterator<Item = Result<Unrolling, Obstacle>> {
        self.blocks.ids().map(|this| self.unrolling(this))
    }

    /// Returns how ptxas unrolls a loop. O(operands of the loop, and occurrences of the registers that its branch
    /// reads).
    pub fn unrolling(&self, this: Loop) -> Result<Unrolling, Obstacle> {
        match self.unrolling_unless_told(this) {
            Ok(unrolling) | Err(Obstacle::Branch(Some(unrolling))) if self.is_told_not_to(this) => {
                Err(Obstacle::Pragma(Some(unrolling)))
            }
            Err(_) if self.is_told_not_to(this) => Err(Obstacle::Pragma(None)),
            unrolling => unrolling,
        }
    }

    /// Whether the source forbids unrolling at a place that ptxas reads: the loop's header, including pragmas that LLVM
    /// will print there.
    fn is_told_not_to(&self, this: Loop) -> bool {
        let header = self.loops.header(this);
        let goes_back = |&block: &Block| {
            self.function.no_unroll(block) == NoUnroll::Back && self.function.succs(block).contains(&header)
        };
        self.function.no_unroll(header) == NoUnroll::Here || self.blocks[this].iter().any(goes_back)
    }

    fn unrolling_unless_told(&self, this: Loop) -> Result<Unrolling, Obstacle> {
        if self.is_outer[this] {
            return Err(Obstacle::InnerLoop);
        }
        let insts = || self.blocks[this].iter().flat_map(|&block| self.function.block_insts(block));
        if let Some(inst) = insts().find(|&inst| self.forbids(inst)) {
            return Err(Obstacle::Instruction(inst));
        }
        let decision = self.decision(this)?;
        let turns = match self.counter_of(this, &decision) {
            Some(counter) => Ok(counter.turns()),
            None => self.float_counter_of(this, &decision).map(|_| None).ok_or(Obstacle::Counter),
        };
        let unrolling = turns.and_then(|turns| self.bodies(this, turns));
        if decision.is_plain { unrolling } else { Err(Obstacle::Branch(unrolling.ok())) }
    }

    /// Returns the unrolling of a loop with the given trip count; `None` if it is unknown.
    fn bodies(&self, this: Loop, turns: Option<u32>) -> Result<Unrolling, Obstacle> {
        let insts = || self.blocks[this].iter().flat_map(|&block| self.function.block_insts(block));
        let code = || insts().filter(|&inst| self.function.role(inst) != Role::Debug);
        let accesses = code().any(|inst| self.weight(inst) > 1);
        let most_partly = if accesses { MOST_WEIGHT } else { MOST_WEIGHT_WITHOUT_ACCESSES };
        // The counter's instructions weigh nothing, because after unrolling, addresses differ by constants.
        let weight: u32 = code().map(|inst| self.weight(inst)).sum();
        let Some(turns) = turns else {
            return if weight <= most_partly { Ok(Unrolling::Partly(BODIES)) } else { Err(Obstacle::Length) };
        };
        let most = WHOLE.iter().find(|&&(up_to, _)| weight <= up_to).map_or(0, |&(_, most)| most);
        let bodies = WEIGHT_OF_ALL / weight.max(1);
        if u64::from(turns) * u64::from(weight) <= u64::from(most) {
            Ok(Unrolling::Whole(turns))
        } else if bodies >= LEAST_BODIES {
            Ok(Unrolling::Partly(bodies))
        } else {
            Err(Obstacle::Length)
        }
    }

    /// Returns the integer counter of a loop, whatever the form of its last branch. O(occurrences of the registers that
    /// the branch reads).
    pub fn counter(&self, this: Loop) -> Option<Counter> {
        self.counter_of(this, &self.decision(this).ok()?)
    }

    /// Returns the latch of a loop, if there is one and its branch decides.
    pub fn latch(&self, this: Loop) -> Option<Block> {
        let decision = self.decision(this).ok().filter(|decision| decision.is_at_latch)?;
        Some(self.function.block_of(decision.branch))
    }

    /// Returns the blocks of an innermost loop, in code order.
    pub fn blocks(&self, this: Loop) -> &[Block] {
        &self.blocks[this]
    }

    /// Returns the counters of the completely unrolled loops: registers with several definitions, each of which is a
    /// constant or a sum of constants.
    pub fn counters(&self, unrollings: &IndexVec<Loop, Result<Unrolling, Obstacle>>) -> impl Iterator<Item = VReg> {
        let whole = unrollings.iter_enumerated().filter(|(_, unrolling)| matches!(unrolling, Ok(Unrolling::Whole(_))));
        let insts = whole.flat_map(move |(this, _)| {
            let insts = self.blocks[this].iter().flat_map(move |&block| self.function.block_insts(block));
            insts.map(move |inst| (this, inst))
        });
        let defined = insts.flat_map(move |(this, inst)| {
            self.function.operands(inst).iter().filter_map(Operand::def).map(move |reg| (this, reg))
        });
        defined
            .filter(move |&(this, reg)| {
                let definitions = self.occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def()).count();
                definitions > 1 && self.is_known_in_turns(this, reg, &|_| false)
            })
            .map(|(_, reg)| reg)
    }

    /// Whether ptxas knows the register's value in each iteration of a completely unrolled loop. This holds for
    /// counters that start from a constant, and for sums of counters. `is_known`: whether a register's value is known
    /// before the loop.
    pub fn is_known_in_turns(&self, this: Loop, reg: VReg, is_known: &impl Fn(VReg) -> bool) -> bool {
        self.known(this, reg, is_known, LONGEST_CHAIN)
    }

    fn known(&self, this: Loop, reg: VReg, is_known: &impl Fn(VReg) -> bool, chain: u32) -> bool {
        let Some(chain) = chain.checked_sub(1) else { return false };
        let of_known = |inst: Inst| {
            let is_here = self.loops.innermost(self.function.block_of(inst)) == Some(this);
            let mut read = self.function.operands(inst).iter().filter_map(Operand::read_reg);
            self.is_sum(inst) && read.all(|read| (is_here && read == reg) || self.known(this, read, is_known, chain))
        };
        let definitions = || self.occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def());
        is_known(reg) || (definitions().next().is_some() && definitions().all(|definition| of_known(definition.inst)))
    }

    /// Whether the instruction is a constant, a copy, the address of a variable, a sum, a difference or a shift.
    fn is_sum(&self, inst: Inst) -> bool {
        let function = self.function;
        let name = function.opcodes().name(function.opcode(inst));
        let name = as_llvm(name);
        function.role(inst) == Role::Constant
            || function.as_copy(inst).is_some()
            || [
                "ADD32",
                "ADD64",
                "SUB32",
                "SUB64",
                "SHL32",
                "SHL64",
                "LEA_ADDR",
                "MUL_WIDE",
                "CVT_u64_u32",
                "CVT_s64_s32",
            ]
            .iter()
            .any(|sum| name.starts_with(sum))
    }

    fn forbids(&self, inst: Inst) -> bool {
        let function = self.function;
        let name = function.opcodes().name(function.opcode(inst));
        let is_fence = ["membar", "fence", "INT_MEMBAR", "INT_FENCE", "atomic_thread_fence"]
            .iter()
            .any(|fence| name.trim_start_matches('@').starts_with(fence));
        let forbidding = ["membar", "fence", "mbarrier", "trap", "call", "bra"];
        let is_assembly =
            assembly_text(function, inst).is_some_and(|text| forbidding.iter().any(|word| text.contains(word)));
        is_fence
            || is_assembly
            || function.effects(inst).intersects(Effects::TRAP | Effects::CALL_SEQUENCE)
            || self.classification.is_call(function, inst)
    }

    /// Returns the branch that decides whether a loop continues.
    fn decision(&self, this: Loop) -> Result<Decision, Obstacle> {
        let (function, header) = (self.function, self.loops.header(this));
        let is_inside = |block: Block| self.loops.innermost(block) == Some(this);
        let edges =
            || self.blocks[this].iter().flat_map(|&block| function.succs(block).iter().map(move |&to| (block, to)));
        let mut back = edges().filter(|&(_, to)| to == header);
        let mut out = edges().filter(|&(_, to)| !is_inside(to));
        let ((latch, _), (exit, _)) = back.next().zip(out.next()).ok_or(Obstacle::Edges)?;
        if back.next().is_some() || out.next().is_some() || (exit != latch && exit != header) {
            return Err(Obstacle::Edges);
        }
        let mut terminators =
            function.block_insts(exit).filter(|&inst| function.effects(inst).contains(Effects::TERMINATOR));
        let branch = terminators.next().ok_or(Obstacle::Edges)?;
        let operands = function.operands(branch);
        let is_negated = is_negated(function, branch);
        let stays = |block: Block| if exit == latch { block == header } else { is_inside(block) };
        let stays_if_taken = operands.iter().any(|operand| matches!(operand.value, Value::Block(to) if stays(to)));
        let is_at_latch = exit == latch;
        let name = function.opcodes().name(function.opcode(branch));
        let is_bare = match PtxOpcode::of(name) {
            Some(opcode) => opcode.is_guarded && opcode.mnemonic == "bra",
            None => name == "CBranch",
        };
        let is_plain = is_bare && !is_negated && (!is_at_latch || stays_if_taken);
        Ok(Decision { branch, is_plain, is_at_latch, goes_on_if_true: stays_if_taken != is_negated })
    }

    /// Returns the weight of an instruction: 2 for a memory access, 0 for counting, comparing and branching, 1 for all
    /// others.
    fn weight(&self, inst: Inst) -> u32 {
        let function = self.function;
        let name = function.opcodes().name(function.opcode(inst));
        let name = as_llvm(name);
        let effects = function.effects(inst);
        let is_counted = function
            .operands(inst)
            .iter()
            .filter(|operand| !operand.is_def())
            .nth(1)
            .is_some_and(|operand| matches!(operand.value, Value::Immediate(_)) && name.starts_with("ADD"));
        if effects.contains(Effects::TERMINATOR) || is_counted || name.starts_with("SETP_i") {
            0
        } else if effects.intersects(Effects::READ | Effects::WRITE | Effects::MAY_FAULT) {
            2
        } else {
            1
        }
    }
}
