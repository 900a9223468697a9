//! Compares our decoder of machine code with NVIDIA's disassembler. Skipped if NVIDIA's programs are missing, or with
//! `PTXAS=skip` in the environment.

use super::cuda;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use nvptx_ra::sass::decode::decode;
use nvptx_ra::sass::instruction::Instruction;
use nvptx_ra::sass::operand::Operand;
use nvptx_ra::sass::text;
use object::{Object as _, ObjectSection as _};

/// Processors, each with the PTX release that supports it.
const PROCESSORS: [(u32, &str); 6] = [(80, "8.0"), (86, "8.0"), (89, "8.0"), (90, "8.0"), (100, "8.7"), (120, "8.7")];
const NOTHING: u128 = 0x000f_c000_0000_0000_0000_0000_0000_7918;

/// PTX with loops, calls, atomics, shared memory, floats, halves and integers.
const MODULES: [&str; 7] = [
    "tests/ptx/smith_waterman.ptx",
    "tests/ptx/unrolled_array.ptx",
    "tests/ptx/kernels/bitonic_sort.ptx",
    "tests/ptx/kernels/reduce.ptx",
    "tests/ptx/kernels/scan.ptx",
    "tests/ptx/kernels/spmv.ptx",
    "tests/ptx/compared/shuffled_struct.ptx",
];

/// Whether the disassembler's instruction equals the decoded one. The decoder's branch targets also equal relocations,
/// and numbers in listings of raw code.
fn same(read: &Instruction, decoded: &Instruction) -> bool {
    let mut operands = read.operands.iter().zip(&decoded.operands);
    read.operands.len() == decoded.operands.len()
        && operands.all(|pair| match pair {
            (Operand::Callee(_), Operand::Target(_)) => true,
            (Operand::Immediate(number), Operand::Target(target)) => *number == *target as u32,
            (one, other) => one == other,
        })
        && (read.guard, &read.mnemonic, read.control) == (decoded.guard, &decoded.mnemonic, decoded.control)
}

