//! Arithmetic on doubles with a rounding.

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

/// A sum.
pub(crate) fn double_add(left: f64, right: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => left + right,
        _ => back(of(left).add_r(of(right), round_of(rounding)).value),
    }
}

/// A product.
pub(crate) fn double_mul(left: f64, right: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => left * right,
        _ => back(of(left).mul_r(of(right), round_of(rounding)).value),
    }
}

/// A product and a sum, rounded once.
pub(crate) fn double_fma(left: f64, right: f64, addend: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => left.mul_add(right, addend),
        _ => back(of(left).mul_add_r(of(right), of(addend), round_of(rounding)).value),
    }
}

/// A quotient.
pub(crate) fn double_div(left: f64, right: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => left / right,
        _ => back(of(left).div_r(of(right), round_of(rounding)).value),
    }
}

/// An integer of at most 64 bits.
pub(crate) fn double_of_integer(integer: i128, rounding: Rounding) -> f64 {
    back(Double::from_i128_r(integer, round_of(rounding)).value)
}

/// A square root. The nearest one is a step off at most, and its square says in which direction.
pub(crate) fn double_sqrt(value: f64, rounding: Rounding) -> f64 {
    let root = value.sqrt();
    if matches!(rounding, Rounding::Nearest | Rounding::Away) || !root.is_finite() || root == 0.0 {
        return root;
    }
    // Scaled by a power of four, so that the rest is no subnormal number.
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
