//! Formats of at most 32 bits: conversions from and to double.

use super::Rounding;

/// A binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    /// Zero bits below the mantissa.
    padding: u32,
    /// Whether the format has infinities. Otherwise, only its last value is not a number.
    has_infinity: bool,
}

const fn format(exponent_bits: u32, mantissa_bits: u32, padding: u32, has_infinity: bool) -> Format {
    Format { exponent_bits, mantissa_bits, padding, has_infinity }
}

pub(crate) const F16: Format = format(5, 10, 0, true);
pub(crate) const BF16: Format = format(8, 7, 0, true);
pub(crate) const TF32: Format = format(8, 10, 13, true);
pub(crate) const F32: Format = format(8, 23, 0, true);
pub(crate) const E5M2: Format = format(5, 2, 0, true);
pub(crate) const E4M3: Format = format(4, 3, 0, false);

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// Returns the first encoding, without sign, that is not a finite number.
    const fn limit(self) -> u64 {
        if self.has_infinity {
            ((1 << self.exponent_bits) - 1) << self.mantissa_bits
        } else {
            (1 << (self.exponent_bits + self.mantissa_bits)) - 1
        }
    }

    /// Returns the encoding of a NaN result: all bits but the sign.
    pub(crate) fn nan(self) -> u64 {
        (self.sign_bit() - 1) << self.padding | ((1 << self.padding) - 1)
    }

    /// Returns the encoding of the largest finite number.
    fn largest(self) -> u64 {
        self.limit() - 1
    }

    /// Rounds a double to this format. If `saturates`, a finite number that is too large becomes the largest one.
    pub(crate) fn round(self, value: f64, rounding: Rounding, saturates: bool) -> u64 {
        if value.is_nan() {
            return self.nan();
        }
        let sign = if value.is_sign_negative() { self.sign_bit() } else { 0 };
        let magnitude = self.magnitude(value, rounding);
        let finite = if magnitude < self.limit() {
            magnitude
        } else if saturates {
            self.largest()
        } else if !self.has_infinity {
            return self.nan();
        } else {
            let is_down = match rounding {
                Rounding::Nearest | Rounding::Away => false,
                Rounding::Zero => true,
                Rounding::Down => sign == 0,
                Rounding::Up => sign != 0,
            };
            if is_down && value.is_finite() { self.largest() } else { self.limit() }
        };
        (sign | finite) << self.padding
    }

    /// Returns the encoding without sign. From the limit on, the number is too large.
    fn magnitude(self, value: f64, rounding: Rounding) -> u64 {
        if value.is_infinite() {
            return self.limit();
        }
        let (mantissa, exponent) = parts(value);
        if mantissa == 0 {
            return 0;
        }
        // Exponents of the lowest bit of the double, and of the lowest bit that the result can have.
        let top = exponent + 63 - mantissa.leading_zeros() as i32;
        let lowest = 1 - self.bias() - self.mantissa_bits as i32;
        let least = (top - self.mantissa_bits as i32).max(lowest);
        let shift = least - exponent;
        let (kept, rest) = match shift {
            ..=0 => (mantissa << -shift, 0),
            1..=63 => (mantissa >> shift, mantissa << (64 - shift)),
            64 => (0, mantissa),
            _ => (0, 1),
        };
        let half = 1 << 63;
        let is_up = match rounding {
            Rounding::Nearest => rest > half || (rest == half && kept & 1 == 1),
            Rounding::Away => rest >= half,
            Rounding::Zero => false,
            Rounding::Down => rest != 0 && value < 0.0,
            Rounding::Up => rest != 0 && value > 0.0,
        };
        (((least - lowest) as u64) << self.mantissa_bits) + kept + u64::from(is_up)
    }

    /// Returns the value of an encoding. Every value of these formats is a double.
    pub(crate) fn value(self, bits: u64) -> f64 {
        let bits = bits >> self.padding;
        let magnitude = bits & (self.sign_bit() - 1);
        let sign = if bits & self.sign_bit() != 0 { -1.0 } else { 1.0 };
        if magnitude >= self.limit() {
            return if magnitude == self.limit() && self.has_infinity { sign * f64::INFINITY } else { f64::NAN };
        }
        let field = (magnitude >> self.mantissa_bits) as i32;
        let fraction = magnitude & ((1 << self.mantissa_bits) - 1);
        let mantissa = if field == 0 { fraction } else { fraction | 1 << self.mantissa_bits };
        let exponent = field.max(1) - self.bias() - self.mantissa_bits as i32;
        sign * mantissa as f64 * f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

/// Returns a double's magnitude as an integer and a power of two.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits() & !(1 << 63);
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) }
}
