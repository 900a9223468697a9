//! Attribute sections: `.nv.info` for the file, `.nv.info.NAME` for a kernel.
//!
//! NVIDIA does not document the format. It was derived from the bytes of cubins and the output of `cuobjdump -elf`. An
//! attribute has a byte for its form, a byte for its number, and two more bytes. The two bytes are the value, or the
//! length of the value that follows.

use std::ops::Range;

/// The forms of an attribute: a value of one byte, a value of two bytes, and a length with its bytes.
const BYTE: u8 = 2;
const SHORT: u8 = 3;
const BYTES: u8 = 4;

/// The place of the parameters in the constant bank: a symbol, an offset and a size.
pub const PARAMETER_BANK: u8 = 0x0a;
/// A parameter of a kernel.
pub const PARAMETER: u8 = 0x17;
/// The most threads of a block, by dimension (`maxntid`).
pub const MAX_THREADS: u8 = 0x05;
/// The exact number of threads of a block, by dimension (`reqntid`).
pub const REQUIRED_THREADS: u8 = 0x10;
/// The stack bytes of a function and all its callees.
pub const MIN_STACK_SIZE: u8 = 0x12;

/// Returns the attributes of known forms: each attribute's number, and the position of its value. The list ends at the
/// first truncated attribute.
pub fn attributes(bytes: &[u8]) -> Vec<(u8, Range<usize>)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(&[form, number, low, high]) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let value = match form {
            BYTES => at + 4..at + 4 + usize::from(u16::from_le_bytes([low, high])),
            _ => at + 2..at + 4,
        };
        if value.end > bytes.len() {
            break;
        }
        at = value.end;
        if matches!(form, BYTES | SHORT | BYTE) {
            found.push((number, value));
        }
    }
    found
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameter {
    /// The number.
    pub number: u16,
    /// The offset from the first parameter, in bytes.
    pub offset: u16,
    /// The size in bytes.
    pub bytes: u16,
}

impl Parameter {
    /// Reads the value of an attribute: an index, the number, the offset, and the size in the upper bits of a word.
    pub fn read(value: &[u8]) -> Option<Self> {
        let short = |at: usize| Some(u16::from_le_bytes(*value.get(at..)?.first_chunk()?));
        Some(Self { number: short(4)?, offset: short(6)?, bytes: short(10)? >> 2 })
    }
}

/// Reads the offset and the size, in bytes, of all parameters in their constant bank.
pub fn parameter_bank(value: &[u8]) -> Option<(u32, u32)> {
    let short = |at: usize| Some(u32::from(u16::from_le_bytes(*value.get(at..)?.first_chunk()?)));
    Some((short(4)?, short(6)?))
}

/// Reads the three words of an attribute.
pub fn dimensions(value: &[u8]) -> Option<[u32; 3]> {
    let (words, _) = value.as_chunks::<4>();
    let mut words = words.iter().map(|&bytes| u32::from_le_bytes(bytes));
    Some([words.next()?, words.next()?, words.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attributes of all forms follow each other. A truncated attribute ends the list.
    #[test]
    fn attributes_in_a_row() {
        let bytes = [4, 0x37, 4, 0, 0x82, 0, 0, 0, 3, 0x1b, 0xff, 0, 1, 2, 0, 0, 4, 5, 12, 0, 32, 0];
        assert_eq!(attributes(&bytes), [(0x37, 4..8), (0x1b, 10..12)]);
    }

    /// A parameter of 8 bytes at offset 0x18, as ptxas 13.0 writes it.
    #[test]
    fn parameter() {
        let value = [0, 0, 0, 0, 4, 0, 0x18, 0, 0, 0xf0, 0x21, 0];
        assert_eq!(Parameter::read(&value), Some(Parameter { number: 4, offset: 0x18, bytes: 8 }));
        assert_eq!(Parameter::read(&value[..10]), None);
    }
}
