//! Floating-point instructions against `rustc_apfloat` and the host's own conversions, on drawn bits.

use arbtest::arbtest;
use rustc_apfloat::ieee::{Half as Sixteen, Single};
use rustc_apfloat::{Float, Round};

use super::{Approximation, find};
use crate::emulate::pure::MOST_SOURCES;
use crate::sass::control::Control;
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Half, Operand, PT, Predicate, Register};

const ROUNDINGS: [(&str, Round); 4] = [
    ("", Round::NearestTiesToEven),
    (".RZ", Round::TowardZero),
    (".RM", Round::TowardNegative),
    (".RP", Round::TowardPositive),
];

fn register(number: u8, changes: Changes) -> Operand {
    Operand::Register(Register { number, is_uniform: false }, changes)
}

fn plain(number: u8) -> Operand {
    register(number, Changes::default())
}

fn predicate(number: u8) -> Operand {
    Operand::Predicate(Predicate { number, is_uniform: false, negated: false })
}

/// What an instruction writes to its first results, given what the operands hold that it reads.
fn results(mnemonic: &str, operands: &[Operand], held: &[u64], approximation: Approximation) -> Vec<u64> {
    let instruction = Instruction {
        address: 0,
        guard: None,
        mnemonic: mnemonic.into(),
        operands: operands.to_vec(),
        control: Control::default(),
        bits: 0,
    };
    let functions = find(&instruction, approximation).unwrap_or_else(|| panic!("{mnemonic} is not known"));
    let computed = functions.iter().map(|function| {
        let mut lanes = vec![[0; 32]; MOST_SOURCES];
        for (lane, &operand) in lanes.iter_mut().zip(&function.from) {
            *lane = [held[operand]; 32];
        }
        let mut found = [[0; 32]; 2];
        (function.pure.eval)(&std::array::from_fn(|at| &lanes[at]), 1, &mut found);
        found[0][0]
    });
    computed.collect()
}

/// The result of an instruction on registers.
fn of(mnemonic: &str, sources: &[u64]) -> u64 {
    let operands: Vec<Operand> = (0..=sources.len() as u8).map(plain).collect();
    results(mnemonic, &operands, &[&[0], sources].concat(), Approximation::Exact)[0]
}

/// Bits that are often near the ends of a format.
fn drawn(u: &mut arbitrary::Unstructured<'_>, width: u32) -> arbitrary::Result<u64> {
    let bits: u64 = u.arbitrary()?;
    Ok(match u.int_in_range(0..=3)? {
        0 => bits & 0xff,
        1 => (1 << (width - 1)) - 1 - (bits & 0x3ff),
        _ => bits & ((1 << width) - 1),
    })
}

fn is_same<F: Float>(ours: u64, theirs: F) -> bool {
    let ours = F::from_bits(ours.into());
    ours.bitwise_eq(theirs) || ours.is_nan() && theirs.is_nan()
}

/// Sums and products of floats are rounded as the modifier says.
#[test]
fn floats() {
    arbtest(|u| {
        let bits = [drawn(u, 32)?, drawn(u, 32)?, drawn(u, 32)?];
        let [a, b, c] = bits.map(|bits| Single::from_bits(bits.into()));
        for (name, round) in ROUNDINGS {
            let check = |word: &str, count: usize, theirs: Single| {
                let mnemonic = format!("{word}{name}");
                let ours = of(&mnemonic, &bits[..count]);
                assert!(is_same(ours, theirs), "{mnemonic} {bits:x?}: {ours:x}, not {:x}", theirs.to_bits());
            };
            check("FADD", 2, a.add_r(b, round).value);
            check("FMUL", 2, a.mul_r(b, round).value);
            check("FFMA", 3, a.mul_add_r(b, c, round).value);
        }
        Ok(())
    });
}

/// Halves are computed apart, each from the half that its operand names.
#[test]
fn halves() {
    arbtest(|u| {
        let words = [drawn(u, 32)?, drawn(u, 32)?, drawn(u, 32)?];
        let chosen = [Half::Low, Half::High, Half::Both];
        let halves = [*u.choose(&chosen)?, *u.choose(&chosen)?, *u.choose(&chosen)?];
        let operands = [
            plain(0),
            register(1, Changes { half: Some(halves[0]), ..Changes::default() }),
            register(2, Changes { half: Some(halves[1]), negated: true, ..Changes::default() }),
            register(3, Changes { half: Some(halves[2]), absolute: true, ..Changes::default() }),
        ];
        let held = [0, words[0], words[1], words[2]];
        let ours = results("HFMA2", &operands, &held, Approximation::Exact)[0];
        for upper in [false, true] {
            let [a, b, c] = [0, 1, 2].map(|at| {
                let is_high = halves[at] == Half::High || upper && halves[at] == Half::Both;
                Sixteen::from_bits((words[at] >> if is_high { 16 } else { 0 } & 0xffff).into())
            });
            let theirs = a.mul_add_r(-b, if c.is_negative() { -c } else { c }, Round::NearestTiesToEven).value;
            let part = ours >> if upper { 16 } else { 0 } & 0xffff;
            assert!(is_same(part, theirs), "{words:x?} {halves:?}: {part:x}, not {:x}", theirs.to_bits());
        }
        Ok(())
    });
}

