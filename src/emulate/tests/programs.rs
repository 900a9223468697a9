//! Control flow, memory, calls, and collective operations.

use super::{IN, OUT, file, launches, reason, stores, words};

/// Threads diverge and reconverge: each counts its own loop.
#[test]
fn divergence() {
    let text = file(
        "",
        "mov.u32 %r0, 0; mov.u32 %r1, 0;\n\
         L: setp.ge.u32 %p0, %r1, %t; @%p0 bra M;\n\
         and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra E;\n\
         add.u32 %r0, %r0, 100; bra N;\n\
         E: add.u32 %r0, %r0, 1;\n\
         N: add.u32 %r1, %r1, 1; bra L;\n\
         M: st.global.u32 [%at], %r0;",
    );
    let expected: Vec<u32> = (0..64u32).map(|t| t / 2 * 100 + t.div_ceil(2)).collect();
    assert_eq!(words(&text, 64, &[], 64), expected);
}

/// An indexed branch goes to its label, and scopes hide names.
#[test]
fn indexed_branches_and_scopes() {
    let text = file(
        "",
        "and.b32 %r0, %t, 3;\n\
         T: .branchtargets A, B, C, A;\n\
         brx.idx %r0, T;\n\
         A: mov.u32 %r1, 10; bra X;\n\
         B: mov.u32 %r1, 20; bra X;\n\
         C: { .reg .b32 %r1; mov.u32 %r1, 99; { .reg .b32 %r<3>; mov.u32 %r1, 98; } add.u32 %r1, %r1, 1; }\n\
         mov.u32 %r1, 30;\n\
         X: st.global.u32 [%at], %r1;",
    );
    assert_eq!(words(&text, 8, &[], 8), [10, 20, 30, 10, 10, 20, 30, 10]);
}

/// Variables hold their initial values, and addresses in them point to other variables.
#[test]
fn variables() {
    let text = file(
        ".global .align 4 .u32 a[4] = {1, 2, 0x30, -1};\n.const .align 8 .u64 p[2] = {generic(a), a+8};\n\
         .global .align 1 .b8 s[6] = {104, 105, 0};\n.global .f32 x = 0f3F800000;",
        "ld.const.u64 %d0, [p]; ld.const.u64 %d1, [p+8]; ld.u32 %r0, [%d0+4]; ld.u32 %r1, [%d1];\n\
         mov.u64 %d2, s; ld.u8 %r2, [%d2+1]; ld.global.u8 %r3, [s+5]; ld.global.u32 %r4, [x]; ld.global.s32 %r5, [a+12];\n\
         st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3}; st.global.v2.u32 [%out+16], {%r4, %r5};",
    );
    assert_eq!(words(&text, 1, &[], 6), [2, 0x30, 105, 0, 0x3f80_0000, u32::MAX]);
}

/// Functions have separate frames: recursion, parameters in memory, and results.
#[test]
fn calls() {
    let text = file(
        ".func (.param .b32 r) f(.param .b32 n)\n{\n.reg .b32 %r<4>; .reg .pred %p; .local .b32 kept;\n\
         ld.param.b32 %r0, [n]; st.local.b32 [kept], %r0; setp.le.u32 %p, %r0, 1; mov.b32 %r1, 1; @%p bra D;\n\
         sub.u32 %r2, %r0, 1;\n\
         { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), f, (a); ld.param.b32 %r1, [b]; }\n\
         ld.local.b32 %r3, [kept]; mul.lo.u32 %r1, %r1, %r3;\n\
         D: st.param.b32 [r], %r1; ret;\n}\n\
         .func (.reg .b32 r) g(.reg .b32 a, .reg .b32 b)\n{\nadd.u32 r, a, b; ret;\n}\n",
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), f, (a); ld.param.b32 %r0, [b]; }\n\
         call (%r1), g, (%r0, 5);\n\
         mov.u64 %d0, g; P: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\n\
         call (%r2), %d0, (%r1, %t), P;\n\
         st.global.u32 [%at], %r2;",
    );
    let factorial = |n: u32| (2..=n).product::<u32>();
    let expected: Vec<u32> = (0..10).map(|t| factorial(t) + 5 + t).collect();
    assert_eq!(words(&text, 10, &[], 10), expected);
}

