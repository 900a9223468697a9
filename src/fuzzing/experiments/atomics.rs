//! Rows of atomic operations. Each thread stores the value before the operation at a separate place. Threads share a
//! place only if the results do not depend on their order.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        "atom_32",
        &[
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.global.b32 [%out], %r0; atom.global{,.relaxed.gpu,.acq_rel.sys}.{add,min,max}.{s,u}32 %r2, [%out], %r1; st.global.b32 [%out+4], %r2;",
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.global.b32 [%out], %r0; atom{,.global}.{and,or,xor,exch}.b32 %r2, [%out], %r1; st.global.b32 [%out+4], %r2;",
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.global.b32 [%out], %r0; atom.global.{inc,dec}.u32 %r2, [%out], %r1; st.global.b32 [%out+4], %r2;",
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; ld.global.b32 %r3, [%in+8]; and.b32 %r0, %r0, 3; and.b32 %r1, %r1, 3; st.global.b32 [%out], %r0; atom{,.global}.cas.b32 %r2, [%out], %r1, %r3; st.global.b32 [%out+4], %r2;",
        ],
    ),
    row(
        "atom_64",
        &[
            "ld.global.b64 %d0, [%in]; ld.global.b64 %d1, [%in+8]; st.global.b64 [%out], %d0; atom.global.{add,min,max}.u64 %d2, [%out], %d1; st.global.b64 [%out+8], %d2;",
            "ld.global.b64 %d0, [%in]; ld.global.b64 %d1, [%in+8]; st.global.b64 [%out], %d0; atom.global.{min,max}.s64 %d2, [%out], %d1; st.global.b64 [%out+8], %d2;",
            "ld.global.b64 %d0, [%in]; ld.global.b64 %d1, [%in+8]; st.global.b64 [%out], %d0; atom.global.{and,or,xor,exch}.b64 %d2, [%out], %d1; st.global.b64 [%out+8], %d2;",
            "ld.global.b64 %d0, [%in]; ld.global.b64 %d1, [%in+8]; and.b64 %d0, %d0, 1; and.b64 %d1, %d1, 1; st.global.b64 [%out], %d0; atom.global.cas.b64 %d2, [%out], %d1, %d0; st.global.b64 [%out+8], %d2;",
        ],
    ),
    row(
        "atom_float",
        &[
            "ld.global.f32 %r0, [%in]; ld.global.f32 %r1, [%in+4]; st.global.f32 [%out], %r0; atom{,.global}.add.f32 %r2, [%out], %r1; st.global.f32 [%out+4], %r2;",
            "ld.global.f64 %d0, [%in]; ld.global.f64 %d1, [%in+8]; st.global.f64 [%out], %d0; atom{,.global}.add.f64 %d2, [%out], %d1; st.global.f64 [%out+8], %d2;",
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.global.b32 [%out], %r0; atom{,.global}.add.noftz.f16x2 %r2, [%out], %r1; st.global.b32 [%out+4], %r2;",
            "ld.global.b16 %h0, [%in]; ld.global.b16 %h1, [%in+4]; st.global.b16 [%out], %h0; atom{,.global}.add.noftz.f16 %h2, [%out], %h1; st.global.b16 [%out+4], %h2;",
        ],
    ),
    row(
        "atom_bf16",
        &[
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.global.b32 [%out], %r0; atom{,.global}.add.noftz.bf16x2 %r2, [%out], %r1; st.global.b32 [%out+4], %r2;",
        ],
    )
    .since(90),
    row(
        "atom_shared",
        &[
            ".shared .align 16 .b8 s[1024]; mov.u32 %r5, s; mad.lo.s32 %r6, %t, 8, %r5; ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.shared.b32 [%r6], %r0; \
             atom.shared.{add,min,max}.{s,u}32 %r2, [%r6], %r1; st.global.b32 [%out+4], %r2; ld.shared.b32 %r3, [%r6]; st.global.b32 [%out], %r3;",
            ".shared .align 16 .b8 s[1024]; mov.u32 %r5, s; mad.lo.s32 %r6, %t, 8, %r5; ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.shared.b32 [%r6], %r0; \
             atom.shared.{and.b32,or.b32,xor.b32,exch.b32,inc.u32,dec.u32} %r2, [%r6], %r1; st.global.b32 [%out+4], %r2; ld.shared.b32 %r3, [%r6]; st.global.b32 [%out], %r3;",
            ".shared .align 16 .b8 s[1024]; mov.u32 %r5, s; mad.lo.s32 %r6, %t, 8, %r5; ld.global.b64 %d0, [%in]; ld.global.b64 %d1, [%in+8]; st.shared.b64 [%r6], %d0; \
             atom.shared.{add.u64,min.u64,max.s64,and.b64,or.b64,xor.b64,exch.b64} %d2, [%r6], %d1; st.global.b64 [%out+8], %d2; ld.shared.b64 %d3, [%r6]; st.global.b64 [%out], %d3;",
            ".shared .align 16 .b8 s[1024]; mov.u32 %r5, s; mad.lo.s32 %r6, %t, 8, %r5; ld.global.f32 %r0, [%in]; ld.global.f32 %r1, [%in+4]; st.shared.f32 [%r6], %r0; \
             atom.shared.add.f32 %r2, [%r6], %r1; st.global.f32 [%out+4], %r2; ld.shared.f32 %r3, [%r6]; st.global.f32 [%out], %r3;",
            ".shared .align 16 .b8 s[1024]; mov.u32 %r5, s; mad.lo.s32 %r6, %t, 8, %r5; ld.global.f64 %d0, [%in]; ld.global.f64 %d1, [%in+8]; st.shared.f64 [%r6], %d0; \
             atom.shared.add.f64 %d2, [%r6], %d1; st.global.f64 [%out+8], %d2; ld.shared.f64 %d3, [%r6]; st.global.f64 [%out], %d3;",
            ".shared .align 16 .b8 s[1024]; mov.u32 %r5, s; mad.lo.s32 %r6, %t, 8, %r5; ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; and.b32 %r0, %r0, 3; and.b32 %r1, %r1, 3; st.shared.b32 [%r6], %r0; \
             atom.shared.cas.b32 %r2, [%r6], %r1, %i; st.global.b32 [%out+4], %r2; ld.shared.b32 %r3, [%r6]; st.global.b32 [%out], %r3;",
        ],
    ),
    row(
        "red",
        &[
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.global.b32 [%out], %r0; red{,.global}.{add.s32,min.s32,max.u32,and.b32,or.b32,xor.b32,inc.u32,dec.u32} [%out], %r1;",
            "ld.global.b64 %d0, [%in]; ld.global.b64 %d1, [%in+8]; st.global.b64 [%out], %d0; red.global.{add.u64,min.s64,max.u64,and.b64,or.b64,xor.b64} [%out], %d1;",
            "ld.global.f32 %r0, [%in]; ld.global.f32 %r1, [%in+4]; st.global.f32 [%out], %r0; red.global.add.f32 [%out], %r1;",
            "ld.global.f64 %d0, [%in]; ld.global.f64 %d1, [%in+8]; st.global.f64 [%out], %d0; red.global.add.f64 [%out], %d1;",
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r1, [%in+4]; st.global.b32 [%out], %r0; red.global.add.noftz.f16x2 [%out], %r1;",
        ],
    ),
    row(
        "meeting",
        &[
            ".shared .align 4 .b32 s; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.b32 [s], 7; bar.sync 0; ld.global.b32 %r0, [%in]; red.shared.{add.u32,min.s32,max.u32,and.b32,or.b32,xor.b32} [s], %r0; bar.sync 0; ld.shared.b32 %r1, [s]; st.global.b32 [%out], %r1;",
            ".shared .align 4 .b32 s; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.b32 [s], 7; bar.sync 0; setp.lt.u32 %p1, %t, 23; @%p1 red.shared.add.u32 [s], {1,3}; bar.sync 0; ld.shared.b32 %r1, [s]; st.global.b32 [%out], %r1;",
            "mul.wide.u32 %d1, %t, 256; sub.s64 %d0, %out, %d1; setp.eq.u32 %p0, %t, 0; @%p0 st.global.b32 [%d0], 5; bar.sync 0; ld.global.b32 %r0, [%in]; red.global.{add.u32,max.s32,or.b32} [%d0], %r0; red.global.add.u32 [%d0+8192], 3;",
        ],
    ),
];
