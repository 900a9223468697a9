//! Tests the text form by round trips: accepted text is printed and parsed again.

use arbitrary::{Result, Unstructured};

use super::generate::{Options, lowered_function, ssa_function};
use super::reached;
use crate::function::Function;

/// Checks that the parser does not panic on any text, and that accepted text survives a round trip.
pub fn check_text(u: &mut Unstructured<'_>) -> Result<()> {
    let bytes = u.bytes(u.len())?;
    check_reads_back(&String::from_utf8_lossy(bytes));
    Ok(())
}

/// Checks that a generated function survives a round trip, and that the parser does not panic on its text with some
/// changed bytes.
pub fn check_round_trip(u: &mut Unstructured<'_>) -> Result<()> {
    let options = Options { undefined_paths: u.arbitrary()?, ..Options::default() };
    let function = if u.arbitrary()? { ssa_function(u, &options)? } else { lowered_function(u, &options)? };
    let text = function.to_string();
    let parsed = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(parsed.to_string(), text);
    assert_same(&function, &parsed);

    let mut lines: Vec<&str> = text.lines().collect();
    let mut bytes = if u.arbitrary()? {
        // Lines are repeated, removed or reordered. The resulting text is often still a valid function.
        for _ in 0..u.int_in_range(1..=2)? {
            let (at, other) = (u.choose_index(lines.len())?, u.choose_index(lines.len())?);
            match u.int_in_range(0..=2u8)? {
                0 if lines.len() > 2 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[other]),
                _ => lines.swap(at, other),
            }
        }
        (lines.join("\n") + "\n").into_bytes()
    } else {
        text.clone().into_bytes()
    };
    for _ in 0..u.int_in_range(0..=2)? {
        // A digit is replaced by another digit, which gives another register, block or number.
        let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
        if !digits.is_empty() {
            bytes[digits[u.choose_index(digits.len())?]] = b'0' + u.int_in_range(0..=9u8)?;
        }
    }
    for _ in 0..if u.arbitrary()? { 0 } else { u.int_in_range(1..=4)? } {
        let at = u.choose_index(bytes.len())?;
        match u.int_in_range(0..=3u8)? {
            0 => bytes.truncate(at.max(1)),
            1 => drop(bytes.remove(at.min(bytes.len() - 2))),
            2 => bytes.insert(at, u.arbitrary()?),
            _ => bytes[at] = u.arbitrary()?,
        }
        if bytes.len() < 2 {
            break;
        }
    }
    let changed = String::from_utf8_lossy(&bytes);
    reached("changed and read", changed != text && Function::parse(&changed).is_ok());
    reached("refused", Function::parse(&changed).is_err());
    check_reads_back(&changed);
    Ok(())
}

fn check_reads_back(text: &str) {
    if let Ok(function) = Function::parse(text) {
        let printed = function.to_string();
        let again = Function::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(again.to_string(), printed);
        // The function may be valid or not; the call must not panic.
        let _ = function.validate();
    }
}

/// Checks that two functions are equal except for the numbers of their opcodes.
fn assert_same(one: &Function, other: &Function) {
    assert_eq!((one.name(), one.kernel(), one.file()), (other.name(), other.kernel(), other.file()));
    assert_eq!(one.symbols, other.symbols);
    assert_eq!(one.num_regs(), other.num_regs());
    for reg in one.regs() {
        assert_eq!((one.class(reg), one.reg_name(reg)), (other.class(reg), other.reg_name(reg)));
    }
    assert_eq!(one.num_blocks(), other.num_blocks());
    for block in one.blocks() {
        assert_eq!(one.block_range(block), other.block_range(block));
        assert_eq!(one.succs(block), other.succs(block));
        assert_eq!(one.frequency(block).to_bits(), other.frequency(block).to_bits());
        assert_eq!(one.loop_depth(block), other.loop_depth(block));
    }
    for inst in one.insts() {
        let name = |function: &Function| function.opcodes().name(function.opcode(inst)).to_owned();
        assert_eq!((name(one), one.role(inst)), (name(other), other.role(inst)));
        assert_eq!(one.operands(inst), other.operands(inst));
        assert_eq!((one.effects(inst), one.memory_space(inst)), (other.effects(inst), other.memory_space(inst)));
        assert_eq!(one.line(inst), other.line(inst));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    #[test]
    fn any_text_is_taken_or_refused() {
        arbtest::arbtest(check_text).budget_ms(1_000);
    }

    #[test]
    fn generated_functions_read_back() {
        explore(check_round_trip, 1_000, &[("changed and read", 3), ("refused", 20)]);
    }
}
