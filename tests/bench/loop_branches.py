"""Forms of loops that differ in the jump back, the guard of the jump, and the position of blocks and pragmas."""

from loop_kernels import BACK, BODY, CONSTANT, DOWN, EQ, GUARD, LEAVE, LOADS, NE, NEXT, SUM


def last_branch(every):
    """Adds forms of the jump back."""
    for name, predicted, latch in [
        ("ne_back", "4", f"{NE} @%p bra H;"),
        ("ne_back_jump_exit", "4", f"{NE} @%p bra H; bra EXIT;"),
        ("ne_back_jump_uni_exit", "4", f"{NE} @%p bra H; bra.uni EXIT;"),
        ("ne_back_uni", "1", f"{NE} @%p bra.uni H;"),
        ("ne_back_uni_jump_exit", "1", f"{NE} @%p bra.uni H; bra EXIT;"),
        ("eq_not_back", "1", f"{EQ} @!%p bra H;"),
        ("eq_not_back_uni", "1", f"{EQ} @!%p bra.uni H;"),
        ("eq_exit_jump", "1", f"{EQ} @%p bra EXIT; bra H;"),
        ("eq_exit_jump_uni", "1", f"{EQ} @%p bra EXIT; bra.uni H;"),
        ("eq_exit_uni_jump", "1", f"{EQ} @%p bra.uni EXIT; bra H;"),
        ("eq_exit_uni_jump_uni", "1", f"{EQ} @%p bra.uni EXIT; bra.uni H;"),
        ("ne_not_exit_jump", "1", f"{NE} @!%p bra EXIT; bra H;"),
        ("ne_not_exit_jump_uni", "1", f"{NE} @!%p bra EXIT; bra.uni H;"),
        ("eq_exit_label_jump", "1", f"{EQ} @%p bra EXIT; L: bra H;"),
        ("ne_back_b32", "4", "setp.ne.b32 %p, %i, 0; @%p bra H;"),
        ("eq_exit_work_jump", "4", f"{EQ} @%p bra EXIT; mul.f32 %x, %x, 0f40400000; bra H;"),
        ("eq_exit_work_jump_uni", "4", f"{EQ} @%p bra EXIT; mul.f32 %x, %x, 0f40400000; bra.uni H;"),
        ("ne_not_exit_work_jump", "1", f"{NE} @!%p bra EXIT; mul.f32 %x, %x, 0f40400000; bra H;"),
        ("eq_exit_uni_work_jump", "1", f"{EQ} @%p bra.uni EXIT; mul.f32 %x, %x, 0f40400000; bra H;"),
        ("eq_exit_move_jump", "1", f"{EQ} @%p bra EXIT; mov.f32 %f, %x; bra H;"),
        ("eq_exit_phi_jump", "1", f"add.s32 %j, %i, 5; {EQ} @%p bra EXIT; mov.b32 %m, %j; bra H;"),
        ("eq_exit_join_jump", "1", f"{EQ} @%p bra EXIT; mov.b32 %m, %i; bra H;"),
        ("eq_exit_bar_jump", "4", f"{EQ} @%p bra EXIT; bar.warp.sync -1; bra H;"),
        ("eq_exit_store_jump", "4", f"{EQ} @%p bra EXIT; st.global.f32 [%o], %x; bra H;"),
        ("lt_back", "4", "setp.gt.s32 %p, %i, 0; @%p bra H;"),
        ("le_not_back", "1", "setp.le.s32 %p, %i, 0; @!%p bra H;"),
        ("le_exit_jump", "1", "setp.le.s32 %p, %i, 0; @%p bra EXIT; bra.uni H;"),
    ]:
        every.loop("branch", name, predicted, f"{DOWN} {latch}")
    exits(every)


