//! How ptxas treats each instruction: whether the instruction may move, which memory it accesses, and the kinds that
//! are counted.

use super::memory_accesses::{Accesses, of_assembly};
use super::opcode_facts::{Kinds, Motion, OpcodeSummary, reads_own_parameter};
use crate::function::{Effects, Function, Inst, MemorySpace, OpcodeFacts, Symbol, Value};
use crate::index::IndexVec;
use crate::target::{Classification, Purity};

/// Behaviour of all instructions of a function. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Behaviours {
    known: OpcodeFacts<OpcodeSummary>,
    motions: IndexVec<Inst, (Motion, Accesses)>,
    has_guarded: bool,
    texts: IndexVec<Symbol, Option<(Motion, Accesses)>>,
}

impl Behaviours {
    /// Computes the behaviour of a function's instructions. O(instructions). Each text of inline assembly is read once.
    /// The name of an opcode is read once for all functions with the same opcode table.
    pub(in crate::forecast) fn compute(&mut self, function: &Function, classification: &Classification) {
        self.known.keep(function.opcodes());
        self.texts.clear();
        self.texts.resize(function.num_symbols(), None);
        self.motions.clear();
        self.motions.reserve(function.num_insts());
        self.has_guarded = false;
        for inst in function.insts() {
            let opcode = function.opcode(inst);
            let summary = self.known.get_or_insert_with(opcode, || {
                let opcodes = function.opcodes();
                OpcodeSummary::new(opcodes.name(opcode), opcodes.role(opcode), classification.of(function, inst))
            });
            self.has_guarded |= summary.kinds.contains(Kinds::GUARDED);
            self.motions.push(motion(function, inst, summary, &mut self.texts));
        }
    }

    /// Computes the behaviour of a function's instructions from opcode names alone.
    #[cfg(test)]
    pub(in crate::forecast) fn new(function: &Function) -> Self {
        let mut behaviours = Self::default();
        behaviours.compute(function, &Classification::by_name(function.opcodes()));
        behaviours
    }

    /// Returns the facts of an instruction's opcode.
    #[inline]
    pub(in crate::forecast) fn opcode(&self, function: &Function, inst: Inst) -> &OpcodeSummary {
        self.known.known(function.opcode(inst))
    }

    /// Whether any instruction is a guarded statement of PTX.
    #[inline]
    pub(in crate::forecast) fn has_guarded(&self) -> bool {
        self.has_guarded
    }

    /// Returns how an instruction may move.
    #[inline]
    pub(in crate::forecast) fn motion(&self, inst: Inst) -> Motion {
        self.motions[inst].0
    }

    /// Returns the memory that an instruction accesses.
    #[inline]
    pub(in crate::forecast) fn accesses(&self, inst: Inst) -> Accesses {
        self.motions[inst].1
    }

    /// Yields the inline assembly of a function, each instruction with its text. O(instructions).
    pub(in crate::forecast) fn assembly(&self, function: &Function) -> impl Iterator<Item = (Inst, Symbol)> {
        let is_assembly = |&inst: &Inst| self.opcode(function, inst).kinds.contains(Kinds::ASSEMBLY);
        function.insts().filter(is_assembly).filter_map(|inst| Some((inst, text_of(function, inst)?)))
    }

    /// Whether an instruction emits code and computes the same result for the same operands: it has no effect, and the
    /// memory that it reads is not written.
    #[inline]
    pub(in crate::forecast) fn gives_the_same(&self, function: &Function, inst: Inst) -> bool {
        let summary = self.opcode(function, inst);
        match self.motion(inst) {
            Motion::Free => summary.kinds.contains(Kinds::CODE),
            Motion::Load => {
                summary.info.purity == Purity::ReadsInvariant || reads_own_parameter(function, &summary.info, inst)
            }
            Motion::Store | Motion::Ordered => false,
        }
    }

    /// Whether an instruction loads from memory other than the function's parameters and a call's results.
    #[inline]
    pub(in crate::forecast) fn is_load(&self, function: &Function, inst: Inst) -> bool {
        self.motion(inst) == Motion::Load
            && function.memory_space(inst) != MemorySpace::Param
            && !function.effects(inst).contains(Effects::CALL_SEQUENCE)
            && !reads_own_parameter(function, &self.opcode(function, inst).info, inst)
    }
}

/// Returns the text of inline assembly.
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
    summary: &OpcodeSummary,
    texts: &mut IndexVec<Symbol, Option<(Motion, Accesses)>>,
) -> (Motion, Accesses) {
    let effects = function.effects(inst);
    let keeps_order = Effects::ORDERED | Effects::CALL_SEQUENCE | Effects::OPAQUE | Effects::TERMINATOR;
    if summary.info.purity == Purity::InlineAsm
        && let Some(text) = text_of(function, inst)
    {
        return *texts[text].get_or_insert_with(|| of_assembly(function.symbol(text)));
    }
    let motion = match summary.info.purity {
        // Debug values emit no code.
        _ if !summary.kinds.contains(Kinds::CODE) => Motion::Free,
        Purity::Reads | Purity::ReadsInvariant if !effects.intersects(keeps_order) => Motion::Load,
        Purity::Writes if !effects.intersects(keeps_order) => Motion::Store,
        _ if effects.is_pure() => Motion::Free,
        _ => Motion::Ordered,
    };
    (motion, Accesses::of(function, inst, summary, motion))
}
