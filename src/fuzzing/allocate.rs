//! Tests the allocators with the checker, and the text form of problems by round trips.

use arbitrary::{Result, Unstructured};

use super::{Options, lowered_function, reached};
use crate::allocate::briggs::Briggs;
use crate::allocate::cleanup::{CleanupEdit, CleanupError, CodeCosts, check_cleanup, clean, code_costs};
use crate::allocate::fatpoint::{Fatpoint, Knobs};
use crate::allocate::greedy::Greedy;
use crate::allocate::split::Splitting;
use crate::allocate::{
    Access, AccessKind, Allocation, Allocator, Class, ClassData, CopyInst, Costs, Crossing, File, FileData, LiveRange,
    LoopData, Placement, Preset, Problem, ProblemBuilder, ProblemError, check_allocation, read_point, split,
};
use crate::analysis::{Loop, Point, Segment, ValueNumber};
use crate::function::Inst;
use crate::index::IndexVec;
use crate::lab::exact_allocation::Solver;

/// Runs an allocator on the problem of a generated function, or on a synthetic problem. The checker must prove the
/// result.
pub fn check_allocate(u: &mut Unstructured<'_>, allocator: &dyn Allocator) -> Result<()> {
    let problem = if u.arbitrary()? { of_function(u)? } else { problem(u, &Sizes::default())? };
    if problem.validate().is_err() {
        assert!(allocator.allocate(&problem).is_err(), "{problem}");
        return Ok(());
    }
    let name = allocator.name();
    let allocation = match allocator.allocate(&problem) {
        Err(ProblemError::LimitNotMet { file, register_limit, least }) => {
            reached("least limit", true);
            check_least_limit(&problem, allocator, &file, register_limit, least);
            return Ok(());
        }
        Err(error) => panic!("{name}: {error}\n{problem}"),
        Ok(allocation) => allocation,
    };
    let costs = check_allocation(&problem, &allocation).unwrap_or_else(|error| panic!("{name}: {error}\n{problem}"));
    reached("allocated", true);
    reached("spilled", costs.spilled > 0);
    let again = allocator.allocate(&problem).expect("it did before");
    assert_eq!(
        allocation.placements, again.placements,
        "{name}: the same problem is solved in the same way\n{problem}"
    );
    assert_eq!(allocation.pieces, again.pieces);

    let is_spilled = |placement: &&Placement| matches!(placement, Placement::Spilled(_));
    assert_eq!(costs.spilled as usize, allocation.placements.iter().filter(is_spilled).count());
    let fits = problem.files().iter_enumerated().all(|(file, data)| {
        data.register_limit.is_none_or(|register_limit| problem.peaks()[file] < register_limit / 8)
    });
    if fits {
        reached("room for all", !problem.ranges().is_empty());
        assert_eq!((costs.spilled, costs.over_limit), (0, 0), "{name}: there is room for all\n{problem}");
    }
    check_clean(&problem, &allocation, name);
    let splitting = Splitting {
        all_above: if u.arbitrary()? { Some(u.int_in_range(0..=20)?) } else { None },
        threshold: Some(u.int_in_range(1..=20)?),
        rounds: u.int_in_range(1..=4)?,
        iterations: *u.choose(&[1, 2, u32::MAX])?,
        least_gain: f32::from(u.int_in_range(0..=20_u8)?),
    };
    check_split(&problem, allocator, &costs, &splitting);
    Ok(())
}

