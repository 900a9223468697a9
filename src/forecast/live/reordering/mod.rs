//! The lowest pressure in another order of the code.
//!
//! ptxas reorders: it advances instructions that free registers, delays instructions that take registers, and turns
//! short branches into predicates. So the order of PTX, and its division into blocks, determine little of the pressure.
//! A region consists of consecutive blocks of one loop. A list scheduler that minimises registers alone schedules each
//! region, and tries a second order if many words stay live. The highest pressure in the best of these orders and the
//! order of the code approximates what ptxas can reach. It is not a bound.

mod dependences;
mod list_scheduler;
mod regions;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use dependences::Dependences;
use list_scheduler::{Order, Queues, schedule};
use regions::{Region, Regions, WordState};

use super::pressure::WordPressures;
use super::word_ranges::WordRanges;
use crate::define_index;
use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::footprint::words::Word;
use crate::function::Function;
use crate::index::IndexVec;

/// Words live at once above which a second order is tried. Few kernels have more.
const BY_READERS_ABOVE: u32 = 64;

/// Highest pressures if the order is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::forecast) struct ReorderedPressure {
    /// All words.
    pub(in crate::forecast) all: u32,
    /// Words outside uniform registers.
    pub(in crate::forecast) varying: u32,
    /// The same in loops alone.
    pub(in crate::forecast) varying_in_loops: u32,
}

/// Input of the scheduler.
#[derive(Clone, Copy)]
pub(in crate::forecast) struct Input<'a> {
    /// Function, out of SSA form.
    pub(in crate::forecast) function: &'a Function,
    /// Footprint of the function.
    pub(in crate::forecast) footprint: &'a RegisterFootprint,
    /// Points at which words are live.
    pub(in crate::forecast) word_ranges: &'a WordRanges,
    /// Pressures in the order of the code.
    pub(in crate::forecast) pressures: &'a WordPressures,
}

define_index! {
    /// A region, numbered in the order of the code.
    RegionNumber, "region"
}

/// Words that are live at once: all words, and words outside uniform registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LiveWords {
    all: u32,
    varying: u32,
}

impl LiveWords {
    /// Whether both numbers are at least those of the other.
    #[inline]
    fn covers(self, other: Self) -> bool {
        self.all >= other.all && self.varying >= other.varying
    }

    /// Returns the lesser of each.
    #[inline]
    fn least(self, other: Self) -> Self {
        Self { all: self.all.min(other.all), varying: self.varying.min(other.varying) }
    }
}

/// Schedules regions. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Reordering {
    regions: Regions,
    states: IndexVec<Word, WordState>,
    queues: Queues,
    dependences: Dependences,
}

impl Reordering {
    /// Returns the maximum over all regions. The pressure of a region is that of its schedule or of the order of the
    /// code, whichever is less. O(n log n) in the operands.
    ///
    /// In any order, the pressure is at least the pressure at the ends of the region. Only regions that could raise the
    /// maximum are scheduled, in descending order of their pressure in the code. A schedule ends as soon as the order
    /// of the code is known to be no worse.
    pub(in crate::forecast) fn reach(&mut self, input: &Input<'_>) -> ReorderedPressure {
        self.regions.compute(input.function, &input.footprint.loops);
        let in_order = |region: &Region| region.in_order(input.pressures);
        let in_order: IndexVec<RegionNumber, LiveWords> = self.regions.all().iter().map(in_order).collect();
        let mut reordered = ReorderedPressure::default();
        for region in self.regions.all().iter() {
            reordered.raise(region.at_ends(input.pressures), region.is_loop);
        }
        let raises = |&number: &RegionNumber| {
            reordered.raised_by(&self.regions.all()[number], in_order[number], input.pressures).is_some()
        };
        let mut numbers: Vec<RegionNumber> = in_order.ids().filter(raises).collect();
        if numbers.is_empty() {
            return reordered;
        }
        numbers.sort_by_key(|&number| Reverse(in_order[number].all));
        self.regions.find_words(input);
        self.states.clear();
        self.states.resize(input.footprint.words.len(), WordState::default());
        for number in numbers {
            let (region, in_order) = (self.regions.all()[number], in_order[number]);
            if let Some(wanted) = reordered.raised_by(&region, in_order, input.pressures) {
                let live = self.reach_in(input, number, in_order, wanted);
                reordered.raise(live, region.is_loop);
            }
        }
        reordered
    }

    /// Returns the highest pressure of a region in its best order, which may be the order of the code. The result is at
    /// least `wanted` if no order is better.
    fn reach_in(
        &mut self,
        input: &Input<'_>,
        number: RegionNumber,
        in_order: LiveWords,
        wanted: LiveWords,
    ) -> LiveWords {
        let live = self.begin(input, number);
        // Words that are live at the start are live at once before anything is scheduled.
        if live.covers(wanted) {
            return live.least(in_order);
        }
        let Region { first, end, .. } = self.regions.all()[number];
        self.dependences.compute(input, first, end, self.regions.restarts(number));
        let reordered = self.schedule(input, live, wanted, Order::ByDeadlines).least(in_order);
        if reordered.all <= BY_READERS_ABOVE {
            return reordered;
        }
        self.begin(input, number);
        self.schedule(input, live, reordered, Order::ByReaders).least(reordered)
    }

    /// Sets the state of every word at the start of a region. Returns the words that are live then.
    fn begin(&mut self, input: &Input<'_>, number: RegionNumber) -> LiveWords {
        let region = self.regions.all()[number];
        let mut live = LiveWords::default();
        for &(word, boundary) in self.regions.words(number) {
            let state = boundary.state(&region);
            self.states[word] = state;
            live.all += u32::from(state.is_live);
            live.varying += u32::from(state.is_live && !input.pressures.uniform()[word]);
        }
        // Words of the stack do not move.
        let stack = region.more_at_ends(&input.pressures.stack);
        LiveWords { all: live.all + stack, varying: live.varying + stack }
    }

    /// Schedules the region whose dependences are known, with the words that are `live` at its start, and returns the
    /// highest pressure. Stops as soon as the pressure reaches `wanted`, with a result of at least `wanted`.
    fn schedule(&mut self, input: &Input<'_>, live: LiveWords, wanted: LiveWords, order: Order) -> LiveWords {
        schedule(input, &self.dependences, live, &mut self.states, &mut self.queues, wanted, order)
    }
}

impl ReorderedPressure {
    /// Returns a region's pressures in the order of the code, with 0 for pressures that would raise nothing. `None` if
    /// no order of the region could raise anything.
    fn raised_by(&self, region: &Region, in_order: LiveWords, pressures: &WordPressures) -> Option<LiveWords> {
        let raises_varying =
            in_order.varying > self.varying || (region.is_loop && in_order.varying > self.varying_in_loops);
        let wanted = LiveWords {
            all: if in_order.all > self.all { in_order.all } else { 0 },
            varying: if raises_varying { in_order.varying } else { 0 },
        };
        Some(wanted).filter(|&wanted| !region.at_ends(pressures).covers(wanted))
    }

    /// Includes the pressures of a region.
    fn raise(&mut self, live: LiveWords, is_loop: bool) {
        self.all = self.all.max(live.all);
        self.varying = self.varying.max(live.varying);
        if is_loop {
            self.varying_in_loops = self.varying_in_loops.max(live.varying);
        }
    }
}
