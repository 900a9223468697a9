//! Compares the function that the shim made with the function that the edits describe.
//!
//! The comparison is instruction by instruction and operand by operand. It omits everything that LLVM may choose freely
//! or that the view cannot know beforehand:
//!
//! * kill and dead flags, which are hints: the shim may drop them, but not add any;
//! * unconditional branches: whether a block falls through to its successor or jumps to it depends on the layout. The
//!   successors themselves are compared;
//! * the numbers of symbols, which follow the order of their first use. The correspondence of symbols is compared;
//! * PTX directives at the top of the function, and the addresses of slots computed there;
//! * whether `ne` of registers is LLVM's instruction or inline assembly;
//! * the register of a debug value that has lost its last definition, which LLVM removes.

use std::collections::{HashMap, HashSet};

use crate::error::Error;
use crate::function::{
    BitPlace, Block, Effects, Function, Inst, Operand, OperandFlags, RegClass, Role, Slot, Symbol, VReg, Value,
    is_assembly_of,
};
use crate::index::{EntityIndex, IndexVec};

/// Finds the first difference between the function `wanted` by the edits and the function `found`. O(size).
pub(super) fn compare(wanted: &Function, found: &Function) -> Result<(), Error> {
    Comparison::new(wanted, found).run().map_err(|difference| {
        Error::internal(format!("the edits were applied incorrectly: {difference}"), None).in_function(wanted.name())
    })
}

struct Comparison<'a> {
    wanted: &'a Function,
    found: &'a Function,
    /// The correspondence of symbols, in both directions.
    symbols: [HashMap<Symbol, Symbol>; 2],
    /// The registers that `wanted` writes.
    defined: IndexVec<VReg, bool>,
    /// The registers that lowering created for the addresses of slots.
    addresses: HashMap<VReg, Address>,
    /// The registers that lowering created for predicates: the index of each, and the instruction at the entry that
    /// clears it.
    words: HashMap<VReg, (u32, Inst)>,
    /// The definitions of registers that lowering created.
    own_definitions: HashMap<VReg, Inst>,
}