/// Local memory is private to each thread, by local and by generic addresses.
#[test]
fn local_memory() {
    let text = file(
        "",
        ".local .align 8 .b8 stack[64]; mov.u64 %d0, stack; cvta.local.u64 %d1, %d0;\n\
         st.local.u32 [%d0+8], %t; ld.u32 %r0, [%d1+8]; add.u32 %r0, %r0, 7; st.u16 [%d1+8], %r0; ld.local.u32 %r1, [stack+8];\n\
         alloca.u64 %d3, 16; st.local.u32 [%d3], 1000; ld.local.u32 %r2, [%d3]; add.u32 %r1, %r1, %r2;\n\
         st.global.u32 [%at], %r1;",
    );
    let expected: Vec<u32> = (0..32).map(|t| t + 1007).collect();
    assert_eq!(words(&text, 32, &[], 32), expected);
}

/// A sum over a block: shuffles, votes, shared memory and a barrier.
#[test]
fn block_sum() {
    let text = file(
        ".shared .align 4 .b32 part[32];",
        "mad.wide.u32 %d0, %t, 4, %in; ld.global.u32 %r0, [%d0];\n\
         shfl.sync.down.b32 %r1, %r0, 16, 31, -1; add.u32 %r0, %r0, %r1;\n\
         shfl.sync.down.b32 %r1, %r0, 8, 31, -1; add.u32 %r0, %r0, %r1;\n\
         shfl.sync.bfly.b32 %r1|%p1, %r0, 4, 31, -1; add.u32 %r0, %r0, %r1;\n\
         shfl.sync.bfly.b32 %r1, %r0, 2, 31, -1; add.u32 %r0, %r0, %r1;\n\
         shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; add.u32 %r0, %r0, %r1;\n\
         and.b32 %r2, %t, 31; shr.u32 %r3, %t, 5; mov.u32 %r4, part; mad.lo.u32 %r5, %r3, 4, %r4;\n\
         setp.eq.u32 %p0, %r2, 0; @%p0 st.shared.u32 [%r5], %r0;\n\
         bar.sync 0;\n\
         ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [part]; add.u32 %r6, %r6, %r7; add.u32 %r8, %r8, %r9; add.u32 %r6, %r6, %r8;\n\
         st.global.u32 [%at], %r6;",
    );
    let input: Vec<u32> = (0..128).map(|number| number * number).collect();
    assert_eq!(words(&text, 128, &input, 128), [input.iter().sum::<u32>(); 128]);
}

/// Votes, matches, reductions and elections cover the participating threads.
#[test]
fn votes() {
    let text = file(
        "",
        "and.b32 %r0, %t, 3; setp.eq.u32 %p0, %r0, 1; vote.sync.ballot.b32 %r1, %p0, -1; vote.sync.any.pred %p1, %p0, -1;\n\
         vote.sync.all.pred %p2, %p0, -1; match.any.sync.b32 %r2, %r0, -1; match.all.sync.b32 %r3|%p3, %r1, -1;\n\
         redux.sync.add.s32 %r4, %t, -1; redux.sync.max.u32 %r5, %t, -1; elect.sync %r6|%p4, -1;\n\
         selp.u32 %r7, 1, 0, %p1; selp.u32 %r8, 2, 0, %p2; selp.u32 %r9, 4, 0, %p3; selp.u32 %r10, 8, 0, %p4;\n\
         or.b32 %r7, %r7, %r8; or.b32 %r9, %r9, %r10; or.b32 %r7, %r7, %r9;\n\
         mad.wide.u32 %d0, %t, 24, %out; st.global.v2.u32 [%d0], {%r1, %r2}; st.global.v2.u32 [%d0+8], {%r3, %r4};\n\
         st.global.v2.u32 [%d0+16], {%r5, %r7};",
    );
    let found = words(&text, 32, &[], 192);
    for (lane, words) in found.chunks(6).enumerate() {
        let flags = 1 | 4 | if lane == 0 { 8 } else { 0 };
        assert_eq!(words, [0x2222_2222, 0x1111_1111 << (lane % 4), u32::MAX, 496, 31, flags], "{lane}");
    }
}

