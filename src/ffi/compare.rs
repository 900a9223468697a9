//! Whether the function that the shim made is the one that the edits describe.
//!
//! Both are compared instruction by instruction, operand by operand. What LLVM is free in, or the view cannot know
//! beforehand, is left out:
//!
//! * kill and dead flags, which are hints that the shim may only drop;
//! * unconditional branches: whether a block falls through to its successor or names it depends on the layout. The
//!   successors themselves are compared;
//! * the numbers of symbols, which follow the order of their first use; which symbols are the same is compared;
//! * lines of PTX at the top of the function, and the addresses of spill slots computed there;
//! * the register of a debug value that has lost its last definition: LLVM then has none.

use std::collections::HashMap;

use crate::error::Error;
use crate::function::{Block, Effects, Function, Inst, Operand, OperandFlags, Role, Slot, Symbol, VReg, Value};
use crate::index::{EntityIndex, IndexVec};

/// The first difference between the function `wanted` by the edits and the one `found`. O(size).
pub(super) fn compare(wanted: &Function, found: &Function) -> Result<(), Error> {
    Comparison::new(wanted, found).run().map_err(|difference| {
        Error::internal(format!("the edits were not applied as they are meant: {difference}"), None)
            .in_function(wanted.name())
    })
}

struct Comparison<'a> {
    wanted: &'a Function,
    found: &'a Function,
    /// Which symbols stand for each other, both ways.
    symbols: [HashMap<Symbol, Symbol>; 2],
    /// The registers that something in `wanted` writes.
    defined: IndexVec<VReg, bool>,
    /// The registers of the shim that hold the address of a slot.
    addresses: HashMap<VReg, Slot>,
    /// The registers of the shim that hold the address of this thread's part of the shared array, with the size of the
    /// slots that they are for.
    shared_addresses: HashMap<VReg, u64>,
}

