//! Comparisons of two programs: equal, different and not comparable.

use super::{file, launches, program, stores};
use crate::emulate::{Comparison, Differing, Launches, Verdict, compare_programs};

fn compared(first: &str, second: &str) -> Comparison {
    compare_programs(&program(&file("", first)), &program(&file("", second)), "k", &Launches::default())
}

const SUM: &str = "mad.wide.u32 %d0, %t, 4, %in; ld.global.f32 %f0, [%d0]; ld.global.f32 %f1, [%d0+4];\n\
                   add.f32 %f2, %f0, %f1; st.global.f32 [%at], %f2;";

/// Code order, register names and rounding errors make no difference.
#[test]
fn same() {
    let other = "mad.wide.u32 %d9, %t, 4, %in; ld.global.f32 %f9, [%d9+4]; ld.global.f32 %f8, [%d9];\n\
                 fma.rz.f32 %f7, %f9, 0f3F800000, %f8; st.global.f32 [%at], %f7;";
    let comparison = compared(SUM, other);
    assert!(comparison.is_same(), "{comparison:?}");
    let side = &comparison.sides[0];
    assert_eq!(side.coverage.statements[0], side.coverage.statements[1]);
}

/// A parameter of one byte is always 0 or 1, even if a kernel compares it with another number: compilers test a `bool`
/// in different ways.
#[test]
fn one_byte_is_a_flag() {
    let of = |test: &str| {
        let body = format!("ld.param.u8 %h0, [flag]; {test}; selp.b32 %r0, 3, 4, %p0; st.global.b32 [%at], %r0;");
        file("", &body).replacen("n)", "n, .param .u8 flag)", 1)
    };
    let [zero, one, less] = ["setp.ne.b16 %p0, %h0, 0", "setp.eq.b16 %p0, %h0, 1", "setp.lt.u16 %p0, %h0, 7"].map(of);
    let compare = |other: &str| compare_programs(&program(&zero), &program(other), "k", &Launches::default());
    assert!(compare(&one).is_same(), "{:?}", compare(&one));
    assert!(compare(&less).difference().is_some(), "0 is drawn, too");
}

/// Each fault is found, with address, lines and values.
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
        // A store moved by one word may be a race if threads overlap.
        let comparison = compared(SUM, &other);
        let difference = comparison.difference().unwrap_or_else(|| panic!("{from} to {to}: {comparison:?}"));
        let Differing::Stores { buffer, stores, .. } = &difference.differing else { panic!("{difference}") };
        assert_eq!(buffer.as_ref().map(|buffer| buffer.0.as_str()), Some("out"));
        assert!(stores[0].is_some() || stores[1].is_some());
    }
}

/// Results that depend on the order of threads are not comparable, with a reason.
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

/// An unknown function of registers is equal in both programs, and differs with its inputs.
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

