//! Over which points each word is live, and how many are at once.

use super::words::{Word, Words};
use crate::analysis::{Grouping, LiveRanges, Point};
use crate::function::{Function, Inst, VReg};
use crate::index::{EntityIndex, IndexVec};

/// Half-open stretches of points, per word: those of all registers that hold it, united.
pub(super) struct Stretches {
    stretches: Vec<(Point, Point)>,
    /// Word `w` has `starts[w]..starts[w + 1]`.
    starts: Vec<u32>,
}

impl Stretches {
    /// The stretches of all words; where a definition would stand, `place` may change. O(words + segments of the
    /// registers), but for the words that several registers hold, whose segments are sorted.
    pub(super) fn new(function: &Function, words: &Words, ranges: &LiveRanges, place: impl Fn(Point) -> Point) -> Self {
        let mut found: Vec<(Word, (Point, Point))> = Vec::with_capacity(words.len());
        for reg in function.regs() {
            let segments = ranges.segments(reg);
            for word in words.held(function, reg) {
                found.extend(segments.iter().map(|segment| {
                    let start = place(segment.start);
                    (word, (start, segment.end.max(start.next())))
                }));
            }
        }
        let by_word = Grouping::new(words.len(), found.iter().copied());
        let mut result =
            Self { stretches: Vec::with_capacity(found.len()), starts: Vec::with_capacity(words.len() + 1) };
        let mut sorted: Vec<(Point, Point)> = Vec::new();
        for word in (0..words.len()).map(Word::new) {
            result.starts.push(result.stretches.len() as u32);
            let of_word = by_word.of(word);
            if of_word.is_sorted() {
                result.unite(of_word);
            } else {
                sorted.clear();
                sorted.extend(of_word);
                sorted.sort_unstable();
                result.unite(&sorted);
            }
        }
        result.starts.push(result.stretches.len() as u32);
        result
    }

    /// Adds the stretches of a word, which are sorted; those that touch become one.
    fn unite(&mut self, sorted: &[(Point, Point)]) {
        let first = self.stretches.len();
        for &(start, end) in sorted {
            match self.stretches[first..].last_mut() {
                Some(last) if last.1 >= start => last.1 = last.1.max(end),
                _ => self.stretches.push((start, end)),
            }
        }
    }

    /// The stretches of a word, sorted and disjoint.
    pub(super) fn of(&self, word: Word) -> &[(Point, Point)] {
        &self.stretches[self.starts[word.0 as usize] as usize..self.starts[word.0 as usize + 1] as usize]
    }

    /// How many of the `wanted` words are live at each point.
    pub(super) fn pressure(&self, function: &Function, wanted: impl Fn(Word) -> bool) -> Pressure {
        let mut changes = Changes::new(function);
        for word in (0..self.starts.len() as u32 - 1).map(Word).filter(|&word| wanted(word)) {
            for &(start, end) in self.of(word) {
                changes.add(start, end, 1);
            }
        }
        changes.sum()
    }
}

/// How much is live at each point of a function.
pub(super) struct Pressure(Vec<u32>);

impl Pressure {
    /// Of registers, by a weight for each.
    pub(super) fn of_registers(function: &Function, ranges: &LiveRanges, weight: impl Fn(VReg) -> u32) -> Self {
        let mut changes = Changes::new(function);
        for reg in function.regs() {
            let weight = weight(reg);
            if weight != 0 {
                ranges.segments(reg).iter().for_each(|segment| changes.add(segment.start, segment.end, weight));
            }
        }
        changes.sum()
    }

    /// The most that is live at once.
    pub(super) fn most(&self) -> u32 {
        self.0.iter().copied().max().unwrap_or(0)
    }

    /// The most that is live at once from an instruction up to another.
    pub(super) fn most_between(&self, first: Inst, end: Inst) -> u32 {
        let points = Point::early(first).0 as usize..Point::early(end).0 as usize;
        self.0[points].iter().copied().max().unwrap_or(0)
    }

    /// The first point where the most is live.
    pub(super) fn peak(&self) -> Point {
        let most = self.most();
        Point(self.0.iter().position(|&live| live == most).unwrap_or(0) as u32)
    }

    /// What is live while an instruction reads or writes, whichever is more.
    pub(super) fn at(&self, inst: Inst) -> u32 {
        self.0[Point::early(inst).0 as usize].max(self.0[Point::late(inst).0 as usize])
    }

    /// What is live where the instruction reads, and at the start of a block for its first.
    pub(super) fn before(&self, inst: Inst) -> u32 {
        self.0[Point::early(inst).0 as usize]
    }
}

/// By how much the pressure changes at each point.
struct Changes(Vec<i32>);

impl Changes {
    fn new(function: &Function) -> Self {
        // The end of the last block, and one point more for what is written there and dead.
        Self(vec![0; 2 * function.num_insts() + 2])
    }

    fn add(&mut self, start: Point, end: Point, weight: u32) {
        self.0[start.0 as usize] += weight as i32;
        if let Some(change) = self.0.get_mut(end.0 as usize) {
            *change -= weight as i32;
        }
    }

    fn sum(self) -> Pressure {
        let mut live = 0;
        let at_each = self.0.into_iter().map(|change| {
            live += change;
            live as u32
        });
        Pressure(at_each.collect())
    }
}

/// The words whose registers are all the same in the threads of a warp.
pub(super) fn uniform_words(
    function: &Function,
    words: &Words,
    is_uniform: impl Fn(VReg) -> bool,
) -> IndexVec<Word, bool> {
    let mut uniform = IndexVec::filled(true, words.len());
    for reg in function.regs().filter(|&reg| !is_uniform(reg)) {
        words.held(function, reg).for_each(|word| uniform[word] = false);
    }
    uniform
}
