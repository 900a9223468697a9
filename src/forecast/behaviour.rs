//! What ptxas sees in each instruction: what may move, what it costs beside its operands.

use bitflags::bitflags;

use super::accesses::{Accesses, of_assembly};
use super::demand::Demand;
use super::sources::Shares;
use crate::function::{Effects, Function, Inst, MemorySpace, OpcodeFacts, Role, Symbol, Value};
use crate::index::IndexVec;
use crate::target::{Classification, OpcodeInfo, Purity, asks_for_registers, named_space};

/// How an instruction's place may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// A function of its operands: anywhere between them and its readers.
    Free,
    /// A load: not across stores and what is ordered.
    Load,
    /// A store: not across loads, stores and what is ordered.
    Store,
    /// Calls, barriers, exchanges between threads, volatile accesses, terminators: not from its place.
    Ordered,
}

impl Motion {
    /// Of two instructions in one: what is free makes no difference, and two others stay where they are.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Free, motion) | (motion, Self::Free) => motion,
            (Self::Load, Self::Load) => Self::Load,
            _ => Self::Ordered,
        }
    }
}

bitflags! {
    /// What is counted of an instruction, by its opcode alone.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct Kinds: u16 {
        /// Code comes of it: it is no debug value.
        const CODE = 1 << 0;
        /// Division or remainder of integers, however wide.
        const DIVISION = 1 << 1;
        /// The same of 64 bits: a subroutine.
        const WIDE_DIVISION = 1 << 2;
        /// Division or a square root of 64-bit floating-point numbers: a subroutine.
        const DOUBLE_ROUTINE = 1 << 3;
        /// It computes with 64-bit floating-point numbers.
        const DOUBLE = 1 << 4;
        /// Inline assembly.
        const ASSEMBLY = 1 << 5;
        /// LLVM has no name for it: shuffles, votes, matrix instructions.
        const EXCHANGE = 1 << 6;
        /// A call.
        const CALL = 1 << 7;
        /// It asks for more registers or gives some back.
        const REPARTITION = 1 << 8;
        /// Division, reciprocal or root of 32-bit floating-point numbers as exact as can be: with a branch to a slow path.
        const SLOW_PATH = 1 << 9;
    }
}

/// What is known of an opcode.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) info: OpcodeInfo,
    pub(super) kinds: Kinds,
    /// What it asks of the upper halves of what it reads.
    pub(super) demand: Demand,
    /// Whose words its results are.
    pub(super) shares: Shares,
}

/// The behaviour of all instructions of a function; memory for one function after another.
#[derive(Debug, Default)]
pub(super) struct Behaviours {
    known: OpcodeFacts<Known>,
    motions: IndexVec<Inst, (Motion, Accesses)>,
    texts: IndexVec<Symbol, Option<(Motion, Accesses)>>,
}

impl Behaviours {
    /// Becomes the behaviour of a function's instructions. O(instructions), and the names of the opcodes that occur for
    /// the first time in a function of their table and the texts of inline assembly once each.
    pub(super) fn compute(&mut self, function: &Function, classification: &Classification) {
        self.known.keep(function.opcodes());
        self.texts.clear();
        self.texts.resize(function.num_symbols(), None);
        self.motions.clear();
        self.motions.reserve(function.num_insts());
        for inst in function.insts() {
            let opcode = function.opcode(inst);
            let known = self.known.get_or_insert_with(opcode, || {
                let opcodes = function.opcodes();
                Known::new(opcodes.name(opcode), opcodes.role(opcode), classification.of(function, inst))
            });
            self.motions.push(motion(function, inst, known, &mut self.texts));
        }
    }

    /// The behaviour of a function's instructions, of which names alone tell.
    #[cfg(test)]
    pub(super) fn new(function: &Function) -> Self {
        let mut behaviours = Self::default();
        behaviours.compute(function, &Classification::by_name(function.opcodes()));
        behaviours
    }

    /// What an instruction's opcode is.
    #[inline]
    pub(super) fn known(&self, function: &Function, inst: Inst) -> &Known {
        self.known.known(function.opcode(inst))
    }

    /// How an instruction's place may change.
    #[inline]
    pub(super) fn motion(&self, inst: Inst) -> Motion {
        self.motions[inst].0
    }

    /// Which memory an instruction accesses.
    #[inline]
    pub(super) fn accesses(&self, inst: Inst) -> Accesses {
        self.motions[inst].1
    }

