//! Machine code, decoded or from the disassembler's listings.
//!
//! * [`instruction`], [`control_flow`], [`sass`]: relevant properties of instructions, blocks and functions;
//! * [`listing`], [`machine_code`]: two sources of instructions, the disassembler's text and the bits;
//! * [`cubin`]: attributes of functions; [`relocatable`]: an object's interface to the linker;
//! * [`reported`]: the figures of `ptxas -v`, from machine code;
//! * [`life_ranges`], [`source_lines`]: the disassembler's tables of live registers and of lines;
//! * [`local_access`], [`writes`], [`reads`]: accesses of local memory, and the writes and reads of a register's value;
//! * [`spill_slots`], [`spills`]: ptxas's spill slots, and the values in them;
//! * [`own_names`]: the names of kernels that were compiled under other names;
//! * [`program`]: a cubin as a program that runs on the CPU;
//! * [`disassembler`]: NVIDIA's programs that print the listings.

pub(crate) mod control_flow;
pub(crate) mod cubin;
pub(crate) mod disassembler;
#[cfg(test)]
pub(crate) mod drawn_tables;
pub(crate) mod instruction;
pub(crate) mod life_ranges;
pub(crate) mod listing;
pub(crate) mod local_access;
pub(crate) mod machine_code;
pub(crate) mod own_names;
pub(crate) mod program;
pub(crate) mod reads;
pub(crate) mod relocatable;
pub(crate) mod reported;
pub(crate) mod sass;
pub(crate) mod source_lines;
mod spill_slots;
pub(crate) mod spills;
#[cfg(test)]
mod tests;
pub(crate) mod writes;
