//! Values that can be spilled.

use crate::analysis::{Dominators, Occurrence, Occurrences};
use crate::function::{Effects, Function, Inst, OperandFlags, RegClass, Role, VReg};
use crate::spill::single_definition::dominates;
use crate::target::{asynchrony, is_fusible_product, is_fusible_sum};

/// A value, with its definitions in the order of the code.
#[derive(Debug)]
pub(in crate::spill) struct Candidate {
    pub(in crate::spill) reg: VReg,
    pub(in crate::spill) definitions: Vec<Occurrence>,
    /// Whether the only definition dominates each read.
    pub(in crate::spill) is_single: bool,
    /// Whether an instruction makes the value undefined. The value is not stored there, because any contents of the
    /// slot are correct.
    pub(in crate::spill) is_undefined_somewhere: bool,
    /// Whether the value occupies registers of its own, as far as the function shows.
    pub(in crate::spill) is_held: bool,
}

impl Candidate {
    /// Returns the definition that dominates all reads; `None` if several instructions write the register, or if a path
    /// reaches a read without a definition.
    pub(in crate::spill) fn only_definition(&self) -> Option<Inst> {
        self.is_single.then(|| self.definitions[0].inst)
    }
}

/// Returns the values of 16 to 128 bits that no instruction needs in a particular register. Operands of asynchronous
/// instructions are excluded. Two kinds of values are eligible. Either one definition dominates all reads, and no
/// operand is tied. Or there are several definitions, or paths without a definition; then no definition is within a
/// call sequence, and operands are tied only to definitions of the same register.
pub(in crate::spill) fn eligible(
    function: &Function,
    occurrences: &Occurrences,
    dominators: &Dominators,
) -> Vec<Candidate> {
    let is_asynchronous: Vec<bool> = function.insts().map(|inst| asynchrony(function, inst).is_some()).collect();
    function.regs().filter_map(|reg| value_of(function, occurrences, dominators, &is_asynchronous, reg)).collect()
}

fn value_of(
    function: &Function,
    occurrences: &Occurrences,
    dominators: &Dominators,
    is_asynchronous: &[bool],
    reg: VReg,
) -> Option<Candidate> {
    if !matches!(function.class(reg), RegClass::B16 | RegClass::B32 | RegClass::B64 | RegClass::B128) {
        return None;
    }
    let (written, reads): (Vec<_>, Vec<_>) = occurrences.of(reg).iter().copied().partition(Occurrence::is_def);
    let is_undefined = |write: &Occurrence| function.role(write.inst) == Role::Undef;
    let (undefined, definitions): (Vec<_>, Vec<_>) = written.into_iter().partition(is_undefined);
    let &first = definitions.first()?;
    let is_behind_first = |read: &Occurrence| read.is_use() && dominates(dominators, &first, read);
    let is_alone = undefined.is_empty() && definitions.len() == 1;
    let is_single = is_alone && reads.iter().all(is_behind_first);
    // ptxas fuses a product with the sums that read the product, so no register holds it.
    let name = |inst: Inst| function.opcodes().name(function.opcode(inst));
    let is_fused = definitions.iter().any(|definition| is_fusible_product(name(definition.inst)))
        && reads.iter().any(|read| is_fusible_sum(name(read.inst)));
    let is_movable = |definition: &Occurrence| {
        let is_in_call = function.effects(definition.inst).contains(Effects::CALL_SEQUENCE);
        !function.effects(definition.inst).contains(Effects::TERMINATOR)
            && function.role(definition.inst) != Role::Phi
            // The store would follow the call sequence, where the slot may already hold another value.
            && (is_single || !is_in_call)
    };
    let is_free = |access: &Occurrence| !is_asynchronous[access.inst.0 as usize];
    let is_plain = |access: &Occurrence| {
        let operand = &function.operands(access.inst)[access.operand as usize];
        let is_undefined = operand.flags.contains(OperandFlags::UNDEF);
        match operand.tied {
            None => !is_undefined,
            Some(other) => !is_single && function.operands(access.inst)[other as usize].reg() == Some(reg),
        }
    };
    let is_held = !(is_fused || (is_alone && is_at_hand(function, first.inst)));
    let fits = definitions.iter().all(is_movable)
        && occurrences.of(reg).iter().all(|access| is_free(access) && is_plain(access))
        && reads.iter().any(Occurrence::is_use);
    let is_undefined_somewhere = !undefined.is_empty();
    fits.then_some(Candidate { reg, definitions, is_single, is_undefined_somewhere, is_held })
}

/// Whether a definition is a constant, a parameter, an address or a special register. Such values are available
/// everywhere, because ptxas itself repeats their definitions.
fn is_at_hand(function: &Function, definition: Inst) -> bool {
    function.effects(definition).is_pure()
        && function.operands(definition).iter().all(|operand| operand.read_reg().is_none())
}
