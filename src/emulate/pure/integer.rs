//! Integer arithmetic, with carries.

use super::Pure;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::types::{Ty, low, signed};

/// Returns the function of a mnemonic.
pub(super) fn find(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let bits = ty.bits();
    if !ty.is_integer() || bits > 64 || !mnemonic.only(&["lo", "hi", "wide", "sat", "cc", "relu"]) {
        return None;
    }
    let is_signed = ty.is_signed();
    let carries = mnemonic.has("cc") || matches!(mnemonic.word, "addc" | "subc" | "madc");
    if carries {
        return with_carry(mnemonic, ty);
    }
    if mnemonic.has("relu") && !(is_signed && matches!(mnemonic.word, "min" | "max")) {
        return None;
    }
    Some(match mnemonic.word {
        "add" if mnemonic.has("sat") => saturated(ty, |a, b| a + b)?,
        "sub" if mnemonic.has("sat") => saturated(ty, |a, b| a - b)?,
        "add" => Pure::two(ty, move |a, b| low(a.wrapping_add(b), bits)),
        "sub" => Pure::two(ty, move |a, b| low(a.wrapping_sub(b), bits)),
        "mul" | "mad" => multiplied(mnemonic, ty)?,
        "mul24" => {
            let shift = if mnemonic.has("hi") { 16 } else { 0 };
            Pure::two(ty, move |a, b| low((short(a, is_signed).wrapping_mul(short(b, is_signed)) >> shift) as u64, 32))
        }
        "mad24" if !mnemonic.has("sat") => {
            let shift = if mnemonic.has("hi") { 16 } else { 0 };
            let product = move |a, b| (short(a, is_signed).wrapping_mul(short(b, is_signed)) >> shift) as u64;
            Pure::three(ty, move |a, b, c| low(product(a, b).wrapping_add(c), 32))
        }
        "sad" => {
            let wide = move |value| extended(value, bits, is_signed);
            Pure::three(ty, move |a, b, c| low((wide(a) - wide(b)).unsigned_abs() as u64, bits).wrapping_add(c))
                .masked(bits)
        }
        "div" if is_signed => Pure::two(ty, move |a, b| match signed(b, bits) {
            0 => low(u64::MAX, bits),
            b => low(signed(a, bits).wrapping_div(b) as u64, bits),
        })
        .dividing(),
        "div" => Pure::two(ty, move |a, b| a.checked_div(b).unwrap_or(low(u64::MAX, bits))).dividing(),
        "rem" if is_signed => Pure::two(ty, move |a, b| match signed(b, bits) {
            0 => a,
            b => low(signed(a, bits).wrapping_rem(b) as u64, bits),
        })
        .dividing(),
        "rem" => Pure::two(ty, move |a, b| a.checked_rem(b).unwrap_or(a)).dividing(),
        "abs" => Pure::one(ty, move |a| low(signed(a, bits).unsigned_abs(), bits)),
        "neg" => Pure::one(ty, move |a| low(a.wrapping_neg(), bits)),
        "min" | "max" => {
            let is_max = mnemonic.word == "max";
            let floor = if mnemonic.has("relu") { 0 } else { i128::MIN };
            Pure::two(ty, move |a, b| {
                let (wide_a, wide_b) = (extended(a, bits, is_signed), extended(b, bits, is_signed));
                low((if is_max { wide_a.max(wide_b) } else { wide_a.min(wide_b) }).max(floor) as u64, bits)
            })
        }
        _ => return None,
    })
}

impl Pure {
    /// Clears the bits above the result's type.
    fn masked(mut self, bits: u32) -> Self {
        let inner = self.eval;
        self.eval = Box::new(move |sources, mask, results| {
            inner(sources, mask, results);
            results[0].iter_mut().for_each(|value| *value = low(*value, bits));
        });
        self
    }
}

/// Returns a value with all its bits and its sign.
pub(super) fn extended(value: u64, bits: u32, is_signed: bool) -> i128 {
    if is_signed { signed(value, bits).into() } else { low(value, bits).into() }
}

/// Returns the lowest 24 bits.
fn short(value: u64, is_signed: bool) -> i64 {
    if is_signed { signed(value, 24) } else { low(value, 24) as i64 }
}

