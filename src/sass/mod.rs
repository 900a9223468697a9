//! NVIDIA's machine code: read, and run on the CPU.
//!
//! * [`cubin`]: the file;
//! * [`instruction`], [`operand`], [`control`], [`special`]: an instruction and its parts;
//! * [`decode`]: machine code, decoded by our own tables;
//! * [`effects`]: the registers that an instruction reads and writes;
//! * [`hazards`]: a check that every result is waited for;
//! * [`text`]: the disassembler's text, read as instructions;
//! * [`lower`], [`meaning`]: code as a program that the emulator runs, and what instructions compute;
//! * [`machine`]: a file that runs;
//! * [`class`], [`counts`]: what a run executed;
//! * [`time`]: how long a kernel takes.

pub mod class;
pub mod control;
pub mod counts;
pub mod cubin;
pub mod decode;
pub mod effects;
pub mod hazards;
pub mod instruction;
pub mod lower;
pub mod machine;
pub mod meaning;
pub mod operand;
pub mod special;
#[cfg(test)]
pub mod text;
pub mod time;
