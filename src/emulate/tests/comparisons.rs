//! Two programs: what is the same, what differs, and what is not comparable.

use super::{file, program};
use crate::emulate::{Comparison, Launches, Verdict, compare_programs};

fn compared(first: &str, second: &str) -> Comparison {
    compare_programs(&program(&file("", first)), &program(&file("", second)), "k", &Launches::default())
}

const SUM: &str = "mad.wide.u32 %d0, %t, 4, %in; ld.global.f32 %f0, [%d0]; ld.global.f32 %f1, [%d0+4];\n\
                   add.f32 %f2, %f0, %f1; st.global.f32 [%at], %f2;";

/// Another order of code, other registers and another rounding are the same.
#[test]
fn same() {
    let other = "mad.wide.u32 %d9, %t, 4, %in; ld.global.f32 %f9, [%d9+4]; ld.global.f32 %f8, [%d9];\n\
                 fma.rz.f32 %f7, %f9, 0f3F800000, %f8; st.global.f32 [%at], %f7;";
    let comparison = compared(SUM, other);
    assert!(comparison.is_same(), "{comparison:?}");
    let side = &comparison.sides[0];
    assert_eq!(side.coverage.statements[0], side.coverage.statements[1]);
}

/// Each fault is found, with the address, the lines and the values.
#[test]
fn different() {
    for (from, to) in [
        ("[%d0+4]", "[%d0+8]"),
        ("add.f32", "sub.f32"),
        ("st.global.f32 [%at], %f2;", ""),
        ("[%at]", "[%at+4]"),
        ("%f0, %f1", "%f0, %f0"),
    ] {
        let other = SUM.replacen(from, to, 1);
        assert_ne!(other, SUM);
        // What is moved by a word may be a race where threads overlap.
        let comparison = compared(SUM, &other);
        let difference = comparison.difference().unwrap_or_else(|| panic!("{from} to {to}: {comparison:?}"));
        assert_eq!(difference.buffer.as_ref().map(|buffer| buffer.0.as_str()), Some("out"));
        assert!(difference.stores[0].is_some() || difference.stores[1].is_some());
    }
}

/// Results that depend on the order of threads are not comparable, and a reason stands there.
#[test]
fn depends_on_order() {
    let first = "atom.global.add.u32 %r0, [%in], 1; st.global.u32 [%at], %r0;";
    let text = program(&file("", first));
    let launches = Launches { grid: Some([4, 1, 1]), block: Some([128, 1, 1]), ..Launches::default() };
    let comparison = compare_programs(&text, &text, "k", &launches);
    assert_eq!(comparison.equal(), 0, "{comparison:?}");
    let reason =
        |verdict: &Verdict| matches!(verdict, Verdict::NotComparable { reason, .. } if reason.contains("order"));
    assert!(comparison.launches.iter().all(|launched| reason(&launched.verdict)), "{comparison:?}");
}

/// An unknown function of registers is the same in both programs, and differs with its inputs.
#[test]
fn hashed() {
    let one = |source: &str| {
        format!(
            "mov.u64 %d1, 5; txq.width.b32 %r0, [%d1]; vavrg2.s32.s32.s32 %r1, {source}, %t, 0; st.global.u32 [%at], %r1;"
        )
    };
    let text = one("%t").replace("txq.width.b32 %r0, [%d1]; ", "");
    let comparison = compared(&text, &text);
    assert!(comparison.is_same(), "{comparison:?}");
    assert_eq!(comparison.sides[0].hashed.len(), 1);
    let other = text.replace("%r1, %t, %t", "%r1, 7, %t");
    assert!(compared(&text, &other).difference().is_some());
}

/// The same seed gives the same launches, and another one others.
#[test]
fn seeds() {
    let run = |seed| {
        let launches = Launches { seed, ..Launches::default() };
        crate::emulate::run(&program(&file("", SUM)), "k", &launches).expect("it runs").stores
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// What is known of launches bears on each: the most threads of a block where the kernel does not say, and the dynamic
/// shared memory.
#[test]
fn known_launches() {
    let launches = Launches { threads: Some(96), dynamic_shared: 640, ..Launches::default() };
    let text = "mov.u32 %r0, %dynamic_smem_size; st.global.u32 [%at], %r0;";
    let run = |text: &str| crate::emulate::run(&program(text), "k", &launches).expect("it runs");
    let stores = run(&file("", text));
    assert_eq!(stores.shape[1], [96, 1, 1]);
    assert!(!stores.stores.is_empty() && stores.stores.iter().all(|store| store.bits == 640), "{stores:?}");
    let said = file("", text).replace(".param .u32 n)\n", ".param .u32 n)\n.maxntid 128, 1, 1\n");
    assert_eq!(run(&said).shape[1], [128, 1, 1]);
}

/// Both programs together run no more than is allowed, whatever they are, and the launches that this leaves out are not
/// told of.
#[test]
fn a_limit_for_all_launches() {
    let endless = program(&file("", "loop: bra loop;"));
    let sum = program(&file("", SUM));
    let ran = |first, second, most_steps_in_all| {
        let launches = Launches { count: 6, most_steps: 8_000, most_steps_in_all, ..Launches::default() };
        let comparison = compare_programs(first, second, "k", &launches);
        (comparison.launches.len(), comparison.equal(), comparison.sides[0].steps + comparison.sides[1].steps)
    };
    assert_eq!(ran(&endless, &endless, 20_000), (1, 0, 0));
    assert_eq!(ran(&sum, &endless, 10_000).1, 0);
    let (launches, equal, steps) = ran(&sum, &sum, u64::MAX);
    assert_eq!((launches, equal), (6, 6));
    let (launches, equal, fewer) = ran(&sum, &sum, steps / 3);
    assert!(
        (1..6).contains(&launches) && equal > 0 && fewer <= steps / 3 + 100,
        "{launches} {equal} {fewer} of {steps}"
    );
}
