//! Splits of problems with a known answer, and split allocations that run on a simulated machine of registers and
//! slots.

use std::cell::Cell;

use arbitrary::Unstructured;

use super::parts::split;
use super::regions::Regions;
use super::*;
use crate::allocate::briggs::Briggs;
use crate::allocate::cleanup::clean;
use crate::allocate::fatpoint::Fatpoint;
use crate::allocate::greedy::Greedy;
use crate::allocate::machine::run;
use crate::allocate::placement::SpillSlot;
use crate::allocate::{Preset, check_allocation};
use crate::function::Function;
use crate::fuzzing::{Options, lowered_function};
use crate::lab::exact_allocation::Solver;

fn problem(body: &str) -> Problem {
    let problem = Problem::parse(&format!("allocation 1\nproblem k\n{body}end\n")).expect("a problem");
    problem.validate().expect("a sound problem");
    problem
}

/// Splits every live range at every loop that it crosses.
fn split_everywhere(given: &Problem) -> Problem {
    let all: Vec<Loop> = given.loops().ids().collect();
    let chosen = given.ranges().iter().map(|data| if data.fixed.is_none() { all.clone() } else { Vec::new() });
    split(given, &Regions::new(given), &chosen.collect()).problem
}

const AROUND: &str = "file R budget 2\nclass A R\n\
    range A cost 20 live 2..61 write 0*10 read 15*10\n\
    range A cost 200 live 22..37 write 5*100 read 9*100\nrange A cost 200 live 26..37 write 6*100 read 9*100\n\
    loop 20..40\ncrossing 20 none -> loop0 * 1\ncrossing 40 loop0 -> none * 1\n";

/// A value that is live across a hot loop without uses is stored before the loop and reloaded after it, and not at its
/// accesses.
#[test]
fn spilled_around_a_loop() {
    let given = problem(AROUND);
    for engine in [&Greedy::default() as &dyn Allocator, &Briggs::default(), &Fatpoint::default()] {
        let whole = engine.allocate(&given).expect("a sound problem").costs(&given);
        assert_eq!((whole.spilled, whole.moved_bytes), (1, 4.0 * 20.0), "{}", engine.name());
        let found = allocate(engine, &given, &Splitting::at_once(Some(13))).expect("a sound problem");
        let parts = found.problem.expect("splitting pays");
        let costs = check_allocation(&parts, &found.allocation).expect("a sound allocation");
        assert_eq!((costs.spilled, costs.slot_bytes, costs.moved_bytes), (1, 4, 4.0 + 4.0), "{}", engine.name());
        assert_eq!(parts.segments(LiveRange(0)).len(), 2);
        assert!(matches!(found.allocation.placements[LiveRange(1)], Placement::Spilled(_)));
        assert_eq!(parts.accesses(LiveRange(1)), []);
    }
}

/// A split allocation moves fewer bytes than the optimum of the problem without splits. The exact solver reports no
/// bound for problems with parts.
#[test]
fn below_the_optimum() {
    let given = problem(AROUND);
    let exact = Solver::default().solve(&given).expect("a sound problem");
    assert_eq!((exact.is_optimal, exact.costs.moved_bytes), (true, 4.0 * 20.0));
    let parts = split_everywhere(&given);
    let exact = Solver::default().solve(&parts).expect("a sound problem");
    assert_eq!((exact.is_optimal, exact.costs.moved_bytes, exact.least.moved_bytes), (false, 8.0, 0.0));
    assert_eq!(check_allocation(&parts, &exact.allocation), Ok(exact.costs));
}

/// Live ranges that span no more than the threshold are not split. Without a threshold, no live range is split.
#[test]
fn short_ones_stay_whole() {
    let given = problem(AROUND);
    for threshold in [None, Some(14)] {
        assert!(
            allocate(&Greedy::default(), &given, &Splitting::at_once(threshold))
                .expect("a sound problem")
                .problem
                .is_none()
        );
    }
}

