"""Forms of loops that differ in the body's instructions, its length, and the number of registers."""

from loop_kernels import BACK, BODY, CALLEE, CONSTANT, DOWN, EQ, GLOBALS, GUARD, NE, NEXT


def products(count, accumulators=1, loads=1):
    """Returns loads followed by products. Each loaded value is an operand of several products."""
    lines = [f"ld.global.nc.f32 %z{50 + load}, [%a+{4 * load}];" for load in range(loads)]
    lines += [
        f"fma.rn.f32 %z{k % accumulators}, %z{50 + k % loads}, %z{50 + (k + 1) % loads}, %z{k % accumulators};"
        for k in range(count)
    ]
    return " ".join([*lines, f"add.s64 %a, %a, {4 * loads};"])


def zeros(accumulators):
    """Clears the accumulators."""
    return " ".join(f"mov.f32 %z{k}, 0f00000000;" for k in range(accumulators))


def total(accumulators):
    """Stores the accumulators."""
    stores = " ".join(f"st.global.f32 [%o+{4 * k}], %z{k};" for k in range(accumulators))
    return f"EXIT: {stores} ret;"


MMA = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%z1,%z2,%z3,%z4}, {%y1,%y2,%y3,%y4}, {%y5,%y6}, "
    "{%z1,%z2,%z3,%z4};"
)


WAIT = "mbarrier.try_wait.parity.shared.b64 %u, [sh], %m; @!%u bra W;"


