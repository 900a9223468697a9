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
use crate::function::ptx_opcode::{PtxOpcode, equivalent};
use crate::function::{Block, Effects, Function, Inst, Operand, Role, VReg, Value};
use crate::index::IndexVec;
use crate::target::Classification;

/// A loop of an unknown number of turns becomes so many bodies.
const BODIES: u32 = 4;

/// Such a body has at most so many instructions.
const MOST_INSTRUCTIONS: u32 = 32;

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
    /// Its last branch is two jumps, or has a negated guard, or `.uni`: another form of the same branch does not keep it from being
    /// unrolled.
    Branch,
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

/// A comparison that decides whether a loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
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
        let (branch, latch) = self.deciding_branch(this)?;
        let exits_at_latch = self.function.block_of(branch) == latch;
        let (step, start, comparison, bound) = self.counter(this, branch, exits_at_latch).ok_or(Obstacle::Counter)?;
        let code = || insts().filter(|&inst| self.function.role(inst) != Role::Debug);
        let instructions = code().count() as u32;
        // Unrolled, what counts is no instruction: addresses are constants away from each other.
        let weight: u32 = code().map(|inst| self.weight(inst)).sum();
        let turns = start.zip(bound).and_then(|(start, bound)| turns(start, step, comparison, bound));
        match turns {
            None if instructions <= MOST_INSTRUCTIONS => Ok(Unrolling::Partly(BODIES)),
            None => Err(Obstacle::Length),
            Some(turns) => {
                let most = WHOLE.iter().find(|&&(up_to, _)| weight <= up_to).map_or(0, |&(_, most)| most);
                let bodies = WEIGHT_OF_ALL / weight.max(1);
                match turns {
                    0 => Err(Obstacle::Counter),
                    _ if u64::from(turns) * u64::from(weight) <= u64::from(most) => Ok(Unrolling::Whole(turns)),
                    _ if bodies >= LEAST_BODIES => Ok(Unrolling::Partly(bodies)),
                    _ => Err(Obstacle::Length),
                }
            }
        }
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
        let same = equivalent(name);
        let name = same.as_deref().unwrap_or(name);
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

    /// The branch that decides whether the loop goes on, and the block that goes back.
    fn deciding_branch(&self, this: Loop) -> Result<(Inst, Block), Obstacle> {
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
        let goes_back = operands.iter().any(|operand| operand.value == Value::Block(header));
        let name = function.opcodes().name(function.opcode(branch));
        let is_plain = match PtxOpcode::of(name) {
            Some(opcode) => {
                let is_negated = |operand: &Operand| match operand.value {
                    Value::Symbol(symbol) => function.symbol(symbol) == "!",
                    _ => false,
                };
                opcode.is_guarded && opcode.mnemonic == "bra" && !operands.iter().any(is_negated)
            }
            None => name == "CBranch",
        };
        if !is_plain || (exit == latch && !goes_back) { Err(Obstacle::Branch) } else { Ok((branch, latch)) }
    }

    /// The step of the counter that a branch reads, the number that it starts with, how it is compared for the loop to go on, and the
    /// number with which.
    fn counter(&self, this: Loop, branch: Inst, goes_on: bool) -> Option<(i64, Option<i64>, Comparison, Option<i64>)> {
        let function = self.function;
        let predicate = function.operands(branch).iter().find_map(Operand::read_reg)?;
        let comparison = self.only_definition_in(this, predicate)?.inst;
        let kind = self.comparison(comparison, goes_on)?;
        let mut compared = function.operands(comparison).iter().filter(|operand| !operand.is_def());
        let (first, second) = (compared.next()?, compared.next()?);
        let is_left_alone = |operand: &Operand| match operand.value {
            Value::Immediate(_) => true,
            Value::Reg(reg) => self.definitions_in(this, reg).next().is_none(),
            _ => false,
        };
        let counted = first.reg().filter(|_| is_left_alone(second))?;
        let definition = *self.only_definition_in(this, counted)?;
        // The sum has to stand ahead of the comparison, unless the header has that: the counter's old value is none that ptxas knows.
        if goes_on && definition.inst > comparison {
            return None;
        }
        let (sum, step) = self.sum(this, counted, definition.inst)?;
        let start = self.number_ahead(this, sum, LONGEST_CHAIN);
        let bound = match second.value {
            Value::Reg(reg) => self.number_ahead(this, reg, LONGEST_CHAIN),
            _ => second.as_immediate(),
        };
        Some((step, start, kind, bound))
    }

    /// The register that holds a counter from turn to turn, and its step: what defines it adds to itself, or to a register that it is
    /// copied to.
    fn sum(&self, this: Loop, counted: VReg, definition: Inst) -> Option<(VReg, i64)> {
        let function = self.function;
        let name = function.opcodes().name(function.opcode(definition));
        let same = equivalent(name);
        let name = same.as_deref().unwrap_or(name);
        let sign = match name {
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

    /// How a comparison of integers of 32 or 64 bits lets a loop go on, if it does so where it holds, or else where it does not.
    fn comparison(&self, inst: Inst, goes_on: bool) -> Option<Comparison> {
        let function = self.function;
        let name = function.opcodes().name(function.opcode(inst));
        let same = equivalent(name);
        let of_llvm = same.as_deref().unwrap_or(name);
        if !["SETP_i32r", "SETP_i64r"].iter().any(|prefix| of_llvm.starts_with(prefix)) {
            return None;
        }
        let kind = match PtxOpcode::of(name) {
            Some(opcode) => opcode.mnemonic.split('.').nth(1)?,
            None => *LLVM_COMPARISONS.get(usize::try_from(function.operands(inst).last()?.as_immediate()?).ok()?)?,
        };
        Some(match (kind, goes_on) {
            ("ne", true) | ("eq", false) => Comparison::Ne,
            ("lt" | "lo", true) | ("ge" | "hs", false) => Comparison::Lt,
            ("le" | "ls", true) | ("gt" | "hi", false) => Comparison::Le,
            ("gt" | "hi", true) | ("le" | "ls", false) => Comparison::Gt,
            ("ge" | "hs", true) | ("lt" | "lo", false) => Comparison::Ge,
            _ => return None,
        })
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
        let same = equivalent(name);
        let name = same.as_deref().unwrap_or(name);
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

/// LLVM's numbers of comparisons of integers.
const LLVM_COMPARISONS: [&str; 10] = ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"];

/// How often a loop runs: up to the first turn behind which its counter compares otherwise.
fn turns(start: i64, step: i64, comparison: Comparison, bound: i64) -> Option<u32> {
    let (start, step, bound) = (i128::from(start), i128::from(step), i128::from(bound));
    let (distance, step, is_up) = if step > 0 { (bound - start, step, true) } else { (start - bound, -step, false) };
    let turns = match comparison {
        Comparison::Ne if distance % step == 0 => distance / step,
        Comparison::Lt if is_up => (distance + step - 1) / step,
        Comparison::Gt if !is_up => (distance + step - 1) / step,
        Comparison::Le if is_up => distance / step + 1,
        Comparison::Ge if !is_up => distance / step + 1,
        _ => return None,
    };
    u32::try_from(turns).ok().filter(|_| distance > 0)
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
             opcode \"@bra.uni/l\"\nopcode \"bra.uni/l\"\nopcode \"ret/\"\nopcode SETP_i32ri\nopcode CBranch\nopcode GOTO\n\
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
            "  \"@bra.uni/l\" bb1, %3 :: terminator",
        ] {
            assert_eq!(of(&format!("{FMA}{STEP}{eq}"), form), Err(Obstacle::Branch), "{form}");
        }
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
        assert_eq!(of(&format!("{}{STEP}{ne}", FMA.repeat(29)), BRANCH), partly);
        assert_eq!(of(&format!("{}{STEP}{ne}", FMA.repeat(30)), BRANCH), Err(Obstacle::Length));
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
