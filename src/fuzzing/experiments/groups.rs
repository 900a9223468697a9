//! Rows of matrix products by four warps, with factors in shared memory and in registers.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        "wgmma_f16",
        &[
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.f16x2.f32 %r12, %r4, %r5; cvt.rn.f16x2.f32 %r13, %r6, %r7; cvt.rn.f16x2.f32 %r14, %r8, %r9; \
             cvt.rn.f16x2.f32 %r15, %r10, %r11; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, {9,1}; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d2, %d3, %p0, {1,-1}, 1, {0,1}, {0,1}; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.f16x2.f32 %r12, %r4, %r5; cvt.rn.f16x2.f32 %r13, %r6, %r7; cvt.rn.f16x2.f32 %r14, %r8, %r9; \
             cvt.rn.f16x2.f32 %r15, %r10, %r11; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, 1; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             <%r12, %r13, %r14, %r15>, %d3, %p0, {1,-1}, {1,-1}, {0,1}; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.f16x2.f32 %r12, %r4, %r5; cvt.rn.f16x2.f32 %r13, %r6, %r7; cvt.rn.f16x2.f32 %r14, %r8, %r9; \
             cvt.rn.f16x2.f32 %r15, %r10, %r11; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             setp.ne.u32 %p0, %c, 1; wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 <%r12, %r13, %r14, %r15>, \
             %d2, %d3, %p0, 1, {1,-1}, 0, 0; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r12, %r13, %r14, %r15>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.bf16x2.f32 %r12, %r4, %r5; cvt.rn.bf16x2.f32 %r13, %r6, %r7; \
             cvt.rn.bf16x2.f32 %r14, %r8, %r9; cvt.rn.bf16x2.f32 %r15, %r10, %r11; \
             st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, {9,1}; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d2, %d3, %p0, 1, 1, {0,1}, 0; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r12, %r13, %r14, %r15>, [%in]; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, 1; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d2, %d3, %p0, 1, {1,-1}; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r12, %r13, %r14, %r15>, [%in]; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, 1; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             <%r12, %r13, %r14, %r15>, %d3, %p0, 1, {1,-1}; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.f16x2.f32 %r12, %r4, %r5; cvt.rn.f16x2.f32 %r13, %r6, %r7; cvt.rn.f16x2.f32 %r14, %r8, %r9; \
             cvt.rn.f16x2.f32 %r15, %r10, %r11; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d2, %d3, 0, 1, 1, 0, 0; \
             wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d3, %d2, 1, 1, 1, 0, 0; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
        ],
    )
    .only(90)
    .of_threads(128)
    .approximate(),
    row(
        "wgmma_f8",
        &[
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.satfinite.e4m3x2.f32 %h0, %r4, %r5; cvt.rn.satfinite.e4m3x2.f32 %h1, %r6, %r7; \
             cvt.rn.satfinite.e4m3x2.f32 %h2, %r8, %r9; cvt.rn.satfinite.e4m3x2.f32 %h3, %r10, %r11; \
             cvt.rn.satfinite.e4m3x2.f32 %h4, %r5, %r10; mov.b32 %r12, <%h0, %h1>; mov.b32 %r13, <%h2, %h3>; \
             mov.b32 %r14, <%h4, %h0>; mov.b32 %r15, <%h3, %h1>; \
             st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, 1; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.{e4m3,e5m2} <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d2, %d3, %p0, {1,-1}, 1; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.satfinite.e4m3x2.f32 %h0, %r4, %r5; cvt.rn.satfinite.e4m3x2.f32 %h1, %r6, %r7; \
             cvt.rn.satfinite.e4m3x2.f32 %h2, %r8, %r9; cvt.rn.satfinite.e4m3x2.f32 %h3, %r10, %r11; \
             cvt.rn.satfinite.e4m3x2.f32 %h4, %r5, %r10; mov.b32 %r12, <%h0, %h1>; mov.b32 %r13, <%h2, %h3>; \
             mov.b32 %r14, <%h4, %h0>; mov.b32 %r15, <%h3, %h1>; \
             st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, 1; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.{e4m3,e5m2} <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             <%r12, %r13, %r14, %r15>, %d3, %p0, {1,-1}, 1; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.satfinite.e5m2x2.f32 %h0, %r4, %r5; cvt.rn.satfinite.e5m2x2.f32 %h1, %r6, %r7; \
             cvt.rn.satfinite.e5m2x2.f32 %h2, %r8, %r9; cvt.rn.satfinite.e5m2x2.f32 %h3, %r10, %r11; \
             cvt.rn.satfinite.e5m2x2.f32 %h4, %r5, %r10; mov.b32 %r12, <%h0, %h1>; mov.b32 %r13, <%h2, %h3>; \
             mov.b32 %r14, <%h4, %h0>; mov.b32 %r15, <%h3, %h1>; \
             st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, 1; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k32.f32.e5m2.{e4m3,e5m2} <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d2, %d3, %p0, {1,-1}, 1; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.f32 <%r4, %r5, %r6, %r7>, [%in]; ld.global.v4.f32 <%r8, %r9, %r10, %r11>, [%in+16]; \
             cvt.rn.satfinite.e5m2x2.f32 %h0, %r4, %r5; cvt.rn.satfinite.e5m2x2.f32 %h1, %r6, %r7; \
             cvt.rn.satfinite.e5m2x2.f32 %h2, %r8, %r9; cvt.rn.satfinite.e5m2x2.f32 %h3, %r10, %r11; \
             cvt.rn.satfinite.e5m2x2.f32 %h4, %r5, %r10; mov.b32 %r12, <%h0, %h1>; mov.b32 %r13, <%h2, %h3>; \
             mov.b32 %r14, <%h4, %h0>; mov.b32 %r15, <%h3, %h1>; \
             st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.f32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.f32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, 1; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k32.f32.e5m2.{e4m3,e5m2} <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             <%r12, %r13, %r14, %r15>, %d3, %p0, {1,-1}, 1; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
        ],
    )
    .only(90)
    .of_threads(128)
    .approximate(),
    row(
        "wgmma_s8",
        &[
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.b32 <%r12, %r13, %r14, %r15>, [%in]; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.b32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.b32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, {9,1}; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k32.s32.{s,u}8.{s,u}8 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d2, %d3, %p0; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.b32 <%r12, %r13, %r14, %r15>, [%in]; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.b32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.b32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, {9,1}; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k32.s32.{s,u}8.{s,u}8 <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             <%r12, %r13, %r14, %r15>, %d3, %p0; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
            ".shared .align 128 .b8 s[4096]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 16, %r1; \
             ld.global.v4.b32 <%r12, %r13, %r14, %r15>, [%in]; st.shared.v4.b32 [%r0], <%r12, %r13, %r14, %r15>; \
             st.shared.v4.b32 [%r0+2048], <%r13, %r15, %r12, %r14>; fence.proxy.async.shared::cta; bar.sync 0; \
             shr.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2; or.b64 %d2, %d2, 0x1000080000; add.s64 %d3, %d2, 128; \
             ld.global.v4.b32 <%r16, %r17, %r18, %r19>, [%in+32]; \
             ld.global.v4.b32 <%r20, %r21, %r22, %r23>, [%in+48]; setp.ne.u32 %p0, %c, 1; \
             wgmma.fence.sync.aligned; \
             wgmma.mma_async.sync.aligned.m64n16k32.s32.{s,u}8.s8.satfinite <%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23>, \
             %d2, %d3, %p0; \
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
             st.global.v4.b32 [%out], <%r16, %r17, %r18, %r19>; \
             st.global.v4.b32 [%out+16], <%r20, %r21, %r22, %r23>;",
        ],
    )
    .only(90)
    .of_threads(128),
];
