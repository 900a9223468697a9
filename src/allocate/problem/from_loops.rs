//! Loops of a function at which live ranges can be split: every edge of their boundary has a place for code.

use super::{Crossing, LoopData, ProblemBuilder, read_point};
use crate::analysis::{Cfg, Dominators, Loop, Loops};
use crate::function::{Block, Function};
use crate::index::{EntityIndex, IndexVec};

/// Adds the loops to a problem, and the crossings into them and out of them. O(edges · depth).
pub(super) fn add_loops(
    builder: &mut ProblemBuilder,
    function: &Function,
    (cfg, dominators): (&Cfg, &Dominators),
    frequencies: &IndexVec<Block, f64>,
) {
    let loops = Loops::new(cfg, dominators);
    if loops.is_empty() {
        return;
    }
    let boundaries = Boundaries { function, cfg, loops };
    let numbers = boundaries.number();
    boundaries.add(builder, &numbers);
    boundaries.add_crossings(builder, &numbers, frequencies);
}

struct Boundaries<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    loops: Loops,
}

impl Boundaries<'_> {
    /// Returns a loop and its ancestors, inner loops first.
    fn chain(&self, first: Option<Loop>) -> impl Iterator<Item = Loop> + '_ {
        std::iter::successors(first, |&inner| self.loops.parent(inner))
    }

    fn edges(&self) -> impl Iterator<Item = (Block, Block)> + '_ {
        self.function.blocks().flat_map(|to| self.cfg.preds(to).iter().map(move |&from| (from, to)))
    }

    /// Returns the loops that the edge from `inside` to `outside` leaves. If the two blocks are exchanged, these are
    /// the loops that the edge enters.
    fn boundaries(&self, inside: Block, outside: Block) -> impl Iterator<Item = Loop> + '_ {
        let chain = self.chain(self.loops.innermost(inside));
        chain.take_while(move |&inner| !self.loops.contains(inner, outside))
    }

    /// Numbers the loops with a place for code on all edges of their boundary. This requires two conditions: the header
    /// is the only successor of each entering block, and all predecessors of an exit block are in the loop. The header
    /// and the exit blocks must not be empty, because they are identified by their first points.
    fn number(&self) -> IndexVec<Loop, Option<Loop>> {
        let is_empty = |block: Block| self.function.block_range(block).is_empty();
        let mut fits: IndexVec<Loop, bool> = IndexVec::filled(true, self.loops.len());
        for (from, to) in self.edges() {
            for entered in self.boundaries(to, from) {
                let is_header = self.loops.header(entered) == to;
                fits[entered] &= is_header && self.function.succs(from).len() == 1 && !is_empty(to);
            }
            for left in self.boundaries(from, to) {
                let is_dedicated = self.cfg.preds(to).iter().all(|&pred| self.loops.contains(left, pred));
                fits[left] &= is_dedicated && !is_empty(to);
            }
        }
        // A loop whose header is the function's first block is not entered by an edge.
        for of in fits.ids() {
            fits[of] &= self.loops.header(of).index() != 0;
        }
        let mut next = 0;
        let number = |&fits: &bool| {
            next += u32::from(fits);
            fits.then(|| Loop(next - 1))
        };
        fits.iter().map(number).collect()
    }

    /// Returns the innermost numbered loop among a loop and its ancestors.
    fn numbered(&self, numbers: &IndexVec<Loop, Option<Loop>>, from: Option<Loop>) -> Option<Loop> {
        self.chain(from).find_map(|at| numbers[at])
    }

    fn add(&self, builder: &mut ProblemBuilder, numbers: &IndexVec<Loop, Option<Loop>>) {
        let mut loops: IndexVec<Loop, LoopData> = IndexVec::new();
        for of in numbers.ids().filter(|&of| numbers[of].is_some()) {
            let parent = self.numbered(numbers, self.loops.parent(of));
            loops.push(LoopData { parent, spans: Vec::new() });
        }
        for block in self.function.blocks() {
            let insts = self.function.block_range(block);
            let span = read_point(insts.start)..read_point(insts.end);
            for around in self.chain(self.loops.innermost(block)).filter_map(|at| numbers[at]) {
                match loops[around].spans.last_mut() {
                    Some(last) if last.end == span.start => last.end = span.end,
                    _ if span.is_empty() => {}
                    _ => loops[around].spans.push(span.clone()),
                }
            }
        }
        for data in loops.iter() {
            builder.loop_(data.clone());
        }
    }

    /// Adds one crossing for each block that enters a loop, and one for each exit block. All predecessors of an exit
    /// block are in the same innermost numbered loop. A loop with only some of the predecessors has no number, because
    /// the exit block also has predecessors outside that loop.
    fn add_crossings(
        &self,
        builder: &mut ProblemBuilder,
        numbers: &IndexVec<Loop, Option<Loop>>,
        frequencies: &IndexVec<Block, f64>,
    ) {
        let mut left_to = None;
        for (from, to) in self.edges() {
            let [outer, inner] = [from, to].map(|block| self.numbered(numbers, self.loops.innermost(block)));
            if outer == inner {
                continue;
            }
            let enters = self.boundaries(to, from).any(|at| numbers[at].is_some());
            if !enters && left_to.replace(to) == Some(to) {
                continue;
            }
            let frequency = frequencies[if enters { from } else { to }] as f32;
            let start = read_point(self.function.block_range(to).start);
            builder.crossing(Crossing { start, from: outer, to: inner, frequency });
        }
    }
}
