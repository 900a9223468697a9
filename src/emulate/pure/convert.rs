//! Conversions: `cvt` in all its forms.

use super::Pure;
use super::integer::extended;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::number::{BF16, E4M3, E5M2, F16, F32, Format, Rounding, TF32, double_of_integer, of_integer};
use crate::emulate::types::{Ty, low, signed};

const ROUNDINGS: [&str; 9] = ["rn", "rna", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"];

fn format_of(ty: Ty) -> Option<Format> {
    Some(match ty {
        Ty::F16 | Ty::F16x2 => F16,
        Ty::BF16 | Ty::BF16x2 => BF16,
        Ty::TF32 => TF32,
        Ty::F32 => F32,
        Ty::E4M3 => E4M3,
        Ty::E5M2 => E5M2,
        _ => return None,
    })
}

fn value_of(ty: Ty, bits: u64) -> f64 {
    format_of(ty).map_or_else(|| f64::from_bits(bits), |format| format.value(bits))
}

/// Returns the function of a mnemonic.
pub(super) fn find(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    if mnemonic.has("pack") {
        return packed_integers(mnemonic);
    }
    let known = |word: &&str| ROUNDINGS.contains(word) || matches!(*word, "ftz" | "sat" | "satfinite" | "relu");
    let is_small = |word: &&str| matches!(*word, "e4m3x2" | "e5m2x2");
    if !mnemonic.modifiers.iter().all(|word| known(word) || is_small(word) || Ty::of(word).is_some()) {
        return None;
    }
    if mnemonic.modifiers.iter().any(is_small) {
        return eight_bits(mnemonic);
    }
    let [to, from] = *mnemonic.types().as_slice() else { return None };
    let found = match (to.is_float(), from.is_float()) {
        (false, false) => integers(mnemonic, to, from)?,
        (true, false) => from_integer(mnemonic, to, from)?,
        (false, true) => to_integer(mnemonic, to, from)?,
        (true, true) if matches!(to, Ty::F16x2 | Ty::BF16x2) => pair(mnemonic, to, from)?,
        (true, true) => floats(mnemonic, to, from)?,
    };
    Some(found)
}

fn integers(mnemonic: &Mnemonic<'_>, to: Ty, from: Ty) -> Option<Pure> {
    let (bits, source_bits, is_signed) = (to.bits(), from.bits(), from.is_signed());
    if bits > 64 || source_bits > 64 || mnemonic.has("ftz") {
        return None;
    }
    let saturates = mnemonic.has("sat");
    let limits = if saturates { limits(to) } else { (i128::MIN, i128::MAX) };
    // A narrow result is extended to a wider register by its sign or zeros.
    let is_signed_result = to.is_signed();
    let fill = move |value: i128| {
        let kept = extended(value as u64, bits, is_signed_result);
        kept as u64
    };
    let convert = move |a| fill(extended(a, source_bits, is_signed).clamp(limits.0, limits.1));
    Some(Pure::one(from, convert).results(&[to]).bit_by_bit(if saturates { &[] } else { &[0] }))
}

/// Returns the smallest and the largest value of a type.
fn limits(ty: Ty) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn from_integer(mnemonic: &Mnemonic<'_>, to: Ty, from: Ty) -> Option<Pure> {
    let (bits, is_signed) = (from.bits(), from.is_signed());
    let (rounding, saturates) = (mnemonic.rounding(), mnemonic.has("sat"));
    if bits > 64 {
        return None;
    }
    let format = format_of(to);
    if format.is_none() && to != Ty::F64 {
        return None;
    }
    let convert = move |a: u64| {
        let integer = extended(a, bits, is_signed);
        let value = match format {
            // A 64-bit integer may not be representable as a double, so it is rounded to odd before the rounding to the
            // format.
            Some(_) => of_integer(integer),
            None => double_of_integer(integer, rounding),
        };
        let result = format.map_or_else(|| value.to_bits(), |format| format.round(value, rounding, false));
        match (saturates, format) {
            (true, Some(format)) => format.round(format.value(result).clamp(0.0, 1.0), Rounding::Nearest, false),
            (true, None) => f64::from_bits(result).clamp(0.0, 1.0).to_bits(),
            (false, _) => result,
        }
    };
    Some(Pure::one(from, convert).results(&[to]))
}

fn to_integer(mnemonic: &Mnemonic<'_>, to: Ty, from: Ty) -> Option<Pure> {
    let bits = to.bits();
    let rounding = mnemonic.modifiers.iter().find_map(|word| Rounding::to_integer(word))?;
    let flushes = mnemonic.has("ftz");
    if bits > 64 || !matches!(from, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64) || (flushes && from != Ty::F32) {
        return None;
    }
    let (least, most) = limits(to);
    // NaN becomes zero. In a result of 64 bits, and in a conversion from a double, NaN becomes the value with only the
    // highest bit set.
    let nan = if from == Ty::F64 || bits == 64 { 1i128 << (bits - 1) } else { 0 };
    let is_signed = to.is_signed();
    let convert = move |a: u64| {
        let value = value_of(from, a);
        let value = if flushes && value.abs() < f64::from(f32::MIN_POSITIVE) { 0.0 } else { value };
        let result = if value.is_nan() { nan } else { (rounding.integer(value) as i128).clamp(least, most) };
        extended(result as u64, bits, is_signed) as u64
    };
    Some(Pure::one(from, convert).results(&[to]))
}

/// Returns the function that modifiers apply between floating-point types.
fn adjusted(mnemonic: &Mnemonic<'_>) -> impl Fn(f64) -> f64 + Send + Sync + Copy + 'static {
    let (saturates, relu) = (mnemonic.has("sat"), mnemonic.has("relu"));
    move |value: f64| {
        let value = if saturates { if value > 0.0 { value.min(1.0) } else { 0.0 } } else { value };
        if relu && value <= 0.0 { 0.0 } else { value }
    }
}

fn floats(mnemonic: &Mnemonic<'_>, to: Ty, from: Ty) -> Option<Pure> {
    if !matches!(from, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64) || matches!(to, Ty::F32x2 | Ty::E4M3 | Ty::E5M2) {
        return None;
    }
    let flushes = mnemonic.has("ftz");
    let (adjust, satfinite) = (adjusted(mnemonic), mnemonic.has("satfinite"));
    let least = f64::from(f32::MIN_POSITIVE);
    let flush = move |value: f64, ty: Ty| {
        if flushes && ty == Ty::F32 && value.abs() < least { 0.0f64.copysign(value) } else { value }
    };
    let whole = mnemonic.modifiers.iter().find_map(|word| Rounding::to_integer(word));
    let rounding = mnemonic.rounding();
    let format = format_of(to);
    let convert = move |a: u64| {
        let value = flush(value_of(from, a), from);
        let value = adjust(whole.map_or(value, |rounding| rounding.integer(value)));
        match format {
            None => {
                if value.is_nan() {
                    0x7ff8 << 48
                } else {
                    value.to_bits()
                }
            }
            Some(format) => {
                let bits = format.round(value, rounding, satfinite);
                if flushes && to == Ty::F32 {
                    format.round(flush(format.value(bits), to), rounding, false)
                } else {
                    bits
                }
            }
        }
    };
    Some(Pure::one(from, convert).results(&[to]))
}

/// Converts two floats to two halves. The first source becomes the upper half.
fn pair(mnemonic: &Mnemonic<'_>, to: Ty, from: Ty) -> Option<Pure> {
    let (format, rounding, adjust) = (format_of(to)?, mnemonic.rounding(), adjusted(mnemonic));
    if from != Ty::F32 || mnemonic.has("ftz") {
        return None;
    }
    let satfinite = mnemonic.has("satfinite");
    let one = move |bits: u64| format.round(adjust(F32.value(bits)), rounding, satfinite);
    Some(Pure::two(from, move |a, b| one(a) << 16 | one(b)).results(&[to]))
}

/// Converts pairs of fp8: from two floats or halves, and to halves.
fn eight_bits(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    let format = |word: &str| match word {
        "e4m3x2" => Some((E4M3, Ty::E4M3)),
        "e5m2x2" => Some((E5M2, Ty::E5M2)),
        _ => None,
    };
    let [.., to, from] = *mnemonic.modifiers.as_slice() else { return None };
    let adjust = adjusted(mnemonic);
    let pair = Ty::Unsigned(16);
    match (format(to), format(from)) {
        (Some((format, _)), None) => {
            let one = move |value: f64| format.round(adjust(value), Rounding::Nearest, true);
            let from = Ty::of(from)?;
            Some(match from {
                Ty::F32 => Pure::two(from, move |a, b| one(F32.value(a)) << 8 | one(F32.value(b))).results(&[pair]),
                Ty::F16x2 => {
                    Pure::one(from, move |a| one(F16.value(a >> 16)) << 8 | one(F16.value(a & 0xffff))).results(&[pair])
                }
                _ => return None,
            })
        }
        (None, Some((format, _))) if Ty::of(to) == Some(Ty::F16x2) => {
            let half = move |bits: u64| F16.round(adjust(format.value(bits)), Rounding::Nearest, false);
            let both = move |a: u64| half(a >> 8 & 0xff) << 16 | half(a & 0xff);
            Some(Pure::one(pair, both).results(&[Ty::F16x2]).taking_apart())
        }
        _ => None,
    }
}

/// Decodes `cvt.pack.sat`: two integers become the lower part of a word, and the third source's bits move up.
fn packed_integers(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    let types = mnemonic.modifiers.iter().filter(|word| !matches!(**word, "pack" | "sat")).copied();
    let types: Vec<&str> = types.collect();
    let part = |word: &str| match word {
        "s2" => Some((2, true)),
        "u2" => Some((2, false)),
        "s4" => Some((4, true)),
        "u4" => Some((4, false)),
        word => Ty::of(word).filter(|ty| ty.bits() <= 16).map(|ty| (ty.bits(), ty.is_signed())),
    };
    let (&to, &from) = (types.first()?, types.get(1)?);
    let (bits, is_signed) = part(to)?;
    if from != "s32" || !mnemonic.has("sat") {
        return None;
    }
    let (least, most): (i64, i64) =
        if is_signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let one = move |a: u64| low(signed(a, 32).clamp(least, most) as u64, bits);
    let both = move |a: u64, b: u64| one(a) << bits | one(b);
    let ty = Ty::Signed(32);
    match types.len() {
        2 => Some(Pure::two(ty, both).results(&[Ty::Unsigned(32)])),
        3 => Some(Pure::three(ty, move |a, b, c| low(c << (2 * bits) | both(a, b), 32)).results(&[Ty::Unsigned(32)])),
        _ => None,
    }
}
