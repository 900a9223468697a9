//! Outcomes of predicates, and relations between the sides of comparisons, as bits.

use std::cmp::Ordering;

use super::number::{BF16, F16};
use super::pure::Pure;
use super::types::{Ty, signed};

/// The predicate of an instruction held in some lane.
pub(super) const HELD: u8 = 1;
/// The predicate did not hold in some lane.
pub(super) const FAILED: u8 = 2;
/// The left side of a comparison was equal to the right side in some lane; just above it; just below it. For
/// floating-point numbers, any distance counts.
pub(super) const AT: u8 = 4;
pub(super) const ABOVE: u8 = 8;
pub(super) const BELOW: u8 = 16;

/// Whether an operation compares two numbers.
pub(super) fn compares(pure: &Pure) -> bool {
    let is_one = |ty: Ty| ty.is_integer() || matches!(ty, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64);
    pure.results.first() == Some(&Ty::Pred)
        && matches!(*pure.sources, [left, right, ..] if is_one(left) && left == right)
}

/// Returns the relation between the sides of a comparison, as bits like those of predicates.
pub(super) fn relation(ty: Ty, left: u64, right: u64) -> u8 {
    let of = |order: Option<Ordering>| match order {
        Some(Ordering::Equal) => AT,
        Some(Ordering::Greater) => ABOVE,
        Some(Ordering::Less) => BELOW,
        None => 0,
    };
    match ty {
        Ty::F32 => of(f32::from_bits(left as u32).partial_cmp(&f32::from_bits(right as u32))),
        Ty::F64 => of(f64::from_bits(left).partial_cmp(&f64::from_bits(right))),
        Ty::F16 => of(F16.value(left).partial_cmp(&F16.value(right))),
        Ty::BF16 => of(BF16.value(left).partial_cmp(&BF16.value(right))),
        _ => match signed(left.wrapping_sub(right), ty.bits()) {
            0 => AT,
            1 => ABOVE,
            -1 => BELOW,
            _ => 0,
        },
    }
}