/// The boundary with the largest saving is split first. Other boundaries follow in later rounds, up to the number of
/// rounds. A boundary is not split if its saving is at most the least saving.
#[test]
fn the_best_first() {
    let two = format!("{AROUND}range A cost 200 live 46..61 write 11*100 read 15*100\n")
        .replacen("range A cost 20 live 2..61 write 0*10 read 15*10", "range A cost 20 live 2..93 write 0*10 read 23*10", 1)
        .replace("crossing 40 loop0 -> none * 1\n", "crossing 40 loop0 -> none * 1\nloop 44..64\ncrossing 44 none -> loop1 * 5\ncrossing 64 loop1 -> none * 5\n");
    let given = problem(&two);
    let regions = Regions::new(&given);
    let taken = |least: f32, count: u32| {
        let mut candidates = Candidates::new(&given, &regions, [LiveRange(0)].into_iter(), least);
        let mut chosen: IndexVec<LiveRange, Vec<Loop>> = IndexVec::filled(Vec::new(), given.ranges().len());
        let has_taken = candidates.take(count, &mut chosen);
        let first = chosen[LiveRange(0)].clone();
        candidates.take(u32::MAX, &mut chosen);
        (has_taken, first, chosen[LiveRange(0)].clone())
    };
    let [first, second] = [Loop(0), Loop(1)];
    assert_eq!(taken(0.0, 1), (true, vec![first], vec![first, second]));
    assert_eq!(taken(0.0, 0), (false, vec![], vec![first, second]));
    assert_eq!(taken(10.0, 9), (true, vec![first], vec![first]));
    assert_eq!(taken(18.0, 9), (false, vec![], vec![]));
    let splitting = |rounds| Splitting { rounds, iterations: 1, ..Splitting::at_once(Some(1)) };
    for (rounds, is_split) in [(0, false), (1, true)] {
        let found = allocate(&Greedy::default(), &given, &splitting(rounds)).expect("a sound problem");
        assert_eq!(found.problem.is_some(), is_split);
    }
}

/// A value that is used in a hot loop is in a register inside the loop, and in memory outside it. After the loop, the
/// value is stored only if the loop writes it.
#[test]
fn kept_in_a_loop() {
    let body = |kind: &str, cost: u32| {
        format!(
            "file R budget 2\nclass A R\nrange A cost {cost} live 2..81 write 0*1 {kind} 7*100 write 10*1 read 20*1\n\
             range A cost 900 live 50..65 write 12*500 read 16*400\n\
             range A cost 900 live 54..65 write 13*500 read 16*400\nloop 20..40\n\
             crossing 20 none -> loop0 * 3\ncrossing 40 loop0 -> none * 3\n"
        )
    };
    for (kind, cost, bytes) in [("read", 103, 4.0 * (3.0 + 3.0)), ("update", 203, 4.0 * (3.0 + 3.0 + 3.0))] {
        let given = problem(&body(kind, cost));
        for engine in [&Greedy::default() as &dyn Allocator, &Briggs::default(), &Fatpoint::default()] {
            let found = allocate(engine, &given, &Splitting::at_once(Some(1))).expect("a sound problem");
            let parts = found.problem.expect("splitting pays");
            let costs = check_allocation(&parts, &found.allocation).expect("a sound allocation");
            assert_eq!((costs.spilled, costs.moved_bytes), (1, bytes), "{}: {parts}", engine.name());
        }
    }
}

/// A link writes its target, so no other live range may have the target's place at that point. All parts share one
/// slot, and no other live range may have the slot while any part is live.
#[test]
fn the_checker_knows_links() {
    let parts = split_everywhere(&problem(AROUND));
    let good = Greedy::default().allocate(&parts).expect("a sound problem");
    let spilled = |range: &LiveRange| matches!(good.placements[*range], Placement::Spilled(_));
    assert_eq!(parts.ranges().ids().filter(spilled).collect::<Vec<_>>(), [LiveRange(1)]);
    let refusal = |text: &str, changes: &[(u32, Placement)]| {
        let parts = problem(text);
        let mut allocation = Greedy::default().allocate(&parts).expect("a sound problem");
        for &(range, placement) in changes {
            allocation.placements[LiveRange(range)] = placement;
        }
        check_allocation(&parts, &allocation).expect_err("a wrong allocation").to_string()
    };
    let text = "file R budget 4\nclass A R\nrange A cost 1 live 2..8 write 0*1\n\
        range A cost 1 part lr0 live 8..13 read 3*1\n\
        range A cost 1 live 6..13 write 1*1 read 3*1\nrange A cost 1 live 8..10\nlink 8 lr1 = lr0 * 1\n";
    let [first, slot, other] =
        [Placement::Register(0), Placement::Spilled(SpillSlot(0)), Placement::Spilled(SpillSlot(1))];
    let at = |unit| Placement::Register(unit);
    assert_eq!(refusal(text, &[(0, at(1)), (1, first), (2, first), (3, at(3))]), "lr2: overwritten by lr1 at point 8");
    let reading = "file R budget 4\nclass A R\nrange A cost 1 live 2..8\nrange A cost 1 part lr0 live 8..13\n\
        range A cost 1 part lr0 live 16..20\nrange A cost 1 live 6..12\nlink 8 lr1 = lr0 * 1\n";
    assert_eq!(
        refusal(reading, &[(0, slot), (1, other)]),
        "lr0 and lr1: are parts of one register, but in different slots"
    );
    assert_eq!(refusal(reading, &[(2, slot), (3, slot)]), "lr2 and lr3: are in one slot at the same time");
}

