//! The stores and reloads of an edited function.

use super::finding::{Finding, FindingKind, Place};
use crate::check::calls::opens_sequence;
use crate::function::{
    Applied, Block, Edit, EditList, Effects, Function, Inst, Operand, Origin, Position, Role, Slot, VReg, Value,
};
use crate::index::{EntityIndex, IndexVec};

/// A store to a slot, or a reload from a slot. An instruction that accesses several slots has one `Access` for each
/// slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) inst: Inst,
    pub(super) is_store: bool,
    pub(super) reg: VReg,
    pub(super) slot: Slot,
}

/// The original register that a reloaded register replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandsFor {
    /// Unknown: no instruction of the view reads the reloaded register.
    Unknown,
    /// The register that all readers read before the edits.
    One(VReg),
    /// Two registers that the readers read before the edits.
    Two(VReg, VReg),
}

/// The accesses of an edited function.
pub(super) struct Accesses<'a> {
    pub(super) before: &'a Function,
    pub(super) applied: &'a Applied,
    /// All accesses, in the order of the code.
    pub(super) all: Vec<Access>,
    /// For each register that a reload writes, the original register.
    stands_for: IndexVec<VReg, StandsFor>,
}

impl<'a> Accesses<'a> {
    pub(super) fn new(before: &'a Function, edits: &EditList, applied: &'a Applied) -> Self {
        let after = &applied.function;
        let inserted = after.insts().filter(|&inst| matches!(applied.origin[inst], Origin::Inserted(_)));
        let all: Vec<Access> = inserted.flat_map(|inst| accesses(after, inst)).collect();
        let mut accesses =
            Self { before, applied, all, stands_for: IndexVec::filled(StandsFor::Unknown, after.num_regs()) };
        if !accesses.is_empty() {
            accesses.find_readers(edits);
        }
        accesses
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the edited function.
    pub(super) fn after(&self) -> &'a Function {
        &self.applied.function
    }

    /// Returns the number of slots that the edits create. [`Self::number`] numbers them from 0.
    pub(super) fn num_slots(&self) -> usize {
        self.after().num_slots() - self.before.num_slots()
    }

    pub(super) fn number(&self, slot: Slot) -> usize {
        slot.index() - self.before.num_slots()
    }

    /// Returns the accesses of a block, in order.
    pub(super) fn of_block(&self, block: Block) -> &[Access] {
        let range = self.after().block_range(block);
        let place = |inst: Inst| self.all.partition_point(|access| access.inst < inst);
        &self.all[place(range.start)..place(range.end)]
    }

    /// Returns the original register of a reloaded register.
    pub(super) fn stands_for(&self, reg: VReg) -> StandsFor {
        self.stands_for[reg]
    }

    /// Finds the original registers of reloaded registers: the registers that their readers, or the originals of cloned
    /// readers, read before the edits.
    fn find_readers(&mut self, edits: &EditList) {
        let after = self.after();
        let mut is_reloaded = IndexVec::filled(false, after.num_regs());
        self.all.iter().filter(|access| !access.is_store).for_each(|access| is_reloaded[access.reg] = true);
        let mut name: IndexVec<VReg, VReg> = after.regs().collect();
        for edit in edits.edits() {
            if let Edit::Merge { from, into } = *edit {
                name[from] = into;
            }
        }
        for inst in after.insts().filter(|&inst| after.role(inst) != Role::Debug) {
            let (Origin::Kept(original) | Origin::Clone(original)) = self.applied.origin[inst] else { continue };
            for (now, old) in after.operands(inst).iter().zip(self.before.operands(original)) {
                if let (Some(reg), Some(old)) = (now.use_reg(), old.use_reg())
                    && is_reloaded[reg]
                {
                    self.stands_for[reg] = match self.stands_for[reg] {
                        StandsFor::Unknown => StandsFor::One(name[old]),
                        StandsFor::One(other) if other != name[old] => StandsFor::Two(other, name[old]),
                        known => known,
                    };
                }
            }
        }
    }

    /// Creates a finding at an access.
    pub(super) fn finding(&self, kind: FindingKind, access: &Access, reason: String) -> Finding {
        let place = self.place(access.inst);
        Finding { kind, slot: access.slot, reg: Some(access.reg), place: Some(place), reason }
    }

    /// Returns the place of an instruction of the edited function in the view: before the next instruction that is
    /// still in its block.
    pub(super) fn place(&self, inst: Inst) -> Place {
        let block = self.after().block_of(inst);
        let end = self.after().block_range(block).end;
        let kept = |inst: Inst| match self.applied.origin[inst] {
            Origin::Kept(original) => Some(original),
            Origin::Clone(_) | Origin::Inserted(_) => None,
        };
        let next = (inst.0..end.0).map(Inst).find_map(kept);
        Place::new(self.before, Position { block, before: next })
    }

    /// Finds accesses between two members of one call sequence.
    pub(super) fn check_call_sequences(&self, findings: &mut Vec<Finding>) {
        let after = self.after();
        let is_of_view =
            |inst: &Inst| matches!(self.applied.origin[*inst], Origin::Kept(_)) && after.role(*inst) != Role::Debug;
        let is_member = |inst: Inst| after.effects(inst).contains(Effects::CALL_SEQUENCE);
        for block in after.blocks() {
            let range = after.block_range(block);
            for access in self.of_block(block) {
                let ahead = (range.start.0..access.inst.0).rev().map(Inst).find(is_of_view);
                let behind = (access.inst.0 + 1..range.end.0).map(Inst).find(is_of_view);
                if let (Some(ahead), Some(behind)) = (ahead, behind)
                    && is_member(ahead)
                    && is_member(behind)
                    && !opens_sequence(after, behind)
                {
                    let reason = "the access is between two members of one call sequence".into();
                    findings.push(self.finding(FindingKind::CallSequence, access, reason));
                }
            }
        }
    }
}

/// Returns the accesses of an inserted instruction.
fn accesses(function: &Function, inst: Inst) -> Vec<Access> {
    let is_store = match function.role(inst) {
        Role::Spill => true,
        Role::Reload => false,
        _ => return Vec::new(),
    };
    let parts = function.operands(inst).as_chunks().0.iter();
    let access = |[register, place]: &[Operand; 2]| match place.value {
        Value::Slot(slot) => register.reg().map(|reg| Access { inst, is_store, reg, slot }),
        _ => None,
    };
    parts.filter_map(access).collect()
}
