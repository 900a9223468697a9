//! The interface of a relocatable object to the linker: symbols, relocations, calls, prototypes, data, and each
//! function's resources.
//!
//! Objects for Blackwell have a second form of the code with its own tables, whose names have a prefix (`.nv.merc.`).
//! These tables are read, too. NVIDIA documents neither form; both were derived by comparing bytes with cuobjdump's
//! output.

use std::collections::{BTreeMap, BTreeSet};

use nvptx_ra::tune::relocatable::{Footprint, Function, Relocatable};
use object::elf::{self, FileHeader64, SHT_NOBITS, SHT_REL, SHT_RELA, SHT_SYMTAB, STB_LOCAL, STT_FUNC, STT_SECTION};
use object::read::elf::{FileHeader as _, SectionHeader as _, SectionTable};
use object::{LittleEndian as Little, SectionIndex};

use super::cubin;

/// Replaces a position in code, because the position depends on the order of instructions.
const PLACE: &str = "a place";
/// Relocation tables of the second form of the code.
const SHT_MERCURY_RELA: u32 = 0x7000_0082;
/// Symbol tables of the second form.
const SHT_MERCURY_SYMTAB: u32 = 0x7000_0085;
/// Section types that have a size but no bytes in the file: global, local and shared memory.
const WITHOUT_BYTES: [u32; 4] = [SHT_NOBITS, 0x7000_0007, 0x7000_0009, 0x7000_000a];
/// The section with the PTX for debuggers; its name ends with a digest of the PTX.
const SOURCE_TEXT: &str = ".nv_debug_ptx_txt";
/// Each part of the call graph begins with an entry of symbol 0 and a mark. Marks are at least this value.
const FIRST_MARK: u32 = 0xffff_fff0;
const DIRECT_CALLS: u32 = u32::MAX;
const INDIRECT_CALLS: u32 = u32::MAX - 2;

/// Reads the interface of an object; `None` if the file is no object or is truncated.
pub(crate) fn read(object: &[u8]) -> Option<Relocatable> {
    let header = FileHeader64::<Little>::parse(object).ok()?;
    let sections = header.sections(Little, object).ok()?;
    let file = Elf { bytes: object, sections };
    let mut read = Relocatable::default();
    let mut calls = Calls::default();
    for number in 1..file.sections.len() {
        for line in file.lines(SectionIndex(number), &mut calls)? {
            *read.interface.entry(line).or_default() += 1;
        }
    }
    for (name, facts) in cubin::facts(object)? {
        let footprint = Footprint {
            registers: facts.registers?,
            barriers: facts.barriers,
            frame: facts.frame?,
            stack: facts.stack.into_iter().chain(facts.most_stack).max()?,
        };
        let bounds = format!("bounds of {name}: {:?} {:?} {}", facts.threads, facts.max_registers, facts.shared);
        *read.interface.entry(bounds).or_default() += 1;
        let calls_elsewhere = calls.leave(&name);
        read.functions.insert(name, Function { is_kernel: facts.is_kernel, calls_elsewhere, footprint });
    }
    Some(read)
}

/// The call graph.
#[derive(Default)]
struct Calls {
    callees: BTreeMap<String, BTreeSet<String>>,
    /// Functions that call functions of other files, or addresses that are only known at run time.
    leaving: BTreeSet<String>,
}

impl Calls {
    /// Returns whether a function calls a function outside the file, directly or indirectly. O(calls).
    fn leave(&self, name: &str) -> bool {
        let (mut seen, mut waiting) = (BTreeSet::from([name]), vec![name]);
        while let Some(name) = waiting.pop() {
            if self.leaving.contains(name) {
                return true;
            }
            let callees = self.callees.get(name).into_iter().flatten();
            waiting.extend(callees.map(String::as_str).filter(|callee| seen.insert(callee)));
        }
        false
    }
}

/// An ELF file with its sections.
struct Elf<'a> {
    bytes: &'a [u8],
    sections: SectionTable<'a, FileHeader64<Little>>,
}