/// Invalid parts, links and loops are refused, and the error names them.
#[test]
fn unsound_parts() {
    let refusal = |body: &str| {
        let text = format!("allocation 1\nproblem k\nfile R\nclass A R\nclass B R width 2\n{body}end\n");
        Problem::parse(&text).expect("a problem").validate().expect_err("not sound").to_string()
    };
    let part = "is no part of lr0, or does not follow the other parts";
    let two = "range A live 2..4\nrange A live 8..12\n";
    assert_eq!(refusal(&format!("{two}range A part lr0 live 12..16\n")), format!("lr2: {part}"));
    assert_eq!(refusal("range A live 2..4\nrange B part lr0 live 8..12\n"), format!("lr1: {part}"));
    assert_eq!(refusal("range A live 2..9\nrange A part lr0 live 8..12\n"), format!("lr1: {part}"));
    let nowhere = "are no parts of one register, or lr1 does not start there";
    assert_eq!(refusal(&format!("{two}link 8 lr1 = lr0 * 1\n")), format!("the link at point 8: lr0 and lr1 {nowhere}"));
    let linked = "range A live 2..4\nrange A part lr0 live 8..12\nlink 4 lr1 = lr0 * 1\n";
    assert_eq!(refusal(linked), format!("the link at point 4: lr0 and lr1 {nowhere}"));
    assert_eq!(refusal("loop in loop0 0..4\n"), "loops: loop0: its parent loop must come after it");
    assert_eq!(refusal("loop 4..4\n"), "loops: loop0: its points are not sorted and disjoint");
    assert_eq!(refusal("crossing 4 none -> loop1 * 1\n"), "loops: the crossing at point 4: there is no loop1");
}

/// A loop can be used for splits if every edge of its boundary has a place for code. The loop is left out if an
/// entering block has another successor, or an exit block another predecessor.
#[test]
fn loops_need_blocks_at_their_boundary() {
    let loops = |edges: [&str; 5]| {
        let blocks: String = (0..5)
            .map(|block| format!("bb{block}: frequency {}.0 depth 0{}\n  OP\n", block + 2, edges[block]))
            .collect();
        let function = Function::parse(&format!("mfv 1\nfunction \"k\"\nopcode OP\n{blocks}end\n"));
        let function = function.unwrap_or_else(|error| panic!("{error}"));
        let problem = Problem::by_name(&function, &Preset::HW).expect("no PHIs");
        let text = |line: &&str| line.starts_with("loop") || line.starts_with("crossing");
        problem.to_string().lines().filter(text).map(str::to_owned).collect::<Vec<_>>()
    };
    let both = ["loop 4..12", "crossing 4 none -> loop0 * 2", "crossing 12 loop0 -> none * 5"];
    assert_eq!(loops([" -> bb1", " -> bb2", " -> bb1 bb3", " -> bb4", ""]), both);
    assert!(loops([" -> bb1 bb4", " -> bb2", " -> bb1 bb3", " -> bb4", ""]).is_empty());
    assert!(loops([" -> bb1", " -> bb2 bb4", " -> bb1 bb3", " -> bb4", ""]).is_empty());
}

/// On every path, every read finds the value that was written last in its register, for any splits and spills.
#[test]
fn values_arrive() {
    let (linked, saved) = (Cell::new(0), Cell::new(0));
    let check = |u: &mut Unstructured<'_>| {
        let function = lowered_function(u, &Options::default())?;
        let preset = Preset { register_limit: Some(u.int_in_range(4..=16)?), ..Preset::HW };
        let given = Problem::by_name(&function, &preset).expect("no PHIs");
        if given.validate().is_err() || given.loops().is_empty() {
            return Ok(());
        }
        let mut chosen: IndexVec<LiveRange, Vec<Loop>> = IndexVec::filled(Vec::new(), given.ranges().len());
        for range in given.ranges().ids().filter(|&range| given.ranges()[range].fixed.is_none()) {
            for at in given.loops().ids() {
                if u.ratio(2, 3)? {
                    chosen[range].push(at);
                }
            }
        }
        let parts = split(&given, &Regions::new(&given), &chosen).problem;
        assert_eq!(parts.validate(), Ok(()), "{function}\n{given}\n{parts}");
        for engine in [&Greedy::default() as &dyn Allocator, &Briggs::default(), &Fatpoint::default()] {
            let allocation = match engine.allocate(&parts) {
                Err(ProblemError::LimitNotMet { .. }) => continue,
                found => settle::settle(&parts, found.expect("a sound problem")),
            };
            check_allocation(&parts, &allocation).unwrap_or_else(|error| panic!("{error}\n{function}\n{parts}"));
            saved.set(saved.get() + run(u, &function, &parts, &allocation, &clean(&parts, &allocation))?);
        }
        linked.set(linked.get() + parts.links().len());
        Ok(())
    };
    // The number of repetitions is fixed, so that it does not depend on the machine's speed.
    for _ in 0..40 {
        arbtest::arbtest(check).budget_ms(1_500);
        if linked.get() > 50 && saved.get() > 3 {
            return;
        }
    }
    panic!("{linked:?} links, {saved:?} stores saved");
}
