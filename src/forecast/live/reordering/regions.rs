//! The regions of a function, and which words live in them.

use super::{Input, LiveWords, RegionNumber};
use crate::analysis::{Grouping, Loops, Point};
use crate::forecast::footprint::words::Word;
use crate::forecast::live::pressure::{Pressure, WordPressures};
use crate::forecast::live::word_ranges::WordRanges;
use crate::function::{Function, Inst, Role};
use crate::index::{EntityIndex, IndexVec};

/// Blocks in layout order whose innermost loop is the same, from the first instruction of which code comes to the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) first: Inst,
    pub(super) end: Inst,
    pub(super) is_loop: bool,
}

/// What a word does in a region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordState {
    /// How many instructions that are still to be scheduled read it.
    pub(super) unread: u32,
    /// The last of the list of its readers, one up; 0 where there is none.
    pub(super) readers: u32,
    /// The last of its restarts so far, one up, while readers are counted.
    pub(super) restart: u32,
    pub(super) is_live: bool,
    /// It is read behind the region, or in the loop's next turn.
    pub(super) stays: bool,
}

impl Region {
    /// The most that is live in the region in the order of the code.
    pub(super) fn in_order(&self, pressures: &WordPressures) -> LiveWords {
        let WordPressures { all, varying, .. } = pressures;
        LiveWords { all: all.most_between(self.first, self.end), varying: varying.most_between(self.first, self.end) }
    }

    /// What is live where the region starts or where its last instruction writes, whichever is more: no order has less
    /// at once, because what is live there comes in, or stays.
    pub(super) fn at_ends(&self, pressures: &WordPressures) -> LiveWords {
        let WordPressures { all, varying, .. } = pressures;
        LiveWords { all: self.more_at_ends(all), varying: self.more_at_ends(varying) }
    }

    /// The same of one pressure; 0 where the region is empty, or nothing is live anywhere.
    pub(super) fn more_at_ends(&self, pressure: &Pressure) -> u32 {
        if self.first == self.end || pressure.most() == 0 {
            return 0;
        }
        pressure.before(self.first).max(pressure.behind(Inst(self.end.0 - 1)))
    }

    /// What a stretch of a word, which may start or stop outside, does at the region's ends.
    fn boundary(&self, function: &Function, (start, stop): (Point, Point)) -> Boundary {
        let (first, end) = (Point::early(self.first), Point::early(self.end));
        if stop <= first || start >= end {
            return Boundary::default();
        }
        // What comes into a block starts where its first instruction reads; so does what that writes early, which is
        // taken for the same.
        Boundary { comes_in: start < first || is_block_start(function, start), goes_out: stop >= end }
    }
}

/// What a word does at the ends of a region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Boundary {
    /// It comes from outside.
    comes_in: bool,
    /// It is read behind the region.
    goes_out: bool,
}

impl Boundary {
    /// What the word does at first in a region.
    pub(super) fn state(self, region: &Region) -> WordState {
        // What comes into a loop comes round.
        let stays = self.goes_out || (region.is_loop && self.comes_in);
        WordState { is_live: self.comes_in, stays, ..WordState::default() }
    }
}

/// The regions of a function, in order. Memory for one function after another.
#[derive(Debug, Default)]
pub(super) struct Regions {
    regions: IndexVec<RegionNumber, Region>,
    region_of: IndexVec<Inst, RegionNumber>,
    found: Vec<(RegionNumber, (Word, Boundary))>,
    words: Grouping<RegionNumber, (Word, Boundary)>,
    found_restarts: Vec<(RegionNumber, (Inst, Word))>,
    restarts: Grouping<RegionNumber, (Inst, Word)>,
}