/// Floats as integers are as the host has them, which limits them and takes what is no number for zero.
#[test]
fn integers() {
    arbtest(|u| {
        let bits = drawn(u, 32)?;
        let value = f32::from_bits(bits as u32);
        assert_eq!(of("F2I.TRUNC.NTZ", &[bits]) as u32, value as i32 as u32, "{value}");
        assert_eq!(of("F2I.U32.TRUNC.NTZ", &[bits]) as u32, value as u32, "{value}");
        assert_eq!(of("F2I.U16.FLOOR.NTZ", &[bits]) as u32, u32::from(value.floor() as u16), "{value}");
        assert_eq!(of("F2I.S8.CEIL.NTZ", &[bits]) as u32, i32::from(value.ceil() as i8) as u32, "{value}");
        let wide = if value.is_nan() { 1 << 63 } else { value.round_ties_even() as i64 as u64 };
        assert_eq!(of("F2I.S64", &[bits]), wide, "{value}");
        let integer: u64 = u.arbitrary()?;
        assert_eq!(of("I2F.S64", &[integer]), u64::from((integer as i64 as f32).to_bits()));
        assert_eq!(of("I2F.F64.U64", &[integer]), (integer as f64).to_bits());
        // An instruction has the upper half of 64 bits.
        let upper = integer as u32;
        let constant = [plain(0), Operand::Immediate(upper)];
        let found = results("I2F.F64.U64", &constant, &[0, upper.into()], Approximation::Exact)[0];
        assert_eq!(found, ((u64::from(upper) << 32) as f64).to_bits());
        assert_eq!(of("I2FP.F32.U32", &[integer & 0xffff_ffff]), u64::from((integer as u32 as f32).to_bits()));
        Ok(())
    });
}

/// A relation and its opposite, and the relations that hold where one is no number.
#[test]
fn relations() {
    arbtest(|u| {
        let [a, b] = [drawn(u, 32)?, drawn(u, 32)?];
        let b = if u.ratio(1, 4)? { a } else { b };
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let is_open = x.is_nan() || y.is_nan();
        let operands = [predicate(0), predicate(1), plain(1), plain(2), predicate(PT)];
        let all =
            [("LT", x < y), ("EQ", x == y), ("LE", x <= y), ("GT", x > y), ("GE", x >= y), ("NE", !is_open && x != y)];
        for (name, holds) in all {
            let held = [0, 0, a, b, 1];
            let found = |mnemonic: &str| results(mnemonic, &operands, &held, Approximation::Exact);
            assert_eq!(found(&format!("FSETP.{name}.AND")), [u64::from(holds), u64::from(!holds)], "{x} {name} {y}");
            let either = holds || is_open;
            assert_eq!(found(&format!("FSETP.{name}U.AND"))[0], u64::from(either), "{x} {name}U {y}");
        }
        Ok(())
    });
}

/// ptxas's code for a quotient that is not delicate gives the exactly rounded one, however far the reciprocal is off.
#[test]
fn quotients() {
    arbtest(|u| {
        let [a, b] = [drawn(u, 32)?, drawn(u, 32)?];
        let delicate = [predicate(0), plain(1), plain(2)];
        if results("FCHK", &delicate, &[0, a, b], Approximation::Exact)[0] == 1 {
            return Ok(());
        }
        let settings = [Approximation::Exact, Approximation::Lowest, Approximation::Highest, Approximation::Drawn(7)];
        for approximation in settings {
            let negative = b ^ 1 << 31;
            let rough = results("MUFU.RCP", &[plain(0), plain(1)], &[0, b], approximation)[0];
            let fma = |a: u64, b: u64, c: u64| of("FFMA", &[a, b, c]);
            let reciprocal = fma(rough, fma(negative, rough, 0x3f80_0000), rough);
            let first = fma(a, reciprocal, 0);
            let quotient = fma(reciprocal, fma(negative, first, a), first);
            let exact = f32::from_bits(a as u32) / f32::from_bits(b as u32);
            assert_eq!(f32::from_bits(quotient as u32), exact, "{a:x} / {b:x} with {approximation:?}");
        }
        Ok(())
    });
}

/// An approximate result is off by one unit at most, in the direction that the run asks for.
#[test]
fn approximations() {
    arbtest(|u| {
        let bits = drawn(u, 31)?;
        for name in ["RCP", "RSQ", "SQRT", "EX2", "LG2", "TANH"] {
            let with = |approximation| {
                let found = results(&format!("MUFU.{name}"), &[plain(0), plain(1)], &[0, bits], approximation)[0];
                f32::from_bits(found as u32)
            };
            let exact = with(Approximation::Exact);
            let [low, high] = [with(Approximation::Lowest), with(Approximation::Highest)];
            let is_apart = exact.is_normal() && !(name == "RCP" && [0, 0x7f_ffff].contains(&(bits & 0x7f_ffff)));
            assert!(!is_apart || low <= exact && high >= exact && low < high, "{name} {bits:x}: {low} {exact} {high}");
            assert!(is_apart || exact.is_nan() || low == exact || exact != 0.0, "{name} {bits:x}: {low} {exact}");
            let drawn = with(Approximation::Drawn(3));
            assert!([low, exact, high].map(f32::to_bits).contains(&drawn.to_bits()), "{name} {bits:x}: {drawn}");
        }
        Ok(())
    });
}

/// What is merged into packed integers may stand in the upper half of a register.
#[test]
fn packed_integers_merge_a_half() {
    let merged = |half| register(3, Changes { half, ..Changes::default() });
    let held = [0, 300, -5_i64 as u64 & 0xffff_ffff, 0x1234_5678];
    let of = |half| {
        let operands = [plain(0), plain(1), plain(2), merged(half)];
        results("I2IP.S8.S32.SAT", &operands, &held, Approximation::Exact)[0]
    };
    assert_eq!(of(None), 0x5678_7ffb);
    assert_eq!(of(Some(Half::High)), 0x1234_7ffb);
}
