//! Converts an [`EditList`] to the ABI's flat edits.

use super::abi::{self, nvptx_ra_edit, nvptx_ra_memory, nvptx_ra_operand};
use crate::function::{
    Complement, Edit, EditList, Function, Insertion, Inst, LoweredEdit, MemoryAccess, Operand, Position, VReg, Value,
    complement, text_of_complement,
};
use crate::spill::lower::table;

/// Edits in the form of the ABI, with the pools to which they refer.
#[derive(Debug, Default)]
pub(super) struct RawEdits {
    pub(super) edits: Vec<nvptx_ra_edit>,
    pub(super) numbers: Vec<u32>,
    pub(super) operands: Vec<nvptx_ra_operand>,
    pub(super) text: String,
}

impl RawEdits {
    /// Converts the edits of a view, in order. O(size).
    pub(super) fn new(function: &Function, list: &EditList) -> Self {
        let mut raw = Self { edits: Vec::with_capacity(list.len()), ..Self::default() };
        for edit in list.edits() {
            let edit = raw.encode(function, edit);
            raw.edits.push(edit);
        }
        raw
    }

    /// Converts the edits of a lowered list, in order. O(size).
    pub(super) fn of_lowered(function: &Function, list: &[LoweredEdit]) -> Self {
        let mut raw = Self { edits: Vec::with_capacity(list.len()), ..Self::default() };
        for edit in list {
            let edit = match edit {
                LoweredEdit::Kept(edit) => raw.encode(function, edit),
                LoweredEdit::Insert(insertion) => raw.insertion(insertion),
                LoweredEdit::InsertAssembly { inst, at, text, results } => raw.assembly((*inst, *at), text, results),
            };
            raw.edits.push(edit);
        }
        raw
    }

    fn insertion(&mut self, insertion: &Insertion) -> nvptx_ra_edit {
        let start = self.operands.len() as u32;
        let written = |operand: &Operand| u8::from(operand.is_def()) * abi::NVPTX_RA_FLAG_DEF as u8;
        let raw = |it: &Operand| nvptx_ra_operand { flags: written(it), ..operand(it.value) };
        self.operands.extend(insertion.operands.iter().map(raw));
        // The shim rejects an operation that is not in the table.
        let number = table::number_of(insertion.op).unwrap_or(abi::NVPTX_RA_NONE);
        nvptx_ra_edit {
            a: start,
            b: self.operands.len() as u32,
            value: number.into(),
            memory: insertion.memory.map_or(NO_MEMORY, memory),
            ..placed(abi::NVPTX_RA_EDIT_INSERT_INST, insertion.inst, insertion.at)
        }
    }

    fn assembly(&mut self, (inst, at): (Inst, Position), text: &str, results: &[VReg]) -> nvptx_ra_edit {
        let start = self.numbers.len();
        self.numbers.extend(results.iter().map(|reg| reg.0));
        let nvptx_ra_edit { a, b, .. } = self.with_text(abi::NVPTX_RA_EDIT_INSERT_ASSEMBLY, &[text]);
        let operand = nvptx_ra_operand { id: start as u32, value: self.numbers.len() as i64, ..blank(0).operand };
        nvptx_ra_edit { a, b, operand, ..placed(abi::NVPTX_RA_EDIT_INSERT_ASSEMBLY, inst, at) }
    }

    /// Converts register limits of a module's functions to attribute edits.
    pub(super) fn of_limits(limits: impl Iterator<Item = (usize, u32)>) -> Self {
        let mut raw = Self::default();
        for (function, limit) in limits {
            let parts = ["nvvm.maxnreg=", &limit.to_string()];
            let edit = raw.with_text(abi::NVPTX_RA_EDIT_SET_ATTRIBUTE, &parts);
            raw.edits.push(nvptx_ra_edit { id: function as u32, ..edit });
        }
        raw
    }