def bodies(every):
    """Adds bodies of two loads, a product and one more kind of instruction."""
    for name, predicted, more in [
        ("plain", "4", ""),
        ("store", "4", "st.global.f32 [%a], %x;"),
        ("load_may_alias", "4", "ld.global.f32 %f, [%a]; add.f32 %x, %x, %f; st.global.f32 [%o], %x;"),
        ("shared_store", "4", "st.shared.f32 [sh], %x;"),
        ("shared_load", "4", "ld.shared.f32 %f, [sh]; add.f32 %x, %x, %f;"),
        ("volatile_load", "4", "ld.volatile.global.f32 %f, [%o]; add.f32 %x, %x, %f;"),
        ("volatile_store", "4", "st.volatile.global.f32 [%o], %x;"),
        ("relaxed_load", "4", "ld.relaxed.gpu.global.f32 %f, [%o]; add.f32 %x, %x, %f;"),
        ("acquire_load", "1", "ld.acquire.gpu.global.f32 %f, [%o]; add.f32 %x, %x, %f;"),
        ("release_store", "1", "st.release.gpu.global.f32 [%o], %x;"),
        ("call_of_the_module", "1", "call (%f), callee, (%v); add.f32 %x, %x, %f;"),
        (
            "call",
            "1",
            "{ .param .b64 c1; .param .b64 c2; .param .b32 c3; st.param.b64 [c1], %o; st.param.b64 [c2], %o; "
            "call (c3), vprintf, (c1, c2); ld.param.b32 %k, [c3]; }",
        ),
        ("bar_sync", "4", "bar.sync 0;"),
        ("bar_sync_count", "4", "bar.sync 1, 64;"),
        ("bar_arrive", "4", "bar.arrive 1, 64;"),
        ("bar_red", "4", "bar.red.popc.u32 %k, 0, %t; cvt.rn.f32.u32 %f, %k; add.f32 %x, %x, %f;"),
        ("bar_warp_sync", "4", "bar.warp.sync -1;"),
        ("shfl", "4", "shfl.sync.bfly.b32 %f, %x, 1, 31, -1; add.f32 %x, %x, %f;"),
        (
            "vote",
            "4",
            "setp.lt.f32 %t, %v, %w; vote.sync.ballot.b32 %k, %t, -1; cvt.rn.f32.u32 %f, %k; add.f32 %x, %x, %f;",
        ),
        (
            "vote_any",
            "4",
            "setp.lt.f32 %t, %v, %w; vote.sync.any.pred %u, %t, -1; selp.f32 %f, %v, %w, %u; add.f32 %x, %x, %f;",
        ),
        ("match", "4", "mov.b32 %k, %x; match.any.sync.b32 %k, %k, -1; cvt.rn.f32.u32 %f, %k; add.f32 %x, %x, %f;"),
        ("activemask", "4", "activemask.b32 %k; cvt.rn.f32.u32 %f, %k; add.f32 %x, %x, %f;"),
        ("redux", "4", "mov.b32 %k, %x; redux.sync.add.s32 %k, %k, -1; cvt.rn.f32.s32 %f, %k; add.f32 %x, %x, %f;"),
        ("div_s32", "4", "mov.b32 %k, %v; div.s32 %k, %k, %s; cvt.rn.f32.s32 %f, %k; add.f32 %x, %x, %f;"),
        ("rem_u32", "4", "mov.b32 %k, %v; rem.u32 %k, %k, %s; cvt.rn.f32.s32 %f, %k; add.f32 %x, %x, %f;"),
        ("div_u32_constant", "4", "mov.b32 %k, %v; div.u32 %k, %k, 7; cvt.rn.f32.s32 %f, %k; add.f32 %x, %x, %f;"),
        ("div_u64", "1", "cvt.u64.u32 %l1, %s; div.u64 %l1, %a, %l1; cvt.rn.f32.u64 %f, %l1; add.f32 %x, %x, %f;"),
        ("div_rn_f32", "1", "div.rn.f32 %f, %v, %w; add.f32 %x, %x, %f;"),
        ("div_full_f32", "4", "div.full.f32 %f, %v, %w; add.f32 %x, %x, %f;"),
        ("div_approx_f32", "4", "div.approx.f32 %f, %v, %w; add.f32 %x, %x, %f;"),
        ("rcp_rn_f32", "1", "rcp.rn.f32 %f, %v; add.f32 %x, %x, %f;"),
        ("sqrt_rn_f32", "1", "sqrt.rn.f32 %f, %v; add.f32 %x, %x, %f;"),
        (
            "div_rn_f64",
            "1",
            "cvt.f64.f32 %d1, %v; cvt.f64.f32 %d2, %w; div.rn.f64 %d1, %d1, %d2; cvt.rn.f32.f64 %f, %d1; "
            "add.f32 %x, %x, %f;",
        ),
        (
            "fma_f64",
            "4",
            "cvt.f64.f32 %d1, %v; fma.rn.f64 %d1, %d1, %d1, %d1; cvt.rn.f32.f64 %f, %d1; add.f32 %x, %x, %f;",
        ),
        ("sin_approx", "4", "sin.approx.f32 %f, %v; add.f32 %x, %x, %f;"),
        ("ex2_approx", "4", "ex2.approx.f32 %f, %v; add.f32 %x, %x, %f;"),
        ("mma", "4", MMA),
        ("mma_with_loads", "4", f"ld.shared.v4.b32 {{%y1,%y2,%y3,%y4}}, [sh]; {MMA}"),
        ("ldmatrix", "4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%y1,%y2,%y3,%y4}, [%m];" + MMA),
        ("cp_async", "4", "cp.async.ca.shared.global [sh], [%a], 4;"),
        ("cp_async_commit", "4", "cp.async.ca.shared.global [sh], [%a], 4; cp.async.commit_group;"),
        (
            "cp_async_pipeline",
            "4",
            "cp.async.ca.shared.global [sh], [%a], 4; cp.async.commit_group; cp.async.wait_group 2; bar.sync 0;",
        ),
        ("cp_async_wait_all", "4", "cp.async.ca.shared.global [sh], [%a], 4; cp.async.wait_all;"),
        ("mbarrier_arrive", "4", "mbarrier.arrive.shared.b64 _, [sh];"),
        ("mbarrier_spin", "1", f"W: {WAIT}"),
        (
            "bulk_copy",
            "4",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh+16], [%o], 16, [sh];",
        ),
        ("atom", "4", "atom.global.add.f32 %f, [%o], %v; add.f32 %x, %x, %f;"),
        ("atom_cas", "4", "atom.global.cas.b32 %k, [%o], %s, %n; cvt.rn.f32.u32 %f, %k; add.f32 %x, %x, %f;"),
        ("red", "4", "red.global.add.f32 [%o], %v;"),
        ("membar", "1", "membar.gl;"),
        ("membar_cta", "1", "membar.cta;"),
        ("fence_acq_rel", "1", "fence.acq_rel.gpu;"),
        ("fence_proxy_async", "1", "fence.proxy.async;"),
        ("clock", "4", "mov.u32 %k, %clock; cvt.rn.f32.u32 %f, %k; add.f32 %x, %x, %f;"),
        ("globaltimer", "4", "mov.u64 %l1, %globaltimer; cvt.rn.f32.u64 %f, %l1; add.f32 %x, %x, %f;"),
        ("nanosleep", "4", "nanosleep.u32 20;"),
        ("prefetch", "4", "prefetch.global.L2 [%a];"),
        ("exit_guarded", "1", "setp.gt.f32 %t, %x, 0f42C80000; @%t exit;"),
        ("brkpt", "1", "brkpt;"),
        ("if_load", "4", "setp.lt.f32 %t, %v, %w; @!%t bra X; ld.global.f32 %f, [%o]; add.f32 %x, %x, %f; X:"),
        (
            "two_ifs",
            "4",
            "setp.lt.f32 %t, %v, %w; @%t bra X; ex2.approx.ftz.f32 %f, %v; add.f32 %x, %x, %f; X: "
            "setp.gt.f32 %t, %v, 0f40000000; @%t bra Y; lg2.approx.ftz.f32 %f, %w; add.f32 %x, %x, %f; Y:",
        ),
        (
            "two_ifs_with_stores",
            "4",
            "setp.lt.f32 %t, %v, %w; @%t bra X; st.global.f32 [%a], %v; X: "
            "setp.gt.f32 %t, %v, 0f40000000; @%t bra Y; st.global.f32 [%b], %w; Y:",
        ),
        (
            "nested_ifs",
            "1",
            "setp.lt.f32 %t, %v, %w; @%t bra X; ex2.approx.ftz.f32 %f, %v; add.f32 %x, %x, %f; "
            "setp.gt.f32 %t, %x, 0f40000000; @%t bra X; lg2.approx.ftz.f32 %f, %w; add.f32 %x, %x, %f; X:",
        ),
        ("if_of_5_products", "4", "setp.lt.f32 %t, %v, %w; @%t bra X; " + "fma.rn.f32 %x, %x, %v, %w; " * 5 + "X:"),
        ("if_of_15_products", "4", "setp.lt.f32 %t, %v, %w; @%t bra X; " + "fma.rn.f32 %x, %x, %v, %w; " * 15 + "X:"),
        (
            "if_of_5_stores",
            "1",
            "setp.lt.f32 %t, %v, %w; @%t bra X; "
            + "".join(f"st.global.f32 [%a+{4 * k}], %w; " for k in range(5))
            + "X:",
        ),
        (
            "if_of_5_loads",
            "1",
            "setp.lt.f32 %t, %v, %w; @%t bra X; "
            + "".join(f"ld.global.f32 %f, [%o+{4 * k}]; add.f32 %x, %x, %f; " for k in range(5))
            + "X:",
        ),
        (
            "if_shfl",
            "1",
            "setp.lt.f32 %t, %v, %w; @%t bra X; shfl.sync.bfly.b32 %f, %x, 1, 31, -1; add.f32 %x, %x, %f; X:",
        ),
        (
            "if_division",
            "1",
            "setp.lt.f32 %t, %v, %w; @%t bra X; mov.b32 %k, %v; div.s32 %k, %k, %s; cvt.rn.f32.s32 %f, %k; "
            "add.f32 %x, %x, %f; X:",
        ),
        ("if_store", "1", "setp.lt.f32 %t, %v, %w; @!%t bra X; st.global.f32 [%a], %v; X:"),
        ("if_atom", "1", "setp.lt.f32 %t, %v, %w; @!%t bra X; red.global.add.f32 [%o], %v; X:"),
        ("if_uni", "4", "setp.lt.f32 %t, %v, %w; @!%t bra.uni X; ex2.approx.f32 %f, %v; add.f32 %x, %x, %f; X:"),
        ("if_invariant", "4", "setp.lt.s32 %t, %s, 9; @!%t bra X; ld.global.f32 %f, [%o]; add.f32 %x, %x, %f; X:"),
        ("if_barrier", "1", "setp.lt.s32 %t, %s, 9; @!%t bra X; bar.sync 0; X:"),
        (
            "if_long",
            "1",
            "setp.lt.f32 %t, %v, %w; @!%t bra X; " + "ex2.approx.f32 %v, %v; " * 10 + "add.f32 %x, %x, %v; X:",
        ),
        (
            "guarded_load",
            "4",
            "setp.lt.f32 %t, %v, %w; mov.f32 %f, 0f00000000; @%t ld.global.f32 %f, [%o]; add.f32 %x, %x, %f;",
        ),
        ("guarded_store", "1", "setp.lt.f32 %t, %v, %w; @%t st.global.f32 [%a], %v;"),
        ("guarded_red", "1", "setp.lt.f32 %t, %v, %w; @%t red.global.add.f32 [%o], %v;"),
        ("guarded_add", "4", "setp.lt.f32 %t, %v, %w; @%t add.f32 %x, %x, %v;"),
        ("select", "4", "setp.lt.f32 %t, %v, %w; selp.f32 %f, %v, %w, %t; add.f32 %x, %x, %f;"),
        ("local_store", "4", "st.local.f32 [%y90], %x;"),
        ("local_indexed", "4", "and.b32 %k, %i, 15; shl.b32 %k, %k, 2; st.local.f32 [%k], %x;"),
        ("wide_loads", "4", "ld.global.v4.f32 {%z1,%z2,%z3,%z4}, [%o]; add.f32 %x, %x, %z1; add.f32 %x, %x, %z4;"),
        ("griddepcontrol", "1", "griddepcontrol.wait;"),
        ("isspacep", "4", "isspacep.shared %t, %a; selp.f32 %f, %v, %w, %t; add.f32 %x, %x, %f;"),
        ("brx", "1", "and.b32 %k, %s, 1; TS: .branchtargets X0, X1; brx.idx %k, TS; X0: add.f32 %x, %x, %v; X1:"),
    ]:
        extra = ".local .align 4 .b8 stack[64];\n" if "local" in name else ""
        every.loop(
            "body",
            name,
            predicted,
            f"{DOWN} {NE} {BACK}",
            body=f"{BODY} {more}",
            extra=extra,
            marker=CONSTANT,
            functions=GLOBALS + CALLEE,
        )
    inner = (
        "mov.b32 %j, {turns}; I: ld.global.f32 %f, [%o]; add.f32 %x, %x, %f; "
        "{pragma} add.s32 %j, %j, -1; setp.ne.s32 %t, %j, 0; @%t bra I;"
    )
    for name, predicted, turns, pragma in [
        ("inner_known_2", "4", "2", ""),
        ("inner_known_4", "4", "4", ""),
        ("inner_known_16", "1", "16", ""),
        ("inner_unknown", "1", "%s", ""),
        ("inner_nounroll", "1", "%s", '.pragma "nounroll";'),
        ("inner_known_nounroll", "1", "4", '.pragma "nounroll";'),
    ]:
        every.loop(
            "body",
            name,
            predicted,
            f"{DOWN} {NE} {BACK}",
            marker=CONSTANT,
            functions=GLOBALS,
            body=BODY + inner.format(turns=turns, pragma=pragma),
        )

    for name, predicted, latch in [
        ("inner_of_an_outer", "4", "add.s32 %j, %j, -1; setp.ne.s32 %t, %j, 0; @%t bra I;"),
        ("inner_two_jumps", "1", "add.s32 %j, %j, -1; setp.eq.s32 %t, %j, 0; @%t bra K; bra I; K:"),
    ]:
        every.loop(
            "body",
            name,
            predicted,
            f"{DOWN} {NE} {BACK}",
            marker=r"LDG\.E\.STRONG",
            each=1,
            body=f"{BODY} mov.b32 %j, %s; I: ld.volatile.global.f32 %f, [%o]; add.f32 %x, %x, %f; {latch}",
        )


