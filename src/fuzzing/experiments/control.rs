//! Rows of branches, loops, calls, and ends of threads.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    // ptxas drops the predicate of some of these instructions, or of a part of them (docs/notebook).
    row(
        "spoiled",
        &[
            "ld.global.b32 %r1, [%in]; ld.global.b32 %r2, [%in+4]; setp.gt.s32 %p0, %r2, 48; setp.gt.u32 %p1, %t, 20; @%p1 testp.{finite,normal}.f32 %p0, %r1; selp.b32 %r3, 1, 0, %p0; st.global.b32 [%out], %r3;",
            "ld.global.f32 %r1, [%in]; ld.global.f32 %r2, [%in+4]; ld.global.f32 %r3, [%in+8]; setp.gt.u32 %p1, %t, 20; @%p1 set.eq.f32.f32 %r3, %r1, %r2; st.global.f32 [%out], %r3;",
            "ld.global.b16 %h1, [%in]; ld.global.b16 %h2, [%in+4]; ld.global.b32 %r3, [%in+8]; prmt.b32 %r3, %r3, 0, 0x3210; setp.gt.u32 %p1, %t, 20; @%p1 set.lt.s32.s16 %r3, %h1, %h2; st.global.b32 [%out], %r3;",
            "ld.global.b32 %r1, [%in]; ld.global.b32 %r2, [%in+4]; prmt.b32 %r1, %r1, 0, 0x3210; prmt.b32 %r2, %r2, 0, 0x3210; vadd.u32.s32.u32.sat %r3, %r1, %r2; st.global.b32 [%out], %r3;",
            "ld.global.b32 %r1, [%in]; ld.global.b32 %r2, [%in+4]; ld.global.f32 %r3, [%in+8]; abs.f32 %r3, %r3; slct.b32.f32 %r4, %r1, %r2, %r3; st.global.b32 [%out], %r4;",
            "ld.global.b16 %h1, [%in]; neg.s16 %h2, %h1; cvt.s32.s16 %r1, %h2; st.global.b32 [%out], %r1;",
            "ld.global.b32 %r1, [%in]; abs.s32 %r1, %r1; rem.s32 %r2, %r1, 31; st.global.b32 [%out], %r2;",
            "ld.global.b64 %d0, [%in]; ld.global.b32 %r1, [%in+8]; prmt.b32 %r1, %r1, 0, 0x3210; bfe.u64 %d1, %d0, %r1, 16; st.global.b64 [%out], %d1;",
            "ld.global.b32 %r2, [%in]; shl.b32 %r1, %t, 31; mov.b32 %r3, 5; fns.b32 %r4, %r2, %r3, %r1; st.global.b32 [%out], %r4;",
        ],
    ),
    row(
        "branch",
        &[
            "ld.global.b32 %r0, [%in]; setp.gt.s32 %p0, %r0, 40; @{,!}%p0 bra L#; mul.lo.s32 %r0, %r0, 3; st.global.b32 [%out+4], %r0; bra M#; L#: xor.b32 %r0, %r0, 99; st.global.b32 [%out+8], %i; M#: st.global.b32 [%out], %r0;",
            // Uniform branches.
            "ld.param.b32 %r1, [w0]; setp.gt.s32 %p0, %r1, 40; ld.global.b32 %r0, [%in]; @{,!}%p0 bra L#; ld.global.b32 %r2, [%in+4]; add.s32 %r0, %r0, %r2; bra M#; L#: ld.global.b32 %r3, [%in+8]; xor.b32 %r0, %r0, %r3; st.global.b32 [%out+4], %r0; M#: st.global.b32 [%out], %r0;",
            "setp.eq.u32 %p0, %c, 0; ld.global.b32 %r0, [%in]; @%p0 bra L#; bar.sync 0; ld.global.b32 %r2, [%in+4]; add.s32 %r0, %r0, %r2; L#: st.global.b32 [%out], %r0;",
            // Branches within branches.
            "ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; setp.gt.s32 %p0, %r0, 40; setp.gt.s32 %p1, %r1, 40; setp.gt.s32 %p2, %r2, 40; mov.b32 %r4, 1; @%p0 bra A#; add.s32 %r4, %r4, %r1; @%p1 bra B#; st.global.b32 [%out+4], %r4; mul.lo.s32 %r4, %r4, 7; @%p2 bra C#; B#: st.global.b32 [%out+8], %r4; add.s32 %r4, %r4, 5; A#: xor.b32 %r4, %r4, %r3; @%p2 bra C#; st.global.b32 [%out+12], %r4; C#: st.global.b32 [%out], %r4;",
        ],
    ),
    row(
        "loop",
        &[
            // The trip count is loaded, and differs between threads.
            "ld.global.b32 %r0, [%in]; and.b32 %r0, %r0, {7,15}; mov.b32 %r1, 0; mov.b32 %r2, 1; L#: setp.ge.s32 %p0, %r1, %r0; @%p0 bra M#; mad.lo.s32 %r2, %r2, 3, %r1; add.s32 %r1, %r1, 1; bra L#; M#: st.global.b32 [%out], %r2;",
            "ld.param.b32 %r0, [w0]; and.b32 %r0, %r0, 31; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b64 %d0, %in; L#: ld.global.b32 %r3, [%d0]; add.s32 %r2, %r2, %r3; add.s64 %d0, %d0, 4; add.s32 %r1, %r1, 1; setp.lt.s32 %p0, %r1, %r0; @%p0 bra L#; st.global.b32 [%out], %r2;",
            // Exits in the middle of loops.
            "ld.global.b32 %r0, [%in]; and.b32 %r0, %r0, 15; mov.b32 %r1, 0; mov.b32 %r2, 0; L#: mov.b32 %r3, 0; M#: mad.lo.s32 %r4, %r1, %r3, %r2; add.s32 %r2, %r4, 1; and.b32 %r5, %r2, 31; setp.eq.s32 %p0, %r5, %r0; @%p0 bra E#; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 5; @%p1 bra M#; st.global.b32 [%out+4], %r2; add.s32 %r1, %r1, 1; setp.lt.s32 %p2, %r1, 6; @%p2 bra L#; st.global.b32 [%out+8], %r3; E#: st.global.b32 [%out], %r2;",
            // Threads leave and others continue, with collective operations of the warp.
            "ld.global.b32 %r0, [%in]; and.b32 %r0, %r0, 7; mov.b32 %r1, 0; L#: setp.ge.s32 %p0, %r1, %r0; vote.sync.ballot.b32 %r2, %p0, -1; popc.b32 %r3, %r2; add.s32 %r1, %r1, 1; add.s32 %r4, %r1, %r3; setp.lt.s32 %p1, %r1, 9; @%p1 bra L#; st.global.b32 [%out], %r4;",
            "ld.global.b32 %r0, [%in]; and.b32 %r0, %r0, 7; add.s32 %r0, %r0, 1; mov.b32 %r1, 0; mov.b32 %r2, 0; L#: mul.wide.u32 %d0, %r1, 4; add.s64 %d1, %in, %d0; ld.global.b32 %r3, [%d1]; setp.gt.s32 %p0, %r3, 60; @%p0 bra N#; add.s32 %r2, %r2, %r3; N#: add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r0; @%p1 bra L#; st.global.b32 [%out], %r2;",
        ],
    ),
    row(
        "exit",
        &[
            "ld.global.b32 %r0, [%in]; setp.gt.s32 %p0, %r0, 40; @%p0 {exit,ret}; st.global.b32 [%out], %r0;",
            "ld.global.b32 %r0, [%in]; setp.gt.s32 %p0, %r0, 40; @!%p0 bra L#; st.global.b32 [%out+4], %r0; {exit,ret}; L#: st.global.b32 [%out], %i;",
            "setp.gt.u32 %p0, %t, {31,40}; @%p0 exit; bar.sync 0; st.global.b32 [%out], %i;",
            "ld.global.b32 %r0, [%in]; mov.b32 %r1, 0; L#: add.s32 %r1, %r1, 1; mad.lo.s32 %r0, %r0, 5, %r1; and.b32 %r2, %r0, 7; setp.eq.s32 %p0, %r2, 3; @%p0 exit; st.global.b32 [%out], %r0; setp.lt.s32 %p1, %r1, 8; @%p1 bra L#; st.global.b32 [%out+4], %r1;",
        ],
    ),
    row(
        "brx",
        &[
            "ld.global.b32 %r0, [%in]; and.b32 %r1, %r0, 3; mov.b32 %r2, %r0; T#: .branchtargets A#, B#, C#, D#; brx.idx %r1, T#; A#: add.s32 %r2, %r2, 100; bra E#; B#: mul.lo.s32 %r2, %r2, 9; st.global.b32 [%out+4], %r2; bra E#; C#: not.b32 %r2, %r2; D#: xor.b32 %r2, %r2, %i; E#: st.global.b32 [%out], %r2;",
            "ld.param.b32 %r0, [w0]; and.b32 %r1, %r0, 3; mov.b32 %r2, %i; T#: .branchtargets A#, B#, C#, D#; brx.idx.uni %r1, T#; A#: add.s32 %r2, %r2, 100; bra E#; B#: mul.lo.s32 %r2, %r2, 9; st.global.b32 [%out+4], %r2; bra E#; C#: not.b32 %r2, %r2; D#: xor.b32 %r2, %r2, %i; E#: st.global.b32 [%out], %r2;",
        ],
    ),
    row(
        "call",
        &[
            ".func (.reg .b32 out) f#(.reg .b32 a, .reg .b32 b)\n<\n.reg .b32 t; mul.lo.s32 t, a, 3; xor.b32 out, t, b; ret;\n>\n--- ld.global.v2.b32 <%r0, %r1>, [%in]; call.uni (%r2), f#, (%r0, %r1); call.uni (%r3), f#, (%r2, %r0); st.global.v2.b32 [%out], <%r2, %r3>;",
            ".func (.param .b64 out) f#(.param .b64 a, .param .align 8 .b8 b[16])\n<\n.reg .b64 t, u, v; ld.param.b64 t, [a]; ld.param.b64 u, [b+8]; ld.param.b64 v, [b]; add.s64 t, t, u; xor.b64 t, t, v; st.param.b64 [out], t; ret;\n>\n--- ld.global.v2.b64 <%d0, %d1>, [%in]; .param .b64 x; .param .align 8 .b8 y[16]; .param .b64 z; st.param.b64 [x], %d0; st.param.b64 [y], %d1; st.param.b64 [y+8], %o; call.uni (z), f#, (x, y); ld.param.b64 %d2, [z]; st.global.b64 [%out], %d2;",
            // Divergent calls, and a callee that branches.
            ".func (.reg .b32 out) f#(.reg .b32 a)\n<\n.reg .pred p; .reg .b32 t; setp.gt.s32 p, a, 30; @p bra L; mad.lo.s32 out, a, 7, 1; ret;\nL: shr.u32 out, a, 2; ret;\n>\n--- ld.global.b32 %r0, [%in]; mov.b32 %r1, 5; setp.lt.u32 %p0, %t, 25; @%p0 bra L#; call (%r1), f#, (%r0); st.global.b32 [%out+4], %r1; L#: st.global.b32 [%out], %r1;",
            // Recursion.
            ".func (.reg .b32 out) f#(.reg .b32 a)\n<\n.reg .pred p; .reg .b32 t, u; setp.le.s32 p, a, 0; @p bra L; sub.s32 t, a, 1; call (u), f#, (t); mad.lo.s32 out, u, 3, a; ret;\nL: mov.b32 out, 1; ret;\n>\n--- ld.global.b32 %r0, [%in]; and.b32 %r0, %r0, 3; call (%r1), f#, (%r0); st.global.b32 [%out], %r1;",
            // Calls by address.
            ".func (.reg .b32 out) f#(.reg .b32 a)\n<\nadd.s32 out, a, 11; ret;\n>\n.func (.reg .b32 out) g#(.reg .b32 a)\n<\nmul.lo.s32 out, a, 11; ret;\n>\n--- ld.global.b32 %r0, [%in]; setp.lt.s32 %p0, %r0, 40; mov.u64 %d0, f#; mov.u64 %d1, g#; selp.b64 %d2, %d0, %d1, %p0; P#: .callprototype (.reg .b32 x) _ (.reg .b32 y); call (%r1), %d2, (%r0), P#; st.global.b32 [%out], %r1;",
        ],
    ),
];