/// Checks the clean-up of an allocation's code: no spilled value gets lost, no other value is spilled, and the cost
/// does not grow.
fn check_clean(problem: &Problem, allocation: &Allocation, name: &str) {
    let fail =
        |error: CleanupError, edits: &[CleanupEdit]| panic!("{name}: {error}\n{edits:?}\n{allocation:?}\n{problem}");
    check_cleanup(problem, allocation, &[]).unwrap_or_else(|error| fail(error, &[]));
    let edits = clean(problem, allocation);
    check_cleanup(problem, allocation, &edits).unwrap_or_else(|error| fail(error, &edits));
    let [before, after] = [&[][..], &edits].map(|edits| code_costs(problem, allocation, edits));
    let close = 1e-6 * (1.0 + before.moved_bytes);
    assert!((-close..=before.moved_bytes + close).contains(&after.moved_bytes), "{name}: {after:?}\n{problem}");
    // Clean-up may replace a reload by a copy. The copied words may then grow, but the sum must not.
    let words = |costs: CodeCosts| costs.copy_words + costs.moved_bytes / 4.0;
    assert!(words(after) <= words(before) + close, "{name}: {before:?} {after:?}\n{problem}");
}

/// Checks a report that a register limit cannot be met: the greedy engine exceeds the limit, too, and the allocator
/// meets the reported least limit, but not a limit below it.
fn check_least_limit(problem: &Problem, allocator: &dyn Allocator, file: &str, register_limit: u32, least: u32) {
    let name = allocator.name();
    assert!(least > register_limit, "{name}: {least} after {register_limit}\n{problem}");
    // With widths other than powers of two, or with other alignments, each engine may solve problems that another
    // cannot.
    let is_usual = |class: &ClassData| class.width.is_power_of_two() && class.align == class.width;
    if problem.classes().iter_enumerated().all(|(_, class)| is_usual(class)) {
        let greedy = Greedy::default().allocate(problem).expect("the problem is sound").costs(problem);
        assert!(greedy.over_limit > 0, "{name}: greedy meets {register_limit}\n{problem}");
    }
    for (number, is_met) in [(least - 1, false), (least, true)] {
        let text = problem.to_string();
        let raised: Vec<String> = text.lines().map(|line| with_limit(line, file, number)).collect();
        let raised = Problem::parse(&raised.join("\n")).expect("it was printed");
        let error = allocator.allocate(&raised).err();
        let fails = matches!(&error, Some(ProblemError::LimitNotMet { file: of, .. }) if **of == *file);
        assert!(fails != is_met, "{name}: {file} with {number}: {error:?}\n{problem}");
    }
}

/// Replaces the register limit of a file, in a line of a problem.
fn with_limit(line: &str, file: &str, registers: u32) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["file", name, "budget", _] if name == file => format!("file {name} budget {registers}"),
        ["file", name, "budget", _, "halves"] if name == file => format!("file {name} budget {} halves", 2 * registers),
        _ => line.to_owned(),
    }
}

/// Checks the fat-point allocator, with any of its options.
pub fn check_fatpoint(u: &mut Unstructured<'_>) -> Result<()> {
    let knobs = Knobs {
        coalescing: u.arbitrary()?,
        max_fanout: u.int_in_range(1..=4)?,
        max_depth: u.int_in_range(1..=4)?,
        max_width: u.int_in_range(1..=8)?,
        merge_by_weight: u.arbitrary()?,
        merge_rounds: u.int_in_range(1..=3)?,
        num_non_spill_trials: u.int_in_range(1..=5)?,
        spill_trials: if u.arbitrary()? { Some(u.int_in_range(1..=5)?) } else { None },
        retry_step: u.int_in_range(1..=3)?,
        guidance_queues: u.arbitrary()?,
    };
    check_allocate(u, &Fatpoint { knobs })
}

/// Splits an allocator's spilled ranges. The checker must prove the new allocation, and the new allocation must cost
/// less.
fn check_split(problem: &Problem, allocator: &dyn Allocator, whole: &Costs, splitting: &Splitting) {
    let name = allocator.name();
    let found = split::allocate(allocator, problem, splitting).expect("it was allocated before");
    let Some(parts) = &found.problem else { return };
    reached("split", true);
    assert_eq!(parts.validate(), Ok(()), "{name}\n{problem}\n{parts}");
    let costs = check_allocation(parts, &found.allocation);
    let costs = costs.unwrap_or_else(|error| panic!("{name}: {error}\n{problem}\n{parts}"));
    let (before, now) = ((whole.over_limit, whole.moved_bytes), (costs.over_limit, costs.moved_bytes));
    assert!(now < before, "{name}: {now:?} is not less than {before:?}\n{problem}\n{parts}");
    check_clean(parts, &found.allocation, name);
    let text = parts.to_string();
    assert_eq!(Problem::parse(&text).map(|read| read.to_string()), Ok(text));
}