def exits(every):
    """Adds loops that end with two jumps. They differ in the position of the code after the loop, and in other code
    around it."""
    two = f"{DOWN} {EQ} @%p bra {{}}; bra.uni H;"
    again = "add.s32 %j, %j, -1; setp.ne.s32 %q, %j, 0; @%q bra OUTER;"
    outer = "mov.b32 %j, %s; OUTER: mov.b32 %i, %n;"
    above = "add.s32 %j, %j, -1; setp.eq.s32 %q, %j, 0; @%q bra EXIT;"
    for name, predicted, before, latch, after in [
        ("exit_above", "4", f"{GUARD} bra.uni H; {LEAVE}", two.format("EXIT"), ""),
        ("outer_latch_behind", "1", outer, two.format("L"), f"L: {again} {LEAVE}"),
        (
            "outer_latch_above",
            "4",
            f"mov.b32 %j, %s; bra.uni OUTER; L: {above} OUTER: mov.b32 %i, %n;",
            two.format("L"),
            LEAVE,
        ),
        (
            "outer_latch_above_exit_behind",
            "4",
            f"mov.b32 %j, %s; bra.uni OUTER; L: {above} OUTER: mov.b32 %i, %n;",
            two.format("X"),
            f"X: st.global.f32 [%o+4], %x; bra.uni L; {LEAVE}",
        ),
        (
            "behind_a_jump_over_a_jump",
            "4",
            "setp.gt.s32 %u, %s, 5; @%u bra T1; bra.uni T2; T1: add.s32 %m, %m, 3; bra.uni T3; T2: add.s32 %m, %m, 5; "
            f"T3: st.global.u32 [%o+8], %m; {GUARD}",
            two.format("EXIT"),
            LEAVE,
        ),
        (
            "behind_an_else_above_its_then",
            "1",
            "setp.gt.s32 %u, %s, 5; @%u bra T2; bra.uni T1; T1: add.s32 %m, %m, 3; bra.uni T3; T2: add.s32 %m, %m, 5; "
            f"T3: st.global.u32 [%o+8], %m; {GUARD}",
            two.format("EXIT"),
            LEAVE,
        ),
        (
            "behind_a_loop_tested_at_its_header",
            "4",
            "W: setp.lt.s32 %u, %s, 7; @%u bra L; st.global.u32 [%b], %m; add.s64 %b, %b, 4; add.s32 %s, %s, -3; "
            f"bra.uni W; L: {GUARD}",
            two.format("EXIT"),
            LEAVE,
        ),
        (
            "behind_a_loop",
            "",
            f"W: st.global.u32 [%b], %m; add.s64 %b, %b, 4; add.s32 %s, %s, -3; setp.gt.s32 %u, %s, 7; @%u bra W; {GUARD}",
            two.format("EXIT"),
            LEAVE,
        ),
    ]:
        every.loop("branch", f"eq_exit_jump_uni_{name}", predicted, latch, before=before, after=after)


def guards(every):
    """Adds forms that differ in the computation of the branch's guard, and in its other readers."""
    with_body = {
        "early": ("4", f"{DOWN} {NE} {BODY}", BACK),
        "early_step": ("4", f"{DOWN} {BODY}", f"{NE} {BACK}"),
        "read_in_body": ("4", BODY, f"{DOWN} {NE} selp.f32 %f, %v, %w, %p; add.f32 %x, %x, %f; {BACK}"),
        "guards_store": ("4", BODY, f"{DOWN} {NE} @%p st.global.f32 [%o], %v; {BACK}"),
        "guards_load": ("4", BODY, f"{DOWN} {NE} @%p ld.global.f32 %z1, [%o]; add.f32 %x, %x, %z1; {BACK}"),
        "guards_add": ("4", BODY, f"{DOWN} {NE} @%p add.f32 %x, %x, 0f3F800000; {BACK}"),
    }
    for name, (predicted, body, latch) in with_body.items():
        every.loop("guard", name, predicted, latch, body=body, marker=CONSTANT)
    every.loop(
        "guard",
        "read_behind",
        "4",
        f"{DOWN} {NE} {BACK}",
        after="selp.f32 %x, %x, %v, %p; EXIT: st.global.f32 [%o], %x; ret;",
    )
    every.loop(
        "guard",
        "read_in_next_turn",
        "4",
        f"{DOWN} {NE} {BACK}",
        body=f"{BODY} selp.f32 %f, %v, %w, %p; add.f32 %x, %x, %f;",
        before=f"{GUARD} setp.gt.s32 %p, %n, 7;",
    )
    invariant = f"{GUARD} setp.gt.s32 %t, %s, 7;"
    for name, predicted, latch, before in [
        ("not_pred", "1", f"{EQ} not.pred %q, %p; @%q bra H;", GUARD),
        ("xor_true", "1", f"{EQ} setp.eq.s32 %u, %n, %n; xor.pred %q, %p, %u; @%q bra H;", GUARD),
        ("first_of_two", "4", "setp.ne.s32 %p|%q, %i, 0; @%p bra H;", GUARD),
        ("second_of_two", "1", "setp.eq.s32 %p|%q, %i, 0; @%q bra H;", GUARD),
        ("set_and_invariant", "1", "setp.ne.and.s32 %p, %i, 0, %t; @%p bra H;", invariant),
        ("and_invariant", "1", f"{NE} and.pred %p, %p, %t; @%p bra H;", invariant),
        ("or_invariant", "1", f"{NE} or.pred %p, %p, %t; @%p bra H;", invariant),
        (
            "and_of_two_counters",
            "1",
            f"{NE} add.s32 %m, %m, 1; setp.lt.u32 %t, %m, %s; and.pred %p, %p, %t; @%p bra H;",
            GUARD,
        ),
        ("mov_pred", "4", f"{NE} mov.pred %q, %p; @%q bra H;", GUARD),
        ("through_integer", "1", f"{NE} selp.b32 %k, 1, 0, %p; setp.ne.s32 %q, %k, 0; @%q bra H;", GUARD),
        ("through_set", "1", "set.ne.u32.s32 %k, %i, 0; setp.ne.s32 %q, %k, 0; @%q bra H;", GUARD),
        ("zero_first", "4", "mov.b32 %k, 0; setp.ne.s32 %p, %k, %i; @%p bra H;", GUARD),
        ("slct_min", "1", "min.s32 %k, %i, 1; setp.ne.s32 %p, %k, 0; @%p bra H;", GUARD),
        ("float", "1", "cvt.rn.f32.s32 %f, %i; setp.neu.f32 %p, %f, 0f00000000; @%p bra H;", GUARD),
        ("data", "1", "setp.lt.f32 %p, %x, 0f42C80000; @%p bra H;", GUARD),
        ("data_and_counter", "1", f"setp.lt.f32 %t, %x, 0f42C80000; {NE} and.pred %p, %p, %t; @%p bra H;", GUARD),
    ]:
        every.loop("guard", name, predicted, f"{DOWN} {latch}", before=before)
    every.loop(
        "guard",
        "float_counter",
        "1",
        "add.f32 %g, %g, 0fBF800000; setp.gt.f32 %p, %g, 0f00000000; @%p bra H;",
        before="cvt.rn.f32.u32 %g, %n;",
    )
    every.loop(
        "guard",
        "float_counter_up",
        "1",
        "add.f32 %g, %g, 0f3F800000; setp.lt.f32 %p, %g, %f; @%p bra H;",
        before="mov.f32 %g, 0f00000000; cvt.rn.f32.u32 %f, %n;",
    )


