//! What a cubin says of its functions beside their code: registers, stack, bounds and shared memory.
//!
//! ptxas writes these into sections of attributes, `.nv.info` for the file and `.nv.info.NAME` for a kernel. NVIDIA
//! documents no form; it was found by comparing bytes with what the disassembler prints of them.

use std::collections::BTreeMap;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolFlags};

/// What is said of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its symbol's number.
    pub(crate) symbol: Option<usize>,
    /// Bytes of its code.
    pub(crate) bytes: usize,
    /// Whether it is a kernel.
    pub(crate) is_kernel: bool,
    /// General registers of a thread.
    pub(crate) registers: Option<u32>,
    /// Bytes of stack of its own.
    pub(crate) frame: Option<u32>,
    /// Bytes of stack with all that it calls, as far as that is known.
    pub(crate) stack: Option<u32>,
    /// Threads of a block, the product of its dimensions: those that there are at most, or always.
    pub(crate) threads: Option<u32>,
    /// The most registers that it may have; not where that is what a thread can have at most.
    pub(crate) max_registers: Option<u32>,
    /// Bytes of static shared memory of a block.
    pub(crate) shared: u32,
}

/// An attribute's forms: a number of two bytes in the place of a length, and bytes of a length.
const SHORT: u8 = 3;
const BYTES: u8 = 4;
/// Attributes by their numbers.
const MAX_THREADS: u8 = 0x05;
const REQUIRED_THREADS: u8 = 0x10;
const FRAME_SIZE: u8 = 0x11;
const MIN_STACK_SIZE: u8 = 0x12;
const MAX_REGISTERS: u8 = 0x1b;
const REGISTERS: u8 = 0x2f;
/// What stands for no limit.
const NO_LIMIT: u32 = 255;
/// The bit of a symbol that makes it a kernel: `STO_CUDA_ENTRY`.
const ENTRY: u8 = 0x10;

/// What is said of each function that has code, by its name; `None` where it is no file of that form, or cut.
pub(crate) fn facts(cubin: &[u8]) -> Option<BTreeMap<String, Facts>> {
    let file = object::File::parse(cubin).ok()?;
    let mut facts: BTreeMap<String, Facts> = BTreeMap::new();
    for section in file.sections() {
        if let Some(name) = section.name().ok()?.strip_prefix(".text.") {
            facts.entry(name.to_owned()).or_default().bytes = section.data().ok()?.len();
        }
    }
    for symbol in file.symbols() {
        if let (Ok(name), SymbolFlags::Elf { st_other, .. }) = (symbol.name(), symbol.flags())
            && let Some(fact) = facts.get_mut(name)
        {
            fact.is_kernel |= st_other & ENTRY != 0;
            fact.symbol = Some(symbol.index().0);
        }
    }
    for section in file.sections() {
        let name = section.name().ok()?;
        if name == ".nv.info" {
            for (attribute, value) in attributes(section.data().ok()?) {
                let [index, number] = value[..].first_chunk::<8>().map(halves).unwrap_or_default();
                let symbol = file.symbol_by_index(object::SymbolIndex(index as usize)).ok();
                let of = symbol.and_then(|symbol| facts.get_mut(symbol.name().ok()?));
                let (Some(of), 8) = (of, value.len()) else { continue };
                match attribute {
                    REGISTERS => of.registers = Some(number),
                    FRAME_SIZE => of.frame = Some(number),
                    MIN_STACK_SIZE => of.stack = Some(number),
                    _ => {}
                }
            }
        } else if let Some(of) = name.strip_prefix(".nv.info.").and_then(|name| facts.get_mut(name)) {
            for (attribute, value) in attributes(section.data().ok()?) {
                match attribute {
                    MAX_THREADS | REQUIRED_THREADS => of.threads = product(&value).or(of.threads),
                    MAX_REGISTERS => {
                        let limit = value.first_chunk::<2>().map(|&bytes| u16::from_le_bytes(bytes).into());
                        of.max_registers = limit.filter(|&limit| limit != 0 && limit < NO_LIMIT);
                    }
                    _ => {}
                }
            }
        } else if let Some(of) = name.strip_prefix(".nv.shared.").and_then(|name| facts.get_mut(name)) {
            of.shared = section.size() as u32;
        }
    }
    Some(facts)
}

fn halves(bytes: &[u8; 8]) -> [u32; 2] {
    let word = u64::from_le_bytes(*bytes);
    [word as u32, (word >> 32) as u32]
}

/// The product of three dimensions; `None` where it is no number of threads.
fn product(value: &[u8]) -> Option<u32> {
    let (dimensions, _) = value.as_chunks::<4>();
    let threads =
        dimensions.iter().take(3).try_fold(1u32, |product, &bytes| product.checked_mul(u32::from_le_bytes(bytes)));
    threads.filter(|&threads| threads > 0 && dimensions.len() >= 3)
}

/// The attributes of a section as far as they can be read: their numbers, and their values.
fn attributes(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut found = Vec::new();
    while let Some((&[form, number, low, high], rest)) = bytes.split_first_chunk::<4>() {
        let length = usize::from(u16::from_le_bytes([low, high]));
        match form {
            BYTES => {
                let Some((value, behind)) = rest.split_at_checked(length) else { break };
                found.push((number, value.to_vec()));
                bytes = behind;
            }
            _ => {
                if form == SHORT {
                    found.push((number, vec![low, high]));
                }
                bytes = rest;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attributes of all forms stand in a row; one that is cut ends them.
    #[test]
    fn attributes_in_a_row() {
        let bytes = [4, 0x37, 4, 0, 0x82, 0, 0, 0, 3, 0x1b, 0xff, 0, 1, 2, 0, 0, 4, 5, 12, 0, 32, 0];
        assert_eq!(attributes(&bytes), [(0x37, vec![0x82, 0, 0, 0]), (0x1b, vec![0xff, 0])]);
        let dimensions: Vec<u8> = [32u32, 4, 2].into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!((product(&dimensions), product(&[0; 12]), product(&dimensions[..8])), (Some(256), None, None));
    }

    /// What is no cubin says nothing, and no bytes make a panic.
    #[test]
    fn damaged_files() {
        assert_eq!(facts(b""), None);
        assert_eq!(facts(b"\x7fELF\x02\x01\x01"), None);
        arbtest::arbtest(|u| {
            let bytes: Vec<u8> = u.arbitrary()?;
            let _ = attributes(&bytes);
            let mut head = b"\x7fELF\x02\x01\x01\x33".to_vec();
            head.extend(bytes);
            let _ = facts(&head);
            Ok(())
        });
    }
}
