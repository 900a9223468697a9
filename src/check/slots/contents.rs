//! The possible contents of slots, computed forwards over all paths.

use std::cell::OnceCell;

use super::access::{Access, Accesses, StandsFor};
use super::finding::{Finding, FindingKind};
use super::undefined::may_be_undefined;
use crate::function::{Block, Inst, Operand, Origin, RegClass, Role, Slot, VReg};
use crate::index::IndexVec;

/// A value that a slot may hold, and its origin.
#[derive(Clone, Copy, Debug)]
struct SlotValue {
    /// The register that was stored.
    reg: VReg,
    /// The store.
    store: Inst,
    /// The first instruction that has written the register after the store.
    overwritten: Option<Inst>,
    /// The registers that may be defined while the slot holds the value.
    defined: Registers,
}

impl SlotValue {
    /// Returns the properties by which values are distinguished.
    fn key(&self) -> (VReg, bool) {
        (self.reg, self.overwritten.is_some())
    }
}

/// A set of registers that are stored to a slot. A register's bit is its number among the registers of that slot.
type Registers = u64;

/// Returns the bit of a register. All registers from number 63 on share the last bit.
fn bit(number: u32) -> Registers {
    1 << number.min(Registers::BITS - 1)
}

/// The most values of a slot that are distinguished.
const MOST: usize = 4;

/// The possible contents of a slot at a point; see the [module](super) documentation.
#[derive(Clone, Copy, Debug, Default)]
struct Content {
    /// `None` if every path has a store. Otherwise, the predecessor through which a path without a store comes; at the
    /// start of the function, the first block itself.
    unwritten: Option<Block>,
    /// The registers that may be defined on such a path.
    written: Registers,
    values: [Option<SlotValue>; MOST],
    /// Whether the slot may hold more values than `values` lists.
    has_more: bool,
}

impl Content {
    fn values(&self) -> impl Iterator<Item = &SlotValue> {
        self.values.iter().flatten()
    }

    /// Returns the registers that may be defined, for any content of the slot.
    fn defined(&self) -> Registers {
        self.values().fold(self.written, |all, value| all | value.defined)
    }

    /// Adds a value. Returns whether the content has changed.
    fn add(&mut self, value: SlotValue) -> bool {
        if let Some(known) = self.values.iter_mut().flatten().find(|known| known.key() == value.key()) {
            let is_new = value.defined & !known.defined != 0;
            known.defined |= value.defined;
            return is_new;
        }
        match self.values.iter_mut().find(|place| place.is_none()) {
            Some(place) => {
                *place = Some(value);
                true
            }
            None => !std::mem::replace(&mut self.has_more, true),
        }
    }

    /// Adds the contents at the end of a predecessor. Returns whether the content has changed.
    fn join(&mut self, other: &Self, from: Block) -> bool {
        let mut is_changed = false;
        if other.unwritten.is_some() && (self.unwritten.is_none() || other.written & !self.written != 0) {
            self.unwritten = Some(from);
            self.written |= other.written;
            is_changed = true;
        }
        for value in other.values() {
            is_changed |= self.add(*value);
        }
        is_changed | (other.has_more && !std::mem::replace(&mut self.has_more, true))
    }

    /// Updates the content for an instruction of the view that writes `reg`, whose bit is `bit`: values of that
    /// register in the slot become old.
    fn overwrite(&mut self, reg: VReg, bit: Registers, inst: Inst) {
        if self.unwritten.is_some() {
            self.written |= bit;
        }
        for mut value in std::mem::take(&mut self.values).into_iter().flatten() {
            value.defined |= bit;
            if value.reg == reg {
                value.overwritten.get_or_insert(inst);
            }
            self.add(value);
        }
    }

    /// Updates the content for an instruction of the view that makes the register with this bit undefined. The register
    /// may then have any value, including the value in the slot.
    fn forget(&mut self, bit: Registers) {
        self.written &= !bit;
        self.values.iter_mut().flatten().for_each(|value| value.defined &= !bit);
    }
}

