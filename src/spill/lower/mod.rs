//! Lowers the edits of slots to instructions of the target, for LLVM and for PTX.
//!
//! [`places`] lays out a function's slots. Accesses become steps ([`steps`]). The addresses of slots are computed once,
//! at the entry ([`addresses`]). One table has the names of the instructions ([`table`]). For LLVM, [`lower`] returns a
//! list of edits that inserts the instructions. For PTX, `ptx::edit` prints the same steps.
//!
//! In the list for LLVM, the conversions of an access are adjacent to the access: before a store and after a load. At
//! the entry, the code that computes the addresses precedes all uses and all other insertions there. The code that
//! clears the registers of predicates follows it.

pub(crate) mod addresses;
mod numbering;
pub(crate) mod places;
pub(crate) mod steps;
pub mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use addresses::block_shape;
use addresses::{declaration, local_address, shared_addresses};
use numbering::{Numbering, Piece};
use places::{AddressOf, Place, Places, ROWS};
use steps::{Access, Arg, Step};

use crate::function::{
    AccessRegisters, Applied, ApplyError, Block, Edit, EditList, Function, Inst, LoweredEdit, MachineOp, MemorySpace,
    Origin, Position, RegClass, Role, Slot, VReg, Value,
};
use crate::index::EntityIndex;

/// Names, or prefixes of names, of the arrays and registers in the inline assembly for LLVM.
const SHARED_ARRAY: &str = "nvptx_ra_spills";
const LOCAL_ARRAY: &str = "nvptx_ra_local";
const SCRATCH: &str = "%nvptx_ra";

/// The least alignment of the array in local memory, for LLVM.
const LOCAL_ALIGNMENT: u64 = 8;

/// Replaces all edits that concern slots by instructions. `None` if no edit concerns slots. `shape` has the dimensions
/// of the function's blocks from `.reqntid`. O(size).
///
/// # Errors
/// The edits do not fit the function.
pub fn lower(
    function: &Function,
    edits: &EditList,
    shape: Option<[u32; 3]>,
) -> Result<Option<Vec<LoweredEdit>>, ApplyError> {
    if !edits.edits().iter().any(Edit::is_of_slots) {
        return Ok(None);
    }
    let applied = edits.apply(function)?;
    let mut lowering = Lowering {
        after: &applied.function,
        places: Places::new(function.num_slots(), edits),
        constants: constants(function, &applied),
        num_regs: applied.function.num_regs() as u32,
        created: Vec::new(),
        addresses: BTreeMap::new(),
        words: Vec::new(),
    };
    lowering.words = vec![None; lowering.places.words as usize];
    let pieces: Vec<Piece> = edits.edits().iter().flat_map(|edit| lowering.edit(edit)).collect();
    let entry = lowering.entry(shape);
    let mut numbering = Numbering::new(function, edits);
    let mut lowered = numbering.numbered(pieces, entry);
    // The list begins with edits that create registers. The registers that lowering creates come after these.
    let behind = lowered.iter().rposition(|edit| matches!(edit, LoweredEdit::Kept(Edit::CreateRegister { .. })));
    let behind = behind.map_or(0, |last| last + 1);
    lowered.splice(behind..behind, lowering.created.into_iter().map(LoweredEdit::Kept));
    Ok(Some(lowered))
}

/// Returns the stores of predicates whose value is a constant set directly before the store, by the store's number in
/// the edits, with the constant.
fn constants(function: &Function, applied: &Applied) -> BTreeMap<Inst, bool> {
    let after = &applied.function;
    let mut constants = BTreeMap::new();
    for inst in after.insts().filter(|&inst| after.role(inst) == Role::Spill) {
        let predicate = after.operands(inst).first().and_then(|operand| operand.reg());
        let constant = predicate.and_then(|predicate| after.constant_ahead(inst, predicate));
        if let (Origin::Inserted(number), Some(constant)) = (applied.origin[inst], constant) {
            debug_assert!(number.index() >= function.num_insts(), "inserted instructions follow the view's");
            constants.insert(number, constant);
        }
    }
    constants
}

/// The state of lowering a list of edits.
struct Lowering<'a> {
    /// The function after the edits.
    after: &'a Function,
    places: Places,
    constants: BTreeMap<Inst, bool>,
    num_regs: u32,
    /// Edits that create the additional registers of the lowered instructions.
    created: Vec<Edit>,
    addresses: BTreeMap<AddressOf, VReg>,
    /// The registers whose bits hold predicates.
    words: Vec<Option<VReg>>,
}