/// Prints a problem and parses it again.
pub fn check_problem_text(u: &mut Unstructured<'_>) -> Result<()> {
    let problem = if u.arbitrary()? { of_function(u)? } else { problem(u, &Sizes::default())? };
    let text = problem.to_string();
    let read = Problem::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read.to_string(), text);
    Ok(())
}

/// Draws the problem of a generated function, with a small register limit or none.
fn of_function(u: &mut Unstructured<'_>) -> Result<Problem> {
    let options = Options { undefined_paths: u.arbitrary()?, ..Options::default() };
    let function = lowered_function(u, &options)?;
    let register_limit = if u.arbitrary()? { Some(u.int_in_range(4..=40)?) } else { None };
    let preset = Preset {
        register_limit,
        predicates: if u.arbitrary()? { Some(u.int_in_range(1..=7)?) } else { None },
        packs_halves: u.arbitrary()?,
        reserved: if u.arbitrary()? { Some(0..u.int_in_range(1..=2)?) } else { None },
        caller_saved: if u.arbitrary()? { Some(0..u.int_in_range(1..=8)?) } else { None },
        ..(*u.choose(&Preset::ALL)?).clone()
    };
    Ok(Problem::by_name(&function, &preset).unwrap_or_else(|error| panic!("{error}\n{function}")))
}

/// Solves a small problem with the exact solver, and compares the result with the results of the other engines.
pub fn check_exact(u: &mut Unstructured<'_>) -> Result<()> {
    let sizes = Sizes { ranges: u.int_in_range(1..=14)?, register_limit: u.int_in_range(2..=10)?, ..Sizes::default() };
    let problem = if u.ratio(1, 8)? { of_function(u)? } else { problem(u, &sizes)? };
    let solver = Solver { steps: u.int_in_range(0..=400)? };
    if problem.validate().is_err() {
        assert!(solver.solve(&problem).is_err(), "{problem}");
        return Ok(());
    }
    let exact = solver.solve(&problem).unwrap_or_else(|error| panic!("{error}\n{problem}"));
    let costs = check_allocation(&problem, &exact.allocation).unwrap_or_else(|error| panic!("{error}\n{problem}"));
    assert_eq!(costs, exact.costs, "{problem}");
    let (close, least) = (1e-6 * (1.0 + costs.moved_bytes), &exact.least);
    let is_met = (least.over_limit, least.moved_bytes - close) <= (costs.over_limit, costs.moved_bytes);
    assert!(is_met, "{least:?} {costs:?}\n{problem}");
    reached("optimal", exact.is_optimal);
    reached("not solved", !exact.is_optimal);
    reached("spilled", costs.spilled > 0);
    if exact.is_optimal {
        assert_eq!(least.over_limit, costs.over_limit, "{problem}");
        assert!((least.moved_bytes - costs.moved_bytes).abs() <= close, "{least:?} {costs:?}\n{problem}");
    }
    for other in [&Greedy::default() as &dyn Allocator, &Briggs::default(), &Fatpoint::default()] {
        let name = other.name();
        let theirs = match other.allocate(&problem) {
            // `check_least_limit` verifies this report.
            Err(ProblemError::LimitNotMet { .. }) => continue,
            found => found.unwrap_or_else(|error| panic!("{name}: {error}\n{problem}")).costs(&problem),
        };
        // If the solver does not finish, it returns the better result of greedy and Briggs. The result of fat-point may
        // be better still.
        if !exact.is_optimal && name == "fatpoint" {
            let (over, mine) = (least.over_limit, least.moved_bytes - close);
            assert!((over, mine) <= (theirs.over_limit, theirs.moved_bytes), "{least:?} {theirs:?}\n{problem}");
            assert!(least.units.iter().zip(&theirs.units).all(|(least, theirs)| least <= theirs), "{problem}");
            continue;
        }
        assert!(costs.over_limit <= theirs.over_limit, "{name}: {theirs:?} {costs:?}\n{problem}");
        let (over, mine) = (costs.over_limit, costs.moved_bytes - close);
        assert!((over, mine) <= (theirs.over_limit, theirs.moved_bytes), "{name}: {theirs:?} {costs:?}\n{problem}");
        for (file, data) in problem.files().iter_enumerated().filter(|(_, data)| data.register_limit.is_none()) {
            let (file, name) = (file.0 as usize, &data.name);
            assert!(least.units[file] <= costs.units[file], "{least:?}\n{problem}");
            assert!(costs.units[file] <= theirs.units[file], "{name}: {theirs:?} {costs:?}\n{problem}");
        }
    }
    Ok(())
}

