//! Floating-point instructions agree with `rustc_apfloat` and the host's own conversions on random bits.

use arbtest::arbtest;
use rustc_apfloat::ieee::{Half as Sixteen, Single};
use rustc_apfloat::{Float, Round};

use super::{Approximation, find};
use crate::emulate::pure::MOST_SOURCES;
use crate::sass::control::Control;
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Half, Operand, PT, Predicate, RZ, Register};

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

fn instruction(mnemonic: &str, operands: &[Operand]) -> Instruction {
    Instruction {
        address: 0,
        guard: None,
        mnemonic: mnemonic.into(),
        operands: operands.to_vec(),
        control: Control::default(),
        bits: 0,
    }
}

/// Returns the first results of an instruction, given the values of the operands that it reads.
fn results(mnemonic: &str, operands: &[Operand], held: &[u64], approximation: Approximation) -> Vec<u64> {
    let functions =
        find(&instruction(mnemonic, operands), approximation).unwrap_or_else(|| panic!("{mnemonic} is not known"));
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

/// Returns the result of an instruction on registers.
fn of(mnemonic: &str, sources: &[u64]) -> u64 {
    let operands: Vec<Operand> = (0..=sources.len() as u8).map(plain).collect();
    results(mnemonic, &operands, &[&[0], sources].concat(), Approximation::Exact)[0]
}

/// Returns random bits that are often near the ends of a format.
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

/// Sums and products of floats are rounded according to the modifier.
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

/// Packed halves are computed separately, each from the half that its operand selects.
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

/// Conversions from float to integer agree with the host, which saturates and turns NaN into zero.
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
        // The immediate of an instruction is the upper half of 64 bits.
        let upper = integer as u32;
        let constant = [plain(0), Operand::Immediate(upper)];
        let found = results("I2F.F64.U64", &constant, &[0, upper.into()], Approximation::Exact)[0];
        assert_eq!(found, ((u64::from(upper) << 32) as f64).to_bits());
        assert_eq!(of("I2FP.F32.U32", &[integer & 0xffff_ffff]), u64::from((integer as u32 as f32).to_bits()));
        Ok(())
    });
}

/// Relations and their opposites are right, including relations that hold for NaN.
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

/// ptxas's code for a quotient is exactly rounded for each permitted error of the reciprocal, unless the quotient needs
/// the slow path.
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

/// Each bit of a shift's result is one bit of the source. A product with a power of two is a shift. ptxas replaces one
/// by the other, and leaves the bits that are shifted out undefined.
#[test]
fn shifts_and_products_that_are_such() {
    let of = |mnemonic: &str, factor: u32, summand: u8| {
        let operands = [plain(0), plain(1), Operand::Immediate(factor), plain(summand)];
        let functions = find(&instruction(mnemonic, &operands), Approximation::Exact).expect("it is known");
        functions[0].pure.bitwise
    };
    assert_eq!([of("SHF.L.U32", 16, RZ), of("SHF.R.S32.HI", 16, 2), of("PRMT", 0x7632, 2)], [5; 3]);
    assert_eq!([of("IMAD.U32", 0x1_0000, RZ), of("IMAD.WIDE.U32", 2, RZ), of("IMAD", 1, RZ)], [1; 3]);
    assert_eq!([of("IMAD.U32", 3, RZ), of("IMAD", 4, 2), of("IMAD.HI.U32", 4, RZ), of("IMAD", 0, RZ)], [0; 4]);
}

/// An approximate result is off by at most one unit, in the direction that the run chooses.
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

/// A difference by LEA has the carry that the next word of a longer number needs, also for a zero subtrahend.
#[test]
fn carries_of_shifted_differences() {
    arbtest(|u| {
        let [a, b]: [u32; 2] =
            if u.ratio(1, 4)? { [0x8000_0000, u.arbitrary()?] } else { [u.arbitrary()?, u.arbitrary()?] };
        let minus = register(2, Changes { negated: true, ..Changes::default() });
        let operands = [plain(0), predicate(1), minus, plain(3), Operand::Immediate(1)];
        let found = results("LEA", &operands, &[0, 0, a.into(), b.into(), 1], Approximation::Exact);
        let product = a << 1;
        assert_eq!(found, [b.wrapping_sub(product).into(), u64::from(b >= product)], "{b} - 2 * {a}");
        Ok(())
    });
}

