//! A reader of the disassembler's text.
//!
//! `nvdisasm -c` prints a section for each function, and one instruction per line: `/*0080*/ @!P0 IMAD R25, R25, UR4,
//! R0 ;`. The printed floating-point constants are rounded, so their bits are taken from the instruction itself.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::control::Control;
use super::instruction::{BYTES, Function, Instruction};
use super::operand::{Address, Changes, Constant, Extent, Factors, Half, Operand, PT, Predicate, RZ, Register};
use super::special;

/// A line that cannot be read: its function, address and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadLine {
    /// The function.
    pub function: String,
    /// The address in the function.
    pub address: u32,
    /// The text of the line.
    pub text: String,
}

/// Reads the functions of a disassembler's text. `code` has the bits of each function's code, by name. A line that
/// cannot be read is listed, and becomes an instruction with the name `?`.
pub fn read(text: &str, code: &BTreeMap<String, &[u8]>) -> (Vec<Function>, Vec<UnreadLine>) {
    let mut functions = Vec::new();
    let mut unread = Vec::new();
    for section in text.split("//--------------------- ").skip(1) {
        let Some(name) = section.split_whitespace().next().and_then(|name| name.strip_prefix(".text.")) else {
            continue;
        };
        let Some(bytes) = code.get(name) else { continue };
        functions.push(function(name, section, bytes, &mut unread));
    }
    (functions, unread)
}

/// The labels and functions that an instruction may refer to.
struct Names<'t> {
    labels: FxHashMap<&'t str, u32>,
    callees: Vec<String>,
}

fn function(name: &str, section: &str, code: &[u8], unread: &mut Vec<UnreadLine>) -> Function {
    let mut labels = FxHashMap::default();
    let mut lines = Vec::new();
    let mut address = 0;
    for line in section.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, address);
        } else if let Some((at, text)) = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/"))
            && let Ok(at) = u32::from_str_radix(at, 16)
            && !text.trim().is_empty()
        {
            lines.push((at, text.trim()));
            address = at + BYTES;
        }
    }
    let mut names = Names { labels, callees: Vec::new() };
    let mut instructions = Vec::with_capacity(lines.len());
    for (address, text) in lines {
        let word = code.get(address as usize..).and_then(|rest| rest.first_chunk::<16>());
        let bits = word.map_or(0, |word| u128::from_le_bytes(*word));
        instructions.push(instruction(address, text, bits, &mut names).unwrap_or_else(|| {
            unread.push(UnreadLine { function: name.to_owned(), address, text: text.to_owned() });
            Instruction {
                address,
                guard: None,
                mnemonic: "?".into(),
                operands: Vec::new(),
                control: Control::of(bits),
                bits,
            }
        }));
    }
    Function { name: name.to_owned(), instructions, callees: names.callees }
}

fn instruction(address: u32, text: &str, bits: u128, names: &mut Names<'_>) -> Option<Instruction> {
    // A comment lists the targets of an indirect branch. The code contains them, too.
    let text = text.split("(*").next()?.trim().trim_end_matches(';').trim();
    let (guard, text) = match text.strip_prefix('@') {
        Some(rest) => {
            let (guard, rest) = rest.split_once(' ')?;
            (Some(predicate(guard)?), rest.trim())
        }
        None => (None, text),
    };
    let (mnemonic, rest) = text.split_once(' ').unwrap_or((text, ""));
    // The disassembler adds a space to constants of halves on sm_80 and sm_89: `c[0x0] [0x160].H0_H0`.
    let rest = rest.replace("] [", "][");
    // DEPBAR lists scoreboards in braces, `{5,3}`. They are one operand.
    let (rest, scoreboards) = rest.split_once('{').map_or((&*rest, None), |(rest, inner)| (rest, Some(inner)));
    let mut operands = Vec::new();
    let mut literals = 0;
    for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        // The offset of an indirect branch follows its register: `BRX R2 -0x270`.
        for part in part.split(' ').filter(|part| !part.is_empty()) {
            if has_wide_constant(mnemonic)
                && let Some(number) = integer(part)
            {
                operands.extend([number, number >> 32].map(|number| Operand::Immediate(number as u32)));
                continue;
            }
            match operand(part, names) {
                Some(operand) => operands.push(operand),
                None if is_literal(part) => {
                    // Two floating-point constants of halves are one immediate.
                    if literals == 0 {
                        operands.push(Operand::Immediate((bits >> 32) as u32));
                    }
                    literals += 1;
                }
                None => return None,
            }
        }
    }
    if let Some(scoreboards) = scoreboards {
        let mut set = 0;
        for number in scoreboards.trim_end_matches('}').split(',') {
            set |= 1 << number.trim().parse::<u8>().ok().filter(|&number| number < 6)?;
        }
        operands.push(Operand::Immediate(set));
    }
    Some(Instruction { address, guard, mnemonic: mnemonic.into(), operands, control: Control::of(bits), bits })
}