/// Returns a function on 32-bit numbers that saturates to the type.
fn saturated(ty: Ty, function: impl Fn(i64, i64) -> i64 + Send + Sync + 'static) -> Option<Pure> {
    let clamp = |value: i64| low(value.clamp(i32::MIN.into(), i32::MAX.into()) as u64, 32);
    (ty == Ty::Signed(32)).then(|| Pure::two(ty, move |a, b| clamp(function(signed(a, 32), signed(b, 32)))))
}

fn multiplied(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let (bits, is_signed) = (ty.bits(), ty.is_signed());
    let is_sum = mnemonic.word == "mad";
    let product = move |a, b| extended(a, bits, is_signed).wrapping_mul(extended(b, bits, is_signed));
    let wide = if is_signed { Ty::Signed(2 * bits as u8) } else { Ty::Unsigned(2 * bits as u8) };
    Some(match mnemonic.one_of(&["lo", "hi", "wide"])? {
        _ if mnemonic.has("sat") => {
            let is_known = mnemonic.has("hi") && is_sum && ty == Ty::Signed(32);
            let clamp = |value: i128| low(value.clamp(i32::MIN.into(), i32::MAX.into()) as u64, 32);
            let high = move |a, b, c| clamp((product(a, b) >> 32) + i128::from(signed(c, 32)));
            return is_known.then(|| Pure::three(ty, high));
        }
        "lo" if is_sum => Pure::three(ty, move |a, b, c| low(a.wrapping_mul(b).wrapping_add(c), bits)),
        "lo" => Pure::two(ty, move |a, b| low(a.wrapping_mul(b), bits)),
        "hi" if is_sum => {
            Pure::three(ty, move |a, b, c| low(((high_half(product(a, b), bits)) as u64).wrapping_add(c), bits))
        }
        "hi" => Pure::two(ty, move |a, b| low(high_half(product(a, b), bits) as u64, bits)),
        "wide" if bits > 32 => return None,
        "wide" if is_sum => {
            let sum = move |a, b, c| low((product(a, b) as u64).wrapping_add(c), 2 * bits);
            Pure::three(ty, sum).results(&[wide]).sources(&[ty, ty, wide])
        }
        _ => Pure::two(ty, move |a, b| low(product(a, b) as u64, 2 * bits)).results(&[wide]),
    })
}

fn high_half(product: i128, bits: u32) -> i128 {
    product >> bits
}

/// Returns sums and products with a carry in, out, or both.
fn with_carry(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let (bits, is_signed) = (ty.bits(), ty.is_signed());
    if !matches!(bits, 32 | 64) {
        return None;
    }
    let reads = matches!(mnemonic.word, "addc" | "subc" | "madc");
    let carry_in = move |carry: u64| if reads { u128::from(carry) } else { 0 };
    let split = move |sum: u128| [low(sum as u64, bits), (sum >> bits & 1) as u64];
    let mut found = match mnemonic.word {
        "add" | "addc" => Pure::new(ty, move |[a, b, c]| split(u128::from(a) + u128::from(b) + carry_in(c))),
        "sub" | "subc" => {
            Pure::new(ty, move |[a, b, c]| split(u128::from(a).wrapping_sub(u128::from(b)).wrapping_sub(carry_in(c))))
        }
        "mad" | "madc" => {
            let is_high = mnemonic.has("hi");
            if !is_high && !mnemonic.has("lo") {
                return None;
            }
            Pure::new(ty, move |[a, b, c, d]| {
                let product = extended(a, bits, is_signed).wrapping_mul(extended(b, bits, is_signed));
                let part = if is_high { high_half(product, bits) } else { product };
                split(u128::from(low(part as u64, bits)) + u128::from(c) + carry_in(d))
            })
        }
        _ => return None,
    };
    found.writes_carry = mnemonic.has("cc");
    found.reads_carry = reads;
    if let Some(last) = found.sources.last_mut() {
        *last = Ty::Pred;
    }
    if !reads {
        found.sources.pop();
    }
    found.results = if found.writes_carry { vec![ty, Ty::Pred] } else { vec![ty] };
    Some(found)
}
