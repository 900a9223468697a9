//! Registers and memory with defined and undefined bytes.

use super::{file, program, reason};
use crate::emulate::{Comparison, Launches, Verdict, compare_programs};

const BEFORE: &str = ".shared .align 16 .b32 box[2048];\n.global .align 8 .b8 kept[65536];";

fn compared(first: &str, second: &str) -> Comparison {
    let launches =
        Launches { count: 1, more: 0, grid: Some([1, 1, 1]), block: Some([32, 1, 1]), ..Launches::default() };
    compare_programs(&program(&file(BEFORE, first)), &program(&file(BEFORE, second)), "k", &launches)
}

/// Returns the reason why a program alone cannot be compared.
fn doubt(comparison: &Comparison, which: usize) -> &str {
    match &comparison.launches[0].verdict {
        Verdict::NotComparable { program, reason } if *program == which => reason,
        _ => panic!("{comparison:?}"),
    }
}

/// A register with one loaded and one unset half; `{fill}` sets the latter.
const HALF: &str = "mad.wide.u32 %d0, %t, 4, %in; ld.global.u16 %h0, [%d0]; {fill} mov.b32 %r0, {%h0, %h1};";

/// Code that brings the defined half to a store of `{half}` in different ways.
const WAYS: [&str; 16] = [
    "shfl.sync.down.b32 %r1, %r0, 1, 31, -1; cvt.u16.u32 %h3, %r1;",
    "shfl.sync.bfly.b32 %r1, %r0, 4, 31, -1; mov.b32 {%h3, %h4}, %r1;",
    "mov.b64 %d1, {%r0, %t}; mov.b64 %d2, %d1; mov.b64 {%r1, %r2}, %d2; cvt.u16.u32 %h3, %r1;",
    "mov.b64 %d1, {%t, %r0}; shr.u64 %d1, %d1, 32; cvt.u16.u64 %h3, %d1;",
    "and.b32 %r1, %r0, 0xffff; cvt.u16.u32 %h3, %r1;",
    "shl.b32 %r1, %r0, 16; or.b32 %r1, %r1, 7; shr.u32 %r1, %r1, 16; cvt.u16.u32 %h3, %r1;",
    "prmt.b32 %r1, %r0, %t, 0x5410; prmt.b32 %r1, %r1, 0, 0x4401; prmt.b32 %r1, %r1, 0, 0x4401; cvt.u16.u32 %h3, %r1;",
    "bfe.u32 %r1, %r0, 0, 16; add.u32 %r1, %r1, 3; cvt.u16.u32 %h3, %r1;",
    "bfi.b32 %r1, %r0, 0, 0, 16; cvt.u16.u32 %h3, %r1;",
    "bfi.b32 %r1, %t, %r0, 16, 16; add.u32 %r1, %r1, 1; cvt.u16.u32 %h3, %r1;",
    "lop3.b32 %r1, %r0, 0xffff, 5, 0x6a; cvt.u16.u32 %h3, %r1;",
    "shf.l.wrap.b32 %r1, %t, %r0, 16; shr.u32 %r1, %r1, 16; cvt.u16.u32 %h3, %r1;",
    "setp.lt.u32 %p0, %t, 7; selp.b32 %r1, %r0, %t, %p0; cvt.u16.u32 %h3, %r1;",
    "mov.u32 %r9, box; mad.lo.u32 %r9, %t, 4, %r9; st.shared.b32 [%r9], %r0; bar.warp.sync -1;\n\
     ld.shared.u16 %h3, [%r9]; ld.shared.b32 %r2, [%r9];",
    ".local .align 4 .b32 spot[2]; st.local.v2.b32 [spot], {%t, %r0}; ld.local.v2.b32 {%r1, %r2}, [spot]; cvt.u16.u32 %h3, %r2;",
    "mov.u64 %d3, kept; mad.wide.u32 %d3, %t, 4, %d3; st.global.b32 [%d3], %r0; ld.global.b32 %r1, [%d3]; cvt.u16.u32 %h3, %r1;",
];

const STORE: &str = "mul.lo.u16 %h3, %h3, 3; st.global.u16 [%at], %h3;";

#[test]
fn the_defined_half_is_compared() {
    let of = |way: &str, fill: &str, more: &str| format!("{}{way}{more}{STORE}", HALF.replace("{fill}", fill));
    for way in WAYS {
        let text = of(way, "", "");
        let comparison = compared(&text, &text);
        assert!(comparison.is_same(), "{way}: {comparison:?}");
        for fill in ["mov.b16 %h1, 0xffff;", "cvt.u16.u32 %h1, %t;"] {
            assert!(compared(&text, &of(way, fill, "")).is_same(), "{way}");
        }
        assert!(compared(&text, &of(way, "", "xor.b16 %h3, %h3, 1;")).difference().is_some(), "{way}");
        assert!(compared(&text, &of(way, "add.u16 %h0, %h0, 1;", "")).difference().is_some(), "{way}");
    }
}

