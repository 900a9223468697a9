//! Operands, read from their bits.

use super::super::operand::{Changes, Constant, Half, Operand, PT, Predicate, RZ, Register};
use super::reader::Reader;
use super::row::{ByPlace, Kind, OperandModifiers, PrintCondition, Slot};

/// Reads an operand and appends it to the list if it is printed. `None` if its bits have no known meaning.
pub(super) fn read(slot: &Slot, reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let changing = &slot.changing;
    let operand = match slot.kind {
        Kind::Register(at) => Operand::Register(register(reader, at), changes(changing, reader, at)?),
        Kind::Uniform(at) => Operand::Register(uniform(reader, at)?, changes(changing, reader, at)?),
        Kind::Wide => wide(changing, reader)?,
        Kind::Second if matches!(reader.form(), 2 | 3 | 7) => late(changing, reader)?,
        Kind::Second => wide(changing, reader)?,
        Kind::Third if matches!(reader.form(), 2 | 3 | 7) => wide(changing, reader)?,
        Kind::Third => late(changing, reader)?,
        Kind::UniformWide if matches!(reader.form(), 1 | 6 | 7) => {
            Operand::Register(uniform(reader, 32)?, changes(changing, reader, 32)?)
        }
        Kind::UniformWide => wide(changing, reader)?,
        Kind::Predicate(at, negates) => predicate(reader, at, negates, false),
        Kind::UniformPredicate(at, negates) => predicate(reader, at, negates, true),
        Kind::Number(from, count) => Operand::Immediate(reader.take(from, count) as u32),
        Kind::Special(at) => Operand::Special(reader.take(at, 8) as u8),
        Kind::Convergence(at) => Operand::Convergence(reader.take(at, 4) as u8),
        Kind::Target => Operand::Target(target(reader)),
        Kind::Fixed(operand) => operand,
        Kind::Rule(rule) => return rule(reader, operands),
    };
    let is_true = matches!(operand, Operand::Predicate(one) if one.number == PT && !one.negated);
    let is_shown = match slot.shown {
        PrintCondition::Always => true,
        PrintCondition::If(bit) => reader.bit(bit),
        PrintCondition::UnlessTrue => !is_true,
        PrintCondition::UnlessTrueAheadOf100 => reader.processor >= 100 || !is_true,
    };
    if is_shown {
        operands.push(operand);
    }
    Some(())
}

/// Reads a register of a thread.
pub(super) fn register(reader: &mut Reader, at: u8) -> Register {
    Register { number: reader.take(at, 8) as u8, is_uniform: false }
}

/// Reads a uniform register. It has six bits before sm_100, and eight since. The highest number is URZ, which reads as
/// zero.
pub(super) fn uniform(reader: &mut Reader, at: u8) -> Option<Register> {
    let count = if reader.processor < 100 { 6 } else { 8 };
    let number = reader.take(at, count) as u8;
    let number = if count == 6 && number == 63 { RZ } else { number };
    Some(Register { number, is_uniform: true })
}

/// Reads a predicate, with the bit that negates it.
pub(super) fn predicate(reader: &mut Reader, at: u8, negates: Option<u8>, is_uniform: bool) -> Operand {
    let number = reader.take(at, 3) as u8;
    let negated = negates.is_some_and(|bit| reader.bit(bit));
    Operand::Predicate(Predicate { number, is_uniform, negated })
}

/// Reads a branch target, which is stored as a distance from the next instruction.
pub(super) fn target(reader: &mut Reader) -> i64 {
    let next = i64::from(reader.address) + 16;
    next.wrapping_add(distance(reader))
}

/// Reads the distance of a branch: 48 bits from bit 34, in words. Since sm_90, the eight bits from bit 16 are the
/// lowest bits.
pub(super) fn distance(reader: &mut Reader) -> i64 {
    let high = reader.signed(34, 48);
    if reader.processor < 90 { high * 4 } else { (high * 256 + reader.take(16, 8) as i64) * 4 }
}

/// Reads the operand at bit 32, by the form.
fn wide(changing: &OperandModifiers, reader: &mut Reader) -> Option<Operand> {
    Some(match reader.form() {
        1 => Operand::Register(register(reader, 32), changes(changing, reader, 32)?),
        2 | 4 => Operand::Immediate(reader.take(32, 32) as u32),
        3 | 5 => Operand::Constant(aligned(reader), changes(changing, reader, 32)?),
        6 | 7 => {
            reader.must(91, true)?;
            Operand::Register(uniform(reader, 32)?, changes(changing, reader, 32)?)
        }
        _ => return None,
    })
}

/// Reads the register at bit 64.
fn late(changing: &OperandModifiers, reader: &mut Reader) -> Option<Operand> {
    Some(Operand::Register(register(reader, 64), changes(changing, reader, 64)?))
}

/// Reads a place in a constant bank, in words.
fn aligned(reader: &mut Reader) -> Constant {
    Constant { offset: reader.signed(40, 14) as i32 * 4, bank: reader.take(54, 5) as u8, index: None }
}

/// Reads a place in a constant bank: 16 bits from bit 38, in bytes, followed by the bank.
pub(super) fn constant(reader: &mut Reader) -> Constant {
    Constant { offset: reader.signed(38, 16) as i32, bank: reader.take(54, 5) as u8, index: None }
}

fn changes(changing: &OperandModifiers, reader: &mut Reader, place: u8) -> Option<Changes> {
    let mut changes = Changes::default();
    let place = match place {
        32 => (63, 62, 60),
        _ if changing.is_packed => (84, 83, 81),
        _ => (75, 74, 0),
    };
    let mut negate = changing.negate;
    let mut absolute = changing.absolute;
    let mut halves = changing.halves;
    if changing.by_place != ByPlace::None {
        negate = Some(place.0);
    }
    if changing.by_place == ByPlace::Both {
        absolute = Some(place.1);
    }
    if changing.has_halves {
        halves = Some(place.2);
    }
    if let Some(bit) = negate {
        let inverts = changing.always_inverts || changing.inverts.is_some_and(|bit| reader.bit(bit));
        *(if inverts { &mut changes.inverted } else { &mut changes.negated }) = reader.bit(bit);
    }
    if let Some(bit) = absolute {
        changes.absolute = reader.bit(bit);
    }
    if let Some(from) = halves {
        changes.half = match reader.take(from, 2) {
            0 => None,
            2 => Some(Half::Low),
            3 => Some(Half::High),
            _ => return None,
        };
    }
    Some(changes)
}
