//! Rows of collective operations of a warp and of a block.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        "shfl",
        &[
            "ld.global.b32 %r0, [%in]; shfl.sync.{up,down,bfly,idx}.b32 %r1|%p0, %r0, {1,5,31}, {0,31,0x1c1f,0x1c03}, -1; selp.b32 %r2, 1, 0, %p0; st.global.v2.b32 [%out], <%r1, %r2>;",
            "ld.global.b32 %r0, [%in]; ld.global.b32 %r3, [%in+4]; and.b32 %r3, %r3, 31; shfl.sync.{up,down,bfly,idx}.b32 %r1|%p0, %r0, %r3, {0,31,0x181f}, -1; selp.b32 %r2, 1, 0, %p0; st.global.v2.b32 [%out], <%r1, %r2>;",
            "ld.global.b32 %r0, [%in]; ld.param.b32 %r3, [w0]; ld.param.b32 %r4, [w1]; and.b32 %r4, %r4, 0x1f1f; shfl.sync.{up,down,bfly,idx}.b32 %r1|%p0, %r0, %r3, %r4, -1; selp.b32 %r2, 1, 0, %p0; st.global.v2.b32 [%out], <%r1, %r2>;",
            "ld.global.b64 %d0, [%in]; mov.b64 <%r0, %r1>, %d0; shfl.sync.bfly.b32 %r2, %r0, {1,16}, 31, -1; shfl.sync.bfly.b32 %r3, %r1, {1,16}, 31, -1; mov.b64 %d1, <%r2, %r3>; st.global.b64 [%out], %d1;",
            "ld.global.b32 %r0, [%in]; and.b32 %r5, %t, 31; mov.b32 %r1, 0; setp.lt.u32 %p0, %r5, 16; @!%p0 bra L#; shfl.sync.{down,bfly}.b32 %r1, %r0, {1,8}, 0x101f, 0xffff; L#: st.global.b32 [%out], %r1;",
        ],
    ),
    row(
        "vote",
        &[
            "ld.global.b32 %r0, [%in]; setp.gt.s32 %p0, %r0, {-5,10,48}; vote.sync.{all,any,uni}.pred %p1, {,!}%p0, -1; selp.b32 %r1, 1, 0, %p1; st.global.b32 [%out], %r1;",
            "ld.global.b32 %r0, [%in]; setp.gt.s32 %p0, %r0, {10,48}; vote.sync.ballot.b32 %r1, {,!}%p0, -1; st.global.b32 [%out], %r1;",
            "ld.global.b32 %r0, [%in]; and.b32 %r5, %t, 31; mov.b32 %r1, 3; setp.gt.s32 %p0, %r0, 48; setp.lt.u32 %p2, %r5, 11; @!%p2 bra L#; vote.sync.ballot.b32 %r1, %p0, 0x7ff; L#: st.global.b32 [%out], %r1;",
        ],
    ),
    row(
        "match",
        &[
            "ld.global.b32 %r0, [%in]; and.b32 %r0, %r0, {1,3}; match.any.sync.b32 %r1, %r0, -1; st.global.b32 [%out], %r1;",
            "ld.global.b64 %d0, [%in]; and.b64 %d0, %d0, 3; match.any.sync.b64 %r1, %d0, -1; st.global.b32 [%out], %r1;",
            "ld.global.b32 %r0, [%in]; and.b32 %r0, %r0, {0,1}; match.all.sync.b32 %r1|%p0, %r0, -1; selp.b32 %r2, 1, 0, %p0; st.global.v2.b32 [%out], <%r1, %r2>;",
        ],
    ),
    row(
        "redux",
        &[
            "ld.global.b32 %r0, [%in]; redux.sync.{add,min,max}.{s,u}32 %r1, %r0, -1; st.global.b32 [%out], %r1;",
            "ld.global.b32 %r0, [%in]; redux.sync.{and,or,xor}.b32 %r1, %r0, -1; st.global.b32 [%out], %r1;",
        ],
    ),
    row(
        "clusters",
        &[
            "mov.u32 %r0, %{cluster_ctaid.x,cluster_ctaid.z,cluster_nctaid.y,cluster_ctarank,cluster_nctarank,clusterid.x,clusterid.y,nclusterid.x,nclusterid.z}; st.global.b32 [%out], %r0;",
            ".shared .align 4 .b8 s[256]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 4, %r1; mapa.shared::cluster.u32 %r5, %r0, 0; st.shared::cluster.b32 [%r5], %i; barrier.cluster.arrive{,.release,.relaxed}{,.aligned}; barrier.cluster.wait{,.acquire}; xor.b32 %r2, %t, 33; mad.lo.s32 %r2, %r2, 4, %r1; ld.shared.b32 %r3, [%r2]; st.global.b32 [%out], %r3;",
        ],
    )
    .since(90),
    row("elect", &["elect.sync %r0|%p0, -1; selp.b32 %r1, 5, 6, %p0; st.global.v2.b32 [%out], <%r0, %r1>;"]).since(90),
    row(
        "special",
        &[
            "mov.u32 %r0, %{tid.x,tid.y,tid.z,ntid.x,ntid.y,ntid.z,ctaid.x,ctaid.y,ctaid.z,nctaid.x,nctaid.y,nctaid.z,laneid,lanemask_eq,lanemask_lt,lanemask_le,lanemask_gt,lanemask_ge}; st.global.b32 [%out], %r0;",
            "activemask.b32 %r0; st.global.b32 [%out], %r0;",
        ],
    ),
    row(
        "bar",
        &[
            "ld.global.b32 %r0, [%in]; setp.gt.s32 %p0, %r0, {10,48}; {bar,barrier}.red.popc.u32 %r1, {0,3}, {,!}%p0; st.global.b32 [%out], %r1;",
            "ld.global.b32 %r0, [%in]; setp.gt.s32 %p0, %r0, {-3,48}; bar.red.{and,or}.pred %p1, {0,3}, %p0; selp.b32 %r1, 1, 0, %p1; st.global.b32 [%out], %r1;",
            ".shared .align 4 .b8 s[256]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 4, %r1; st.shared.b32 [%r0], %i; {bar.sync 2,bar.sync 7,barrier.sync 0}; xor.b32 %r2, %t, 33; mad.lo.s32 %r2, %r2, 4, %r1; ld.shared.b32 %r3, [%r2]; st.global.b32 [%out], %r3;",
            ".shared .align 4 .b8 s[256]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 4, %r1; setp.lt.u32 %p0, %t, 32; @%p0 bra L#; st.shared.b32 [%r0], %i; bar.arrive 1, 64; bra M#; L#: bar.sync 1, 64; ld.shared.b32 %r2, [%r0+128]; st.global.b32 [%out], %r2; M#: mov.b32 %r4, 1;",
            ".shared .align 4 .b8 s[256]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 4, %r1; st.shared.b32 [%r0], %i; shr.u32 %r5, %t, 5; barrier.sync %r5, 32; xor.b32 %r2, %t, 3; mad.lo.s32 %r2, %r2, 4, %r1; ld.shared.b32 %r3, [%r2]; st.global.b32 [%out], %r3;",
            ".shared .align 4 .b8 s[256]; mov.u32 %r1, s; mad.lo.s32 %r0, %t, 4, %r1; st.shared.b32 [%r0], %i; bar.warp.sync -1; xor.b32 %r2, %t, 3; mad.lo.s32 %r2, %r2, 4, %r1; ld.shared.b32 %r3, [%r2]; st.global.b32 [%out], %r3;",
            "ld.global.b32 %r0, [%in]; {membar.gl,membar.cta,membar.sys,fence.acq_rel.gpu,fence.sc.gpu}; st.global.b32 [%out], %r0;",
        ],
    ),
];
