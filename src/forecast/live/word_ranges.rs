//! Points at which each word is live.

use crate::analysis::{Grouping, LiveRanges, Point, Segment};
use crate::forecast::footprint::words::{Word, WordLocation, Words};
use crate::index::EntityIndex;

/// Half-open ranges of points, per word: the union of the live ranges of all registers that hold it. The memory is
/// reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct WordRanges {
    stretches: Vec<(Point, Point)>,
    /// Word `w` has `starts[w]..starts[w + 1]`.
    starts: Vec<u32>,
    /// Segments, per word, of the registers that share the word without owning it.
    shared: Grouping<Word, (Point, Point)>,
    found: Vec<(Word, (Point, Point))>,
    sorted: Vec<(Point, Point)>,
}

impl WordRanges {
    /// Computes the ranges of all words. O(words + segments of the registers). Words in several registers additionally
    /// need their segments sorted.
    pub(in crate::forecast) fn compute(&mut self, words: &Words, ranges: &LiveRanges) {
        self.find_shared(words, ranges);
        self.stretches.clear();
        self.starts.clear();
        self.starts.reserve(words.len() + 1);
        for (word, reg, place) in words.iter() {
            self.starts.push(self.stretches.len() as u32);
            let own = if place == WordLocation::With(word) { ranges.segments(reg) } else { &[] };
            let shared = self.shared.of(word);
            if shared.is_empty() {
                unite(&mut self.stretches, own.iter().map(ends));
            } else {
                let all = own.iter().map(ends).chain(shared.iter().copied());
                sort_into(&mut self.sorted, all);
                unite(&mut self.stretches, self.sorted.iter().copied());
            }
        }
        self.starts.push(self.stretches.len() as u32);
    }

    /// Returns the ranges of all words.
    #[cfg(test)]
    pub(in crate::forecast) fn new(words: &Words, ranges: &LiveRanges) -> Self {
        let mut stretches = Self::default();
        stretches.compute(words, ranges);
        stretches
    }

    fn find_shared(&mut self, words: &Words, ranges: &LiveRanges) {
        self.found.clear();
        for (word, reg, place) in words.iter() {
            if let WordLocation::With(location) = place
                && location != word
            {
                self.found.extend(ranges.segments(reg).iter().map(|segment| (location, ends(segment))));
            }
        }
        self.shared.compute(words.len(), self.found.iter().copied());
    }

    /// Returns the ranges of a word, sorted and disjoint.
    #[inline]
    pub(in crate::forecast) fn of(&self, word: Word) -> &[(Point, Point)] {
        &self.stretches[self.starts[word.index()] as usize..self.starts[word.index() + 1] as usize]
    }

    /// Whether several registers hold a word.
    pub(in crate::forecast) fn is_shared(&self, word: Word) -> bool {
        !self.shared.of(word).is_empty()
    }

    /// Returns the number of words.
    pub(in crate::forecast) fn num_words(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the ranges of a word if each segment started at the point that `place` returns. This point is not later
    /// than the segment's own start.
    pub(in crate::forecast) fn moved<'m>(
        &self,
        word: Word,
        words: &Words,
        ranges: &LiveRanges,
        place: impl Fn(Point) -> Point,
        StretchBuffers { sorted, stretches }: &'m mut StretchBuffers,
    ) -> &'m [(Point, Point)] {
        let own = words.holder(word).map_or(&[][..], |reg| ranges.segments(reg));
        let all = own.iter().map(ends).chain(self.shared.of(word).iter().copied());
        sort_into(sorted, all.map(|(start, end)| (place(start), end)));
        stretches.clear();
        unite(stretches, sorted.iter().copied());
        stretches
    }
}

/// Memory for the moved ranges of one word.
#[derive(Debug, Default)]
pub(in crate::forecast) struct StretchBuffers {
    sorted: Vec<(Point, Point)>,
    stretches: Vec<(Point, Point)>,
}

#[inline]
fn ends(segment: &Segment) -> (Point, Point) {
    (segment.start, segment.end)
}

fn sort_into(sorted: &mut Vec<(Point, Point)>, stretches: impl Iterator<Item = (Point, Point)>) {
    sorted.clear();
    sorted.extend(stretches);
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
}

/// Appends sorted ranges. Ranges that touch are joined.
#[inline]
fn unite(out: &mut Vec<(Point, Point)>, sorted: impl Iterator<Item = (Point, Point)>) {
    let first = out.len();
    for (start, end) in sorted {
        match out[first..].last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
}