/// If half of a stored value is undefined, the other half is compared. The second program may store anything for an
/// undefined half of the first. If the half, or the whole value, is undefined only in the second program, the launch is
/// not comparable.
#[test]
fn half_of_a_store() {
    let half = HALF.replace("{fill}", "");
    let filled = HALF.replace("{fill}", "mov.b16 %h1, 5;");
    for store in [
        "st.global.b32 [%at], %r0;",
        "mad.wide.u32 %d2, %t, 8, %out; st.global.v2.b32 [%d2], {%r0, %t};",
        "mov.b64 %d1, {%r0, %r1}; mad.wide.u32 %d2, %t, 16, %out; st.global.v2.b64 [%d2], {%d1, %d3};",
    ] {
        let of = |before: &str, more: &str| format!("{before}{more}{store}");
        assert!(compared(&of(&half, ""), &of(&half, "")).is_same(), "{store}");
        assert!(compared(&of(&half, ""), &of(&filled, "")).is_same(), "{store}");
        let more = "xor.b32 %r0, %r0, 1;";
        assert!(compared(&of(&half, ""), &of(&half, more)).difference().is_some(), "{store}");
        assert!(compared(&of(&half, ""), &of(&filled, more)).difference().is_some(), "{store}");
        let comparison = compared(&of(&filled, ""), &of(&half, ""));
        let said = "are undefined, but defined in the first program: an unset register, read in line ";
        assert!(doubt(&comparison, 1).contains(said), "{comparison:?}");
        assert!(compared(&of(&filled, ""), &of(&half, more)).difference().is_some(), "{store}");
    }
    let none = "st.global.v2.b32 [%out], {%r1, %r2};";
    assert!(doubt(&compared(none, none), 0).contains("a stored value depends on a value that is undefined"));
}

/// The reason contains the origin of the undefined value, whatever else is undefined.
#[test]
fn true_reasons() {
    let sum = "add.u32 %r1, %r0, 1; st.global.u32 [%at], %r1;";
    for (what, text) in [
        ("an unset register, read in line 13", "shfl.sync.idx.b32 %r0, %r9, 0, 31, -1;"),
        (
            "an unset register, read in line 13",
            "shfl.sync.down.b32 %r8, %t, 1, 15, 0xffffffff; mov.b32 %r0, {%h5, %h6};",
        ),
        (
            "uninitialised shared memory, read in line 13",
            "mov.u32 %r7, %clock; ld.shared.u32 %r0, [box]; shl.b32 %r7, %r7, 1;",
        ),
        (
            "%clock",
            "ld.shared.u32 %r8, [box]; mov.u32 %r7, %clock; shl.b32 %r7, %r7, 1; shfl.sync.idx.b32 %r0, %r7, 0, 31, -1;",
        ),
        ("a division by zero in line 13", "mov.u32 %r5, 0; div.u32 %r0, %t, %r5; mov.b32 %r8, {%h5, %h6};"),
        ("an unset register, read in line 13", "mov.u32 %r7, box; st.shared.b32 [%r7], %r9; ld.shared.b32 %r0, [%r7];"),
    ] {
        let reason = reason(&file(BEFORE, &format!("{text}\n{sum}")), 1);
        assert!(reason.contains(&format!("not modelled: {what}")), "{text}: {reason}");
    }
}

/// A program of random bit moves leaves the same in the bytes that count as defined, whatever an undefined half is.
#[test]
fn nothing_that_counts_as_defined_depends_on_what_is_not() {
    let mut state = 7u64;
    let mut next = move |limit: usize| {
        state = crate::emulate::types::mixed(state);
        (state >> 7) as usize % limit
    };
    let mut same = 0;
    for round in 0..40 {
        let mut body = String::from("mov.b32 %r1, {%h1, %h0}; mov.b32 %r2, %t;");
        for _ in 0..8 {
            let [to, a, b, c, n] = [8, 8, 8, 8, 32].map(&mut next);
            let [to, a, b, c] = [to, a, b, c].map(|number| if number > 4 { number % 3 } else { number });
            body += &match next(13) {
                0 => format!("and.b32 %r{to}, %r{a}, %r{b};"),
                1 => format!("or.b32 %r{to}, %r{a}, %r{b};"),
                2 => format!("xor.b32 %r{to}, %r{a}, %r{b};"),
                3 => format!("shl.b32 %r{to}, %r{a}, {n};"),
                4 => format!("shr.s32 %r{to}, %r{a}, {n};"),
                5 => format!("prmt.b32 %r{to}, %r{a}, %r{b}, {:#x};", next(0x10000)),
                6 => format!("bfi.b32 %r{to}, %r{a}, %r{b}, {n}, {};", next(33)),
                7 => format!("bfe.s32 %r{to}, %r{a}, {n}, {};", next(33)),
                8 => format!("lop3.b32 %r{to}, %r{a}, %r{b}, %r{c}, {:#x};", next(256)),
                9 => format!("shf.r.clamp.b32 %r{to}, %r{a}, %r{b}, {n};"),
                10 => format!("cvt.s32.s8 %r{to}, %r{a};"),
                11 => format!("add.u32 %r{to}, %r{a}, %r{b};"),
                _ => format!("not.b32 %r{to}, %r{a}; shfl.sync.down.b32 %r{to}, %r{to}, 3, 31, -1;"),
            };
        }
        let set = "mov.b32 %r3, 0x00ff; mov.b32 %r4, 0x12345600; and.b32 %r4, %r4, 0xffff;";
        let store = "mad.wide.u32 %d5, %t, 20, %out; st.global.b32 [%d5], %r0; st.global.b32 [%d5+4], %r1;\n\
                     st.global.b32 [%d5+8], %r2; st.global.b32 [%d5+12], %r3; st.global.b32 [%d5+16], %r4;";
        let kept = "and.b32 %r0, %r0, %r0;";
        let of = |fill: &str| format!("{}{set}{body}{kept}{store}", HALF.replace("{fill}", fill));
        for fill in ["mov.b16 %h1, 0xa55a;", "mov.b16 %h1, 0xffff;"] {
            let comparison = compared(&of(""), &of(fill));
            assert!(comparison.difference().is_none(), "{round}: {}: {comparison:?}", of(fill));
            same += usize::from(comparison.is_same());
        }
    }
    assert!(same > 20, "{same} could be compared");
}
