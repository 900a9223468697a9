//! A raw view and request as the shim makes them, and the response to a request.

use std::ffi::c_void;
use std::ptr;

use super::super::abi::{
    self, nvptx_ra_block, nvptx_ra_inst, nvptx_ra_opcode_desc, nvptx_ra_opcodes, nvptx_ra_operand, nvptx_ra_reg,
    nvptx_ra_request, nvptx_ra_response, nvptx_ra_slot, nvptx_ra_symbol, nvptx_ra_view,
};
use super::super::opcodes::{nvptx_ra_opcodes_create, nvptx_ra_opcodes_free};
use super::super::response::nvptx_ra_response_free;

static OPCODES: [(&str, u32); 5] = [
    ("COPY", 0),
    ("MOV_B32_i", 0),
    ("LD_i32", abi::NVPTX_RA_DESC_LOAD),
    ("GOTO", abi::NVPTX_RA_DESC_TERMINATOR),
    ("Return", abi::NVPTX_RA_DESC_TERMINATOR),
];

/// Describes the opcodes, like the shim for a target.
extern "C" fn describe(_target: *const c_void, opcode: u32) -> nvptx_ra_opcode_desc {
    let (name, flags) = OPCODES[opcode as usize];
    nvptx_ra_opcode_desc { name: abi::borrow(name), flags, num_defs: 1 }
}

/// A raw view with the memory to which it points:
///
/// ```text
/// bb0: %0 = MOV_B32_i 7; %1 = COPY %0; GOTO bb1     bb1: %0 = LD_i32 slot, symbol; Return
/// ```
pub(in crate::ffi) struct Sample {
    pub(super) opcodes: *const nvptx_ra_opcodes,
    pub(super) blocks: Vec<nvptx_ra_block>,
    pub(super) succs: Vec<u32>,
    pub(super) insts: Vec<nvptx_ra_inst>,
    pub(super) operands: Vec<nvptx_ra_operand>,
    pub(super) regs: Vec<nvptx_ra_reg>,
    pub(super) slots: Vec<nvptx_ra_slot>,
    pub(super) symbols: Vec<nvptx_ra_symbol>,
}

impl Sample {
    pub(in crate::ffi) fn new() -> Self {
        // SAFETY: the descriptors and their names are static.
        let opcodes = unsafe { nvptx_ra_opcodes_create(ptr::null(), Some(describe), OPCODES.len() as u64) };
        let operand = |kind: u32, flags: u32, id, value| nvptx_ra_operand {
            kind: kind as u8,
            flags: flags as u8,
            tied: abi::NVPTX_RA_NOT_TIED as u16,
            id,
            value,
        };
        let inst = |opcode, flags, operand_end, address_space| nvptx_ra_inst {
            opcode,
            flags,
            line: 12,
            operand_end,
            address_space,
            reserved: 0,
        };
        let block = |inst_end, succ_end, loop_depth, frequency| nvptx_ra_block {
            inst_end,
            succ_end,
            loop_depth,
            flags: 0,
            frequency,
        };
        let reg = |name: &'static str| nvptx_ra_reg { name: abi::borrow(name), reg_class: 2, reserved: 0 };
        Self {
            opcodes,
            blocks: vec![block(3, 1, 0, 1.0), block(5, 1, 1, 8.0)],
            succs: vec![1],
            insts: vec![
                inst(1, 0, 2, 0),
                inst(0, 0, 4, 0),
                inst(3, 0, 5, 0),
                inst(2, abi::NVPTX_RA_INST_LOAD, 8, 5),
                inst(4, 0, 8, 0),
            ],
            operands: vec![
                operand(abi::NVPTX_RA_OPERAND_REG, abi::NVPTX_RA_FLAG_DEF, 0, 0),
                operand(abi::NVPTX_RA_OPERAND_IMMEDIATE, 0, 0, 7),
                operand(abi::NVPTX_RA_OPERAND_REG, abi::NVPTX_RA_FLAG_DEF, 1, 0),
                operand(abi::NVPTX_RA_OPERAND_REG, abi::NVPTX_RA_FLAG_KILL, 0, 0),
                operand(abi::NVPTX_RA_OPERAND_BLOCK, 0, 1, 0),
                operand(abi::NVPTX_RA_OPERAND_REG, abi::NVPTX_RA_FLAG_DEF, 0, 0),
                operand(abi::NVPTX_RA_OPERAND_SLOT, 0, 0, 0),
                operand(abi::NVPTX_RA_OPERAND_SYMBOL, 0, 0, 0),
            ],
            regs: vec![reg("x"), reg("")],
            slots: vec![nvptx_ra_slot { name: abi::borrow(""), size: 4, align: 4, line: 0, reserved: 0 }],
            symbols: vec![nvptx_ra_symbol { text: abi::borrow("@g"), shared_bytes: 4096 }],
        }
    }

    pub(in crate::ffi) fn view(&self) -> nvptx_ra_view {
        nvptx_ra_view {
            version: abi::NVPTX_RA_ABI_VERSION,
            size: size_of::<nvptx_ra_view>() as u32,
            opcodes: self.opcodes,
            name: abi::borrow("k"),
            blocks: self.blocks.as_ptr(),
            num_blocks: self.blocks.len() as u64,
            succs: self.succs.as_ptr(),
            num_succs: self.succs.len() as u64,
            insts: self.insts.as_ptr(),
            num_insts: self.insts.len() as u64,
            operands: self.operands.as_ptr(),
            num_operands: self.operands.len() as u64,
            regs: self.regs.as_ptr(),
            num_regs: self.regs.len() as u64,
            slots: self.slots.as_ptr(),
            num_slots: self.slots.len() as u64,
            symbols: self.symbols.as_ptr(),
            num_symbols: self.symbols.len() as u64,
            file: abi::borrow("/k.cu"),
            maxntid: abi::borrow("32,4"),
            reqntid: abi::borrow(""),
            minctasm: abi::borrow("two"),
            maxnreg: abi::borrow("64"),
            flags: abi::NVPTX_RA_VIEW_KERNEL,
            reserved: 0,
            refusal: abi::borrow(""),
        }
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        // SAFETY: created by `new`, freed only here.
        unsafe { nvptx_ra_opcodes_free(self.opcodes) }
    }
}

/// A response that is freed when it is dropped.
pub(in crate::ffi) struct Answer(pub(in crate::ffi) *const nvptx_ra_response);

impl Answer {
    pub(in crate::ffi) fn raw(&self) -> &nvptx_ra_response {
        // SAFETY: entries that return an `Answer` here return a live response.
        unsafe { &*self.0 }
    }

    pub(in crate::ffi) fn message(&self) -> String {
        // SAFETY: the response is alive.
        unsafe { abi::text(self.raw().message) }.into_owned()
    }

    pub(in crate::ffi) fn output(&self) -> String {
        // SAFETY: the response is alive.
        unsafe { abi::text(self.raw().output) }.into_owned()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: returned by an entry, freed only here.
        unsafe { nvptx_ra_response_free(self.0) }
    }
}

pub(in crate::ffi) fn request(view: *const nvptx_ra_view, pass: &str, parameters: &str) -> nvptx_ra_request {
    nvptx_ra_request {
        version: abi::NVPTX_RA_ABI_VERSION,
        size: size_of::<nvptx_ra_request>() as u32,
        pass: abi::borrow(pass),
        parameters: abi::borrow(parameters),
        command_line: abi::borrow(""),
        attribute: abi::borrow(""),
        target: abi::borrow("sm_90"),
        view,
        session: ptr::null_mut(),
        flags: 0,
        reserved: 0,
    }
}
