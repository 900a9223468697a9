//! Tests of each phase, on problems with a known solution and on generated problems.

use arbitrary::Unstructured;

use super::context::Context;
use super::guidance::guide;
use super::interference::Interference;
use super::lists::{Lists, Order};
use super::nodes::Nodes;
use super::trial::Trial;
use super::*;
use crate::allocate::availability::Timeline;
use crate::allocate::problem::LiveRange;
use crate::allocate::{Placement, check_allocation};
use crate::analysis::overlap;
use crate::fuzzing::{Sizes, explore, problem as generated, reached};

fn problem(body: &str) -> Problem {
    let text = format!("allocation 1\nproblem k\n{body}end\n");
    let problem = Problem::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    problem.validate().unwrap_or_else(|error| panic!("{error}\n{text}"));
    problem
}

fn context<'a>(problem: &'a Problem, knobs: &'a Knobs) -> Context<'a> {
    Context::new(problem, File(0), knobs, true)
}

/// Generates a problem whose live ranges are all in one file.
fn of_one_file(u: &mut Unstructured<'_>) -> arbitrary::Result<Option<Problem>> {
    let given = generated(u, &Sizes::default())?;
    let register_limit = given.files()[File(0)].register_limit;
    Ok(given.validate().is_ok().then(|| OneFile::new(&given, File(0), register_limit).problem))
}

const STACKED: &str = "file R budget 9\nclass A R\nclass B R width 2 align 2\nclass T R width 8 align 8\n\
    range A cost 1 live 2..5 write 0*1 read 1*1\nrange B cost 1 live 6..9 write 1*1 read 2*1\n\
    range T cost 1 live 10..13 write 2*1 read 3*1\nrange A live 14..17 write 3*1 read 4*1\n\
    range A fixed 3 live 18..21\nrange A cost 1 live 18..21 write 4*1 read 5*1\n";

