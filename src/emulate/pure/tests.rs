//! Compares instructions with plain Rust, on drawn operands.

use arbtest::arbtest;

use super::{Lanes, MOST_SOURCES, find};
use crate::emulate::mnemonic::Mnemonic;

/// Returns the results of an instruction in a lane.
fn both(mnemonic: &str, sources: &[u64]) -> [u64; 2] {
    let pure = find(&Mnemonic::new(mnemonic)).unwrap_or_else(|| panic!("{mnemonic} is not known"));
    assert_eq!(pure.sources.len(), sources.len(), "{mnemonic}");
    let mut rows: [Lanes; MOST_SOURCES] = [[0; 32]; MOST_SOURCES];
    for (row, &source) in rows.iter_mut().zip(sources) {
        row[7] = source;
    }
    let mut results = [[0; 32]; 2];
    (pure.eval)(&rows.each_ref(), 1 << 7, &mut results);
    let mut again = [[0; 32]; 2];
    (pure.eval)(&rows.each_ref(), u32::MAX, &mut again);
    assert_eq!(results[0][7], again[0][7], "{mnemonic}: all lanes and one give the same");
    [results[0][7], results[1][7]]
}

fn one(mnemonic: &str, sources: &[u64]) -> u64 {
    both(mnemonic, sources)[0]
}

/// Returns a result of 32 bits.
fn word(mnemonic: &str, sources: &[u64]) -> u32 {
    u32::try_from(one(mnemonic, sources)).expect("32 bits")
}

