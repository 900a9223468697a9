//! Random edits that are not checked by the core. The shim must reject them or apply them without a crash in LLVM.

use super::abi::{self, nvptx_ra_edit, nvptx_ra_memory, nvptx_ra_operand};
use super::edits::{RawEdits, blank, operand};
use crate::function::{Function, MachineOp, RegClass, VReg, Value};
use crate::spill::lower::table::{self, OperandKind};

/// The number of kinds of edits, including one unknown kind.
const KINDS: u32 = abi::NVPTX_RA_EDIT_SET_ATTRIBUTE + 1;

/// Opcodes of constants, and of instructions that accept an immediate operand.
const OPCODES: [&str; 8] =
    ["MOV_B1_i", "MOV_B16_i", "MOV_B32_i", "MOV_B64_i", "MOV_F32_i", "MOV_F64_i", "ADD32ri", "ADD64ri"];

impl RawEdits {
    /// Adds random edits and changes numbers in all edits. The random numbers depend only on the function's name.
    pub(super) fn spoil(&mut self, function: &Function) {
        let mut draw = Draw { function, state: function.name().bytes().fold(0xcbf2_9ce4_8422_2325, mixed) };
        for _ in 0..=draw.below(4) {
            let edit = self.drawn(&mut draw);
            let at = draw.below(self.edits.len() as u32 + 1);
            self.edits.insert(at as usize, edit);
        }
        // Most lists are sorted and number new entities correctly. Otherwise, the shim would reject them for these
        // errors and detect no others.
        if draw.below(8) != 0 {
            self.edits.sort_by_key(|edit| phase(edit.kind));
            self.number(function);
        }
        for _ in 0..draw.below(4).saturating_sub(1) {
            let at = draw.below(self.edits.len() as u32) as usize;
            match draw.below(4) {
                0 => draw.change(&mut self.edits[at]),
                1 => self.edits.insert(at, self.edits[at]),
                2 if self.edits.len() > 1 => drop(self.edits.remove(at)),
                3 if draw.below(2) == 0 && !self.operands.is_empty() => {
                    let at = draw.below(self.operands.len() as u32) as usize;
                    draw.change_operand(&mut self.operands[at]);
                }
                _ => {
                    if let Some(number) = self.numbers.get_mut(at) {
                        *number = draw.any();
                    }
                }
            }
        }
    }

    /// Returns a random edit, whose numbers mostly have the right kind.
    fn drawn(&mut self, draw: &mut Draw<'_>) -> nvptx_ra_edit {
        let kind = draw.kind();
        let mut edit = nvptx_ra_edit { id: draw.inst(), block: draw.block(), ..blank(kind) };
        edit.before = [abi::NVPTX_RA_NONE, draw.inst()][draw.below(2) as usize];
        if edit.before != abi::NVPTX_RA_NONE && draw.below(8) != 0 {
            edit.block = draw.block_of(edit.before);
        }
        let first = self.numbers.len() as u32;
        let mut number = 0;
        (edit.a, edit.b) = match kind {
            abi::NVPTX_RA_EDIT_CREATE_REGISTER => (draw.below(6), 0),
            abi::NVPTX_RA_EDIT_SPLIT_EDGE => (draw.block(), 0),
            abi::NVPTX_RA_EDIT_INSERT_CONSTANT => (draw.register(), draw.opcode()),
            abi::NVPTX_RA_EDIT_INSERT_CLONE => (draw.register(), draw.inst()),
            abi::NVPTX_RA_EDIT_INSERT_INST => {
                let op;
                (number, op) = draw.inserted();
                let start = self.operands.len() as u32;
                let kinds = op.map_or_else(Vec::new, table::operands_of);
                self.operands.extend(kinds.into_iter().map(|kind| draw.operand(kind)));
                edit.memory = draw.memory(op);
                (start, self.operands.len() as u32)
            }
            abi::NVPTX_RA_EDIT_INSERT_ASSEMBLY => {
                (0..draw.below(4)).for_each(|_| self.numbers.push(draw.register()));
                self.drawn_text(draw)
            }
            abi::NVPTX_RA_EDIT_PERMUTE => {
                self.permute(draw, edit.block);
                (first, self.numbers.len() as u32)
            }
            abi::NVPTX_RA_EDIT_SET_REGISTER | abi::NVPTX_RA_EDIT_SET_ADDRESS => (draw.below(8), draw.register()),
            abi::NVPTX_RA_EDIT_SET_IMMEDIATE => (draw.below(4), draw.opcode()),
            abi::NVPTX_RA_EDIT_SET_ASSEMBLY
            | abi::NVPTX_RA_EDIT_INSERT_DIRECTIVE
            | abi::NVPTX_RA_EDIT_SET_ATTRIBUTE => self.drawn_text(draw),
            _ => (draw.register(), draw.register()),
        };
        edit.value = [1, 2, 4, 8, 16, i64::from(draw.any()), -1, i64::MIN][draw.below(8) as usize];
        let kinds = [abi::NVPTX_RA_OPERAND_IMMEDIATE, abi::NVPTX_RA_OPERAND_REG, draw.below(12)];
        edit.operand = nvptx_ra_operand {
            kind: kinds[draw.below(3) as usize] as u8,
            id: draw.register(),
            value: edit.value,
            ..edit.operand
        };
        match kind {
            abi::NVPTX_RA_EDIT_INSERT_INST => edit.value = number.into(),
            abi::NVPTX_RA_EDIT_INSERT_ASSEMBLY => {
                edit.operand = nvptx_ra_operand { id: first, value: self.numbers.len() as i64, ..edit.operand };
            }
            _ => {}
        }
        edit
    }

