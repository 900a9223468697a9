//! The words that loops carry: a lower bound of what registers hold, whatever the order of the code.
//!
//! A better order of a block shortens live ranges, and what is cheap can be computed again. Neither helps with a value
//! that an iteration leaves to the next: at the loop's header it has to be somewhere. The same holds for a value that is
//! computed in front of a loop, read in it, and cannot be computed again. So at the header of a loop these words are in
//! registers, or spilled:
//!
//! 1. words of registers that an enclosing loop changes, but for those that it changes by adding an invariant: of
//!    several such counters and addresses ptxas keeps one and computes the others;
//! 2. words of registers that an enclosing loop reads and does not change, where a load of memory that may change, an
//!    exchange between threads or the like wrote them.
//!
//! Registers that only pass constants and parameters around are not bound to stay: once the loop is unrolled each body may read
//! the constants instead. 16-bit registers count as halves, because two of them fit into a word. Values that are the
//! same in all threads may be in uniform registers, whatever wrote them: ptxas 13.0.88 was seen to move even what was
//! loaded there. They count as far as uniform registers do not suffice.
//!
//! One instruction bounds what is held, too: matrix instructions read and write whole rows of registers at once.

use super::behaviour::{Behaviours, Kinds, Motion, reads_own_parameter};
use super::words::Words;
use crate::analysis::{LiveRanges, Loop, Loops, Occurrences, UniformityInfo};
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Effects, Function, Inst, Operand, RegClass, Role, VReg};
use crate::index::{EntityIndex, IndexVec};
use crate::target::Purity;

/// What is held at once in any order of the code, in 32-bit words; each where it is most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    /// Words that differ between threads.
    pub(super) varying: u32,
    /// These and the words that are the same in all threads of a warp.
    pub(super) all: u32,
    /// All words that loops carry, those that only pass constants and parameters around included: no bound.
    pub(super) passed: u32,
    /// Of these, words that a loop hands from one register to another: they change places.
    pub(super) moved: u32,
    /// Of these, words that may do so in the uniform registers: they are the same in all threads, and those that change
    /// places with each other are few.
    pub(super) moved_uniform: u32,
}

/// Registers that copies connect and that the uniform registers of a processor, 63, hold twice.
const MOST_UNIFORM_CYCLE: u32 = 31;

/// What is known of the code.
pub(super) struct Input<'a> {
    pub(super) function: &'a Function,
    pub(super) behaviours: &'a Behaviours,
    pub(super) words: &'a Words,
    pub(super) loops: &'a Loops,
    pub(super) occurrences: &'a Occurrences,
    pub(super) ranges: &'a LiveRanges,
    pub(super) uniformity: &'a UniformityInfo,
}

impl Carried {
    /// The most that is held at the header of a loop, or by one instruction. O((occurrences + live-in blocks of the
    /// registers in loops) · depth).
    pub(super) fn most(input: &Input<'_>) -> Self {
        let headers = Headers::of(input);
        let at_headers = headers.held.iter().map(|held| Self {
            varying: held.varying.div_ceil(2),
            all: held.all.div_ceil(2),
            passed: held.passed.div_ceil(2),
            moved: held.moved / 2,
            moved_uniform: held.moved_uniform / 2,
        });
        let at_once = input.function.insts().map(|inst| operands_of(input, inst));
        at_headers.chain(at_once).fold(Self::default(), Self::max)
    }

    fn max(self, other: Self) -> Self {
        Self {
            varying: self.varying.max(other.varying),
            all: self.all.max(other.all),
            passed: self.passed.max(other.passed),
            moved: self.moved.max(other.moved),
            moved_uniform: self.moved_uniform.max(other.moved_uniform),
        }
    }
}

/// How an enclosing loop uses a register.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// The register that the rest is about: the array is not cleared between registers.
    of: Option<VReg>,
    /// It is live where an iteration begins.
    is_live_in: bool,
    reads: bool,
    changes: bool,
    /// By more than adding an invariant.
    recomputes: bool,
    /// By copying another register.
    moves: bool,
}

