//! SIMD video instructions and their replacements by `nvptx-simd-video`, on all pairs of bytes and on halves at their
//! limits.

use arbtest::arbtest;
use rustc_hash::FxHashMap;

use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::pure::{Lanes, MOST_SOURCES, find};
use crate::function::simd_video::expanded;

/// Returns the instructions that are replaced.
fn mnemonics() -> Vec<String> {
    let mut all = Vec::new();
    for parts in ["2", "4"] {
        for ty in ["s32", "u32"] {
            let three = format!("{parts}.{ty}.{ty}.{ty}");
            all.extend(["vadd", "vsub"].map(|stem| format!("{stem}{three}.sat")));
            all.extend(["eq", "ne", "lt", "le", "gt", "ge"].map(|test| format!("vset{parts}.{ty}.{ty}.{test}")));
            if parts == "4" {
                all.extend(["vmin", "vmax"].map(|stem| format!("{stem}{three}")));
            }
            if (parts, ty) != ("4", "u32") {
                all.push(format!("vabsdiff{three}"));
            }
            if ty == "s32" {
                all.push(format!("vabsdiff{three}.sat"));
            } else if parts == "4" {
                all.push(format!("vavrg{three}"));
            }
        }
    }
    all
}

/// Returns the results of an instruction in all lanes.
fn computed(mnemonic: &str, sources: &[Lanes]) -> Lanes {
    let pure = find(&Mnemonic::new(mnemonic)).unwrap_or_else(|| panic!("{mnemonic} is not known"));
    let mut rows: [Lanes; MOST_SOURCES] = [[0; 32]; MOST_SOURCES];
    rows[..sources.len()].copy_from_slice(sources);
    let mut results = [[0; 32]; 2];
    (pure.eval)(&rows.each_ref(), u32::MAX, &mut results);
    results[0]
}

/// Returns the results of the replacement of `mnemonic $0, $1, $2, $3`.
fn computed_in_others(mnemonic: &str, a: Lanes, b: Lanes) -> Lanes {
    let text = expanded(&format!("{mnemonic} $0, $1, $2, $3;")).unwrap_or_else(|| panic!("{mnemonic} stays"));
    let mut values: FxHashMap<&str, Lanes> = FxHashMap::from_iter([("$1", a), ("$2", b)]);
    let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).expect("a scope");
    for statement in inside.split(';').map(str::trim).filter(|text| !text.is_empty() && !text.starts_with('.')) {
        let (mnemonic, operands) = statement.split_once(' ').expect("operands");
        let operands: Vec<&str> = operands.split(", ").collect();
        let value_of = |operand: &&str| match operand.strip_prefix("0x") {
            Some(digits) => [u64::from_str_radix(digits, 16).expect("a number"); 32],
            None => operand.parse().map_or_else(|_| values[*operand], |number| [number; 32]),
        };
        let sources: Vec<Lanes> = operands[1..].iter().map(value_of).collect();
        let result = if mnemonic == "mov.b32" { sources[0] } else { computed(mnemonic, &sources) };
        assert!(values.insert(operands[0], result).is_none(), "{} is written twice", operands[0]);
    }
    values["$0"]
}

fn check(mnemonic: &str, a: Lanes, b: Lanes) {
    let expected = computed(mnemonic, &[a, b, [0; 32]]);
    let found = computed_in_others(mnemonic, a, b);
    for lane in 0..32 {
        assert_eq!(found[lane], expected[lane], "{mnemonic} of {:08x} and {:08x}", a[lane], b[lane]);
    }
}

/// Each pair of bytes occurs once at each position of a word, beside other pairs: the result of each byte is the
/// instruction's.
#[test]
fn all_pairs_of_bytes() {
    let word = |first: u64| -> (u64, u64) {
        // Four distant pairs, so that neighbours differ.
        let pairs = [0, 0x5a5a, 0xc3c3, 0x9696].map(|other| first ^ other);
        let of = |shift: u32| pairs.iter().enumerate().map(|(place, pair)| (pair >> shift & 0xff) << (8 * place)).sum();
        (of(0), of(8))
    };
    for mnemonic in mnemonics().iter() {
        if !mnemonic[..9].contains('4') {
            continue;
        }
        for first in (0..1 << 16).step_by(32) {
            let (a, b): (Vec<u64>, Vec<u64>) = (first..first + 32).map(word).unzip();
            check(mnemonic, a.try_into().expect("32"), b.try_into().expect("32"));
        }
    }
}

/// Drawn words, and words with parts at their limits.
#[test]
fn drawn_words() {
    arbtest(|u| {
        let mut lanes = || -> arbitrary::Result<Lanes> {
            let mut lanes = [0; 32];
            for lane in &mut lanes {
                for place in 0..2 {
                    let half = match u.int_in_range(0..=2)? {
                        0 => *u.choose(&[0, 1, 2, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff, 0x7f80, 0x80ff])?,
                        _ => u.arbitrary::<u16>()?,
                    };
                    *lane |= u64::from(half) << (16 * place);
                }
            }
            Ok(lanes)
        };
        let (a, b) = (lanes()?, lanes()?);
        mnemonics().iter().for_each(|mnemonic| check(mnemonic, a, b));
        Ok(())
    });
}
