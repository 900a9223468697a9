//! Machine code, as ptxas wrote it and as the disassembler tells of it.
//!
//! * [`instruction`], [`control_flow`], [`sass`]: what matters of instructions, blocks and functions;
//! * [`listing`], [`machine_code`]: the disassembler's text and the bits themselves, read as these.

mod control_flow;
mod instruction;
pub(crate) mod listing;
pub(crate) mod machine_code;
pub(crate) mod sass;
