//! Bit operations: logic, shifts, fields, permutations, and dot products of bytes.

use super::Pure;
use super::integer::extended;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::types::{Ty, low, signed};

const WORD: Ty = Ty::Unsigned(32);

/// Returns the function of a mnemonic.
pub(super) fn find(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let bits = ty.bits();
    if bits > 64 || ty.is_float() {
        return None;
    }
    let is_signed = ty.is_signed();
    let known = mnemonic.only(&["clamp", "wrap", "shiftamt", "l", "r", "lo", "hi", "or", "and"])
        || (mnemonic.word == "prmt" && mnemonic.only(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]));
    if !known {
        return None;
    }
    Some(match mnemonic.word {
        "and" => Pure::two(ty, |a, b| a & b).bit_by_bit(&[0, 1]),
        "or" => Pure::two(ty, |a, b| a | b).bit_by_bit(&[0, 1]),
        "xor" => Pure::two(ty, |a, b| a ^ b).bit_by_bit(&[0, 1]),
        "not" => Pure::one(ty, move |a| low(!a, bits)).bit_by_bit(&[0]),
        "cnot" => Pure::one(ty, |a| u64::from(a == 0)),
        "shl" => {
            let shifted = move |a: u64, b: u64| if b < bits.into() { low(a << b, bits) } else { 0 };
            Pure::two(ty, shifted).sources(&[ty, WORD]).bit_by_bit(&[0])
        }
        "shr" if is_signed => {
            let shifted = move |a, b: u64| low((signed(a, bits) >> b.min(u64::from(bits) - 1)) as u64, bits);
            Pure::two(ty, shifted).sources(&[ty, WORD]).bit_by_bit(&[0])
        }
        "shr" => {
            let shifted = move |a: u64, b: u64| if b < bits.into() { a >> b } else { 0 };
            Pure::two(ty, shifted).sources(&[ty, WORD]).bit_by_bit(&[0])
        }
        "popc" => Pure::one(ty, |a| a.count_ones().into()).results(&[WORD]),
        "clz" => Pure::one(ty, move |a| u64::from(a.leading_zeros()) - (64 - u64::from(bits))).results(&[WORD]),
        "brev" => Pure::one(ty, move |a| a.reverse_bits() >> (64 - bits)).bit_by_bit(&[0]),
        "bfind" => {
            let is_shift = mnemonic.has("shiftamt");
            Pure::one(ty, move |a| found(a, ty, is_shift)).results(&[WORD])
        }
        "fns" => Pure::three(WORD, |mask, base, offset| nth(mask, base, signed(offset, 32))),
        "bfe" => Pure::three(ty, move |a, b, c| field(a, b & 0xff, c & 0xff, ty))
            .sources(&[ty, WORD, WORD])
            .bit_by_bit(&[0])
            .taking_apart(),
        "bfi" => Pure::new(ty, move |[a, b, c, d]| [inserted([a, b], c & 0xff, d & 0xff, bits)])
            .sources(&[ty, ty, WORD, WORD])
            .bit_by_bit(&[0, 1])
            .taking_apart(),
        "bmsk" => {
            let limit = limiter(mnemonic, 32)?;
            Pure::two(ty, move |a, b| low(((1 << limit(b)) - 1) << limit(a), 32))
        }
        "szext" => {
            let limit = limiter(mnemonic, 32)?;
            Pure::two(ty, move |a, b| match limit(b) as u32 {
                0 => 0,
                width => low(extended(a, width, is_signed) as u64, 32),
            })
            .sources(&[ty, WORD])
            .bit_by_bit(&[0])
        }
        "lop3" => logic(mnemonic, ty)?,
        "shf" => {
            let limit = limiter(mnemonic, 32)?;
            let is_left = mnemonic.one_of(&["l", "r"])? == "l";
            Pure::three(ty, move |a, b, c| {
                let both = b << 32 | a;
                if is_left { both << limit(c) >> 32 } else { low(both >> limit(c), 32) }
            })
            .bit_by_bit(&[0, 1])
            .taking_apart()
        }
        "prmt" => permuted(mnemonic)?.bit_by_bit(&[0, 1]).taking_apart(),
        "dp4a" | "dp2a" => products(mnemonic)?.taking_apart(),
        _ => return None,
    })
}

