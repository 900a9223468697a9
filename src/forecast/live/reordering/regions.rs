//! The regions of a function, and the words that are live in them.

use super::{Input, LiveWords, RegionNumber};
use crate::analysis::{Grouping, Loops, Point};
use crate::forecast::footprint::words::Word;
use crate::forecast::live::pressure::{Pressure, WordPressures};
use crate::forecast::live::word_ranges::WordRanges;
use crate::function::{Function, Inst, Role};
use crate::index::{EntityIndex, IndexVec};

/// Blocks in layout order with the same innermost loop, from the first instruction that emits code to the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) first: Inst,
    pub(super) end: Inst,
    pub(super) is_loop: bool,
}

/// State of a word in a region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordState {
    /// Unscheduled instructions that read the word.
    pub(super) unread: u32,
    /// Index plus one of the last entry in the word's list of readers; 0 without readers.
    pub(super) readers: u32,
    /// Index plus one of the word's last restart so far, while readers are counted.
    pub(super) restart: u32,
    pub(super) is_live: bool,
    /// Whether the word is read after the region, or in the loop's next iteration.
    pub(super) stays: bool,
}

impl Region {
    /// Returns the highest pressure of the region in the order of the code.
    pub(super) fn in_order(&self, pressures: &WordPressures) -> LiveWords {
        let WordPressures { all, varying, .. } = pressures;
        LiveWords { all: all.most_between(self.first, self.end), varying: varying.most_between(self.first, self.end) }
    }

    /// Returns the pressure at the start of the region or where its last instruction writes, whichever is more. No
    /// order has a lower pressure, because these words are live at the start or at the end.
    pub(super) fn at_ends(&self, pressures: &WordPressures) -> LiveWords {
        let WordPressures { all, varying, .. } = pressures;
        LiveWords { all: self.more_at_ends(all), varying: self.more_at_ends(varying) }
    }

    /// The same for one pressure; 0 if the region is empty, or nothing is live anywhere.
    pub(super) fn more_at_ends(&self, pressure: &Pressure) -> u32 {
        if self.first == self.end || pressure.most() == 0 {
            return 0;
        }
        pressure.before(self.first).max(pressure.behind(Inst(self.end.0 - 1)))
    }

    /// Returns whether a word's live range enters and leaves the region. The range may start or stop outside.
    fn boundary(&self, function: &Function, (start, stop): (Point, Point)) -> Boundary {
        let (first, end) = (Point::early(self.first), Point::early(self.end));
        if stop <= first || start >= end {
            return Boundary::default();
        }
        // A word that enters a block starts where the first instruction reads. Early-clobber results of that
        // instruction start there, too, and are treated alike.
        Boundary { comes_in: start < first || is_block_start(function, start), goes_out: stop >= end }
    }
}

/// Whether a word is live at the ends of a region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Boundary {
    /// Whether it is live at the start.
    comes_in: bool,
    /// Whether it is read after the region.
    goes_out: bool,
}

impl Boundary {
    /// Returns the word's state at the start of a region.
    pub(super) fn state(self, region: &Region) -> WordState {
        // A word that enters a loop is live in the next iteration, too.
        let stays = self.goes_out || (region.is_loop && self.comes_in);
        WordState { is_live: self.comes_in, stays, ..WordState::default() }
    }
}

/// The regions of a function, in order. The memory is reused for the next function.
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
    /// Finds the regions of a function. O(blocks).
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
            // The first and the last instruction that emit code bound the region, even with debug values around them.
            // So early-clobber results of the first instruction count as live at the start, and results of the last
            // instruction count as read after the region.
            let mut code = (region.first.0..region.end.0).map(Inst).filter(|&inst| is_code(function, inst));
            let (first, last) = (code.next(), code.next_back());
            region.first = first.unwrap_or(region.end);
            region.end = last.or(first).map_or(region.first, |last| Inst(last.0 + 1));
        }
    }

    /// Returns the regions by their numbers.
    pub(super) fn all(&self) -> &IndexVec<RegionNumber, Region> {
        &self.regions
    }

    /// Finds the words that are live somewhere in each region. O(instructions, words and the words found).
    pub(super) fn find_words(&mut self, input: &Input<'_>) {
        let Self { regions, region_of, found, words, found_restarts, restarts } = self;
        region_of.clear();
        region_of.resize(input.function.num_insts(), regions.next_id());
        let mut previous_end = Inst(0);
        for (number, region) in regions.iter_enumerated() {
            // Includes the debug values before the region.
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
                // A range may start in the region where the word's previous range stops.
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

    /// Returns the restarts of a region in the order of the code: writes to words that had a value before and have none
    /// at that point.
    pub(super) fn restarts(&self, region: RegionNumber) -> &[(Inst, Word)] {
        self.restarts.of(region)
    }

    /// Returns the words that [`find_words`](Self::find_words) found in a region, in order, each once, and whether they
    /// are live at its ends.
    pub(super) fn words(&self, region: RegionNumber) -> &[(Word, Boundary)] {
        self.words.of(region)
    }
}

/// Whether a gap in a word's live range, in the order of the code, is a restart: one instruction is the last to read
/// the old value, and another instruction writes a new value. A gap is no restart if a branch causes it; blocks start
/// and end where instructions read. A gap is no restart either if several registers share the word, because readers of
/// one register and writers of another have no order.
fn is_restart(word_ranges: &WordRanges, word: Word, end: Point, start: Point) -> bool {
    let is_late = |point: Point| point == Point::late(point.inst());
    is_late(end) && is_late(start) && !word_ranges.is_shared(word)
}

/// Whether a point is the start of a block, where its first instruction reads. O(log blocks + debug values there).
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
