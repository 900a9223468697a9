//! The attributes of a cubin's functions: registers, stack, bounds and shared memory.

use std::collections::BTreeMap;
use std::ops::Range;

use nvptx_ra::sass::cubin::attributes::{MAX_THREADS, MIN_STACK_SIZE, REQUIRED_THREADS, attributes};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionFlags, SymbolFlags, SymbolKind};

/// The attributes of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Number of its symbol.
    pub(crate) symbol: Option<usize>,
    /// Bytes of its code.
    pub(crate) bytes: usize,
    /// Whether it is a kernel.
    pub(crate) is_kernel: bool,
    /// General registers of a thread.
    pub(crate) registers: Option<u32>,
    /// Bytes of its own stack frame.
    pub(crate) frame: Option<u32>,
    /// Bytes of stack with all callees, as far as the callees are known.
    pub(crate) stack: Option<u32>,
    /// Bytes of stack for a function that is linked later.
    pub(crate) most_stack: Option<u32>,
    /// Barriers of a block: the highest used barrier number, plus one.
    pub(crate) barriers: u32,
    /// Product of a block's dimensions: the maximum number of threads, or the exact number.
    pub(crate) threads: Option<u32>,
    /// Register limit; `None` if it is the most that any thread can have.
    pub(crate) max_registers: Option<u32>,
    /// Bytes of static shared memory of a block, without the bytes that the processor reserves.
    pub(crate) shared: u32,
    /// The release of CUDA that compiled the function, times ten: 130 for 13.0.
    pub(crate) release: Option<u32>,
    /// The byte ranges of the functions inside its code.
    pub(crate) functions: Vec<Range<u32>>,
    /// The sorted offsets of local memory accesses that ptxas marks as spills.
    pub(crate) spill_marks: Vec<u32>,
}

/// Numbers of attributes.
const FRAME_SIZE: u8 = 0x11;
const MAX_REGISTERS: u8 = 0x1b;
const MAX_STACK_SIZE: u8 = 0x23;
const REGISTERS: u8 = 0x2f;
const RELEASE: u8 = 0x37;
const BARRIERS: u8 = 0x4c;
/// The number of the attribute with annotations: pairs of a kind and an instruction's offset.
const ANNOTATIONS: u8 = 0x55;
/// The kind of annotation that marks a spill's access: `SpillRefill`.
const SPILL: u32 = 1;
/// The register limit that means no limit.
const NO_LIMIT: u32 = 255;
/// The bit of a symbol that marks a kernel: `STO_CUDA_ENTRY`.
const ENTRY: u8 = 0x10;
/// A file has this section if its kernels' shared memory begins with bytes that the processor reserves.
const RESERVED: &str = ".nv.shared.reserved.0";
/// Bytes that the processor reserves. An SM reserves them for each block in addition to the kernel's own bytes.
const RESERVED_BYTES: u64 = 1024;
/// The bits of a code section's flags that contain the number of barriers, if no attribute contains it.
const SECTION_BARRIERS: u64 = 0x07f0_0000;

/// Reads the attributes of each function with code, by name; `None` if the file is no cubin or is truncated.
pub(crate) fn facts(cubin: &[u8]) -> Option<BTreeMap<String, Facts>> {
    let file = object::File::parse(cubin).ok()?;
    let reserved = file.section_by_name(RESERVED).map_or(0, |_| RESERVED_BYTES);
    let mut facts: BTreeMap<String, Facts> = BTreeMap::new();
    for section in file.sections() {
        if let Some(name) = section.name().ok()?.strip_prefix(".text.") {
            let SectionFlags::Elf { sh_flags } = section.flags() else { return None };
            let fact = facts.entry(name.to_owned()).or_default();
            fact.bytes = section.data().ok()?.len();
            fact.barriers = ((sh_flags & SECTION_BARRIERS) >> SECTION_BARRIERS.trailing_zeros()) as u32;
        }
    }
    for symbol in file.symbols() {
        if let (Ok(name), SymbolFlags::Elf { st_other, .. }) = (symbol.name(), symbol.flags())
            && let Some(fact) = facts.get_mut(name)
        {
            fact.is_kernel |= st_other & ENTRY != 0;
            fact.symbol = Some(symbol.index().0);
        } else if symbol.kind() == SymbolKind::Text
            && let Some(section) = symbol.section_index().and_then(|index| file.section_by_index(index).ok())
            && let Some(fact) = section.name().ok().and_then(|name| facts.get_mut(name.strip_prefix(".text.")?))
        {
            let end = symbol.address().saturating_add(symbol.size());
            fact.functions.push(symbol.address() as u32..end as u32);
        }
    }
    for section in file.sections() {
        let name = section.name().ok()?;
        if name == ".nv.info" {
            let bytes = section.data().ok()?;
            for (attribute, value) in attributes(bytes) {
                let value = &bytes[value];
                let [index, number] = value.first_chunk::<8>().map(halves).unwrap_or_default();
                let symbol = file.symbol_by_index(object::SymbolIndex(index as usize)).ok();
                // A function that is local to the file may have no symbol name of its own: then the symbol has its
                // section's name.
                let name = symbol.and_then(|symbol| symbol.name().ok());
                let name = name.map(|name| name.strip_prefix(".text.").unwrap_or(name));
                let of = name.and_then(|name| facts.get_mut(name));
                let (Some(of), 8) = (of, value.len()) else { continue };
                match attribute {
                    REGISTERS => of.registers = Some(number),
                    FRAME_SIZE => of.frame = Some(number),
                    MIN_STACK_SIZE => of.stack = Some(number),
                    MAX_STACK_SIZE => of.most_stack = Some(number),
                    _ => {}
                }
            }
        } else if let Some(of) = name.strip_prefix(".nv.info.").and_then(|name| facts.get_mut(name)) {
            let bytes = section.data().ok()?;
            for (attribute, value) in attributes(bytes) {
                let value = &bytes[value];
                match attribute {
                    MAX_THREADS | REQUIRED_THREADS => of.threads = product(value).or(of.threads),
                    MAX_REGISTERS => {
                        let limit = value.first_chunk::<2>().map(|&bytes| u16::from_le_bytes(bytes).into());
                        of.max_registers = limit.filter(|&limit| limit != 0 && limit < NO_LIMIT);
                    }
                    RELEASE => of.release = value.first_chunk::<4>().map(|&bytes| u32::from_le_bytes(bytes)),
                    ANNOTATIONS => of.spill_marks = spill_marks(value),
                    BARRIERS => of.barriers = value.first().copied().unwrap_or_default().into(),
                    _ => {}
                }
            }
        } else if let Some(of) = name.strip_prefix(".nv.shared.").and_then(|name| facts.get_mut(name)) {
            of.shared = section.size().saturating_sub(reserved) as u32;
        }
    }
    Some(facts)
}

