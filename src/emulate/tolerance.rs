//! Equality of two values.

use super::number::{BF16, F16};
use super::types::Kind;

/// Required agreement of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Equality {
    /// They differ by no more than [`tolerance`] permits.
    Close,
    /// They have the same bits, but any NaN equals any other.
    Exact,
    /// They have the same bits.
    Bits,
}

/// Whether two values of a kind, as bits of its width, count as equal.
pub(super) fn are_equal(equality: Equality, kind: Kind, left: u64, right: u64) -> bool {
    let is_nan = |bits| kind.is_float() && value_of(kind, bits).is_nan();
    left == right
        || match equality {
            Equality::Close => are_close(kind, left, right),
            Equality::Exact => is_nan(left) && is_nan(right),
            Equality::Bits => false,
        }
}

/// Returns the permitted relative and absolute difference of two floating-point numbers.
fn tolerance(kind: Kind) -> (f64, f64) {
    match kind {
        Kind::F64 => (1e-9, 1e-12),
        Kind::F32 => (1e-3, 1e-6),
        Kind::F16 => (1e-2, 1e-3),
        Kind::BF16 => (4e-2, 1e-3),
        _ => (0.0, 0.0),
    }
}

/// Whether two values of a kind, as bits of its width, are close enough.
fn are_close(kind: Kind, left: u64, right: u64) -> bool {
    if left == right {
        return true;
    }
    if !kind.is_float() {
        return false;
    }
    let (a, b) = (value_of(kind, left), value_of(kind, right));
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    if !a.is_finite() || !b.is_finite() {
        return a == b;
    }
    // Both zeros are equal. Subnormal numbers may be small integers that were taken for floats.
    let is_subnormal = |value: f64| value != 0.0 && value.abs() < f64::from(f32::MIN_POSITIVE);
    if kind == Kind::F32 && (is_subnormal(a) || is_subnormal(b)) {
        return false;
    }
    let (relative, absolute) = tolerance(kind);
    (a - b).abs() <= relative * a.abs().max(b.abs()) + absolute
}

/// Returns the number that bits represent.
pub(super) fn value_of(kind: Kind, bits: u64) -> f64 {
    match kind {
        Kind::F64 => f64::from_bits(bits),
        Kind::F16 => F16.value(bits & 0xffff),
        Kind::BF16 => BF16.value(bits & 0xffff),
        _ => f32::from_bits(bits as u32).into(),
    }
}
