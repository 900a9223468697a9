//! Values of the interpreter: bits, each of which may be undefined.

/// The content of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The bits; 0 for undefined bits and beyond the width.
    value: u128,
    /// Mask of the undefined bits. Each read may give another value.
    undefined: u128,
    width: u32,
}

/// Returns a mask of the bits below `width`.
fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

impl Bits {
    /// Returns the low bits of a number as a value.
    pub fn new(value: u128, width: u32) -> Self {
        Self { value: value & mask(width), undefined: 0, width }
    }

    /// Returns an undefined value.
    pub fn undefined(width: u32) -> Self {
        Self { value: 0, undefined: mask(width), width }
    }

    /// Whether all bits are defined.
    pub fn is_defined(self) -> bool {
        self.undefined == 0
    }

    /// Returns the bits in another width: truncated, or extended with zeros.
    pub fn resized(self, width: u32) -> Self {
        Self { value: self.value & mask(width), undefined: self.undefined & mask(width), width }
    }

    /// Returns part `index` of `parts` equal ones, lowest first.
    pub fn part(self, index: u32, parts: u32) -> Self {
        let width = self.width / parts.max(1);
        let shift = index.saturating_mul(width).min(127);
        Self { value: self.value >> shift, undefined: self.undefined >> shift, width }.resized(width)
    }

    /// Returns the concatenation of these bits and `high`, with `high` in the upper bits.
    pub fn below(self, high: Self) -> Self {
        let place = |bits: u128| bits.checked_shl(self.width).unwrap_or(0);
        Self {
            value: self.value | place(high.value),
            undefined: self.undefined | place(high.undefined),
            width: self.width + high.width,
        }
    }

    /// Returns the bits sign-extended to 128: equal for a register and the immediate that may replace it.
    pub fn sign_extended(self) -> Self {
        let unused = 128 - self.width.clamp(1, 128);
        let extend = |bits: u128| (((bits << unused) as i128) >> unused) as u128;
        Self { value: extend(self.value), undefined: extend(self.undefined), width: 128 }
    }

    /// Returns the number that the bits represent, if all are defined.
    pub fn number(self) -> Option<u128> {
        self.is_defined().then_some(self.value)
    }

    /// Whether `other` may replace this value: it must agree with all defined bits.
    pub fn is_refined_by(self, other: Self) -> bool {
        let (old, new) = (self.sign_extended(), other.sign_extended());
        (new.undefined | (old.value ^ new.value)) & !old.undefined == 0
    }

    /// Whether the bits are the same wherever both are defined.
    pub(super) fn agrees_with(self, other: Self) -> bool {
        (self.value ^ other.value) & !self.undefined & !other.undefined == 0
    }
}

/// Mixes a number into a hash: the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
pub(super) fn mix(hash: u64, number: u64) -> u64 {
    let mut mixed = hash.rotate_left(5) ^ number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Mixes 128 bits into a hash.
pub(super) fn mix_wide(hash: u64, number: u128) -> u64 {
    mix(mix(hash, number as u64), (number >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_put_together_are_the_whole() {
        let whole = Bits::new(0x0123_4567_89ab_cdef, 64);
        assert_eq!(whole.part(0, 2), Bits::new(0x89ab_cdef, 32));
        assert_eq!(whole.part(0, 2).below(whole.part(1, 2)), whole);
        let long = Bits::new(u128::MAX - 5, 128);
        assert_eq!(long.part(0, 2).below(long.part(1, 2)), long);
    }

    #[test]
    fn undefined_bits_may_become_anything_and_defined_ones_stay() {
        let (known, unknown) = (Bits::new(7, 32), Bits::undefined(32));
        assert!(unknown.is_refined_by(known) && unknown.is_refined_by(unknown) && known.is_refined_by(known));
        assert!(!known.is_refined_by(unknown) && !known.is_refined_by(Bits::new(6, 32)));
        let half = known.below(unknown);
        assert!(half.is_refined_by(known.below(known)) && !half.is_refined_by(unknown.below(known)));
    }

    #[test]
    fn an_immediate_agrees_with_the_register_it_replaces() {
        assert!(Bits::new(0xffff_fffe, 32).is_refined_by(Bits::new(-2i128 as u128, 64)));
        assert!(!Bits::new(0xffff_fffe, 32).is_refined_by(Bits::new(2, 64)));
    }
}