/// ptxas's code of the modules, for every processor, is decoded as the disassembler prints it.
#[test]
fn decodes_what_ptxas_makes() {
    let Some(bin) = cuda::programs(&["ptxas", "nvdisasm"]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (ptx, cubin) = (folder.path().join("a.ptx"), folder.path().join("a.cubin"));
    let (mut count, mut unknown, mut wrong) = (0, Vec::new(), Vec::new());
    for (processor, release) in PROCESSORS {
        for module in MODULES {
            let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(module)).expect("a module");
            let lines = text.lines().map(|line| match line.split_whitespace().next() {
                Some(".version") => format!(".version {release}"),
                Some(".target") => format!(".target sm_{processor}"),
                _ => line.to_owned(),
            });
            fs::write(&ptx, lines.collect::<Vec<_>>().join("\n") + "\n").expect("PTX is written");
            let run = Command::new(bin.join("ptxas"))
                .arg(format!("-arch=sm_{processor}"))
                .args([ptx.as_os_str(), "-o".as_ref(), cubin.as_os_str()])
                .output()
                .expect("ptxas runs");
            assert!(run.status.success(), "{module}, sm_{processor}: {}", String::from_utf8_lossy(&run.stderr));
            let run = Command::new(bin.join("nvdisasm")).arg("-c").arg(&cubin).output().expect("nvdisasm runs");
            let listing = String::from_utf8(run.stdout).expect("a text");
            let bytes = fs::read(&cubin).expect("a cubin");
            for read in instructions(&bytes, &listing) {
                count += 1;
                match decode(read.bits, read.address, processor) {
                    None => unknown.push(format!("sm_{processor} {} {:032x}", read.mnemonic, read.bits)),
                    Some(decoded) if same(&read, &decoded) => {}
                    Some(decoded) => wrong.push(format!("sm_{processor} {:032x} {read:?}, not {decoded:?}", read.bits)),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 5000, "only {count} instructions");
    assert!(unknown.len() * 100 < count, "{} of {count}:\n{}", unknown.len(), unknown.join("\n"));
}

fn instructions(cubin: &[u8], listing: &str) -> Vec<Instruction> {
    let file = object::File::parse(cubin).expect("an object file");
    let mut code = BTreeMap::new();
    for section in file.sections() {
        if let Some(name) = section.name().expect("a name").strip_prefix(".text.") {
            code.insert(name.to_owned(), section.data().expect("code"));
        }
    }
    // Operands that the listing reader does not know, such as 64-bit constants, are named `?`. No decoded operand has
    // this name.
    let (functions, _) = text::read(listing, &code);
    functions.into_iter().flat_map(|function| function.instructions).collect()
}

/// A changed instruction is decoded as the disassembler prints it, or not decoded at all.
#[test]
fn decodes_changed_bits_as_they_are_printed() {
    let Some(bin) = cuda::programs(&["nvdisasm"]) else { return };
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/sass/instructions.txt");
    let golden = fs::read_to_string(golden).expect("the list");
    let word = |line: &str| u128::from_str_radix(line.split(' ').next()?, 16).ok();
    let words: Vec<u128> = golden.lines().filter(|line| !line.starts_with(['#', '[', '-'])).filter_map(word).collect();
    let mut random = 1u64;
    let mut below = |end: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % end
    };
    for processor in [80, 89, 90, 100] {
        let changed: Vec<u128> = (0..10_000)
            .map(|_| {
                let mut word = words[below(words.len())];
                for _ in 0..=below(3) {
                    word ^= 1 << (12 + below(80));
                }
                // A register field of all ones encodes the register that reads as zero. A predicate field of all ones
                // encodes the predicate that is always true.
                let (from, count) = [(24, 8), (32, 8), (64, 8), (81, 3), (40, 24)][below(5)];
                if below(3) == 0 { word | ((1 << count) - 1) << from } else { word }
            })
            .collect();
        let (mut known, mut wrong) = (0, Vec::new());
        for read in disassembled(&bin.join("nvdisasm"), processor, &changed) {
            let Some(decoded) = decode(read.bits, read.address, processor) else { continue };
            known += 1;
            if !same(&read, &decoded) {
                wrong.push(format!("sm_{processor} {:032x} {read:?}, not {decoded:?}", read.bits));
            }
        }
        assert!(wrong.is_empty(), "{} of {known}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(known > 2000, "only {known} on sm_{processor}");
    }
}

/// Returns the valid instructions among some words, as the disassembler prints them from raw code. The disassembler
/// prints nothing if any word is invalid, so invalid words are replaced first.
fn disassembled(nvdisasm: &Path, processor: u32, words: &[u128]) -> Vec<Instruction> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.bin");
    let mut words = words.to_vec();
    let listing = loop {
        fs::write(&file, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
            .expect("code is written");
        let run = Command::new(nvdisasm)
            .args(["-ndf", "-b", &format!("SM{processor}"), "-c"])
            .arg(&file)
            .output()
            .expect("nvdisasm runs");
        if run.status.success() {
            break String::from_utf8(run.stdout).expect("a text");
        }
        let errors = String::from_utf8_lossy(&run.stderr).into_owned();
        let mut refused = false;
        for address in errors.split("at address 0x").skip(1) {
            let digits = address.split(|letter: char| !letter.is_ascii_hexdigit()).next().unwrap_or_default();
            let place = usize::from_str_radix(digits, 16).expect("an address") / 16;
            refused |= std::mem::replace(&mut words[place], NOTHING) != NOTHING;
        }
        assert!(refused, "{errors}");
    };
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let section = format!("//--------------------- .text.f ---\n{listing}");
    let (functions, unread) = text::read(&section, &BTreeMap::from([("f".to_owned(), &code[..])]));
    let unread: Vec<u32> = unread.iter().map(|line| line.address).collect();
    let all = functions.into_iter().flat_map(|function| function.instructions);
    all.filter(|one| !unread.contains(&one.address) && one.bits != NOTHING).collect()
}