impl Lowering<'_> {
    fn edit(&mut self, edit: &Edit) -> Vec<Piece> {
        let one = |&(reg, slot): &(VReg, Slot)| (vec![reg], slot);
        let (inst, at, role, (registers, slot)) = match edit {
            Edit::InsertSpill { inst, at, reg, slot } => (*inst, *at, Role::Spill, one(&(*reg, *slot))),
            Edit::InsertReload { inst, at, reg, slot } => (*inst, *at, Role::Reload, one(&(*reg, *slot))),
            Edit::InsertWideSpill { inst, at, parts } => (*inst, *at, Role::Spill, wide(parts)),
            Edit::InsertWideReload { inst, at, parts } => (*inst, *at, Role::Reload, wide(parts)),
            _ if edit.is_of_slots() => return Vec::new(),
            _ => return vec![Piece::Kept(edit.clone())],
        };
        // The edits have been applied successfully, so their registers and slots exist.
        let (Some(&first), Some(place)) = (registers.first(), self.places.of(slot)) else { return Vec::new() };
        let access_registers = AccessRegisters { class: self.after.class(first), registers: registers.len() as u8 };
        let access = Access { role, registers: access_registers, place, constant: self.constants.get(&inst).copied() };
        self.address_of(place);
        let mut parts: Vec<VReg> =
            access.parts().map_or(Vec::new(), |parts| (0..parts.registers).map(|_| self.create(parts.class)).collect());
        if matches!(place, Place::Bit(_)) {
            // Of these registers, the one of `and` gets the lowest number.
            parts.reverse();
        }
        let steps = access.steps(true);
        vec![Piece::Group { of: inst, at, insertions: self.insertions(&steps, &registers, &parts) }]
    }

    /// Returns the instructions for steps, without numbers.
    fn insertions(&mut self, steps: &[Step], registers: &[VReg], parts: &[VReg]) -> Vec<numbering::Code> {
        let mut code = Vec::new();
        for step in steps {
            debug_assert!(table::is_in_llvm(step.op), "LLVM has no {:?}", step.op);
            let given: Vec<Value> = step
                .args
                .iter()
                .map(|&arg| match arg {
                    Arg::Register(number) => Value::Reg(registers[number]),
                    Arg::Part(number) => Value::Reg(parts[number]),
                    Arg::Word(number) => Value::Reg(self.word(number)),
                    Arg::Address(of) => Value::Reg(self.address(of)),
                    Arg::Number(number) => Value::Immediate(number),
                })
                .collect();
            let modes = step.memory.map_or((MemorySpace::Generic, false), |memory| (memory.space, memory.is_volatile));
            code.push(numbering::Code::Inst {
                op: step.op,
                operands: table::completed(step.op, &given, modes),
                memory: step.memory,
            });
        }
        code
    }

    /// Creates the register that accesses to a place need, if it does not exist: an address, or the register of a bit.
    fn address_of(&mut self, place: Place) {
        match place {
            Place::Local(_) => _ = self.address(AddressOf::Local),
            Place::Shared { row, .. } => _ = self.address(AddressOf::Row(row)),
            Place::Bit(place) => _ = self.word(place.word),
        }
    }

    fn create(&mut self, class: RegClass) -> VReg {
        let reg = VReg(self.num_regs + self.created.len() as u32);
        self.created.push(Edit::CreateRegister { reg, class });
        reg
    }

    fn address(&mut self, of: AddressOf) -> VReg {
        if let Some(&reg) = self.addresses.get(&of) {
            return reg;
        }
        let reg = self.create(RegClass::B32);
        self.addresses.insert(of, reg);
        reg
    }

    fn word(&mut self, number: u32) -> VReg {
        if let Some(reg) = self.words[number as usize] {
            return reg;
        }
        let reg = self.create(RegClass::B32);
        self.words[number as usize] = Some(reg);
        reg
    }

    /// Returns the code at the entry, which computes the addresses and clears the registers whose bits hold predicates.
    fn entry(&mut self, shape: Option<[u32; 3]>) -> Vec<numbering::Code> {
        let mut code = Vec::new();
        if !self.addresses.is_empty() {
            code.push(self.assembly(shape));
        }
        for number in 0..self.places.words {
            let step = Step { op: MachineOp::Clear, args: vec![Arg::Word(number), Arg::Number(0)], memory: None };
            code.extend(self.insertions(&[step], &[], &[]));
        }
        code
    }

    /// Returns inline assembly that declares the arrays and computes the addresses that are used.
    fn assembly(&self, shape: Option<[u32; 3]>) -> numbering::Code {
        let (mut lines, mut results) = (Vec::new(), Vec::new());
        let mut rows = Vec::new();
        for row in ROWS {
            if let Some(&reg) = self.addresses.get(&AddressOf::Row(row)) {
                rows.push((row, format!("${}", results.len())));
                results.push(reg);
            }
        }
        if let Some(array) = self.places.array.filter(|_| !rows.is_empty()) {
            lines.push(declaration("shared", array.alignment().into(), SHARED_ARRAY, array.bytes.into()));
            let rows = rows.iter().map(|(row, result)| (*row, result.as_str()));
            lines.extend(shared_addresses(SCRATCH, SHARED_ARRAY, shape, rows));
        }
        if let Some(&reg) = self.addresses.get(&AddressOf::Local) {
            let align = self.places.local_align.max(LOCAL_ALIGNMENT);
            lines.push(declaration("local", align, LOCAL_ARRAY, self.places.local_bytes));
            lines.extend(local_address(SCRATCH, LOCAL_ARRAY, &format!("${}", results.len())));
            results.push(reg);
        }
        numbering::Code::Assembly { text: lines.join("\n\t"), results }
    }
}

/// Returns the registers of a wide access, and its first slot. The other slots follow the first.
fn wide(parts: &[(VReg, Slot)]) -> (Vec<VReg>, Slot) {
    (parts.iter().map(|part| part.0).collect(), parts.first().map_or(Slot(0), |part| part.1))
}

/// Returns a place before all instructions of the entry block, except instructions that edits move.
fn entry_place(function: &Function, edits: &EditList) -> Position {
    let moved = edits.edits().iter().filter_map(|edit| match *edit {
        Edit::Move { inst, .. } => Some(inst),
        _ => None,
    });
    let moved: BTreeSet<Inst> = moved.collect();
    let mut entry = function.blocks().take(1).flat_map(|entry| function.block_insts(entry));
    Position { block: Block(0), before: entry.find(|inst| !moved.contains(inst)) }
}
