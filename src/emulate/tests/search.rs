//! Additional launches reach code that the drawn ones do not.

use super::{file, program};
use crate::emulate::{Comparison, Launches, compare_programs};

/// Compares a kernel that stores a number at a rarely reached point with one that stores another number there.
fn compared(reach: &str, launches: &Launches) -> Comparison {
    let of = |value: u32| {
        let body = format!("st.global.u32 [%at], %n;\n{reach}\nst.global.u32 [%at+4096], {value};\ndone:");
        program(&file(".shared .align 4 .b32 part[1024];", &body))
    };
    compare_programs(&of(1), &of(2), "k", launches)
}

/// Conditions of code that no drawn launch reaches: on a parameter, loaded values, grid and block, through arithmetic,
/// shared memory and combined predicates.
const WAYS: [&str; 10] = [
    "setp.ne.u32 %p0, %n, 54321; @%p0 bra done;",
    "setp.lt.u32 %p0, %n, 54321; @%p0 bra done;",
    "mul.lo.u32 %r0, %n, 3; add.u32 %r0, %r0, 7; setp.ne.u32 %p0, %r0, 160; @%p0 bra done;",
    "shr.u32 %r0, %n, 20; setp.eq.u32 %p0, %r0, 0; @%p0 bra done;",
    "ld.global.u32 %r0, [%in]; setp.ne.u32 %p0, %r0, 54321; @%p0 bra done;",
    "ld.global.v2.u32 {%r1, %r0}, [%in]; sub.u32 %r0, %r0, %n; setp.ne.u32 %p0, %r0, 54321; @%p0 bra done;",
    "ld.global.u32 %r0, [%in]; setp.ne.u32 %p0, %r0, 54321; setp.ne.u32 %p1, %n, 12345; or.pred %p2, %p0, %p1;\n\
     @%p2 bra done;",
    "ld.global.f32 %f0, [%in]; setp.leu.f32 %p0, %f0, 0f47000000; @%p0 bra done;",
    "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 33; @%p0 bra done;",
    "ld.global.u32 %r0, [%in]; mov.u32 %r9, part; mad.lo.u32 %r9, %t, 4, %r9; st.shared.u32 [%r9], %r0;\n\
     ld.shared.u32 %r1, [%r9]; setp.ne.u32 %p0, %r1, 54321; @%p0 bra done;",
];

#[test]
fn what_is_seldom_reached() {
    for reach in WAYS {
        let plain = compared(reach, &Launches { more: 0, ..Launches::default() });
        assert!(plain.is_same(), "{reach}: {plain:?}");
        let comparison = compared(reach, &Launches::default());
        assert!(comparison.difference().is_some(), "{reach}: {comparison:?}");
    }
}

/// Unreachable code stays unreached, and the search ends.
#[test]
fn what_is_never_reached() {
    let reach = "setp.lt.u32 %p0, %n, 5; setp.gt.u32 %p1, %n, 7; and.pred %p2, %p0, %p1; @!%p2 bra done;";
    let comparison = compared(reach, &Launches::default());
    assert!(comparison.is_same(), "{comparison:?}");
    let [ran, all] = comparison.sides[0].coverage.statements;
    assert_eq!(all - ran, 1);
}

/// The same seed gives the same launches. The instruction limit applies to them, too. If all code ran and each branch
/// went both ways, there are few additional launches.
#[test]
fn found_launches() {
    let of = |launches: &Launches| {
        let comparison = compared(WAYS[5], launches);
        let steps = comparison.sides.iter().map(|side| side.steps).sum::<u64>();
        (comparison.launches, steps)
    };
    assert_eq!(of(&Launches::default()), of(&Launches::default()));
    let drawn = of(&Launches { more: 0, ..Launches::default() });
    let limited = of(&Launches { most_steps_in_all: drawn.1, ..Launches::default() });
    assert_eq!(limited, drawn);
    let straight = program(&file("", "st.global.u32 [%at], %n;"));
    assert_eq!(compare_programs(&straight, &straight, "k", &Launches::default()).launches.len(), 4);
}

/// Values at, just above and just below the constant of a comparison distinguish neighbouring constants, even if each
/// branch already goes both ways.
#[test]
fn close_calls() {
    let of = |compare: &str| {
        let body = format!(
            "ld.global.u32 %r0, [%in]; and.b32 %r1, %t, 1; add.u32 %r0, %r0, %r1;\n\
             {compare}\nselp.u32 %r2, 1, 2, %p0; st.global.u32 [%at], %r2;"
        );
        program(&file("", &body))
    };
    let first = of("setp.gt.u32 %p0, %r0, 5000;");
    for other in ["setp.gt.u32 %p0, %r0, 5001;", "setp.ge.u32 %p0, %r0, 5000;", "setp.gt.u32 %p0, %r0, 4999;"] {
        let second = of(other);
        assert!(compare_programs(&first, &second, "k", &Launches { more: 0, ..Launches::default() }).is_same());
        let comparison = compare_programs(&first, &second, "k", &Launches::default());
        assert!(comparison.difference().is_some(), "{other}: {comparison:?}");
    }
}
