//! Machine code as ptxas wrote it: how many instructions a function has.
//!
//! The disassembler takes half a second to start, longer than ptxas does on most kernels. What has no local memory
//! needs only to be counted, and all that has to be known for it is what a NOP looks like. NVIDIA documents no
//! encoding: whoever counts compares with the disassembler now and then.

use std::collections::BTreeMap;

use object::{Object as _, ObjectSection as _};

/// Bytes of an instruction, on all processors since sm_70.
const INSTRUCTION: usize = 16;

/// The bits of an instruction that say what it is, in its first two bytes.
const OPCODE: u16 = 0xfff;

/// What they are in a NOP.
const NOP: u16 = 0x918;

/// How many instructions each function of a cubin has, NOPs apart; `None` where it is no cubin.
pub(super) fn count(cubin: &[u8]) -> Option<BTreeMap<String, u32>> {
    let file = object::File::parse(cubin).ok()?;
    let mut counted = BTreeMap::new();
    for section in file.sections() {
        if let Some(name) = section.name().ok()?.strip_prefix(".text.") {
            let instructions = section.data().ok()?.chunks_exact(INSTRUCTION);
            let is_real = |code: &&[u8]| u16::from_le_bytes([code[0], code[1]]) & OPCODE != NOP;
            counted.insert(name.to_owned(), instructions.filter(is_real).count() as u32);
        }
    }
    Some(counted)
}

#[cfg(test)]
mod tests {
    use super::count;

    /// What is no cubin is none, and no panic.
    #[test]
    fn broken_files() {
        assert_eq!(count(b""), None);
        assert_eq!(count(b"\x7fELF\x02\x01\x01"), None);
    }
}
