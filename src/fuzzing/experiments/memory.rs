//! Rows of loads, stores, and asynchronous copies.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        "ld_global",
        &[
            "ld.global{,.nc,.ca,.cg,.cs,.lu,.cv,.volatile}.{s,u}8 %r0, [%in+3]; st.global.b32 [%out], %r0;",
            "ld.global{,.nc,.relaxed.gpu,.acquire.gpu}.{s,u}16 %r0, [%in+6]; st.global.b32 [%out], %r0;",
            "ld.global.{s,u}{8,16,32} %d0, [%in+8]; st.global.b64 [%out], %d0;",
            "ld{,.volatile}.{u,s}8 %h0, [%in+1]; st.global.b16 [%out+2], %h0;",
            "ld.global{,.nc}.b32 %r0, [%in+16]; st.global.b32 [%out+8], %r0; ld.global{,.nc}.b64 %d0, [%in+24]; st.b64 [%out], %d0;",
            "ld.global{,.nc}.v2.b{8,16} <%h0, %h1>, [%in+16]; st.global.v2.b16 [%out+8], <%h1, %h0>;",
            "ld.global{,.nc}.v4.b{8,16} <%h0, %h1, %h2, %h3>, [%in+32]; st.global.v4.b16 [%out+8], <%h1, %h0, %h3, %h2>;",
            "ld.global{,.nc}.v2.b32 <%r0, %r1>, [%in+24]; st.global.v2.b32 [%out+8], <%r1, %r0>;",
            "ld.global{,.nc}.v4.b32 <%r0, %r1, %r2, %r3>, [%in+32]; st.global.v4.b32 [%out+16], <%r3, %r1, %r0, %r2>;",
            "ld.global{,.nc}.v2.b64 <%d0, %d1>, [%in+48]; st.global.v2.b64 [%out+16], <%d1, %d0>;",
            "ld.global.v2.f32 <%r0, %r1>, [%in+24]; add.f32 %r2, %r0, %r1; st.global.f32 [%out+8], %r2;",
            "ld.global.v2.f64 <%d0, %d1>, [%in+32]; add.f64 %d2, %d0, %d1; st.global.f64 [%out+8], %d2;",
        ],
    ),
    row(
        "accesses",
        &[
            "ld.v4.b32 <%r0, %r1, %r2, %r3>, [%in+32]; st.v4.b32 [%out+16], <%r3, %r1, %r0, %r2>; ld.{u,s}16 %r4, [%in+2]; st.b32 [%out], %r4;",
            "ld{,.global}.relaxed.{cta,gpu,sys}.b64 %d0, [%in+8]; st{,.global}.relaxed.{cta,gpu,sys}.b64 [%out+8], %d0;",
            "ld.global.f32 %r0, [%in]; ld.global.f32 %r1, [%in+4]; st.global.f32 [%out], %r0; atom.{cta,sys}.add.f32 %r2, [%out], %r1; st.global.f32 [%out+4], %r2;",
            ".local .align 16 .b8 l[64]; ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; mov.u64 %d0, l; st.local.v4.b32 [%d0], <%r0, %r1, %r2, %r3>; and.b32 %r4, %r0, 3; cvt.u64.u32 %d1, %r4; shl.b64 %d2, %d1, {1,2}; add.s64 %d3, %d0, %d2; st.local.{b8,b16} [%d3], %r1; ld.local.{s8,s16,u16} %r5, [%d3+2]; ld.local.v4.b32 <%r6, %r7, %r8, %r9>, [%d0]; ld.local.v2.b32 <%r10, %r11>, [%d0+8]; st.global.v4.b32 [%out], <%r6, %r7, %r8, %r9>; st.global.v4.b32 [%out+16], <%r5, %r10, %r11, %r4>;",
        ],
    ),
    row(
        "st_global",
        &[
            "ld.global.b32 %r0, [%in]; prmt.b32 %r1, %r0, 0, 0x3210; st.global{,.cg,.cs,.wb,.wt,.volatile,.relaxed.gpu}.b8 [%out+3], %r1;",
            "ld.global.b32 %r0, [%in]; prmt.b32 %r1, %r0, 0, 0x3210; cvt.u16.u32 %h0, %r1; st{.global,}.b16 [%out+2], %h0; st{.global,}.b8 [%out+5], %h0;",
            "ld.global.b64 %d0, [%in]; st{.global,}.{b8,b16,b32,b64} [%out+8], %d0;",
            "st.global.b32 [%out+4], -7; st.global.b64 [%out+8], 0x123456789abcdef; st.global.v4.b32 [%out+16], <%i, %t, %i, %c>; st.global.b8 [%out], 200; st.global.b16 [%out+2], 40000;",
        ],
    ),
    row(
        "predicated",
        &[
            "mov.b32 %r0, 17; setp.gt.u32 %p0, %t, 40; @{,!}%p0 ld.global.b32 %r0, [%in+4]; st.global.b32 [%out], %r0; @{,!}%p0 st.global.b32 [%out+4], 3;",
            "mov.b32 %r0, 17; mov.b32 %r1, 18; setp.gt.u32 %p0, %t, 40; @%p0 ld.global.v2.b32 <%r0, %r1>, [%in+8]; st.global.v2.b32 [%out], <%r0, %r1>;",
        ],
    ),
    row(
        "addresses",
        &[
            "ld.global.b32 %r0, [%in]; and.b32 %r1, %r0, {15,60,31}; mul.wide.{u,s}32 %d0, %r1, 4; add.s64 %d1, %in, %d0; ld.global.b32 %r2, [%d1+4]; st.global.b32 [%out], %r2;",
            "ld.global.s8 %r0, [%in+5]; and.b32 %r1, %r0, 15; sub.s32 %r1, %r1, 8; cvt.s64.s32 %d0, %r1; shl.b64 %d0, %d0, 3; add.s64 %d1, %d0, %in; ld.global.b64 %d2, [%d1+64]; st.global.b64 [%out], %d2;",
            "ld.param.b64 %d0, [from]; mul.wide.u32 %d1, %i, 256; add.s64 %d0, %d0, %d1; ld.global.b32 %r0, [%d0+-0]; ld.global.b32 %r1, [%d0+252]; add.s32 %r2, %r0, %r1; st.global.b32 [%out+252], %r2;",
            "ld.param.b32 %r0, [w0]; ld.param.s8 %r1, [w0]; ld.param.u16 %r2, [w0+2]; ld.param.b64 %d0, [w0]; st.global.v2.b32 [%out], <%r0, %r1>; st.global.b32 [%out+8], %r2; st.global.b64 [%out+16], %d0;",
            ".global .align 4 .b32 g# = 77; .global .align 8 .b8 ga#[16] = <1, 2, 3, 250, 5, 6, 7, 8, 9>; --- ld.global.b32 %r0, [g#]; ld.global.s8 %r1, [ga#+3]; and.b32 %r2, %t, 7; cvt.u64.u32 %d0, %r2; mov.u64 %d1, ga#; add.s64 %d1, %d1, %d0; ld.global.u8 %r3, [%d1]; st.global.v4.b32 [%out], <%r0, %r1, %r2, %r3>;",
            ".const .align 4 .b32 c#[8] = <10, 21, 32, 43, 54, 65, 76, 87>; --- ld.const.b32 %r0, [c#+8]; and.b32 %r2, %t, 7; mul.wide.u32 %d0, %r2, 4; mov.u64 %d1, c#; add.s64 %d1, %d1, %d0; ld.const.b32 %r1, [%d1]; and.b32 %r4, %c, 7; mul.wide.u32 %d2, %r4, 4; mov.u64 %d3, c#; add.s64 %d3, %d3, %d2; ld.const.b32 %r3, [%d3]; st.global.v4.b32 [%out], <%r0, %r1, %r2, %r3>;",
        ],
    ),
    row(
        "shared",
        &[
            ".shared .align 16 .b8 s[4096]; shl.b32 %r0, %t, 6; mov.u32 %r1, s; add.s32 %r0, %r0, %r1; \
             ld.global.b64 %d0, [%in]; st.shared.b64 [%r0], %in; st.shared.b64 [%r0+8], %o; st.shared.{b8,b16,b32,b64} [%r0+{0,8}], %d0; ld.shared.{u,s}8 %r2, [%r0+{0,8}]; st.global.b32 [%out], %r2;",
            ".shared .align 16 .b8 s[4096]; shl.b32 %r0, %t, 6; mov.u32 %r1, s; add.s32 %r0, %r0, %r1; \
             ld.global.v4.b32 <%r4, %r5, %r6, %r7>, [%in]; st.shared.v4.b32 [%r0+16], <%r4, %r5, %r6, %r7>; st.shared.v2.b32 [%r0+8], <%r6, %r5>; \
             ld.shared{,.volatile}.v2.b32 <%r8, %r9>, [%r0+24]; ld.shared.{u,s}16 %r10, [%r0+18]; ld.shared.v2.b64 <%d2, %d3>, [%r0+16]; \
             st.global.v4.b32 [%out], <%r8, %r9, %r10, %r4>; st.global.v2.b64 [%out+16], <%d3, %d2>;",
            ".shared .align 16 .b8 s[4096]; mov.u32 %r1, s; shl.b32 %r0, %t, 2; add.s32 %r0, %r0, %r1; ld.global.b32 %r2, [%in]; st.shared.b32 [%r0], %r2; bar.sync 0; \
             xor.b32 %r3, %t, {1,5,32,63}; shl.b32 %r3, %r3, 2; add.s32 %r3, %r3, %r1; ld.shared.b32 %r4, [%r3]; st.global.b32 [%out], %r4;",
            ".shared .align 16 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 8, %r1; ld.global.b64 %d2, [%in]; st.shared.b64 [%r0], %d2; bar.sync 0; \
             sub.s32 %r3, 63, %t; mad.lo.s32 %r3, %r3, 8, %r1; ld.shared.b64 %d4, [%r3]; st.global.b64 [%out], %d4; bar.sync 0; st.shared.b64 [%r0+512], %d4; ld.shared.b32 %r5, [%r0+516]; st.global.b32 [%out+8], %r5;",
            ".extern .shared .align 16 .b8 dynamic#[]; --- mov.u32 %r1, dynamic#; mad.lo.s32 %r0, %t, 4, %r1; ld.global.b32 %r2, [%in]; st.shared.b32 [%r0], %r2; bar.sync 0; \
             xor.b32 %r3, %t, 9; mad.lo.s32 %r3, %r3, 4, %r1; ld.shared.b32 %r4, [%r3]; st.global.b32 [%out], %r4;",
        ],
    ),
    row(
        "local",
        &[
            ".local .align 16 .b8 l[128]; ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; mov.u64 %d0, l; st.local.v4.b32 [%d0], <%r0, %r1, %r2, %r3>; \
             and.b32 %r4, %r0, {3,6,7}; mul.wide.u32 %d1, %r4, {4,1}; add.s64 %d1, %d0, %d1; st.local.b32 [%d0+16], 6; st.local.b64 [%d0+24], %d1; st.local.b32 [%d0+20], %i; \
             ld.local.{u,s}8 %r5, [%d1]; st.global.b32 [%out], %r5;",
            ".local .align 8 .b8 l[64]; mov.u64 %d0, l; mov.b32 %r0, 0; L#: mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %in, %d1; ld.global.b32 %r1, [%d2]; add.s64 %d3, %d0, %d1; \
             st.local.b32 [%d3], %r1; add.s32 %r0, %r0, 1; setp.lt.s32 %p0, %r0, 16; @%p0 bra L#; \
             ld.local.b32 %r2, [%d0+4]; and.b32 %r3, %r2, 15; mul.wide.u32 %d4, %r3, 4; add.s64 %d5, %d0, %d4; ld.local.b32 %r4, [%d5]; ld.local.b64 %d6, [%d0+8]; st.global.b32 [%out], %r4; st.global.b64 [%out+8], %d6;",
        ],
    ),
    row(
        "generic",
        &[
            ".shared .align 16 .b8 s[4096]; .local .align 16 .b8 l[32]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; cvt.u64.u32 %d0, %r0; cvta.shared.u64 %d1, %d0; \
             mov.u64 %d2, l; cvta.local.u64 %d3, %d2; cvta.to.global.u64 %d4, %in; \
             ld.global.b64 %d5, [%d4]; st.b64 [%d1], %d5; st.b64 [%d3], %d5; st.b32 [%d3+8], %i; and.b32 %r2, %t, 3; \
             setp.eq.s32 %p0, %r2, 0; setp.eq.s32 %p1, %r2, 1; selp.b64 %d6, %d1, %d3, %p0; selp.b64 %d6, %in, %d6, %p1; \
             ld.{u8,s16,b32} %r3, [%d6+4]; st.global.b32 [%out], %r3; isspacep.{shared,local,global} %p2, %d6; selp.b32 %r4, 1, 0, %p2; st.global.b32 [%out+4], %r4; \
             cvta.to.shared.u64 %d7, %d1; cvt.u32.u64 %r5, %d7; ld.shared.b32 %r6, [%r5]; st.global.b32 [%out+8], %r6;",
        ],
    ),
    row(
        "cp_async",
        &[
            ".shared .align 16 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 32, %r1; st.shared.v4.b32 [%r0], <%i, %i, %i, %i>; st.shared.v4.b32 [%r0+16], <%i, %i, %i, %i>; \
             cp.async.ca.shared.global [%r0], [%in+16], {4,8,16}; cp.async.commit_group; cp.async.cg.shared.global{,.L2::128B} [%r0+16], [%in+32], 16; cp.async.commit_group; \
             cp.async.wait_group {0,1}; ld.shared.b32 %r2, [%r0]; cp.async.wait_all; bar.sync 0; \
             sub.s32 %r3, 63, %t; mad.lo.s32 %r3, %r3, 32, %r1; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r3+16]; st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>; st.global.b32 [%out+16], %r2;",
            ".shared .align 16 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; and.b32 %r2, %t, {12,16}; cp.async.{ca,cg}.shared.global [%r0], [%in+16], 16, %r2; cp.async.wait_all; \
             bar.sync 0; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 16 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; setp.lt.u32 %p0, %t, 11; st.shared.v4.b32 [%r0], <%i, %i, %i, %i>; @%p0 cp.async.ca.shared.global [%r0+4], [%in+8], {4}; cp.async.commit_group; cp.async.wait_group 0; \
             ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
        ],
    ),
];