/// Returns the same file with one register fewer for functions that have all registers; `None` if there is no such
/// function.
///
/// CUDA 12.8's nvdisasm, which Triton 3.4 to 3.6 bundle, prints no table of registers for such functions: "Invalid
/// register count : '255'". ptxas reserves two of the 255 registers, so no code uses the last one.
pub(crate) fn with_fewer_registers(cubin: &[u8]) -> Option<Vec<u8>> {
    let file = object::File::parse(cubin).ok()?;
    let section = file.section_by_name(".nv.info")?;
    let (start, _) = section.file_range()?;
    let mut changed = None;
    for (_, value) in attributes(section.data().ok()?).into_iter().filter(|(attribute, _)| *attribute == REGISTERS) {
        let number = usize::try_from(start).ok()? + value.start + 4;
        if value.len() == 8 && cubin.get(number..number + 4) == Some(&NO_LIMIT.to_le_bytes()) {
            changed.get_or_insert_with(|| cubin.to_vec())[number..number + 4]
                .copy_from_slice(&(NO_LIMIT - 1).to_le_bytes());
        }
    }
    changed
}

fn halves(bytes: &[u8; 8]) -> [u32; 2] {
    let word = u64::from_le_bytes(*bytes);
    [word as u32, (word >> 32) as u32]
}

/// Returns the offsets of the instructions that annotations mark as spills.
fn spill_marks(value: &[u8]) -> Vec<u32> {
    let (pairs, _) = value.as_chunks::<8>();
    let marked = pairs.iter().map(halves).filter(|&[kind, _]| kind == SPILL).map(|[_, offset]| offset);
    let mut offsets: Vec<u32> = marked.collect();
    offsets.sort_unstable();
    offsets
}

/// Returns the product of three dimensions; `None` if it is not a valid number of threads.
fn product(value: &[u8]) -> Option<u32> {
    let (dimensions, _) = value.as_chunks::<4>();
    let threads =
        dimensions.iter().take(3).try_fold(1u32, |product, &bytes| product.checked_mul(u32::from_le_bytes(bytes)));
    threads.filter(|&threads| threads > 0 && dimensions.len() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exactly three dimensions are multiplied.
    #[test]
    fn products() {
        let dimensions: Vec<u8> = [32u32, 4, 2].into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!((product(&dimensions), product(&[0; 12]), product(&dimensions[..8])), (Some(256), None, None));
    }

    /// Makes a file with a kernel of 16 bytes, whose section table is `off` bytes off its alignment.
    fn file(off: usize) -> Vec<u8> {
        let names = b"\0.text.k\0.shstrtab\0";
        let mut bytes = b"\x7fELF\x02\x01\x01\x33".to_vec();
        bytes.resize(16, 0);
        let code = 64..80;
        let strings = code.end..code.end + names.len();
        let table = strings.end.next_multiple_of(8) + off;
        let halves = |values: &[u16]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        bytes.extend(halves(&[2, 190, 1, 0]));
        bytes.extend([0, 0, table as u64].iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(halves(&[0, 0, 64, 0, 0, 64, 3, 2]));
        bytes.resize(code.end, 0);
        bytes.extend(names);
        bytes.resize(table, 0);
        for (name, kind, place) in [(0u32, 0u32, 0..0), (1, 1, code), (9, 3, strings)] {
            bytes.extend([name, kind].iter().flat_map(|value| value.to_le_bytes()));
            let words = [0, 0, place.start as u64, place.len() as u64, 0, 1, 0];
            bytes.extend(words.iter().flat_map(|value| value.to_le_bytes()));
        }
        bytes
    }

    /// The parts of a file may begin at any offset, as in files of CUDA 13.5's ptxas.
    #[test]
    fn nothing_is_aligned() {
        for off in 0..8 {
            let facts = facts(&file(off)).unwrap_or_else(|| panic!("{off} bytes off, it is no file"));
            assert_eq!(facts.iter().map(|(name, facts)| (name.as_str(), facts.bytes)).collect::<Vec<_>>(), [("k", 16)]);
        }
    }

    /// Annotations of another kind, and an incomplete pair, mark no spill.
    #[test]
    fn marks_of_spills() {
        let bytes: Vec<u8> = [1u32, 0x310, 2, 0x320, 1, 0x270, 1].into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(spill_marks(&bytes), [0x270, 0x310]);
    }

    /// A file that is no cubin has no attributes, and no input causes a panic.
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
            let _ = with_fewer_registers(&head);
            Ok(())
        });
    }
}