/// The slots that an address refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Address {
    /// The array in local memory.
    Local,
    /// This thread's part of the shared array, for rows of this many bytes.
    Shared(u64),
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
            addresses: addresses(found, wanted.num_regs()),
            words: words(found, wanted.num_regs()),
            own_definitions: own_definitions(found, wanted.num_regs()),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let (wanted, found) = (self.wanted, self.found);
        number("blocks", wanted.num_blocks(), found.num_blocks())?;
        // The edits' slots are in arrays that are not part of the frame.
        if found.num_slots() > wanted.num_slots() {
            number("slots", wanted.num_slots(), found.num_slots())?;
        }
        // The registers that lowering creates, for addresses and predicates, follow all others.
        if found.num_regs() < wanted.num_regs() {
            number("registers", wanted.num_regs(), found.num_regs())?;
        }
        if let Some(reg) = wanted.regs().find(|&reg| wanted.class(reg) != found.class(reg)) {
            return Err(format!("{reg} has class {:?}, expected {:?}", found.class(reg), wanted.class(reg)));
        }
        if wanted.kernel() != found.kernel() {
            return Err(format!("its launch bounds are {:?}, expected {:?}", found.kernel(), wanted.kernel()));
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

    /// Returns the instructions of a block that are compared.
    fn compared<'s>(&'s self, function: &'a Function, block: Block) -> impl Iterator<Item = Inst> + use<'a, 's> {
        let own = self.wanted.num_regs();
        function.block_insts(block).filter(move |&inst| {
            let operands = function.operands(inst);
            let is_branch = function.effects(inst).contains(Effects::TERMINATOR)
                && matches!(operands, [Operand { value: Value::Block(_), .. }]);
            let is_word = |reg: VReg| self.words.get(&reg).is_some_and(|&(_, zero)| zero != inst);
            let is_own = |reg: VReg| reg.index() >= own && !is_word(reg);
            let is_address = operands.iter().find_map(Operand::def).is_some_and(is_own);
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
            _ if is_assembly_of((self.found, found), (self.wanted, wanted)) => return Ok(()),
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

    /// Checks a spill or reload: it must be a store or load whose address is computed at the entry. A predicate is
    /// converted directly before or after it.
    fn slot_access(&self, role: Role, wanted: Inst, found: Inst) -> Result<(), String> {
        let expected = self.wanted.operands(wanted);
        let bit = |operand: &Operand| match operand.value {
            Value::Slot(slot) => self.wanted.slot(slot).bit,
            _ => None,
        };
        let same = match (expected, self.access(role, expected, found)) {
            ([register, slot], _) if bit(slot).is_some() => {
                let is_access = |place| {
                    self.is_bit_access(role, place, register.value, found)
                        || self.is_constant_bit(role, place, (wanted, register.reg()), found)
                };
                bit(slot).is_some_and(is_access)
            }
            ([_, Operand { value: Value::Slot(slot), .. }, rest @ ..], Some(access)) => {
                let halves = usize::from(expected[0].reg().is_some_and(|reg| self.wanted.class(reg) == RegClass::B128));
                self.is_access(role, *slot, access) && self.has_registers(rest, access, 1 + halves)
            }
            _ => false,
        };
        if same {
            Ok(())
        } else {
            let actual = self.found.operands(found);
            Err(format!("{} of {actual:?}, expected {role:?} of {expected:?}", name(self.found, found)))
        }
    }

    /// Returns the instruction that stores or loads the expected register, or the number that represents it.
    fn access(&self, role: Role, expected: &[Operand], found: Inst) -> Option<Inst> {
        let (register, first) = (expected.first()?, self.found.operands(found).first()?);
        let class = self.wanted.class(register.reg()?);
        if class == RegClass::B128 {
            return self.access_by_halves(role, register.value, found);
        }
        if class != RegClass::B1 {
            return (register.reg() == first.reg() && register.is_def() == first.is_def()).then_some(found);
        }
        let number = |number| Value::Immediate(number);
        let (conversion, access) = if role == Role::Spill {
            (*self.own_definitions.get(&first.read_reg()?)?, found)
        } else {
            (found, *self.own_definitions.get(&self.found.operands(found).get(1)?.read_reg()?)?)
        };
        let values: Vec<Value> = self.found.operands(conversion).iter().map(|operand| operand.value).collect();
        let converted = self.found.operands(access).first()?.value;
        let wanted = if role == Role::Spill {
            ("SELP_b16ii", vec![converted, number(1), number(0), register.value])
        } else {
            ("SETP_i16ri", vec![register.value, converted, number(0), number(1)])
        };
        // A conversion directly precedes a store, and directly follows a load.
        let is_beside = if role == Role::Spill { conversion.0 + 1 == access.0 } else { access.0 + 1 == conversion.0 };
        (is_beside && (name(self.found, conversion), values) == wanted).then_some(access)
    }

    /// Returns the instruction that stores or loads the halves of a 128-bit register. The register is split directly
    /// before a store, and assembled directly after a load.
    fn access_by_halves(&self, role: Role, register: Value, found: Inst) -> Option<Inst> {
        let before = self.in_block_ahead(found, 1)?;
        let (access, conversion) = if role == Role::Spill { (found, before) } else { (before, found) };
        let values = |inst| self.found.operands(inst).iter().map(|operand| operand.value);
        let halves: Vec<Value> = values(access).take(2).collect();
        let wanted: (_, Vec<Value>) = match role {
            Role::Spill => ("I128toV2I64", halves.into_iter().chain([register]).collect()),
            _ => ("V2I64toI128", [register].into_iter().chain(halves).collect()),
        };
        ((name(self.found, conversion), values(conversion).collect()) == wanted).then_some(access)
    }

    /// Returns the instruction `ahead` places before another, in the same block.
    fn in_block_ahead(&self, inst: Inst, ahead: u32) -> Option<Inst> {
        let range = self.found.block_range(self.found.block_of(inst));
        inst.0.checked_sub(ahead).map(Inst).filter(|&inst| range.start <= inst)
    }

    fn is_word(&self, reg: VReg, place: BitPlace) -> bool {
        self.words.get(&reg).is_some_and(|word| word.0 == place.word)
    }

    /// Whether an instruction and the instructions directly before it set a bit to a predicate, or a predicate to a
    /// bit.
    fn is_bit_access(&self, role: Role, place: BitPlace, predicate: Value, found: Inst) -> bool {
        let number = |number: i32| Value::Immediate(number.into());
        let values = |inst| self.found.operands(inst).iter().map(|operand| operand.value).collect::<Vec<_>>();
        let code = |ahead: u32| {
            let inst = self.in_block_ahead(found, ahead)?;
            Some((name(self.found, inst), values(inst)))
        };
        let Some((_, operands)) = code(0) else { return false };
        let (Some((and, masked)), [result, rest @ ..]) = (code(1), &operands[..]) else { return false };
        let (Some(&part), Some(&word)) = (masked.first(), masked.get(1)) else { return false };
        let is_word = |value: Value| matches!(value, Value::Reg(reg) if self.is_word(reg, place));
        let is_masked = |mask: i32| and == "AND_b32ri" && is_word(word) && masked.get(2) == Some(&number(mask));
        if role == Role::Reload {
            return is_masked(place.mask())
                && (name(self.found, found), *result) == ("SETP_i32ri", predicate)
                && rest == [part, number(0), number(1)];
        }
        let Some((select, selected)) = code(2) else { return false };
        is_masked(!place.mask())
            && (name(self.found, found), *result) == ("OR_b32rr", word)
            && (select, rest.len()) == ("SELP_b32ii", 2)
            && rest[0] == part
            && selected == [rest[1], number(place.mask()), number(0), predicate]
    }

    /// Whether an instruction sets a bit to a constant. The instruction directly before the spill must set the
    /// predicate to the same constant.
    fn is_constant_bit(
        &self,
        role: Role,
        place: BitPlace,
        (wanted, predicate): (Inst, Option<VReg>),
        found: Inst,
    ) -> bool {
        let constant = predicate.and_then(|predicate| self.wanted.constant_ahead(wanted, predicate));
        let (Some(constant), [to, from, mask]) = (constant, self.found.operands(found)) else { return false };
        let expected = if constant { ("OR_b32ri", place.mask()) } else { ("AND_b32ri", !place.mask()) };
        let is_word = |reg: VReg| self.is_word(reg, place);
        role == Role::Spill
            && to.def().is_some_and(is_word)
            && from.value == to.value
            && (name(self.found, found), mask.value) == (expected.0, Value::Immediate(expected.1.into()))
    }

    /// Whether an access has the registers of `rest`, in order, after the `first` registers of its first slot. `rest`
    /// holds the other registers of the edit, each followed by its slot. The edits were already checked to use adjacent
    /// slots.
    fn has_registers(&self, rest: &[Operand], access: Inst, first: usize) -> bool {
        let accessed = self.found.operands(access).iter().filter(|operand| operand.reg().is_some());
        let mut accessed: Vec<&Operand> = accessed.skip(first).collect();
        // The last register is the address.
        accessed.pop();
        let wanted = rest.iter().step_by(2);
        accessed.len() == wanted.len()
            && wanted.zip(accessed).all(|(one, other)| one.reg() == other.reg() && one.is_def() == other.is_def())
    }

    /// Whether an instruction accesses the memory of a slot of the edits.
    fn is_access(&self, role: Role, slot: Slot, access: Inst) -> bool {
        let operands = self.found.operands(access);
        let address = operands.iter().rev().find_map(Operand::read_reg);
        let address = address.and_then(|address| self.addresses.get(&address).copied());
        let data = self.wanted.slot(slot);
        let (expected, offset) = match data.shared {
            Some(place) => (Address::Shared(place.row.into()), u64::from(place.offset)),
            None => (Address::Local, self.local_offset(slot)),
        };
        let effect = if role == Role::Spill { Effects::WRITE } else { Effects::READ };
        let is_there = operands.last().is_some_and(|last| last.value == Value::Immediate(offset as i64));
        address == Some(expected) && is_there && self.found.effects(access).contains(effect)
    }

    /// Returns the offset of a slot of the edits in the array in local memory. Slots are laid out consecutively, each
    /// with the alignment of the largest access to it.
    fn local_offset(&self, slot: Slot) -> u64 {
        let mut end: u64 = 0;
        let slots = (self.found.num_slots()..=slot.index()).map(|index| self.wanted.slot(Slot::new(index)));
        slots.filter(|data| data.shared.is_none()).fold(0, |_, data| {
            let largest = 1 << data.size.max(1).ilog2();
            let offset = end.next_multiple_of(data.align.max(largest.min(16)));
            end = offset + data.size;
            offset
        })
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

/// Returns the registers with numbers of at least `own` that the entry sets to 0 before any other access to them, in
/// order.
fn words(found: &Function, own: usize) -> HashMap<VReg, (u32, Inst)> {
    let (mut words, mut seen) = (HashMap::new(), HashSet::new());
    for inst in found.blocks().take(1).flat_map(|entry| found.block_insts(entry)) {
        let is_zero = |operands: &[Operand]| matches!(operands, [_, number] if number.value == Value::Immediate(0));
        let is_clear = name(found, inst) == "MOV_B32_i" && is_zero(found.operands(inst));
        for reg in found.operands(inst).iter().filter_map(Operand::reg).filter(|reg| reg.index() >= own) {
            if seen.insert(reg) && is_clear {
                words.insert(reg, (words.len() as u32, inst));
            }
        }
    }
    words
}

/// Returns the address registers: those with numbers of at least `own` that assembly at the entry sets. In the
/// assembly's order, the registers for shared memory come first; the text multiplies the thread number by their row
/// size. The register for local memory follows.
fn addresses(found: &Function, own: usize) -> HashMap<VReg, Address> {
    let mut addresses = HashMap::new();
    for inst in found.blocks().take(1).flat_map(|entry| found.block_insts(entry)) {
        let operands = found.operands(inst);
        let Some(Value::Symbol(text)) = operands.first().map(|operand| operand.value) else { continue };
        let text = found.symbol(text);
        let factors = text.split("mad.lo.u32 $").skip(1);
        let shared = factors.filter_map(|rest| Some(Address::Shared(rest.split(", ").nth(2)?.parse().ok()?)));
        let local = text.contains("nvptx_ra_local").then_some(Address::Local);
        let defs = operands.iter().filter_map(Operand::def).filter(|reg| reg.index() >= own);
        addresses.extend(defs.zip(shared.chain(local)));
    }
    addresses
}

/// Returns the definitions of registers with numbers of at least `own`.
fn own_definitions(found: &Function, own: usize) -> HashMap<VReg, Inst> {
    let defs = |inst| found.operands(inst).iter().filter_map(Operand::def).map(move |reg| (reg, inst));
    found.insts().flat_map(defs).filter(|(reg, _)| reg.index() >= own).collect()
}

/// The operands of assembly without registers: the text and its flags.
const DIRECTIVE_OPERANDS: usize = 2;

fn name(function: &Function, inst: Inst) -> &str {
    function.opcodes().name(function.opcode(inst))
}

fn number(what: &str, wanted: usize, found: usize) -> Result<(), String> {
    if wanted == found { Ok(()) } else { Err(format!("{found} {what}, expected {wanted}")) }
}

#[cfg(test)]
mod tests;
