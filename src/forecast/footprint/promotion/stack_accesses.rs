//! Loads and stores of the stack variables, and their places.

use super::refusal::PromotionRefusal;
use crate::analysis::Occurrences;
use crate::function::ptx_opcode::as_llvm;
use crate::function::{Effects, Function, Inst, MemorySpace, Operand, Role, Slot, VReg, Value};
use crate::index::IndexVec;

/// An address in the stack variables, which follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// This many bytes from their start.
    At(i64),
    /// An unknown place: this many bytes from their start, plus a computed value.
    Anywhere(i64),
}

/// A load or store of the stack variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) inst: Inst,
    pub(super) is_store: bool,
    pub(super) address: Address,
    /// Bits of a value.
    pub(super) width: u32,
    /// Number of consecutive values.
    pub(super) values: u32,
}

/// Accesses of a function to its stack variables. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(super) struct StackAccesses {
    /// In the order of the code.
    pub(super) accesses: Vec<Access>,
    /// Start of each variable, in bytes.
    pub(super) starts: IndexVec<Slot, i64>,
    /// Bytes of all variables.
    pub(super) bytes: i64,
    addresses: IndexVec<VReg, Option<Address>>,
    changed: Vec<VReg>,
}

/// Instructions that convert a generic address to one of local memory. PTX computes the generic address of the whole
/// stack, too.
const STACK_CONVERSIONS: [&str; 3] = ["cvta_to_local_64", "cvta.to.local.u64/rr", "cvta.local.u64/rr"];

/// What an instruction does with an address.
enum Step {
    /// It computes another address from it.
    Computes(Address),
    /// It loads or stores at the address, or emits no code.
    Keeps,
    /// It lets the address escape, so accesses are unknown.
    GivesAway,
}

impl StackAccesses {
    /// Collects the accesses of a function. Succeeds if all are known: there are accesses, and no address escapes.
    /// O(operands) if there is a stack, constant time otherwise.
    pub(super) fn compute(&mut self, function: &Function, occurrences: &Occurrences) -> Result<(), PromotionRefusal> {
        self.accesses.clear();
        self.lay_out(function);
        self.changed.clear();
        self.addresses.clear();
        if self.bytes == 0 {
            return Err(PromotionRefusal::NoStack);
        }
        self.addresses.resize(function.num_regs(), None);
        let names_slot = |operand: &Operand| matches!(operand.value, Value::Slot(_));
        for inst in function.insts().filter(|&inst| function.operands(inst).iter().any(names_slot)) {
            self.follow(function, inst)?;
        }
        while let Some(reg) = self.changed.pop() {
            for occurrence in occurrences.of(reg).iter().filter(|occurrence| !occurrence.is_def()) {
                self.follow(function, occurrence.inst)?;
            }
        }
        if let Some(reg) = self.mixed(function, occurrences) {
            return Err(PromotionRefusal::Mixed(reg));
        }
        self.accesses = function.insts().filter_map(|inst| self.access(function, inst)).collect();
        if self.accesses.is_empty() { Err(PromotionRefusal::NotAccessed) } else { Ok(()) }
    }

