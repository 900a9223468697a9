//! Video instructions: arithmetic on words, and on the halves or bytes of words.

use super::Pure;
use super::compare::comparison;
use super::integer::extended;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::types::{Ty, low};

/// Returns the function of a mnemonic. Instructions on parts of a word include their third source.
pub(super) fn find(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    let stem = mnemonic.word.strip_prefix('v')?;
    if let Some(stem) = stem.strip_suffix('2') {
        return parts(mnemonic, stem, 16);
    }
    if let Some(stem) = stem.strip_suffix('4') {
        return parts(mnemonic, stem, 8);
    }
    word(mnemonic, stem)
}

type Function = Box<dyn Fn(i128, i128) -> i128 + Send + Sync>;

fn arithmetic(stem: &str) -> Option<Function> {
    Some(match stem {
        "add" => Box::new(|a, b| a + b),
        "sub" => Box::new(|a, b| a - b),
        "absdiff" => Box::new(|a, b| (a - b).abs()),
        "min" => Box::new(|a: i128, b| a.min(b)),
        "max" => Box::new(|a: i128, b| a.max(b)),
        _ => return None,
    })
}

/// Returns arithmetic on whole words.
fn word(mnemonic: &Mnemonic<'_>, stem: &str) -> Option<Pure> {
    let types = mnemonic.types();
    if stem == "set" {
        let [left, right] = *types.as_slice() else { return None };
        let [_, _, name] = *mnemonic.modifiers.as_slice() else { return None };
        let test = comparison(name, Ty::Signed(64), false)?;
        let wide = move |value: u64, ty: Ty| extended(value, 32, ty.is_signed()) as u64;
        return Some(Pure::two(Ty::Unsigned(32), move |a, b| test(wide(a, left), wide(b, right)).into()));
    }
    let [result, left, right] = *types.as_slice() else { return None };
    if types.iter().any(|ty| ty.bits() != 32) {
        return None;
    }
    if let Some(function) = arithmetic(stem) {
        if !mnemonic.only(&["sat"]) {
            return None;
        }
        let saturates = mnemonic.has("sat");
        let (signed_a, signed_b, is_signed) = (left.is_signed(), right.is_signed(), result.is_signed());
        return Some(Pure::two(result, move |a, b| {
            let value = function(extended(a, 32, signed_a), extended(b, 32, signed_b));
            low(if saturates { clamped(value, 32, is_signed) } else { value } as u64, 32)
        }));
    }
    let amount = match mnemonic.one_of(&["clamp", "wrap"]) {
        Some("clamp") => |b: u64| b.min(32),
        Some(_) => |b: u64| b & 31,
        None => return None,
    };
    if !mnemonic.only(&["clamp", "wrap"]) || right.is_signed() {
        return None;
    }
    let is_signed = left.is_signed();
    match stem {
        "shl" => Some(Pure::two(result, move |a, b| low(a << amount(b), 32))),
        "shr" => Some(Pure::two(result, move |a, b| low((extended(a, 32, is_signed) >> amount(b)) as u64, 32))),
        _ => None,
    }
}

/// Clamps a value to a type.
fn clamped(value: i128, bits: u32, is_signed: bool) -> i128 {
    if is_signed { value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { value.clamp(0, (1 << bits) - 1) }
}

/// Returns arithmetic on parts of words. With `.add`, the parts of the result are added to the third source.
fn parts(mnemonic: &Mnemonic<'_>, stem: &str, bits: u32) -> Option<Pure> {
    let types = mnemonic.types();
    let sums = mnemonic.modifiers.last() == Some(&"add");
    let count = 32 / bits;
    let part = move |value: u64, number: u32, is_signed| extended(value >> (number * bits), bits, is_signed);
    let collected = move |values: &dyn Fn(u32) -> i128, addend: u64| {
        if sums {
            let total: i128 = (0..count).map(values).sum();
            return low((total as u64).wrapping_add(addend), 32);
        }
        (0..count).fold(0, |all, number| all | low(values(number) as u64, bits) << (number * bits))
    };
    if stem == "set" {
        let [left, right] = *types.as_slice() else { return None };
        let name = mnemonic.modifiers.get(2)?;
        let test = comparison(name, Ty::Signed(64), false)?;
        let (signed_a, signed_b) = (left.is_signed(), right.is_signed());
        return Some(Pure::three(Ty::Unsigned(32), move |a, b, c| {
            let one = |number| test(part(a, number, signed_a) as u64, part(b, number, signed_b) as u64).into();
            collected(&one, c)
        }));
    }
    let [result, left, right] = *types.as_slice() else { return None };
    let function: Function = match stem {
        // Rounds up. The ISA rounds away from zero if an operand is signed; signed averages are hashed.
        "avrg" if !left.is_signed() && !right.is_signed() => Box::new(|a, b| (a + b + 1) >> 1),
        "avrg" => return None,
        stem => arithmetic(stem)?,
    };
    let saturates = mnemonic.has("sat");
    if !mnemonic.only(&["sat", "add"]) || (saturates && sums) {
        return None;
    }
    let (signed_a, signed_b, is_signed) = (left.is_signed(), right.is_signed(), result.is_signed());
    Some(Pure::three(result, move |a, b, c| {
        let one = |number| {
            let value = function(part(a, number, signed_a), part(b, number, signed_b));
            if saturates { clamped(value, bits, is_signed) } else { value }
        };
        collected(&one, c)
    }))
}
