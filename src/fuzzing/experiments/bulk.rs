//! Rows of mbarriers, bulk copies, and copies of tensors.

use super::rows::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        "mbarrier",
        &[
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 64; bar.sync 0; \
             mad.lo.s32 %r0, %t, 4, %r2; st.shared.b32 [%r0], %i; mbarrier.arrive.shared::cta.b64 %d2, [%r1]; \
             W#: mbarrier.{test,try}_wait.shared::cta.b64 %p1, [%r1], %d2; @!%p1 bra W#; xor.b32 %r3, %t, 33; \
             mad.lo.s32 %r3, %r3, 4, %r2; ld.shared.b32 %r4, [%r3]; st.global.b32 [%out], %r4;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1+8], 128; bar.sync 0; \
             mad.lo.s32 %r0, %t, 4, %r2; st.shared.b32 [%r0], %i; \
             mbarrier.arrive.shared::cta.b64 %d2, [%r1+8], 2; \
             W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1+8], 0; @!%p5 bra W1#; xor.b32 %r3, %t, 33; \
             mad.lo.s32 %r3, %r3, 4, %r2; ld.shared.b32 %r4, [%r3]; \
             mbarrier.arrive.shared::cta.b64 _, [%r1+8], 2; \
             W2#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1+8], 1; @!%p5 bra W2#; \
             st.shared.b32 [%r3], %r4; mbarrier.arrive.release.cta.shared::cta.b64 _, [%r1+8], 2; \
             W3#: mbarrier.test_wait.parity.shared::cta.b64 %p5, [%r1+8], 0; @!%p5 bra W3#; \
             ld.shared.b32 %r5, [%r0]; st.global.v2.b32 [%out], <%r4, %r5>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @!%p0 bra E#; mbarrier.init.shared::cta.b64 [%r1], {1,5}; \
             mbarrier.arrive.shared::cta.b64 %d2, [%r1]; mbarrier.pending_count.b64 %r4, %d2; \
             mbarrier.test_wait.shared::cta.b64 %p1, [%r1], %d2; selp.b32 %r5, 1, 0, %p1; \
             mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], {0,1}; selp.b32 %r6, 1, 0, %p2; \
             st.global.v2.b32 [%out], <%r4, %r5>; st.global.b32 [%out+8], %r6; E#: mov.b32 %r9, 0;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @!%p0 bra E#; mbarrier.init.shared::cta.b64 [%r1], 6; \
             mbarrier.arrive{,_drop}.shared::cta.b64 %d2, [%r1]; \
             mbarrier.arrive_drop.shared::cta.b64 %d3, [%r1], {2,3}; mbarrier.pending_count.b64 %r4, %d2; \
             mbarrier.pending_count.b64 %r5, %d3; mbarrier.arrive.shared::cta.b64 %d4, [%r1]; \
             mbarrier.pending_count.b64 %r6, %d4; mbarrier.test_wait.shared::cta.b64 %p1, [%r1], %d2; \
             selp.b32 %r7, 1, 0, %p1; st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>; E#: mov.b32 %r9, 0;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @!%p0 bra E#; mbarrier.init.shared::cta.b64 [%r1], 1; \
             mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 64; \
             mbarrier.arrive.expect_tx.shared::cta.b64 %d2, [%r1], 32; \
             mbarrier.test_wait.shared::cta.b64 %p1, [%r1], %d2; \
             mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], {64,96}; \
             mbarrier.test_wait.shared::cta.b64 %p2, [%r1], %d2; selp.b32 %r4, 1, 0, %p1; \
             selp.b32 %r5, 1, 0, %p2; st.global.v2.b32 [%out], <%r4, %r5>; mbarrier.inval.shared::cta.b64 [%r1]; \
             E#: mov.b32 %r9, 0;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 64; bar.sync 0; \
             mad.lo.s32 %r0, %t, 16, %r2; cp.async.ca.shared.global [%r0], [%in], 16; \
             cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1]; \
             W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; xor.b32 %r3, %t, 33; \
             mad.lo.s32 %r3, %r3, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r3]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 64; bar.sync 0; \
             mad.lo.s32 %r0, %t, 16, %r2; cp.async.ca.shared.global [%r0], [%in], 16; \
             cp.async.mbarrier.arrive.shared::cta.b64 [%r1]; mbarrier.arrive.shared::cta.b64 _, [%r1]; \
             W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; xor.b32 %r3, %t, 33; \
             mad.lo.s32 %r3, %r3, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r3]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
        ],
    )
    .since(90),
    row(
        "cp_async_bulk",
        &[
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; \
             fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.b64 %d8, [from]; ld.param.b64 %d9, [to]; \
             @!%p0 bra A#; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024; \
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d8], 1024, [%r1]; \
             A#: W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; \
             mad.lo.s32 %r0, %t, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; \
             fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.b64 %d8, [from]; ld.param.b64 %d9, [to]; \
             @!%p0 bra A#; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024; \
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r2+512], [%d8+256], 512, [%r1], %d8; \
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d8+2048], 512, [%r1]; \
             A#: W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; \
             mad.lo.s32 %r0, %t, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r2, s; \
             ld.param.b64 %d9, [to]; mad.lo.s32 %r0, %t, 16, %r2; ld.global.v4.b32 <%r4, %r5, %r6, %r7>, [%in]; \
             st.shared.v4.b32 [%r0], <%r4, %r5, %r6, %r7>; fence.proxy.async.shared::cta; bar.sync 0; \
             setp.eq.u32 %p0, %t, 0; mul.wide.u32 %d10, %c, 1024; add.s64 %d9, %d9, %d10; \
             @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d9], [%r2], {1024,48}; \
             cp.async.bulk.commit_group; cp.async.bulk.wait_group{,.read} 0;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r2, s; \
             ld.param.b64 %d9, [to]; mad.lo.s32 %r0, %t, 16, %r2; ld.global.v4.b32 <%r4, %r5, %r6, %r7>, [%in]; \
             st.shared.v4.b32 [%r0], <%r4, %r5, %r6, %r7>; fence.proxy.async.shared::cta; bar.sync 0; \
             setp.eq.u32 %p0, %t, 0; \
             @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.{add.u32,add.s32,add.u64,min.u32,max.s32,min.s64,max.u64,and.b32,or.b64,xor.b32,inc.u32,dec.u32} [%d9], [%r2], 1024; \
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
        ],
    )
    .since(90),
    row(
        "cp_async_tensor",
        &[
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; \
             fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.b64 %d8, [from]; ld.param.b64 %d9, [to]; \
             @!%p0 bra A#; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024; \
             cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d8, <%c, 3>], [%r1]; \
             A#: W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; \
             mad.lo.s32 %r0, %t, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; \
             fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.b64 %d8, [from]; ld.param.b64 %d9, [to]; \
             @!%p0 bra A#; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024; \
             cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d8, <0, 1, %c, 7, 2>], [%r1]; \
             A#: W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; \
             mad.lo.s32 %r0, %t, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; \
             fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.b64 %d8, [from]; ld.param.b64 %d9, [to]; \
             @!%p0 bra A#; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024; \
             cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d8, <1, %c, 7, %c>], [%r1]; \
             A#: W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; \
             mad.lo.s32 %r0, %t, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; \
             fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.b64 %d8, [from]; ld.param.b64 %d9, [to]; \
             @!%p0 bra A#; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024; \
             cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d8, <%c, 7, %c>], [%r1]; \
             A#: W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; \
             mad.lo.s32 %r0, %t, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; \
             fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.b64 %d8, [from]; ld.param.b64 %d9, [to]; \
             @!%p0 bra A#; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024; \
             cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d8, <%c>], [%r1]; \
             A#: W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; \
             mad.lo.s32 %r0, %t, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r2, s; \
             ld.param.b64 %d8, [from]; mad.lo.s32 %r0, %t, 16, %r2; \
             ld.global.v4.b32 <%r4, %r5, %r6, %r7>, [%in]; st.shared.v4.b32 [%r0], <%r4, %r5, %r6, %r7>; \
             fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p0, %t, 0; \
             @%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d8, <5, %c>], [%r2]; \
             @%p0 cp.reduce.async.bulk.tensor.1d.global.shared::cta.{add,min,or}.bulk_group [%d8, <%c>], [%r2+512]; \
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
            ".shared .align 8 .b8 bar[32]; .shared .align 128 .b8 s[4096]; mov.u32 %r1, bar; mov.u32 %r2, s; \
             setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; \
             fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.b64 %d8, [from]; ld.param.b64 %d9, [to]; \
             add.s64 %d10, %d8, 128; @!%p0 bra A#; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024; \
             cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d8, <%c, 3>], [%r1]; \
             cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+512], [%d10, <%c, 3>], [%r1]; \
             A#: W1#: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra W1#; \
             mad.lo.s32 %r0, %t, 16, %r2; ld.shared.v4.b32 <%r4, %r5, %r6, %r7>, [%r0]; \
             st.global.v4.b32 [%out], <%r4, %r5, %r6, %r7>;",
        ],
    )
    .since(90),
];
