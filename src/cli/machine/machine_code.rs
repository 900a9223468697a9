//! Decodes machine code.
//!
//! The disassembler takes half a second to start. ptxas takes less time for most kernels, and about as long for the
//! others. So this module decodes the few needed properties of an instruction. NVIDIA documents no encoding. The
//! encoding was derived from bits and listings of sm_75 to sm_120, and callers compare the results with the
//! disassembler's from time to time.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use nvptx_ra::sass::cubin::image::processor;
use nvptx_ra::tune::ptxas_output::Sass;
use object::{Object as _, ObjectSection as _};

use super::cubin::{self, Facts};
use super::instruction::{Instruction, Kind, find_jumps};
use super::local_access::Access;
use super::sass;

/// Bytes of an instruction, for all processors since sm_70.
pub(super) const BYTES: usize = 16;

/// Releases of CUDA, times ten, for which a test compares this decoder with the disassembler.
const RELEASES: RangeInclusive<u32> = 128..=135;
const PROCESSORS: RangeInclusive<u32> = 75..=121;

/// Returns whether a test covers machine code of this release and processor.
pub(crate) fn is_compared(cubin: &[u8]) -> bool {
    let processor = object::File::parse(cubin).ok().and_then(|file| processor(&file));
    let is_of_release = |facts: &Facts| facts.release.is_some_and(|release| RELEASES.contains(&release));
    let is_of_releases = || cubin::facts(cubin).is_some_and(|facts| facts.values().all(is_of_release));
    processor.is_some_and(|processor| PROCESSORS.contains(&processor)) && is_of_releases()
}

/// Returns the figures of each function of a cubin, by name; `None` if it is no cubin. O(length · log length).
pub(crate) fn read(cubin: &[u8]) -> Option<BTreeMap<String, Sass>> {
    let functions = instructions(cubin)?.into_iter();
    Some(functions.map(|(name, instructions)| (name, sass::of(&instructions))).collect())
}

/// Decodes the instructions of each function of a cubin, by name; `None` if it is no cubin. O(length).
pub(crate) fn instructions(cubin: &[u8]) -> Option<BTreeMap<String, Vec<Instruction>>> {
    let decoded = |(name, words): (String, Vec<Encoded>)| {
        let words = words.into_iter().enumerate();
        let mut instructions: Vec<Instruction> =
            words.map(|(at, word)| word.instruction((at * BYTES) as u32)).collect();
        find_jumps(&mut instructions);
        (name, instructions)
    };
    Some(words(cubin)?.into_iter().map(decoded).collect())
}

/// Returns the local memory accesses of each function of a cubin, by name, without marks; `None` if it is no cubin.
/// O(length).
pub(crate) fn local_accesses(cubin: &[u8]) -> Option<BTreeMap<String, Vec<Access>>> {
    let functions = words(cubin)?.into_iter();
    let accesses = |words: Vec<Encoded>| (0..).zip(words).filter_map(|(row, word)| word.local_access(row)).collect();
    Some(functions.map(|(name, words)| (name, accesses(words))).collect())
}

/// Returns the encoded instructions of each function of a cubin.
fn words(cubin: &[u8]) -> Option<BTreeMap<String, Vec<Encoded>>> {
    let file = object::File::parse(cubin).ok()?;
    let processor = processor(&file)?;
    let mut functions = BTreeMap::new();
    for section in file.sections() {
        if let Some(name) = section.name().ok()?.strip_prefix(".text.") {
            let (words, _) = section.data().ok()?.as_chunks::<BYTES>();
            let encoded = |&bytes: &[u8; BYTES]| Encoded { word: u128::from_le_bytes(bytes), processor };
            functions.insert(name.to_owned(), words.iter().map(encoded).collect());
        }
    }
    Some(functions)
}

/// An instruction's bits.
#[derive(Clone, Copy)]
struct Encoded {
    word: u128,
    processor: u32,
}

/// From this processor on, the lowest byte of a branch's distance is separate from the distance's other bits.
const PARTED_DISTANCE: u32 = 90;

/// LDL.
const LOCAL_LOAD: u64 = 0x983;

