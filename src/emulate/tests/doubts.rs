//! Programs with undefined results, or with results that depend on the order of threads: another result is no
//! difference.

use super::{file, program, reason};
use crate::emulate::{Comparison, Launches, Verdict, compare_programs};

fn compared(first: &str, second: &str, launches: &Launches) -> Comparison {
    compare_programs(&program(&file("", first)), &program(&file("", second)), "k", launches)
}

fn seeds(grid: u32, threads: u32) -> impl Iterator<Item = Launches> {
    let of = move |seed| Launches {
        seed,
        count: 1,
        more: 0,
        grid: Some([grid, 1, 1]),
        block: Some([threads, 1, 1]),
        ..Launches::default()
    };
    (1..=48).map(of)
}

/// LLVM divides 64 bits as 32 bits if both operands fit. For a division by zero, this gives another result, which is
/// permitted.
#[test]
fn division_by_zero() {
    let load = "mad.wide.u32 %d0, %t, 8, %in; ld.global.u64 %d1, [%d0]; cvt.u32.u64 %r1, %d1; mul.lo.u32 %r0, %t, 9;";
    let store = "mad.wide.u32 %d3, %t, 8, %out; st.global.u64 [%d3], %d2;";
    let of = |division: &str| format!("{load} {division} {store}");
    for operation in ["div", "rem"] {
        let narrow = of(&format!("{operation}.u32 %r2, %r0, %r1; cvt.u64.u32 %d2, %r2;"));
        let wide = of(&format!("cvt.u64.u32 %d2, %r0; {operation}.u64 %d2, %d2, %d1;"));
        let other = of(&format!("{operation}.u32 %r2, %t, %r1; cvt.u64.u32 %d2, %r2;"));
        let launches = Launches::default();
        assert!(compared(&narrow, &wide, &launches).difference().is_none());
        assert!(compared(&narrow, &other, &launches).difference().is_some());
    }
    // Passes that keep each operation also keep this result.
    let exact = Launches { is_exact: true, ..Launches::default() };
    let by_zero = "mov.u32 %r0, 0; div.s32 %r1, %t, %r0; st.global.u32 [%at], %r1;";
    assert!(reason(&file("", by_zero), 32).contains("a division by zero in line"));
    assert!(compared(by_zero, by_zero, &exact).is_same());
    assert!(compared(by_zero, &by_zero.replace("div", "rem"), &exact).difference().is_some());
    // The operand that is not selected may be undefined.
    let chosen = "and.b32 %r0, %t, 1; rem.u32 %r1, 7, %r0; setp.eq.u32 %p0, %r0, 0; selp.u32 %r1, 5, %r1, %p0;\n\
                  st.global.u32 [%at], %r1;";
    assert!(compared(chosen, chosen, &Launches::default()).is_same());
}

/// Memory beyond a variable is invalid. A variable of unknown size has no end.
#[test]
fn beyond_variables() {
    let of = |load: &str| {
        let before = ".global .align 4 .u32 table[3] = {7, 8, 9}; .extern .global .align 4 .b8 more[];";
        file(before, &format!("mov.u64 %d0, table; mov.u64 %d1, more; {load} st.global.u32 [%at], %r0;"))
    };
    for load in ["ld.global.u32 %r0, [%d0+12];", "ld.u32 %r0, [%d0+-4];", "ld.global.v2.u32 {%r1, %r0}, [%d0+8];"] {
        assert!(reason(&of(load), 32).contains("an access beyond a variable"), "{load}");
    }
    for load in ["ld.global.u32 %r0, [%d0+8];", "ld.global.u32 %r0, [%d1+4096];"] {
        let program = program(&of(load));
        assert!(compare_programs(&program, &program, "k", &Launches::default()).is_same(), "{load}");
    }
}

