//! Exact: for small problems, the allocation that moves the fewest bytes, with its proof.
//!
//! It is a yardstick for the other engines and runs in no compilation. Each file has a branch-and-bound search of its
//! own, because files do not overlap. [`point_cover`] computes which spills any placement needs at each point.
//! [`bound`] gives a lower bound of their cost. [`search`] decides which live ranges are spilled. [`colouring`] then
//! finds places for the other live ranges, and for the pieces of spilled live ranges, by [`backtrack`]ing. If it finds
//! a conflict instead, the conflict becomes an additional demand. A file without a register limit is coloured with
//! fewer and fewer units.
//!
//! Costs are compared as the checker counts them: first the places beyond the register limit ([`Costs::over_limit`]),
//! then the bytes moved ([`Costs::moved_bytes`]). Without a register limit, the units are compared.

mod backtrack;
mod bound;
mod colouring;
mod items;
mod palette;
mod point_cover;
mod search;
#[cfg(test)]
mod tests;

use std::time::Instant;

use crate::allocate::briggs::Briggs;
use crate::allocate::greedy::Greedy;
use crate::allocate::{Allocation, Allocator, Costs, File, Placement, Problem, ProblemError, SpillSlot};
use crate::index::EntityIndex;
use colouring::Coloring;
use items::{Item, Items};
use palette::Palette;
use point_cover::Cover;
use search::Search;

/// The exact allocator.
#[derive(Clone, Debug)]
pub struct Solver {
    /// Most steps for a file. Branchings and placements are steps. A step costs O(live at all points), and finding the
    /// demands is quadratic in the points. So thousands of live ranges take minutes.
    pub steps: usize,
}

impl Default for Solver {
    fn default() -> Self {
        Self { steps: 20_000 }
    }
}

/// Lower bounds of the costs of every allocation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeastCosts {
    /// Places beyond the register limit: of live ranges in registers, and of single accesses to spilled live ranges.
    pub over_limit: u64,
    /// Bytes that one run moves if at most `over_limit` places exceed the register limit.
    pub moved_bytes: f64,
    /// Units of each file without a register limit; 0 for files with one.
    pub units: Vec<u32>,
}

/// The best allocation found.
#[derive(Clone, Debug)]
pub struct Exact {
    /// The allocation, which is no worse than those of the other engines.
    pub allocation: Allocation,
    /// Costs of the allocation.
    pub costs: Costs,
    /// Whether it is proved that no other allocation costs less.
    pub is_optimal: bool,
    /// Lower bounds; if the allocation is optimal, these are its costs.
    pub least: LeastCosts,
}

impl Allocator for Solver {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn allocate(&self, problem: &Problem) -> Result<Allocation, ProblemError> {
        self.solve(problem).map(|exact| exact.allocation)
    }
}

impl Solver {
    /// Solves a problem. An error means that no allocator can solve it.
    ///
    /// If the problem has parts of split registers, no bound is known, because the cost of a part depends on the other
    /// parts. The result is then the better of the two allocations of other engines.
    pub fn solve(&self, problem: &Problem) -> Result<Exact, ProblemError> {
        problem.validate()?;
        let start = Instant::now();
        let known = [Greedy::default().allocate(problem)?, Briggs::default().allocate(problem)?];
        if !problem.links().is_empty() {
            return Ok(best_of(problem, known));
        }
        let mut allocation = Allocation::blank(problem);
        allocation.statistics.rounds = 1;
        allocation.statistics.lap("others", start.elapsed());
        let start = Instant::now();
        let (mut is_optimal, mut least) = (true, LeastCosts::default());
        for (file, data) in problem.files().iter_enumerated() {
            let best = known.iter().map(|known| (cost(problem, file, known), known));
            let (best, known) = best.min_by(|(a, _), (b, _)| a.order(b)).expect("there are two");
            take_over(problem, file, known, &mut allocation);
            let items = Items::new(problem, file);
            let found = match data.register_limit {
                Some(register_limit) => within(problem, &items, register_limit, &best, self.steps),
                None => fewest(problem, file, &items, &best, self.steps),
            };
            if let Some(places) = &found.places {
                put(places, &items, &mut allocation);
            }
            is_optimal &= found.is_proved;
            least.over_limit += found.least.over_limit;
            least.moved_bytes += found.least.moved_bytes;
            least.units.push(if data.register_limit.is_none() { found.least.units } else { 0 });
        }
        allocation.number_slots(problem);
        allocation.statistics.lap("search", start.elapsed());
        let costs = allocation.costs(problem);
        Ok(Exact { allocation, costs, is_optimal, least })
    }
}

/// Returns the better allocation, without a proof.
fn best_of(problem: &Problem, known: [Allocation; 2]) -> Exact {
    let known = known.map(|allocation| (allocation.costs(problem), allocation));
    let [(of_one, one), (of_other, other)] = known;
    let is_better = (of_other.over_limit, of_other.moved_bytes) < (of_one.over_limit, of_one.moved_bytes);
    let (costs, allocation) = if is_better { (of_other, other) } else { (of_one, one) };
    let least = LeastCosts { units: vec![0; problem.files().len()], ..LeastCosts::default() };
    Exact { allocation, costs, is_optimal: false, least }
}

