//! Programs that do not end: a difference if the other program ends, and not comparable if neither does.

use super::{file, launches, program, stores};
use crate::emulate::{Comparison, Differing, Launches, Verdict, compare_programs};

/// Returns launches of two warps, few enough for long loops.
fn few() -> Launches {
    let (grid, block) = (Some([1, 1, 1]), Some([64, 1, 1]));
    Launches { count: 1, more: 0, grid, block, most_steps: 20_000, least_steps: 20, ..Launches::default() }
}

fn compared(first: &str, second: &str, launches: &Launches) -> Comparison {
    let of = |body: &str| program(&file(".shared .align 4 .b32 box[64];", body));
    compare_programs(&of(first), &of(second), "k", launches)
}

/// Returns the program that does not end, and the reason.
fn endless(comparison: &Comparison) -> Option<(usize, &str)> {
    match &comparison.difference()?.differing {
        Differing::End { endless, reason, .. } => Some((*endless, reason)),
        Differing::Stores { .. } => None,
    }
}

const ENDS: &str =
    "mov.u32 %r0, 3; L: sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L; st.global.u32 [%at], %r0;";

const REPEATS: &str = "it repeats an earlier state";
const QUIET: &str = "without a new store";

/// Endless loops, and the reason for each.
const LOOPS: [(&str, &str); 8] = [
    ("L: bra L;", REPEATS),
    // Each thread loops separately.
    ("setp.lt.u32 %p0, %t, 9; @%p0 bra M; L: bra L; M: xor.b32 %r0, %t, 1; bra M;", REPEATS),
    (
        "mov.u32 %r0, 0; L: add.u32 %r0, %r0, 64; and.b32 %r0, %r0, 0xfff; setp.ne.u32 %p0, %r0, 1; @%p0 bra L;\n\
      st.global.u32 [%at], %r0;",
        REPEATS,
    ),
    // The same value is stored again and again.
    ("L: st.global.u32 [%at], %t; shfl.sync.down.b32 %r1, %t, 1, 31, -1; bra L;", REPEATS),
    // The awaited value is never written.
    ("L: ld.relaxed.gpu.global.u32 %r0, [%in]; setp.ne.u32 %p0, %r0, 0x12345678; @%p0 bra L;", REPEATS),
    // A counter steps over its limit: its values repeat only after 2^31 iterations.
    (
        "mov.u32 %r0, 0; L: add.u32 %r0, %r0, 2; setp.ne.u32 %p0, %r0, 7; @%p0 bra L;\n\
      st.global.u32 [%at], %r0;",
        QUIET,
    ),
    (
        "mov.u32 %r0, 0; L: add.u32 %r0, %r0, 2; bar.sync 0; setp.ne.u32 %p0, %r0, 7; @%p0 bra L;\n\
      st.global.u32 [%at], %r0;",
        QUIET,
    ),
    ("setp.lt.u32 %p0, %t, 32; @%p0 bra L; bar.sync 0, 96; L: st.global.u32 [%at], 0;", "wait for each other"),
];

/// Returns the launches of a loop: a single thread for a long loop.
fn launches_of(reason: &str) -> Launches {
    let block = if reason == QUIET { Some([1, 1, 1]) } else { few().block };
    Launches { block, ..few() }
}

#[test]
fn a_loop_without_an_end_differs_from_one_that_ends() {
    for (text, reason) in LOOPS {
        let launches = launches_of(reason);
        let comparison = compared(ENDS, text, &launches);
        let found = endless(&comparison).unwrap_or_else(|| panic!("{text}: {comparison:?}"));
        assert!(found.0 == 1 && found.1.contains(reason), "{text}: {found:?}");
        let said = comparison.difference().expect("they differ").to_string();
        assert!(said.contains("the second program does not end: "), "{said}");
        assert!(said.contains("the first program ends after "), "{said}");

        let turned = compared(text, ENDS, &launches);
        assert_eq!(endless(&turned).map(|found| found.0), Some(0), "{text}: {turned:?}");
    }
    // The same programs give the same verdict again.
    let text = LOOPS[0].0;
    let [once, again] = [(); 2].map(|()| format!("{:?}", compared(ENDS, text, &few())));
    assert_eq!(once, again);
}