def shapes(every):
    """Adds forms with different orders of blocks."""
    back = f"{DOWN} {NE} {BACK}"
    up, top = "mov.b32 %i, %s;", "add.s32 %i, %i, 1;"
    for name, predicted, code in [
        ("no_guard_ahead", "4", f"mov.b32 %i, %n;\nH: {BODY} {back} {LEAVE}"),
        ("jump_to_header", "4", f"{GUARD} bra H;\nX: st.global.f32 [%o+8], %x; ret;\nH: {BODY} {back} {LEAVE}"),
        ("latch_of_its_own", "4", f"{GUARD}\nH: {BODY} bra L; L: {back} {LEAVE}"),
        ("latch_of_two_blocks", "4", f"{GUARD}\nH: {BODY} {DOWN} bra L; L: {NE} {BACK} {LEAVE}"),
        ("continue", "4", f"{GUARD}\nH: {LOADS} {NEXT} setp.lt.f32 %t, %v, %w; @%t bra L; {SUM} L: {back} {LEAVE}"),
        (
            "continue_twice",
            "4",
            f"{GUARD}\nH: {LOADS} {NEXT} setp.lt.f32 %t, %v, %w; @%t bra L; {SUM} "
            f"setp.lt.f32 %t, %x, %w; @%t bra L; add.f32 %x, %x, %v; L: {back} {LEAVE}",
        ),
        (
            "continue_with_stores",
            "1",
            f"{GUARD}\nH: {LOADS} {NEXT} setp.lt.f32 %t, %v, %w; @%t bra L; {SUM} "
            f"st.global.f32 [%o], %x; L: {back} {LEAVE}",
        ),
        (
            "two_back_edges",
            "1",
            f"{GUARD}\nH: {LOADS} {NEXT} {DOWN} setp.lt.f32 %t, %v, %w; {NE} @%t bra L; {SUM} "
            f"@%p bra H; bra EXIT; L: @%p bra H; {LEAVE}",
        ),
        (
            "if_else",
            "4",
            f"{GUARD}\nH: {LOADS} {NEXT} setp.lt.f32 %t, %v, %w; @%t bra X; {SUM} bra L; "
            f"X: ex2.approx.f32 %f, %v; lg2.approx.f32 %g, %w; fma.rn.f32 %x, %f, %g, %x; L: {back} {LEAVE}",
        ),
        ("break", "1", f"{GUARD}\nH: {BODY} setp.gt.f32 %t, %x, 0f42C80000; @%t bra EXIT; {back} {LEAVE}"),
        ("return_inside", "1", f"{GUARD}\nH: {BODY} setp.gt.f32 %t, %x, 0f42C80000; @%t ret; {back} {LEAVE}"),
        ("trap_inside", "1", f"{GUARD}\nH: {BODY} setp.gt.f32 %t, %x, 0f42C80000; @%t trap; {back} {LEAVE}"),
        ("while", "4", f"{up}\nH: setp.ge.s32 %p, %i, %n; @%p bra EXIT; {BODY} {top} bra H; {LEAVE}"),
        ("while_uni_back", "4", f"{up}\nH: setp.ge.s32 %p, %i, %n; @%p bra EXIT; {BODY} {top} bra.uni H; {LEAVE}"),
        ("while_uni_exit", "1", f"{up}\nH: setp.ge.s32 %p, %i, %n; @%p bra.uni EXIT; {BODY} {top} bra H; {LEAVE}"),
        ("while_not", "4", f"{up}\nH: setp.lt.s32 %p, %i, %n; @!%p bra EXIT; {BODY} {top} bra H; {LEAVE}"),
        (
            "while_uni_exit_not",
            "1",
            f"{up}\nH: setp.lt.s32 %p, %i, %n; @!%p bra.uni EXIT; {BODY} {top} bra.uni H; {LEAVE}",
        ),
        (
            "while_work_not",
            "1",
            f"{up}\nH: {LOADS} {NEXT} setp.lt.s32 %p, %i, %n; @!%p bra EXIT; {SUM} {top} bra H; {LEAVE}",
        ),
        (
            "while_lt_body_at_once",
            "4",
            f"{up}\nH: setp.lt.s32 %p, %i, %n; @%p bra L; bra.uni EXIT; L: {BODY} {top} bra.uni H; {LEAVE}",
        ),
        (
            "guard_set_ahead_of_if",
            "4",
            f"{GUARD}\nH: {LOADS} {NEXT} {DOWN} {NE} setp.lt.f32 %t, %v, %w; @%t bra L; {SUM} L: {BACK} {LEAVE}",
        ),
        (
            "counter_moved_on_both_ways",
            "1",
            f"{GUARD}\nH: {LOADS} {NEXT} setp.lt.f32 %t, %v, %w; @%t bra X; {SUM} {DOWN} bra L; "
            f"X: add.f32 %x, %x, %v; {DOWN} L: {NE} {BACK} {LEAVE}",
        ),
        (
            "nonempty_latch_of_an_if",
            "4",
            f"{GUARD}\nH: {LOADS} {NEXT} {DOWN} {EQ} @%p bra EXIT; setp.lt.f32 %t, %v, %w; @%t bra H; "
            f"{SUM} bra H; {LEAVE}",
        ),
        (
            "two_latches_joined",
            "4",
            f"{GUARD}\nH: {LOADS} {NEXT} setp.lt.f32 %t, %v, %w; @%t bra X; {SUM} bra L; "
            f"X: add.f32 %x, %x, %v; bra L; L: {back} {LEAVE}",
        ),
        ("while_eq", "4", f"{up}\nH: setp.eq.s32 %p, %i, %n; @%p bra EXIT; {BODY} {top} bra H; {LEAVE}"),
        (
            "while_body_jump",
            "4",
            f"{up}\nH: setp.lt.s32 %p, %i, %n; @%p bra L; bra EXIT; L: {BODY} {top} bra H; {LEAVE}",
        ),
        ("while_body_elsewhere", "4", f"{up}\nH: setp.lt.s32 %p, %i, %n; @%p bra L; {LEAVE} L: {BODY} {top} bra H;"),
        (
            "while_work_ahead",
            "1",
            f"{up}\nH: {LOADS} {NEXT} setp.ge.s32 %p, %i, %n; @%p bra EXIT; {SUM} {top} bra H; {LEAVE}",
        ),
        ("test_in_middle", "1", f"{GUARD}\nH: {LOADS} {NEXT} {DOWN} {EQ} @%p bra EXIT; {SUM} bra H; {LEAVE}"),
        ("entered_at_test", "4", f"{up} bra T;\nH: {BODY} {top} T: setp.lt.s32 %p, %i, %n; @%p bra H; {LEAVE}"),
        ("entered_at_ne_test", "4", f"{up} bra T;\nH: {BODY} {top} T: setp.ne.s32 %p, %i, %n; @%p bra H; {LEAVE}"),
        ("two_entries", "1", f"{GUARD} setp.gt.s32 %t, %s, 3; @%t bra L;\nH: {LOADS} L: {SUM} {NEXT} {back} {LEAVE}"),
        ("exit_elsewhere", "1", f"{GUARD} bra H;\n{LEAVE}\nH: {BODY} {DOWN} {NE} {BACK} bra EXIT;"),
        ("jump_around_exit", "4", f"{GUARD}\nH: {BODY} {back} bra X; Y: st.global.f32 [%o+4], %v; X: {LEAVE}"),
        ("split_body", "4", f"{GUARD}\nH: {LOADS} bra L; L: {SUM} {NEXT} {back} {LEAVE}"),
        ("label_in_body", "4", f"{GUARD}\nH: {LOADS} L: {SUM} {NEXT} {back} {LEAVE}"),
        ("header_outside", "4", f"{GUARD}\nH: bra L;\nX: st.global.f32 [%o+8], %x; ret;\nL: {BODY} {back} {LEAVE}"),
        ("back_by_trampoline", "1", f"{GUARD}\nH: {BODY} {DOWN} {NE} @%p bra L; {LEAVE}\nL: bra H;"),
        ("two_jumps_trampoline", "1", f"{GUARD}\nH: {BODY} {DOWN} {EQ} @%p bra EXIT; bra L; L: bra H; {LEAVE}"),
    ]:
        every.add("shape", name, predicted, code)


