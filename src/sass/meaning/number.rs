//! Floating-point numbers that operands hold.

use crate::emulate::number::{F16, Format, Rounding};
use crate::emulate::types::Ty;
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Half, Operand};

/// How the floating-point number or numbers of an operand are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    changes: Changes,
    /// The sign of a number.
    sign: u64,
    /// The bits of a number.
    bits: u32,
}

/// How an operand of a type is read.
pub(super) fn number_of(instruction: &Instruction, at: usize, ty: Ty) -> Option<Number> {
    let changes = match *instruction.operands.get(at)? {
        Operand::Register(_, changes) | Operand::Constant(_, changes) => changes,
        Operand::Immediate(_) => Changes::default(),
        _ => return None,
    };
    let bits = if matches!(ty, Ty::F16x2 | Ty::BF16x2) { 16 } else { ty.bits() };
    (!changes.inverted && changes.byte.is_none()).then_some(Number { changes, sign: 1 << (bits - 1), bits })
}

/// What modifiers say of the lesser or greater of two numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtremeForm {
    /// Subnormal numbers are zero: `.FTZ`.
    pub(super) flushes: bool,
    /// What is no number wins: `.NAN`.
    pub(super) keeps_nan: bool,
    /// The sign is that of the product: `.XORSIGN`.
    pub(super) joins_signs: bool,
}

impl ExtremeForm {
    pub(super) fn of(modifiers: &[&str]) -> Option<Self> {
        let mut form = Self::default();
        for &modifier in modifiers {
            match modifier {
                "FTZ" => form.flushes = true,
                "NAN" => form.keeps_nan = true,
                "XORSIGN" => form.joins_signs = true,
                _ => return None,
            }
        }
        Some(form)
    }
}

impl Number {
    fn changed(self, bits: u64) -> u64 {
        let bits = if self.changes.absolute { bits & !self.sign } else { bits };
        bits ^ if self.changes.negated { self.sign } else { 0 }
    }

    /// The number in the lower half, or where the operand says so in the upper one; of larger types the only one.
    pub(super) fn low(self, value: u64) -> u64 {
        match (self.bits, self.changes.half) {
            (16, Some(Half::High)) => self.changed(value >> 16 & 0xffff),
            (16, _) => self.changed(value & 0xffff),
            (32, _) => self.changed(value & 0xffff_ffff),
            _ => self.changed(value),
        }
    }

    /// The number in the upper half, or the one that stands for both.
    pub(super) fn high(self, value: u64) -> u64 {
        match self.changes.half {
            Some(Half::Low | Half::High) => self.low(value),
            _ => self.changed(value >> 16 & 0xffff),
        }
    }

    /// The sign of the value that is read, ahead of what is done to it.
    pub(super) fn sign(self, value: u64) -> u64 {
        let raw = Self { changes: Changes { negated: false, absolute: false, ..self.changes }, ..self };
        raw.low(value) & self.sign
    }

    pub(super) fn high_sign(self, value: u64) -> u64 {
        let raw = Self { changes: Changes { negated: false, absolute: false, ..self.changes }, ..self };
        raw.high(value) & self.sign
    }
}

/// What modifiers say of the results of floats and halves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) format: Format,
    pub(super) rounding: Rounding,
    pub(super) flushes: bool,
    pub(super) saturates: bool,
    pub(super) relu: bool,
}

/// The rounding that a modifier names.
pub(super) fn rounding(modifier: &str) -> Option<Rounding> {
    Some(match modifier {
        "RN" => Rounding::Nearest,
        "RZ" => Rounding::Zero,
        "RM" => Rounding::Down,
        "RP" => Rounding::Up,
        _ => return None,
    })
}

impl Style {
    /// The style of modifiers; none where one is not known.
    pub(super) fn of(format: Format, modifiers: &[&str]) -> Option<Self> {
        let mut style = Self { format, rounding: Rounding::Nearest, flushes: false, saturates: false, relu: false };
        for &modifier in modifiers {
            match modifier {
                "FTZ" => style.flushes = true,
                "SAT" => style.saturates = true,
                "RELU" => style.relu = true,
                name => style.rounding = rounding(name)?,
            }
        }
        Some(style)
    }

    fn flushed(self, value: f64) -> f64 {
        let least = match self.format {
            F16 => 1.0 / 16384.0,
            _ => f64::from(f32::MIN_POSITIVE),
        };
        if self.flushes && value.abs() < least { 0.0f64.copysign(value) } else { value }
    }

    /// The value of a number.
    pub(super) fn value(self, bits: u64) -> f64 {
        self.flushed(self.format.value(bits))
    }

    /// The number of a result.
    pub(super) fn bits(self, result: f64) -> u64 {
        let bits = self.format.round(result, self.rounding, false);
        if !(self.flushes || self.saturates || self.relu) {
            return bits;
        }
        let mut value = self.flushed(self.format.value(bits));
        if self.saturates {
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        if self.relu {
            value = if value > 0.0 || value.is_nan() { value } else { 0.0 };
        }
        self.format.round(value, Rounding::Nearest, false)
    }

    /// The lesser or greater of two numbers: of a number and no number the number, unless `keeps_nan`.
    pub(super) fn extreme(self, [a, b]: [f64; 2], is_least: bool, keeps_nan: bool) -> u64 {
        let chosen = match (a.is_nan(), b.is_nan()) {
            (true, true) => f64::NAN,
            (true, _) | (_, true) if keeps_nan => f64::NAN,
            (true, _) => b,
            (_, true) => a,
            _ if a == b => {
                if a.is_sign_negative() == is_least {
                    a
                } else {
                    b
                }
            }
            _ => {
                if (a < b) == is_least {
                    a
                } else {
                    b
                }
            }
        };
        self.bits(chosen)
    }
}
