//! Machine code, as ptxas wrote it and as the disassembler tells of it.
//!
//! * [`instruction`], [`control_flow`], [`sass`]: what matters of instructions, blocks and functions;
//! * [`listing`], [`machine_code`]: the disassembler's text and the bits themselves, read as these;
//! * [`cubin`]: what the file says of its functions beside their code; [`relocatable`]: what a linker sees of it;
//! * [`reported`]: what `ptxas -v` would say of kernels, by their machine code;
//! * [`life_ranges`], [`source_lines`]: the disassembler's tables of live registers and of lines;
//! * [`local_access`], [`writes`], [`reads`]: accesses of local memory, what wrote a register, and what reads it;
//! * [`spill_slots`], [`spills`]: where ptxas keeps values in the stack, and which values these are;
//! * [`own_names`]: the names of kernels that were compiled under others;
//! * [`program`]: a cubin as a program that runs on the CPU;
//! * [`disassembler`]: the programs that print these.

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
