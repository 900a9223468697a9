"""Forms of loops that differ in the step of the counter, the bound of the comparison, and whether the trip count is
known."""

from loop_bodies import products, total, zeros
from loop_kernels import BACK, CONSTANT, DOWN, EQ, NE


def counters(every):
    """Adds forms that differ in the compared register, and in its change."""
    start = "mov.b32 %i, %s;"
    for bits, i, n, first in [("32", "%i", "%n", "%s"), ("64", "%I", "%N", "%S")]:
        for sign in "su":
            for compare in ("ne", "lt", "le", "gt", "ge"):
                step = "-1" if compare in ("gt", "ge") else "1"
                every.loop(
                    "counter",
                    f"{compare}_{sign}{bits}",
                    "4",
                    f"add.s{bits} {i}, {i}, {step}; setp.{compare}.{sign}{bits} %p, {i}, {n}; @%p bra H;",
                    before=f"mov.b{bits} {i}, {first};",
                )
            for compare, bound in (("ne", 0), ("gt", 0), ("ge", 1), ("ge", 0)):
                every.loop(
                    "counter",
                    f"{compare}_{sign}{bits}_down_to_{bound}",
                    "1" if (sign, compare, bound) == ("u", "ge", 0) else "4",
                    f"add.s{bits} {i}, {i}, -1; setp.{compare}.{sign}{bits} %p, {i}, {bound}; @%p bra H;",
                    before=f"mov.b{bits} {i}, {n};",
                )
    for name, predicted, before, latch in [
        ("ne_down_to_bound", "4", start, "add.s32 %i, %i, -1; setp.ne.s32 %p, %i, %n; @%p bra H;"),
        ("bound_first", "4", start, "add.s32 %i, %i, 1; setp.ne.s32 %p, %n, %i; @%p bra H;"),
        ("gt_bound_first", "4", start, "add.s32 %i, %i, 1; setp.gt.s32 %p, %n, %i; @%p bra H;"),
        ("old_value_ne", "1", start, "mov.b32 %j, %i; add.s32 %i, %i, 1; setp.ne.s32 %p, %j, %n; @%p bra H;"),
        ("old_value_lt", "1", start, "mov.b32 %j, %i; add.s32 %i, %i, 1; setp.lt.u32 %p, %j, %n; @%p bra H;"),
        ("old_value_compared_first", "1", start, "setp.ne.s32 %p, %i, %n; add.s32 %i, %i, 1; @%p bra H;"),
        ("old_value_down", "1", "mov.b32 %i, %n;", "setp.ne.s32 %p, %i, 0; add.s32 %i, %i, -1; @%p bra H;"),
        ("new_value_moved", "4", start, "add.s32 %j, %i, 1; setp.ne.s32 %p, %j, %n; mov.b32 %i, %j; @%p bra H;"),
        ("copy_compared", "4", start, "add.s32 %i, %i, 1; mov.b32 %j, %i; setp.ne.s32 %p, %j, %n; @%p bra H;"),
        ("sum_compared", "1", start, "add.s32 %i, %i, 1; add.s32 %j, %i, 5; setp.ne.s32 %p, %j, %n; @%p bra H;"),
        (
            "sum_with_register_compared",
            "1",
            "mov.b32 %i, %s; cvt.u32.u64 %y1, %S;",
            "add.s32 %i, %i, 1; add.s32 %j, %i, %y1; setp.ne.s32 %p, %j, %n; @%p bra H;",
        ),
        ("product_compared", "1", start, "add.s32 %i, %i, 1; mul.lo.s32 %j, %i, 3; setp.ne.s32 %p, %j, %n; @%p bra H;"),
        ("shifted_compared", "1", start, "add.s32 %i, %i, 1; shl.b32 %j, %i, 2; setp.lt.u32 %p, %j, %n; @%p bra H;"),
        ("masked_compared", "1", start, "add.s32 %i, %i, 1; and.b32 %j, %i, 1023; setp.ne.s32 %p, %j, 0; @%p bra H;"),
        ("difference_compared", "1", start, "add.s32 %i, %i, 1; sub.s32 %j, %n, %i; setp.ne.s32 %p, %j, 0; @%p bra H;"),
        ("widened_signed", "1", start, "add.s32 %i, %i, 1; cvt.s64.s32 %I, %i; setp.ne.s64 %p, %I, %N; @%p bra H;"),
        ("widened_unsigned", "1", start, "add.s32 %i, %i, 1; cvt.u64.u32 %I, %i; setp.lt.u64 %p, %I, %N; @%p bra H;"),
        (
            "narrowed",
            "1",
            "mov.b64 %I, %S;",
            "add.s64 %I, %I, 1; cvt.u32.u64 %i, %I; setp.ne.s32 %p, %i, %n; @%p bra H;",
        ),
        (
            "two_in_step",
            "4",
            f"{start} mov.b32 %j, %s;",
            "add.s32 %i, %i, 1; add.s32 %j, %j, -1; setp.ne.s32 %p, %i, %n; @%p bra H;",
        ),
        (
            "two_against_each_other",
            "1",
            f"{start} mov.b32 %j, %n;",
            "add.s32 %i, %i, 1; add.s32 %j, %j, -1; setp.lt.s32 %p, %i, %j; @%p bra H;",
        ),
        ("two_steps_a_turn", "1", start, "add.s32 %i, %i, 1; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra H;"),
        ("sub", "4", "mov.b32 %i, %n;", "sub.s32 %i, %i, 1; setp.ne.s32 %p, %i, 0; @%p bra H;"),
        (
            "step_in_register_of_constant",
            "4",
            f"{start} mov.b32 %k, 1;",
            "add.s32 %i, %i, %k; setp.ne.s32 %p, %i, %n; @%p bra H;",
        ),
        ("mad", "1", start, "mad.lo.s32 %i, %i, 1, 1; setp.ne.s32 %p, %i, %n; @%p bra H;"),
        (
            "step_guarded",
            "1",
            f"{start} setp.gt.s32 %t, %s, 5;",
            "@%t add.s32 %i, %i, 1; setp.lt.s32 %p, %i, %n; @%p bra H;",
        ),
        (
            "step_of_an_if",
            "1",
            start,
            "setp.gt.f32 %t, %v, %w; selp.b32 %k, 1, 2, %t; add.s32 %i, %i, %k; setp.lt.s32 %p, %i, %n; @%p bra H;",
        ),
        ("doubled", "1", "mov.b32 %i, 1;", "shl.b32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra H;"),
        ("halved", "1", "mov.b32 %i, %n;", "shr.u32 %i, %i, 1; setp.ne.s32 %p, %i, 0; @%p bra H;"),
        ("sixteen_bits", "1", "cvt.u16.u32 %h1, %n;", "add.s16 %h1, %h1, -1; setp.ne.s16 %p, %h1, 0; @%p bra H;"),
        ("lo_u32", "4", start, "add.s32 %i, %i, 1; setp.lo.u32 %p, %i, %n; @%p bra H;"),
        ("ne_b32", "4", start, "add.s32 %i, %i, 1; setp.ne.b32 %p, %i, %n; @%p bra H;"),
        ("ne_b64", "4", "mov.b64 %I, %S;", "add.s64 %I, %I, 1; setp.ne.b64 %p, %I, %N; @%p bra H;"),
        ("lt_of_a_sum", "4", start, "add.s32 %i, %i, 1; add.s32 %j, %i, 5; setp.lt.u32 %p, %j, %n; @%p bra H;"),
        (
            "fresh_counter_beside_unknown_step",
            "4",
            f"{start} mov.b32 %k, %n; mov.u32 %y1, %ntid.x;",
            "add.s32 %i, %i, %y1; add.s32 %k, %k, -1; setp.ne.s32 %p, %k, 0; @%p bra H;",
        ),
        (
            "two_set_in_turn",
            "4",
            start,
            "add.s32 %j, %i, 1; mov.b32 %k, %j; mov.b32 %i, %k; setp.ne.s32 %p, %k, %n; @%p bra H;",
        ),
        ("old_value_copied_ahead", "1", start, "add.s32 %j, %i, 1; setp.ne.s32 %p, %i, %n; mov.b32 %i, %j; @%p bra H;"),
        ("pointer_ne", "4", "", "setp.ne.s64 %p, %a, %e; @%p bra H;"),
        ("pointer_lt", "4", "", "setp.lt.u64 %p, %a, %e; @%p bra H;"),
        ("pointer_lt_signed", "4", "", "setp.lt.s64 %p, %a, %e; @%p bra H;"),
        ("two_counters_other_compared", "4", start, "add.s32 %m, %m, 1; setp.ne.s32 %p, %m, %n; @%p bra H;"),
        (
            "ne_read_in_body",
            "4",
            start,
            "cvt.rn.f32.s32 %f, %i; add.f32 %x, %x, %f; add.s32 %i, %i, 1; setp.ne.s32 %p, %i, %n; @%p bra H;",
        ),
        (
            "ne_read_behind",
            "4",
            start,
            "add.s32 %i, %i, 1; setp.ne.s32 %p, %i, %n; @%p bra H; st.global.u32 [%o+8], %i;",
        ),
        ("inverted", "1", start, "add.s32 %i, %i, 1; not.b32 %j, %i; setp.ne.s32 %p, %j, %n; @%p bra H;"),
        ("eq_turns_back", "1", start, "add.s32 %i, %i, 1; setp.eq.s32 %p, %i, %n; @%p bra H;"),
    ]:
        every.loop("counter", name, predicted, latch, before=before)