/// A branch on a uniform predicate.
const UNIFORM_BRANCH: u64 = 0x547;

/// Opcodes without their operand form: FMUL, FADD, FFMA, DMUL, DADD, DFMA, HADD2, HMUL2, IMMA, HMMA, LD, LDG, ST, STG.
/// HFMA2 is not included: ptxas uses it for constants.
const WORK: [u64; 14] =
    [0x020, 0x021, 0x023, 0x028, 0x029, 0x02b, 0x030, 0x032, 0x037, 0x03c, 0x180, 0x181, 0x185, 0x186];

/// The predicate that is always true. The disassembler does not print it.
const ALWAYS: u64 = 7;

impl Encoded {
    fn instruction(self, address: u32) -> Instruction {
        let opcode = self.bits(0, 12);
        let (kind, distance) = match opcode {
            0x918 => (Kind::Nothing, None),
            0x387 | 0x987 | LOCAL_LOAD => (Kind::Local(self.stack_bytes()), None),
            0x388 | 0x988 | 0x984 => (Kind::Shared(self.width()), None),
            0x947 | UNIFORM_BRANCH => (Kind::Branch, Some(self.distance())),
            0x949 | 0x958 => (Kind::IndirectBranch, None),
            0x944 => (Kind::Call, Some(self.distance())),
            0x94d => (Kind::End, None),
            0x950 => (Kind::Return, None),
            0x945 => (Kind::Meeting, Some(self.signed(32, 32))),
            _ if WORK.contains(&(opcode & 0x1ff)) => (Kind::Work, None),
            _ => (Kind::Other, None),
        };
        // A branch may have a condition in addition to its guard.
        let has_condition = kind == Kind::Branch && (opcode == UNIFORM_BRANCH || self.bits(87, 4) != ALWAYS);
        let is_conditional = has_condition || self.bits(12, 4) != ALWAYS;
        let next = i64::from(address) + BYTES as i64;
        let target = distance.and_then(|distance| u32::try_from(next.checked_add(distance)?).ok());
        Instruction { address, kind, is_conditional, target }
    }

    /// Decodes an access of local memory.
    fn local_access(self, row: usize) -> Option<Access> {
        let Kind::Local(bytes) = self.instruction(0).kind else { return None };
        let place = (bytes > 0).then(|| self.signed(40, 24) as u32);
        let is_store = self.bits(0, 12) != LOCAL_LOAD;
        Some(Access { row, is_store, bytes: self.width(), place, is_spill: false })
    }

    /// Returns `count` bits from bit `from`.
    fn bits(self, from: u32, count: u32) -> u64 {
        (self.word >> from) as u64 & ((1 << count) - 1)
    }

    /// Returns `count` bits from bit `from` as a signed number.
    fn signed(self, from: u32, count: u32) -> i64 {
        (self.bits(from, count) << (64 - count)) as i64 >> (64 - count)
    }

    /// Returns the distance from the next instruction to a branch's target, in bytes.
    fn distance(self) -> i64 {
        match self.processor {
            ..PARTED_DISTANCE => self.signed(34, 48) * 4,
            _ => (self.signed(34, 46) * 256 + self.bits(16, 8) as i64) * 4,
        }
    }

    /// Returns the bytes of an access at a fixed offset from the stack pointer; 0 for other addresses. The stack
    /// pointer is R1 without a uniform register.
    fn stack_bytes(self) -> u32 {
        let (base, offset, has_uniform) = (self.bits(24, 8), self.signed(40, 24), self.bits(91, 1) != 0);
        if base != 1 || offset < 0 || has_uniform {
            return 0;
        }
        self.width()
    }