/// Parts of a warp meet at a shuffle with their mask, wherever they come from.
#[test]
fn parted_shuffles() {
    let text = file(
        "",
        "and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, 0; mov.u32 %r5, 0;\n\
         @%p0 bra E;\n\
         L: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %t; @%p1 bra L;\n\
         shfl.sync.idx.b32 %r1, %t, 31, 31, 0xaaaaaaaa; bra X;\n\
         E: shfl.sync.idx.b32 %r1, %t, 30, 31, 0x55555555;\n\
         X: st.global.u32 [%at], %r1;",
    );
    let expected: Vec<u32> = (0..32).map(|t| 30 + t % 2).collect();
    assert_eq!(words(&text, 32, &[], 32), expected);
}

/// Atomic operations count and exchange, whatever the order.
#[test]
fn atomics() {
    let text = file(
        "",
        "red.global.add.u32 [%out], 1; atom.global.max.u32 %r0, [%out+4], %t; red.global.add.f32 [%out+8], 0f3F000000;\n\
         atom.global.inc.u32 %r1, [%out+12], 9; red.global.or.b32 [%out+16], %t;\n\
         L: atom.global.cas.b32 %r2, [%out+20], 0, 1; setp.ne.u32 %p0, %r2, 0; @%p0 bra L;\n\
         ld.relaxed.gpu.global.u32 %r3, [%out+24]; add.u32 %r3, %r3, 3; st.relaxed.gpu.global.u32 [%out+24], %r3;\n\
         atom.global.exch.b32 %r4, [%out+20], 0;",
    );
    let mut launches = launches(96, &[]);
    launches.memory.push((OUT, vec![0; 32]));
    let stores = stores(&text, &launches).expect("it runs");
    let value = |at: u64| stores.stores.iter().find(|store| store.address == OUT + at).expect("a store").bits;
    assert_eq!([0, 4, 12, 16, 24].map(value), [96, 95, 96 % 10, 127, 288]);
    assert_eq!(f32::from_bits(value(8) as u32), 48.0);
}

/// Warps pass data through named barriers.
#[test]
fn named_barriers() {
    let text = file(
        ".shared .align 4 .b32 box[32];",
        "mov.u32 %r0, box; and.b32 %r1, %t, 31; mad.lo.u32 %r2, %r1, 4, %r0; setp.lt.u32 %p0, %t, 32; @%p0 bra P;\n\
         bar.sync 1, 64; ld.shared.u32 %r3, [%r2]; st.global.u32 [%at], %r3; bra X;\n\
         P: mul.lo.u32 %r3, %t, 3; st.shared.u32 [%r2], %r3; bar.arrive 1, 64; st.global.u32 [%at], %r3;\n\
         X: setp.gt.u32 %p1, %t, 40; bar.red.popc.u32 %r4, 2, %p1; bar.red.and.pred %p2, 3, %p1;\n\
         selp.u32 %r5, 1000, 0, %p2; add.u32 %r4, %r4, %r5; st.global.u32 [%at+256], %r4;",
    );
    let found = words(&text, 64, &[], 128);
    let expected: Vec<u32> = (0..64).map(|t| t % 32 * 3).collect();
    assert_eq!(found[..64], expected);
    assert_eq!(found[64..], [23; 64]);
}

