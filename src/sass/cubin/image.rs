//! Code, constants and variables of a cubin, and what they name each other by.

use std::collections::BTreeMap;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget, SymbolFlags};

use super::attributes::{
    MAX_THREADS, MIN_STACK_SIZE, PARAMETER, PARAMETER_BANK, Parameter, REQUIRED_THREADS, attributes, dimensions,
    parameter_bank,
};

/// A variable or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// The section that it is in; empty where another file defines it.
    pub section: String,
    /// Where it begins in its section.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// A place that holds an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The place, in bytes from the start of its section.
    pub offset: u64,
    /// What is found there.
    pub symbol: usize,
    /// What is added to the symbol's address.
    pub addend: i64,
}

/// A section with its bytes and the addresses in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The bytes; zeros where the file has none.
    pub bytes: Vec<u8>,
    /// The addresses, by place.
    pub relocations: Vec<Relocation>,
}

/// What is said of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Where they begin in the first bank of constants.
    pub parameters_at: u32,
    /// All of their bytes.
    pub parameter_bytes: u32,
    /// The most threads of a block.
    pub largest_block: Option<[u32; 3]>,
    /// The threads of a block.
    pub required_block: Option<[u32; 3]>,
    /// Bytes of stack.
    pub stack: u32,
}

/// A file of machine code.
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

/// The bit of a symbol that makes it a kernel: `STO_CUDA_ENTRY`.
const ENTRY: u8 = 0x10;
/// From this version of the form on, the processor stands in the second byte of the file's flags.
const SECOND_BYTE: u8 = 8;

/// The processor that a file is for: 90 for sm_90.
pub fn processor(file: &object::File<'_>) -> Option<u32> {
    let object::FileFlags::Elf { e_flags, abi_version, .. } = file.flags() else { return None };
    Some(if abi_version >= SECOND_BYTE { e_flags >> 8 & 0xff } else { e_flags & 0xff })
}

impl Cubin {
    /// Reads a file; `None` where it is no cubin.
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

    /// Reads what the file's attributes say of the stacks of kernels.
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

    /// The code of each function, by name.
    pub fn code(&self) -> BTreeMap<String, &[u8]> {
        self.sections
            .iter()
            .filter_map(|(name, section)| Some((name.strip_prefix(".text.")?.to_owned(), section.bytes.as_slice())))
            .collect()
    }

    /// The address that a place of a section holds: a symbol, and what is added to its address.
    pub fn address_at(&self, section: &str, offset: u64) -> Option<(&Symbol, i64)> {
        let section = self.sections.get(section)?;
        let found = section.relocations.binary_search_by_key(&offset, |relocation| relocation.offset).ok()?;
        let relocation = &section.relocations[found];
        Some((self.symbols.get(relocation.symbol)?, relocation.addend))
    }
}

/// The most bytes of a section that the file has none of: more than any kernel's.
const MOST_BYTES: usize = 1 << 28;

fn words(value: &[u8]) -> Option<[u32; 2]> {
    let (words, _) = value.as_chunks::<4>();
    let mut words = words.iter().map(|&bytes| u32::from_le_bytes(bytes));
    Some([words.next()?, words.next()?])
}