    /// Returns the bytes of a memory access.
    fn width(self) -> u32 {
        match self.bits(73, 3) {
            0 | 1 => 1,
            2 | 3 => 2,
            5 => 8,
            6 => 16,
            _ => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instructions for sm_90 and sm_100: both halves of the encoding, and the disassembler's text.
    #[test]
    fn reads_words() {
        let read = |address: u32, low: u64, high: u64| {
            let word = u128::from(high) << 64 | u128::from(low);
            let one = Encoded { word, processor: 90 }.instruction(address);
            assert_eq!(one.address, address);
            (one.kind, one.is_conditional, one.target)
        };
        let far = 0x000f_ea00_0383_ffff;
        assert_eq!(read(0x100, 0xffff_fffc_00ec_8947, far), (Kind::Branch, true, Some(0xc0)), "@!P0 BRA 0xc0");
        assert_eq!(read(0x100, 0xffff_fffc_00ec_7947, far), (Kind::Branch, false, Some(0xc0)), "BRA 0xc0");
        let condition = read(0x6a0, 0x0000_0000_0078_7947, 0x000f_ea00_0100_0000);
        assert_eq!(condition, (Kind::Branch, true, Some(0x890)), "BRA P2, 0x890");
        let product = read(0x100, 0x0000_0012_1313_7223, 0x004f_e400_0000_001a);
        assert_eq!(product, (Kind::Work, false, None), "FFMA R19, R19, R18, R26");
        let uniform = read(0x100, 0x0000_0001_0894_7547, 0x003f_ea00_0b80_0000);
        assert_eq!(uniform, (Kind::Branch, true, Some(0x360)), "BRA.U !UP0, 0x360");
        let call = read(0x840, 0x0000_0000_00b4_7944, 0x002f_ea00_03c0_0000);
        assert_eq!(call, (Kind::Call, false, Some(0xb20)), "CALL.REL.NOINC 0xb20");
        let back = read(0xee0, 0xffff_fff0_0e44_7950, 0x000f_ea00_03c3_ffff);
        assert_eq!(back, (Kind::Return, false, None), "RET.REL.NODEC R14 0x0");
        let meeting = read(0x50, 0x0000_00c0_0000_7945, 0x000f_ea00_0380_0000);
        assert_eq!(meeting, (Kind::Meeting, false, Some(0x120)), "BSSY B0, 0x120");
        let store = read(0x14c0, 0x0000_0415_0100_7387, 0x0003_e600_0010_0800);
        assert_eq!(store, (Kind::Local(4), false, None), "STL [R1+0x4], R21");
        let elsewhere = read(0x14c0, 0x0000_0415_0200_7387, 0x0003_e600_0010_0800);
        assert_eq!(elsewhere, (Kind::Local(0), false, None), "STL [R2+0x4], R21");
        let uniform = read(0x14c0, 0x0000_0415_0100_7987, 0x0003_e600_0810_0800);
        assert_eq!(uniform, (Kind::Local(0), false, None), "STL [R1+UR0+0x4], R21");
        let shared = read(0x14c0, 0x0000_0415_0100_7388, 0x0003_e600_0010_0800);
        assert_eq!(shared, (Kind::Shared(4), false, None), "STS [R1+0x4], R21");
        let uniform = read(0x14c0, 0x0000_0415_0100_7988, 0x0003_e600_0810_0800);
        assert_eq!(uniform, (Kind::Shared(4), false, None), "STS [R1+UR0+0x4], R21");
    }

    /// Decoded accesses of local memory equal the accesses that are parsed from the disassembler's text.
    #[test]
    fn accesses() {
        let read = |low: u64, high: u64| {
            let word = u128::from(high) << 64 | u128::from(low);
            Encoded { word, processor: 90 }.local_access(7)
        };
        assert_eq!(read(0x0000_0415_0100_7387, 0x0003_e600_0010_0800), Access::of(7, "STL [R1+0x4], R21"));
        assert_eq!(read(0x0000_0415_0200_7387, 0x0003_e600_0010_0800), Access::of(7, "STL [R2+0x4], R21"));
        assert_eq!(read(0x0000_0800_0104_7983, 0x0001_6200_0030_0c00), Access::of(7, "LDL.128 R4, [R1+0x8]"));
        assert_eq!(read(0x0000_0012_1313_7223, 0x004f_e400_0000_001a), None, "FFMA R19, R19, R18, R26");
    }

    /// A file that is no cubin gives `None`, without a panic.
    #[test]
    fn broken_files() {
        assert_eq!(read(b""), None);
        assert_eq!(read(b"\x7fELF\x02\x01\x01"), None);
    }
}