/// A copy arrives at its wait, and an mbarrier counts threads by phases.
#[test]
fn copies_and_mbarriers() {
    let text = file(
        ".shared .align 16 .b8 box[512]; .shared .align 8 .b64 bar;",
        "mov.u32 %r0, box; shl.b32 %r1, %t, 4; add.u32 %r2, %r0, %r1; mad.wide.u32 %d0, %t, 16, %in;\n\
         setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;\n\
         cp.async.ca.shared.global [%r2], [%d0], 16; cp.async.commit_group; cp.async.wait_group 0;\n\
         mbarrier.arrive.shared.b64 %d1, [bar];\n\
         W: mbarrier.try_wait.shared.b64 %p1, [bar], %d1; @!%p1 bra W;\n\
         xor.b32 %r3, %r1, 16; add.u32 %r3, %r3, %r0; ld.shared.u32 %r4, [%r3+4]; st.global.u32 [%at], %r4;",
    );
    let input: Vec<u32> = (0..128).map(|number| number + 5).collect();
    let expected: Vec<u32> = (0..32).map(|t| input[((t ^ 1) * 4 + 1) as usize]).collect();
    assert_eq!(words(&text, 32, &input, 32), expected);
}

/// A bulk copy's bytes end a phase of an mbarrier, and a state contains the expected arrivals.
#[test]
fn bulk_copies() {
    let text = file(
        ".shared .align 16 .b8 box[512]; .shared .align 8 .b64 bar;",
        "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 3; bar.sync 0; @!%p0 bra W;\n\
         mbarrier.arrive.expect_tx.shared.b64 %d1, [bar], 512; mbarrier.arrive.shared.b64 %d2, [bar];\n\
         mbarrier.pending_count.b64 %r5, %d1; mbarrier.pending_count.b64 %r6, %d2; st.global.u32 [%out+256], %r5;\n\
         st.global.u32 [%out+260], %r6; mbarrier.arrive.shared.b64 %d2, [bar]; mov.u32 %r0, box;\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in], 512, [bar];\n\
         W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;\n\
         mov.u32 %r0, box; mad.lo.u32 %r3, %t, 8, %r0; ld.shared.u32 %r4, [%r3+4]; st.global.u32 [%at], %r4;",
    );
    let input: Vec<u32> = (0..128).map(|number| number + 5).collect();
    let found = words(&text, 64, &input, 66);
    assert_eq!(found[..64], (0..64).map(|t| input[2 * t + 1]).collect::<Vec<_>>());
    assert_eq!(found[64..], [3, 2]);
}

/// A tensor's box follows from its map and its coordinates, and has as many bytes as its mbarrier expects.
#[test]
fn boxes_of_tensors() {
    let text = |second: &str| {
        let body = format!(
            "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; @!%p0 bra W;\n\
             mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512; mov.u32 %r0, box; add.u32 %r1, %r0, 256;\n\
             cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in, {{5, 7}}], [bar];\n\
             cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in, {second}], [bar];\n\
             W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;\n\
             mov.u32 %r0, box; mad.lo.u32 %r3, %t, 8, %r0; ld.shared.u32 %r4, [%r3]; st.global.u32 [%at], %r4;"
        );
        file(".shared .align 16 .b8 box[512]; .shared .align 8 .b64 bar;", &body)
    };
    let found = words(&text("{5, 7}"), 64, &[1], 64);
    assert_eq!(found[..32], found[32..]);
    let found = words(&text("{7, 5}"), 64, &[1], 64);
    assert_ne!(found[..32], found[32..]);
}