    /// The inline assembly of a function, each with its text. O(instructions).
    pub(super) fn assembly(&self, function: &Function) -> impl Iterator<Item = (Inst, Symbol)> {
        let is_assembly = |&inst: &Inst| self.known(function, inst).kinds.contains(Kinds::ASSEMBLY);
        function.insts().filter(is_assembly).filter_map(|inst| Some((inst, text_of(function, inst)?)))
    }

    /// Whether an instruction that is code computes the same wherever its operands are the same: it has no effect, and
    /// what it reads nobody writes.
    #[inline]
    pub(super) fn gives_the_same(&self, function: &Function, inst: Inst) -> bool {
        let known = self.known(function, inst);
        match self.motion(inst) {
            Motion::Free => known.kinds.contains(Kinds::CODE),
            Motion::Load => {
                known.info.purity == Purity::ReadsInvariant || reads_own_parameter(function, &known.info, inst)
            }
            Motion::Store | Motion::Ordered => false,
        }
    }

    /// Whether an instruction loads anything but the function's parameters and a call's results.
    #[inline]
    pub(super) fn is_load(&self, function: &Function, inst: Inst) -> bool {
        self.motion(inst) == Motion::Load
            && function.memory_space(inst) != MemorySpace::Param
            && !function.effects(inst).contains(Effects::CALL_SEQUENCE)
            && !reads_own_parameter(function, &self.known(function, inst).info, inst)
    }
}

impl Known {
    fn new(name: &str, role: Role, info: OpcodeInfo) -> Self {
        let is_double = name.contains("f64") || name.contains("F64") || name.starts_with("FDIV64");
        let divides = ["SDIV", "UDIV", "SREM", "UREM"].iter().any(|prefix| name.starts_with(prefix));
        let mut kinds = Kinds::empty();
        kinds.set(Kinds::CODE, role != Role::Debug);
        kinds.set(Kinds::DIVISION, divides);
        kinds.set(Kinds::WIDE_DIVISION, divides && name[4..].starts_with("64"));
        kinds
            .set(Kinds::DOUBLE_ROUTINE, name.starts_with("FDIV64") || (!divides && is_double && name.contains("SQRT")));
        kinds.set(Kinds::DOUBLE, is_double);
        kinds.set(Kinds::ASSEMBLY, info.purity == Purity::InlineAsm);
        kinds.set(Kinds::EXCHANGE, name.starts_with("anonymous_"));
        kinds.set(Kinds::CALL, info.purity == Purity::Call);
        kinds.set(Kinds::REPARTITION, asks_for_registers(name));
        let is_exact = name.starts_with("FDIV32") && name.ends_with("_prec") || name.starts_with("FRCP32r_prec");
        kinds.set(Kinds::SLOW_PATH, is_exact || (name.contains("SQRT") && name.contains("RN") && !is_double));
        Self { info, kinds, demand: Demand::of(name, role), shares: Shares::of(name, role, &info) }
    }
}

/// The text of an instruction of inline assembly.
fn text_of(function: &Function, inst: Inst) -> Option<Symbol> {
    match function.operands(inst).first()?.value {
        Value::Symbol(text) => Some(text),
        _ => None,
    }
}

#[inline]
fn motion(
    function: &Function,
    inst: Inst,
    known: &Known,
    texts: &mut IndexVec<Symbol, Option<(Motion, Accesses)>>,
) -> (Motion, Accesses) {
    let effects = function.effects(inst);
    let keeps_order = Effects::ORDERED | Effects::CALL_SEQUENCE | Effects::OPAQUE | Effects::TERMINATOR;
    if known.info.purity == Purity::InlineAsm
        && let Some(text) = text_of(function, inst)
    {
        return *texts[text].get_or_insert_with(|| of_assembly(function.symbol(text)));
    }
    let motion = match known.info.purity {
        // No code comes of debug values.
        _ if !known.kinds.contains(Kinds::CODE) => Motion::Free,
        Purity::Reads | Purity::ReadsInvariant if !effects.intersects(keeps_order) => Motion::Load,
        Purity::Writes if !effects.intersects(keeps_order) => Motion::Store,
        _ if effects.is_pure() => Motion::Free,
        _ => Motion::Ordered,
    };
    (motion, Accesses::of(function, inst, known, motion))
}

/// Whether an instruction reads a parameter of the function itself, which stands in constant memory in a kernel; a
/// call's results are read from the same space.
pub(super) fn reads_own_parameter(function: &Function, info: &OpcodeInfo, inst: Inst) -> bool {
    info.purity == Purity::Reads
        && !function.effects(inst).contains(Effects::CALL_SEQUENCE)
        && named_space(function.operands(inst)) == MemorySpace::Param
}
