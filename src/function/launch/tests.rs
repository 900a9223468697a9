//! Launch attributes are parsed as in NVPTX.

use arbtest::arbtest;

use super::LaunchBounds;

/// Returns the bounds that one attribute sets.
fn bounds(name: &str, value: &str) -> LaunchBounds {
    let mut bounds = LaunchBounds::default();
    bounds.set_attribute(name, value);
    bounds
}

fn max_threads(value: &str) -> Option<u32> {
    bounds("nvvm.maxntid", value).max_threads
}

/// Each attribute sets its own bound and no other. Other attributes set none.
#[test]
fn each_attribute_is_a_bound_of_its_own() {
    let none = LaunchBounds::default();
    assert_eq!(bounds("nvvm.maxntid", "7"), LaunchBounds { max_threads: Some(7), ..none });
    assert_eq!(bounds("nvvm.reqntid", "7"), LaunchBounds { required_threads: Some(7), ..none });
    assert_eq!(bounds("nvvm.minctasm", "7"), LaunchBounds { min_blocks: Some(7), ..none });
    assert_eq!(bounds("nvvm.maxnreg", "7"), LaunchBounds { max_registers: Some(7), ..none });
    assert_eq!(bounds("nvvm.maxclusterrank", "7"), none);
}

/// Blanks, a trailing comma, a fourth dimension and the bases of C are parsed as in NVPTX.
#[test]
fn dimensions_are_read_as_nvptx_reads_them() {
    for (value, threads) in [
        ("128", Some(128)),
        ("10,20,30", Some(6000)),
        (" 4 , 8", Some(32)),
        ("32,", Some(32)),
        ("2,3,4,x", Some(24)),
        ("0x80", Some(128)),
        ("0b11", Some(3)),
        ("0o17", Some(15)),
        ("017", Some(15)),
    ] {
        assert_eq!(max_threads(value), threads, "{value}");
    }
}

/// Values that NVPTX rejects, values that exceed 32 bits and 0 are not bounds. They remove an earlier bound.
#[test]
fn what_is_malformed_says_nothing() {
    for value in ["", ",", "x", "-1", "+1", "1.5", "0", "32,0", "1,,2", "0x", "08", "4294967296", "65536,65536"] {
        assert_eq!(max_threads(value), None, "{value}");
        let mut bounds = bounds("nvvm.minctasm", "2");
        bounds.set_attribute("nvvm.minctasm", value);
        assert_eq!(bounds.min_blocks, None, "{value}");
    }
    assert_eq!(bounds("nvvm.maxnreg", "32,2").max_registers, None);
}

/// Three dimensions give their product if it fits into 32 bits, and no bound otherwise.
#[test]
fn threads_are_the_product_of_the_dimensions() {
    arbtest(|u| {
        // The width of the values is random, because most products of 32 random bits would be too large.
        let bits = u.int_in_range(0..=31)?;
        let x = u.int_in_range(1..=u32::MAX >> bits)?;
        let (y, z) = (u.int_in_range(1..=4096_u32)?, u.int_in_range(1..=64_u32)?);
        let product = u32::try_from(u128::from(x) * u128::from(y) * u128::from(z)).ok();
        assert_eq!(max_threads(&format!("{x},{y},{z}")), product);
        Ok(())
    })
    .budget_ms(300);
}

/// Any text is accepted without a panic, and a bound is never 0.
#[test]
fn no_text_makes_a_bound_of_zero() {
    arbtest(|u| {
        let is_near = u.arbitrary()?;
        let near: Vec<char> = "0123456789xob, +-".chars().collect();
        let mut value = String::new();
        for _ in 0..u.int_in_range(0..=12)? {
            value.push(if is_near { *u.choose(&near)? } else { u.arbitrary()? });
        }
        assert_ne!(max_threads(&value), Some(0), "{value}");
        assert_ne!(bounds("nvvm.maxnreg", &value).max_registers, Some(0), "{value}");
        Ok(())
    })
    .budget_ms(300);
}
