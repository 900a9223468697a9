//! Drawn values of memory that was not written.

use crate::emulate::layout;
use crate::emulate::number::{BF16, F16, Rounding};
use crate::emulate::types::{Kind, low, mixed};

/// Returns a number between -2 and 2. Some come from a small set, so that equal numbers occur; others have enough bits
/// for sums to be rounded.
fn moderate(hash: u64) -> f64 {
    if hash.is_multiple_of(4) {
        return ((hash >> 8) % 9) as f64 / 2.0 - 2.0;
    }
    f64::from((hash >> 8 & 0xff_ffff) as u32) / 4_194_304.0 - 2.0
}

/// Kinds of drawn values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) enum Values {
    /// Small integers, and floating-point numbers between -2 and 2.
    #[default]
    Moderate,
    /// The same, with floating-point numbers above zero.
    Positive,
    /// Half of the floating-point numbers are infinite, NaN, subnormal, zero or the largest.
    ExtremeFloats,
    /// Half of the integers are at a limit, too.
    Extreme,
}

/// Whether an extreme value is drawn: every second one.
fn is_extreme(hash: u64) -> bool {
    hash >> 40 & 1 == 1
}

/// Returns an integer at or near a limit of its width.
fn integer_limit(hash: u64, bits: u32) -> u64 {
    let top = 1 << (bits - 1);
    let limits: [u64; 6] = [u64::MAX, top, top - 1, top + 1, u64::MAX - 1, 0];
    low(limits[hash as usize % limits.len()], bits)
}

/// Returns an unusual floating-point number of a format with these bits in exponent and fraction.
fn odd_number(hash: u64, exponent: u32, fraction: u32) -> u64 {
    let infinity = ((1 << exponent) - 1) << fraction;
    let smallest_normal = 1 << fraction;
    let numbers = [infinity, infinity | 1 << (fraction - 1), infinity | (smallest_normal - 1), 0, 1];
    let more = [smallest_normal - 1, smallest_normal, infinity - 1];
    let number = [&numbers[..], &more].concat()[hash as usize % 8];
    number | (hash >> 32 & 1) << (exponent + fraction)
}

/// Returns a floating-point number of a kind, as bits.
fn number_of(kind: Kind, hash: u64, values: Values) -> u64 {
    let is_odd = matches!(values, Values::ExtremeFloats | Values::Extreme) && is_extreme(hash);
    if is_odd {
        return match kind {
            Kind::F16 => odd_number(hash, 5, 10),
            Kind::BF16 => odd_number(hash, 8, 7),
            Kind::F64 => odd_number(hash, 11, 52),
            _ => odd_number(hash, 8, 23),
        };
    }
    let value = moderate(hash);
    let value = if values == Values::Positive { value.abs() + 0.25 } else { value };
    match kind {
        Kind::F16 => F16.round(value, Rounding::Nearest, false),
        Kind::BF16 => BF16.round(value, Rounding::Nearest, false),
        Kind::F64 => value.to_bits(),
        _ => u64::from((value as f32).to_bits()),
    }
}

/// The number of different integers in a buffer, for bytes and for wider elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulate) struct Range([u64; 2]);

impl Default for Range {
    fn default() -> Self {
        Self([64, 97])
    }
}

impl Range {
    /// Returns the range of the buffer that contains an address. Flag bytes are 0 or 1 in one of two buffers, and loop
    /// counts are small in one of two.
    pub(in crate::emulate) fn of_buffer(seed: u64, address: u64) -> Self {
        let ranges = [Self::default(), Self([2, 97]), Self([64, 5]), Self([2, 3])];
        ranges[mixed(seed ^ (address >> 32)) as usize % ranges.len()]
    }
}

/// Returns `bytes` bytes of a kind; `key` selects the value.
pub(in crate::emulate) fn drawn(kind: Kind, bytes: usize, key: u64, values: Values, Range(range): Range) -> u64 {
    let hash = mixed(key);
    let size = kind.bytes();
    match kind {
        Kind::Pointer if bytes == 8 => layout::MORE_BUFFERS + ((hash & 0x3fff) << 28),
        Kind::Meeting => 0,
        Kind::Integer if values == Values::Extreme && is_extreme(hash) => integer_limit(hash, 8 * bytes as u32),
        Kind::Integer | Kind::Pointer => match bytes {
            1 => hash % range[0],
            _ => hash % range[1],
        },
        _ if kind.is_float() && bytes >= size => {
            let parts = (0..bytes / size)
                .map(|number| number_of(kind, mixed(hash ^ number as u64), values) << (8 * size * number));
            parts.fold(0, |all, part| all | part)
        }
        _ => low(hash, 8 * bytes as u32),
    }
}