/// Draws numbers that are often small, or at the limits of their type.
fn drawn(u: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<u64> {
    let value: u64 = u.arbitrary()?;
    Ok(match u.int_in_range(0..=4)? {
        0 => value & 63,
        1 => u64::MAX - (value & 3),
        2 => 1 << (value & 63),
        _ => value,
    })
}

/// Sums, products, quotients and remainders of every width and sign.
#[test]
fn integers() {
    arbtest(|u| {
        let (a, b, c) = (drawn(u)?, drawn(u)?, drawn(u)?);
        macro_rules! width {
            ($unsigned:ty, $signed:ty, $wide:ty, $signed_wide:ty, $bits:literal) => {{
                let (x, y, z) = (a as $unsigned, b as $unsigned, c as $unsigned);
                let (s, t) = (x as $signed, y as $signed);
                let words = [x, y, z].map(|word| word as u64);
                let check = |name: &str, count: usize, expected: $unsigned| {
                    let mnemonic = name.replace("32", $bits);
                    assert_eq!(one(&mnemonic, &words[..count]), expected as u64, "{mnemonic} {words:x?}");
                };
                check("add.s32", 2, x.wrapping_add(y));
                check("sub.u32", 2, x.wrapping_sub(y));
                check("mul.lo.s32", 2, x.wrapping_mul(y));
                check("mad.lo.u32", 3, x.wrapping_mul(y).wrapping_add(z));
                check("mul.hi.u32", 2, ((x as $wide * y as $wide) >> <$unsigned>::BITS) as $unsigned);
                check("mul.hi.s32", 2, ((s as $signed_wide * t as $signed_wide) >> <$unsigned>::BITS) as $unsigned);
                check("min.u32", 2, x.min(y));
                check("min.s32", 2, s.min(t) as $unsigned);
                check("max.s32", 2, s.max(t) as $unsigned);
                check("abs.s32", 1, s.unsigned_abs());
                check("neg.s32", 1, x.wrapping_neg());
                check("sad.u32", 3, x.abs_diff(y).wrapping_add(z));
                check("sad.s32", 3, s.abs_diff(t).wrapping_add(z));
                check("and.b32", 2, x & y);
                check("or.b32", 2, x | y);
                check("xor.b32", 2, x ^ y);
                check("not.b32", 1, !x);
                check("cnot.b32", 1, <$unsigned>::from(x == 0));
                if y != 0 {
                    check("div.u32", 2, x / y);
                    check("rem.u32", 2, x % y);
                    check("div.s32", 2, s.wrapping_div(t) as $unsigned);
                    check("rem.s32", 2, s.wrapping_rem(t) as $unsigned);
                }
                let shift = c as u32 & 0x7f;
                let shifted = |name: &str| one(&name.replace("32", $bits), &[words[0], shift.into()]) as $unsigned;
                assert_eq!(shifted("shl.b32"), x.checked_shl(shift).unwrap_or(0));
                assert_eq!(shifted("shr.u32"), x.checked_shr(shift).unwrap_or(0));
                assert_eq!(shifted("shr.s32") as $signed, s >> shift.min(<$unsigned>::BITS - 1));
                for (name, expected) in [
                    ("setp.lt.s32", s < t),
                    ("setp.le.u32", x <= y),
                    ("setp.hi.u32", x > y),
                    ("setp.eq.b32", x == y),
                    ("setp.ge.s32", s >= t),
                    ("setp.ne.b32", x != y),
                    ("setp.lo.u32", x < y),
                ] {
                    let found = both(&name.replace("32", $bits), &words[..2]);
                    assert_eq!(found, [u64::from(expected), u64::from(!expected)], "{name} {words:x?}");
                }
            }};
        }
        width!(u16, i16, u32, i32, "16");
        width!(u32, i32, u64, i64, "32");
        width!(u64, i64, u128, i128, "64");
        let (x, y) = (a as u32, b as u32);
        assert_eq!(one("mul.wide.u32", &[x.into(), y.into()]), u64::from(x) * u64::from(y));
        assert_eq!(one("mul.wide.s32", &[x.into(), y.into()]) as i64, i64::from(x as i32) * i64::from(y as i32));
        let sum = (i64::from(x as i32) * i64::from(y as i32)).wrapping_add(c as i64);
        assert_eq!(one("mad.wide.s32", &[x.into(), y.into(), c]) as i64, sum);
        assert_eq!(one("add.sat.s32", &[x.into(), y.into()]) as u32 as i32, (x as i32).saturating_add(y as i32));
        assert_eq!(one("sub.sat.s32", &[x.into(), y.into()]) as u32 as i32, (x as i32).saturating_sub(y as i32));
        Ok(())
    });
}

/// A chain of carries adds, subtracts and multiplies 128 bits.
#[test]
fn carries() {
    arbtest(|u| {
        let (a, b) = (u.arbitrary::<u128>()?, u.arbitrary::<u128>()?);
        let word = |value: u128, number: u32| (value >> (32 * number)) as u32 as u64;
        for (first, middle, expected) in
            [("add.cc.u32", "addc.cc.u32", a.wrapping_add(b)), ("sub.cc.u32", "subc.cc.u32", a.wrapping_sub(b))]
        {
            let (mut sum, mut carry) = (0u128, 0);
            for number in 0..4 {
                let operands = [word(a, number), word(b, number), carry];
                let found = if number == 0 { both(first, &operands[..2]) } else { both(middle, &operands) };
                sum |= u128::from(found[0]) << (32 * number);
                carry = found[1];
            }
            assert_eq!(sum, expected, "{first}");
        }
        let (x, y, z) = (a as u32, b as u32, (b >> 32) as u64);
        let low = both("mad.lo.cc.u32", &[x.into(), y.into(), z & 0xffff_ffff]);
        let high = one("madc.hi.u32", &[x.into(), y.into(), z >> 32, low[1]]);
        assert_eq!(high << 32 | low[0], (u64::from(x) * u64::from(y)).wrapping_add(z));
        Ok(())
    });
}

/// Fields, permutations and bit counts equal bit-by-bit implementations.
#[test]
fn bits() {
    arbtest(|u| {
        let (a, b, c) = (drawn(u)? as u32, drawn(u)? as u32, drawn(u)? as u32);
        let (place, length) = (u.int_in_range(0..=40u32)?, u.int_in_range(0..=40u32)?);
        let [la, lb, lc, lp, ll] = [a, b, c, place, length].map(u64::from);
        let bit = |value: u32, number: u32| value >> number & 1;
        let mut expected = 0;
        for number in 0..32 {
            let from = place + number;
            if number < length && from < 32 {
                expected |= bit(a, from) << number;
            }
        }
        assert_eq!(word("bfe.u32", &[la, lp, ll]), expected, "{a:x} {place} {length}");
        let sign = if length == 0 { 0 } else { bit(a, (place + length - 1).min(31)) };
        let mut expected = 0;
        for number in 0..32 {
            let from = place + number;
            expected |= if number < length && from < 32 { bit(a, from) } else { sign } << number;
        }
        assert_eq!(word("bfe.s32", &[la, lp, ll]), expected, "{a:x} {place} {length}");
        let mut expected = b;
        for number in (0..length).filter(|number| place + number < 32) {
            let at = place + number;
            expected = expected & !(1 << at) | bit(a, number) << at;
        }
        assert_eq!(word("bfi.b32", &[la, lb, lp, ll]), expected);
        let bytes: Vec<u8> = a.to_le_bytes().into_iter().chain(b.to_le_bytes()).collect();
        let chosen: [u8; 4] = std::array::from_fn(|number| {
            let select = c >> (4 * number) & 0xf;
            let byte = bytes[select as usize & 7];
            if select & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
        });
        assert_eq!(word("prmt.b32", &[la, lb, lc]), u32::from_le_bytes(chosen));
        for table in [0x96, 0xca, 0xe8, u.arbitrary::<u8>()?] {
            let result = (0..32).fold(0u32, |all, number| {
                let index = bit(a, number) << 2 | bit(b, number) << 1 | bit(c, number);
                all | u32::from(table >> index & 1) << number
            });
            assert_eq!(word("lop3.b32", &[la, lb, lc, table.into()]), result);
        }
        let both = u64::from(b) << 32 | la;
        assert_eq!(one("shf.l.wrap.b32", &[la, lb, lc]), both << (c & 31) >> 32);
        assert_eq!(one("shf.r.wrap.b32", &[la, lb, lc]), both >> (c & 31) & 0xffff_ffff);
        assert_eq!(one("shf.r.clamp.b32", &[la, lb, lc]), both >> c.min(32) & 0xffff_ffff);
        assert_eq!(word("popc.b32", &[la]), a.count_ones());
        assert_eq!(word("clz.b32", &[la]), a.leading_zeros());
        assert_eq!(word("clz.b64", &[both]), both.leading_zeros());
        assert_eq!(word("brev.b32", &[la]), a.reverse_bits());
        let highest = if a == 0 { u32::MAX } else { 31 - a.leading_zeros() };
        assert_eq!(word("bfind.u32", &[la]), highest);
        assert_eq!(word("bfind.shiftamt.u32", &[la]), if a == 0 { u32::MAX } else { a.leading_zeros() });
        let magnitude = if (a as i32) < 0 { !a } else { a };
        assert_eq!(word("bfind.s32", &[la]), if magnitude == 0 { u32::MAX } else { 31 - magnitude.leading_zeros() });
        let signed: i32 = (0..4).map(|n| i32::from((a >> (8 * n)) as i8) * i32::from((b >> (8 * n)) as i8)).sum();
        assert_eq!(one("dp4a.s32.s32", &[la, lb, lc]) as u32, (c as i32).wrapping_add(signed) as u32);
        Ok(())
    });
}

fn bits_of(value: f32) -> u64 {
    value.to_bits().into()
}

/// Float operations equal the host's, with flushing, saturation and both treatments of NaN.
#[test]
fn floats() {
    arbtest(|u| {
        let of = |bits: u32| f32::from_bits(bits);
        let (a, b, c) = (of(drawn(u)? as u32), of(drawn(u)? as u32), of(drawn(u)? as u32));
        let check = |name: &str, sources: &[f32], expected: f32| {
            let words: Vec<u64> = sources.iter().copied().map(bits_of).collect();
            let found = of(one(name, &words) as u32);
            let is_same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
            assert!(is_same, "{name} {sources:?}: {found:?}, not {expected:?}");
        };
        check("add.rn.f32", &[a, b], a + b);
        check("sub.f32", &[a, b], a - b);
        check("mul.rn.f32", &[a, b], a * b);
        check("div.rn.f32", &[a, b], a / b);
        check("fma.rn.f32", &[a, b, c], a.mul_add(b, c));
        check("sqrt.rn.f32", &[a], a.sqrt());
        check("rcp.rn.f32", &[a], 1.0 / a);
        check("abs.f32", &[a], a.abs());
        check("neg.f32", &[a], -a);
        check("copysign.f32", &[a, b], b.copysign(a));
        let flush = |value: f32| if value.is_subnormal() { 0.0f32.copysign(value) } else { value };
        check("add.ftz.f32", &[a, b], flush(flush(a) + flush(b)));
        check("mul.ftz.f32", &[a, b], flush(flush(a) * flush(b)));
        let clamp = |value: f32| if value > 0.0 { value.min(1.0) } else { 0.0 };
        check("add.sat.f32", &[a, b], clamp(a + b));
        check("fma.rn.sat.f32", &[a, b, c], clamp(a.mul_add(b, c)));
        if a != b {
            check("min.f32", &[a, b], a.min(b));
            check("max.f32", &[a, b], a.max(b));
        }
        check("max.NaN.f32", &[a, f32::NAN], f32::NAN);
        check("max.f32", &[a, f32::NAN], a);
        check("max.f32", &[-0.0, 0.0], 0.0);
        check("min.f32", &[0.0, -0.0], -0.0);
        let test = |name: &str| one(name, &[bits_of(a), bits_of(b)]) != 0;
        assert_eq!(test("setp.lt.f32"), a < b);
        assert_eq!(test("setp.ltu.f32"), a < b || a.is_nan() || b.is_nan());
        assert_eq!(test("setp.neu.f32"), a != b);
        assert_eq!(test("setp.ne.f32"), a != b && !a.is_nan() && !b.is_nan());
        assert_eq!(test("setp.num.f32"), !a.is_nan() && !b.is_nan());
        Ok(())
    });
}

/// Conversions between integers and floats equal Rust's, and narrow results keep their sign.
#[test]
fn conversions() {
    arbtest(|u| {
        let bits = drawn(u)?;
        let single = f32::from_bits(bits as u32);
        let double = f64::from_bits(bits);
        let word = bits as u32;
        let of_float = |name: &str| one(name, &[word.into()]);
        if !single.is_nan() {
            assert_eq!(of_float("cvt.rzi.s32.f32") as u32, single as i32 as u32, "{single}");
            assert_eq!(of_float("cvt.rzi.u32.f32") as u32, single as u32, "{single}");
            assert_eq!(of_float("cvt.rni.s32.f32") as u32, single.round_ties_even() as i32 as u32);
            assert_eq!(of_float("cvt.rmi.s64.f32"), single.floor() as i64 as u64);
            assert_eq!(of_float("cvt.rpi.u64.f32"), single.ceil() as u64);
            assert_eq!(one("cvt.rn.f32.f64", &[f64::from(single).to_bits()]), bits_of(single));
            assert_eq!(of_float("cvt.f64.f32"), f64::from(single).to_bits());
        }
        assert_eq!(of_float("cvt.rni.s32.f32") == 0, single.is_nan() || single.round_ties_even() as i32 == 0);
        if !double.is_nan() {
            assert_eq!(one("cvt.rn.f32.f64", &[bits]), bits_of(double as f32));
            assert_eq!(one("cvt.rzi.s64.f64", &[bits]), double as i64 as u64);
        }
        assert_eq!(of_float("cvt.rn.f32.s32"), bits_of(word as i32 as f32));
        assert_eq!(of_float("cvt.rn.f32.u32"), bits_of(word as f32));
        assert_eq!(one("cvt.rn.f32.u64", &[bits]), bits_of(bits as f32), "{bits:x}");
        assert_eq!(one("cvt.rn.f32.s64", &[bits]), bits_of(bits as i64 as f32), "{bits:x}");
        assert_eq!(one("cvt.rn.f64.s64", &[bits]), (bits as i64 as f64).to_bits());
        assert_eq!(one("cvt.s64.s32", &[word.into()]), word as i32 as i64 as u64);
        assert_eq!(one("cvt.u64.u32", &[word.into()]), u64::from(word));
        assert_eq!(one("cvt.s16.s8", &[bits & 0xffff]) as u16, bits as i8 as i16 as u16);
        assert_eq!(one("cvt.s32.s8", &[word.into()]) as u32, word as i8 as i32 as u32);
        assert_eq!(one("cvt.sat.u8.s32", &[word.into()]), (word as i32).clamp(0, 255) as u64);
        assert_eq!(one("cvt.sat.s8.s32", &[word.into()]) as i8, (word as i32).clamp(-128, 127) as i8);
        Ok(())
    });
}

/// Approximate results are close to the host's.
#[test]
fn approximations() {
    arbtest(|u| {
        let value = f32::from_bits(0x3000_0000 + (u.arbitrary::<u32>()? & 0x1fff_ffff));
        let close = |name: &str, expected: f32| {
            let found = f32::from_bits(one(name, &[bits_of(value)]) as u32);
            let error = (found - expected).abs();
            assert!(
                found == expected || error <= 1e-5 * expected.abs() + 1e-6,
                "{name} {value}: {found}, not {expected}"
            );
        };
        close("ex2.approx.ftz.f32", value.exp2());
        close("lg2.approx.f32", value.log2());
        close("rsqrt.approx.f32", 1.0 / value.sqrt());
        close("rcp.approx.ftz.f32", 1.0 / value);
        close("sin.approx.f32", value.sin());
        close("tanh.approx.f32", value.tanh());
        Ok(())
    });
}
