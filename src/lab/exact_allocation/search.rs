//! Branch and bound over the spilled live ranges.

use super::bound::{Bound, Choice, bound, rest};
use super::colouring::Coloring;
use super::items::{Item, Items};
use super::palette::Palette;
use super::point_cover::SpillRequirement;
use crate::allocate::ClassTable;
use crate::index::IndexVec;

/// Subgradient steps at the first node. The other nodes start with good prices and need fewer steps.
const FIRST_BOUND: usize = 300;
const NEXT_BOUND: usize = 25;
/// Steps of a colouring, and of each colouring that reduces a conflict.
const COLOR_STEPS: usize = 4000;
const CONFLICT_STEPS: usize = 200;
/// The size of the largest conflict that is reduced.
const LARGEST_CONFLICT: usize = 150;

/// The search for one file and one number of items beyond its register limit.
pub(super) struct Search<'a> {
    items: &'a Items,
    palette: Palette<'a>,
    /// The demands. Conflicts that the search finds are added.
    demands: Vec<SpillRequirement>,
    costs: IndexVec<Item, f64>,
    choices: IndexVec<Item, Choice>,
    /// Decided live ranges, in the order of decisions.
    trail: Vec<Item>,
    spilled: f64,
    /// The best known cost, and the places of this search's best allocation, if it found one.
    pub(super) best: f64,
    pub(super) places: Option<Vec<(Item, u32)>>,
    /// The least lower bound of all subtrees that were not searched; infinite if everything was searched.
    pub(super) open: f64,
}

impl<'a> Search<'a> {
    /// Prepares the search for an allocation that costs less than `best`, with `allowed` items beyond the register
    /// limit.
    pub(super) fn new(
        items: &'a Items,
        classes: &'a ClassTable,
        (register_limit, allowed): (u32, usize),
        demands: Vec<SpillRequirement>,
        best: f64,
    ) -> Self {
        let wholes = || items.wholes();
        Self {
            items,
            palette: Palette { items, classes, register_limit, allowed },
            demands,
            costs: wholes().map(|item| items.items[item].cost.unwrap_or(f64::INFINITY)).collect(),
            choices: wholes()
                .map(|item| if items.items[item].cost.is_some() { Choice::Open } else { Choice::Kept })
                .collect(),
            trail: Vec::new(),
            spilled: 0.0,
            best,
            places: None,
            open: f64::INFINITY,
        }
    }

    /// Searches until everything is decided or `steps` are used up. The used steps are subtracted from `steps`.
    pub(super) fn run(&mut self, steps: &mut usize) {
        let mut prices = vec![0.0; self.demands.len()];
        if let Some(rests) = rest(&self.demands, &self.choices) {
            let enough = self.enough();
            bound(&rests, &self.costs, &mut prices, enough, FIRST_BOUND);
        }
        self.explore(0.0, &prices, steps);
    }

    /// Returns the remaining cost at which a solution is no better than the best known one. It is lowered slightly
    /// because sums have rounding errors.
    fn enough(&self) -> f64 {
        self.best - self.spilled - 1e-9 * (1.0 + self.best.min(1e15))
    }

    fn decide(&mut self, item: Item, choice: Choice) {
        self.choices[item] = choice;
        self.trail.push(item);
        if choice == Choice::Spilled {
            self.spilled += self.costs[item];
        }
    }

    fn take_back(&mut self, until: usize) {
        for item in self.trail.drain(until..) {
            self.choices[item] = Choice::Open;
        }
        let is_spilled = |item: &Item| self.choices[*item] == Choice::Spilled;
        // The sum is recomputed, so that backtracking leaves no rounding error.
        self.spilled = self.trail.iter().filter(|item| is_spilled(item)).map(|&item| self.costs[item]).sum();
    }

    /// Searches the subtree of the current decisions. `known` is a lower bound of the cost in this subtree.
    fn explore(&mut self, known: f64, prices: &[f64], steps: &mut usize) {
        if *steps == 0 {
            self.open = self.open.min(known);
            return;
        }
        *steps -= 1;
        let mut prices = prices.to_vec();
        prices.resize(self.demands.len(), 0.0);
        let mark = self.trail.len();
        if let Some((found, total)) = self.decide_what_follows(known, &mut prices) {
            let rests = rest(&self.demands, &self.choices).unwrap_or_default();
            match rests.iter().max_by_key(|rest| (rest.need, std::cmp::Reverse(rest.demand))) {
                Some(worst) => {
                    let options = worst.members.iter().map(|&(item, _)| item).collect();
                    self.branch(options, &found, total, &prices, steps);
                }
                None => self.place(&found, total, &prices, steps),
            }
        }
        self.take_back(mark);
    }

