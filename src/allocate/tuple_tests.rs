//! Rows of registers: the tuples of a function. Operands must arrive in their rows, and results must leave them.

use std::cell::Cell;

use arbitrary::Unstructured;

use super::briggs::Briggs;
use super::cleanup::clean;
use super::fatpoint::Fatpoint;
use super::greedy::Greedy;
use super::machine::run;
use super::*;
use crate::analysis::{Point, covering};
use crate::function::{Function, Inst};
use crate::fuzzing::{Options, lowered_function};
use crate::lab::exact_allocation::Solver;

/// A loop around a matrix instruction in inline assembly, whose accumulators are read and written in one row. `%1`, in
/// its second row, stays live. `%0` is in the second row and also read outside it, so it is held.
const MATRIX: &str = "mfv 1\nfunction \"k\"\nopcode INLINEASM\nopcode LDV_i32_v4\nopcode STV_i32_v2\nopcode BRA\n\
    regs %0 B32 B32 B32 B32 B32 B32\n@0 = \"mma.sync {$0, $1}, {$4, $5}, {$0, $1};\"\n\
    bb0: frequency 1.0 depth 0 -> bb1\n  %0, %1, %2, %3 = LDV_i32_v4 0, 0, 1, 3, 32, 0 :: read global\n\
    bb1: frequency 8.0 depth 1 -> bb1 bb2\n\
    INLINEASM @0, 1, 262154, def %2 tied 7, 262154, def %3 tied 9, 2147483657, %2 tied 3, 2147549193, %3 tied 5, \
    262153, %1, 262153, %0, 262153, %0 :: opaque\n\
    bb2: frequency 1.0 depth 0\n  STV_i32_v2 %2, %3, 0, 0, 1, 3, 32, 0 :: write global\n\
    STV_i32_v2 %2, %0, 0, 0, 1, 3, 32, 4 :: write global\nend\n";

fn matrix() -> Function {
    Function::parse(MATRIX).unwrap_or_else(|error| panic!("{error}"))
}

fn engines() -> [&'static dyn Allocator; 3] {
    const GREEDY: Greedy = Greedy { max_evictions: 16 };
    static BRIGGS: std::sync::LazyLock<Briggs> = std::sync::LazyLock::new(Briggs::default);
    static FATPOINT: std::sync::LazyLock<Fatpoint> = std::sync::LazyLock::new(Fatpoint::default);
    [&GREEDY, &*BRIGGS, &*FATPOINT]
}

/// Loads, stores and matrix instructions make tuples of their shapes. Tied operands are read and written in one tuple.
#[test]
fn tuples_of_a_function() {
    let problem = Problem::by_name(&matrix(), &Preset::HW).expect("no PHIs");
    assert_eq!(problem.validate(), Ok(()));
    let text = problem.to_string();
    let lines = |word: &str| text.lines().filter(|line| line.starts_with(word)).collect::<Vec<_>>().join("\n");
    assert_eq!(
        lines("range tuple"),
        "range tuple4x4 live 2..3\nrange tuple2x2 live 5..7\nrange tuple2x2 live 5..6\nrange tuple2x2 live 9..10\n\
         range tuple2x2 live 13..14"
    );
    assert_eq!(lines("lane 1 lr5"), "lane 1 lr5 + 0 = lr2 * 8\nlane 1 lr5 + 1 = lr3 * 8");
    assert_eq!(lines("lane 1 lr6"), "lane 1 lr6 + 0 = lr1 * 8\nlane 1 lr6 + 1 = lr0 * 8");
    // The first register is held outside a row. The second is in a row and stays live afterwards. The third is read and
    // written in a row.
    assert!(lines("range B32").contains("live 3..13 late-write 0*1 late-read 1*8 read 3*1"), "{text}");
    assert!(lines("range B32").contains("live 3..5 6..8 late-write 0*1 read 1*8"), "{text}");
    assert!(lines("range B32").contains("read 1*8 late-write 1*8"), "{text}");
    let without = Preset { tuples: false, ..Preset::HW };
    assert_eq!(Problem::by_name(&matrix(), &without).expect("no PHIs").lanes(), []);
    let packed = Problem::by_name(&matrix(), &Preset::CICC).expect("no PHIs");
    assert!(packed.classes().iter_enumerated().any(|(_, class)| (class.width, class.align) == (8, 8)));
}