/// Nodes without constraints are coloured last. Before them come pairs, vectors, and nodes that must have a register or
/// avoid a fixed place. Nodes that are not sure of a place come first, those with the highest cost for their
/// interference before the others.
#[test]
fn drain_order() {
    let (problem, knobs) = (problem(STACKED), Knobs::PTXAS);
    let context = context(&problem, &knobs);
    let stack = |interference: &[u64], order| {
        Lists::classify(&context.nodes, &context.constraints, interference, 9, order)
            .drain(&context.nodes, interference)
            .into_iter()
            .map(|range| range.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(stack(&context.interference, Order::First), [0, 1, 2, 5, 3]);
    let unsure = [30, 20, 10, 0, 0, 20];
    assert_eq!(stack(&unsure, Order::First), [3, 0, 5, 1, 2]);
    assert_eq!(stack(&unsure, Order::Retry), [3, 5, 0, 1, 2]);
}

/// The interference of a node is never less than the number of places that its live neighbours can take away.
#[test]
fn interference_counts_all() {
    let check = |u: &mut Unstructured<'_>| {
        let Some(problem) = of_one_file(u)? else { return Ok(()) };
        let timeline = Timeline::new(&problem);
        let (nodes, counts) = (Nodes::apart(&problem), Interference::new(&problem, &timeline));
        for range in problem.ranges().ids().filter(|&range| !problem.segments(range).is_empty()) {
            let meets = |&other: &LiveRange| {
                other != range && overlap(problem.segments(range), problem.segments(other), |_, _| true)
            };
            let taken = |other: LiveRange| {
                problem.classes().taken(problem.ranges()[range].class, problem.ranges()[other].class)
            };
            let least: u32 = problem.ranges().ids().filter(meets).map(taken).sum();
            reached("interference", least > 0);
            assert!(counts.of(&nodes, range) >= u64::from(least), "{range}\n{problem}");
        }
        Ok(())
    };
    explore(check, 500, &[("interference", 10)]);
}

/// The two sides of a copy are merged, unless a limit, a fixed place, a clobber in between or a common moment forbids
/// it.
#[test]
fn coalescing_filter() {
    let copied = |from: &str, to: &str, more: &str| {
        let (knobs, text) = (Knobs::PTXAS, "file R budget 8\nclass A R\nclass C R width 2\n");
        let problem = problem(&format!(
            "{text}range A {from} write 0*1 read 1*1\nrange A {to} write 1*1 read 3*1\n{more}copy 1 lr1 = lr0 * 1\n"
        ));
        Context::new(&problem, File(0), &knobs, true).merges.merged
    };
    let (from, to) = ("cost 1 live 2..5", "cost 1 live 6..13");
    assert_eq!(copied(from, to, ""), 1);
    assert_eq!(copied("cost 1 live 2..9", to, ""), 0);
    assert_eq!(copied("cost 1 fixed 3 live 2..5", to, ""), 0);
    assert_eq!(copied("live 2..5", to, ""), 0);
    assert_eq!(copied(from, to, "range C fixed 0 live 9..10\n"), 0);
    let chain = problem(
        "file R budget 8\nclass A R\nrange A cost 1 live 2..5 write 0*1 read 1*1\n\
         range A cost 1 live 6..9 write 1*1 read 2*1\nrange A cost 1 live 10..13 write 2*1 read 3*1\n\
         copy 1 lr1 = lr0 * 1\ncopy 2 lr2 = lr1 * 1\n",
    );
    let merged = |knobs: Knobs| Context::new(&chain, File(0), &knobs, true).merges.merged;
    assert_eq!(merged(Knobs::PTXAS), 2);
    assert_eq!(merged(Knobs { max_depth: 2, ..Knobs::PTXAS }), 1);
    assert_eq!(merged(Knobs { max_fanout: 1, ..Knobs::PTXAS }), 1);
    assert_eq!(merged(Knobs { max_width: 0, ..Knobs::PTXAS }), 0);
    assert_eq!(merged(Knobs { coalescing: false, ..Knobs::PTXAS }), 0);
}

/// A pair finds no two adjacent registers until a single register is moved.
#[test]
fn making_room() {
    // By their copies, lr0 prefers place 0 and lr1 prefers place 2.
    let problem = problem(
        "file R budget 4\nclass A R\nclass B R width 2 align 2\n\
         range A cost 9 live 2..33 write 0*1 read 8*1\nrange A cost 9 live 2..33 write 0*1 read 8*1\n\
         range A cost 1 live 2..21 write 0*1 read 5*1\nrange B cost 1 live 22..33 write 5*1 read 8*1\n\
         range A fixed 2 live 34..37 write 8*1 read 9*1\nrange A fixed 0 live 34..37 write 8*1 read 9*1\n\
         copy 8 lr4 = lr1 * 1\ncopy 8 lr5 = lr0 * 1\n",
    );
    let knobs = Knobs::PTXAS;
    let outcome = Trial::run(&context(&problem, &knobs), Order::First);
    assert_eq!((outcome.spilled, outcome.moved), (vec![], 1));
}

/// If no node can be moved, one more register is used: the lowest free one, not the last one of the register limit.
#[test]
fn no_more_than_needed() {
    let text = "file R budget 255\nclass A R\nclass B R width 2 align 2\n\
        range A cost 9 fixed 0 live 2..5 10..13\nrange A cost 9 fixed 1 live 6..9 14..17\n\
        range B cost 1 live 18..21 write 4*1 read 5*1\nrange A cost 1 live 2..9 write 0*1 read 2*1\n\
        range A cost 1 live 10..17 write 2*1 read 4*1\n";
    let problem = problem(text);
    let allocation = Fatpoint::default().allocate(&problem).expect("a sound problem");
    assert_eq!(allocation.costs(&problem).units, [3]);
}

/// Guidance spills the node with the least cost for its relief. It spills no node if no moment has more live units than
/// the target.
#[test]
fn guidance_by_cost() {
    let problem = problem(
        "file R budget 2\nclass A R\nrange A cost 4 live 2..41 write 0*1 read 10*1\n\
         range A cost 3 live 6..37 write 1*1 read 9*1\nrange A cost 9 live 10..33 write 2*1 read 8*1\n",
    );
    let knobs = Knobs::HW;
    let context = context(&problem, &knobs);
    assert_eq!(guide(&context, 2), [LiveRange(1)]);
    assert!(guide(&context, 3).is_empty());
}

/// The queue spills the cheapest of all values that wait for a read, even if it relieves only one point. Without the
/// queue, guidance spills one live range that relieves two fat points at once.
#[test]
fn guidance_from_the_queue() {
    let problem = problem(
        "file R budget 2\nclass A R\nrange A cost 4 live 2..121 write 0*1 read 30*1\n\
         range A cost 3 live 6..37 write 1*1 read 9*1\nrange A cost 9 live 10..33 write 2*1 read 8*1\n\
         range A cost 3 live 46..77 write 11*1 read 19*1\nrange A cost 9 live 50..73 write 12*1 read 18*1\n",
    );
    let spilled = |knobs: &Knobs| guide(&context(&problem, knobs), 2).iter().map(|node| node.0).collect::<Vec<_>>();
    assert_eq!(spilled(&Knobs::HW), [0]);
    assert_eq!(spilled(&Knobs { guidance_queues: true, ..Knobs::HW }), [1, 3]);
}

/// The number of attempts with spilling can be set. By default, it is the number of trials without spilling.
#[test]
fn retries() {
    let check = |u: &mut Unstructured<'_>| {
        let Some(problem) = of_one_file(u)? else { return Ok(()) };
        let rounds = |spill_trials| {
            let mut statistics = AllocationStatistics::default();
            allocate_file(&problem, File(0), &Knobs { spill_trials, ..Knobs::HW }, &mut statistics);
            statistics.rounds
        };
        assert_eq!(rounds(None), rounds(Some(2)), "{problem}");
        reached("retried", rounds(Some(1)) < rounds(Some(3)));
        assert!(rounds(Some(1)) <= rounds(Some(3)), "{problem}");
        Ok(())
    };
    explore(check, 500, &[("retried", 0)]);
}