#[test]
fn nothing_is_said_where_neither_ends() {
    for (text, reason) in [LOOPS[0], LOOPS[2], LOOPS[5], LOOPS[7]] {
        for other in [LOOPS[0].0, text] {
            let comparison = compared(text, other, &launches_of(reason));
            assert!(comparison.difference().is_none() && comparison.equal() == 0, "{text}: {comparison:?}");
        }
    }
}

/// New stores without an end exceed the instruction limit.
#[test]
fn a_loop_that_stores_on_and_on_is_long() {
    let text = "mov.u32 %r0, 0; L: add.u32 %r0, %r0, 1; st.global.u32 [%at], %r0; bra L;";
    let comparison = compared(ENDS, text, &Launches { most_steps: 20_000, ..few() });
    let Verdict::NotComparable { program: 1, reason } = &comparison.launches[0].verdict else {
        panic!("{comparison:?}")
    };
    assert!(reason.contains("executes more than 20000 warp instructions"), "{reason}");
}

/// Threads wait long for writes of others: in the same warp, in another one, and in a block that begins when no other
/// can continue.
#[test]
fn those_who_wait_are_let_go() {
    let of = |who: &str, turns: u32, threads: u32, grid: u32| {
        let text = format!(
            "mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mad.lo.u32 %r7, %r5, %r6, %t; {who} @%p0 bra S;\n\
             L: ld.acquire.gpu.global.u32 %r0, [%in]; setp.eq.u32 %p2, %r0, 0; @%p2 bra L; bra X;\n\
             S: mov.u32 %r1, 0; W: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, {turns}; @%p1 bra W;\n\
             st.release.gpu.global.u32 [%in], 1;\nX: mad.wide.u32 %d0, %r7, 4, %out; st.global.u32 [%d0], 5;"
        );
        let launches = Launches { grid: Some([grid, 1, 1]), ..launches(threads, &[0]) };
        let ran = stores(&file("", &text), &launches).unwrap_or_else(|reason| panic!("{who}: {reason}"));
        assert_eq!(ran.stores.len() as u32, threads * grid + 1, "{who}");
    };
    of("setp.eq.u32 %p0, %t, 1;", 2, 4, 1);
    of("setp.ge.u32 %p0, %t, 32;", 5000, 33, 1);
    of("setp.eq.u32 %p0, %r7, 65;", 500, 1, 66);
}

/// A program that ends after many times as many instructions counts as ending.
#[test]
fn a_slow_program_ends() {
    let long = Launches { most_steps: 300_000, least_steps: 1_000, ..few() };
    let slow = ENDS.replacen("mov.u32 %r0, 3;", "mov.u32 %r0, 5000;", 1);
    assert!(compared(ENDS, &slow, &long).is_same());
    // A counter in local memory is part of the state.
    let local = "st.local.u32 [spot], 5000; L: ld.local.u32 %r0, [spot]; sub.u32 %r0, %r0, 1; st.local.u32 [spot], %r0;\n\
                 setp.ne.u32 %p0, %r0, 0; @%p0 bra L; st.global.u32 [%at], %r0;";
    let local = compared(ENDS, &format!(".local .align 4 .b32 spot; {local}"), &long);
    assert!(local.is_same(), "{local:?}");
}

/// The instructions of both programs are known, also for an endless one, and each statement counts once.
#[test]
fn instructions_are_counted() {
    let text = "st.global.u32 [%at], %t;";
    let not = "setp.eq.u32 %p0, %t, %t; selp.u32 %r0, 1, 0, %p0; mov.b64 {%r1, _}, %in; add.s32 %r2, %r1, -1;\n\
               bar.red.popc.u32 %r3, 0, !%p0; st.global.u32 [%at], %t;";
    let comparison = compared(text, not, &few());
    assert!(comparison.is_same(), "{comparison:?}");
    // The body follows seven statements, and two warps run.
    let equal = comparison.equal() as u64;
    assert_eq!(comparison.executed.map(|both| both.map(|one| one.instructions)), Some([18 * equal, 28 * equal]));
    assert_eq!(comparison.sides.each_ref().map(|side| side.thread_steps), [18 * 32 * equal, 28 * 32 * equal]);

    let comparison = compared(text, "L: bra L;", &few());
    let [first, second] = comparison.sides.each_ref().map(|side| side.steps);
    assert!(first == 18 && second > 1_000, "{comparison:?}");
    assert_eq!(comparison.executed, None);
}