/// With enough registers, every member is in its lanes, and no move is needed.
#[test]
fn lanes_are_met() {
    let function = Function::parse(
        "mfv 1\nfunction \"k\"\nopcode LDV_i32_v4\nopcode STV_i32_v4\nopcode ADD\nregs %0 B32 B32 B32 B32 B32 B32\n\
         bb0: frequency 1.0 depth 0\n  %4 = ADD 1\n  %0, %1, %2, %3 = LDV_i32_v4 0, 0, 1, 3, 32, 0 :: read global\n\
         %5 = ADD %4\n  %2 = ADD %2\n  STV_i32_v4 %0, %1, %2, %3, 0, 0, 1, 3, 32, %5 :: write global\nend\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let problem = Problem::by_name(&function, &Preset { register_limit: Some(16), ..Preset::HW }).expect("no PHIs");
    for engine in engines() {
        let allocation = engine.allocate(&problem).expect("a sound problem");
        let costs = check_allocation(&problem, &allocation).expect("a sound allocation");
        assert_eq!(costs.tuple_copies, 0, "{}\n{problem}", engine.name());
        assert!(costs.units[0] <= 8, "{}: {costs:?}\n{problem}", engine.name());
    }
}

/// A member outside its lane costs a move. It costs two moves if the member stays live and the tuple takes its place.
#[test]
fn moves_are_counted() {
    let text = "allocation 1\nproblem k\nfile R budget 8\nclass A R\nclass T R width 2 align 2\n\
        range A cost 9 live 2..9 10..17 write 0*1 read 2*5 read 4*1\nrange A cost 9 live 6..9 write 1*1 read 2*5\n\
        range T live 9..10\nlane 2 lr2 + 0 = lr0 * 5\nlane 2 lr2 + 1 = lr1 * 5\nend\n";
    let problem = Problem::parse(text).expect("a problem");
    assert_eq!(problem.validate(), Ok(()));
    let moves = |units: [u32; 3]| {
        let mut allocation = Greedy::default().allocate(&problem).expect("a sound problem");
        allocation.placements = units.map(Placement::Register).to_vec().into();
        check_allocation(&problem, &allocation).map(|costs| (costs.tuple_copies, costs.tuple_moves))
    };
    assert_eq!(moves([2, 3, 2]), Ok((0, 0.0)));
    assert_eq!(moves([4, 3, 2]), Ok((1, 5.0)));
    assert_eq!(moves([3, 2, 2]), Ok((3, 15.0)));
    assert!(moves([2, 2, 2]).is_err());
    assert!(moves([2, 3, 3]).is_err());
}

/// A member that resumes after a tuple is written at that point, so no other tuple that is still live may have its
/// place.
#[test]
fn the_checker_knows_what_goes_on() {
    let text = "allocation 1\nproblem k\nfile R budget 8\nclass A R width 1 align 1 bytes 4\n\
        class T R width 2 align 2 bytes 4\nrange A cost 9 live 2..9 10..17 write 0*1 read 2*5 read 4*1\n\
        range A cost 9 live 6..9 11..17 write 1*1 read 2*5 late-write 2*5 read 4*1\n\
        range T live 9..10\nrange T live 9..11\nlane 2 lr2 + 0 = lr0 * 5\nlane 2 lr3 + 0 = lr1 * 5\n\
        lane 2 lr1 = lr3 + 0 * 5\nend\n";
    let problem = Problem::parse(text).expect("a problem");
    assert_eq!((problem.validate(), problem.to_string()), (Ok(()), text.to_owned()));
    let mut allocation = Greedy::default().allocate(&problem).expect("a sound problem");
    allocation.placements = [0, 3, 4, 0].map(Placement::Register).to_vec().into();
    let error = check_allocation(&problem, &allocation).expect_err("a wrong allocation").to_string();
    assert_eq!(error, "lr3: overwritten by lr0 at point 10");
    for wrong in [
        text.replace("lr2 + 0", "lr2 + 2"),
        text.replace("live 9..11", "live 9..10"),
        text.replace("lr3 + 0", "lr0 + 0"),
    ] {
        let problem = Problem::parse(&wrong).expect("a problem");
        let error = problem.validate().expect_err("an unsound problem").to_string();
        assert!(error.starts_with("the lane at instruction 2: "), "{error}");
    }
}

/// A row that is wider than the register limit makes no tuple.
#[test]
fn wider_than_the_limit() {
    let preset = Preset { register_limit: Some(3), caller_saved: None, ..Preset::HW };
    let problem = Problem::by_name(&matrix(), &preset).expect("no PHIs");
    assert_eq!(problem.validate(), Ok(()));
    assert!(problem.lanes().iter().all(|lane| lane.inst != Inst(0)));
    assert!(!problem.lanes().is_empty());
}

/// Checks that a register with tuples is live wherever it is live without tuples, in its own place or in a tuple.
fn nothing_is_lost(function: &Function, preset: &Preset) {
    let with = Problem::by_name(function, preset).expect("no PHIs");
    let without = Problem::by_name(function, &Preset { tuples: false, ..preset.clone() }).expect("no PHIs");
    assert_eq!(with.validate(), Ok(()), "{function}\n{with}");
    for (range, data) in without.ranges().iter_enumerated().filter(|(_, data)| data.register.is_some()) {
        let same = with.ranges().ids().find(|&same| with.ranges()[same].register == data.register);
        let same = same.expect("the registers are the same");
        for point in without.segments(range).iter().flat_map(|segment| segment.start.0..segment.end.0).map(Point) {
            let in_tuple = with
                .lanes_at(Inst(point.0 / 4))
                .iter()
                .any(|lane| lane.member == same && covering(with.segments(lane.tuple), point).is_some());
            let is_there = covering(with.segments(same), point).is_some();
            assert!(is_there || in_tuple, "{range} is nowhere at {point:?}\n{function}\n{with}");
        }
    }
}

/// On every path, every instruction finds in its rows the values that were written last, and its results leave the
/// rows. This holds for the allocation of every engine and for any spills.
#[test]
fn values_arrive_in_rows() {
    let lanes = Cell::new(0);
    let check = |u: &mut Unstructured<'_>| {
        let function = if u.ratio(1, 3)? { matrix() } else { lowered_function(u, &Options::default())? };
        let register_limit = if u.ratio(1, 4)? { None } else { Some(u.int_in_range(4..=16)?) };
        let preset = Preset { register_limit, packs_halves: u.arbitrary()?, ..Preset::HW };
        nothing_is_lost(&function, &preset);
        let problem = Problem::by_name(&function, &preset).expect("no PHIs");
        lanes.set(lanes.get() + problem.lanes().len());
        let solver = Solver { steps: 50 };
        for engine in engines().into_iter().chain([&solver as &dyn Allocator]) {
            let allocation = match engine.allocate(&problem) {
                Err(ProblemError::LimitNotMet { .. }) => continue,
                found => found.expect("a sound problem"),
            };
            let name = engine.name();
            check_allocation(&problem, &allocation).unwrap_or_else(|error| panic!("{name}: {error}\n{problem}"));
            run(u, &function, &problem, &allocation, &clean(&problem, &allocation))?;
        }
        Ok(())
    };
    for _ in 0..20 {
        arbtest::arbtest(check).budget_ms(1_500);
        if lanes.get() > 100 {
            return;
        }
    }
    panic!("{lanes:?} lanes");
}
