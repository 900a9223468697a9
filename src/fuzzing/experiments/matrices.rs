//! Rows of matrices: fragments are loaded, stored, moved and multiplied.
//!
//! Factors and addends are small integers, so sums are exact in any order.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        "ldmatrix",
        &[
            ".shared .align 16 .b8 s[2048]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; ld.global.v4.b32 <%r4, %r5, %r6, %r7>, [%in]; st.shared.v4.b32 [%r0], <%r4, %r5, %r6, %r7>; bar.sync 0; ldmatrix.sync.aligned.m8n8.x4{,.trans}.shared.b16 <%r8, %r9, %r10, %r11>, [%r0]; st.global.v4.b32 [%out], <%r8, %r9, %r10, %r11>;",
            ".shared .align 16 .b8 s[2048]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; ld.global.v4.b32 <%r4, %r5, %r6, %r7>, [%in]; st.shared.v4.b32 [%r0], <%r4, %r5, %r6, %r7>; bar.sync 0; ldmatrix.sync.aligned.m8n8.x2{,.trans}.shared.b16 <%r8, %r9>, [%r0]; ldmatrix.sync.aligned.m8n8.x1{,.trans}.shared.b16 <%r10>, [%r0]; st.global.v2.b32 [%out], <%r8, %r9>; st.global.b32 [%out+8], %r10;",
            "ld.global.b32 %r0, [%in]; movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0; st.global.b32 [%out], %r1;",
        ],
    ),
    row(
        "stmatrix",
        &[
            ".shared .align 16 .b8 s[2048]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; ld.global.v4.b32 <%r4, %r5, %r6, %r7>, [%in]; stmatrix.sync.aligned.m8n8.x4{,.trans}.shared.b16 [%r0], <%r4, %r5, %r6, %r7>; bar.sync 0; ld.shared.v4.b32 <%r8, %r9, %r10, %r11>, [%r0]; st.global.v4.b32 [%out], <%r8, %r9, %r10, %r11>;",
        ],
    )
    .since(90),
    row(
        "mma_f16",
        &[
            "ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; ld.global.v2.b32 <%r4, %r5>, [%in+16]; ld.global.v4.b32 <%r8, %r9, %r10, %r11>, [%in+32]; mma.sync.aligned.m16n8k16.row.col.f32.{f16.f16,bf16.bf16}.f32 <%r12, %r13, %r14, %r15>, <%r0, %r1, %r2, %r3>, <%r4, %r5>, <%r8, %r9, %r10, %r11>; st.global.v4.f32 [%out], <%r12, %r13, %r14, %r15>;",
            "ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; ld.global.v2.b32 <%r4, %r5>, [%in+16]; mma.sync.aligned.m16n8k8.row.col.f32.{f16.f16,bf16.bf16}.f32 <%r12, %r13, %r14, %r15>, <%r0, %r1>, <%r4>, <%r2, %r3, %r5, %r5>; st.global.v4.f32 [%out], <%r12, %r13, %r14, %r15>;",
            "ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; ld.global.v2.b32 <%r4, %r5>, [%in+16]; ld.global.v2.b32 <%r8, %r9>, [%in+32]; mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 <%r12, %r13>, <%r0, %r1, %r2, %r3>, <%r4, %r5>, <%r8, %r9>; st.global.v2.b32 [%out], <%r12, %r13>;",
        ],
    )
    .approximate(),
    row(
        "mma_tf32",
        &[
            "ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; ld.global.v2.b32 <%r4, %r5>, [%in+16]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+32]; mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 <%r12, %r13, %r14, %r15>, <%r0, %r1, %r2, %r3>, <%r4, %r5>, <%r8, %r9, %r10, %r11>; st.global.v4.f32 [%out], <%r12, %r13, %r14, %r15>;",
        ],
    )
    .approximate(),
    row(
        "mma_f64",
        &[
            "ld.global.v2.f64 <%d0, %d1>, [%in]; ld.global.v2.f64 <%d2, %d3>, [%in+16]; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 <%d4, %d5>, <%d0>, <%d1>, <%d2, %d3>; st.global.v2.f64 [%out], <%d4, %d5>;",
        ],
    )
    .approximate(),
    row(
        "mma_f64_wide",
        &[
            "ld.global.v2.f64 <%d0, %d1>, [%in]; ld.global.f64 %d2, [%in+16]; ld.global.v2.f64 <%d4, %d5>, [%in+32]; ld.global.v2.f64 <%d6, %d7>, [%in+48]; mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 <%d10, %d11, %d12, %d13>, <%d0, %d1>, <%d2>, <%d4, %d5, %d6, %d7>; st.global.v2.f64 [%out], <%d10, %d11>; st.global.v2.f64 [%out+16], <%d12, %d13>;",
            "ld.global.v2.f64 <%d0, %d1>, [%in]; ld.global.v2.f64 <%d2, %d3>, [%in+16]; ld.global.v2.f64 <%d4, %d5>, [%in+32]; ld.global.v2.f64 <%d6, %d7>, [%in+48]; mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 <%d10, %d11, %d12, %d13>, <%d0, %d1, %d2, %d3>, <%d4, %d6>, <%d4, %d5, %d6, %d7>; st.global.v2.f64 [%out], <%d10, %d11>; st.global.v2.f64 [%out+16], <%d12, %d13>;",
            "ld.global.v2.f64 <%d0, %d1>, [%in]; ld.global.v2.f64 <%d2, %d3>, [%in+16]; ld.global.v2.f64 <%d4, %d5>, [%in+32]; ld.global.v2.f64 <%d6, %d7>, [%in+48]; mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 <%d10, %d11, %d12, %d13>, <%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7>, <%d4, %d6, %d1, %d0>, <%d4, %d5, %d6, %d7>; st.global.v2.f64 [%out], <%d10, %d11>; st.global.v2.f64 [%out+16], <%d12, %d13>;",
        ],
    )
    .since(90)
    .approximate(),
    row(
        "mma_s8",
        &[
            "ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; ld.global.v2.b32 <%r4, %r5>, [%in+16]; ld.global.v4.b32 <%r8, %r9, %r10, %r11>, [%in+32]; mma.sync.aligned.m16n8k32.row.col{,.satfinite}.s32.{s,u}8.{s,u}8.s32 <%r12, %r13, %r14, %r15>, <%r0, %r1, %r2, %r3>, <%r4, %r5>, <%r8, %r9, %r10, %r11>; st.global.v4.b32 [%out], <%r12, %r13, %r14, %r15>;",
            "ld.global.v4.b32 <%r0, %r1, %r2, %r3>, [%in]; ld.global.v4.b32 <%r8, %r9, %r10, %r11>, [%in+32]; mma.sync.aligned.m16n8k16.row.col.s32.{s,u}8.{s,u}8.s32 <%r12, %r13, %r14, %r15>, <%r0, %r1>, <%r2>, <%r8, %r9, %r10, %r11>; st.global.v4.b32 [%out], <%r12, %r13, %r14, %r15>;",
        ],
    ),
];