def lengths(every):
    """Adds bodies of various lengths."""
    back = f"{DOWN} {NE} {BACK}"
    for count in range(20, 56):
        every.loop(
            "length",
            f"{count}_products_1_sum",
            "",
            back,
            body=products(count),
            before=GUARD + zeros(1),
            after=total(1),
            each=1,
        )
        every.loop(
            "length",
            f"{count}_products_8_sums",
            "",
            back,
            body=products(count, 8),
            before=GUARD + zeros(8),
            after=total(8),
            each=1,
        )
    for count in range(8, 24):
        every.loop(
            "length",
            f"{count}_loads_and_products",
            "",
            back,
            body=products(count, 1, count),
            before=GUARD + zeros(1),
            after=total(1),
            each=count,
        )
        stores = " ".join(f"st.global.f32 [%b+{4 * k}], %v;" for k in range(count))
        every.loop("length", f"{count}_stores", "", back, body=f"ld.global.nc.f32 %v, [%a]; {stores} {NEXT}", each=1)
    for count in range(14, 36):
        sums = "".join(f"fma.rn.f32 %x, %x, %x, 0f{0x3F800000 + k:08X};" for k in range(count))
        every.loop("length", f"{count}_products_no_load", "", back, body=sums, marker="FFMA", each=count)
        mixed = "".join(f"xor.b32 %m, %m, {k + 5}; mad.lo.s32 %m, %m, %s, %i;" for k in range(count))
        every.loop(
            "length",
            f"{count}_integer_pairs",
            "",
            back,
            body=f"ld.global.nc.f32 %v, [%a]; add.f32 %x, %x, %v; {mixed} {NEXT}",
            each=1,
            after="EXIT: st.global.f32 [%o], %x; st.global.u32 [%o+4], %m; ret;",
        )
    for count in range(4, 30):
        wide = "".join(f"xor.b64 %N, %N, {k + 5}; add.s64 %N, %N, %S;" for k in range(count))
        every.loop(
            "length",
            f"{count}_wide_pairs",
            "",
            back,
            body=f"ld.global.nc.f32 %v, [%a]; add.f32 %x, %x, %v; {wide} {NEXT}",
            each=1,
            after="EXIT: st.global.f32 [%o], %x; st.global.u64 [%o+8], %N; ret;",
        )
    for count in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48):
        every.loop(
            "length",
            f"{count}_approximate_roots",
            "",
            back,
            each=1,
            body="ld.global.nc.f32 %v, [%a]; " + "rsqrt.approx.f32 %v, %v; " * count + f"add.f32 %x, %x, %v; {NEXT}",
        )
        every.loop(
            "length",
            f"{count}_matrix_products",
            "",
            back,
            marker="HMMA",
            each=count,
            body=MMA * count,
            before=GUARD + zeros(5),
            after=total(5),
        )