/// A program without a defined result is not comparable, with the reason.
#[test]
fn reasons() {
    for (what, body) in [
        ("a race", "mov.u32 %r0, box; st.shared.u32 [%r0], %t; ld.shared.u32 %r1, [%r0]; st.global.u32 [%at], %r1;"),
        ("uninitialised shared memory", "ld.shared.u32 %r0, [box]; st.global.u32 [%at], %r0;"),
        ("undefined", "st.global.u32 [%at], %r9;"),
        ("%clock", "mov.u32 %r0, %clock; st.global.u32 [%at], %r0;"),
        ("%smid", "mov.u32 %r0, %smid; setp.eq.u32 %p0, %r0, 1; @%p0 bra L; L:"),
        ("does not end: it repeats an earlier state (line ", "L: bra L;"),
        ("executes more than", "mov.u32 %r0, 0; L: add.u32 %r0, %r0, 1; st.global.u32 [%at], %r0; bra L;"),
        ("wait for each other", "setp.eq.u32 %p0, %t, 0; @%p0 bra L; bar.warp.sync -1; bar.sync 0; L: bar.sync 1;"),
        ("traps", "trap;"),
        ("an access of 4 bytes", "st.global.u32 [%out+2], %t;"),
        ("not modelled", "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%d4, {%r5, %r6}];"),
        ("no body", "call foreign, ();"),
        ("an assertion of the program fails", "call __assertfail, ();"),
    ] {
        let before = ".shared .align 4 .b32 box;\n.extern .func foreign ();";
        let reason = reason(&file(before, body), 64);
        assert!(reason.contains(what), "{body}: {reason}");
    }
}

/// A barrier orders accesses that race without it, and so does an atomic operation between blocks.
#[test]
fn order() {
    let text = |between: &str| {
        let body = format!(
            "mov.u32 %r0, box; mad.lo.u32 %r1, %t, 4, %r0; st.shared.u32 [%r1], %t;\n{between}\n\
             xor.b32 %r2, %t, 33; mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2]; st.global.u32 [%at], %r3;"
        );
        file(".shared .align 4 .b32 box[64];", &body)
    };
    // An early read is a race, or reads uninitialised memory.
    for between in ["", "bar.warp.sync -1;"] {
        let reason = reason(&text(between), 64);
        assert!(reason.contains("a race") || reason.contains("uninitialised"), "{reason}");
    }
    let expected: Vec<u32> = (0..64).map(|t| t ^ 33).collect();
    assert_eq!(words(&text("bar.sync 0;"), 64, &[], 64), expected);
}

/// Packed and narrow values: moves, extensions, and stores of parts.
#[test]
fn parts() {
    let text = file(
        "",
        "ld.global.u32 %r0, [%in]; mov.b32 {%h0, %h1}, %r0; mov.b32 %r1, {%h1, %h0}; ld.global.s8 %r2, [%in+3];\n\
         ld.global.v2.u16 {%h2, %h3}, [%in+4]; mov.b64 %d0, {%r0, %r1}; mov.b64 {%r3, %r4}, %d0; shr.u64 %d0, %d0, 16;\n\
         st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4}; st.global.u64 [%out+16], %d0; st.global.u16 [%out+24], %h2;\n\
         st.global.u8 [%out+26], %h3; st.global.u8 [%out+27], %h3;",
    );
    let found = words(&text, 1, &[0x8123_4567, 0x1122_3344], 7);
    assert_eq!(found, [0x4567_8123, 0xffff_ff81, 0x8123_4567, 0x4567_8123, 0x8123_8123, 0x4567, 0x2222_3344]);
    let _ = IN;
}

/// Minimum and maximum of three floats ignore NaN.
#[test]
fn extremes_of_three() {
    let text = file(
        "",
        "ld.global.f32 %f1, [%in]; ld.global.f32 %f2, [%in+4]; ld.global.f32 %f3, [%in+8];\n\
         max.f32 %f4, %f1, %f2, %f3; min.f32 %f5, %f3, %f2, %f1; max.NaN.f32 %f6, %f1, %f2, %f3;\n\
         st.global.f32 [%out], %f4; st.global.f32 [%out+4], %f5; st.global.f32 [%out+8], %f6;",
    );
    let bits = |values: [f32; 3]| values.map(f32::to_bits);
    let of = |values: [f32; 3]| words(&text, 1, &bits(values), 3);
    assert_eq!(of([3.0, -2.0, 7.0]), bits([7.0, -2.0, 7.0]));
    assert_eq!(of([8.0, f32::NAN, 7.0])[..2], bits([8.0, 7.0, 0.0])[..2]);
    assert!(f32::from_bits(of([8.0, f32::NAN, 7.0])[2]).is_nan());
}
