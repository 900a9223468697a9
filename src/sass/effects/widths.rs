//! The number of registers of an operand.

use crate::sass::instruction::Instruction;
use crate::sass::operand::{Address, Operand};

/// Returns the number of registers of the operand `number`, if it is a register. The first `results` operands are
/// results.
pub(super) fn of(instruction: &Instruction, number: usize, results: usize) -> u8 {
    let is_result = number < results;
    let has = |modifier: &str| instruction.has(modifier);
    // The position among the operands after the results.
    let source = || number - results;
    match instruction.word() {
        "DADD" | "DFMA" | "DMUL" => 2,
        // The results are predicates.
        "DSETP" => 2,
        "IMAD" | "UIMAD" if has("WIDE") && (is_result || source() == 2) => 2,
        // The addend of IMAD.HI has 64 bits.
        "IMAD" | "UIMAD" if has("HI") && !is_result && source() == 2 => 2,
        "F2F" | "FRND" | "F2I" | "I2F" => converted(instruction, is_result),
        "CS2R" => {
            if has("32") {
                1
            } else {
                2
            }
        }
        "IADD" | "UIADD3" | "MOV" | "UMOV" | "SEL" | "USEL" if has("64") => 2,
        "ISETP" | "UISETP" | "IMNMX" | "UIMNMX" if has("S64") || has("U64") => 2,
        "LEPC" | "RET" => 2,
        "CALL" | "BRX" | "BRXU" | "JMX" => 2,
        "HMMA" | "IMMA" | "DMMA" | "BMMA" => fragment(instruction, number),
        "LDSM" | "STSM" => match instruction.modifiers().last() {
            Some("4") => 4,
            Some("2") => 2,
            _ => 1,
        },
        "LD" | "LDG" | "LDL" | "LDS" | "LDC" | "ULDC" | "LDCU" | "ST" | "STG" | "STL" | "STS" => memory(instruction),
        "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" => memory(instruction),
        _ => 1,
    }
}

fn memory(instruction: &Instruction) -> u8 {
    let has = |modifier: &str| instruction.has(modifier);
    if has("128") {
        4
    } else if has("64") || has("F64") || has("U64") || has("S64") {
        2
    } else {
        1
    }
}

/// Returns the number of registers of a conversion's operand. The modifiers give the type of the result before the type
/// of the source, and omit types of 32 bits.
fn converted(instruction: &Instruction, is_result: bool) -> u8 {
    let mut types = instruction.modifiers().filter(|modifier| TYPES.contains(modifier));
    let is_wide = |name: Option<&str>| name.is_some_and(|name| name.ends_with("64"));
    let (result, source) = match instruction.word() {
        "F2F" => (types.next(), types.next()),
        "FRND" => {
            let both = types.next();
            (both, both)
        }
        // An integer type is omitted if it is signed with 32 bits. A float type is omitted if it has 32 bits.
        "F2I" => {
            let all: Vec<&str> = types.collect();
            let find = |is_float: bool| all.iter().copied().find(|name| (name.starts_with(['F', 'B'])) == is_float);
            (find(false), find(true))
        }
        _ => {
            let all: Vec<&str> = types.collect();
            let find = |is_float: bool| all.iter().copied().find(|name| (name.starts_with(['F', 'B'])) == is_float);
            (find(true), find(false))
        }
    };
    if is_wide(if is_result { result } else { source }) { 2 } else { 1 }
}

const TYPES: &[&str] = &["F16", "BF16", "F32", "F64", "U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64"];

/// Returns the number of registers of a matrix fragment. The elements are distributed over 32 threads, as the PTX
/// manual defines for `mma`. The result and the addend have M·N elements, and the factors have M·K and K·N.
fn fragment(instruction: &Instruction, number: usize) -> u8 {
    let mut modifiers = instruction.modifiers().filter(|&modifier| modifier != "SP");
    let Some((m, n, k)) = modifiers.next().and_then(shape) else { return 1 };
    let types: Vec<&str> = modifiers.collect();
    let is_sparse = instruction.has("SP");
    let bits = |name: &str| match name {
        "S4" | "U4" => 4,
        "S8" | "U8" | "E4M3" | "E5M2" => 8,
        "TF32" => 32,
        _ => 16,
    };
    let (result, left, right) = match instruction.word() {
        "DMMA" => (64, 64, 64),
        "BMMA" => (32, 1, 1),
        "IMMA" => {
            let factor = |at: usize| types.get(at).map_or(8, |name| bits(name));
            (32, factor(0), factor(1))
        }
        _ => {
            let factor =
                types.iter().skip(1).find(|name| TYPES_OF_FACTORS.contains(name)).map_or(16, |name| bits(name));
            (if types.first() == Some(&"F16") { 16 } else { 32 }, factor, factor)
        }
    };
    let registers = |elements: u32, bits: u32| (elements * bits).div_ceil(32 * 32).max(1) as u8;
    match number {
        0 | 3 => registers(m * n, result),
        1 => registers(m * if is_sparse { k / 2 } else { k }, left),
        2 => registers(n * k, right),
        _ => 1,
    }
}

const TYPES_OF_FACTORS: &[&str] = &["BF16", "TF32", "E4M3", "E5M2", "F16"];

/// Parses a shape: `16816` is 16 by 8 by 16.
fn shape(text: &str) -> Option<(u32, u32, u32)> {
    Some(match text {
        "884" => (8, 8, 4),
        "1684" | "16x8x4" => (16, 8, 4),
        "1688" | "16x8x8" => (16, 8, 8),
        "8816" => (8, 8, 16),
        "16816" | "16x8x16" => (16, 8, 16),
        "8832" => (8, 8, 32),
        "16832" => (16, 8, 32),
        "16864" => (16, 8, 64),
        "88128" => (8, 8, 128),
        "168128" => (16, 8, 128),
        "168256" => (16, 8, 256),
        _ => return None,
    })
}

/// Whether an address is the shared-memory address of an instruction that has two addresses.
pub(super) fn is_shared_end(instruction: &Instruction, address: Address) -> bool {
    let first = instruction.operands.iter().find_map(|operand| match operand {
        Operand::Address(address) => Some(*address),
        _ => None,
    });
    instruction.word() == "LDGSTS" && first == Some(address) && address.descriptor.is_none()
}