    /// Yields the registers that hold an address of the stack.
    pub(super) fn addresses(&self) -> impl Iterator<Item = VReg> + '_ {
        self.addresses.iter_enumerated().filter(|(_, address)| address.is_some()).map(|(reg, _)| reg)
    }

    fn lay_out(&mut self, function: &Function) {
        self.starts.clear();
        self.bytes = 0;
        for slot in (0..function.num_slots()).map(|slot| Slot(slot as u32)) {
            let data = function.slot(slot);
            let align = data.align.clamp(1, 1 << 32) as i64;
            self.bytes = self.bytes.saturating_add(align - 1) / align * align;
            self.starts.push(self.bytes);
            self.bytes = self.bytes.saturating_add(i64::try_from(data.size).unwrap_or(i64::MAX));
        }
    }

    /// Records the address that an instruction computes; an error if it lets one escape.
    fn follow(&mut self, function: &Function, inst: Inst) -> Result<(), PromotionRefusal> {
        let address = match self.step(function, inst) {
            Step::Computes(address) => address,
            Step::Keeps => return Ok(()),
            Step::GivesAway => return Err(PromotionRefusal::GivenAway(inst)),
        };
        let [result] = defs(function, inst)[..] else { return Err(PromotionRefusal::GivenAway(inst)) };
        let joined = match self.addresses[result] {
            None => address,
            Some(before) if before == address => before,
            // The offset stays, because it would grow for ever in a loop.
            Some(Address::Anywhere(before)) => Address::Anywhere(before),
            Some(Address::At(before)) => Address::Anywhere(before.max(address.offset())),
        };
        if self.addresses[result] != Some(joined) {
            self.addresses[result] = Some(joined);
            self.changed.push(result);
        }
        Ok(())
    }

    /// Returns what an instruction does with an address or variable among its operands.
    fn step(&self, function: &Function, inst: Inst) -> Step {
        if function.role(inst) == Role::Debug || self.access(function, inst).is_some() {
            return Step::Keeps;
        }
        let name = function.opcodes().name(function.opcode(inst));
        let name = as_llvm(name);
        let reads: Vec<&Operand> = function.operands(inst).iter().filter(|operand| !operand.is_def()).collect();
        let address = |operand: &Operand| self.address_of(operand);
        let computed = match reads[..] {
            [base, offset] if name == "LEA_ADDRi64" || name == "ADD64ri" => {
                address(base).zip(offset.as_immediate()).map(|(base, offset)| base.plus(offset))
            }
            [base] if function.as_copy(inst).is_some() || STACK_CONVERSIONS.contains(&&*name) => address(base),
            [a, b] if name == "ADD64rr" => match (address(a), address(b)) {
                (Some(base), None) | (None, Some(base)) => Some(Address::Anywhere(base.offset())),
                _ => None,
            },
            [a, b, ..] if name.starts_with("SELP_b64") => {
                address(a).zip(address(b)).map(|(a, b)| Address::Anywhere(a.offset().max(b.offset())))
            }
            _ => None,
        };
        computed.map_or(Step::GivesAway, Step::Computes)
    }

    /// Returns the load or store of local memory that an instruction makes. `None` if the address is not in the stack,
    /// or if another operand is an address in the stack.
    fn access(&self, function: &Function, inst: Inst) -> Option<Access> {
        let Transfer { is_store, space, width, values, address, offset } = Transfer::of(function, inst)?;
        let keeps_order = Effects::ORDERED | Effects::CALL_SEQUENCE | Effects::OPAQUE;
        let operands = function.operands(inst);
        let (base, others) = (self.address_of(&operands[address])?, &operands[..address]);
        if space != MemorySpace::Local
            || function.effects(inst).intersects(keeps_order)
            || others.iter().any(|operand| self.address_of(operand).is_some())
        {
            return None;
        }
        Some(Access { inst, is_store, address: base.plus(offset), width, values })
    }

    /// Returns the address of the stack that a register holds.
    pub(super) fn address(&self, reg: VReg) -> Option<Address> {
        self.addresses.get(reg).copied().flatten()
    }

    /// Returns the address of the stack that an operand is.
    pub(super) fn address_of(&self, operand: &Operand) -> Option<Address> {
        match operand.value {
            Value::Slot(slot) => Some(Address::At(self.starts[slot])),
            Value::Reg(reg) if !operand.is_def() => self.address(reg),
            _ => None,
        }
    }

    /// Returns a register that holds an address of the stack on some paths and another value on others.
    fn mixed(&self, function: &Function, occurrences: &Occurrences) -> Option<VReg> {
        let computes = |inst| matches!(self.step(function, inst), Step::Computes(_));
        let mut held = function.regs().filter(|&reg| self.addresses[reg].is_some());
        held.find(|&reg| occurrences.of(reg).iter().any(|occurrence| occurrence.is_def() && !computes(occurrence.inst)))
    }
}

/// A load or store as LLVM writes it: the values that it loads or stores, then order, scope, space, the type (loads
/// only), width, a mask (loads only), the address and an offset.
#[derive(Clone, Copy, Debug)]
pub(in crate::forecast) struct Transfer {
    pub(in crate::forecast) is_store: bool,
    pub(in crate::forecast) space: MemorySpace,
    /// Bits of a value.
    pub(in crate::forecast) width: u32,
    /// Number of consecutive values.
    pub(in crate::forecast) values: u32,
    /// Index of the address operand.
    pub(super) address: usize,
    offset: i64,
}

impl Transfer {
    /// Reads an instruction; `None` if it is no plain load or store.
    pub(in crate::forecast) fn of(function: &Function, inst: Inst) -> Option<Self> {
        let name = function.opcodes().name(function.opcode(inst));
        let is_store = name.starts_with("ST_i") || name.starts_with("STV_i");
        if !is_store && !name.starts_with("LD_i") && !name.starts_with("LDV_i") {
            return None;
        }
        let operands = function.operands(inst);
        let number = |from_end: usize| operands.len().checked_sub(from_end).and_then(|at| operands[at].as_immediate());
        let (space, width, behind) = if is_store { (4, 3, 6) } else { (6, 4, 8) };
        Some(Self {
            is_store,
            space: MemorySpace::from_number(u32::try_from(number(space)?).ok()?),
            width: u32::try_from(number(width)?).ok()?,
            values: operands.len().checked_sub(behind)? as u32,
            address: operands.len() - 2,
            offset: number(1)?,
        })
    }
}

impl Address {
    /// Returns the known bytes of the address.
    pub(super) fn offset(self) -> i64 {
        match self {
            Self::At(offset) | Self::Anywhere(offset) => offset,
        }
    }

    fn plus(self, bytes: i64) -> Self {
        match self {
            Self::At(offset) => Self::At(offset.saturating_add(bytes)),
            Self::Anywhere(offset) => Self::Anywhere(offset.saturating_add(bytes)),
        }
    }
}

fn defs(function: &Function, inst: Inst) -> Vec<VReg> {
    function.operands(inst).iter().filter_map(Operand::def).collect()
}