impl<'a> Comparison<'a> {
    fn new(wanted: &'a Function, found: &'a Function) -> Self {
        let mut defined = IndexVec::filled(false, wanted.num_regs());
        for inst in wanted.insts() {
            wanted.operands(inst).iter().filter_map(Operand::def).for_each(|reg| defined[reg] = true);
        }
        Self {
            wanted,
            found,
            symbols: Default::default(),
            defined,
            addresses: slot_addresses(found, wanted.num_regs()),
            shared_addresses: shared_addresses(found, wanted.num_regs()),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let (wanted, found) = (self.wanted, self.found);
        number("blocks", wanted.num_blocks(), found.num_blocks())?;
        let is_shared = |slot: &Slot| wanted.slot(*slot).shared_offset.is_some();
        let num_shared = (0..wanted.num_slots()).map(Slot::new).filter(is_shared).count();
        number("slots", wanted.num_slots() - num_shared, found.num_slots())?;
        // The shim's own registers, for the addresses of spill slots, come behind.
        if found.num_regs() < wanted.num_regs() {
            number("registers", wanted.num_regs(), found.num_regs())?;
        }
        if let Some(reg) = wanted.regs().find(|&reg| wanted.class(reg) != found.class(reg)) {
            return Err(format!("{reg} has class {:?}, expected {:?}", found.class(reg), wanted.class(reg)));
        }
        if wanted.kernel() != found.kernel() {
            return Err(format!("it is launched as {:?}, expected {:?}", found.kernel(), wanted.kernel()));
        }
        wanted.blocks().try_for_each(|block| self.block(block))
    }

    fn block(&mut self, block: Block) -> Result<(), String> {
        let sorted = |function: &Function| {
            let mut succs = function.succs(block).to_vec();
            succs.sort_unstable();
            succs
        };
        if sorted(self.wanted) != sorted(self.found) {
            let (wanted, found) = (self.wanted.succs(block), self.found.succs(block));
            return Err(format!("{block} goes to {found:?}, expected {wanted:?}"));
        }
        let wanted: Vec<Inst> = self.compared(self.wanted, block).collect();
        let found: Vec<Inst> = self.compared(self.found, block).collect();
        number(&format!("instructions of {block}"), wanted.len(), found.len())?;
        wanted.iter().zip(&found).try_for_each(|(&wanted, &found)| {
            self.inst(wanted, found).map_err(|reason| format!("{found} of {block}: {reason}"))
        })
    }

    /// The instructions of a block that are compared.
    fn compared(&self, function: &'a Function, block: Block) -> impl Iterator<Item = Inst> + use<'a> {
        let own = self.wanted.num_regs();
        function.block_insts(block).filter(move |&inst| {
            let operands = function.operands(inst);
            let is_branch = function.effects(inst).contains(Effects::TERMINATOR)
                && matches!(operands, [Operand { value: Value::Block(_), .. }]);
            let is_address = operands.iter().find_map(Operand::def).is_some_and(|reg| reg.index() >= own);
            let is_directive = block.index() == 0
                && function.opcodes().name(function.opcode(inst)) == "INLINEASM"
                && operands.len() <= DIRECTIVE_OPERANDS;
            !is_branch && !is_address && !is_directive
        })
    }

    fn inst(&mut self, wanted: Inst, found: Inst) -> Result<(), String> {
        match self.wanted.role(wanted) {
            role @ (Role::Spill | Role::Reload) => return self.slot_access(role, wanted, found),
            _ if self.wanted.opcode(wanted) == self.found.opcode(found) => {}
            _ => return Err(format!("{}, expected {}", name(self.found, found), name(self.wanted, wanted))),
        }
        let (expected, actual) = (self.wanted.operands(wanted), self.found.operands(found));
        number("operands", expected.len(), actual.len())?;
        let is_debug = self.wanted.role(wanted) == Role::Debug;
        for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
            let hints = OperandFlags::KILL | OperandFlags::DEAD;
            let same_flags = (expected.flags - hints) == (actual.flags - hints) && expected.tied == actual.tied;
            let same_value = self.value(expected.value, actual.value);
            let lost = is_debug && actual.value == Value::NoReg && self.is_lost(expected);
            let same = same_flags && same_value;
            if !same && !lost {
                return Err(format!("operand {index} is {actual:?}, expected {expected:?}"));
            }
        }
        Ok(())
    }

    fn is_lost(&self, operand: &Operand) -> bool {
        operand.reg().is_some_and(|reg| !self.defined[reg])
    }

    /// A spill or reload is a store or load whose address is computed at the entry.
    fn slot_access(&self, role: Role, wanted: Inst, found: Inst) -> Result<(), String> {
        let expected = self.wanted.operands(wanted);
        let actual = self.found.operands(found);
        let wanted_access = if role == Role::Spill { Effects::WRITE } else { Effects::READ };
        let address = actual.iter().rev().find_map(Operand::read_reg);
        let in_frame = address.and_then(|address| self.addresses.get(&address).copied());
        let slot = in_frame.or_else(|| self.shared_slot(address?, expected.get(1)?, actual.last()?));
        let same = self.found.effects(found).contains(wanted_access)
            && matches!((expected, actual), ([reg, at, ..], [first, ..])
                if reg.reg() == first.reg() && reg.is_def() == first.is_def()
                    && at.value == slot.map_or(Value::NoReg, Value::Slot));
        if same {
            Ok(())
        } else {
            Err(format!("{} of {actual:?}, expected {role:?} of {expected:?}", name(self.found, found)))
        }
    }

    /// The slot that is expected, if it is in shared memory and is accessed there: at its own offset, by an address of
    /// the shim's for its size.
    fn shared_slot(&self, address: VReg, expected: &Operand, offset: &Operand) -> Option<Slot> {
        let Value::Slot(slot) = expected.value else { return None };
        let data = self.wanted.slot(slot);
        let same = data.shared_offset.map(|offset| Value::Immediate(offset.into())) == Some(offset.value)
            && self.shared_addresses.get(&address) == Some(&data.size);
        same.then_some(slot)
    }

    fn value(&mut self, expected: Value, actual: Value) -> bool {
        match (expected, actual) {
            (Value::Symbol(expected), Value::Symbol(actual)) => {
                let [forth, back] = &mut self.symbols;
                *forth.entry(expected).or_insert(actual) == actual
                    && *back.entry(actual).or_insert(expected) == expected
            }
            _ => expected == actual,
        }
    }
}

/// The registers from the number `own` on that the entry sets to the address of a slot, as a generic address and then
/// as a local one.
fn slot_addresses(found: &Function, own: usize) -> HashMap<VReg, Slot> {
    let mut addresses = HashMap::new();
    for inst in found.blocks().take(1).flat_map(|entry| found.block_insts(entry)) {
        let [def, source, ..] = found.operands(inst) else { continue };
        let slot = match source.value {
            Value::Slot(slot) => Some(slot),
            Value::Reg(generic) => addresses.get(&generic).copied(),
            _ => None,
        };
        if let (Some(reg), Some(slot)) = (def.def().filter(|reg| reg.index() >= own), slot) {
            addresses.insert(reg, slot);
        }
    }
    addresses
}

/// The registers from the number `own` on that assembly at the entry sets, with the factor of the thread's number that its
/// text has for each, in their order.
fn shared_addresses(found: &Function, own: usize) -> HashMap<VReg, u64> {
    let mut addresses = HashMap::new();
    for inst in found.blocks().take(1).flat_map(|entry| found.block_insts(entry)) {
        let operands = found.operands(inst);
        let Some(Value::Symbol(text)) = operands.first().map(|operand| operand.value) else { continue };
        let factors = found.symbol(text).split("mad.lo.u32 $").skip(1);
        let factors = factors.filter_map(|rest| rest.split(", ").nth(2)?.parse().ok());
        let defs = operands.iter().filter_map(Operand::def).filter(|reg| reg.index() >= own);
        addresses.extend(defs.zip(factors));
    }
    addresses
}

/// The text and its flags: assembly that names no registers.
const DIRECTIVE_OPERANDS: usize = 2;

fn name(function: &Function, inst: Inst) -> &str {
    function.opcodes().name(function.opcode(inst))
}

fn number(what: &str, wanted: usize, found: usize) -> Result<(), String> {
    if wanted == found { Ok(()) } else { Err(format!("{found} {what}, expected {wanted}")) }
}

#[cfg(test)]
mod tests;
