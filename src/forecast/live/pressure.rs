//! The words that are live at each point.

use super::word_ranges::{StretchBuffers, WordRanges};
use crate::analysis::{LiveRanges, Point};
use crate::forecast::footprint::words::{Word, Words};
use crate::function::{Function, Inst, RegClass, VReg};
use crate::index::{EntityIndex, IndexVec};

/// Pressure at each point of a function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Pressure {
    live: Vec<u32>,
    most: u32,
}

impl Pressure {
    /// Returns the highest pressure.
    pub(in crate::forecast) fn most(&self) -> u32 {
        self.most
    }

    /// Returns the highest pressure from instruction `first` up to instruction `end`.
    pub(in crate::forecast) fn most_between(&self, first: Inst, end: Inst) -> u32 {
        let live = &self.live[Point::early(first).0 as usize..Point::early(end).0 as usize];
        live.iter().copied().max().unwrap_or(0)
    }

    /// Returns the first point of highest pressure, and the pressure there.
    pub(in crate::forecast) fn peak(&self) -> (Point, u32) {
        let point = self.live.iter().position(|&live| live == self.most).unwrap_or(0);
        (Point(point as u32), self.most)
    }

    /// Returns the pressure while an instruction reads or writes, whichever is more.
    #[inline]
    pub(in crate::forecast) fn at(&self, inst: Inst) -> u32 {
        self.before(inst).max(self.behind(inst))
    }

    /// Returns the pressure where the instruction reads. For the first instruction of a block, this is the pressure at
    /// the block's start.
    #[inline]
    pub(in crate::forecast) fn before(&self, inst: Inst) -> u32 {
        self.live[Point::early(inst).0 as usize]
    }

    /// Returns the pressure where the instruction writes.
    #[inline]
    pub(in crate::forecast) fn behind(&self, inst: Inst) -> u32 {
        self.live[Point::late(inst).0 as usize]
    }
}

/// Changes of several pressures, the lanes, at each point.
#[derive(Debug)]
struct Changes<const LANES: usize>(Vec<[i32; LANES]>);

impl<const LANES: usize> Default for Changes<LANES> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<const LANES: usize> Changes<LANES> {
    fn reset(&mut self, function: &Function) {
        self.0.clear();
        // Includes the end of the last block, and one more point for dead results there.
        self.0.resize(2 * function.num_insts() + 2, [0; LANES]);
    }

    #[inline]
    fn add(&mut self, (start, end): (Point, Point), weights: [i32; LANES]) {
        for (change, weight) in self.0[start.0 as usize].iter_mut().zip(weights) {
            *change += weight;
        }
        for (change, weight) in self.0[end.0 as usize].iter_mut().zip(weights) {
            *change -= weight;
        }
    }

    /// Yields the pressures at each point, in order.
    #[inline]
    fn live(&self) -> impl Iterator<Item = [u32; LANES]> {
        let mut live = [0_i32; LANES];
        self.0.iter().map(move |changes| {
            live.iter_mut().zip(changes).for_each(|(live, change)| *live += change);
            live.map(|live| live as u32)
        })
    }
}

/// Pressures of words. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct WordPressures {
    /// All words.
    pub(in crate::forecast) all: Pressure,
    /// Words outside uniform registers.
    pub(in crate::forecast) varying: Pressure,
    /// Most words of uniform registers that are live at once.
    pub(in crate::forecast) most_uniform: u32,
    /// Words of stack variables in registers, which the other pressures include. Without points if there are none.
    pub(in crate::forecast) stack: Pressure,
    /// Whether each word is in uniform registers.
    uniform: IndexVec<Word, bool>,
    /// Varying words, then uniform words.
    changes: Changes<2>,
    hoisted: Changes<1>,
    is_moved: IndexVec<Word, bool>,
    buffers: StretchBuffers,
}

impl WordPressures {
    /// Computes the pressures of a function's words and of the words of promoted `stack` variables, which are live
    /// between two points. O(points + words + ranges).
    pub(in crate::forecast) fn compute(
        &mut self,
        (function, words, word_ranges): (&Function, &Words, &WordRanges),
        stack: impl Iterator<Item = ((Point, Point), u32)>,
        is_uniform: impl Fn(VReg) -> bool,
    ) {
        self.find_uniform(function, words, is_uniform);
        self.changes.reset(function);
        for word in (0..word_ranges.num_words()).map(Word::new) {
            let weights = if self.uniform[word] { [0, 1] } else { [1, 0] };
            word_ranges.of(word).iter().for_each(|&stretch| self.changes.add(stretch, weights));
        }
        self.add_stack(stack);
        let Self { all, varying, most_uniform, .. } = self;
        all.live.resize(self.changes.0.len(), 0);
        varying.live.resize(self.changes.0.len(), 0);
        let mut most = [0; 3];
        let points = all.live.iter_mut().zip(&mut varying.live);
        for ([varying_live, uniform_live], (all, varying)) in self.changes.live().zip(points) {
            (*all, *varying) = (varying_live + uniform_live, varying_live);
            most = [most[0].max(*all), most[1].max(varying_live), most[2].max(uniform_live)];
        }
        [all.most, varying.most, *most_uniform] = most;
    }

