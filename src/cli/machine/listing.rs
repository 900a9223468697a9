//! Parses machine code as the disassembler prints it.

use std::collections::BTreeMap;

use nvptx_ra::tune::ptxas_output::Sass;

use super::instruction::{Instruction, Kind, find_jumps};
use super::sass;

/// Returns the figures of each function of a listing, by name. O(length · log length).
pub(crate) fn read(listing: &str) -> BTreeMap<String, Sass> {
    let mut functions: BTreeMap<String, Vec<Instruction>> = BTreeMap::new();
    let mut name = "";
    for line in listing.lines() {
        if let Some(found) = line.trim_start().strip_prefix("Function : ") {
            name = found.trim();
            functions.entry(name.to_owned()).or_default();
        }
        if let (Some(of_function), Some(instruction)) = (functions.get_mut(name), instruction(line)) {
            of_function.push(instruction);
        }
    }
    let figures = |(name, mut instructions): (String, Vec<Instruction>)| {
        find_jumps(&mut instructions);
        (name, sass::of(&instructions))
    };
    functions.into_iter().map(figures).collect()
}

/// Parses a line such as `/*0010*/  @P0 LDL R1, [R2] ;  /* 0x… */`.
pub(crate) fn instruction(line: &str) -> Option<Instruction> {
    let (address, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let address = u32::from_str_radix(address, 16).ok().filter(|_| address.len() >= 4)?;
    // CUDA 12.8's disassembler prints the waits of Blackwell's instructions after their operands: `&req={0} ?trans5;`.
    let text = rest.split([';', '?', '&']).next()?.trim();
    let (has_guard, text) = match text.strip_prefix('@') {
        Some(guarded) => (true, guarded.split_once(' ')?.1.trim_start()),
        None => (false, text),
    };
    let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
    if !opcode.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let kind = match opcode.split('.').next().unwrap_or_default() {
        "NOP" => Kind::Nothing,
        "LDL" | "STL" => Kind::Local(stack_bytes(opcode, operands)),
        "LDS" | "STS" => Kind::Shared(width(opcode)),
        "BRA" | "JMP" => Kind::Branch,
        "BRX" | "BRXU" | "JMX" | "JMXU" => Kind::IndirectBranch,
        "CALL" => Kind::Call,
        "EXIT" | "KILL" => Kind::End,
        "RET" => Kind::Return,
        "BSSY" => Kind::Meeting,
        "LDG" | "STG" | "LD" | "ST" | "FADD" | "FMUL" | "FFMA" | "DADD" | "DMUL" | "DFMA" | "HADD2" | "HMUL2"
        | "HMMA" | "IMMA" => Kind::Work,
        _ => Kind::Other,
    };
    let last = operands.trim().rsplit([',', ' ']).next();
    let target = last.and_then(|last| u32::from_str_radix(last.strip_prefix("0x")?, 16).ok());
    // The address of a separate function is only known after linking.
    let target = target.filter(|_| kind != Kind::Call || !opcode.starts_with("CALL.ABS"));
    // A branch may have a condition before its address.
    let is_conditional = has_guard || kind == Kind::Branch && operands.contains(',');
    Some(Instruction { address, kind, is_conditional, target })
}

/// Returns the bytes of an access at a fixed offset from the stack pointer, R1; 0 for other addresses.
pub(crate) fn stack_bytes(opcode: &str, operands: &str) -> u32 {
    if !(operands.contains("[R1]") || operands.contains("[R1+0x")) {
        return 0;
    }
    width(opcode)
}

/// Returns the bytes of a memory access.
pub(crate) fn width(opcode: &str) -> u32 {
    let width = opcode.split('.').find_map(|modifier| match modifier {
        "U8" | "S8" => Some(1),
        "U16" | "S16" => Some(2),
        "64" => Some(8),
        "128" => Some(16),
        _ => None,
    });
    width.unwrap_or(4)
}

/// Returns the number of the general register at the start of a text.
pub(super) fn register(text: &str) -> Option<usize> {
    let digits = text.trim().strip_prefix('R')?.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a listing of the instructions, at addresses of 16 bytes each.
    fn listing(instructions: &[&str]) -> String {
        let line = |(at, text): (usize, &&str)| format!("        /*{:04x}*/  {text} ;  /* 0x0 */\n", at * 16);
        let lines: String = instructions.iter().enumerate().map(line).collect();
        format!("\t\tFunction : a\n\t.headerflags\t@\"EF\"\n{lines}")
    }

    fn traffic(instructions: &[&str]) -> u64 {
        read(&listing(instructions))["a"].stack_traffic
    }

    /// Instructions of each function are counted without NOPs, and local accesses are counted separately.
    #[test]
    fn counts_instructions() {
        let first = listing(&["LDC R1, c[0x0][0x28]", "@!P0 STL.64 [R1], R4", "NOP"]);
        let words = "                                       /* 0x000fe20000000800 */\n";
        let read = read(&format!("{first}{words}\t\tFunction : b\n        /*0000*/  EXIT ;  /* 0x0 */\n"));
        assert_eq!(read["a"], Sass { instructions: 2, local: 1, stack_traffic: 8, ..Sass::default() });
        assert_eq!(read["b"], Sass { instructions: 1, ..Sass::default() });
    }

    /// Bytes come from the access's width, and only fixed offsets from the stack pointer count.
    #[test]
    fn widths() {
        assert_eq!(traffic(&["LDL R0, [R1+0x8]", "STL.128 [R1], R4", "LDL.U8 R0, [R1]", "LDL.LU R0, [R1]"]), 25);
        assert_eq!(traffic(&["LDL R0, [R2]", "LDL R0, [R12+0x4]", "LDG.E R0, [R1]"]), 0);
    }

    /// Branches are parsed with their conditions: each access here executes once or ten times.
    #[test]
    fn control() {
        assert_eq!(traffic(&["LDL R0, [R1]", "BRA P0, 0x0", "EXIT"]), 40);
        assert_eq!(traffic(&["LDL R0, [R1]", "@!P1 BRA 0x0", "LDL R0, [R1]", "@P0 EXIT", "BRA 0x0"]), 80);
        assert_eq!(traffic(&["BSSY B0, 0x30", "@P0 EXIT", "BRA 0x0", "LDL R0, [R1]"]), 4);
        assert_eq!(traffic(&["NOP", "BRX R6 -0x20", "LDL R0, [R1]", "BRA 0x10", "NOP", "@P0 BRA 0x10", "EXIT"]), 40);
        assert_eq!(traffic(&["LDL R0, [R1]", "CALL.REL.NOINC 0x30", "EXIT", "RET.REL.NODEC R4 0x0"]), 4);
    }

    /// The waits that an instruction's line contains are not parsed as operands.
    #[test]
    fn waits() {
        assert_eq!(traffic(&["LDL R0, [R1]", "@!P2 BRA 0x0      &req={2,1}      ?trans5", "EXIT  ?trans5"]), 40);
    }

    /// Malformed listings are parsed as far as possible, without a panic.
    #[test]
    fn broken_listings() {
        assert!(read("").is_empty());
        for text in ["@P0", "BRA 0xfffffff0", "BRA", "BRX R6", "@P0 STL [R1], R0", "LDL"] {
            let read = read(&listing(&[text]));
            assert!(read["a"].instructions <= 1, "{text}");
        }
    }
}