    /// Adds a random text and returns its range.
    fn drawn_text(&mut self, draw: &mut Draw<'_>) -> (u32, u32) {
        let start = self.text.len() as u32;
        let texts =
            [".pragma x;", "nvvm.maxnreg=32", "$9 ${1:h} {|}", "mov.b32 $0, $1;$", "mov.u32 $0, %tid.x; $$", ""];
        self.text += texts[draw.below(6) as usize];
        (start, self.text.len() as u32)
    }

    /// Adds the instructions of a block with two of them exchanged.
    fn permute(&mut self, draw: &mut Draw<'_>, block: u32) {
        let insts = draw.function.insts().filter(|inst| draw.block_of(inst.0) == block).map(|inst| inst.0);
        let start = self.numbers.len();
        self.numbers.extend(insts);
        let order = &mut self.numbers[start..];
        if !order.is_empty() {
            let [left, right] = [(); 2].map(|()| draw.below(order.len() as u32) as usize);
            order.swap(left, right);
        }
    }

    /// Assigns the required ids to new entities.
    fn number(&mut self, function: &Function) {
        let (mut regs, mut blocks) = (function.num_regs() as u32, function.num_blocks() as u32);
        let mut insts = function.num_insts() as u32;
        for edit in &mut self.edits {
            let next = match (edit.kind, phase(edit.kind)) {
                (abi::NVPTX_RA_EDIT_CREATE_REGISTER, _) => &mut regs,
                (abi::NVPTX_RA_EDIT_SPLIT_EDGE, _) => &mut blocks,
                (_, (1, _)) => &mut insts,
                _ => continue,
            };
            edit.id = *next;
            *next += 1;
        }
    }
}

/// Returns the phase of a kind of edit, and its rank among the kinds that create something.
fn phase(kind: u32) -> (u32, u32) {
    match kind {
        abi::NVPTX_RA_EDIT_CREATE_REGISTER | abi::NVPTX_RA_EDIT_SPLIT_EDGE => (0, kind),
        abi::NVPTX_RA_EDIT_INSERT_COPY..=abi::NVPTX_RA_EDIT_INSERT_ASSEMBLY => (1, 0),
        abi::NVPTX_RA_EDIT_MOVE => (2, 0),
        abi::NVPTX_RA_EDIT_PERMUTE => (3, 0),
        abi::NVPTX_RA_EDIT_MERGE => (5, 0),
        abi::NVPTX_RA_EDIT_DELETE => (6, 0),
        abi::NVPTX_RA_EDIT_INSERT_DIRECTIVE | abi::NVPTX_RA_EDIT_SET_ATTRIBUTE => (7, 0),
        _ => (4, 0),
    }
}