    /// Adds the words of stack variables, each as a varying word.
    fn add_stack(&mut self, promoted: impl Iterator<Item = ((Point, Point), u32)>) {
        let Self { stack, changes, .. } = self;
        stack.live.clear();
        stack.most = 0;
        for ((start, end), words) in promoted {
            changes.add((start, end), [words as i32, 0]);
            stack.live.resize(changes.0.len(), 0);
            stack.live[start.0 as usize..end.0 as usize].fill(words);
            stack.most = stack.most.max(words);
        }
    }

    /// Finds the words whose registers are all uniform.
    fn find_uniform(&mut self, function: &Function, words: &Words, is_uniform: impl Fn(VReg) -> bool) {
        self.uniform.clear();
        self.uniform.resize(words.len(), true);
        for reg in function.regs().filter(|&reg| !is_uniform(reg)) {
            words.occupied(reg).for_each(|word| self.uniform[word] = false);
        }
    }

    /// Returns whether each word is in uniform registers.
    pub(in crate::forecast) fn uniform(&self) -> &IndexVec<Word, bool> {
        &self.uniform
    }

    /// Returns the most varying words live at once if the `loads`, and no other instructions, write at the points that
    /// `place` gives. Only the results of the loads are counted again: O(points + segments of the results).
    pub(in crate::forecast) fn most_where_moved(
        &mut self,
        (function, words, word_ranges, ranges): (&Function, &Words, &WordRanges, &LiveRanges),
        loads: impl Iterator<Item = Inst>,
        place: impl Fn(Point) -> Point,
    ) -> u32 {
        self.hoisted.0.clear();
        self.hoisted.0.extend(self.changes.0.iter().map(|&[varying, _]| [varying]));
        self.is_moved.clear();
        self.is_moved.resize(words.len(), false);
        for reg in loads.flat_map(|load| function.operands(load)).filter_map(|operand| operand.def()) {
            for word in words.occupied(reg) {
                if self.uniform[word] || std::mem::replace(&mut self.is_moved[word], true) {
                    continue;
                }
                word_ranges.of(word).iter().for_each(|&stretch| self.hoisted.add(stretch, [-1]));
                for &stretch in word_ranges.moved(word, words, ranges, &place, &mut self.buffers) {
                    self.hoisted.add(stretch, [1]);
                }
            }
        }
        self.hoisted.live().map(|[live]| live).max().unwrap_or(0)
    }
}

/// Highest pressures of registers as PTX declares them. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct DeclaredPressure {
    /// Words.
    pub(in crate::forecast) words: u32,
    /// Words of 64-bit registers.
    pub(in crate::forecast) wide: u32,
    /// 16-bit registers.
    pub(in crate::forecast) halves: u32,
    /// Predicates.
    pub(in crate::forecast) predicates: u32,
    /// Registers of 64 bits, of 16 bits, predicates; words of all others.
    changes: Changes<4>,
}

impl DeclaredPressure {
    /// Computes the pressures of a function. O(points + segments).
    pub(in crate::forecast) fn compute(&mut self, function: &Function, ranges: &LiveRanges) {
        self.changes.reset(function);
        for reg in function.regs() {
            let weights = match function.class(reg) {
                RegClass::B64 => [1, 0, 0, 0],
                RegClass::B16 => [0, 1, 0, 0],
                RegClass::B1 => [0, 0, 1, 0],
                other => [0, 0, 0, other.words() as i32],
            };
            for segment in ranges.segments(reg) {
                self.changes.add((segment.start, segment.end), weights);
            }
        }
        let mut most = [0; 4];
        for [wide, halves, predicates, others] in self.changes.live() {
            let live = [2 * wide + halves + others, 2 * wide, halves, predicates];
            most.iter_mut().zip(live).for_each(|(most, live)| *most = live.max(*most));
        }
        [self.words, self.wide, self.halves, self.predicates] = most;
    }
}