/// The largest sizes of a synthetic problem.
pub(crate) struct Sizes {
    /// Live ranges.
    pub(crate) ranges: u32,
    /// Highest number of an instruction that defines a register.
    pub(crate) insts: u32,
    /// The register limit, in units.
    pub(crate) register_limit: u32,
    /// The width of a class, in units.
    pub(crate) width: u32,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { ranges: 24, insts: 20, register_limit: 24, width: 8 }
    }
}

/// Draws a synthetic problem, which need not come from a function. It has any shapes of classes, fixed places, live
/// ranges with holes, copies between live ranges, and nested loops. It has one block, or its control flow is unknown.
pub(crate) fn problem(u: &mut Unstructured<'_>, sizes: &Sizes) -> Result<Problem> {
    let mut builder = ProblemBuilder::new("generated");
    for name in ["R", "P"] {
        let register_limit = if u.arbitrary()? { Some(u.int_in_range(1..=sizes.register_limit)?) } else { None };
        builder.file(FileData { name: name.into(), register_limit, units_per_register: 1 });
    }
    let mut classes = Vec::new();
    for number in 0..u.int_in_range(1..=4u32)? {
        let file = File(u.int_in_range(0..=1)?);
        let (width, align) = (u.int_in_range(1..=sizes.width)?, u.int_in_range(1..=sizes.width.min(4))?);
        let name = format!("C{number}").into();
        let class = builder.class(ClassData { name, file, width, align, bytes: 4 * width, promotes_to: None });
        classes.push((class, file));
    }
    for (&(narrow, _), &(wide, _)) in classes.iter().zip(&classes[1..]) {
        builder.promote(narrow, wide);
    }
    let num_insts = u.int_in_range(1..=sizes.insts)?;
    add_ranges(u, &mut builder, &classes, num_insts, sizes.ranges)?;
    add_loops(u, &mut builder, num_insts)?;
    if u.arbitrary()? {
        builder.block(Inst(0)..Inst(num_insts + 5), Vec::new());
        for inst in (0..num_insts).map(Inst) {
            if u.arbitrary()? {
                builder.pure(inst);
            }
        }
    }
    Ok(builder.finish())
}

