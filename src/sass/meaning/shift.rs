//! Shifts, byte permutations, and bit positions.

use super::Function;
use super::reading::{function, results};
use crate::emulate::types::{Ty, low, signed};
use crate::sass::instruction::Instruction;

const U32: Ty = Ty::Unsigned(32);

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    let found = match (word, modifiers.as_slice()) {
        ("SHF", [direction, rest @ ..]) => funnel(instruction, direction, rest)?.bit_by_bit(&[0, 2]),
        ("PRMT", [] | [_]) => permutation(instruction, modifiers.first().copied())?.bit_by_bit(&[0, 2]),
        ("BREV", []) => {
            let reversed = |[a]: [u64; 1]| [(a as u32).reverse_bits().into()];
            function(instruction, [(0, U32)], [(1, U32)], reversed)?.bit_by_bit(&[0])
        }
        ("FLO", _) => leading(instruction, &modifiers)?,
        ("SGXT", [] | ["U32"] | ["W"] | ["W", "U32"]) => extension(instruction, &modifiers)?.bit_by_bit(&[0]),
        ("BMSK", [] | ["C"] | ["W"]) => mask(instruction, modifiers.contains(&"W"))?,
        _ => return None,
    };
    Some(vec![found.taking_apart()])
}

/// `SHF`: a shift of a register pair as one number. The result is the lower or upper word. The amount is limited to the
/// width unless it wraps.
fn funnel(instruction: &Instruction, direction: &str, rest: &[&str]) -> Option<Function> {
    let is_left = match direction {
        "L" => true,
        "R" => false,
        _ => return None,
    };
    let (mut wraps, mut is_high, mut kind) = (false, false, None);
    for &modifier in rest {
        match modifier {
            "W" => wraps = true,
            "HI" => is_high = true,
            "U32" | "S32" | "U64" | "S64" => kind = Some(modifier),
            _ => return None,
        }
    }
    let kind = kind?;
    let has_sign = kind.starts_with('S');
    let width: u64 = if kind.ends_with("64") { 64 } else { 32 };
    (results(instruction) == 1).then_some(())?;
    function(instruction, [(0, U32)], [(1, U32), (2, U32), (3, U32)], move |[a, amount, c]| {
        let whole = low(a, 32) | low(c, 32) << 32;
        let amount = if wraps { amount % width } else { amount.min(width) } as u32;
        let whole = u128::from(whole) | if has_sign && whole >> 63 == 1 { u128::MAX << 64 } else { 0 };
        let shifted = if is_left { whole << amount } else { ((whole as i128) >> amount) as u128 };
        [low((shifted >> if is_high { 32 } else { 0 }) as u64, 32)]
    })
}

/// `PRMT`: bytes of two registers, chosen by a selector. Each digit of the selector may replicate a byte's sign
/// instead.
fn permutation(instruction: &Instruction, mode: Option<&str>) -> Option<Function> {
    let mode = match mode {
        None => 0,
        Some("F4E") => 1,
        Some("B4E") => 2,
        Some("RC8") => 3,
        Some("ECL") => 4,
        Some("ECR") => 5,
        Some("RC16") => 6,
        _ => return None,
    };
    function(instruction, [(0, U32)], [(1, U32), (2, U32), (3, U32)], move |[a, selector, c]| {
        let bytes = low(a, 32) | c << 32;
        let byte = |number: u64| bytes >> (8 * (number & 7)) & 0xff;
        let first = selector & 3;
        let chosen = |place: u64| match mode {
            0 => {
                let digit = selector >> (4 * place) & 0xf;
                let value = byte(digit);
                if digit & 8 == 0 { value } else { (value >> 7) * 0xff }
            }
            1 => byte(first + place),
            2 => byte(first.wrapping_sub(place)),
            3 => byte(first),
            4 => byte(first.max(place)),
            5 => byte(first.min(place)),
            _ => byte((first & 1) * 2 + (place & 1)),
        };
        [(0..4).fold(0, |all, place| all | chosen(place) << (8 * place))]
    })
}

/// `FLO`: the position of the highest set bit, or, for signed sources, of the highest bit that differs from the sign.
/// With `.SH`, the distance from the top.
fn leading(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let (mut has_sign, mut is_distance) = (true, false);
    for &modifier in modifiers {
        match modifier {
            "U32" => has_sign = false,
            "SH" => is_distance = true,
            _ => return None,
        }
    }
    function(instruction, [(0, U32)], [(1, U32)], move |[a]| {
        let a = a as u32;
        let a = if has_sign && a >> 31 == 1 { !a } else { a };
        let place = 31u32.wrapping_sub(a.leading_zeros());
        let found = if a == 0 {
            u32::MAX
        } else if is_distance {
            31 - place
        } else {
            place
        };
        [found.into()]
    })
}

/// `SGXT`: the lowest bits of a source, sign-extended or zero-extended.
fn extension(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let (wraps, is_unsigned) = (modifiers.contains(&"W"), modifiers.contains(&"U32"));
    function(instruction, [(0, U32)], [(1, U32), (2, U32)], move |[a, bits]| {
        let bits = if wraps { bits % 32 } else { bits.min(32) } as u32;
        let value = low(a, bits);
        [if is_unsigned || bits == 0 { value } else { low(signed(value, bits) as u64, 32) }]
    })
}

/// `BMSK`: a mask of consecutive bits from a position.
fn mask(instruction: &Instruction, wraps: bool) -> Option<Function> {
    function(instruction, [(0, U32)], [(1, U32), (2, U32)], move |[place, count]| {
        let [place, count] = [place, count].map(|number| if wraps { number % 32 } else { number.min(32) });
        [low(low(u64::MAX, count as u32) << place, 32)]
    })
}