/// The contents of all slots at a point.
type Contents = Vec<Content>;

/// Checks all reachable reloads.
pub(super) fn check(accesses: &Accesses<'_>, findings: &mut Vec<Finding>) {
    let flow = Flow::new(accesses);
    let entries = flow.entries();
    for block in accesses.after().blocks() {
        let Some(mut contents) = entries[block].clone() else { continue };
        flow.run(block, &mut contents, |access, content| flow.check_reload(access, content, findings));
    }
}

/// The inputs of the data flow.
struct Flow<'a> {
    accesses: &'a Accesses<'a>,
    /// For each register, the slots to which it is stored, each with the register's bit for that slot.
    slots_of: IndexVec<VReg, Vec<(usize, Registers)>>,
    /// For each stored register, whether some path leads to a read of it without a definition.
    may_be_undefined: OnceCell<IndexVec<VReg, bool>>,
}

impl<'a> Flow<'a> {
    fn new(accesses: &'a Accesses<'a>) -> Self {
        let mut slots_of: IndexVec<VReg, Vec<(usize, Registers)>> =
            IndexVec::filled(Vec::new(), accesses.after().num_regs());
        let mut registers = vec![0; accesses.num_slots()];
        for store in accesses.all.iter().filter(|access| access.is_store) {
            let slots = &mut slots_of[store.reg];
            let slot = accesses.number(store.slot);
            if slots.iter().all(|&(known, _)| known != slot) {
                slots.push((slot, bit(registers[slot])));
                registers[slot] += 1;
            }
        }
        Self { accesses, slots_of, may_be_undefined: OnceCell::new() }
    }

    /// Computes the possible contents of the slots at the entry of each reachable block.
    fn entries(&self) -> IndexVec<Block, Option<Contents>> {
        let after = self.accesses.after();
        let mut entries: IndexVec<Block, Option<Contents>> = IndexVec::filled(None, after.num_blocks());
        let mut is_waiting = IndexVec::filled(false, after.num_blocks());
        let mut worklist = Vec::new();
        if let Some(start) = after.blocks().next() {
            // If the function is not a kernel, its caller may have written registers.
            let written = if after.kernel().is_some() { 0 } else { Registers::MAX };
            let nothing = Content { unwritten: Some(start), written, ..Content::default() };
            entries[start] = Some(vec![nothing; self.accesses.num_slots()]);
            worklist.push(start);
        }
        while let Some(block) = worklist.pop() {
            is_waiting[block] = false;
            let Some(mut contents) = entries[block].clone() else { continue };
            self.run(block, &mut contents, |_, _| {});
            for &succ in after.succs(block) {
                let is_first = entries[succ].is_none();
                let entry = entries[succ].get_or_insert_with(|| vec![Content::default(); contents.len()]);
                let mut is_changed = is_first;
                for (at, content) in entry.iter_mut().zip(&contents) {
                    is_changed |= at.join(content, block);
                }
                if is_changed && !std::mem::replace(&mut is_waiting[succ], true) {
                    worklist.push(succ);
                }
            }
        }
        entries
    }

    /// Executes a block. `reload` receives the possible content of the slot at each reload.
    fn run(&self, block: Block, contents: &mut Contents, mut reload: impl FnMut(&Access, &Content)) {
        let after = self.accesses.after();
        let mut accesses = self.accesses.of_block(block).iter().peekable();
        for inst in after.block_insts(block) {
            while let Some(access) = accesses.next_if(|access| access.inst == inst) {
                let content = &mut contents[self.accesses.number(access.slot)];
                if access.is_store {
                    let defined = content.defined() | self.bit(access.reg, access.slot).unwrap_or(Registers::MAX);
                    let value = SlotValue { reg: access.reg, store: inst, overwritten: None, defined };
                    *content = Content { values: [Some(value), None, None, None], ..Content::default() };
                } else {
                    reload(access, content);
                }
            }
            // Inserted instructions are skipped: the symbolic checker verifies that they write the values that their
            // readers need.
            let is_kept = matches!(self.accesses.applied.origin[inst], Origin::Kept(_));
            let is_undefined = after.role(inst) == Role::Undef;
            for reg in after.operands(inst).iter().filter_map(Operand::def).filter(|_| is_kept) {
                for &(slot, bit) in &self.slots_of[reg] {
                    let content = &mut contents[slot];
                    if is_undefined { content.forget(bit) } else { content.overwrite(reg, bit, inst) }
                }
            }
        }
    }

