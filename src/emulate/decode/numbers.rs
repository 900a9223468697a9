//! Number literals of PTX.

use crate::emulate::number::{BF16, F16, Rounding};
use crate::emulate::types::Ty;

/// Returns the value of a literal for a type. Literals with a decimal point, and hexadecimal floats, become bits.
pub(super) fn number(text: &str, ty: Ty) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    if let Some(bits) = lower.strip_prefix("0f").filter(|bits| bits.len() == 8) {
        let value = u32::from_str_radix(bits, 16).ok()?;
        return Some(if ty == Ty::F64 { f64::from(f32::from_bits(value)).to_bits() } else { value.into() });
    }
    if let Some(bits) = lower.strip_prefix("0d").filter(|bits| bits.len() == 16) {
        let value = u64::from_str_radix(bits, 16).ok()?;
        return Some(if ty == Ty::F32 { (f64::from_bits(value) as f32).to_bits().into() } else { value });
    }
    let integer = lower.trim_end_matches('u');
    let parsed = if let Some(digits) = integer.strip_prefix("0x") {
        u64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = integer.strip_prefix("0b") {
        u64::from_str_radix(digits, 2).ok()
    } else if integer.len() > 1 && integer.starts_with('0') && integer.bytes().all(|byte| byte.is_ascii_digit()) {
        u64::from_str_radix(&integer[1..], 8).ok()
    } else {
        integer.parse().ok()
    };
    match parsed {
        Some(value) if matches!(ty, Ty::F32 | Ty::F64) => float_bits(value as f64, ty),
        Some(value) => Some(value),
        None => float_bits(lower.parse().ok()?, ty),
    }
}

fn float_bits(value: f64, ty: Ty) -> Option<u64> {
    match ty {
        Ty::F32 | Ty::TF32 => Some((value as f32).to_bits().into()),
        Ty::F64 => Some(value.to_bits()),
        Ty::F16 => Some(F16.round(value, Rounding::Nearest, false)),
        Ty::BF16 => Some(BF16.round(value, Rounding::Nearest, false)),
        _ => None,
    }
}
