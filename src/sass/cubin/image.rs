//! Code, constants and variables of a cubin, and the symbols and relocations that connect them.

use std::collections::BTreeMap;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget, SymbolFlags};

use super::attributes::{
    MAX_THREADS, MIN_STACK_SIZE, PARAMETER, PARAMETER_BANK, Parameter, REQUIRED_THREADS, attributes, dimensions,
    parameter_bank,
};

/// A symbol: a variable or a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// The section that contains the symbol. Empty if another file defines the symbol.
    pub section: String,
    /// The offset in the section.
    pub offset: u64,
    /// The size in bytes.
    pub bytes: u64,
}

/// A relocation: a place in a section that holds an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The offset of the place in its section, in bytes.
    pub offset: u64,
    /// The symbol, by number.
    pub symbol: usize,
    /// The number that is added to the symbol's address.
    pub addend: i64,
}

/// A section with its bytes and its relocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The bytes. They are zero if the file has no contents for the section.
    pub bytes: Vec<u8>,
    /// The relocations, sorted by offset.
    pub relocations: Vec<Relocation>,
}

/// The attributes of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The offset of the parameters in constant bank 0.
    pub parameters_at: u32,
    /// The size of all parameters in bytes.
    pub parameter_bytes: u32,
    /// The most threads of a block, by dimension.
    pub largest_block: Option<[u32; 3]>,
    /// The exact number of threads of a block, by dimension.
    pub required_block: Option<[u32; 3]>,
    /// The stack size in bytes.
    pub stack: u32,
}

/// A cubin, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cubin {
    /// The processor: 90 for sm_90.
    pub processor: u32,
    /// The sections, by name.
    pub sections: BTreeMap<String, Section>,
    /// The symbols, by number.
    pub symbols: Vec<Symbol>,
    /// The kernels, by name.
    pub kernels: BTreeMap<String, Kernel>,
}

/// The bit of a symbol that marks a kernel: `STO_CUDA_ENTRY`.
const ENTRY: u8 = 0x10;
/// The first ELF ABI version with the processor in the second byte of the file's flags.
const SECOND_BYTE: u8 = 8;

/// Returns the processor that a file is for: 90 for sm_90.
pub fn processor(file: &object::File<'_>) -> Option<u32> {
    let object::FileFlags::Elf { e_flags, abi_version, .. } = file.flags() else { return None };
    Some(if abi_version >= SECOND_BYTE { e_flags >> 8 & 0xff } else { e_flags & 0xff })
}

impl Cubin {
    /// Reads a file. `None` if the file is not a cubin.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        let mut cubin = Self { processor: processor(&file)?, ..Self::default() };
        let mut names = Vec::new();
        for section in file.sections() {
            let name = section.name().ok()?.to_owned();
            let mut bytes = section.data().ok()?.to_vec();
            if bytes.is_empty() && name.starts_with(".nv.") {
                bytes = vec![0; usize::try_from(section.size()).ok().filter(|&size| size < MOST_BYTES)?];
            }
            let mut relocations: Vec<Relocation> = Vec::new();
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
                let mut addend = relocation.addend();
                if relocation.has_implicit_addend() {
                    let place = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)?.first_chunk::<8>());
                    addend = place.map_or(0, |word| i64::from_le_bytes(*word));
                }
                relocations.push(Relocation { offset, symbol: symbol.0, addend });
            }
            relocations.sort_by_key(|relocation| relocation.offset);
            names.push((section.index(), name.clone()));
            cubin.sections.insert(name, Section { bytes, relocations });
        }
        for symbol in file.symbols() {
            let number = symbol.index().0;
            let section = symbol.section_index().and_then(|index| names.iter().find(|known| known.0 == index));
            let section = section.map_or_else(String::new, |known| known.1.clone());
            let name = symbol.name().ok()?.to_owned();
            if let SymbolFlags::Elf { st_other, .. } = symbol.flags()
                && st_other & ENTRY != 0
                && section.starts_with(".text.")
            {
                cubin.kernels.insert(name.clone(), Kernel::default());
            }
            let nobody = Symbol { name: String::new(), section: String::new(), offset: 0, bytes: 0 };
            if cubin.symbols.len() <= number {
                cubin.symbols.resize(number + 1, nobody);
            }
            cubin.symbols[number] = Symbol { name, section, offset: symbol.address(), bytes: symbol.size() };
        }
        for (name, kernel) in &mut cubin.kernels {
            let info = cubin.sections.get(&format!(".nv.info.{name}")).map_or(&[][..], |section| &section.bytes);
            for (attribute, value) in attributes(info) {
                let value = &info[value];
                match attribute {
                    PARAMETER => kernel.parameters.extend(Parameter::read(value)),
                    PARAMETER_BANK => {
                        (kernel.parameters_at, kernel.parameter_bytes) = parameter_bank(value).unwrap_or_default();
                    }
                    MAX_THREADS => kernel.largest_block = dimensions(value),
                    REQUIRED_THREADS => kernel.required_block = dimensions(value),
                    _ => {}
                }
            }
            kernel.parameters.sort_unstable();
        }
        cubin.read_stacks();
        Some(cubin)
    }

    /// Reads the stack sizes of kernels from the file's attributes.
    fn read_stacks(&mut self) {
        let info = self.sections.get(".nv.info").map_or(&[][..], |section| &section.bytes);
        for (attribute, value) in attributes(info) {
            let value = &info[value];
            if let (MIN_STACK_SIZE, Some([index, bytes])) = (attribute, words(value))
                && let Some(symbol) = self.symbols.get(index as usize)
                && let Some(kernel) = self.kernels.get_mut(&symbol.name)
            {
                kernel.stack = bytes;
            }
        }
    }

    /// Returns the code of each function, by name.
    pub fn code(&self) -> BTreeMap<String, &[u8]> {
        self.sections
            .iter()
            .filter_map(|(name, section)| Some((name.strip_prefix(".text.")?.to_owned(), section.bytes.as_slice())))
            .collect()
    }

    /// Returns the address that a place of a section holds: a symbol and an addend.
    pub fn address_at(&self, section: &str, offset: u64) -> Option<(&Symbol, i64)> {
        let section = self.sections.get(section)?;
        let found = section.relocations.binary_search_by_key(&offset, |relocation| relocation.offset).ok()?;
        let relocation = &section.relocations[found];
        Some((self.symbols.get(relocation.symbol)?, relocation.addend))
    }
}

/// The limit in bytes for a section without contents in the file. No kernel has a larger section.
const MOST_BYTES: usize = 1 << 28;

fn words(value: &[u8]) -> Option<[u32; 2]> {
    let (words, _) = value.as_chunks::<4>();
    let mut words = words.iter().map(|&bytes| u32::from_le_bytes(bytes));
    Some([words.next()?, words.next()?])
}