def steps(every):
    """Adds forms with different steps of the counter."""
    for bits, i, n, first in [("32", "%i", "%n", "%s"), ("64", "%I", "%N", "%S")]:
        for compare in (f"ne.s{bits}", f"lt.s{bits}", f"lt.u{bits}", f"le.u{bits}"):
            for step in (2, 3, 4, 5, 8, 64, 256, 65536, 1 << 24, 1 << 30):
                every.loop(
                    "step",
                    f"{compare.replace('.', '_')}_{step}",
                    "1" if compare[:2] == "ne" else "4",
                    f"add.s{bits} {i}, {i}, {step}; setp.{compare} %p, {i}, {n}; @%p bra H;",
                    before=f"mov.b{bits} {i}, {first};",
                )
        for compare, bound in ((f"ne.s{bits}", 0), (f"gt.s{bits}", 0), (f"gt.u{bits}", 0), (f"gt.s{bits}", n)):
            for step in (2, 3, 4):
                every.loop(
                    "step",
                    f"{compare.replace('.', '_')}_down_{step}_to_{str(bound).strip('%')}",
                    "1" if compare[:2] == "ne" else "4",
                    f"add.s{bits} {i}, {i}, -{step}; setp.{compare} %p, {i}, {bound}; @%p bra H;",
                    before=f"mov.b{bits} {i}, {first};",
                )
    every.loop(
        "step",
        "ne_4_of_multiple",
        "4",
        "add.s32 %i, %i, 4; setp.ne.s32 %p, %i, %j; @%p bra H;",
        before="shl.b32 %j, %n, 2; mov.b32 %i, 0;",
    )
    every.loop(
        "step",
        "ne_4_of_masked",
        "4",
        "add.s32 %i, %i, 4; setp.ne.s32 %p, %i, %j; @%p bra H;",
        before="and.b32 %j, %n, -4; mov.b32 %i, 0;",
    )
    every.loop(
        "step",
        "ne_minus_4_of_masked",
        "4",
        "add.s32 %i, %i, -4; setp.ne.s32 %p, %i, 0; @%p bra H;",
        before="and.b32 %i, %n, -4;",
    )
    every.loop(
        "step",
        "lt_unknown",
        "1",
        "add.s32 %i, %i, %k; setp.lt.s32 %p, %i, %n; @%p bra H;",
        before="mov.b32 %i, %s; mov.u32 %k, %ntid.x;",
    )
    every.loop(
        "step",
        "ne_unknown",
        "1",
        "add.s32 %i, %i, %k; setp.ne.s32 %p, %i, %n; @%p bra H;",
        before="mov.b32 %i, %s; mov.u32 %k, %ntid.x;",
    )
    every.loop(
        "step",
        "known_ntid",
        "1",
        "add.s32 %i, %i, %k; setp.lt.s32 %p, %i, %n; @%p bra H;",
        before="mov.b32 %i, %s; mov.u32 %k, %ntid.x;",
        bounds=".reqntid 128",
    )