    /// Makes forced decisions. Returns `None` if no better solution is possible in this subtree.
    fn decide_what_follows(&mut self, known: f64, prices: &mut Vec<f64>) -> Option<(Bound, f64)> {
        loop {
            let rests = rest(&self.demands, &self.choices)?;
            let enough = self.enough();
            let found = bound(&rests, &self.costs, prices, enough, NEXT_BOUND);
            if found.cost >= enough || known >= self.spilled + enough {
                return None;
            }
            let room = enough - found.cost;
            let before = self.trail.len();
            for item in self.items.wholes().filter(|_| room.is_finite()) {
                match self.choices[item] {
                    Choice::Open if found.reduced[item] >= room => self.decide(item, Choice::Kept),
                    Choice::Open if found.reduced[item] <= -room => self.decide(item, Choice::Spilled),
                    _ => {}
                }
            }
            for rest in &rests {
                let all: u32 = rest.members.iter().map(|(_, width)| width).sum();
                for &(item, width) in &rest.members {
                    if all - width < rest.need && self.choices[item] == Choice::Open {
                        self.decide(item, Choice::Spilled);
                    }
                }
            }
            if self.trail.len() == before {
                let total = known.max(self.spilled + found.cost);
                return Some((found, total));
            }
        }
    }

    /// Branches on options, of which at least one must be spilled. The first branch spills the first option. Each later
    /// branch spills the next option and keeps all previous ones.
    fn branch(&mut self, mut options: Vec<Item>, found: &Bound, total: f64, prices: &[f64], steps: &mut usize) {
        options.sort_by(|a, b| found.reduced[*a].total_cmp(&found.reduced[*b]).then(a.cmp(b)));
        for option in options {
            let mark = self.trail.len();
            self.decide(option, Choice::Spilled);
            self.explore(total, prices, steps);
            self.take_back(mark);
            self.decide(option, Choice::Kept);
        }
    }

    /// Searches for places. The decisions so far free enough units at every point.
    fn place(&mut self, found: &Bound, total: f64, prices: &[f64], steps: &mut usize) {
        let mut present: Vec<Item> = Vec::new();
        for item in self.items.wholes() {
            match self.choices[item] {
                Choice::Spilled => present.extend(self.items.items[item].pieces()),
                _ => present.push(item),
            }
        }
        present.sort_unstable();
        match self.color(&present, COLOR_STEPS, steps) {
            Coloring::Found(places) => {
                self.best = self.spilled;
                self.places = Some(places);
            }
            Coloring::Unknown => self.open = self.open.min(total),
            Coloring::Impossible(conflict) => {
                let conflict = self.smaller(conflict, steps);
                let options =
                    conflict.iter().copied().filter(|&item| self.is_whole(item) && self.choices[item] == Choice::Open);
                let options: Vec<Item> = options.collect();
                if conflict.iter().all(|&item| self.is_whole(item)) {
                    let spillable = conflict.iter().filter(|&&item| self.items.items[item].cost.is_some());
                    self.demands
                        .push(SpillRequirement { members: spillable.map(|&item| (item, 1)).collect(), need: 1 });
                }
                self.branch(options, found, total, prices, steps);
            }
        }
    }

    fn is_whole(&self, item: Item) -> bool {
        self.items.items[item].access.is_none()
    }

    fn color(&self, present: &[Item], limit: usize, steps: &mut usize) -> Coloring {
        let mut left = limit.min(*steps);
        let given = left;
        let coloring = self.palette.color(present, &mut left);
        *steps -= given - left;
        coloring
    }

    /// Removes items that a conflict does not need. Pieces are removed first, because a conflict without pieces holds
    /// in every subtree. Next come items that are cheap to spill, so that the remaining conflict is costly to resolve.
    fn smaller(&self, conflict: Vec<Item>, steps: &mut usize) -> Vec<Item> {
        if conflict.len() > LARGEST_CONFLICT {
            return conflict;
        }
        let mut order = conflict.clone();
        let cost = |item: Item| self.items.items[item].cost.unwrap_or(f64::INFINITY);
        order.sort_by(|&a, &b| {
            self.is_whole(a).cmp(&self.is_whole(b)).then(cost(a).total_cmp(&cost(b))).then(a.cmp(&b))
        });
        let mut needed = conflict;
        for item in order {
            if *steps == 0 || needed.binary_search(&item).is_err() {
                continue;
            }
            // Fixed items were no part of the conflict, but take units.
            let around = self.items.wholes().filter(|&other| self.items.items[other].fixed.is_some());
            let mut without: Vec<Item> = needed.iter().copied().filter(|&other| other != item).chain(around).collect();
            without.sort_unstable();
            if let Coloring::Impossible(smaller) = self.color(&without, CONFLICT_STEPS, steps) {
                needed = smaller;
            }
        }
        needed
    }
}
