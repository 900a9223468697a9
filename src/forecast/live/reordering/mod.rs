//! How little can be live at once in another order.
//!
//! ptxas reorders: it brings forward what frees registers, puts off what takes some, and turns short branches into
//! predicates, so that the order of PTX, and its division into blocks, tell little of what must be live. Here each
//! region, blocks that follow each other in one loop, is scheduled by a list scheduler that cares about registers alone,
//! in a second order, too, where much stays live. The most that is live in the best of its orders and the code's stands
//! for what ptxas can reach; it is no bound on it.

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

/// Words live at once above which a second order is tried, which is seldom: most kernels hold fewer.
const BY_READERS_ABOVE: u32 = 64;

/// What is live at once where the order is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::forecast) struct ReorderedPressure {
    /// All words.
    pub(in crate::forecast) all: u32,
    /// Those that are not in uniform registers.
    pub(in crate::forecast) varying: u32,
    /// The same in loops alone.
    pub(in crate::forecast) varying_in_loops: u32,
}

/// What scheduling reads.
#[derive(Clone, Copy)]
pub(in crate::forecast) struct Input<'a> {
    /// The function, out of SSA form.
    pub(in crate::forecast) function: &'a Function,
    /// What the hardware holds of it.
    pub(in crate::forecast) footprint: &'a RegisterFootprint,
    /// Where its words are live.
    pub(in crate::forecast) word_ranges: &'a WordRanges,
    /// How many of them are live where, in the order of the code.
    pub(in crate::forecast) pressures: &'a WordPressures,
}

define_index! {
    /// A region, by its place in the code.
    RegionNumber, "region"
}

/// Words that are live at once: all, and those that are not in uniform registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LiveWords {
    all: u32,
    varying: u32,
}

impl LiveWords {
    /// Whether of both there are as many as there, or more.
    #[inline]
    fn covers(self, other: Self) -> bool {
        self.all >= other.all && self.varying >= other.varying
    }

    /// The lesser of each.
    #[inline]
    fn least(self, other: Self) -> Self {
        Self { all: self.all.min(other.all), varying: self.varying.min(other.varying) }
    }
}

/// Schedules regions. Memory for one function after another.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Reordering {
    regions: Regions,
    states: IndexVec<Word, WordState>,
    queues: Queues,
    dependences: Dependences,
}

impl Reordering {
    /// What is live at most in a region as it is scheduled, or in the order of the code, whichever is less: the most of
    /// all regions. O(n log n) in the operands.
    ///
    /// No order has less live than a region has at its ends. Only regions that could raise the most of that are
    /// scheduled, those first in which most is live in the order of the code, and only until the order of the code is
    /// known to be no worse.
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

    /// What is live at most in a region in the best of its orders, or as much as is `wanted`, or more. That of the code
    /// is one of them.
    fn reach_in(
        &mut self,
        input: &Input<'_>,
        number: RegionNumber,
        in_order: LiveWords,
        wanted: LiveWords,
    ) -> LiveWords {
        let live = self.begin(input, number);
        // What comes in is live at once before anything is scheduled.
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

    /// What every word does at first in a region. Returns how many are live then.
    fn begin(&mut self, input: &Input<'_>, number: RegionNumber) -> LiveWords {
        let region = self.regions.all()[number];
        let mut live = LiveWords::default();
        for &(word, boundary) in self.regions.words(number) {
            let state = boundary.state(&region);
            self.states[word] = state;
            live.all += u32::from(state.is_live);
            live.varying += u32::from(state.is_live && !input.pressures.uniform()[word]);
        }
        // What is held of the stack stays where it is.
        let stack = region.more_at_ends(&input.pressures.stack);
        LiveWords { all: live.all + stack, varying: live.varying + stack }
    }

    /// What is live at most in the region whose dependences are known and where so many words are `live` at first, as
    /// it is scheduled; as much as is `wanted`, or more, where it is more than that.
    fn schedule(&mut self, input: &Input<'_>, live: LiveWords, wanted: LiveWords, order: Order) -> LiveWords {
        schedule(input, &self.dependences, live, &mut self.states, &mut self.queues, wanted, order)
    }
}

impl ReorderedPressure {
    /// What a region has in the order of the code, but 0 for what would raise nothing; `None` where no order of the
    /// region could raise anything.
    fn raised_by(&self, region: &Region, in_order: LiveWords, pressures: &WordPressures) -> Option<LiveWords> {
        let raises_varying =
            in_order.varying > self.varying || (region.is_loop && in_order.varying > self.varying_in_loops);
        let wanted = LiveWords {
            all: if in_order.all > self.all { in_order.all } else { 0 },
            varying: if raises_varying { in_order.varying } else { 0 },
        };
        Some(wanted).filter(|&wanted| !region.at_ends(pressures).covers(wanted))
    }

    /// Takes a region into account.
    fn raise(&mut self, live: LiveWords, is_loop: bool) {
        self.all = self.all.max(live.all);
        self.varying = self.varying.max(live.varying);
        if is_loop {
            self.varying_in_loops = self.varying_in_loops.max(live.varying);
        }
    }
}