def limits(every):
    """Adds forms that show whether ptxas unrolls less with few registers."""
    for accumulators in (8, 16, 20, 22, 24, 28, 32):
        code = {
            "body": products(accumulators, accumulators, 2),
            "before": GUARD + zeros(accumulators),
            "after": total(accumulators),
        }
        for name, bounds, arguments in [
            ("free", "", ()),
            ("1024_threads", ".maxntid 1024", ()),
            ("1024_threads_2_blocks", ".maxntid 1024 .minnctapersm 2", ()),
            ("maxnreg_32", ".maxnreg 32", ()),
            ("maxrregcount_32", "", ("--maxrregcount=32",)),
            ("maxnreg_40", ".maxnreg 40", ()),
        ]:
            every.loop(
                "limit",
                f"{accumulators}_sums_{name}_two_jumps",
                "1",
                f"{DOWN} {EQ} @%p bra EXIT; bra H;",
                bounds=bounds,
                arguments=arguments,
                each=2,
                **code,
            )
            every.loop(
                "limit",
                f"{accumulators}_sums_{name}",
                "4" if accumulators < 30 else "1",
                f"{DOWN} {NE} {BACK}",
                bounds=bounds,
                arguments=arguments,
                each=2,
                **code,
            )
    for level in ("1", "2"):
        every.loop("limit", f"optimised_{level}", "", f"{DOWN} {NE} {BACK}", arguments=(f"-O{level}",))
