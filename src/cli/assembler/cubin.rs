//! What a cubin says of its kernels: registers, stack, shared memory, instructions. ptxas need not be asked again.
//!
//! The layout of `.nv.info` is that which `nvdisasm` prints: entries of a format, an attribute and a size, and here a
//! symbol's number and a value.

use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolIndex};

use crate::ptxas::{Measured, Real};

/// Values that stand in the file: a size of two bytes, and then so many bytes.
const SIZED: u8 = 0x04;

/// Attributes of a function.
const FRAME_SIZE: u8 = 0x11;
const STACK_SIZE: u8 = 0x12;
const REGISTERS: u8 = 0x2f;

/// The functions of a cubin by name. What ptxas spills does not stand in it, so the bytes spilled are 0. `None` where it is
/// no cubin. O(length).
pub(super) fn read(cubin: &[u8]) -> Option<Measured> {
    let file = ElfFile64::<object::Endianness>::parse(cubin).ok()?;
    let info = file.section_by_name(".nv.info")?.data().ok()?;
    let mut measured = Measured::new();
    for (attribute, symbol, value) in entries(info) {
        let Some(name) = file.symbol_by_index(SymbolIndex(symbol as usize)).ok().and_then(|symbol| symbol.name().ok())
        else {
            continue;
        };
        let real = measured.entry(name.to_owned()).or_default();
        match attribute {
            FRAME_SIZE => real.stack_bytes = value,
            STACK_SIZE => real.total_stack_bytes = value,
            REGISTERS => real.registers = value,
            _ => {}
        }
    }
    for section in file.sections() {
        let Some(name) = section.name().ok().and_then(|name| name.strip_prefix(".nv.shared.")) else { continue };
        if let Some(real) = measured.get_mut(name) {
            real.shared_bytes = u32::try_from(section.size()).unwrap_or(u32::MAX);
        }
    }
    measured.retain(|_, real| *real != Real::default());
    Some(measured)
}

/// The entries that have a symbol and a value: attribute, symbol, value.
fn entries(info: &[u8]) -> impl Iterator<Item = (u8, u32, u32)> {
    let mut rest = info;
    std::iter::from_fn(move || {
        loop {
            let &[format, attribute, low, high, ref after @ ..] = rest else { return None };
            let size = if format == SIZED { usize::from(u16::from_le_bytes([low, high])) } else { 0 };
            let value = after.get(..size)?;
            rest = &after[size..];
            if let (SIZED, Some((symbol, value))) = (format, value.split_first_chunk::<4>())
                && let Ok(number) = value.try_into()
            {
                return Some((attribute, u32::from_le_bytes(*symbol), u32::from_le_bytes(number)));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of two words are read, others are passed over, and a cut one ends the list.
    #[test]
    fn reads_entries() {
        let info = [
            &[4, 0x2f, 8, 0, 7, 0, 0, 0, 255, 0, 0, 0][..],
            &[2, 0x4a, 0, 0],
            &[4, 0x37, 4, 0, 130, 0, 0, 0],
            &[4, 0x11, 8, 0, 7, 0, 0, 0, 192, 9, 0, 0],
            &[4, 0x12, 8, 0, 7, 0],
        ]
        .concat();
        assert_eq!(entries(&info).collect::<Vec<_>>(), [(REGISTERS, 7, 255), (FRAME_SIZE, 7, 2496)]);
    }

    /// What is no cubin is none, and no panic.
    #[test]
    fn broken_files() {
        assert_eq!(read(b""), None);
        assert_eq!(read(b"\x7fELF\x02\x01\x01"), None);
    }
}
