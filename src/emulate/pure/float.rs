//! Floating-point arithmetic.

use super::Pure;
use super::packed::halves;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::number::{
    BF16, F16, F32, Format, Rounding, add, div, double_add, double_div, double_fma, double_mul, double_sqrt, fma, mul,
    sqrt,
};
use crate::emulate::types::{Ty, low};

const MODIFIERS: [&str; 14] =
    ["rn", "rz", "rm", "rp", "ftz", "sat", "approx", "full", "NaN", "relu", "xorsign", "abs", "wide", "oob"];

/// Properties of sources and results that modifiers give.
#[derive(Clone, Copy)]
struct Style {
    format: Format,
    rounding: Rounding,
    flushes: bool,
    saturates: bool,
    relu: bool,
}

impl Style {
    /// Returns the value of a source.
    fn value(self, bits: u64) -> f64 {
        flushed(self.format.value(bits), self.flushes)
    }

    /// Returns the bits of a result.
    fn bits(self, result: f64) -> u64 {
        let bits = self.format.round(result, self.rounding, false);
        if !(self.flushes || self.saturates || self.relu) {
            return bits;
        }
        let mut value = flushed(self.format.value(bits), self.flushes);
        if self.saturates {
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        if self.relu {
            value = if value > 0.0 || value.is_nan() { value } else { 0.0 };
        }
        self.format.round(value, Rounding::Nearest, false)
    }
}

/// Flushes a subnormal float to zero.
fn flushed(value: f64, flushes: bool) -> f64 {
    if flushes && value.abs() < f64::from(f32::MIN_POSITIVE) { 0.0f64.copysign(value) } else { value }
}

/// Returns the function of a mnemonic.
pub(super) fn find(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let is_class = mnemonic.word == "testp";
    if mnemonic.has("oob") || mnemonic.has("wide") || (!is_class && !mnemonic.only(&MODIFIERS)) {
        return None;
    }
    // Operations on two types, such as `fma.f32.f16`, are newer than this model.
    if mnemonic.types().len() > 1 {
        return None;
    }
    match (ty, mnemonic.word) {
        (_, "testp") => class(mnemonic, ty),
        (Ty::F32 | Ty::F64, "copysign") => {
            let sign = 1 << (ty.bits() - 1);
            Some(Pure::two(ty, move |a, b| a & sign | b & !sign))
        }
        (_, "neg" | "abs") => signs(mnemonic, ty),
        (Ty::F64, _) => double(mnemonic),
        (Ty::F32, _) => plain(mnemonic).or_else(|| small(mnemonic, ty, F32)),
        (Ty::F16 | Ty::F16x2, _) => small(mnemonic, ty, F16),
        (Ty::BF16 | Ty::BF16x2, _) => small(mnemonic, ty, BF16),
        _ => None,
    }
}

/// Returns the most common operations on floats, as host operations.
fn plain(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    if !mnemonic.modifiers.iter().all(|modifier| matches!(*modifier, "rn" | "f32")) {
        return None;
    }
    let of = |bits: u64| f32::from_bits(bits as u32);
    let back = |value: f32| u64::from(if value.is_nan() { 0x7fff_ffff } else { value.to_bits() });
    Some(match mnemonic.word {
        "add" => Pure::two(Ty::F32, move |a, b| back(of(a) + of(b))),
        "sub" => Pure::two(Ty::F32, move |a, b| back(of(a) - of(b))),
        "mul" => Pure::two(Ty::F32, move |a, b| back(of(a) * of(b))),
        "div" => Pure::two(Ty::F32, move |a, b| back(of(a) / of(b))),
        "fma" | "mad" => Pure::three(Ty::F32, move |a, b, c| back(of(a).mul_add(of(b), of(c)))),
        _ => return None,
    })
}

/// Returns operations on halves, bf16 and floats, computed in doubles.
fn small(mnemonic: &Mnemonic<'_>, ty: Ty, format: Format) -> Option<Pure> {
    let style = Style {
        format,
        rounding: mnemonic.rounding(),
        flushes: mnemonic.has("ftz"),
        saturates: mnemonic.has("sat"),
        relu: mnemonic.has("relu"),
    };
    let (rounding, is_pair) = (style.rounding, matches!(ty, Ty::F16x2 | Ty::BF16x2));
    if is_pair || ty != Ty::F32 {
        // Subnormal halves have another limit than subnormal floats. Flushing of halves is rare.
        if style.flushes && mnemonic.word != "ex2" {
            return small_flushed(mnemonic, ty, Style { flushes: false, ..style });
        }
    }
    let one = |function: fn(f64) -> f64| {
        let apply = move |a: u64| style.bits(function(style.value(a)));
        Some(if is_pair { halves(ty, move |[a]| apply(a)) } else { Pure::one(ty, apply) })
    };
    let two = |function: Box<dyn Fn(f64, f64) -> f64 + Send + Sync>| {
        let apply = move |a: u64, b: u64| style.bits(function(style.value(a), style.value(b)));
        Some(if is_pair { halves(ty, move |[a, b]| apply(a, b)) } else { Pure::two(ty, apply) })
    };
    match mnemonic.word {
        "add" => two(Box::new(move |a, b| add(a, b, rounding))),
        "sub" => two(Box::new(move |a, b| add(a, -b, rounding))),
        "mul" => two(Box::new(mul)),
        "div" if mnemonic.has("approx") => two(Box::new(approximate_quotient)),
        "div" => two(Box::new(div)),
        "fma" | "mad" => {
            let apply =
                move |[a, b, c]: [u64; 3]| style.bits(fma(style.value(a), style.value(b), style.value(c), rounding));
            Some(if is_pair { halves(ty, apply) } else { Pure::new(ty, move |sources| [apply(sources)]) })
        }
        "min" | "max" => extremes(mnemonic, ty, style),
        "rcp" => one(|a| div(1.0, a)),
        "sqrt" => one(sqrt),
        "rsqrt" => one(|a| 1.0 / a.sqrt()),
        "sin" => one(f64::sin),
        "cos" => one(f64::cos),
        "lg2" => one(f64::log2),
        "ex2" => one(f64::exp2),
        "tanh" => one(f64::tanh),
        _ => None,
    }
}

/// Computes `div.approx`: a product with the divisor's reciprocal, which is zero for a divisor above 2^126.
fn approximate_quotient(dividend: f64, divisor: f64) -> f64 {
    let is_beyond = divisor.is_finite() && divisor.abs() > 2f64.powi(126);
    if is_beyond { dividend * 0.0f64.copysign(divisor) } else { div(dividend, divisor) }
}

/// Returns operations on halves that flush: sources and results below the smallest normal number become zero.
fn small_flushed(mnemonic: &Mnemonic<'_>, ty: Ty, style: Style) -> Option<Pure> {
    if style.format == F16 && matches!(mnemonic.word, "min" | "max") {
        return extremes_flushed(mnemonic, ty, style);
    }
    if style.format != F16 || !matches!(mnemonic.word, "add" | "sub" | "mul" | "fma") {
        return None;
    }
    let flush = |bits: u64| if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits };
    let (rounding, word) = (style.rounding, mnemonic.word.to_owned());
    let is_sum = word == "fma";
    let result = move |a: u64, b: u64, c: u64| {
        let [a, b, c] = [a, b, c].map(|bits| style.value(flush(bits)));
        flush(style.bits(match word.as_str() {
            "add" => add(a, b, rounding),
            "sub" => add(a, -b, rounding),
            "mul" => mul(a, b),
            _ => fma(a, b, c, rounding),
        }))
    };
    Some(match (is_sum, ty) {
        (true, Ty::F16) => Pure::three(ty, result),
        (true, _) => halves(ty, move |[a, b, c]| result(a, b, c)),
        (false, Ty::F16) => Pure::two(ty, move |a, b| result(a, b, 0)),
        (false, _) => halves(ty, move |[a, b]| result(a, b, 0)),
    })
}

