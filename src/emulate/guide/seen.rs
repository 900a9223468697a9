//! What launches have shown: what ran, which ways predicates went, and how the sides of comparisons were to each other.

use std::cmp::Ordering;

use crate::emulate::machine::Outcome;
use crate::emulate::number::{BF16, F16};
use crate::emulate::pure::Pure;
use crate::emulate::types::{Ty, signed};

/// The predicate of an instruction held in some lane.
pub(in crate::emulate) const HELD: u8 = 1;
/// It did not hold in some lane.
pub(in crate::emulate) const FAILED: u8 = 2;
/// The left side of a comparison was the right side in some lane; it was just above it; it was just below it. Of
/// floating-point numbers, anything above or below counts.
pub(super) const AT: u8 = 4;
pub(super) const ABOVE: u8 = 8;
pub(super) const BELOW: u8 = 16;

/// Whether an operation compares two numbers.
pub(in crate::emulate) fn compares(pure: &Pure) -> bool {
    let is_one = |ty: Ty| ty.is_integer() || matches!(ty, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64);
    pure.results.first() == Some(&Ty::Pred)
        && matches!(*pure.sources, [left, right, ..] if is_one(left) && left == right)
}

/// How the sides of a comparison are to each other: bits, as of the ways of a predicate.
pub(in crate::emulate) fn relation(ty: Ty, left: u64, right: u64) -> u8 {
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

/// What ran, and which ways predicates went, in all launches so far.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct Seen {
    pub(super) covered: Vec<Vec<bool>>,
    pub(super) ways: Vec<Vec<u8>>,
}

impl Seen {
    /// Adds a launch; whether it shows something new.
    pub(in crate::emulate) fn add(&mut self, outcome: &Outcome) -> bool {
        let is_new = self.lacks(outcome);
        if self.covered.is_empty() {
            self.covered.clone_from(&outcome.covered);
            self.ways.clone_from(&outcome.ways);
        }
        for (all, one) in self.covered.iter_mut().zip(&outcome.covered) {
            all.iter_mut().zip(one).for_each(|(all, &one)| *all |= one);
        }
        for (all, one) in self.ways.iter_mut().zip(&outcome.ways) {
            all.iter_mut().zip(one).for_each(|(all, &one)| *all |= one);
        }
        is_new
    }

    /// Whether a launch shows something new.
    pub(in crate::emulate) fn lacks(&self, outcome: &Outcome) -> bool {
        let more =
            self.ways.iter().zip(&outcome.ways).any(|(all, one)| all.iter().zip(one).any(|(all, one)| one & !all != 0));
        let covers = |(all, one): (&Vec<bool>, &Vec<bool>)| all.iter().zip(one).any(|(&all, &one)| one && !all);
        self.covered.is_empty() || more || self.covered.iter().zip(&outcome.covered).any(covers)
    }
}