/// The same seed gives the same launches, and another seed gives other launches.
#[test]
fn seeds() {
    let run = |seed| {
        let launches = Launches { seed, ..Launches::default() };
        crate::emulate::run(&program(&file("", SUM)), "k", &launches).expect("it runs").stores
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Known properties affect each launch: the most threads of a block if the kernel has no directive, and the dynamic
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

/// Shared memory ends after the variables of a program, unless one has an unknown size: too many threads for an array
/// exceed it.
#[test]
fn the_end_of_shared_memory() {
    let body = "mov.u32 %r0, part; mad.lo.u32 %r0, %t, 4, %r0; st.shared.u32 [%r0], %t;";
    let part = ".shared .align 4 .b32 part[32];";
    let rest = format!("{part}\n.extern .shared .align 16 .b8 rest[];");
    let fits = |before: &str, threads| stores(&file(before, body), &launches(threads, &[1])).is_ok();
    assert!(fits(part, 32) && !fits(part, 64) && fits(&rest, 64));

    // A block may use 227 KiB: an array of 25 KiB, and 202 KiB after it.
    let before = ".shared .align 1024 .b8 part[25600];\n.extern .shared .align 16 .b8 rest[];";
    let fits = |offset| {
        let body = format!("mov.u32 %r0, rest; st.shared.u32 [%r0+{offset}], 1;");
        stores(&file(before, &body), &launches(1, &[1])).is_ok()
    };
    assert!(fits(202 * 1024 - 4) && !fits(202 * 1024));
}

/// Both programs together execute no more than the instruction limit. Launches beyond the limit are not reported.
#[test]
fn a_limit_for_all_launches() {
    let endless = program(&file("", "loop: bra loop;"));
    let sum = program(&file("", SUM));
    let ran = |first, second, most_steps_in_all| {
        let launches = Launches { count: 6, most_steps: 8_000, most_steps_in_all, ..Launches::default() };
        let comparison = compare_programs(first, second, "k", &launches);
        (comparison.launches.len(), comparison.equal(), comparison.sides[0].steps + comparison.sides[1].steps)
    };
    let (launches, equal, steps) = ran(&endless, &endless, 20_000);
    assert!((launches, equal) == (1, 0) && steps <= 20_000, "{launches} {equal} {steps}");
    assert_eq!(ran(&sum, &endless, 10_000).1, 0);
    let (launches, equal, steps) = ran(&sum, &sum, u64::MAX);
    assert_eq!((launches, equal), (6, 6));
    let (launches, equal, fewer) = ran(&sum, &sum, steps / 3);
    assert!(
        (1..6).contains(&launches) && equal > 0 && fewer <= steps / 3 + 100,
        "{launches} {equal} {fewer} of {steps}"
    );
}

/// A launch whose results are mostly NaN is drawn again. If each draw has such results, the launch has no verdict.
#[test]
fn wild_launches() {
    let of = |operation: &str| {
        format!("mad.wide.u32 %d0, %t, 4, %in; ld.global.f32 %f0, [%d0]; {operation} st.global.f32 [%at], %f1;")
    };
    // The logarithm of numbers below zero, which the first draw has, is NaN.
    let logarithm = of("lg2.approx.f32 %f1, %f0;");
    assert!(compared(&logarithm, &logarithm).is_same());
    let other = of("lg2.approx.f32 %f1, %f0; add.f32 %f1, %f1, 0f3F800000;");
    assert!(compared(&logarithm, &other).difference().is_some());
    let infinite = of("mul.f32 %f0, %f0, 0f00000000; rcp.approx.f32 %f1, %f0;");
    let comparison = compared(&infinite, &infinite);
    assert_eq!(comparison.equal(), 0, "{comparison:?}");
    let says = |verdict: &Verdict| matches!(verdict, Verdict::NotComparable { reason, .. } if reason.contains("NaN"));
    assert!(comparison.launches.iter().all(|launched| says(&launched.verdict)), "{comparison:?}");
    // A difference still counts.
    assert!(compared(&infinite, &of("mov.f32 %f1, 0f3F800000;")).difference().is_some());
}

/// A difference contains the source lines from the `.loc` before each store.
#[test]
fn source_lines() {
    let before = ".file 1 \"first.cu\"\n.file 2 \"dir/second.cu\"\n\
                  .func f()\n{\n.loc 2 7 0\nret;\n}";
    let body = |locs: [&str; 2], value: u32| {
        format!("{}\nmov.u32 %r0, {value};\n{}\nst.global.u32 [%at], %r0;\n.loc 1 99 0", locs[0], locs[1])
    };
    let lines = |first: [&str; 2], second: [&str; 2]| {
        let [first, second] = [body(first, 1), body(second, 2)].map(|body| program(&file(before, &body)));
        let comparison = compare_programs(&first, &second, "k", &Launches::default());
        let difference = comparison.difference().expect("they differ");
        let text = difference.to_string();
        let sources = difference.sources().map(|source| source.map(ToString::to_string));
        assert!(sources.iter().flatten().all(|source| text.contains(source)), "{text}");
        sources
    };
    let found = lines([".loc 1 5 3", ".loc 2 8 1, function_name $L, inlined_at 1 5 3"], [".loc 1 6 3", ""]);
    assert_eq!(found, [Some("dir/second.cu:8".into()), Some("first.cu:6".into())]);
    // A `.loc` does not extend to another function, and line 0 is no line.
    assert_eq!(lines(["", ""], ["", ".loc 1 0 0"]), [None, None]);
}

/// Extremes reveal differences that moderate values do not: infinities, the limits of integers, and the bits of a NaN.
#[test]
fn extremes() {
    let of = |operation: &str| {
        format!(
            "mad.wide.u32 %d0, %t, 4, %in; ld.global.f32 %f0, [%d0]; ld.global.u32 %r0, [%d0+8192];\n\
             add.f32 %f9, %f0, 0f00000000; {operation}\n\
             st.global.f32 [%at], %f1; st.global.u32 [%at+8192], %r1;"
        )
    };
    let pairs = [
        ("mov.f32 %f1, %f0; mov.u32 %r1, %r0;", "max.f32 %f1, %f0, 0fC47A0000; mov.u32 %r1, %r0;"),
        ("mov.f32 %f1, %f0; mov.u32 %r1, %r0;", "min.NaN.f32 %f1, %f0, 0f7F800000; mov.u32 %r1, %r0;"),
        ("mov.f32 %f1, %f0; min.s32 %r1, %r0, 1000;", "mov.f32 %f1, %f0; min.u32 %r1, %r0, 1000;"),
        ("mov.f32 %f1, %f0; mov.u32 %r1, %r0;", "mul.ftz.f32 %f1, %f0, 0f3F800000; mov.u32 %r1, %r0;"),
    ];
    let moderate = Launches { is_exact: true, ..Launches::default() };
    let extreme = Launches { extremes: true, ..moderate.clone() };
    for (first, second) in pairs {
        let [first_program, other] = [first, second].map(|operation| program(&file("", &of(operation))));
        assert!(compare_programs(&first_program, &other, "k", &moderate).is_same(), "{second}");
        let comparison = compare_programs(&first_program, &other, "k", &extreme);
        assert!(comparison.difference().is_some(), "{second}: {comparison:?}");
        assert!(compare_programs(&first_program, &first_program, "k", &extreme).is_same(), "{first}");
    }
}

/// A parameter that is declared as an address points to a buffer, even if only a called function uses it.
#[test]
fn addresses_that_callees_use() {
    let text = ".version 9.0\n.target sm_90\n.address_size 64\n\
        .func put(.param .b64 to)\n{\n.reg .b64 %d; .reg .b32 %r;\n\
        ld.param.b64 %d, [to]; mov.u32 %r, 7; st.global.u32 [%d], %r; ret;\n}\n\
        .visible .entry k(.param .u64 .ptr .global .align 4 out)\n{\n.reg .b64 %d<3>; .reg .b32 %t;\n\
        ld.param.b64 %d0, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %d1, %t, 4, %d0;\n\
        { .param .b64 a; st.param.b64 [a], %d1; call put, (a); }\nret;\n}\n";
    let program = program(text);
    let comparison = compare_programs(&program, &program, "k", &Launches::default());
    assert!(comparison.is_same(), "{comparison:?}");
}

/// A value that is only loaded from shared memory and stored has the kind of the stored value: floats may be rounded
/// otherwise, integers may not.
#[test]
fn kinds_through_shared_memory() {
    let of = |value: &str, store: &str| {
        let body = format!(
            "mov.u32 %r9, part; mad.lo.u32 %r9, %t, 4, %r9; mad.wide.u32 %d0, %t, 4, %in; ld.global.b32 %r0, [%d0];\n\
             {value}\nst.shared.b32 [%r9], {store}; ld.shared.b32 %r2, [%r9]; st.global.b32 [%at], %r2;"
        );
        program(&file(".shared .align 4 .b32 part[1024];", &body))
    };
    let floats = [of("add.f32 %f0, %r0, 0f3DCCCCCD;", "%f0"), of("add.rp.f32 %f0, %r0, 0f3DCCCCCD;", "%f0")];
    let integers = [of("add.u32 %r1, %r0, 0x40000000;", "%r1"), of("add.u32 %r1, %r0, 0x40000001;", "%r1")];
    let compared = |programs: &[_; 2], is_exact| {
        let launches = Launches { is_exact, ..Launches::default() };
        compare_programs(&programs[0], &programs[1], "k", &launches)
    };
    assert!(compared(&floats, false).is_same());
    assert!(compared(&floats, true).difference().is_some());
    assert!(compared(&integers, false).difference().is_some());
}

/// A launch whose results are not wanted any more ends at the next turn of a warp, without a verdict.
#[test]
fn unwanted() {
    let launches = Launches { is_unwanted: || true, ..Launches::default() };
    let first = program(&file("", SUM));
    let comparison = compare_programs(&first, &first, "k", &launches);
    let Verdict::NotComparable { program: 0, reason } = &comparison.launches[0].verdict else {
        panic!("{comparison:?}")
    };
    assert_eq!(reason, "it was interrupted");
    assert!(!comparison.is_same());
}

/// If threads write a word without order, the writes of each thread are compared. A thread that reads such a word, or
/// adds to it, cannot be compared, and no final value is reported.
#[test]
fn writes_that_race() {
    let of = |value: &str, behind: &str| {
        file(
            "",
            &format!("and.b32 %r0, %t, 7; mad.wide.u32 %d0, %r0, 4, %out; {value}; st.global.u32 [%d0], %r1; {behind}"),
        )
    };
    let compared = |first: &str, second: &str| {
        let launches = Launches { block: Some([64, 1, 1]), ..Launches::default() };
        compare_programs(&program(first), &program(second), "k", &launches)
    };
    let first = of("mul.lo.u32 %r1, %t, 3", "");
    let comparison = compared(&first, &of("shl.b32 %r1, %t, 1; add.u32 %r1, %r1, %t", ""));
    assert!(comparison.is_same(), "{comparison:?}");
    assert!(comparison.launches[0].stores >= 64, "{comparison:?}");

    // One of all threads stores another value, and the message reports this thread.
    let odd = of("mul.lo.u32 %r1, %t, 3; setp.eq.u32 %p0, %t, 41; @%p0 mov.u32 %r1, 5", "");
    let comparison = compared(&first, &odd);
    let difference = comparison.difference().unwrap_or_else(|| panic!("{comparison:?}"));
    let told = difference.stores().map(|store| store.as_ref().map(|store| (store.thread % 64, store.bits)));
    assert_eq!(told, [Some((41, 123)), Some((41, 5))]);

    let none = of("setp.eq.u32 %p0, %t, %t; @%p0 bra L; mul.lo.u32 %r1, %t, 3", "L:");
    assert!(compared(&first, &none).difference().is_some(), "nobody stores anything");

    // A race that the first program does not have makes the second program not comparable.
    let beside = |value: &str| format!("mov.u32 %r3, {value}; st.global.u32 [%out+-4], %r3;");
    let comparison = compared(&of("mul.lo.u32 %r1, 3, 3", &beside("5")), &of("mul.lo.u32 %r1, 3, 3", &beside("%t")));
    let is_of_second = |verdict: &Verdict| matches!(verdict, Verdict::NotComparable { program: 1, reason } if reason.contains("a race"));
    assert!(comparison.launches.iter().any(|launched| is_of_second(&launched.verdict)), "{comparison:?}");

    for behind in ["ld.global.u32 %r2, [%d0]; st.global.u32 [%at+4096], %r2;", "red.global.add.u32 [%d0], 1;"] {
        let text = of("mul.lo.u32 %r1, %t, 3", behind);
        let comparison = compared(&text, &text);
        let is_race =
            |verdict: &Verdict| matches!(verdict, Verdict::NotComparable { reason, .. } if reason.contains("a race"));
        assert!(comparison.launches.iter().all(|launched| is_race(&launched.verdict)), "{comparison:?}");
    }
    let reason = stores(&first, &launches(64, &[])).expect_err("it is not known what is there at the end");
    assert!(reason.contains("a race: a write"), "{reason}");
}

/// Counts of both programs cover the same launches: those that both end. A warp instruction that accesses local or
/// shared memory counts once, also by a generic address.
#[test]
fn executed() {
    let loads = |count: usize, end: &str| {
        let load = "ld.local.u32 %r2, [frame]; add.u32 %r1, %r1, %r2;\n".repeat(count);
        let generic = "cvta.local.u64 %d1, %d0; ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2;";
        format!(
            ".local .b32 frame; mov.u64 %d0, frame; st.local.u32 [frame], %t; mov.u32 %r1, 0;\n{load}{generic}\n{end}\n\
             st.global.u32 [%at], %r1;"
        )
    };
    let compared = |first: &str, second: &str| {
        let [first, second] = [first, second].map(|body| program(&file("", body)));
        let launches =
            Launches { count: 3, more: 0, block: Some([64, 1, 1]), grid: Some([1; 3]), ..Launches::default() };
        compare_programs(&first, &second, "k", &launches)
    };
    let comparison = compared(&loads(1, ""), &loads(1, ""));
    let [first, second] = comparison.executed.expect("both end");
    assert_eq!(first, second);
    assert_eq!(first.local, 3 * 2 * 3, "a store and two loads of two warps in three launches");
    let [first, second] = compared(&loads(1, ""), &loads(3, "")).executed.expect("both end, whatever they store");
    // The results differ in the first launch, so no other launch runs.
    assert_eq!((first.local, second.local, second.instructions - first.instructions), (2 * 3, 2 * 5, 2 * 4));
    assert_eq!(compared(&loads(1, ""), &loads(1, "again: bra again;")).executed, None);
    let slots = ".shared .b32 slots[64];\n";
    let end =
        "mov.u32 %r2, slots; mad.lo.u32 %r2, %t, 4, %r2; st.volatile.shared.u32 [%r2], %t; ld.shared.u32 %r2, [%r2];";
    let both = compared(&loads(1, ""), &format!("{slots}{}", loads(1, end)));
    let [first, second] = both.executed.expect("both end");
    assert_eq!((first.shared, second.shared, second.local), (0, 3 * 2 * 2, first.local));
}