/// Returns minimum and maximum of halves that flush.
fn extremes_flushed(mnemonic: &Mnemonic<'_>, ty: Ty, style: Style) -> Option<Pure> {
    let mut found = extremes(mnemonic, ty, style)?;
    let inner = found.eval;
    let flush = |bits: u64| if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits };
    let all = move |bits: u64| flush(bits & 0xffff) | flush(bits >> 16) << 16;
    found.eval = Box::new(move |sources, mask, results| {
        // Subnormal numbers are flushed to zero before the comparison, so the result needs no flushing.
        let flushed = sources.map(|source| source.map(all));
        inner(&std::array::from_fn(|at| &flushed[at]), mask, results);
    });
    Some(found)
}

/// Returns the minimum or maximum of two numbers. If only one of them is a NaN, returns the other one, unless
/// `keeps_nan`.
fn extreme(a: f64, b: f64, is_max: bool, keeps_nan: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        return match (keeps_nan, a.is_nan(), b.is_nan()) {
            (true, ..) | (_, true, true) => f64::NAN,
            (_, true, _) => b,
            _ => a,
        };
    }
    let is_first = if a == b { a.is_sign_negative() != is_max } else { (a < b) != is_max };
    if is_first { a } else { b }
}

fn extremes(mnemonic: &Mnemonic<'_>, ty: Ty, style: Style) -> Option<Pure> {
    let (is_max, keeps_nan) = (mnemonic.word == "max", mnemonic.has("NaN"));
    let is_signless = mnemonic.has("xorsign");
    let sign = 1u64 << (ty.bits().min(32) - 1);
    let sign = if matches!(ty, Ty::F16x2 | Ty::BF16x2) { 0x8000 } else { sign };
    let apply = move |[a, b]: [u64; 2]| {
        if is_signless {
            let result = style.bits(extreme(style.value(a & !sign), style.value(b & !sign), is_max, keeps_nan));
            return result & !sign | (a ^ b) & sign;
        }
        style.bits(extreme(style.value(a), style.value(b), is_max, keeps_nan))
    };
    Some(match ty {
        Ty::F16x2 | Ty::BF16x2 => halves(ty, apply),
        _ => Pure::new(ty, move |sources| [apply(sources)]),
    })
}

