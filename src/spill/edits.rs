//! The edits of a spill plan.

use std::collections::BTreeMap;

use super::neighbours::CombinedAccess;
use super::plan::{Register, SpilledValue};
use super::remat::insert_clones;
use super::spiller::slot_memory::SlotMemory;
use super::spiller::slots::Slots;
use super::spiller::{Bytes, Facts};
use crate::function::{Edit, EditList, Function, Slot, VReg};

/// Writes the edits: slots, stores, loads and rematerialised values. Returns the memory of the slots.
pub(super) fn write(
    facts: &Facts<'_>,
    values: &[SpilledValue],
    (slots, rows, combined): (&Slots<'_>, Vec<Vec<usize>>, &[CombinedAccess]),
    memory: Option<&SlotMemory>,
    edits: &mut EditList,
) -> Bytes {
    let function = facts.function;
    let mut is_used = vec![false; slots.len()];
    values.iter().filter_map(|value| value.location.slot).for_each(|slot| is_used[slot] = true);
    let (created, bytes) = slots.create(&is_used, rows, edits);
    let mut registers = Registers { function, values, created: BTreeMap::new() };
    for access in combined {
        registers.access(access, &created, edits);
    }
    for value in values.iter().filter(|value| value.location.slot.is_none()) {
        insert_clones(function, &facts.occurrences, &[value.definition], &value.groups, edits);
    }
    let is_unbounded = function.kernel().is_some_and(|bounds| bounds.threads().is_none());
    if let Some(memory) = memory.filter(|_| is_unbounded && bytes.shared > 0) {
        edits.push(Edit::SetAttribute { key: "nvvm.maxntid".into(), value: memory.threads.to_string() });
    }
    edits.finish();
    debug_assert_eq!(crate::check::slots::verify(function, edits), [], "{function}");
    bytes
}

/// The registers into which values are reloaded.
struct Registers<'a> {
    function: &'a Function,
    values: &'a [SpilledValue],
    /// New registers, by the number of the value and the number of the register among the value's registers.
    created: BTreeMap<(usize, u32), VReg>,
}

impl Registers<'_> {
    /// Inserts a store or a load; a wide one if the access has several parts. Reads of a reloaded value use its new
    /// register.
    fn access(&mut self, access: &CombinedAccess, slots: &[Slot], edits: &mut EditList) {
        let mut parts = Vec::new();
        for part in &access.parts {
            let value = &self.values[part.value];
            let Some(slot) = value.location.slot.map(|slot| slots[slot]) else { continue };
            let reg = match part.reload.map(|reload| value.reloads[reload].into) {
                None | Some(Register::Own) => value.reg,
                Some(Register::New(number)) => self.register(part.value, number, edits),
            };
            parts.push((reg, slot));
        }
        let is_store = access.parts.first().is_some_and(|part| part.reload.is_none());
        let at = access.at.position(self.function);
        match (is_store, parts.as_slice()) {
            (true, &[(reg, slot)]) => edits.insert_spill(at, reg, slot),
            (false, &[(reg, slot)]) => edits.insert_reload(at, reg, slot),
            (true, _) => edits.insert_wide_spill(at, parts),
            (false, _) => edits.insert_wide_reload(at, parts),
        };
    }

    /// Returns a new register of a value, and creates the register at the first request.
    fn register(&mut self, value: usize, number: u32, edits: &mut EditList) -> VReg {
        if let Some(&reg) = self.created.get(&(value, number)) {
            return reg;
        }
        let of = &self.values[value];
        let reg = edits.create_register(self.function.class(of.reg));
        for (read, _) in of.reads.iter().filter(|read| read.1 == number) {
            edits.push(Edit::SetRegister { inst: read.inst, operand: read.operand, reg });
        }
        self.created.insert((value, number), reg);
        reg
    }
}