impl Regions {
    /// Becomes the regions of a function. O(blocks).
    pub(super) fn compute(&mut self, function: &Function, loops: &Loops) {
        self.regions.clear();
        let mut before = None;
        for block in function.blocks() {
            let (innermost, insts) = (loops.innermost(block), function.block_range(block));
            match self.regions.iter_mut().next_back() {
                Some(region) if before == Some(innermost) => region.end = insts.end,
                _ => _ = self.regions.push(Region { first: insts.start, end: insts.end, is_loop: innermost.is_some() }),
            }
            before = Some(innermost);
        }
        for region in self.regions.iter_mut() {
            // What the first instruction writes early counts as coming in, and what the last one writes as read behind
            // the region, with debug values around them, too.
            let mut code = (region.first.0..region.end.0).map(Inst).filter(|&inst| is_code(function, inst));
            let (first, last) = (code.next(), code.next_back());
            region.first = first.unwrap_or(region.end);
            region.end = last.or(first).map_or(region.first, |last| Inst(last.0 + 1));
        }
    }

    /// The regions by their numbers.
    pub(super) fn all(&self) -> &IndexVec<RegionNumber, Region> {
        &self.regions
    }

    /// Finds the words that are live somewhere in each region. O(instructions, words and what is found).
    pub(super) fn find_words(&mut self, input: &Input<'_>) {
        let Self { regions, region_of, found, words, found_restarts, restarts } = self;
        region_of.clear();
        region_of.resize(input.function.num_insts(), regions.next_id());
        let mut previous_end = Inst(0);
        for (number, region) in regions.iter_enumerated() {
            // With the debug values ahead of it.
            region_of.range_mut(previous_end..region.end).fill(number);
            previous_end = region.end;
        }
        found.clear();
        found_restarts.clear();
        for word in (0..input.footprint.words.len()).map(Word::new) {
            let first_found = found.len();
            let mut before = None;
            for &(start, end) in input.word_ranges.of(word) {
                if before.replace(end).is_some_and(|before| is_restart(input.word_ranges, word, before, start)) {
                    found_restarts.push((region_of[start.inst()], (start.inst(), word)));
                }
                let mut at = region_of.get(start.inst()).map_or(regions.next_id(), |&region| region);
                // Of several stretches, one may start where another stops.
                if let Some((last, (_, boundary))) = found[first_found..].last_mut()
                    && at <= *last
                {
                    let more = regions[*last].boundary(input.function, (start, end));
                    boundary.comes_in |= more.comes_in;
                    boundary.goes_out |= more.goes_out;
                    at = RegionNumber(last.0 + 1);
                }
                while let Some(region) = regions.get(at).filter(|region| Point::early(region.first) < end) {
                    found.push((at, (word, region.boundary(input.function, (start, end)))));
                    at.0 += 1;
                }
            }
        }
        words.compute(regions.len(), found.iter().copied());
        found_restarts.sort_unstable();
        restarts.compute(regions.len(), found_restarts.iter().copied());
    }

    /// Where words of a region are written that hold nothing then, though they did before, in the order of the code.
    pub(super) fn restarts(&self, region: RegionNumber) -> &[(Inst, Word)] {
        self.restarts.of(region)
    }

    /// The words that [`find_words`](Self::find_words) found in a region, in order, each once, and what they do at its
    /// ends.
    pub(super) fn words(&self, region: RegionNumber) -> &[(Word, Boundary)] {
        self.words.of(region)
    }
}

/// Whether a word that is live up to a point and again from another one on, in the code's order, is so because an
/// instruction is the last to read its value and another writes a new one, and not because a branch leads elsewhere:
/// blocks start and end where instructions read. Where several registers hold the word, nothing keeps the readers of one
/// ahead of the writers of another.
fn is_restart(word_ranges: &WordRanges, word: Word, end: Point, start: Point) -> bool {
    let is_late = |point: Point| point == Point::late(point.inst());
    is_late(end) && is_late(start) && !word_ranges.is_shared(word)
}

/// O(log blocks) where an instruction reads, and the debug values at the start of its block.
fn is_block_start(function: &Function, point: Point) -> bool {
    let is_first = |inst: Inst| {
        let start = function.block_range(function.block_of(inst)).start;
        !(start.0..inst.0).map(Inst).any(|before| is_code(function, before))
    };
    point == Point::early(point.inst()) && is_first(point.inst())
}

fn is_code(function: &Function, inst: Inst) -> bool {
    function.role(inst) != Role::Debug
}