fn double(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    let ty = Ty::F64;
    let rounding = mnemonic.rounding();
    let (of, back) = (f64::from_bits, |value: f64| if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() });
    // The low word of an approximate result is zero.
    let upper = |value: f64| value.to_bits() & !0xffff_ffff;
    Some(match mnemonic.word {
        "add" => Pure::two(ty, move |a, b| back(double_add(of(a), of(b), rounding))),
        "sub" => Pure::two(ty, move |a, b| back(double_add(of(a), -of(b), rounding))),
        "mul" => Pure::two(ty, move |a, b| back(double_mul(of(a), of(b), rounding))),
        "div" => Pure::two(ty, move |a, b| back(double_div(of(a), of(b), rounding))),
        "fma" | "mad" => Pure::three(ty, move |a, b, c| back(double_fma(of(a), of(b), of(c), rounding))),
        "min" | "max" => {
            let is_max = mnemonic.word == "max";
            Pure::two(ty, move |a, b| back(extreme(of(a), of(b), is_max, false)))
        }
        "rcp" if mnemonic.has("approx") => Pure::one(ty, move |a| upper(1.0 / of(a & !0xffff_ffff))),
        "rsqrt" if mnemonic.has("ftz") => Pure::one(ty, move |a| upper(1.0 / of(a & !0xffff_ffff).sqrt())),
        "rcp" => Pure::one(ty, move |a| back(double_div(1.0, of(a), rounding))),
        "sqrt" => Pure::one(ty, move |a| back(double_sqrt(of(a), rounding))),
        "rsqrt" => Pure::one(ty, move |a| back(1.0 / of(a).sqrt())),
        _ => return None,
    })
}

fn signs(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let bits = ty.bits();
    let sign = match ty {
        Ty::F16x2 | Ty::BF16x2 => 0x8000_8000,
        _ => 1 << (bits - 1),
    };
    let is_neg = mnemonic.word == "neg";
    let flushes = mnemonic.has("ftz");
    if flushes && ty != Ty::F32 {
        return None;
    }
    let flush = move |a: u64| if flushes && a & 0x7f80_0000 == 0 { a & sign } else { a };
    Some(Pure::one(ty, move |a| low(if is_neg { flush(a) ^ sign } else { flush(a) & !sign }, bits)))
}

/// Decodes `testp`: the class of a number.
fn class(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let [class, _] = *mnemonic.modifiers.as_slice() else { return None };
    let of = move |bits: u64| if ty == Ty::F64 { f64::from_bits(bits) } else { F32.value(bits) };
    let least = if ty == Ty::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
    let test: Box<dyn Fn(f64) -> bool + Send + Sync> = match class {
        "finite" => Box::new(|value| value.is_finite()),
        "infinite" => Box::new(|value| value.is_infinite()),
        "number" => Box::new(|value| !value.is_nan()),
        "notanumber" => Box::new(|value| value.is_nan()),
        // Zeros count as normal numbers.
        "normal" => Box::new(move |value| value == 0.0 || value.is_finite() && value.abs() >= least),
        "subnormal" => Box::new(move |value| value != 0.0 && value.abs() < least),
        _ => return None,
    };
    Some(Pure::one(ty, move |a| test(of(a)).into()).results(&[Ty::Pred]))
}