/// Whether a text is a floating-point number.
fn is_literal(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '+']);
    text.parse::<f64>().is_ok() || matches!(text, "INF" | "QNAN" | "SNAN")
}

fn operand(text: &str, names: &mut Names<'_>) -> Option<Operand> {
    if let Some(number) = integer(text) {
        // A number that does not fit 32 bits is no known operand.
        let bits = u32::try_from(number).or_else(|_| i32::try_from(number).map(|number| number as u32));
        return bits.ok().map(Operand::Immediate);
    }
    if let Some(label) = text.strip_prefix("`(").and_then(|rest| rest.strip_suffix(')')) {
        return Some(target(label, names));
    }
    if let Some(inner) = text.strip_prefix("gdesc[") {
        return factors(inner);
    }
    if let Some(inner) = text.strip_prefix("desc[") {
        let (descriptor, rest) = inner.split_once(']')?;
        // The cache policy of a bulk copy has no address.
        if rest.is_empty() {
            let descriptor = Some(register(descriptor)?.number);
            return Some(Operand::Address(Address { descriptor, scale: 1, ..Address::default() }));
        }
        let Operand::Address(address) = address(rest)? else { return None };
        return Some(Operand::Address(Address { descriptor: Some(register(descriptor)?.number), ..address }));
    }
    if text.starts_with('[') {
        return address(text);
    }
    if let Some(number) = text.strip_prefix("SB").and_then(|number| number.parse().ok()) {
        return Some(Operand::Scoreboard(number));
    }
    if let Some(number) = text.strip_prefix('B').and_then(|number| number.parse().ok()) {
        return Some(Operand::Convergence(number));
    }
    match text {
        "PR" => return Some(Operand::Predicates { is_uniform: false }),
        "UPR" => return Some(Operand::Predicates { is_uniform: true }),
        "gsb0" => return Some(Operand::GroupScoreboard),
        _ => {}
    }
    if text.starts_with("SR") || text == "SM_SHADER_TYPE" {
        return special::number(text).map(Operand::Special);
    }
    if let Some(predicate) = predicate(text) {
        return Some(Operand::Predicate(predicate));
    }
    value(text)
}

/// Parses a register or constant with its modifiers.
fn value(text: &str) -> Option<Operand> {
    let mut changes = Changes::default();
    let mut rest = text;
    if let Some(inner) = rest.strip_prefix('~') {
        (changes.inverted, rest) = (true, inner);
    }
    if let Some(inner) = rest.strip_prefix('-') {
        (changes.negated, rest) = (true, inner);
    }
    if let Some(inner) = rest.strip_prefix('|') {
        let (inner, suffix) = inner.split_once('|')?;
        changes.absolute = true;
        suffixes(suffix, &mut changes)?;
        rest = inner;
    }
    if let Some(inner) = rest.strip_prefix("c[") {
        let (bank, inner) = inner.split_once("][")?;
        let (place, suffix) = inner.split_once(']')?;
        suffixes(suffix, &mut changes)?;
        let (mut index, mut offset) = (None, 0);
        for part in place.split('+').filter(|part| !part.is_empty()) {
            match register(part) {
                Some(register) => index = Some(register).filter(|register| register.number != RZ),
                None => offset = integer(part)? as i32,
            }
        }
        let bank = integer(bank)? as u8;
        return Some(Operand::Constant(Constant { bank, index, offset }, changes));
    }
    let (name, suffix) = rest.split_once('.').map_or((rest, ""), |(name, suffix)| (name, suffix));
    suffixes(suffix, &mut changes)?;
    Some(Operand::Register(register(name)?, changes))
}