def bounds_of(every):
    """Adds forms with different starts and ends of the counter."""
    up = "add.s32 %i, %i, 1; setp.ne.s32 %p, %i, %j; @%p bra H;"
    for name, predicted, before in [
        ("start_0", "4", "mov.b32 %i, 0; mov.b32 %j, %n;"),
        ("start_tid", "4", "mov.u32 %i, %tid.x; mov.b32 %j, %n;"),
        ("start_loaded", "4", "ld.global.u32 %i, [%o]; mov.b32 %j, %n;"),
        ("bound_loaded", "4", "mov.b32 %i, 0; ld.global.u32 %j, [%o];"),
        ("bound_tid", "4", "mov.b32 %i, 0; mov.u32 %j, %tid.x;"),
        ("both_loaded", "4", "ld.global.u32 %i, [%o]; ld.global.u32 %j, [%o+4];"),
    ]:
        every.loop("bound", name, predicted, up, before=before, marker=CONSTANT)
    for name, predicted, latch in [
        ("loaded_in_loop", "1", "ld.global.u32 %j, [%o]; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %j; @%p bra H;"),
        (
            "invariant_load_in_loop",
            "1",
            "ld.global.nc.u32 %j, [%o]; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %j; @%p bra H;",
        ),
        (
            "parameter_loaded_in_loop",
            "4",
            "ld.param.u32 %j, [P]; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %j; @%p bra H;",
        ),
        ("invariant_sum_in_loop", "4", "add.s32 %j, %n, %s; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %j; @%p bra H;"),
        ("minimum_in_loop", "4", "min.u32 %j, %n, %s; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %j; @%p bra H;"),
        ("special_in_loop", "4", "mov.u32 %j, %ntid.x; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %j; @%p bra H;"),
        ("changes_in_loop", "1", "add.s32 %n, %n, -1; add.s32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra H;"),
    ]:
        every.loop("bound", name, predicted, latch, before="mov.b32 %i, 0;", marker=CONSTANT)
    masked = "mov.b32 %i, 0; and.b32 %k, %n, 2147483644; neg.s32 %j, %k;"
    for name, predicted, before, compared in [
        ("first_in_comparison", "4", "mov.b32 %i, 0; mov.b32 %j, %n;", "ne.s32 %p, %j, %i"),
        ("masked_negated", "4", masked, "ne.s32 %p, %i, %j"),
        ("masked_negated_first", "1", masked, "ne.s32 %p, %j, %i"),
        ("masked_negated_first_b32", "4", masked, "ne.b32 %p, %j, %i"),
    ]:
        every.loop("bound", name, predicted, f"add.s32 %i, %i, -4; setp.{compared}; @%p bra H;", before=before)