    /// Returns the bit of a register for a slot. `None` if the register is never stored to the slot.
    fn bit(&self, reg: VReg, slot: Slot) -> Option<Registers> {
        let slot = self.accesses.number(slot);
        self.slots_of[reg].iter().find(|(known, _)| *known == slot).map(|&(_, bit)| bit)
    }

    /// Whether a reload needs the value of its original register, at a point where only the registers in `defined` may
    /// be defined. If the original register is undefined, any content of the slot is correct. A register whose reads
    /// all follow a definition counts as always defined.
    fn is_wanted(&self, access: &Access, defined: Registers) -> bool {
        let StandsFor::One(reg) = self.accesses.stands_for(access.reg) else { return true };
        self.bit(reg, access.slot).is_none_or(|bit| defined & bit != 0) || !self.may_be_undefined()[reg]
    }

    fn may_be_undefined(&self) -> &IndexVec<VReg, bool> {
        self.may_be_undefined.get_or_init(|| {
            let before = self.accesses.before;
            let stored: Vec<VReg> = before.regs().filter(|&reg| !self.slots_of[reg].is_empty()).collect();
            may_be_undefined(before, &stored)
        })
    }

    fn check_reload(&self, access: &Access, content: &Content, findings: &mut Vec<Finding>) {
        let mut find = |kind, reason| findings.push(self.accesses.finding(kind, access, reason));
        let slot = access.slot;
        match (content.unwritten, content.values().next()) {
            (_, None) => find(FindingKind::NoStore, format!("no path from a store to {slot} leads here")),
            (Some(from), Some(_)) if self.is_wanted(access, content.written) => {
                find(FindingKind::MaybeUnwritten, format!("a path through {from} has no store to {slot}"));
            }
            (_, Some(_)) => {}
        }
        let class = |reg: VReg| self.accesses.after().class(reg);
        let wanted = || content.values().filter(|held| content.has_more || self.is_wanted(access, held.defined));
        if let Some(held) = wanted().find(|held| class(held.reg) != class(access.reg)) {
            let of = |reg: VReg| if class(reg) == RegClass::B1 { "a predicate" } else { class(reg).name() };
            let (stored, loaded, store) = (of(held.reg), of(access.reg), self.accesses.place(held.store));
            let reason = format!("the reload loads {loaded}, but {} was stored as {stored} {store}", held.reg);
            return find(FindingKind::Encoding, reason);
        }
        let expected = match self.accesses.stands_for(access.reg) {
            StandsFor::Unknown => return,
            StandsFor::One(reg) => reg,
            StandsFor::Two(one, other) => {
                return find(
                    FindingKind::TwoValues,
                    format!("the readers of the reload read {one} and {other} before the edits"),
                );
            }
        };
        if let Some(held) = wanted().find(|held| held.reg != expected) {
            let store = self.accesses.place(held.store);
            let reason =
                format!("the readers of the reload need {expected}, but the slot holds {}, stored {store}", held.reg);
            find(FindingKind::Overwritten, reason);
        } else if let Some((held, inst)) = wanted().find_map(|held| Some((held, held.overwritten?))) {
            let (store, definition) = (self.accesses.place(held.store), self.accesses.place(inst));
            let reason = format!("{expected} was stored {store}, and written again {definition}");
            find(FindingKind::Old, reason);
        }
    }
}