    fn encode(&mut self, function: &Function, edit: &Edit) -> nvptx_ra_edit {
        match *edit {
            Edit::CreateRegister { reg, class } => {
                nvptx_ra_edit { id: reg.0, a: class as u32, ..blank(abi::NVPTX_RA_EDIT_CREATE_REGISTER) }
            }
            Edit::SplitEdge { block, from, to } => {
                nvptx_ra_edit { id: block.0, block: from.0, a: to.0, ..blank(abi::NVPTX_RA_EDIT_SPLIT_EDGE) }
            }
            Edit::InsertCopy { inst, at, dst, src } => {
                nvptx_ra_edit { a: dst.0, b: src.0, ..placed(abi::NVPTX_RA_EDIT_INSERT_COPY, inst, at) }
            }
            Edit::InsertConstant { inst, at, opcode, dst, value } => nvptx_ra_edit {
                a: dst.0,
                b: opcode.0,
                operand: operand(value),
                ..placed(abi::NVPTX_RA_EDIT_INSERT_CONSTANT, inst, at)
            },
            Edit::InsertClone { inst, at, of, dst } => {
                nvptx_ra_edit { a: dst.0, b: of.0, ..placed(abi::NVPTX_RA_EDIT_INSERT_CLONE, inst, at) }
            }
            Edit::Move { inst, at } => placed(abi::NVPTX_RA_EDIT_MOVE, inst, at),
            Edit::Permute { block, ref order } => {
                let start = self.numbers.len() as u32;
                self.numbers.extend(order.iter().map(|inst| inst.0));
                let end = self.numbers.len() as u32;
                nvptx_ra_edit { block: block.0, a: start, b: end, ..blank(abi::NVPTX_RA_EDIT_PERMUTE) }
            }
            Edit::SetRegister { inst, operand, reg } => {
                nvptx_ra_edit { id: inst.0, a: operand, b: reg.0, ..blank(abi::NVPTX_RA_EDIT_SET_REGISTER) }
            }
            Edit::SetImmediate { inst, operand, opcode, value } => {
                nvptx_ra_edit { id: inst.0, a: operand, b: opcode.0, value, ..blank(abi::NVPTX_RA_EDIT_SET_IMMEDIATE) }
            }
            Edit::SetAddress { inst, operand, base, offset } => nvptx_ra_edit {
                id: inst.0,
                a: operand,
                b: base.0,
                value: offset,
                ..blank(abi::NVPTX_RA_EDIT_SET_ADDRESS)
            },
            Edit::SetAssembly { inst, ref text } => {
                nvptx_ra_edit { id: inst.0, ..self.with_text(abi::NVPTX_RA_EDIT_SET_ASSEMBLY, &[text]) }
            }
            Edit::TurnBranch { block, comparison } => {
                let (id, value) = match complement(function, comparison) {
                    Some(Complement::Number { operand, value }) => (operand, value),
                    // LLVM has no such comparison, so the shim rejects the edit.
                    Some(Complement::Opcode(_)) | None => (abi::NVPTX_RA_NONE, 0),
                };
                let kind = abi::nvptx_ra_operand { id, value, ..blank(0).operand };
                let text = text_of_complement(function, comparison);
                let edit = self.with_text(abi::NVPTX_RA_EDIT_TURN_BRANCH, text.as_slice());
                nvptx_ra_edit { id: comparison.0, block: block.0, operand: kind, ..edit }
            }
            // Machine code has no pragma, so its views reject the edit, and so does the shim.
            Edit::InsertPragma { block } => nvptx_ra_edit { block: block.0, ..blank(0) },
            // Lowering removes all these edits. A remaining edit gets an unknown kind, which the shim rejects.
            Edit::CreateSlot { .. }
            | Edit::CreateSharedArray(_)
            | Edit::CreateSharedSlot { .. }
            | Edit::CreateBitSlot { .. }
            | Edit::InsertSpill { .. }
            | Edit::InsertReload { .. }
            | Edit::InsertWideSpill { .. }
            | Edit::InsertWideReload { .. } => blank(0),
            Edit::SetDebugValue { inst, value } => {
                nvptx_ra_edit { id: inst.0, operand: operand(value), ..blank(abi::NVPTX_RA_EDIT_SET_DEBUG_VALUE) }
            }
            Edit::Merge { from, into } => nvptx_ra_edit { a: from.0, b: into.0, ..blank(abi::NVPTX_RA_EDIT_MERGE) },
            Edit::Delete { inst } => nvptx_ra_edit { id: inst.0, ..blank(abi::NVPTX_RA_EDIT_DELETE) },
            Edit::InsertDirective { ref text } => self.with_text(abi::NVPTX_RA_EDIT_INSERT_DIRECTIVE, &[text]),
            Edit::SetAttribute { ref key, ref value } => {
                self.with_text(abi::NVPTX_RA_EDIT_SET_ATTRIBUTE, &[key, "=", value])
            }
        }
    }

