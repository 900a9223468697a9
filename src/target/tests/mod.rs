//! The classification of every opcode of LLVM 22, compared with LLVM's own descriptors.
//!
//! `tests/golden/opcode_descriptors.txt` is generated from LLVM (`tests/golden/regenerate.sh`), so that these tests
//! need no LLVM. The same script with `--check` compares the file with the installed LLVM.

mod effects;
mod golden;
mod invariants;
mod names;

use std::path::PathBuf;
use std::sync::LazyLock;

use super::*;
use crate::function::RegClass;

/// A line of the descriptor file.
#[derive(Debug)]
struct Descriptor {
    name: String,
    /// Classes of the definitions. `None` for operands that are not registers.
    defs: Vec<Option<RegClass>>,
    uses: Vec<Option<RegClass>>,
    flags: DescFlags,
    is_move: bool,
    mnemonic: String,
}

fn golden_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

static DESCRIPTORS: LazyLock<Vec<Descriptor>> = LazyLock::new(|| {
    let text = std::fs::read_to_string(golden_file("opcode_descriptors.txt")).expect("the descriptor file is readable");
    text.lines().map(|line| parse(line).unwrap_or_else(|| panic!("not a descriptor: {line}"))).collect()
});

/// The classification of LLVM 22's opcodes, under its own descriptors.
static CLASSIFICATION: LazyLock<Classification> = LazyLock::new(|| {
    Classification::new(DESCRIPTORS.iter().map(|descriptor| (descriptor.name.as_str(), descriptor.flags)))
});

/// Parses `NAME (B32 = B64 _*2) flag flag | mnemonic`.
fn parse(line: &str) -> Option<Descriptor> {
    let (line, mnemonic) = line.split_once(" | ").unwrap_or((line, ""));
    let (name, rest) = line.split_once(" (")?;
    let (operands, flags) = rest.split_once(')')?;
    let (defs, uses) = operands.split_once('=')?;
    let mut descriptor = Descriptor {
        name: name.into(),
        defs: classes(defs)?,
        uses: classes(uses)?,
        flags: DescFlags::empty(),
        is_move: false,
        mnemonic: mnemonic.into(),
    };
    for flag in flags.split_ascii_whitespace() {
        match flag {
            "move-reg" | "move-imm" => descriptor.is_move = true,
            "inline-asm" => descriptor.flags |= DescFlags::INLINE_ASM,
            _ => descriptor.flags |= DescFlags::from_name(&flag.to_ascii_uppercase().replace('-', "_"))?,
        }
    }
    Some(descriptor)
}

fn classes(list: &str) -> Option<Vec<Option<RegClass>>> {
    let mut classes = Vec::new();
    for item in list.split_ascii_whitespace() {
        let (class, count) = item.split_once('*').unwrap_or((item, "1"));
        let class = match class {
            "_" => None,
            _ => Some(RegClass::ALL.into_iter().find(|known| known.name() == class).unwrap_or(RegClass::Other)),
        };
        classes.resize(classes.len() + count.parse::<usize>().ok()?, class);
    }
    Some(classes)
}