/// The halves of words that are held at each loop's header.
struct Headers {
    held: IndexVec<Loop, Halves>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Halves {
    varying: u32,
    all: u32,
    passed: u32,
    moved: u32,
    moved_uniform: u32,
}

impl Headers {
    fn of(input: &Input<'_>) -> Self {
        let Input { function, loops, ranges, words, uniformity, occurrences, .. } = *input;
        let mut headers = Self { held: IndexVec::filled(Halves::default(), loops.len()) };
        if loops.is_empty() {
            return headers;
        }
        let sources = Sources::of(input);
        let header_of: Vec<Option<Loop>> = function
            .blocks()
            .map(|block| loops.innermost(block).filter(|&innermost| loops.header(innermost) == block))
            .collect();
        let mut usage = IndexVec::filled(Usage::default(), loops.len());
        let mut entered = Vec::new();
        for reg in function.regs() {
            let held = words.held(reg).count() as u32;
            entered.clear();
            entered.extend(ranges.live_ins(reg).iter().filter_map(|live| header_of[live.block.index()]));
            if held == 0 || entered.is_empty() {
                continue;
            }
            for &this in &entered {
                usage[this] = Usage { of: Some(reg), is_live_in: true, ..Usage::default() };
            }
            for occurrence in occurrences.of(reg) {
                let (is_def, is_use) = (occurrence.is_def(), occurrence.is_use());
                let update = if is_def { sources.update(input, reg, occurrence.inst) } else { Update::None };
                let mut around = loops.innermost(occurrence.block);
                while let Some(this) = around {
                    if usage[this].of != Some(reg) {
                        usage[this] = Usage { of: Some(reg), ..Usage::default() };
                    }
                    let usage = &mut usage[this];
                    usage.reads |= is_use;
                    usage.changes |= is_def;
                    usage.moves |= update == Update::Moves;
                    usage.recomputes |= match update {
                        Update::None => false,
                        Update::Adds(None) => false,
                        Update::Adds(Some(addend)) => loops.contains(this, addend),
                        Update::Moves | Update::Computes => true,
                    };
                    around = loops.parent(this);
                }
            }
            let (is_solid, is_lasting) = (sources.is_solid[reg], sources.is_lasting[reg]);
            let halves = if function.class(reg) == RegClass::B16 { 1 } else { 2 * held };
            let is_uniform = uniformity.is_uniform(reg);
            let varying = if is_uniform { 0 } else { halves };
            let may_move_uniformly = is_uniform && sources.connected[reg] <= MOST_UNIFORM_CYCLE;
            for &this in &entered {
                let (mut is_held, mut moves) = (false, false);
                let mut around = Some(this);
                while let Some(outer) = around {
                    let usage = usage[outer];
                    if usage.of == Some(reg) && usage.is_live_in {
                        is_held |= usage.recomputes || (usage.reads && !usage.changes && is_lasting);
                        moves |= usage.moves;
                    }
                    around = loops.parent(outer);
                }
                if is_held {
                    let held = &mut headers.held[this];
                    held.passed += halves;
                    if is_solid {
                        held.all += halves;
                        held.varying += varying;
                    }
                    if moves {
                        held.moved += halves;
                        held.moved_uniform += if may_move_uniformly { halves } else { 0 };
                    }
                }
            }
        }
        headers
    }
}

/// What a definition makes of a register that a loop carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    /// There is no definition.
    None,
    /// It adds a constant, or a value that is written once, in this block.
    Adds(Option<Block>),
    /// It is the value of another register that is written several times.
    Moves,
    /// Anything else.
    Computes,
}

/// Where the values of registers come from, copies looked through.
struct Sources {
    /// The only definition of a register.
    definition: IndexVec<VReg, Option<Inst>>,
    /// Whether anything but constants and parameters comes into the registers that copies connect with this one.
    is_solid: IndexVec<VReg, bool>,
    /// How many registers copies connect with this one, itself included.
    connected: IndexVec<VReg, u32>,
    /// Whether all definitions of a register are ones that ptxas does not do again.
    is_lasting: IndexVec<VReg, bool>,
}

impl Sources {
    /// O(operands).
    fn of(input: &Input<'_>) -> Self {
        let Input { function, behaviours, ranges, .. } = *input;
        let mut webs = DisjointSets::<VReg>::new(function.num_regs());
        let mut brings = IndexVec::<VReg, bool>::filled(false, function.num_regs());
        let mut is_lasting = IndexVec::<VReg, bool>::filled(true, function.num_regs());
        let mut definition = IndexVec::<VReg, Option<Inst>>::filled(None, function.num_regs());
        for inst in function.insts() {
            let copied = copied(function, inst);
            for written in function.operands(inst).iter().filter_map(Operand::def) {
                if let Some(source) = copied {
                    webs.unite(written, source);
                } else if !is_constant(function, behaviours, inst) {
                    brings[written] = true;
                }
                is_lasting[written] &= copied.is_none() && !can_be_done_again(function, behaviours, inst);
                definition[written] = ranges.has_one_definition(written).then_some(inst);
            }
        }
        let mut is_solid = IndexVec::<VReg, bool>::filled(false, function.num_regs());
        let mut connected = IndexVec::<VReg, u32>::filled(0, function.num_regs());
        for reg in function.regs() {
            let web = webs.find(reg);
            is_solid[web] |= brings[reg];
            connected[web] += 1;
        }
        for reg in function.regs() {
            let web = webs.find(reg);
            (is_solid[reg], connected[reg]) = (is_solid[web], connected[web]);
        }
        Self { definition, is_solid, connected, is_lasting }
    }

