//! The loops that ptxas unrolls, and how often.
//!
//! ptxas 13.0.88 and 13.5.37 unroll innermost loops of one form alone: the last branch goes back to the header under a predicate
//! that is not negated, or the header has the test and the last block a jump; the predicate is that of one comparison of integers of
//! 32 or 64 bits, or of floats in an order; and that compares what the loop has added a constant to with what the loop leaves alone. A loop that runs an
//! unknown number of times becomes four bodies and a remainder. A loop that runs a known number of times becomes that many bodies, or
//! as many as fit into about 320 instructions. The figures are those of probes.
//!
//! The analysis reads the code as it stands: LLVM's opcodes and PTX's mnemonics.

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

/// A loop of an unknown number of turns becomes so many bodies.
const BODIES: u32 = 4;

/// Such a body weighs at most so much.
const MOST_WEIGHT: u32 = 46;

/// The same of a body that accesses no memory.
const MOST_WEIGHT_WITHOUT_ACCESSES: u32 = 18;

/// The bodies of a loop of a known number of turns weigh about so much together, where they are not as many as the turns.
const WEIGHT_OF_ALL: u32 = 320;

/// Of fewer bodies there is one.
const LEAST_BODIES: u32 = 8;

/// Bodies up to the first weight become as many as the turns, where these weigh no more than the second together.
const WHOLE: [(u32, u32); 3] = [(6, 2_000), (12, 1_100), (u32::MAX, 544)];

/// Copies and constants in a row are followed so far.
const LONGEST_CHAIN: u32 = 8;

/// What ptxas makes of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrolling {
    /// As many bodies as it has turns, and no loop.
    Whole(u32),
    /// A loop of so many bodies.
    Partly(u32),
}

impl Unrolling {
    /// The bodies.
    pub fn bodies(self) -> u32 {
        match self {
            Self::Whole(bodies) | Self::Partly(bodies) => bodies,
        }
    }
}

/// Why ptxas does not unroll a loop: the first of these that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It has a loop inside.
    InnerLoop,
    /// This instruction forbids it: a call, a fence, a trap.
    Instruction(Inst),
    /// It has several edges back, or several that leave it, or leaves from a block in its middle.
    Edges,
    /// Its last branch is two jumps, or has a negated guard, or `.uni`. Where nothing else keeps it from being unrolled: what
    /// ptxas makes of it in another form.
    Branch(Option<Unrolling>),
    /// The source says not to unroll it, where ptxas listens. Where nothing but the form of its last branch keeps it from being
    /// unrolled otherwise: what ptxas would make of it.
    Pragma(Option<Unrolling>),
    /// It does not count by a constant, or compares otherwise than once with what it leaves alone.
    Counter,
    /// It is too long.
    Length,
}

/// The loops of a function, each with its blocks.
pub struct UnrolledLoops<'a> {
    function: &'a Function,
    classification: &'a Classification,
    loops: &'a Loops,
    occurrences: &'a Occurrences,
    /// Of innermost loops, in the order of the code.
    blocks: IndexVec<Loop, Vec<Block>>,
    is_outer: IndexVec<Loop, bool>,
}

/// How a loop decides whether it goes on.
struct Decision {
    /// The branch that decides.
    branch: Inst,
    /// Whether ptxas knows the form of the branch.
    is_plain: bool,
    /// Whether the branch ends the block that goes back, so that the loop goes on where the predicate lets it.
    is_at_latch: bool,
    /// Whether the loop goes on where the predicate is true.
    goes_on_if_true: bool,
}

impl<'a> UnrolledLoops<'a> {
    /// The loops of a function. O(blocks).
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

    /// The loops, in their order.
    pub fn loops(&self) -> impl Iterator<Item = Loop> + use<> {
        self.blocks.ids()
    }

    /// What ptxas makes of each loop, in their order.
    pub fn all(&self) -> impl Iterator<Item = Result<Unrolling, Obstacle>> {
        self.blocks.ids().map(|this| self.unrolling(this))
    }

    /// What ptxas makes of a loop. O(operands of the loop, and occurrences of what its branch reads).
    pub fn unrolling(&self, this: Loop) -> Result<Unrolling, Obstacle> {
        match self.unrolling_unless_told(this) {
            Ok(unrolling) | Err(Obstacle::Branch(Some(unrolling))) if self.is_told_not_to(this) => {
                Err(Obstacle::Pragma(Some(unrolling)))
            }
            Err(_) if self.is_told_not_to(this) => Err(Obstacle::Pragma(None)),
            unrolling => unrolling,
        }
    }

    /// Whether the source says not to unroll a loop, where ptxas listens: in its header, as LLVM prints it, too.
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

    /// What ptxas makes of a loop of so many turns, if that is known.
    fn bodies(&self, this: Loop, turns: Option<u32>) -> Result<Unrolling, Obstacle> {
        let insts = || self.blocks[this].iter().flat_map(|&block| self.function.block_insts(block));
        let code = || insts().filter(|&inst| self.function.role(inst) != Role::Debug);
        let accesses = code().any(|inst| self.weight(inst) > 1);
        let most_partly = if accesses { MOST_WEIGHT } else { MOST_WEIGHT_WITHOUT_ACCESSES };
        // Unrolled, what counts is no instruction: addresses are constants away from each other.
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

    /// What a loop counts by, whatever the form of its last branch. O(occurrences of what the branch reads).
    pub fn counter(&self, this: Loop) -> Option<Counter> {
        self.counter_of(this, &self.decision(this).ok()?)
    }

    /// The block that goes back, where that is one and decides.
    pub fn latch(&self, this: Loop) -> Option<Block> {
        let decision = self.decision(this).ok().filter(|decision| decision.is_at_latch)?;
        Some(self.function.block_of(decision.branch))
    }

    /// The blocks of an innermost loop, in the order of the code.
    pub fn blocks(&self, this: Loop) -> &[Block] {
        &self.blocks[this]
    }

    /// The counters of the loops that become as many bodies as they have turns: numbers that several definitions set, each a constant or
    /// a sum of such.
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

    /// Whether a register holds a number that ptxas knows in each turn of a loop that it unrolls as a whole: what is counted from a
    /// number, and sums of such. `is_known`: the values that are known ahead of the loop.
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

    /// A number, a copy, an address of a variable, or a sum, difference or shift.
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

    /// How a loop decides whether it goes on.
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

    /// What a body weighs by an instruction: accesses of memory 2, and what counts, compares or branches nothing.
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
