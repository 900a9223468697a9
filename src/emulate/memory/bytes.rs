//! A value whose bytes may be undefined.

use super::origin::Origin;

/// Returns the mask of the first `bytes` bytes.
pub(in crate::emulate) fn first_bytes(bytes: usize) -> u8 {
    if bytes >= 8 { u8::MAX } else { (1 << bytes) - 1 }
}

/// Returns the bits of the bytes in a mask.
pub(in crate::emulate) fn bits_of(bytes: u8) -> u64 {
    match bytes {
        u8::MAX => u64::MAX,
        _ => (0..8).filter(|byte| bytes >> byte & 1 == 1).fold(0, |bits, byte| bits | 0xff << (8 * byte)),
    }
}

/// A value of at most eight bytes, and a mask of the defined bytes. Bytes beyond the value's width count as defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulate) struct Bytes {
    pub(in crate::emulate) value: u64,
    pub(in crate::emulate) defined: u8,
    /// Origin of the undefined bytes.
    pub(in crate::emulate) origin: Origin,
}

impl Bytes {
    /// Returns a defined value.
    pub(in crate::emulate) fn whole(value: u64) -> Self {
        Self { value, defined: u8::MAX, origin: Origin::default() }
    }

    /// Returns an undefined value of `bytes` bytes.
    pub(in crate::emulate) fn undefined(bytes: usize) -> Self {
        Self { value: 0, defined: !first_bytes(bytes), origin: Origin::default() }
    }

    /// Returns `bytes` bytes, beginning with byte `first`.
    pub(in crate::emulate) fn part(self, first: usize, bytes: usize) -> Self {
        let own = first_bytes(bytes);
        let value = self.value.checked_shr(8 * first as u32).unwrap_or_default() & bits_of(own);
        let defined = self.defined.checked_shr(first as u32).unwrap_or_default() | !own;
        Self { value, defined, ..self }
    }

    /// Concatenates values of `bytes` bytes each, with at most eight bytes together.
    pub(in crate::emulate) fn joined(parts: impl IntoIterator<Item = Self>, bytes: usize) -> Self {
        let mut all = Self::whole(0);
        for (number, part) in parts.into_iter().take(8 / bytes).enumerate() {
            let (part, first) = (part.part(0, bytes), number * bytes);
            all.value |= part.value << (8 * first);
            all.defined &= !(!part.defined << first);
            all.origin = all.origin.or(part.origin);
        }
        all
    }

    /// Returns the value if all its bytes are defined.
    pub(in crate::emulate) fn known(self) -> Option<u64> {
        (self.defined == u8::MAX).then_some(self.value)
    }

    /// Whether one of the first `bytes` bytes is defined.
    pub(in crate::emulate) fn has_any(self, bytes: usize) -> bool {
        self.defined & first_bytes(bytes) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Concatenated parts are the original value, byte by byte.
    #[test]
    fn parts() {
        for defined in 0..=u8::MAX {
            let whole = Bytes { value: 0x1122_3344_5566_7788, defined, origin: Origin::unset(3) };
            for bytes in [1, 2, 4, 8] {
                let joined = Bytes::joined((0..8 / bytes).map(|number| whole.part(number * bytes, bytes)), bytes);
                assert_eq!(joined, whole, "{bytes}");
            }
            let half = whole.part(2, 4);
            assert_eq!((half.value, half.defined), (0x3344_5566, defined >> 2 & 0xf | 0xf0));
            assert_eq!(half.known().is_some(), defined >> 2 & 0xf == 0xf);
            assert_eq!(half.has_any(4), defined >> 2 & 0xf != 0);
        }
    }
}