    /// What a definition makes of a register. O(copies that follow each other).
    fn update(&self, input: &Input<'_>, reg: VReg, definition: Inst) -> Update {
        let function = input.function;
        let mut inst = definition;
        while let Some(source) = copied(function, inst) {
            match self.definition[source] {
                Some(before) => inst = before,
                None if source == reg => return Update::Adds(None),
                None => return Update::Moves,
            }
        }
        self.addition(input, reg, inst).unwrap_or(Update::Computes)
    }

    /// The addition of what does not change to a register: a counter, or an address that walks.
    fn addition(&self, input: &Input<'_>, reg: VReg, inst: Inst) -> Option<Update> {
        const ADDITIONS: [&str; 4] = ["ADD32", "ADD64", "SUB32", "SUB64"];
        let function = input.function;
        let name = function.opcodes().name(function.opcode(inst));
        if !ADDITIONS.iter().any(|prefix| name.starts_with(prefix)) {
            return None;
        }
        let (mut reads_itself, mut addend) = (false, None);
        for read in function.operands(inst).iter().filter_map(Operand::read_reg) {
            if read == reg {
                reads_itself = true;
            } else {
                addend = Some(function.block_of(self.definition[read]?));
            }
        }
        reads_itself.then_some(Update::Adds(addend))
    }
}

/// The register that a copy reads.
#[inline]
fn copied(function: &Function, inst: Inst) -> Option<VReg> {
    (function.role(inst) == Role::Copy).then(|| function.operands(inst).iter().find_map(Operand::use_reg)).flatten()
}

/// Whether an instruction writes a constant, or a parameter of the kernel.
fn is_constant(function: &Function, behaviours: &Behaviours, inst: Inst) -> bool {
    matches!(function.role(inst), Role::Constant | Role::Undef)
        || reads_own_parameter(function, &behaviours.known(function, inst).info, inst)
}

/// Whether ptxas could do an instruction once more instead of keeping its result.
fn can_be_done_again(function: &Function, behaviours: &Behaviours, inst: Inst) -> bool {
    match behaviours.motion(inst) {
        Motion::Free => !behaviours.known(function, inst).kinds.contains(Kinds::ASSEMBLY),
        Motion::Load => {
            let info = &behaviours.known(function, inst).info;
            info.purity == Purity::ReadsInvariant || reads_own_parameter(function, info, inst)
        }
        Motion::Store | Motion::Ordered => false,
    }
}

/// What one instruction reads or writes at once, whichever is more.
fn operands_of(input: &Input<'_>, inst: Inst) -> Carried {
    let Input { function, behaviours, words, uniformity, .. } = *input;
    let known = behaviours.known(function, inst);
    let is_one = !function.effects(inst).intersects(Effects::CALL_SEQUENCE | Effects::META | Effects::TERMINATOR)
        && known.kinds.contains(Kinds::CODE)
        && !known.kinds.intersects(Kinds::ASSEMBLY | Kinds::CALL)
        && function.role(inst) == Role::Other;
    let operands = function.operands(inst);
    if !is_one || operands.len() < 8 {
        return Carried::default();
    }
    let count = |select: fn(&Operand) -> Option<VReg>| {
        let mut found: Vec<_> = operands
            .iter()
            .filter_map(select)
            .filter(|&reg| function.class(reg) != RegClass::B16)
            .flat_map(|reg| words.held(reg).map(move |word| (word, reg)))
            .collect();
        found.sort_unstable();
        found.dedup_by_key(|(word, _)| *word);
        let uniform = found.iter().filter(|(_, reg)| uniformity.is_uniform(*reg)).count() as u32;
        Carried { varying: found.len() as u32 - uniform, all: found.len() as u32, ..Carried::default() }
    };
    let [read, written] = [count(Operand::use_reg), count(Operand::def)];
    read.max(written)
}
