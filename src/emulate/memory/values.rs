//! Values drawn for memory that nobody wrote.

use crate::emulate::layout;
use crate::emulate::number::{BF16, F16, Rounding};
use crate::emulate::types::{Kind, low, mixed};

/// A number between -2 and 2. Some are of few, so that equal ones meet; others have bits enough for sums to be rounded.
fn moderate(hash: u64) -> f64 {
    if hash.is_multiple_of(4) {
        return ((hash >> 8) % 9) as f64 / 2.0 - 2.0;
    }
    f64::from((hash >> 8 & 0xff_ffff) as u32) / 4_194_304.0 - 2.0
}

/// So many bytes of a kind, from a number that says which.
/// Floating-point numbers are above zero where `is_positive`.
pub(in crate::emulate) fn drawn(kind: Kind, bytes: usize, key: u64, is_positive: bool) -> u64 {
    let hash = mixed(key);
    let size = kind.bytes();
    match kind {
        Kind::Pointer if bytes == 8 => layout::MORE_BUFFERS + ((hash & 0x3fff) << 28),
        Kind::Meeting => 0,
        Kind::Integer | Kind::Pointer => match bytes {
            1 => hash & 0x3f,
            _ => hash % 97,
        },
        _ if kind.is_float() && bytes >= size => {
            let parts = (0..bytes / size).map(|number| {
                let value = moderate(mixed(hash ^ number as u64));
                let value = if is_positive { value.abs() + 0.25 } else { value };
                let bits = match kind {
                    Kind::F16 => F16.round(value, Rounding::Nearest, false),
                    Kind::BF16 => BF16.round(value, Rounding::Nearest, false),
                    Kind::F64 => value.to_bits(),
                    _ => u64::from((value as f32).to_bits()),
                };
                bits << (8 * size * number)
            });
            parts.fold(0, |all, part| all | part)
        }
        _ => low(hash, 8 * bytes as u32),
    }
}