def pragmas(every):
    """Adds forms with different kinds of `.pragma` at different positions."""
    no = '.pragma "nounroll";'
    back = f"{DOWN} {NE} {BACK}"
    for name, predicted, code in [
        ("nounroll_behind_label", "1", f"{GUARD}\nH: {no} {BODY} {back} {LEAVE}"),
        ("nounroll_ahead_of_label", "4", f"{GUARD} {no}\nH: {BODY} {back} {LEAVE}"),
        ("nounroll_in_the_middle", "1", f"{GUARD}\nH: {LOADS} {no} {SUM} {NEXT} {back} {LEAVE}"),
        ("nounroll_ahead_of_compare", "1", f"{GUARD}\nH: {BODY} {DOWN} {no} {NE} {BACK} {LEAVE}"),
        ("nounroll_ahead_of_branch", "1", f"{GUARD}\nH: {BODY} {DOWN} {NE} {no} {BACK} {LEAVE}"),
        ("nounroll_behind_branch", "4", f"{GUARD}\nH: {BODY} {back} {no} {LEAVE}"),
        (
            "nounroll_in_another_block",
            "1",
            f"{GUARD}\nH: {LOADS} setp.lt.f32 %t, %v, %w; @%t bra L; {no} {SUM} L: {NEXT} {back} {LEAVE}",
        ),
        (
            "nounroll_in_latch",
            "1",
            f"{GUARD}\nH: {LOADS} setp.lt.f32 %t, %v, %w; @%t bra L; {SUM} L: {no} {NEXT} {back} {LEAVE}",
        ),
        ("nounroll_at_entry", "4", f"{no} {GUARD}\nH: {BODY} {back} {LEAVE}"),
        (
            "nounroll_in_while",
            "1",
            f"mov.b32 %i, %s;\nH: {no} setp.ge.s32 %p, %i, %n; @%p bra EXIT; {BODY} add.s32 %i, %i, 1; bra H; {LEAVE}",
        ),
        (
            "nounroll_in_body_of_while",
            "1",
            f"mov.b32 %i, %s;\nH: setp.ge.s32 %p, %i, %n; @%p bra EXIT; {no} {BODY} add.s32 %i, %i, 1; bra H; {LEAVE}",
        ),
        ("unroll", "4", f'{GUARD}\nH: .pragma "unroll"; {BODY} {back} {LEAVE}'),
        ("unroll_1", "4", f'{GUARD}\nH: .pragma "unroll 1"; {BODY} {back} {LEAVE}'),
        ("unroll_2", "4", f'{GUARD}\nH: .pragma "unroll 2"; {BODY} {back} {LEAVE}'),
        ("unroll_8", "4", f'{GUARD}\nH: .pragma "unroll 8"; {BODY} {back} {LEAVE}'),
        (
            "unroll_8_of_two_jumps",
            "1",
            f'{GUARD}\nH: .pragma "unroll 8"; {BODY} {DOWN} {EQ} @%p bra EXIT; bra.uni H; {LEAVE}',
        ),
    ]:
        every.add("pragma", name, predicted, code)