/// A symbol of a table.
struct Symbol {
    /// Its own name, or the name of its section.
    name: String,
    kind: u8,
    binding: u8,
    /// Its visibility, and NVIDIA's additional bits.
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

impl Symbol {
    /// Returns whether the symbol is in code of the file. Then an addend is a position in code.
    fn is_code(&self) -> bool {
        self.section != 0 && (self.kind == STT_FUNC || function_of(&self.name).is_some() || is_debug(&self.name))
    }
}

/// Returns the function whose code is in a section.
fn function_of(section: &str) -> Option<&str> {
    section.split_once(".text.").map(|(_, name)| name)
}

/// Returns whether a section has debug information.
fn is_debug(section: &str) -> bool {
    section.contains(".debug_") || section.contains(".nv_debug_")
}

impl<'a> Elf<'a> {
    fn name(&self, index: SectionIndex) -> Option<&'a str> {
        let section = self.sections.section(index).ok()?;
        let name = std::str::from_utf8(self.sections.section_name(Little, section).ok()?).ok()?;
        Some(if name.starts_with(SOURCE_TEXT) { SOURCE_TEXT } else { name })
    }

    fn data(&self, index: SectionIndex) -> Option<&'a [u8]> {
        self.sections.section(index).ok()?.data(Little, self.bytes).ok()
    }

    /// Formats a section as the linker sees it, one line for each entry.
    fn lines(&self, index: SectionIndex, calls: &mut Calls) -> Option<Vec<String>> {
        let section = self.sections.section(index).ok()?;
        let (name, kind) = (self.name(index)?, section.sh_type(Little));
        Some(match kind {
            SHT_SYMTAB | SHT_MERCURY_SYMTAB => {
                let count = self.data(index)?.len() / SYMBOL_BYTES;
                let symbols = (1..count).map(|number| self.symbol(index, number as u32));
                symbols.map(|symbol| self.line_of_symbol(name, &symbol?)).collect::<Option<_>>()?
            }
            SHT_RELA | SHT_REL | SHT_MERCURY_RELA => self.relocations(index)?,
            _ if name.ends_with("nv.callgraph") => self.calls(index, calls)?,
            _ if name.ends_with("nv.prototype") => {
                let entries = entries(self.data(index)?);
                let line = |[symbol, text]: [u32; 2]| {
                    let symbol = self.symbol(self.link(index)?, symbol)?;
                    Some(format!("{name} {} {}", symbol.name, self.string(index, text)?))
                };
                entries.into_iter().map(line).collect::<Option<_>>()?
            }
            _ if is_data(name) => {
                let size = section.sh_size(Little);
                let digest = if WITHOUT_BYTES.contains(&kind) { None } else { Some(blake3::hash(self.data(index)?)) };
                vec![format!("{name} {size} {}", digest.map(|digest| digest.to_string()).unwrap_or_default())]
            }
            _ => Vec::new(),
        })
    }

    /// Returns the section that another section links to: a symbol table, or its string table.
    fn link(&self, index: SectionIndex) -> Option<SectionIndex> {
        Some(self.sections.section(index).ok()?.link(Little))
    }

    /// Returns the string at an offset in the string table of the symbols.
    fn string(&self, index: SectionIndex, at: u32) -> Option<&'a str> {
        let symbols = self.link(index)?;
        let names = self.data(self.link(symbols)?)?;
        let text = names.get(at as usize..)?.split(|&byte| byte == 0).next()?;
        std::str::from_utf8(text).ok()
    }

    /// Returns a symbol by its table and number.
    fn symbol(&self, table: SectionIndex, number: u32) -> Option<Symbol> {
        let at = (number as usize).checked_mul(SYMBOL_BYTES)?;
        let bytes = self.data(table)?.get(at..at.checked_add(SYMBOL_BYTES)?)?;
        let half = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let section = half(6)?;
        let (kind, binding) = (bytes[4] & 0xf, bytes[4] >> 4);
        let own = u32::from_le_bytes(*bytes.first_chunk()?);
        let names = self.data(self.link(table)?)?.get(own as usize..)?;
        let own = std::str::from_utf8(names.split(|&byte| byte == 0).next()?).ok()?;
        let is_section = kind == STT_SECTION && section != 0 && section < elf::SHN_LORESERVE;
        let name = if is_section { self.name(SectionIndex(section.into()))? } else { own };
        let name = if binding == STB_LOCAL { without_count(name) } else { name };
        let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let (other, value, size) = (bytes[5], word(8)?, word(16)?);
        Some(Symbol { name: name.to_owned(), kind, binding, other, section, value, size })
    }

    /// Formats a symbol as the linker sees it, without position and size for code.
    fn line_of_symbol(&self, table: &str, symbol: &Symbol) -> Option<String> {
        let Symbol { name, kind, binding, other, section, value, size } = symbol;
        let reserved = *section == 0 || *section >= elf::SHN_LORESERVE;
        let within =
            if reserved { section.to_string() } else { self.name(SectionIndex((*section).into()))?.to_owned() };
        let place = if symbol.is_code() { PLACE.to_owned() } else { format!("{value}+{size}") };
        Some(format!("{table} {name} kind {kind} binding {binding} other {other} in {within} at {place}"))
    }

    fn relocations(&self, index: SectionIndex) -> Option<Vec<String>> {
        let (name, kind) = (self.name(index)?, self.sections.section(index).ok()?.sh_type(Little));
        let has_addend = kind != SHT_REL;
        let length = if has_addend { 24 } else { 16 };
        let line = |bytes: &[u8]| {
            let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
            let information = word(8)?;
            let (symbol, kind) = (self.symbol(self.link(index)?, (information >> 32) as u32)?, information as u32);
            let addend = if has_addend { word(16)? } else { 0 };
            let addend = if symbol.is_code() && addend != 0 { PLACE.to_owned() } else { addend.to_string() };
            Some(format!("{name} of kind {kind} to {}+{addend}", symbol.name))
        };
        self.data(index)?.chunks_exact(length).map(line).collect()
    }

    /// Reads the call graph. Its first part has callers and callees; in other parts, a string describes the callee.
    fn calls(&self, index: SectionIndex, calls: &mut Calls) -> Option<Vec<String>> {
        let (name, table) = (self.name(index)?, self.link(index)?);
        let mut part = DIRECT_CALLS;
        let mut lines = Vec::new();
        for [first, second] in entries(self.data(index)?) {
            if first == 0 && second >= FIRST_MARK {
                part = second;
                continue;
            }
            let symbol = self.symbol(table, first)?;
            let function = function_of(&symbol.name).unwrap_or(&symbol.name).to_owned();
            let of = if part == DIRECT_CALLS {
                let callee = self.symbol(table, second)?;
                if callee.section == 0 {
                    calls.leaving.insert(function.clone());
                }
                let name = function_of(&callee.name).unwrap_or(&callee.name).to_owned();
                calls.callees.entry(function.clone()).or_default().insert(name.clone());
                name
            } else {
                if part == INDIRECT_CALLS {
                    calls.leaving.insert(function.clone());
                }
                self.string(index, second)?.to_owned()
            };
            lines.push(format!("{name} {} {function} {of}", part as i32));
        }
        Some(lines)
    }
}

