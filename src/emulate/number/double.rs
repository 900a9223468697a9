//! Arithmetic on doubles with a rounding mode.

use rustc_apfloat::ieee::Double;
use rustc_apfloat::{Float, Round};

use super::Rounding;

fn round_of(rounding: Rounding) -> Round {
    match rounding {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::Away => Round::NearestTiesToAway,
        Rounding::Zero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

fn of(value: f64) -> Double {
    Double::from_bits(value.to_bits().into())
}

fn back(value: Double) -> f64 {
    f64::from_bits(value.to_bits() as u64)
}

/// Returns a sum.
pub(crate) fn double_add(left: f64, right: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => left + right,
        _ => back(of(left).add_r(of(right), round_of(rounding)).value),
    }
}

/// Returns a product.
pub(crate) fn double_mul(left: f64, right: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => left * right,
        _ => back(of(left).mul_r(of(right), round_of(rounding)).value),
    }
}

/// Returns a product plus an addend, rounded once.
pub(crate) fn double_fma(left: f64, right: f64, addend: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => left.mul_add(right, addend),
        _ => back(of(left).mul_add_r(of(right), of(addend), round_of(rounding)).value),
    }
}

/// Returns a quotient.
pub(crate) fn double_div(left: f64, right: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => left / right,
        _ => back(of(left).div_r(of(right), round_of(rounding)).value),
    }
}

/// Converts an integer of at most 64 bits.
pub(crate) fn double_of_integer(integer: i128, rounding: Rounding) -> f64 {
    back(Double::from_i128_r(integer, round_of(rounding)).value)
}

/// Returns a square root. The nearest double is at most one step off, and its square shows the direction.
pub(crate) fn double_sqrt(value: f64, rounding: Rounding) -> f64 {
    let root = value.sqrt();
    if matches!(rounding, Rounding::Nearest | Rounding::Away) || !root.is_finite() || root == 0.0 {
        return root;
    }
    // The scale is a power of four; it keeps the remainder from being subnormal.
    let scale = if value < f64::from_bits(1 << 61) { f64::from_bits((1023 + 600) << 52) } else { 1.0 };
    let scaled = root * scale;
    let half = if scale > 1.0 { f64::from_bits((1023 + 600) << 52) } else { 1.0 };
    let rest = (-scaled).mul_add(scaled, value * scale * half);
    match rounding {
        Rounding::Up if rest > 0.0 => f64::from_bits(root.to_bits() + 1),
        Rounding::Zero | Rounding::Down if rest < 0.0 => f64::from_bits(root.to_bits() - 1),
        _ => root,
    }
}