/// Minima and maxima of three numbers are right: of words, of halves, and of a sum and a number.
#[test]
fn extremes_of_three_numbers() {
    let extreme = |mnemonic: &str, sources: [u64; 3], is_least: bool| {
        let operands = [plain(0), plain(1), plain(2), plain(3), predicate(0)];
        let held = [&[0], sources.as_slice(), &[u64::from(is_least)]].concat();
        results(mnemonic, &operands, &held, Approximation::Exact)[0]
    };
    let minus = |number: u32| u64::from(number.wrapping_neg());
    assert_eq!(extreme("VIMNMX3", [minus(5), 7, minus(9)], true), minus(9));
    assert_eq!(extreme("VIMNMX3", [minus(5), 7, minus(9)], false), 7);
    assert_eq!(extreme("VIMNMX3.U32", [minus(5), 7, minus(9)], false), minus(5));
    assert_eq!(extreme("VIMNMX3.RELU", [minus(5), 7, minus(9)], true), 0);
    assert_eq!(extreme("VIMNMX3.S16x2", [0x0001_ffff, 0xfffe_0005, 0x0003_0004], true), 0xfffe_ffff);
    assert_eq!(extreme("VIMNMX3.U16x2", [0x0001_ffff, 0xfffe_0005, 0x0003_0004], true), 0x0001_0004);
    assert_eq!(extreme("VIADDMNMX.RELU", [3, minus(9), minus(7)], false), 0);
    assert_eq!(extreme("VIADDMNMX.S16x2", [0x7fff_0001, 0x0001_0002, 0x0000_0007], true), 0x8000_0003);
    assert_eq!(extreme("VIADDMNMX.U16x2", [0xffff_0001, 0x0001_0002, 0x0005_0007], false), 0x0005_0007);
}

/// Returns the operand PT, as an unused carry.
fn nowhere() -> Operand {
    predicate(PT)
}

fn negated(number: u8) -> Operand {
    Operand::Predicate(Predicate { number, is_uniform: false, negated: true })
}

/// Sums, comparisons, minima and maxima of 64 bits agree with the host.
#[test]
fn wide_integers() {
    arbtest(|u| {
        let [a, b]: [u64; 2] = [u.arbitrary()?, u.arbitrary()?];
        let b = if u.ratio(1, 4)? { a } else { b };
        let exact = Approximation::Exact;
        assert_eq!(of("IADD.64", &[a, b]), a.wrapping_add(b));
        assert_eq!(of("IADD", &[a as u32 as u64, b as u32 as u64]) as u32, (a as u32).wrapping_add(b as u32));
        let minus = register(2, Changes { negated: true, ..Changes::default() });
        let carried = results("IADD.64", &[plain(0), predicate(1), plain(1), minus], &[0, 0, a, b], exact);
        assert_eq!(carried, [a.wrapping_sub(b), u64::from(a >= b)]);
        let with_carry = [plain(0), plain(1), plain(2), predicate(3)];
        assert_eq!(results("IADD.X", &with_carry, &[0, 7, 8, 1], exact), [16]);
        let three = [plain(0), nowhere(), nowhere(), plain(1), plain(2), plain(3)];
        assert_eq!(results("UIADD3.64", &three, &[0, 0, 0, a, b, 5], exact), [a.wrapping_add(b).wrapping_add(5)]);
        let sides = [predicate(0), predicate(1), plain(1), plain(2), nowhere()];
        for (name, holds) in [("LT.U64", a < b), ("LT.S64", (a as i64) < b as i64), ("EQ.U64", a == b)] {
            let found = results(&format!("ISETP.{name}.AND"), &sides, &[0, 0, a, b, 1], exact);
            assert_eq!(found, [u64::from(holds), u64::from(!holds)], "{a:x} {name} {b:x}");
        }
        let both = [nowhere(), nowhere(), plain(0), plain(1), plain(2), nowhere(), negated(PT)];
        assert_eq!(results("IMNMX.S64", &both, &[0, 0, 0, a, b, 1, 1], exact), [(a as i64).min(b as i64) as u64]);
        assert_eq!(results("IMNMX.U64", &both, &[0, 0, 0, a, b, 0, 1], exact), [a.max(b)]);
        Ok(())
    });
}

/// Minima and maxima are right: of two numbers with predicates before them, and of three numbers.
#[test]
fn extremes() {
    arbtest(|u| {
        let words: [u32; 3] = [u.arbitrary()?, u.arbitrary()?, u.arbitrary()?];
        let [a, b, c] = words.map(u64::from);
        let exact = Approximation::Exact;
        let two = [plain(0), nowhere(), nowhere(), plain(1), plain(2), nowhere()];
        let signed = words.map(|word| word as i32);
        assert_eq!(results("VIMNMX", &two, &[0, 0, 0, a, b, 1], exact)[0] as i32, signed[0].min(signed[1]));
        assert_eq!(results("VIMNMX.U32", &two, &[0, 0, 0, a, b, 0], exact), [a.max(b)]);
        let three = [plain(0), plain(1), plain(2), plain(3), nowhere()];
        assert_eq!(results("VIMNMX3.U32", &three, &[0, a, b, c, 0], exact), [a.max(b).max(c)]);
        assert_eq!(
            results("VIMNMX3", &three, &[0, a, b, c, 1], exact)[0] as i32,
            signed[0].min(signed[1]).min(signed[2])
        );
        let floats = words.map(f32::from_bits);
        let [least, found] = [
            floats.into_iter().fold(f32::NAN, f32::min),
            f32::from_bits(results("FMNMX3", &three, &[0, a, b, c, 1], exact)[0] as u32),
        ];
        assert!(least == found || least.is_nan() && found.is_nan(), "{floats:?}: {found}");
        Ok(())
    });
}

/// The contents that packed integers are merged with may be in the upper half of a register.
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
