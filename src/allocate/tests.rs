//! Every engine on small problems with a known answer, and invalid allocations that the checker must refuse.

use super::briggs::Briggs;
use super::fatpoint::Fatpoint;
use super::greedy::Greedy;
use super::*;
use crate::function::{Function, Inst};
use crate::lab::exact_allocation::Solver;

const HEAD: &str = "allocation 1\nproblem k\n";

fn problem(body: &str) -> Problem {
    Problem::parse(&format!("{HEAD}{body}end\n")).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

/// Returns the result of each engine, after the checker has proved it.
fn solve(problem: &Problem) -> Vec<(Allocation, Costs)> {
    let engines: [&dyn Allocator; 4] =
        [&Greedy::default(), &Briggs::default(), &Fatpoint::default(), &Solver::default()];
    let solved = engines.into_iter().filter_map(|engine| {
        let allocation = match engine.allocate(problem) {
            // This engine respects register limits, so it may fail on the problem.
            Err(ProblemError::LimitNotMet { .. }) if engine.name() == "fatpoint" => return None,
            found => found.unwrap_or_else(|error| panic!("{}: {error}", engine.name())),
        };
        let costs = check_allocation(problem, &allocation);
        Some((allocation, costs.unwrap_or_else(|error| panic!("{}: {error}\n{problem}", engine.name()))))
    });
    solved.collect()
}

fn refusal(body: &str) -> String {
    problem(body).validate().expect_err("the problem is not sound").to_string()
}

/// A pair is at an aligned place, and a single register fits beside it.
#[test]
fn pairs_are_aligned() {
    let problem = problem(
        "file R budget 3\nclass A R\nclass B R width 2 align 2\n\
         range A live 2..13 write 0*1 read 3*1\nrange B live 6..13 write 1*1 read 3*1\n",
    );
    for (allocation, costs) in solve(&problem) {
        assert_eq!((costs.spilled, costs.units[0]), (0, 3), "{allocation:?}");
        assert_eq!(allocation.placements[LiveRange(1)], Placement::Register(0));
    }
}

/// An early write at the start of a block conflicts with all values that are live there, even if its own previous value
/// is live into the block around a loop.
#[test]
fn what_is_written_in_the_midst_of_a_segment_interferes() {
    let problem = problem(
        "file R budget 4\nclass A R\n\
         range A cost 10 live 2..37 write 0*1 read 9*1\nrange A cost 10 live 12..30 read 3*1 early 4*1 read 7*1\n",
    );
    assert!(problem.to_string().contains("live 12..16 16..30"), "{problem}");
    for (allocation, costs) in solve(&problem) {
        assert_eq!((costs.spilled, costs.units[0]), (0, 2), "{allocation:?}");
    }
}

/// With three registers for four values, the cheapest value is spilled, and its accesses get registers.
#[test]
fn the_cheapest_is_spilled() {
    let problem = problem(
        "file R budget 3\nclass A R\n\
         range A cost 20 live 2..37 write 0*1 read 9*1\nrange A cost 30 live 6..37 write 1*1 read 9*1\n\
         range A cost 2 live 10..41 write 2*1 read 10*1\nrange A cost 40 live 14..37 write 3*1 read 9*1\n",
    );
    for (allocation, costs) in solve(&problem) {
        assert_eq!((costs.spilled, costs.slot_bytes, costs.moved_bytes), (1, 4, 8.0), "{allocation:?}");
        assert!(matches!(allocation.placements[LiveRange(2)], Placement::Spilled(_)));
        assert!(allocation.pieces[problem.first_access(LiveRange(2))].is_some());
    }
}

/// If the operands of one instruction do not fit, they exceed the limit and are counted. The engine that respects
/// limits returns an error with the least possible register limit.
#[test]
fn an_instruction_wider_than_the_limit() {
    let problem = problem(
        "file R budget 2\nclass A R\nrange A cost 1 live 2..17 write 0*1 read 4*1\n\
         range A cost 1 live 6..17 write 1*1 read 4*1\nrange A cost 1 live 10..17 write 2*1 read 4*1\n",
    );
    for (allocation, costs) in solve(&problem) {
        assert_eq!(costs.over_limit, 1, "{allocation:?}");
        assert_eq!(costs.units[0], 3);
    }
    let error = Fatpoint::default().allocate(&problem).expect_err("a limit that is not met");
    assert_eq!(error, ProblemError::LimitNotMet { file: "R".into(), register_limit: 2, least: 3 });
    let error = crate::error::Error::from(error).to_string();
    assert!(error.ends_with("file R needs 3 at one instruction; raise the register limit to 3"), "{error}");
}

/// A value that is live across a call is not placed in the clobbered registers. Operands and results of the call may be
/// placed there.
#[test]
fn clobbers_are_kept_clear_of() {
    let problem = problem(
        "file R budget 8\nclass A R\nclass clobbered R width 4\n\
         range A cost 1 live 2..17 write 0*1 read 4*1\nrange A cost 1 live 6..9 write 1*1 read 2*1\n\
         range A cost 1 live 10..13 write 2*1 read 3*1\nrange clobbered fixed 0 live 9..10\n",
    );
    for (allocation, _) in solve(&problem) {
        assert!(matches!(allocation.placements[LiveRange(0)], Placement::Register(4..)), "{allocation:?}");
        assert!(matches!(allocation.placements[LiveRange(1)], Placement::Register(0..4)), "{allocation:?}");
        assert!(matches!(allocation.placements[LiveRange(2)], Placement::Register(0..4)), "{allocation:?}");
    }
}

/// The two sides of a copy get one place if they do not interfere. This also holds for a narrow value in a wide
/// register.
#[test]
fn copies_disappear() {
    let same = "file R budget 8\nclass A R\nrange A cost 1 live 2..17 write 0*1 read 4*1\n\
        range A cost 1 live 6..9 write 1*1 read 2*1\nrange A cost 1 live 10..21 write 2*1 read 5*1\n\
        copy 2 lr2 = lr1 * 1\n";
    for (allocation, costs) in solve(&problem(same)) {
        assert_eq!((costs.copies, costs.removed_copies), (0, 1), "{allocation:?}");
    }
    let promoted = problem(
        "file R budget 8\nclass A R promotes B\nclass B R width 2 align 2\n\
         range A cost 1 live 2..9 write 0*1 read 2*1\nrange B cost 1 live 10..21 write 2*1 read 5*1\n\
         copy 2 lr1 = lr0 * 1\n",
    );
    let allocation = Briggs::default().allocate(&promoted).expect("a sound problem");
    assert_eq!(allocation.statistics.merged_copies, 1);
}

/// A preset's K bounds only the tests of degrees, not the registers: every live range that fits the register limit gets
/// a place.
#[test]
fn a_degree_limit_is_no_limit() {
    let all: String = (0..9).map(|_| "range A cost 1 live 2..9 write 0*1 read 2*1\n").collect();
    let problem = problem(&format!("file R budget 9\nclass A R\n{all}"));
    for degree_limit in [None, Some(0), Some(3), Some(15)] {
        let engine = Briggs { coalescing: Coalescing { degree_limit, ..Preset::HW.coalescing } };
        let allocation = engine.allocate(&problem).expect("a sound problem");
        assert_eq!(check_allocation(&problem, &allocation).map(|costs| costs.spilled), Ok(0), "{degree_limit:?}");
    }
}

/// A copy of a value that is fixed beyond the register limit stays a copy: no other live range may be placed there.
#[test]
fn beyond_the_limit_is_for_the_fixed_alone() {
    let problem = problem(
        "file R budget 2\nclass A R\nrange A cost 1 live 2..5 write 0*1 read 1*1\n\
         range A cost 1 fixed 5 live 6..9 write 1*1 read 2*1\ncopy 1 lr1 = lr0 * 1\n",
    );
    for (_, costs) in solve(&problem) {
        assert_eq!((costs.copies, costs.over_limit), (1, 0));
    }
}

/// The checker finds two live ranges at one place, a place out of alignment, and a spilled live range without
/// registers.
#[test]
fn the_checker_refuses() {
    let problem = problem(
        "file R budget 4\nclass A R\nclass B R width 2 align 2\n\
         range A cost 1 live 2..13 write 0*1 read 3*1\nrange B cost 1 live 6..13 write 1*1 read 3*1\n\
         range A cost 1 live 14..16 write 3*1\nrange A fixed 3 live 18..20 write 4*1\n",
    );
    let good = Greedy::default().allocate(&problem).expect("a sound problem");
    assert!(check_allocation(&problem, &good).is_ok());
    let changed = |range: u32, placement: Placement| {
        let mut changed = good.clone();
        changed.placements[LiveRange(range)] = placement;
        check_allocation(&problem, &changed).expect_err("a wrong allocation").to_string()
    };
    assert_eq!(changed(1, Placement::Register(1)), "lr1: may not be at unit 1");
    assert_eq!(changed(1, Placement::Register(4)), "lr1: may not be at unit 4");
    assert_eq!(
        changed(3, Placement::Register(2)),
        "lr3: is not at its fixed place, or lacks a register that it must have"
    );
    assert_eq!(
        changed(3, Placement::Spilled(SpillSlot(0))),
        "lr3: is not at its fixed place, or lacks a register that it must have"
    );
    assert_eq!(changed(0, Placement::Spilled(SpillSlot(0))), "lr0: is spilled, but has no register at instruction 0");
    let Placement::Register(unit) = good.placements[LiveRange(1)] else { panic!("there is room") };
    assert_eq!(changed(0, Placement::Register(unit + 1)), "lr0: overwritten by lr1 at point 6");
    let mut short = good.clone();
    short.pieces.pop();
    assert_eq!(check_allocation(&problem, &short), Err(AllocationError::Size));
}

/// Two spilled live ranges may share a slot only if they are never live at once.
#[test]
fn slots_are_checked() {
    let problem = problem(
        "file R budget 8\nclass A R\nrange A cost 1 live 2..13 write 0*1 read 3*1\n\
         range A cost 1 live 6..17 write 1*1 read 4*1\nrange A cost 1 live 22..29 write 5*1 read 7*1\n",
    );
    let mut allocation = Greedy::default().allocate(&problem).expect("a sound problem");
    let mut spill = |range: u32, slot: u32| {
        allocation.placements[LiveRange(range)] = Placement::Spilled(SpillSlot(slot));
        for number in 0..problem.accesses(LiveRange(range)).len() {
            allocation.pieces[problem.first_access(LiveRange(range)) + number] = Some(7 - range);
        }
        check_allocation(&problem, &allocation).map(|costs| costs.spilled)
    };
    assert_eq!(spill(0, 0), Ok(1));
    assert_eq!(spill(2, 0), Ok(2));
    assert_eq!(spill(1, 0), Err(AllocationError::Slot { range: LiveRange(0), other: LiveRange(1) }));
}

/// Each kind of invalid problem is reported with its live range.
#[test]
fn unsound_problems() {
    let live = "live 2..9 write 0*1 read 2*1\n";
    assert_eq!(refusal("file R budget 0\n"), "file R: a register limit of 0");
    assert_eq!(refusal("file R\nclass A R width 0\n"), "class A: width and align must be from 1 to 1024");
    assert_eq!(refusal("file R\nclass A R align 5000\n"), "class A: width and align must be from 1 to 1024");
    assert_eq!(
        refusal(&format!("file R budget 4\nclass T R width 8 align 8\nrange T {live}")),
        "lr0, class T: 8 consecutive units do not fit into the 4 of file R"
    );
    assert_eq!(
        refusal(&format!("file R budget 4\nclass T R width 8\nrange T fixed 8 live 2..4 write 0*1\nrange T {live}")),
        "lr1, class T: 8 consecutive units do not fit into the 4 of file R"
    );
    assert_eq!(
        refusal("file R\nfile P\nclass A R promotes B\nclass B P width 2\n"),
        "class A: promotes to B, which is no wider class of the same file and alignment"
    );
    assert_eq!(refusal("file R\nclass A R\nrange A live 9..2\n"), "lr0: its segments are not sorted and disjoint");
    assert_eq!(
        refusal("file R\nclass A R\nrange A live 2..9 read 7*1\n"),
        "lr0: an access at instruction 7 is out of order, or the live range is not live there"
    );
    assert_eq!(
        refusal(&format!("file R\nclass B R width 2 align 2\nrange B fixed 3 {live}")),
        "lr0: fixed at unit 3, which is no place for class B within the register limit"
    );
    assert_eq!(
        refusal(&format!("file R\nclass A R\nclass B R width 2\nrange A fixed 3 {live}range B fixed 2 {live}")),
        "lr0 and lr1: both are fixed at unit 3, and live at the same time"
    );
    assert_eq!(
        refusal(&format!("file R\nclass A R\nrange A {live}range A {live}copy 1 lr0 = lr1 * 1\n")),
        "the copy at instruction 1: lr0 is not written there, or lr1 not read, or their files differ"
    );
}

/// An error in a text is reported with its line.
#[test]
fn unreadable_problems() {
    let parse = |text: &str| Problem::parse(text).expect_err("no problem").to_string();
    assert_eq!(parse(""), "line 1: the problem has no 'end'");
    assert_eq!(parse("mfv 1\n"), "line 1: a problem begins with 'allocation 1'");
    assert_eq!(parse("allocation 1\nclass A R\n"), "line 2: there is no file 'R'");
    assert_eq!(parse("allocation 1\nfile R budget many\n"), "line 2: 'many' is no number");
    assert_eq!(parse("allocation 1\nfile R budget 4000000000\n"), "line 2: 4000000000 is out of range");
    assert_eq!(parse("allocation 1\nfile R\nclass A R\nrange A live 2..\n"), "line 4: '' is no number");
    assert_eq!(parse("allocation 1\nfile R\ncopy 1 lr0 = lr1 * 1\nend\n"), "line 3: there is no lr0");
}

/// Control flow with a wrong successor, overlapping blocks or missing instructions is refused. Syntax errors in its
/// text are also refused.
#[test]
fn unsound_flow() {
    let with = |flow: &str| format!("file R\nclass A R\nrange A live 2..9 write 0*1 read 2*1\n{flow}\n");
    let refused = |block: u32| {
        format!(
            "bb{block}: does not begin where the previous block ends, has an unknown successor, or leaves out instructions"
        )
    };
    assert_eq!(problem(&with("block 0..2 -> 1\nblock 2..3 -> 0")).validate(), Ok(()));
    assert_eq!(refusal(&with("block 0..2 -> 2\nblock 2..3")), refused(0));
    assert_eq!(refusal(&with("block 0..2\nblock 1..3")), refused(1));
    assert_eq!(refusal(&with("block 1..3")), refused(0));
    assert_eq!(refusal(&with("block 0..2")), refused(0));
    let parse = |flow: &str| Problem::parse(&format!("{HEAD}{}end\n", with(flow))).expect_err("no problem").to_string();
    assert_eq!(parse("block 0"), "line 6: a block is 'block FROM..TO -> BLOCK …'");
    assert_eq!(parse("pure 3 2"), "line 6: 2: pure instructions must be in order");
}

/// The problem of a function has widths, clobbers of calls, tied operands, copies, and spill costs.
#[test]
fn of_a_function() {
    let function = Function::parse(
        "mfv 1\nfunction \"k\"\nopcode COPY copy\nopcode LOAD\nopcode ADD\nopcode CALL\nopcode STORE\n\
         regs %0 B32 B64 B1 B16\nbb0: frequency 1.0 depth 0 -> bb1\n  %0 = LOAD 0 :: read\n  %1 = LOAD 1 :: read\n\
         bb1: frequency 8.0 depth 1 -> bb1 bb2\n  %0 tied 1 = ADD %0 tied 0, 1\n  CALL 0 :: opaque call_sequence\n\
         bb2: frequency 1.0 depth 0\n  %3 = LOAD 2 :: read\n  STORE %0, %1, %3 :: write\n  %2 = LOAD 3 :: read\n\
         STORE %2, 0 :: write\nend\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let problem = Problem::by_name(&function, &Preset::HW).expect("no PHIs");
    assert_eq!(problem.validate(), Ok(()));
    let kinds: Vec<AccessKind> = problem.accesses(LiveRange(0)).iter().map(|access| access.kind).collect();
    assert_eq!(kinds, [AccessKind::Write, AccessKind::Update, AccessKind::Read]);
    assert_eq!(problem.class(LiveRange(1)).width, 2);
    assert_eq!(problem.ranges()[LiveRange(0)].spill_cost, 1.0 + 8.0 + 8.0 + 1.0);
    assert_eq!(problem.ranges()[LiveRange(1)].spill_cost, 2.0 * 2.0);
    let clobbered = problem.ranges().ids().last().expect("there are some");
    assert_eq!(problem.segments(clobbered)[0].start, clobber_point(Inst(3)));
    for (allocation, _) in solve(&problem) {
        assert!(matches!(allocation.placements[LiveRange(1)], Placement::Register(24..)), "{allocation:?}");
        assert!(matches!(allocation.placements[LiveRange(3)], Placement::Register(0..24)), "{allocation:?}");
    }
    let reserving = Preset { reserved: Some(0..26), ..Preset::HW };
    for (allocation, costs) in solve(&Problem::by_name(&function, &reserving).expect("no PHIs")) {
        assert!(matches!(allocation.placements[LiveRange(3)], Placement::Register(26..)), "{allocation:?}");
        assert_eq!((costs.spilled, costs.over_limit), (0, 0));
    }
    let packed = Problem::by_name(&function, &Preset::CICC).expect("no PHIs");
    assert_eq!((packed.class(LiveRange(3)).width, packed.class(LiveRange(0)).width), (1, 2));
}

/// A block index is the same in all threads of a warp. By the preset's factor, spilling it costs more than spilling a
/// thread index.
#[test]
fn uniform_values_cost_more() {
    let function = Function::parse(
        "mfv 1\nfunction \"k\"\nopcode INT_PTX_SREG_CTAID_x\nopcode INT_PTX_SREG_TID_x\nopcode STORE\nregs %0 B32 B32\n\
         bb0: frequency 1.0 depth 0\n  %0 = INT_PTX_SREG_CTAID_x\n  %1 = INT_PTX_SREG_TID_x\n\
         STORE %0, %1 :: write\nend\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let problem = Problem::by_name(&function, &Preset::HW).expect("no PHIs");
    let costs = [0, 1].map(|range| problem.ranges()[LiveRange(range)].spill_cost);
    assert_eq!(costs, [2.0 * Preset::HW.cost.uniform_factor, 2.0]);
}
