//! Restores the names of kernels in a cubin that was compiled with other names.
//!
//! A kernel's name is in the string tables: as a symbol and, after a prefix, as the name of a section (`.text.NAME`,
//! `.nv.info.NAME`, …) or of one of ptxas's own symbols. The tables also have entries that nothing references. The
//! other name is as long as the own name, so no offset changes. Names are searched in the tables' entries, because a
//! name may be part of another name. As a check, the names of the file's symbols and sections are compared before and
//! after.

use std::ops::Range;

use nvptx_ra::ptx::OtherName;
use object::elf::{FileHeader64, SHT_STRTAB, SHT_SYMTAB};
use object::read::elf::{FileHeader as _, SectionHeader as _};
use object::{LittleEndian as Little, SectionIndex};

/// Symbol tables of the second form of the code that objects for Blackwell contain.
const SHT_MERCURY_SYMTAB: u32 = 0x7000_0085;
/// Bytes of a symbol.
const SYMBOL_BYTES: usize = 24;

/// Returns the file with the kernels' own names.
///
/// # Errors
/// The file has an unknown form, or a name is at a place whose meaning is unknown.
pub(crate) fn put_back(cubin: &[u8], others: &[OtherName]) -> Result<Vec<u8>, String> {
    let unread = || "the machine code under another name cannot be read".to_owned();
    let before = Names::of(cubin).ok_or_else(unread)?;
    let mut bytes = cubin.to_vec();
    for entry in before.tables.iter().flat_map(|table| entries(cubin, table.clone())) {
        put_own(&mut bytes[entry], others);
    }
    let after = Names::of(&bytes).ok_or_else(unread)?;
    let mut expected = before.names;
    expected.iter_mut().for_each(|name| put_own(name, others));
    if after.names != expected {
        return Err("the names of two symbols share bytes in the machine code".into());
    }
    match others.iter().find(|other| places(&bytes, other.name.as_bytes()).next().is_some()) {
        None => Ok(bytes),
        Some(other) => Err(format!("the machine code has the name {} outside its string tables", other.name)),
    }
}

/// Replaces the kernels' names in ptxas's messages by their own names.
pub(crate) fn in_messages(messages: String, others: &[OtherName]) -> String {
    others.iter().fold(messages, |messages, other| messages.replace(&other.name, &other.own))
}

/// Replaces other names by own names in a byte string.
fn put_own(text: &mut [u8], others: &[OtherName]) {
    for OtherName { name, own } in others {
        let found: Vec<usize> = places(text, name.as_bytes()).collect();
        found.into_iter().for_each(|at| text[at..at + name.len()].copy_from_slice(own.as_bytes()));
    }
}

/// Returns the positions of a name in a byte string.
fn places<'a>(text: &'a [u8], name: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    text.windows(name.len().max(1)).enumerate().filter(move |(_, part)| *part == name).map(|(at, _)| at)
}

/// Returns the entries of a string table: each ends with a zero.
fn entries(bytes: &[u8], table: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), table.start);
    for entry in bytes[table].split(|&byte| byte == 0) {
        found.push(start..start + entry.len());
        start += entry.len() + 1;
    }
    found
}

/// The names of a file.
struct Names {
    /// The ranges of the string tables.
    tables: Vec<Range<usize>>,
    /// The names of all sections, and of all symbols table by table.
    names: Vec<Vec<u8>>,
}

