//! Floating-point operands.

use crate::emulate::number::{F16, Format, Rounding};
use crate::emulate::types::Ty;
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Half, Operand};

/// The reading of the floating-point number or numbers of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    changes: Changes,
    /// The sign bit of a number.
    sign: u64,
    /// The width of a number in bits.
    bits: u32,
}

/// Returns the reading of an operand of a type.
pub(super) fn number_of(instruction: &Instruction, at: usize, ty: Ty) -> Option<Number> {
    let changes = match *instruction.operands.get(at)? {
        Operand::Register(_, changes) | Operand::Constant(_, changes) => changes,
        Operand::Immediate(_) => Changes::default(),
        _ => return None,
    };
    let bits = if matches!(ty, Ty::F16x2 | Ty::BF16x2) { 16 } else { ty.bits() };
    (!changes.inverted && changes.byte.is_none()).then_some(Number { changes, sign: 1 << (bits - 1), bits })
}

/// Modifiers of a minimum or maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtremeForm {
    /// `.FTZ`: subnormal numbers are zero.
    pub(super) flushes: bool,
    /// `.NAN`: NaN wins.
    pub(super) keeps_nan: bool,
    /// `.XORSIGN`: the sign is the sign of the product.
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

    /// Returns the number in the lower half, or in the upper half if the operand says so. For larger types, returns the
    /// only number.
    pub(super) fn low(self, value: u64) -> u64 {
        match (self.bits, self.changes.half) {
            (16, Some(Half::High)) => self.changed(value >> 16 & 0xffff),
            (16, _) => self.changed(value & 0xffff),
            (32, _) => self.changed(value & 0xffff_ffff),
            _ => self.changed(value),
        }
    }

    /// Returns the number in the upper half, or the number that stands for both halves.
    pub(super) fn high(self, value: u64) -> u64 {
        match self.changes.half {
            Some(Half::Low | Half::High) => self.low(value),
            _ => self.changed(value >> 16 & 0xffff),
        }
    }

    /// Returns the sign of the operand before its modifiers are applied.
    pub(super) fn sign(self, value: u64) -> u64 {
        let raw = Self { changes: Changes { negated: false, absolute: false, ..self.changes }, ..self };
        raw.low(value) & self.sign
    }

    pub(super) fn high_sign(self, value: u64) -> u64 {
        let raw = Self { changes: Changes { negated: false, absolute: false, ..self.changes }, ..self };
        raw.high(value) & self.sign
    }
}

/// Modifiers of float and half results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) format: Format,
    pub(super) rounding: Rounding,
    pub(super) flushes: bool,
    pub(super) saturates: bool,
    pub(super) relu: bool,
}

/// Returns the rounding of a modifier.
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
    /// Returns the style of modifiers. `None` if a modifier is unknown.
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

    /// Returns the value of a number.
    pub(super) fn value(self, bits: u64) -> f64 {
        self.flushed(self.format.value(bits))
    }

    /// Returns the bits of a result.
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

    /// Returns the minimum or maximum of two numbers. If one is NaN, returns the other, unless `keeps_nan`.
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
