//! Comparisons and selections.

use std::cmp::Ordering;

use super::Pure;
use super::integer::extended;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::number::{BF16, F16, F32};
use crate::emulate::types::{Ty, signed};

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

type Compare = Box<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// Returns the decoder of a scalar floating-point type.
fn float_value(ty: Ty, flushes: bool) -> Option<Box<dyn Fn(u64) -> f64 + Send + Sync>> {
    let least = f64::from(f32::MIN_POSITIVE);
    Some(match ty {
        Ty::F64 => Box::new(f64::from_bits),
        Ty::F32 if flushes => Box::new(move |bits| {
            let value = F32.value(bits);
            if value.abs() < least { 0.0 } else { value }
        }),
        Ty::F32 => Box::new(|bits| f32::from_bits(bits as u32).into()),
        Ty::F16 if !flushes => Box::new(|bits| F16.value(bits)),
        Ty::BF16 if !flushes => Box::new(|bits| BF16.value(bits)),
        _ => return None,
    })
}

/// Returns the comparison of a name on values of a type.
pub(super) fn comparison(name: &str, ty: Ty, flushes: bool) -> Option<Compare> {
    if ty.is_float() {
        let value = float_value(ty, flushes)?;
        let test: fn(Option<Ordering>) -> bool = match name {
            "eq" => |order| order == Some(Ordering::Equal),
            "ne" => |order| matches!(order, Some(Ordering::Less | Ordering::Greater)),
            "lt" => |order| order == Some(Ordering::Less),
            "le" => |order| matches!(order, Some(Ordering::Less | Ordering::Equal)),
            "gt" => |order| order == Some(Ordering::Greater),
            "ge" => |order| matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            "equ" => |order| matches!(order, None | Some(Ordering::Equal)),
            "neu" => |order| order != Some(Ordering::Equal),
            "ltu" => |order| matches!(order, None | Some(Ordering::Less)),
            "leu" => |order| order != Some(Ordering::Greater),
            "gtu" => |order| matches!(order, None | Some(Ordering::Greater)),
            "geu" => |order| order != Some(Ordering::Less),
            "num" => |order| order.is_some(),
            "nan" => |order| order.is_none(),
            _ => return None,
        };
        return Some(Box::new(move |a, b| test(value(a).partial_cmp(&value(b)))));
    }
    let bits = ty.bits();
    if ty.is_signed() && !matches!(name, "lo" | "ls" | "hi" | "hs") {
        return Some(match name {
            "eq" => Box::new(|a, b| a == b),
            "ne" => Box::new(|a, b| a != b),
            "lt" => Box::new(move |a, b| signed(a, bits) < signed(b, bits)),
            "le" => Box::new(move |a, b| signed(a, bits) <= signed(b, bits)),
            "gt" => Box::new(move |a, b| signed(a, bits) > signed(b, bits)),
            "ge" => Box::new(move |a, b| signed(a, bits) >= signed(b, bits)),
            _ => return None,
        });
    }
    Some(match name {
        "eq" => Box::new(|a, b| a == b),
        "ne" => Box::new(|a, b| a != b),
        "lt" | "lo" => Box::new(|a, b| a < b),
        "le" | "ls" => Box::new(|a, b| a <= b),
        "gt" | "hi" => Box::new(|a, b| a > b),
        "ge" | "hs" => Box::new(|a, b| a >= b),
        _ => return None,
    })
}

/// Returns the function of a mnemonic.
pub(super) fn find(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let bits = ty.bits();
    match mnemonic.word {
        "selp" if bits <= 64 && mnemonic.only(&[]) => {
            Some(Pure::three(ty, |a, b, p| if p != 0 { a } else { b }).sources(&[ty, ty, Ty::Pred]))
        }
        "slct" if mnemonic.only(&["ftz"]) => {
            let [of, by] = *mnemonic.types().as_slice() else { return None };
            let is_float = by == Ty::F32;
            let chosen = move |a, b, c: u64| {
                let is_first = if is_float {
                    f32::from_bits(c as u32) >= 0.0 || c == 0x8000_0000
                } else {
                    extended(c, 32, true) >= 0
                };
                if is_first { a } else { b }
            };
            (by.bits() == 32 && !mnemonic.has("ftz")).then(|| Pure::three(of, chosen).sources(&[of, of, by]))
        }
        "setp" | "set" => compared(mnemonic),
        _ => None,
    }
}

/// Decodes `setp` and `set`: a comparison whose result may be combined with a predicate.
fn compared(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    let flushes = mnemonic.has("ftz");
    let is_set = mnemonic.word == "set";
    let known = |word: &&str| {
        COMPARISONS.contains(word) || matches!(*word, "and" | "or" | "xor" | "ftz") || Ty::of(word).is_some()
    };
    if !mnemonic.modifiers.iter().all(known) {
        return None;
    }
    let name = mnemonic.one_of(&COMPARISONS)?;
    let types = mnemonic.types();
    let (to, of) = match (is_set, types.as_slice()) {
        (true, &[to, of]) => (to, of),
        (false, &[of]) => (Ty::Pred, of),
        _ => return None,
    };
    let pair = |wide: Ty| match wide {
        Ty::F16x2 => Some(Ty::F16),
        Ty::BF16x2 => Some(Ty::BF16),
        _ => None,
    };
    let join: fn(bool, bool) -> bool = match mnemonic.one_of(&["and", "or", "xor"]) {
        Some("and") => |a, b| a && b,
        Some("or") => |a, b| a || b,
        Some(_) => |a, b| a != b,
        None => |a, _| a,
    };
    let joins = mnemonic.one_of(&["and", "or", "xor"]).is_some();
    if let Some(part) = pair(of) {
        let test = comparison(name, part, flushes)?;
        if joins {
            return None;
        }
        let halves = move |a: u64, b: u64| [test(a & 0xffff, b & 0xffff), test(a >> 16, b >> 16)];
        let one: u64 = match to {
            Ty::Pred => {
                return Some(Pure::new(of, move |[a, b]| halves(a, b).map(u64::from)).results(&[Ty::Pred, Ty::Pred]));
            }
            Ty::F16x2 => 0x3c00,
            Ty::BF16x2 => 0x3f80,
            _ => 0xffff,
        };
        let set = move |a, b| {
            let [first, second] = halves(a, b);
            (u64::from(first) * one) | ((u64::from(second) * one) << 16)
        };
        return Some(Pure::two(of, set).results(&[to]));
    }
    let test = comparison(name, of, flushes)?;
    if !is_set {
        let found = if joins {
            let both = move |[a, b, c]: [u64; 3]| {
                let result = test(a, b);
                [u64::from(join(result, c != 0)), u64::from(join(!result, c != 0))]
            };
            Pure::new(of, both).sources(&[of, of, Ty::Pred])
        } else {
            Pure::new(of, move |[a, b]| {
                let result = test(a, b);
                [u64::from(result), u64::from(!result)]
            })
        };
        return Some(found.results(&[Ty::Pred, Ty::Pred]));
    }
    let yes: u64 = match to {
        Ty::F32 => 0x3f80_0000,
        Ty::F16 => 0x3c00,
        Ty::BF16 => 0x3f80,
        _ => crate::emulate::types::low(u64::MAX, to.bits()),
    };
    Some(if joins {
        Pure::three(of, move |a, b, c| if join(test(a, b), c != 0) { yes } else { 0 }).results(&[to]).sources(&[
            of,
            of,
            Ty::Pred,
        ])
    } else {
        Pure::two(of, move |a, b| if test(a, b) { yes } else { 0 }).results(&[to])
    })
}