impl Names {
    fn of(file: &[u8]) -> Option<Self> {
        let header = FileHeader64::<Little>::parse(file).ok()?;
        let sections = header.sections(Little, file).ok()?;
        let (mut tables, mut names) = (Vec::new(), Vec::new());
        for section in sections.iter() {
            names.push(sections.section_name(Little, section).ok()?.to_vec());
            match section.sh_type(Little) {
                SHT_STRTAB => {
                    let (start, size) = section.file_range(Little)?;
                    let start = usize::try_from(start).ok()?;
                    let table = start..start.checked_add(usize::try_from(size).ok()?)?;
                    file.get(table.clone())?;
                    tables.push(table);
                }
                SHT_SYMTAB | SHT_MERCURY_SYMTAB => {
                    let linked = sections.section(SectionIndex(section.sh_link(Little) as usize)).ok()?;
                    let strings = linked.data(Little, file).ok()?;
                    for symbol in section.data(Little, file).ok()?.chunks_exact(SYMBOL_BYTES) {
                        let at = u32::from_le_bytes(*symbol.first_chunk()?) as usize;
                        names.push(strings.get(at..)?.split(|&byte| byte == 0).next()?.to_vec());
                    }
                }
                _ => {}
            }
        }
        Some(Self { tables, names })
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::*;
    use crate::ptxas_wrapper::cuda;

    /// A kernel with shared memory whose name is part of another name. It calls a function that ptxas generates.
    const KERNEL: &str = ".visible .entry my_cutlass(.param .u64 my_cutlass_param_0) .maxntid 128\n{\n\t.reg .b32 %r<9>;\n\
        \t.reg .b64 %d<9>;\n\t.shared .align 4 .b8 tile[512];\n\tld.param.u64 %d0, [my_cutlass_param_0];\n\
        \tmov.u32 %r0, %tid.x;\n\tmad.wide.u32 %d1, %r0, 8, %d0;\n\tld.global.u32 %r1, [%d1];\n\tmov.u32 %r4, tile;\n\
        \tmad.lo.u32 %r5, %r0, 4, %r4;\n\tst.shared.u32 [%r5], %r1;\n\tbar.sync 0;\n\tld.shared.u32 %r6, [%r4+16];\n\
        \tld.global.u64 %d5, [%d1];\n\tld.global.u64 %d6, [%d1+8];\n\tdiv.u64 %d7, %d5, %d6;\n\tst.global.u64 [%d1+64], %d7;\n\
        \tst.global.u32 [%d1+4], %r6;\n\tret;\n}\n.visible .entry my_cutlass_too(.param .u64 p)\n{\n\t.reg .b32 %r<2>;\n\
        \t.reg .b64 %d<2>;\n\tld.param.u64 %d0, [p];\n\tmov.u32 %r0, %tid.x;\n\tst.global.u32 [%d0], %r0;\n\tret;\n}\n";

    /// Returns each installed ptxas: the development version, and CUDA 13.5's.
    fn programs() -> Vec<PathBuf> {
        let doors = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/doors/cuda-13.5/nvidia/cu13/bin/ptxas");
        let newest = Some(doors).filter(|path| path.is_file());
        cuda::programs(&["ptxas"]).map(|bin| bin.join("ptxas")).into_iter().chain(newest).collect()
    }

    /// ptxas usually compiles a kernel to the same code under both names. Then the file with the restored name equals
    /// the file compiled under the kernel's own name, byte for byte.
    #[test]
    fn the_same_file() {
        for ptxas in programs() {
            for processor in ["sm_80", "sm_90", "sm_100"] {
                let text = format!(".version 8.7\n.target {processor}\n.address_size 64\n{KERNEL}");
                let module = nvptx_ra::ptx::Module::read("k.ptx", text.as_bytes()).expect("it is right");
                let others: Vec<OtherName> =
                    module.bodies().iter().filter_map(|body| module.other_name(body)).collect();
                assert_eq!(others.len(), 2, "{others:?}");
                let folder = tempfile::tempdir().expect("there is space");
                let assembled = |text: &[u8]| {
                    std::fs::write(folder.path().join("k.ptx"), text).expect("there is space");
                    let mut command = Command::new(&ptxas);
                    command.args(["-arch", processor, "k.ptx", "-o", "k.cubin"]).current_dir(folder.path());
                    assert!(command.status().expect("it starts").success(), "{}", ptxas.display());
                    std::fs::read(folder.path().join("k.cubin")).expect("a cubin")
                };
                let own = assembled(text.as_bytes());
                for some in [&others[..], &others[..1], &others[1..]] {
                    let other = assembled(&module.with_other_names(some));
                    assert_ne!(other, own);
                    let back = put_back(&other, some).expect("it is read");
                    assert!(back == own, "{} for {processor}: {some:?}", ptxas.display());
                }
            }
        }
    }

    /// A file of an unknown form is an error, and no input causes a panic.
    #[test]
    fn damaged_files() {
        let others = [OtherName { name: "cutlasz".into(), own: "cutlass".into() }];
        assert!(put_back(b"", &others).is_err() && put_back(b"\x7fELF\x02\x01\x01", &others).is_err());
        arbtest::arbtest(|u| {
            let mut head = b"\x7fELF\x02\x01\x01\x33".to_vec();
            head.extend(u.arbitrary::<Vec<u8>>()?);
            let _ = put_back(&head, &others);
            Ok(())
        });
    }

    /// Each table entry ends with a zero, except possibly the last entry.
    #[test]
    fn entries_of_tables() {
        assert_eq!(entries(b"x\0ab\0\0c", 1..7), [1..1, 2..4, 5..5, 6..7]);
        assert_eq!(places(b"aabaab", b"ab").collect::<Vec<_>>(), [1, 4]);
    }
}