/// Removes ptxas's number from the name of a function-local variable: `$___ZZ4stepE5plane__32`. The number counts
/// declarations, registers included, and the name is local to the file.
fn without_count(name: &str) -> &str {
    let rest = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if name.starts_with('$') && rest.len() < name.len() { rest.strip_suffix("__").unwrap_or(name) } else { name }
}

/// Bytes of a symbol.
const SYMBOL_BYTES: usize = 24;

/// Returns pairs of numbers.
fn entries(bytes: &[u8]) -> Vec<[u32; 2]> {
    let (pairs, _) = bytes.as_chunks::<8>();
    let halves = |pair: &[u8; 8]| {
        let word = u64::from_le_bytes(*pair);
        [word as u32, (word >> 32) as u32]
    };
    pairs.iter().map(halves).collect()
}

/// Returns whether a section has variables of the PTX: ptxas makes `.nv.constant2` and higher itself.
fn is_data(name: &str) -> bool {
    [".nv.global", ".nv.shared", ".nv.constant0", ".nv.constant3"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptxas_wrapper::cuda;

    /// A function calls code outside the file if a callee does, but not merely because it is recursive.
    #[test]
    fn leaving_calls() {
        let of = |pairs: &[(&str, &str)]| {
            let mut calls = Calls { leaving: BTreeSet::from(["out".into()]), ..Calls::default() };
            for (caller, callee) in pairs {
                calls.callees.entry((*caller).into()).or_default().insert((*callee).into());
            }
            calls
        };
        let calls = of(&[("k", "f"), ("f", "f"), ("f", "g"), ("g", "f"), ("j", "g"), ("j", "h"), ("h", "out")]);
        assert_eq!(
            ["k", "f", "j", "h", "out", "unheard"].map(|name| calls.leave(name)),
            [false, false, true, true, true, false]
        );
    }

    /// The number after the name of a function-local variable is removed, and all other names stay complete.
    #[test]
    fn names_of_local_variables() {
        for (name, expected) in [
            ("$___ZZ4stepE5plane__32", "$___ZZ4stepE5plane"),
            ("$str", "$str"),
            ("$str_1", "$str_1"),
            ("tile__3", "tile__3"),
            ("$__internal_0_$__cuda_sm20_div", "$__internal_0_$__cuda_sm20_div"),
        ] {
            assert_eq!(without_count(name), expected);
        }
    }

    /// The interface of ptxas's object with two kernels and a function that is local to the file.
    #[test]
    fn footprints() {
        let Some(bin) = cuda::programs(&["ptxas"]) else { return };
        let folder = tempfile::tempdir().expect("there is space");
        let path = |name: &str| folder.path().join(name);
        let kernel = |name: &str, callee: &str| {
            format!(
                ".visible .entry {name}(.param .u64 p)\n{{\n\tbar.sync 9;\n\t{{ .param .b32 b;\n\tst.param.b32 [b], 1;\n\
                \tcall.uni {callee}, (b); }}\n\tret;\n}}\n"
            )
        };
        let text = format!(
            ".version 8.4\n.target sm_90\n.address_size 64\n.extern .func outside(.param .b32 b);\n\
            .func local(.param .b32 b)\n{{\n\tbar.sync 2;\n\tbar.sync 5;\n\tret;\n}}\n{}{}",
            kernel("inside", "local"),
            kernel("caller", "outside")
        );
        std::fs::write(path("k.ptx"), text).expect("there is space");
        let mut ptxas = std::process::Command::new(bin.join("ptxas"));
        ptxas.args(["-c", "-arch=sm_90", "-o"]).arg(path("k.o")).arg(path("k.ptx"));
        assert!(ptxas.status().expect("it starts").success());
        let object = read(&std::fs::read(path("k.o")).expect("an object")).expect("it is one");
        let said = |(name, function): (&String, &Function)| {
            assert!(function.footprint.registers > 0, "{object:?}");
            (name.clone(), function.is_kernel, function.calls_elsewhere, function.footprint.barriers)
        };
        let all: Vec<_> = object.functions.iter().map(said).collect();
        assert_eq!(
            all,
            [("caller".into(), true, true, 10), ("inside".into(), true, false, 10), ("local".into(), false, false, 6)]
        );
        let has = |start: &str| object.interface.keys().any(|line| line.starts_with(start));
        assert!(has(".nv.callgraph -1 caller outside") && has(".nv.prototype outside "), "{object:?}");
        assert!(has(".rela.text.caller of kind ") && has(".symtab caller kind 2 "), "{object:?}");
    }

    /// A file that is no object gives `None`, and no input causes a panic.
    #[test]
    fn damaged_files() {
        assert_eq!(read(b""), None);
        assert_eq!(read(b"\x7fELF\x02\x01\x01"), None);
        arbtest::arbtest(|u| {
            let mut head = b"\x7fELF\x02\x01\x01\x33".to_vec();
            head.extend(u.arbitrary::<Vec<u8>>()?);
            let _ = read(&head);
            Ok(())
        });
    }
}