    fn with_text(&mut self, kind: u32, parts: &[&str]) -> nvptx_ra_edit {
        let start = self.text.len() as u32;
        self.text.extend(parts.iter().copied());
        nvptx_ra_edit { a: start, b: self.text.len() as u32, ..blank(kind) }
    }
}

pub(super) fn blank(kind: u32) -> nvptx_ra_edit {
    nvptx_ra_edit {
        kind,
        id: abi::NVPTX_RA_NONE,
        block: abi::NVPTX_RA_NONE,
        before: abi::NVPTX_RA_NONE,
        a: 0,
        b: 0,
        value: 0,
        operand: raw_operand(abi::NVPTX_RA_OPERAND_NOREG, 0, 0),
        memory: NO_MEMORY,
    }
}

const NO_MEMORY: nvptx_ra_memory = nvptx_ra_memory { space: 0, bytes: 0, align: 0, flags: 0 };

fn memory(access: MemoryAccess) -> nvptx_ra_memory {
    let MemoryAccess { space, bytes, align, is_store, is_volatile } = access;
    let direction = if is_store { abi::NVPTX_RA_MEMORY_STORE } else { abi::NVPTX_RA_MEMORY_LOAD };
    let volatile = if is_volatile { abi::NVPTX_RA_MEMORY_VOLATILE } else { 0 };
    nvptx_ra_memory { space: space as u32, bytes, align, flags: direction | volatile }
}

fn placed(kind: u32, inst: Inst, at: Position) -> nvptx_ra_edit {
    let before = at.before.map_or(abi::NVPTX_RA_NONE, |before| before.0);
    nvptx_ra_edit { id: inst.0, block: at.block.0, before, ..blank(kind) }
}

pub(super) fn operand(value: Value) -> nvptx_ra_operand {
    match value {
        Value::Reg(reg) => raw_operand(abi::NVPTX_RA_OPERAND_REG, reg.0, 0),
        Value::Physical(number) => raw_operand(abi::NVPTX_RA_OPERAND_PHYSICAL, number, 0),
        Value::NoReg => raw_operand(abi::NVPTX_RA_OPERAND_NOREG, 0, 0),
        Value::Immediate(value) => raw_operand(abi::NVPTX_RA_OPERAND_IMMEDIATE, 0, value),
        Value::Float(bits) => raw_operand(abi::NVPTX_RA_OPERAND_FLOAT, 0, bits as i64),
        Value::Symbol(symbol) => raw_operand(abi::NVPTX_RA_OPERAND_SYMBOL, symbol.0, 0),
        Value::Block(block) => raw_operand(abi::NVPTX_RA_OPERAND_BLOCK, block.0, 0),
        Value::Slot(slot) => raw_operand(abi::NVPTX_RA_OPERAND_SLOT, slot.0, 0),
    }
}