def known(every):
    """Adds forms with known trip counts."""
    for count in (1, 2, 4, 16):
        for turns in (2, 3, 4, 5, 8, 16, 17, 31, 32, 64, 100, 128, 256, 400, 1000, 1001, 10007):
            every.loop(
                "known",
                f"{turns}_turns_{count}_products",
                "",
                f"{DOWN} {NE} {BACK}",
                body=products(count),
                before=f"{zeros(1)} mov.b32 %i, {turns};",
                after=total(1),
                each=1,
            )
    for name, latch in (
        ("two_jumps", f"{DOWN} {EQ} @%p bra EXIT; bra.uni H;"),
        ("negated", f"{DOWN} {EQ} @!%p bra H;"),
        ("uni", f"{DOWN} {NE} @%p bra.uni H;"),
        ("old_value", f"{NE} {DOWN} @%p bra H;"),
        ("pragma", f'{DOWN} {NE} .pragma "nounroll"; @%p bra H;'),
    ):
        for turns in (4, 16, 1000):
            every.loop(
                "known",
                f"{turns}_{name}",
                "all" if turns < 100 and name != "pragma" else "1",
                latch,
                before=f"mov.b32 %i, {turns};",
            )
    every.loop(
        "known", "16_lt_step_2", "all", "add.s32 %i, %i, 2; setp.lt.s32 %p, %i, 32; @%p bra H;", before="mov.b32 %i, 0;"
    )
    every.loop(
        "known",
        "16_distance",
        "all",
        "add.s32 %i, %i, 1; setp.ne.s32 %p, %i, %j; @%p bra H;",
        before="mov.b32 %i, %n; add.s32 %j, %n, 16;",
    )
    every.loop(
        "known",
        "16_break",
        "1",
        f"setp.gt.f32 %t, %x, 0f42C80000; @%t bra EXIT; {DOWN} {NE} @%p bra H;",
        before="mov.b32 %i, 16;",
    )
    every.loop("known", "16_barrier", "all", f"bar.sync 0; {DOWN} {NE} @%p bra H;", before="mov.b32 %i, 16;")
    every.loop("known", "multiple_of_4", "4", f"{DOWN} {NE} @%p bra H;", before="shl.b32 %i, %n, 2;")
    every.loop("known", "multiple_of_4_by_mask", "4", f"{DOWN} {NE} @%p bra H;", before="and.b32 %i, %n, -4;")
    every.loop(
        "known",
        "at_most_3",
        "",
        f"{DOWN} {NE} @%p bra H;",
        before="and.b32 %i, %n, 3; setp.eq.s32 %q, %i, 0; @%q bra EXIT;",
    )
    every.loop(
        "known",
        "at_most_7",
        "",
        f"{DOWN} {NE} @%p bra H;",
        before="and.b32 %i, %n, 7; setp.eq.s32 %q, %i, 0; @%q bra EXIT;",
    )