/// Parses factors. The register of the descriptor is before a bracket, and the modifiers are after it.
fn factors(text: &str) -> Option<Operand> {
    let (name, suffixes) = text.split_once(']')?;
    let mut factors = Factors { register: register(name)?.number, ..Factors::default() };
    for suffix in suffixes.split('.').filter(|suffix| !suffix.is_empty()) {
        match suffix {
            "negA" => factors.negated[0] = true,
            "negB" => factors.negated[1] = true,
            "tnspA" => factors.transposed[0] = true,
            "tnspB" => factors.transposed[1] = true,
            _ => return None,
        }
    }
    Some(Operand::Factors(factors))
}

fn suffixes(text: &str, changes: &mut Changes) -> Option<()> {
    for suffix in text.split('.').filter(|suffix| !suffix.is_empty()) {
        match suffix {
            // The control codes have the reuse flags, too.
            "reuse" => {}
            "H0_H0" | "H0" => changes.half = Some(Half::Low),
            "H1_H1" | "H1" => changes.half = Some(Half::High),
            "H1_H0" => changes.half = Some(Half::Both),
            "F32" => changes.half = Some(Half::Float),
            "64" => changes.is_wide = true,
            "B0" => changes.byte = Some(0),
            "B1" => changes.byte = Some(1),
            "B2" => changes.byte = Some(2),
            "B3" => changes.byte = Some(3),
            "ROW" | "COL" => changes.lies = true,
            _ => return None,
        }
    }
    Some(())
}

/// Parses an address. Its parts are joined by plus signs: `[R2.64+UR4+-0x10]`.
fn address(text: &str) -> Option<Operand> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut address = Address { scale: 1, ..Address::default() };
    for part in inner.split('+').filter(|part| !part.is_empty()) {
        if let Some(number) = integer(part) {
            address.offset = number as i32;
            continue;
        }
        let mut words = part.split('.');
        let register = register(words.next()?)?;
        for word in words {
            match word {
                "64" => address.extent = Extent::Wide,
                "U32" => address.extent = Extent::Unsigned,
                "X4" => address.scale = 4,
                "X8" => address.scale = 8,
                "X16" => address.scale = 16,
                "reuse" => {}
                _ => return None,
            }
        }
        if register.is_uniform {
            address.uniform = Some(register.number).filter(|&number| number != RZ);
        } else {
            address.base = Some(register.number).filter(|&number| number != RZ);
        }
    }
    Some(Operand::Address(address))
}

fn register(text: &str) -> Option<Register> {
    let (is_uniform, number) = match text.strip_prefix('U') {
        Some(rest) => (true, rest.strip_prefix('R')?),
        None => (false, text.strip_prefix('R')?),
    };
    let number = if number == "Z" { RZ } else { number.parse().ok()? };
    Some(Register { number, is_uniform })
}

fn predicate(text: &str) -> Option<Predicate> {
    let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    let (is_uniform, number) = match text.strip_prefix('U') {
        Some(rest) => (true, rest.strip_prefix('P')?),
        None => (false, text.strip_prefix('P')?),
    };
    let number = if number == "T" { PT } else { number.parse().ok()? };
    Some(Predicate { number, is_uniform, negated })
}

/// Parses a hexadecimal number. Numbers without `0x` are floating-point numbers, except for zero.
fn integer(text: &str) -> Option<i64> {
    let (negated, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let number = u64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()? as i64;
    Some(if negated { number.wrapping_neg() } else { number })
}

/// Whether an immediate of an instruction is two words, the lower first. Other instructions have immediates of one
/// word, which they extend.
fn has_wide_constant(mnemonic: &str) -> bool {
    matches!(mnemonic, "MOV.64" | "UMOV.64" | "SEL.64" | "USEL.64")
}

/// Parses a label of this function, or the name of another function.
fn target(label: &str, names: &mut Names<'_>) -> Operand {
    if let Some(&address) = names.labels.get(label) {
        return Operand::Target(address.into());
    }
    let number = names.callees.iter().position(|known| known == label).unwrap_or_else(|| {
        names.callees.push(label.to_owned());
        names.callees.len() - 1
    });
    Operand::Callee(number as u32)
}