/// Adds live ranges with holes. Some are fixed, some must not be spilled, and a copy connects ranges that end and start
/// at the same point.
fn add_ranges(
    u: &mut Unstructured<'_>,
    builder: &mut ProblemBuilder,
    classes: &[(Class, File)],
    num_insts: u32,
    most: u32,
) -> Result<()> {
    // All uses in one instruction have the instruction's frequency.
    let mut frequencies: IndexVec<Inst, f32> = IndexVec::new();
    for _ in 0..num_insts + 5 {
        frequencies.push(f32::from(u.int_in_range(1..=100_u8)?));
    }
    let mut used: Vec<(Inst, LiveRange, File, bool)> = Vec::new();
    for number in 0..u.int_in_range(0..=most)? {
        let (range, (class, file)) = (LiveRange(number), *u.choose(classes)?);
        let (mut segments, mut accesses) = (Vec::new(), Vec::<Access>::new());
        let mut from = 0;
        while from < num_insts && u.ratio(2, 3)? {
            let (write, read) = (u.int_in_range(from..=num_insts)?, u.int_in_range(1..=4)?);
            let (first, last) = (Inst(write), Inst(write + read));
            let value = ValueNumber(segments.len() as u32);
            segments.push(Segment { start: Point(4 * first.0 + 2), end: Point(4 * last.0 + 1), value });
            accesses.push(Access { inst: first, kind: AccessKind::Write, frequency: frequencies[first] });
            accesses.push(Access { inst: last, kind: AccessKind::Read, frequency: frequencies[last] });
            used.extend([(first, range, file, true), (last, range, file, false)]);
            from = write + read;
        }
        let range = builder.range(class, segments, accesses);
        if u.ratio(7, 8)? {
            builder.spill_cost(range, f32::from(u.arbitrary::<u8>()?));
        }
        if u.ratio(1, 16)? {
            builder.fix(range, u.int_in_range(0..=12)?);
        }
    }
    for &(inst, to, file, _) in used.iter().filter(|(.., writes)| *writes) {
        let is_source = |&&(at, from, of, writes): &&(Inst, LiveRange, File, bool)| {
            at == inst && of == file && from != to && !writes
        };
        if let Some(&(_, from, ..)) = used.iter().find(is_source) {
            builder.copy(CopyInst { inst, to, from, frequency: frequencies[inst] });
        }
    }
    Ok(())
}

/// Adds a loop or two nested loops, with control flow in the order of instructions.
fn add_loops(u: &mut Unstructured<'_>, builder: &mut ProblemBuilder, num_insts: u32) -> Result<()> {
    let last = num_insts + 5;
    let first = u.int_in_range(0..=last - 5)?;
    let end = u.int_in_range(first + 4..=last - 1)?;
    let inner_first = u.int_in_range(first + 1..=end - 3)?;
    let inner_end = u.int_in_range(inner_first + 1..=end - 1)?;
    let spans = match u.int_in_range(0..=2_u8)? {
        0 => Vec::new(),
        1 => vec![(first, end)],
        _ => vec![(inner_first, inner_end), (first, end)],
    };
    for (number, &(first, end)) in spans.iter().enumerate() {
        let (this, outer) = (Loop(number as u32), Loop(number as u32 + 1));
        let parent = (number + 1 < spans.len()).then_some(outer);
        let [start, stop] = [first, end].map(|inst| read_point(Inst(inst)));
        builder.loop_(LoopData { parent, spans: vec![start..stop] });
        let frequency = f32::from(u.int_in_range(1..=40_u8)?);
        builder.crossing(Crossing { start, from: parent, to: Some(this), frequency });
        builder.crossing(Crossing { start: stop, from: Some(this), to: parent, frequency });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    /// Some random problems are invalid.
    const ALLOCATED: [(&str, u64); 4] = [("allocated", 50), ("spilled", 5), ("room for all", 10), ("split", 0)];

    #[test]
    fn briggs_is_proved() {
        explore(|u| check_allocate(u, &Briggs::default()), 1_500, &ALLOCATED);
    }

    #[test]
    fn greedy_is_proved() {
        explore(|u| check_allocate(u, &Greedy::default()), 1_500, &ALLOCATED);
    }

    #[test]
    fn fatpoint_is_proved() {
        explore(check_fatpoint, 1_500, &[("allocated", 30), ("spilled", 1), ("room for all", 10), ("least limit", 4)]);
    }

    #[test]
    fn exact_is_no_worse() {
        explore(check_exact, 1_500, &[("optimal", 30), ("not solved", 1), ("spilled", 1)]);
    }

    #[test]
    fn problems_read_as_they_print() {
        arbtest::arbtest(check_problem_text).budget_ms(500);
    }
}