/// Each of two blocks takes a slot. In the second program, the first block takes longer, and comes last with most
/// seeds. Parts of a warp take slots, too, in the order of the PTX file.
#[test]
fn places_in_turn() {
    let take = "atom.global.add.u32 %r1, [%in], 1; mad.wide.u32 %d0, %r1, 4, %out;";
    let blocks = |wait: &str| {
        format!(
            "setp.ne.u32 %p0, %t, 0; {wait} @%p0 bra X; {take} mov.u32 %r2, %ctaid.x; st.global.u32 [%d0], %r2;\nX:"
        )
    };
    let adds = "add.u32 %n, %n, 1;".repeat(400);
    let longer = blocks(&format!("mov.u32 %r3, %ctaid.x; setp.ne.u32 %p1, %r3, 0; @%p1 bra W; {adds}\nW:"));
    for launches in seeds(2, 32) {
        let comparison = compared(&blocks(""), &longer, &launches);
        assert!(comparison.difference().is_none(), "{comparison:?}");
    }
    let parts = |condition: &str| {
        format!(
            "and.b32 %r0, %t, 1; setp.{condition}.u32 %p0, %r0, 0; @%p0 bra E; {take} bra S;\nE: {take}\n\
             S: st.global.u32 [%d0], %t;"
        )
    };
    for launches in seeds(1, 32) {
        let comparison = compared(&parts("eq"), &parts("ne"), &launches);
        let says = |verdict: &Verdict| matches!(verdict, Verdict::NotComparable { program: 0, reason } if reason.contains("order"));
        assert!(says(&comparison.launches[0].verdict), "{comparison:?}");
    }
}

/// The last block stores a value. Such a program reads values that depend on the order of threads, but its results do
/// not depend on it. Therefore another stored value is a difference.
#[test]
fn last_of_all() {
    let of = |value: u32| {
        format!(
            "mov.u32 %r3, %nctaid.x; setp.ne.u32 %p0, %t, 0; @%p0 bra X; atom.global.add.u32 %r1, [%in], 1;\n\
             add.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, %r3; @%p1 bra X; mov.u32 %r2, {value};\n\
             st.global.u32 [%out], %r2;\nX:"
        )
    };
    for launches in seeds(3, 64) {
        assert!(compared(&of(1), &of(1), &launches).is_same());
        assert!(compared(&of(1), &of(2), &launches).difference().is_some());
    }
}

/// If shared memory holds values of several kinds, each value that is only loaded and stored has the kind of the value
/// there.
#[test]
fn mixed_kinds_through_shared_memory() {
    let of = |float: &str, integer: &str| {
        let body = format!(
            "mov.u32 %r9, part; mad.lo.u32 %r8, %t, 4, %r9; mad.wide.u32 %d0, %t, 4, %in; ld.global.b32 %r0, [%d0];\n\
             ld.global.u32 %r1, [%d0+8192]; {float} {integer} cvt.rn.bf16x2.f32 %r4, %f0, %f0;\n\
             st.shared.b32 [%r8], %f0; st.shared.b32 [%r8+4096], %r2; st.shared.b32 [%r8+8192], %r4;\n\
             bar.warp.sync -1; ld.shared.b32 %r5, [%r8]; ld.shared.b32 %r6, [%r8+4096];\n\
             and.b32 %r10, %t, 7; mad.lo.u32 %r10, %r10, 16, %r9;\n\
             ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r7}}, [%r10+8192];\n\
             st.global.b32 [%at], %r5; st.global.b32 [%at+8192], %r6; st.global.b32 [%at+16384], %r7;"
        );
        program(&file(".shared .align 16 .b32 part[3072];", &body))
    };
    let [add, rounded] = ["add.f32 %f0, %r0, 0f3DCCCCCD;", "add.rp.f32 %f0, %r0, 0f3DCCCCCD;"];
    let [one, two] = ["add.u32 %r2, %r1, 0x40000000;", "add.u32 %r2, %r1, 0x40000001;"];
    let half = "add.rp.f32 %f0, %r0, 0f3DCCCCCD; mul.f32 %f0, %f0, 0f3F810000;";
    let same = |second: &crate::emulate::Program, is_exact| {
        let launches = Launches { is_exact, block: Some([32, 1, 1]), grid: Some([1, 1, 1]), ..Launches::default() };
        compare_programs(&of(add, one), second, "k", &launches).is_same()
    };
    assert!(same(&of(rounded, one), false));
    assert!(!same(&of(rounded, one), true));
    assert!(!same(&of(add, two), false));
    assert!(!same(&of(half, one), false));
}