/// After guidance, each moment meets one of two conditions: at most the target's units are live, or no node that is
/// live there can be spilled without an access there.
#[test]
fn guidance_reaches_its_target() {
    let check = |u: &mut Unstructured<'_>| {
        let Some(problem) = of_one_file(u)? else { return Ok(()) };
        let target = u.int_in_range(1..=12)?;
        let knobs = Knobs { coalescing: false, guidance_queues: u.arbitrary()?, ..Knobs::PTXAS };
        let context = context(&problem, &knobs);
        let spilled = guide(&context, target);
        reached("spilled", !spilled.is_empty());
        let (register_limit, is_spilled) =
            (context.register_limit.unwrap_or(u32::MAX), |range| spilled.contains(&range));
        for point in (0..4 * problem.num_insts() as u32).step_by(2) {
            let at = |start: u32, end: u32| (start..end).contains(&point);
            let (mut live, mut idle) = (0, 0);
            for (range, data) in problem.ranges().iter_enumerated() {
                let is_live = problem.segments(range).iter().any(|segment| at(segment.start.0, segment.end.0));
                let mut pieces = problem.accesses(range).iter().map(|access| access.segment());
                let is_used = pieces.any(|piece| at(piece.start.0, piece.end.0));
                let width = problem.class(range).width;
                let fixed =
                    data.fixed.map(|unit| (unit + width).min(register_limit).saturating_sub(unit.min(register_limit)));
                if if is_spilled(range) { is_used } else { is_live } {
                    live += fixed.unwrap_or(width);
                    idle += u32::from(context.nodes.is_spillable(range) && !is_used && !is_spilled(range));
                }
            }
            assert!(live <= target || idle == 0, "{live} at {point}, {idle} idle\n{problem}{spilled:?}");
        }
        Ok(())
    };
    explore(check, 500, &[("spilled", 5)]);
}

/// An allocation of a file does not depend on the other files.
#[test]
fn files_by_themselves() {
    let problem = problem(
        "file R budget 2\nfile P budget 1\nclass A R\nclass B1 P\nrange A cost 3 live 2..21 write 0*1 read 5*1\n\
         range B1 cost 2 live 6..25 write 1*1 read 6*1\nrange A cost 1 live 10..29 write 2*1 read 7*1\n\
         range B1 cost 7 live 14..21 write 3*1 read 5*1\nrange A cost 2 live 18..37 write 4*1 read 9*1\n",
    );
    let allocation = Fatpoint::default().allocate(&problem).expect("a sound problem");
    let costs = check_allocation(&problem, &allocation).expect("a proved allocation");
    assert_eq!((costs.spilled, costs.units), (2, vec![2, 1]));
    let is_spilled = |range: u32| matches!(allocation.placements[LiveRange(range)], Placement::Spilled(_));
    assert_eq!([1, 2].map(is_spilled), [true, true]);
}

/// With the rule of weights, the sides of a copy stay apart if the target weighs more than the source. They are merged
/// after other copies have made the source heavier. Merged and rejected copies are counted.
#[test]
fn merged_by_weight() {
    // lr0 is copied to lr1, which weighs more. lr2 is copied to lr0 less often, and is heavy.
    let problem = problem(
        "file R\nclass A R\nrange A cost 1 live 6..13 write 1*1 read 3*9\nrange A cost 5 live 14..25 write 3*9 read 6*1\n\
         range A cost 9 live 2..5 write 0*1 read 1*1\ncopy 1 lr0 = lr2 * 1\ncopy 3 lr1 = lr0 * 9\n",
    );
    let merges = |merge_by_weight, merge_rounds| {
        let knobs = Knobs { merge_by_weight, merge_rounds, ..Knobs::PTXAS };
        let merges = Context::new(&problem, File(0), &knobs, true).merges;
        (merges.merged, merges.rejected, merges.cost)
    };
    assert_eq!(merges(false, 1), (2, 0, 15.0));
    assert_eq!(merges(true, 1), (1, 1, 10.0));
    assert_eq!(merges(true, 2), (2, 0, 15.0));
}
