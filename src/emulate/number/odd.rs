//! Arithmetic on values of at most 24 bits, as doubles rounded to odd.
//!
//! If the exact result is not a double, the returned value is the neighbouring double whose last bit is one. A second
//! rounding then cannot mistake the value for the midpoint of two numbers.

use super::Rounding;
use crate::emulate::types::low;

/// Rounds to odd: `value` is the double nearest to a result, and `rest` has the sign of the error.
fn to_odd(value: f64, rest: f64) -> f64 {
    if rest == 0.0 || !value.is_finite() || value == 0.0 || value.to_bits() & 1 == 1 || rest.is_nan() {
        return value;
    }
    let grows = (rest > 0.0) == (value > 0.0);
    f64::from_bits(if grows { value.to_bits() + 1 } else { value.to_bits() - 1 })
}

/// Returns a sum.
pub(crate) fn add(left: f64, right: f64, rounding: Rounding) -> f64 {
    let sum = left + right;
    if sum == 0.0 {
        let same = left.is_sign_negative() == right.is_sign_negative();
        return match rounding {
            _ if same => left,
            Rounding::Down => -0.0,
            _ => 0.0,
        };
    }
    let other = sum - left;
    to_odd(sum, (left - (sum - other)) + (right - other))
}

/// Returns a product, which is exact.
pub(crate) fn mul(left: f64, right: f64) -> f64 {
    left * right
}

/// Returns a product plus an addend, rounded once.
pub(crate) fn fma(left: f64, right: f64, addend: f64, rounding: Rounding) -> f64 {
    add(left * right, addend, rounding)
}

/// Returns a quotient.
pub(crate) fn div(left: f64, right: f64) -> f64 {
    let quotient = left / right;
    let rest = (-quotient).mul_add(right, left);
    to_odd(quotient, if right < 0.0 { -rest } else { rest })
}

/// Returns a square root.
pub(crate) fn sqrt(value: f64) -> f64 {
    let root = value.sqrt();
    to_odd(root, (-root).mul_add(root, value))
}

/// Converts an integer of at most 64 bits and a sign.
pub(crate) fn of_integer(integer: i128) -> f64 {
    let magnitude = integer.unsigned_abs() as u64;
    let extra = 11u32.saturating_sub(magnitude.leading_zeros());
    let sticky = u64::from(low(magnitude, extra) != 0);
    let value = ((magnitude >> extra | sticky) as f64) * f64::from(1u32 << extra);
    if integer < 0 { -value } else { value }
}