fn raw_operand(kind: u32, id: u32, value: i64) -> nvptx_ra_operand {
    nvptx_ra_operand { kind: kind as u8, flags: 0, tied: abi::NVPTX_RA_NOT_TIED as u16, id, value }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::function::{AccessRegisters, Block, FunctionBuilder, MachineOp, MemorySpace, Opcode, RegClass, VReg};

    fn raw(edits: impl IntoIterator<Item = Edit>) -> RawEdits {
        let function = FunctionBuilder::new("k", Arc::default()).finish();
        let mut list = EditList::new(&function);
        edits.into_iter().for_each(|edit| list.push(edit));
        RawEdits::new(&function, &list)
    }

    /// Texts and orders are stored in the pools, and each edit has its own range.
    #[test]
    fn pools() {
        let raw = raw([
            Edit::Permute { block: Block(1), order: vec![Inst(4), Inst(3)] },
            Edit::Permute { block: Block(2), order: vec![Inst(5)] },
            Edit::InsertDirective { text: ".pragma".into() },
            Edit::SetAttribute { key: "k".into(), value: "v=1".into() },
        ]);
        assert_eq!(raw.numbers, [4, 3, 5]);
        assert_eq!(raw.text, ".pragmak=v=1");
        let ranges: Vec<_> = raw.edits.iter().map(|edit| edit.a..edit.b).collect();
        assert_eq!(ranges, [0..2, 2..3, 0..7, 7..12]);
    }

    /// An instruction of the table is converted with its operands and its memory access, and inline assembly with its
    /// text and registers.
    #[test]
    fn lowered_edits() {
        let at = Position { block: Block(0), before: Some(Inst(0)) };
        let op = MachineOp::Store(AccessRegisters { class: RegClass::B32, registers: 1 });
        let memory = MemoryAccess { space: MemorySpace::Shared, bytes: 4, align: 4, is_store: true, is_volatile: true };
        let operands = vec![Operand::read(VReg(3)), Operand::immediate(8), Operand::write(VReg(4))];
        let raw = RawEdits::of_lowered(
            &FunctionBuilder::new("k", Arc::default()).finish(),
            &[
                LoweredEdit::Kept(Edit::InsertDirective { text: ".pragma".into() }),
                LoweredEdit::InsertAssembly { inst: Inst(1), at, text: "mov".into(), results: vec![VReg(5), VReg(6)] },
                LoweredEdit::Insert(Insertion { inst: Inst(2), at, op, operands, memory: Some(memory) }),
            ],
        );
        let [_, assembly, inst] = raw.edits[..] else { panic!("three edits cross as three") };
        assert_eq!((raw.text.as_str(), assembly.a, assembly.b), (".pragmamov", 7, 10));
        assert_eq!((&raw.numbers[..], assembly.operand.id, assembly.operand.value), (&[5, 6][..], 0, 2));
        assert_eq!((inst.id, inst.before, inst.a, inst.b), (2, 0, 0, 3));
        assert_eq!(Some(inst.value), table::number_of(op).map(i64::from));
        let flags = abi::NVPTX_RA_MEMORY_STORE | abi::NVPTX_RA_MEMORY_VOLATILE;
        let crossed = inst.memory;
        assert_eq!((crossed.space, crossed.bytes, crossed.align, crossed.flags), (3, 4, 4, flags));
        let flags: Vec<u8> = raw.operands.iter().map(|operand| operand.flags).collect();
        assert_eq!(flags, [0, 0, abi::NVPTX_RA_FLAG_DEF as u8]);
        assert_eq!((raw.operands[0].id, raw.operands[1].value, raw.operands[2].id), (3, 8, 4));
    }

    /// `None` is converted to the reserved number, in positions and in debug values.
    #[test]
    fn none_crosses() {
        let at = Position { block: Block(0), before: None };
        let raw = raw([
            Edit::InsertConstant {
                inst: Inst(9),
                at,
                opcode: Opcode(7),
                dst: VReg(1),
                value: Value::Float(f64::to_bits(-1.0)),
            },
            Edit::SetDebugValue { inst: Inst(2), value: Value::NoReg },
        ]);
        assert_eq!(raw.edits[0].before, abi::NVPTX_RA_NONE);
        assert_eq!(raw.edits[0].operand.value as u64, f64::to_bits(-1.0));
        assert_eq!(u32::from(raw.edits[1].operand.kind), abi::NVPTX_RA_OPERAND_NOREG);
    }
}