/// Costs of one file.
#[derive(Clone, Debug, Default)]
struct FileCost {
    over_limit: u64,
    moved_bytes: f64,
    units: u32,
}

impl FileCost {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let over = self.over_limit.cmp(&other.over_limit);
        over.then(self.moved_bytes.total_cmp(&other.moved_bytes)).then(self.units.cmp(&other.units))
    }
}

/// Solution of one file.
struct FileSolution {
    /// The places, if they are better than the known allocation.
    places: Option<Vec<(Item, u32)>>,
    is_proved: bool,
    least: FileCost,
}

/// Computes the cost of an allocation in one file, as the checker counts it.
fn cost(problem: &Problem, file: File, allocation: &Allocation) -> FileCost {
    let costs = allocation.costs_of(problem, |range| problem.file(range) == file);
    let Costs { units, moved_bytes, over_limit, .. } = costs;
    FileCost { over_limit, moved_bytes, units: units[file.index()] }
}

/// Copies one file's part of an allocation.
fn take_over(problem: &Problem, file: File, from: &Allocation, to: &mut Allocation) {
    for range in problem.ranges().ids().filter(|&range| problem.file(range) == file) {
        to.placements[range] = from.placements[range];
        let accesses = problem.first_access(range)..problem.first_access(range) + problem.accesses(range).len();
        to.pieces[accesses.clone()].clone_from_slice(&from.pieces[accesses]);
    }
}

/// Enters the places of items; live ranges without a place are spilled.
fn put(places: &[(Item, u32)], items: &Items, allocation: &mut Allocation) {
    for whole in items.wholes() {
        allocation.placements[items.items[whole].range] = Placement::Spilled(SpillSlot(0));
        let pieces = items.items[whole].pieces().filter_map(|piece| items.items[piece].access);
        pieces.for_each(|access| allocation.pieces[access] = None);
    }
    for &(item, unit) in places {
        match items.items[item].access {
            None => allocation.placements[items.items[item].range] = Placement::Register(unit),
            Some(access) => allocation.pieces[access] = Some(unit),
        }
    }
}

/// Finds the fewest bytes moved within a register limit. The search starts with the fewest items beyond the limit, and
/// then allows one more item each time.
fn within(problem: &Problem, items: &Items, register_limit: u32, known: &FileCost, mut steps: usize) -> FileSolution {
    let cover = Cover::new(items, register_limit);
    let mut least: Option<FileCost> = None;
    for allowed in cover.least_excess()..=known.over_limit as usize {
        let is_last = allowed as u64 == known.over_limit;
        let best = if is_last { known.moved_bytes } else { f64::INFINITY };
        let mut search = Search::new(items, problem.classes(), (register_limit, allowed), cover.demands(allowed), best);
        search.run(&mut steps);
        if search.open < search.best {
            let units = 0;
            least.get_or_insert(FileCost { over_limit: allowed as u64, moved_bytes: search.open, units });
        }
        if search.places.is_some() || is_last {
            let is_proved = least.is_none();
            let proved = FileCost { over_limit: allowed as u64, moved_bytes: search.best, units: 0 };
            return FileSolution { places: search.places, is_proved, least: least.unwrap_or(proved) };
        }
    }
    // This point is reached only if a bound claims more places beyond the register limit than an existing allocation
    // has.
    debug_assert!(false, "a bound is wrong");
    FileSolution { places: None, is_proved: false, least: FileCost::default() }
}

/// Finds the fewest units. The search tries one unit fewer as long as it finds a solution. For the proof, it then
/// counts up from the most units that are live at once.
fn fewest(problem: &Problem, file: File, items: &Items, known: &FileCost, steps: usize) -> FileSolution {
    debug_assert!(problem.files()[file].register_limit.is_none());
    let mut present: Vec<Item> = items.wholes().collect();
    present.sort_unstable();
    let fixed = present.iter().filter_map(|&item| Some(items.items[item].fixed? + items.items[item].width)).max();
    let lowest = Cover::new(items, u32::MAX).peak().max(fixed.unwrap_or(0)).min(known.units);
    let color = |register_limit: u32, steps: &mut usize| {
        Palette { items, classes: problem.classes(), register_limit, allowed: 0 }.color(&present, steps)
    };
    let found = |units: u32, places, is_proved| {
        let least = FileCost { units, ..FileCost::default() };
        FileSolution { places, is_proved, least }
    };
    let (mut best, mut places) = (known.units, None);
    // Half of the steps are reserved for the proof.
    let mut left = steps / 2;
    while best > lowest {
        match color(best - 1, &mut left) {
            Coloring::Found(better) => (best, places) = (best - 1, Some(better)),
            Coloring::Impossible(_) => return found(best, places, true),
            Coloring::Unknown => break,
        }
    }
    let mut left = steps - steps / 2;
    for units in lowest..best {
        match color(units, &mut left) {
            Coloring::Found(fewest) => return found(units, Some(fewest), true),
            Coloring::Impossible(_) => {}
            Coloring::Unknown => return found(units, places, false),
        }
    }
    found(best, places, true)
}
