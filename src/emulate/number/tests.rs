//! Compares every operation and rounding with `rustc_apfloat`, on drawn bits.

use arbtest::arbtest;
use rustc_apfloat::ieee::{BFloat, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::*;

const ROUNDINGS: [(Rounding, Round); 5] = [
    (Rounding::Nearest, Round::NearestTiesToEven),
    (Rounding::Away, Round::NearestTiesToAway),
    (Rounding::Zero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

/// Whether the bits are the same. All NaN encodings count as one.
fn same<F: Float>(ours: u64, theirs: F, format: Format) -> bool {
    if theirs.is_nan() { format.value(ours).is_nan() } else { u128::from(ours) == theirs.to_bits() }
}

fn all_of<F: Float>(format: Format, bits: [u64; 3]) {
    let theirs = bits.map(|bits| F::from_bits(bits.into()));
    let ours = bits.map(|bits| format.value(bits));
    let [a, b, c] = theirs;
    for (rounding, round) in ROUNDINGS {
        let check = |name: &str, value: f64, theirs: F| {
            let ours = format.round(value, rounding, false);
            assert!(same(ours, theirs, format), "{name} {bits:x?} {rounding:?}: {ours:x}, not {:x}", theirs.to_bits());
        };
        check("add", add(ours[0], ours[1], rounding), a.add_r(b, round).value);
        check("mul", mul(ours[0], ours[1]), a.mul_r(b, round).value);
        check("div", div(ours[0], ours[1]), a.div_r(b, round).value);
        check("fma", fma(ours[0], ours[1], ours[2], rounding), a.mul_add_r(b, c, round).value);
        check("value", ours[0], a);
    }
}

/// Draws bits that are often near the limits of the format.
fn drawn(u: &mut arbitrary::Unstructured<'_>, width: u32) -> arbitrary::Result<u64> {
    let bits: u64 = u.arbitrary()?;
    Ok(match u.int_in_range(0..=3)? {
        0 => bits & 0xff,
        1 => (1 << (width - 1)) - 1 - (bits & 0x3ff),
        _ => bits & ((1 << width) - 1),
    })
}

/// Sums, products, quotients and fused products of halves, bf16 and floats are rounded correctly.
#[test]
fn small_formats() {
    arbtest(|u| {
        all_of::<Half>(F16, [drawn(u, 16)?, drawn(u, 16)?, drawn(u, 16)?]);
        all_of::<BFloat>(BF16, [drawn(u, 16)?, drawn(u, 16)?, drawn(u, 16)?]);
        all_of::<Single>(F32, [drawn(u, 32)?, drawn(u, 32)?, drawn(u, 32)?]);
        Ok(())
    });
}

/// The square root of a float: the squares of its neighbours lie on either side of it.
#[test]
fn roots() {
    arbtest(|u| {
        let bits = drawn(u, 31)?;
        let value = F32.value(bits);
        if !value.is_finite() || value == 0.0 {
            return Ok(());
        }
        let down = F32.value(F32.round(sqrt(value), Rounding::Down, false));
        let up = F32.value(F32.round(sqrt(value), Rounding::Up, false));
        assert!(down * down <= value && up * up >= value, "{value}: {down} {up}");
        assert!((f32::to_bits(up as f32) - f32::to_bits(down as f32)) <= 1);
        let nearest = F32.round(sqrt(value), Rounding::Nearest, false);
        assert_eq!(nearest, u64::from((value as f32).sqrt().to_bits()));
        let double = f64::from_bits(u.arbitrary::<u64>()? >> 1);
        if double.is_finite() && double > 0.0 {
            let (down, up) = (double_sqrt(double, Rounding::Down), double_sqrt(double, Rounding::Up));
            let close = up.to_bits() - down.to_bits();
            assert!(close <= 1 && down <= double.sqrt() && up >= double.sqrt(), "{double:e}");
        }
        Ok(())
    });
}

/// Conversions between float and half or bf16, in every rounding.
#[test]
fn conversions() {
    arbtest(|u| {
        let bits = drawn(u, 32)?;
        let single = Single::from_bits(bits.into());
        for (rounding, round) in ROUNDINGS {
            let half: Half = single.convert_r(round, &mut false).value;
            let ours = F16.round(F32.value(bits), rounding, false);
            assert!(same(ours, half, F16), "{bits:x} {rounding:?}");
            let bfloat: BFloat = single.convert_r(round, &mut false).value;
            assert!(same(BF16.round(F32.value(bits), rounding, false), bfloat, BF16), "{bits:x} {rounding:?}");
        }
        Ok(())
    });
}

/// Every encoding of fp8 survives a conversion and back, and values beyond the largest saturate.
#[test]
fn eight_bits() {
    for format in [E4M3, E5M2] {
        for bits in 0..256 {
            let value = format.value(bits);
            let again = format.round(value, Rounding::Nearest, false);
            assert!(again == bits || value.is_nan(), "{bits:x} is {value}, which is {again:x}");
        }
    }
    assert_eq!(E4M3.value(0x7e), 448.0);
    assert_eq!(E5M2.value(0x7b), 57344.0);
    assert_eq!(E4M3.round(1e6, Rounding::Nearest, true), 0x7e);
    assert_eq!(E4M3.round(f64::NEG_INFINITY, Rounding::Nearest, true), 0xfe);
    assert!(E4M3.value(0x7f).is_nan() && E4M3.value(0xff).is_nan());
}