/// Returns the function that `.clamp` or `.wrap` applies to a shift amount.
fn limiter(mnemonic: &Mnemonic<'_>, bits: u64) -> Option<impl Fn(u64) -> u64 + Send + Sync + Copy + 'static> {
    let is_clamp = mnemonic.one_of(&["clamp", "wrap"])? == "clamp";
    Some(move |amount: u64| if is_clamp { amount.min(bits) } else { amount & (bits - 1) })
}

/// Returns the highest bit that differs from the sign.
fn found(value: u64, ty: Ty, is_shift: bool) -> u64 {
    let bits = ty.bits();
    let value = if ty.is_signed() && signed(value, bits) < 0 { low(!value, bits) } else { value };
    match value.checked_ilog2() {
        None => 0xffff_ffff,
        Some(place) if is_shift => u64::from(bits - 1 - place),
        Some(place) => place.into(),
    }
}

/// Returns the position of the `offset`th set bit, counted from a position.
fn nth(mask: u64, base: u64, offset: i64) -> u64 {
    const NONE: u64 = 0xffff_ffff;
    let is_set = |place: i64| (0..32).contains(&place) && mask >> place & 1 == 1;
    let mut place = base as i64;
    if offset == 0 {
        return if is_set(place) { base } else { NONE };
    }
    let mut left = offset.abs();
    while (0..32).contains(&place) {
        left -= i64::from(is_set(place));
        if left == 0 {
            return place as u64;
        }
        place += offset.signum();
    }
    NONE
}

fn field(value: u64, place: u64, length: u64, ty: Ty) -> u64 {
    let bits = ty.bits();
    let fill = ty.is_signed() && length > 0 && {
        let last = (place + length - 1).min(u64::from(bits) - 1);
        value >> last & 1 == 1
    };
    // Bits beyond the highest bit are copies of the field's sign, whatever the field's start is.
    let filled = (u128::from(value) | if fill { u128::MAX << bits } else { 0 }) as i128;
    let moved = (filled >> place.min(127)) as u64;
    let length = length.min(64) as u32;
    let kept = low(moved, length);
    low(if fill && length < 64 { kept | u64::MAX << length } else { kept }, bits)
}

fn inserted([from, into]: [u64; 2], place: u64, length: u64, bits: u32) -> u64 {
    if place >= bits.into() {
        return into;
    }
    let mask = low(low(u64::MAX, length.min(64) as u32) << place, bits);
    (into & !mask) | (from << place & mask)
}

fn logic(mnemonic: &Mnemonic<'_>, ty: Ty) -> Option<Pure> {
    let table = |[a, b, c, table]: [u64; 4]| {
        let with = |number: u64, a: u64, b: u64, c: u64| if table >> number & 1 == 1 { a & b & c } else { 0 };
        let pairs = (0..8).map(|number| {
            let chosen = |bit: u64, value: u64| if number >> bit & 1 == 1 { value } else { !value };
            with(number, chosen(2, a), chosen(1, b), chosen(0, c))
        });
        low(pairs.fold(0, |all, one| all | one), 32)
    };
    if ty.bits() != 32 {
        return None;
    }
    match mnemonic.one_of(&["or", "and"]) {
        None => Some(Pure::new(ty, move |sources| [table(sources)]).bit_by_bit(&[0, 1, 2]).taking_apart()),
        Some(combine) => {
            let is_or = combine == "or";
            let both = move |[a, b, c, d, q]: [u64; 5]| {
                let result = table([a, b, c, d]);
                let is_set = u64::from(result != 0);
                [result, if is_or { is_set | q } else { is_set & q }]
            };
            Some(Pure::new(ty, both).results(&[ty, Ty::Pred]).sources(&[ty, ty, ty, ty, Ty::Pred]))
        }
    }
}

fn permuted(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    let byte = |a: u64, b: u64, number: u64| (b << 32 | a) >> (8 * (number & 7)) & 0xff;
    let place: fn(u64, u64) -> u64 = match mnemonic.modifiers.iter().copied().find(|word| Ty::of(word).is_none()) {
        None => {
            let chosen = move |a, b, selector: u64| {
                let one = |number: u64| {
                    let select = selector >> (4 * number) & 0xf;
                    let value = byte(a, b, select);
                    if select & 8 == 0 { value } else { (value >> 7) * 0xff }
                };
                (0..4).fold(0, |all, number| all | one(number) << (8 * number))
            };
            return Some(Pure::three(WORD, chosen));
        }
        Some("f4e") => |control, number| control + number,
        Some("b4e") => |control, number| control.wrapping_sub(number),
        Some("rc8") => |control, _| control,
        Some("ecl") => |control, number| control.max(number),
        Some("ecr") => |control, number| control.min(number),
        Some("rc16") => |control, number| (control & 1) * 2 + (number & 1),
        _ => return None,
    };
    Some(Pure::three(WORD, move |a, b, control| {
        (0..4).fold(0, |all, number| all | byte(a, b, place(control & 3, number)) << (8 * number))
    }))
}

fn products(mnemonic: &Mnemonic<'_>) -> Option<Pure> {
    let types = mnemonic.types();
    let [left, right] = *types.as_slice() else { return None };
    let (signed_a, signed_b) = (left.is_signed(), right.is_signed());
    let part =
        |value: u64, number: u32, bits: u32, is_signed: bool| extended(value >> (number * bits), bits, is_signed);
    let result = if signed_a || signed_b { Ty::Signed(32) } else { WORD };
    if mnemonic.word == "dp4a" {
        let sum = move |a, b, c: u64| {
            let product = |number| part(a, number, 8, signed_a) * part(b, number, 8, signed_b);
            low(((0..4).map(product).sum::<i128>() as u64).wrapping_add(c), 32)
        };
        return Some(Pure::three(result, sum));
    }
    let first = if mnemonic.one_of(&["lo", "hi"])? == "hi" { 2 } else { 0 };
    let sum = move |a, b, c: u64| {
        let product = |number| part(a, number, 16, signed_a) * part(b, first + number, 8, signed_b);
        low(((0..2).map(product).sum::<i128>() as u64).wrapping_add(c), 32)
    };
    Some(Pure::three(result, sum))
}