/// Computes one step of splitmix64 from a state and a byte.
fn mixed(state: u64, byte: u8) -> u64 {
    let state = (state ^ u64::from(byte)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Draws random numbers, most of which are valid for the function.
struct Draw<'f> {
    function: &'f Function,
    state: u64,
}

impl Draw<'_> {
    fn below(&mut self, limit: u32) -> u32 {
        self.state = mixed(self.state, 1);
        ((self.state >> 32) as u32) % limit.max(1)
    }

    /// Returns a number below `count`, or rarely a slightly larger number.
    fn among(&mut self, count: usize) -> u32 {
        let behind = if self.below(16) == 0 { 3 } else { 0 };
        self.below(count as u32 + behind)
    }

    fn register(&mut self) -> u32 {
        self.among(self.function.num_regs())
    }

    fn inst(&mut self) -> u32 {
        self.among(self.function.num_insts())
    }

    fn block(&mut self) -> u32 {
        self.among(self.function.num_blocks())
    }

    /// Returns a number in the table of instructions, and the instruction with this number; `None` if the table has
    /// none. In most cases, the function has registers of the classes that the instruction needs.
    fn inserted(&mut self) -> (u32, Option<MachineOp>) {
        let has = |kind: &OperandKind| match kind {
            OperandKind::Read(class) | OperandKind::Write(class) => {
                self.function.regs().any(|reg| self.function.class(reg) == *class)
            }
            OperandKind::Number | OperandKind::Mode(_) => true,
        };
        let all = (0..table::llvm_names().len() as u32).filter_map(table::by_number);
        let fitting: Vec<MachineOp> = all.filter(|&op| table::operands_of(op).iter().all(has)).collect();
        let op = fitting.get(self.below(fitting.len() as u32) as usize).copied().filter(|_| self.below(4) != 0);
        let number = op.and_then(table::number_of).unwrap_or_else(|| self.among(table::llvm_names().len()));
        (number, table::by_number(number))
    }

    /// Returns an operand, mostly of the kind that the instruction accepts.
    fn operand(&mut self, kind: OperandKind) -> nvptx_ra_operand {
        let number = i64::from(self.any());
        let mut drawn = match kind {
            OperandKind::Read(class) => operand(Value::Reg(self.register_of(class))),
            OperandKind::Write(class) => {
                nvptx_ra_operand { flags: abi::NVPTX_RA_FLAG_DEF as u8, ..operand(Value::Reg(self.register_of(class))) }
            }
            OperandKind::Number => operand(Value::Immediate(number)),
            OperandKind::Mode(modes) => operand(Value::Immediate(modes[self.below(modes.len() as u32) as usize])),
        };
        if self.below(48) == 0 {
            self.change_operand(&mut drawn);
        }
        drawn
    }

    /// Returns a register, mostly one of the function's registers of the class.
    fn register_of(&mut self, class: RegClass) -> VReg {
        let of_class = |reg: &VReg| self.function.class(*reg) == class;
        let regs: Vec<VReg> = self.function.regs().filter(of_class).collect();
        regs.get(self.among(regs.len()) as usize).copied().unwrap_or(VReg(self.register()))
    }

    /// Returns a memory access, mostly the one of the instruction.
    fn memory(&mut self, op: Option<MachineOp>) -> nvptx_ra_memory {
        let flags = match op {
            _ if self.below(16) == 0 => self.below(16),
            Some(MachineOp::Load(_)) => abi::NVPTX_RA_MEMORY_LOAD,
            Some(MachineOp::Store(_)) => abi::NVPTX_RA_MEMORY_STORE | abi::NVPTX_RA_MEMORY_VOLATILE,
            _ => 0,
        };
        let [space, bytes, align] = [8, 5, 5].map(|limit| 1 << self.below(limit));
        nvptx_ra_memory { space: if self.below(8) == 0 { self.any() } else { space }, bytes, align, flags }
    }

    /// Changes one number of an operand.
    fn change_operand(&mut self, operand: &mut nvptx_ra_operand) {
        match self.below(4) {
            0 => operand.kind = self.below(12) as u8,
            1 => operand.flags = self.below(256) as u8,
            2 => operand.id = self.any(),
            _ => operand.value = i64::from(self.any()),
        }
    }

    fn block_of(&self, inst: u32) -> u32 {
        let blocks = self.function.blocks();
        blocks.map(|block| self.function.block_range(block).end.0).filter(|&end| end <= inst).count() as u32
    }

    fn opcode(&mut self) -> u32 {
        let opcodes = self.function.opcodes();
        match self.below(3) {
            0 => self.among(opcodes.len()),
            _ => opcodes.find(OPCODES[self.below(8) as usize]).map_or(0, |opcode| opcode.0),
        }
    }

    fn kind(&mut self) -> u32 {
        self.below(KINDS + 1)
    }

    fn any(&mut self) -> u32 {
        match self.below(4) {
            0 => abi::NVPTX_RA_NONE,
            1 => self.below(u32::MAX),
            _ => self.inst(),
        }
    }

    /// Changes one number of an edit.
    fn change(&mut self, edit: &mut nvptx_ra_edit) {
        let number = self.any();
        match self.below(11) {
            0 => edit.kind = self.kind(),
            1 => edit.id = number,
            2 => edit.block = number,
            3 => edit.before = number,
            4 => edit.a = number,
            5 => edit.b = number,
            6 => edit.value = i64::from(number) << self.below(33),
            7 => edit.memory.space = number,
            8 => edit.memory.bytes = number,
            9 => edit.memory.flags = number,
            _ => edit.operand.id = number,
        }
    }
}
