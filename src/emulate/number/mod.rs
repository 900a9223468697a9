//! Floating-point numbers of every width, with every rounding mode.
//!
//! Halves, bf16, fp8 and floats are computed as doubles that are rounded to odd. A second rounding to at most 24 bits
//! then gives the right result in each rounding mode. Doubles in modes other than the nearest use `rustc_apfloat`.

mod double;
mod format;
mod odd;
#[cfg(test)]
mod tests;

pub(crate) use double::{double_add, double_div, double_fma, double_mul, double_of_integer, double_sqrt};
pub(crate) use format::{BF16, E4M3, E5M2, F16, F32, Format, TF32};
pub(crate) use odd::{add, div, fma, mul, of_integer, sqrt};

/// A rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// `.rn`: to the nearest, ties to even.
    Nearest,
    /// `.rna`: to the nearest, ties away from zero.
    Away,
    /// `.rz`
    Zero,
    /// `.rm`
    Down,
    /// `.rp`
    Up,
}

impl Rounding {
    /// Returns the rounding of a modifier without its dot.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "rn" => Self::Nearest,
            "rna" => Self::Away,
            "rz" => Self::Zero,
            "rm" => Self::Down,
            "rp" => Self::Up,
            _ => return None,
        })
    }

    /// Returns the rounding to an integer of a `cvt` modifier.
    pub(crate) fn to_integer(word: &str) -> Option<Self> {
        Some(match word {
            "rni" => Self::Nearest,
            "rzi" => Self::Zero,
            "rmi" => Self::Down,
            "rpi" => Self::Up,
            _ => return None,
        })
    }

    /// Rounds a double to an integer.
    pub(crate) fn integer(self, value: f64) -> f64 {
        match self {
            Self::Nearest => value.round_ties_even(),
            Self::Away => value.round(),
            Self::Zero => value.trunc(),
            Self::Down => value.floor(),
            Self::Up => value.ceil(),
        }
    }
}
