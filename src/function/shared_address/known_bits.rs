//! Bits of a 32-bit value that are zero in every thread.

/// The bits that may be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits(u32);

impl Bits {
    /// Any value.
    pub(super) const ANY: Self = Self(u32::MAX);

    /// Returns the bits of a known number.
    pub(super) fn of(value: u32) -> Self {
        Self(value)
    }

    /// Returns the bits of any number up to `value`.
    pub(super) fn at_most(value: u32) -> Self {
        Self(u32::MAX.checked_shr(value.leading_zeros()).unwrap_or(0))
    }

    /// Returns the largest number with these bits.
    pub(super) fn most(self) -> u32 {
        self.0
    }

    /// Whether the two values have no possible one bit in common.
    pub(super) fn is_disjoint(self, other: Self) -> bool {
        self.0 & other.0 == 0
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self::arithmetic(self.trailing_zeros().min(other.trailing_zeros()), self.0.checked_add(other.0))
    }

    pub(super) fn multiply(self, other: Self) -> Self {
        Self::arithmetic(self.trailing_zeros() + other.trailing_zeros(), self.0.checked_mul(other.0))
    }

    pub(super) fn shift_left(self, by: u32) -> Self {
        Self(self.0.checked_shl(by).unwrap_or(0))
    }

    pub(super) fn shift_right(self, by: u32) -> Self {
        Self(self.0.checked_shr(by).unwrap_or(0))
    }

    pub(super) fn minimum(self, other: Self) -> Self {
        Self::at_most(self.0.min(other.0))
    }

    fn trailing_zeros(self) -> u32 {
        self.0.trailing_zeros()
    }

    /// Returns the bits of a result with `zeros` trailing zeros that is at most `most`. `most` is `None` if the result
    /// may exceed 32 bits.
    fn arithmetic(zeros: u32, most: Option<u32>) -> Self {
        let low = Self(u32::MAX).shift_left(zeros);
        low.and(most.map_or(Self::ANY, Self::at_most))
    }
}

#[cfg(test)]
mod tests {
    use arbitrary::Unstructured;

    use super::*;
    use crate::fuzzing::explore;

    /// The result of each operation has only its predicted bits, for random operands.
    #[test]
    fn contain_every_result() {
        let check = |u: &mut Unstructured<'_>| {
            let mut mask = || -> arbitrary::Result<u32> {
                let (any, shift): (u32, u32) = (u.arbitrary()?, u.int_in_range(0..=31)?);
                Ok(if u.arbitrary()? { any >> shift } else { any << shift })
            };
            let (left, right) = (mask()?, mask()?);
            let (a, b) = (mask()? & left, mask()? & right);
            let by = mask()? % 40;
            let (left, right) = (Bits::of(left), Bits::of(right));
            let contains = |bits: Bits, value: u32| value & !bits.0 == 0 && value <= bits.most();
            assert!(contains(left.add(right), a.wrapping_add(b)));
            assert!(contains(left.multiply(right), a.wrapping_mul(b)));
            assert!(contains(left.or(right), a | b) && contains(left.and(right), a & b));
            assert!(contains(left.minimum(right), a.min(b)) && contains(Bits::at_most(a), a));
            assert!(contains(left.shift_left(by), a.checked_shl(by).unwrap_or(0)));
            assert!(contains(left.shift_right(by), a.checked_shr(by).unwrap_or(0)));
            assert!(!left.is_disjoint(right) || a.wrapping_add(b) == a | b);
            Ok(())
        };
        explore(check, 2_000, &[]);
    }
}
