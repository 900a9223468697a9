//! The instructions that edits insert: the core's table, by which the shim finds LLVM's opcodes and checks edits.

use super::abi::{self, nvptx_ra_operand, nvptx_ra_str};
use super::guard::entry;
use crate::function::RegClass;
use crate::spill::lower::table;

/// Returns the number of instructions.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_inserted_count() -> u32 {
    entry(|_| 0, || table::llvm_names().len() as u32)
}

/// Returns LLVM's name for an instruction; empty if LLVM has none.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_inserted_at(number: u32) -> nvptx_ra_str {
    entry(|_| abi::borrow(""), || abi::borrow(table::llvm_names().nth(number as usize).unwrap_or_default()))
}

/// Whether an instruction accepts a kind of operand at an index.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_inserted_takes(
    number: u32,
    index: u64,
    operand: nvptx_ra_operand,
    reg_class: u32,
) -> u32 {
    entry(
        |_| 0,
        || {
            let (Some(op), Ok(index)) = (table::by_number(number), usize::try_from(index)) else { return 0 };
            let is_write = operand.flags == abi::NVPTX_RA_FLAG_DEF as u8;
            let takes = match u32::from(operand.kind) {
                _ if operand.flags != 0 && !is_write => false,
                abi::NVPTX_RA_OPERAND_REG => {
                    let class = u8::try_from(reg_class).map_or(RegClass::Other, RegClass::from_number);
                    table::takes_register(op, index, class, is_write)
                }
                abi::NVPTX_RA_OPERAND_IMMEDIATE => !is_write && table::takes_number(op, index, operand.value),
                _ => false,
            };
            takes.into()
        },
    )
}
