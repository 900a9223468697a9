//! Places of memory that a rule fills: buffers of realistic size, of which only the parts that are read exist.

use crate::emulate::number::{F16, Rounding};
use crate::emulate::types::mixed;

/// Rule for the elements of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// All bits zero.
    Zeros,
    /// The element's index times this number.
    Ramp(f64),
    /// Drawn between two values. In integer types, both bounds are possible.
    Uniform(f64, f64),
    /// Whole numbers, drawn between two values.
    Whole(f64, f64),
}

/// The type of the elements of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Integers of this number of bytes.
    Integer(u8),
    /// Floating-point numbers of 2, 4 or 8 bytes.
    Float(u8),
}

impl Element {
    fn bytes(self) -> u64 {
        match self {
            Self::Integer(bytes) | Self::Float(bytes) => bytes.into(),
        }
    }

    fn bits_of(self, value: f64) -> u64 {
        match self {
            Self::Integer(_) => value as i64 as u64,
            Self::Float(8) => value.to_bits(),
            Self::Float(4) => u64::from((value as f32).to_bits()),
            Self::Float(_) => F16.round(value, Rounding::Nearest, false),
        }
    }
}

/// A place of memory that a rule fills.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The address of the first byte.
    pub start: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The type of the elements.
    pub element: Element,
    /// The rule.
    pub fill: Fill,
}

impl Filled {
    pub(super) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    /// Returns at most eight bytes at an aligned address.
    pub(super) fn value(&self, address: u64, bytes: usize, seed: u64) -> u64 {
        let size = self.element.bytes();
        (0..bytes as u64).fold(0, |all, byte| {
            let at = address + byte - self.start;
            all | (self.element_at(at / size, seed) >> (8 * (at % size)) & 0xff) << (8 * byte)
        })
    }

    fn element_at(&self, number: u64, seed: u64) -> u64 {
        let hash = mixed(seed ^ mixed(self.start ^ number));
        let is_whole = matches!(self.element, Element::Integer(_));
        let value = match self.fill {
            Fill::Zeros => return 0,
            Fill::Ramp(by) => by * number as f64,
            Fill::Uniform(low, high) if !is_whole => low + (high - low) * ((hash >> 11) as f64 / (1u64 << 53) as f64),
            Fill::Uniform(low, high) | Fill::Whole(low, high) => {
                let count = (high.floor() - low.ceil()).max(0.0) as u64 + 1;
                low.ceil() + (hash % count) as f64
            }
        };
        self.element.bits_of(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of an element are its bytes, and drawn elements are within their bounds.
    #[test]
    fn elements_are_within_bounds() {
        let start = 1 << 44;
        let of = |element, fill| Filled { start, bytes: 4096, element, fill };
        let integers = of(Element::Integer(4), Fill::Uniform(3.0, 9.0));
        let floats = of(Element::Float(4), Fill::Uniform(-1.0, 1.0));
        let mut seen = [false; 10];
        for number in 0..1024 {
            let at = start + 4 * number;
            let whole = integers.value(at, 4, 7);
            assert!((3..=9).contains(&whole));
            seen[whole as usize] = true;
            assert!(f32::from_bits(floats.value(at, 4, 7) as u32).abs() <= 1.0);
            let halves = floats.value(at, 2, 7) | floats.value(at + 2, 2, 7) << 16;
            assert_eq!(halves, floats.value(at, 4, 7));
        }
        assert!(seen[3..].iter().all(|&one| one));
        let ramp = of(Element::Integer(4), Fill::Ramp(32.0));
        assert_eq!([0, 1, 5].map(|number| ramp.value(start + 4 * number, 4, 7)), [0, 32, 160]);
        assert_eq!(ramp.value(start, 8, 7), 32 << 32);
        assert!(!ramp.contains(start + 4096) && ramp.contains(start + 4095) && !ramp.contains(start - 1));
    }
}
