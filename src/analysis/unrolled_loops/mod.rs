//! The loops that ptxas unrolls, and how often.
//!
//! ptxas 13.0.88 and 13.5.37 unroll innermost loops of one form alone: the last branch goes back to the header under a predicate
//! that is not negated, or the header has the test and the last block a jump; the predicate is that of one comparison of integers of
//! 32 or 64 bits; and that compares what the loop has added a constant to with what the loop leaves alone. A loop that runs an
//! unknown number of times becomes four bodies and a remainder. A loop that runs a known number of times becomes that many bodies, or
//! as many as fit into about 320 instructions. The figures are those of probes.
//!
//! The analysis reads the code as it stands: LLVM's opcodes and PTX's mnemonics. A view does not have `.pragma "nounroll"`.

use super::{Loop, Loops, Occurrence, Occurrences};
use crate::function::assembly::assembly_text;
use crate::function::ptx_opcode::{PtxOpcode, as_llvm};
use crate::function::{Block, Comparison, Effects, Function, Inst, Operand, Role, VReg, Value, is_negated};
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

/// What a loop counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The comparison that decides.
    pub comparison: Inst,
    /// The register that holds the new value of the counter where it is compared.
    pub counted: VReg,
    /// The register with which it is compared; `None`: a number.
    pub against: Option<VReg>,
    /// The loop goes on while this holds.
    pub goes_on: Comparison,
    /// What a turn adds.
    pub step: i64,
    /// The number with which the loop starts, where it is known.
    pub start: Option<i64>,
    /// The number with which the counter is compared, where it is known.
    pub bound: Option<i64>,
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
        if self.is_outer[this] {
            return Err(Obstacle::InnerLoop);
        }
        let insts = || self.blocks[this].iter().flat_map(|&block| self.function.block_insts(block));
        if let Some(inst) = insts().find(|&inst| self.forbids(inst)) {
            return Err(Obstacle::Instruction(inst));
        }
        let decision = self.decision(this)?;
        let counted = self.counter_of(this, &decision).ok_or(Obstacle::Counter);
        let unrolling = counted.and_then(|counter| self.bodies(this, &counter));
        if decision.is_plain { unrolling } else { Err(Obstacle::Branch(unrolling.ok())) }
    }

    /// What ptxas makes of a loop that counts so.
    fn bodies(&self, this: Loop, counter: &Counter) -> Result<Unrolling, Obstacle> {
        let insts = || self.blocks[this].iter().flat_map(|&block| self.function.block_insts(block));
        let code = || insts().filter(|&inst| self.function.role(inst) != Role::Debug);
        let accesses = code().any(|inst| self.weight(inst) > 1);
        let most_partly = if accesses { MOST_WEIGHT } else { MOST_WEIGHT_WITHOUT_ACCESSES };
        // Unrolled, what counts is no instruction: addresses are constants away from each other.
        let weight: u32 = code().map(|inst| self.weight(inst)).sum();
        let Some(turns) = counter.turns() else {
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

    fn counter_of(&self, this: Loop, decision: &Decision) -> Option<Counter> {
        let function = self.function;
        let predicate = function.operands(decision.branch).iter().find_map(Operand::read_reg)?;
        let comparison = self.only_definition_in(this, predicate)?.inst;
        let kind = Comparison::of(function, comparison)?;
        let goes_on = if decision.goes_on_if_true { kind } else { kind.complement() };
        if goes_on == Comparison::Eq {
            return None;
        }
        let mut compared = function.operands(comparison).iter().filter(|operand| !operand.is_def());
        let (first, second) = (compared.next()?, compared.next()?);
        let is_left_alone = |operand: &Operand| match operand.value {
            Value::Immediate(_) => true,
            Value::Reg(reg) => self.definitions_in(this, reg).next().is_none(),
            _ => false,
        };
        // ptxas knows the counter on either side.
        let (counted, bound, goes_on) =
            if is_left_alone(second) { (first, second, goes_on) } else { (second, first, goes_on.mirrored()) };
        let counted = counted.reg().filter(|_| is_left_alone(bound))?;
        let definition = *self.only_definition_in(this, counted)?;
        // The sum has to stand ahead of the comparison, unless the header has that: the counter's old value is none that ptxas knows.
        if decision.is_at_latch && definition.inst > comparison {
            return None;
        }
        let (sum, step) = self.sum(this, counted, definition.inst)?;
        let start = self.number_ahead(this, sum, LONGEST_CHAIN);
        let against = bound.reg();
        let bound = match bound.value {
            Value::Reg(reg) => self.number_ahead(this, reg, LONGEST_CHAIN),
            _ => bound.as_immediate(),
        };
        Some(Counter { comparison, counted, against, goes_on, step, start, bound })
    }

    /// The register that holds a counter from turn to turn, and its step: what defines it adds to itself, or to a register that it is
    /// copied to.
    fn sum(&self, this: Loop, counted: VReg, definition: Inst) -> Option<(VReg, i64)> {
        let function = self.function;
        let name = function.opcodes().name(function.opcode(definition));
        let name = as_llvm(name);
        let sign = match &*name {
            "ADD32ri" | "ADD64ri" => 1,
            "SUB32ri" | "SUB64ri" => -1,
            _ => return None,
        };
        let mut operands = function.operands(definition).iter().filter(|operand| !operand.is_def());
        let from = operands.next()?.reg()?;
        let step = sign * operands.next()?.as_immediate()?;
        let is_itself = from == counted || {
            let copy = self.only_definition_in(this, from)?.inst;
            function.as_copy(copy).is_some()
                && function.operands(copy).iter().any(|operand| operand.read_reg() == Some(counted))
        };
        (is_itself && step != 0).then_some((from, step))
    }

    /// The number that a register holds ahead of a loop, if that is one.
    fn number_ahead(&self, this: Loop, reg: VReg, chain: u32) -> Option<i64> {
        let is_ahead = |one: &&Occurrence| one.is_def() && !self.loops.contains(this, one.block);
        let mut ahead = self.occurrences.of(reg).iter().filter(is_ahead);
        let definition = ahead.next().filter(|_| ahead.next().is_none())?.inst;
        let operands = self.function.operands(definition);
        if self.function.role(definition) == Role::Constant {
            return operands.iter().find(|operand| !operand.is_def())?.as_immediate();
        }
        let copied = self.function.as_copy(definition).and_then(|_| operands.iter().find_map(Operand::read_reg))?;
        self.number_ahead(this, copied, chain.checked_sub(1)?)
    }

    fn definitions_in(&self, this: Loop, reg: VReg) -> impl Iterator<Item = &Occurrence> {
        let is_inside = move |one: &&Occurrence| one.is_def() && self.loops.innermost(one.block) == Some(this);
        self.occurrences.of(reg).iter().filter(is_inside)
    }

    fn only_definition_in(&self, this: Loop, reg: VReg) -> Option<&Occurrence> {
        let mut definitions = self.definitions_in(this, reg);
        definitions.next().filter(|_| definitions.next().is_none())
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

impl Counter {
    /// Whether it is known how often the loop runs.
    pub fn has_known_turns(&self) -> bool {
        self.turns().is_some()
    }

    /// How often the loop runs, once or more, where that is known: up to the first turn behind which its counter compares otherwise.
    fn turns(&self) -> Option<u32> {
        let (start, step, bound) = (i128::from(self.start?), i128::from(self.step), i128::from(self.bound?));
        let (distance, step, is_up) =
            if step > 0 { (bound - start, step, true) } else { (start - bound, -step, false) };
        let turns = match self.goes_on {
            Comparison::Ne if distance % step == 0 => distance / step,
            Comparison::Lt(_) if is_up => (distance + step - 1) / step,
            Comparison::Gt(_) if !is_up => (distance + step - 1) / step,
            Comparison::Le(_) if is_up => distance / step + 1,
            Comparison::Ge(_) if !is_up => distance / step + 1,
            _ => return None,
        };
        u32::try_from(turns).ok().filter(|_| distance > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Obstacle, UnrolledLoops, Unrolling};
    use crate::analysis::{Cfg, Dominators, Loops, Occurrences};
    use crate::function::Function;
    use crate::target::Classification;

    /// What ptxas makes of a loop, bb1, that counts %0 from 0 or from a thread's number, and ends so.
    fn unrolling(start: &str, body: &str, end: &str) -> Result<Unrolling, Obstacle> {
        let text = format!(
            "mfv 1\nfunction \"k\"\nkernel\nopcode \"mov.u32/%tid.x\"\nopcode MOV_B32_i constant\nopcode \"add.s32/rri\"\n\
             opcode \"add.s32/rrr\"\nopcode \"sub.s32/rri\"\nopcode \"fma.rn.f32/rrrr\"\nopcode \"membar.gl/\"\n\
             opcode \"bar.sync/i\"\nopcode \"setp.ne.s32/rri\"\nopcode \"setp.eq.s32/rri\"\nopcode \"setp.lt.s32/rrr\"\n\
             opcode \"setp.gt.u32/rri\"\nopcode \"setp.ne.s16/rri\"\nopcode \"setp.lt.and.s32/rrrr\"\nopcode \"@bra/l\"\n\
             opcode \"@bra.uni/l\"\nopcode \"bra.uni/l\"\nopcode \"ret/\"\nopcode SETP_i32ri\nopcode CBranch\nopcode GOTO\nopcode LD_i32\n\
             regs %0 B32 B32 B32 B1 B1\n@0 = \"!\"\nbb0: frequency 1.0 depth 0 -> bb1\n  %1 = \"mov.u32/%tid.x\"\n  %0 = {start}\n\
             bb1: frequency 9.0 depth 1 -> bb1 bb2\n{body}{end}\nbb2: frequency 1.0 depth 0\n  \"ret/\" :: terminator\nend\n"
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let cfg = Cfg::new(&function);
        let loops = Loops::new(&cfg, &Dominators::new(&function, &cfg));
        let occurrences = Occurrences::new(&function, &|_| true);
        let classification = Classification::by_name(function.opcodes());
        let unrolled = UnrolledLoops::new((&function, &classification), &loops, &occurrences);
        let all: Vec<_> = unrolled.all().collect();
        let [one] = all[..] else { panic!("{} loops", all.len()) };
        one
    }

    const FMA: &str = "  %2 = \"fma.rn.f32/rrrr\" %2, %2, %2\n";
    const STEP: &str = "  %0 = \"add.s32/rri\" %0, 1\n";
    const BRANCH: &str = "  \"@bra/l\" bb1, %3 :: terminator";
    const THREAD: &str = "\"mov.u32/%tid.x\"";

    /// The form of the last branch, of the comparison and of the step decide, as probes of ptxas have found.
    #[test]
    fn forms_of_loops() {
        let ne = "  %3 = \"setp.ne.s32/rri\" %0, 100\n";
        let of = |body: &str, end: &str| unrolling(THREAD, body, end);
        let partly = Ok(Unrolling::Partly(4));
        assert_eq!(of(&format!("{FMA}{STEP}{ne}"), BRANCH), partly);
        assert_eq!(of(&format!("{FMA}{STEP}{ne}  \"bar.sync/i\" 0 :: ordered convergent\n"), BRANCH), partly);
        assert_eq!(
            of(&format!("{FMA}{STEP}{ne}"), "  \"@bra/l\" bb1, %3 :: terminator\n  \"bra.uni/l\" bb2 :: terminator"),
            partly
        );
        let llvm = "  %3 = SETP_i32ri %0, 100, 1\n";
        assert_eq!(
            of(&format!("{FMA}{STEP}{llvm}"), "  CBranch %3, bb1 :: terminator\n  GOTO bb2 :: terminator"),
            partly
        );
        let eq = "  %3 = \"setp.eq.s32/rri\" %0, 100\n";
        for form in [
            "  \"@bra/l\" bb2, %3 :: terminator\n  \"bra.uni/l\" bb1 :: terminator",
            "  \"@bra/l\" bb1, %3, @0 :: terminator",
        ] {
            let expected = Err(Obstacle::Branch(Some(Unrolling::Partly(4))));
            assert_eq!(of(&format!("{FMA}{STEP}{eq}"), form), expected, "{form}");
            assert_eq!(of(&format!("{FMA}{STEP}{ne}"), form), Err(Obstacle::Branch(None)), "{form}");
        }
        let uniform = "  \"@bra.uni/l\" bb1, %3 :: terminator";
        assert_eq!(of(&format!("{FMA}{STEP}{ne}"), uniform), Err(Obstacle::Branch(Some(Unrolling::Partly(4)))));
        for counted in [
            format!("{ne}{STEP}"),
            format!("{STEP}{eq}"),
            format!("  %0 = \"add.s32/rrr\" %0, %1\n{ne}"),
            format!("{STEP}  %3 = \"setp.ne.s16/rri\" %0, 100\n"),
            format!("{STEP}  %3 = \"setp.lt.and.s32/rrrr\" %0, %1, %4\n"),
            format!("  %1 = \"mov.u32/%tid.x\"\n{STEP}  %3 = \"setp.lt.s32/rrr\" %0, %1\n"),
        ] {
            assert_eq!(of(&format!("{FMA}{counted}"), BRANCH), Err(Obstacle::Counter), "{counted}");
        }
        let fence = format!("  \"membar.gl/\" :: opaque\n{STEP}{ne}");
        assert!(matches!(of(&fence, BRANCH), Err(Obstacle::Instruction(_))));
        let load = "  %2 = LD_i32 0, 0, 1, 3, 32, -1, %1, 0 :: read\n";
        for (body, most) in [("", 18), (load, 44)] {
            let with = |count: usize| of(&format!("{body}{}{STEP}{ne}", FMA.repeat(count)), BRANCH);
            assert_eq!((with(most), with(most + 1)), (partly, Err(Obstacle::Length)));
        }
    }

    /// Of a known number of turns, short loops become that many bodies, and longer ones fewer.
    #[test]
    fn known_turns() {
        let of = |start: i64, step: i64, comparison: &str, instructions: usize| {
            let (name, by) = if step < 0 { ("sub", -step) } else { ("add", step) };
            let count = format!("  %0 = \"{name}.s32/rri\" %0, {by}\n  %3 = {comparison}\n");
            unrolling(&format!("MOV_B32_i {start}"), &format!("{}{count}", FMA.repeat(instructions)), BRANCH)
        };
        let ne = |bound: i64| format!("\"setp.ne.s32/rri\" %0, {bound}");
        assert_eq!(of(0, 1, &ne(5), 1), Ok(Unrolling::Whole(5)));
        assert_eq!(of(0, 4, &ne(400), 6), Ok(Unrolling::Whole(100)));
        assert_eq!(of(12, -3, "\"setp.gt.u32/rri\" %0, 0", 1), Ok(Unrolling::Whole(4)));
        assert_eq!(of(0, 1, &ne(1000), 4), Ok(Unrolling::Partly(80)));
        assert_eq!(of(0, 1, &ne(16), 32), Ok(Unrolling::Whole(16)));
        assert_eq!(of(0, 1, &ne(32), 32), Ok(Unrolling::Partly(10)));
        assert_eq!(of(0, 1, &ne(2), 300), Err(Obstacle::Length));
        assert_eq!(of(0, 3, &ne(100), 1), Ok(Unrolling::Partly(4)), "it never ends");
    }
}
