//! Over which points each word is live.

use crate::analysis::{Grouping, LiveRanges, Point, Segment};
use crate::forecast::footprint::words::{Word, WordLocation, Words};
use crate::index::EntityIndex;

/// Half-open stretches of points, per word: those of all registers that hold it, united. Memory for one function after
/// another.
#[derive(Debug, Default)]
pub(in crate::forecast) struct WordRanges {
    stretches: Vec<(Point, Point)>,
    /// Word `w` has `starts[w]..starts[w + 1]`.
    starts: Vec<u32>,
    /// Per word: the segments of the registers that hold it and whose own word it is not.
    shared: Grouping<Word, (Point, Point)>,
    found: Vec<(Word, (Point, Point))>,
    sorted: Vec<(Point, Point)>,
}

impl WordRanges {
    /// Becomes the stretches of all words. O(words + segments of the registers), but for the words that several
    /// registers hold, whose segments are sorted.
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

    /// The stretches of all words.
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

    /// The stretches of a word, sorted and disjoint.
    #[inline]
    pub(in crate::forecast) fn of(&self, word: Word) -> &[(Point, Point)] {
        &self.stretches[self.starts[word.index()] as usize..self.starts[word.index() + 1] as usize]
    }

    /// Whether several registers hold a word.
    pub(in crate::forecast) fn is_shared(&self, word: Word) -> bool {
        !self.shared.of(word).is_empty()
    }

    /// How many words there are.
    pub(in crate::forecast) fn num_words(&self) -> usize {
        self.starts.len() - 1
    }

    /// What the stretches of a word would be if its segments started where `place` says, which is no later than they do.
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

/// Memory for the stretches of one word that are moved.
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

/// Appends stretches that are sorted; those that touch become one.
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
