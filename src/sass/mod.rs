//! NVIDIA's machine code: a reader, and its execution on the CPU.
//!
//! * [`cubin`]: the file;
//! * [`instruction`], [`operand`], [`control`], [`special`]: an instruction and its parts;
//! * [`decode`]: a table-driven decoder of machine code;
//! * [`effects`]: the registers that an instruction reads and writes;
//! * [`hazards`]: a check that every result is waited for;
//! * [`text`]: a reader of the disassembler's text;
//! * [`lower`], [`meaning`]: code as a program for the emulator, and the semantics of instructions;
//! * [`machine`]: a decoded file that can run;
//! * [`class`], [`counts`]: executed instructions of a run;
//! * [`time`]: the predicted time of a kernel.

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
pub mod text;
pub mod time;
