//! Natural loops. A block is a header if it dominates the source of one of its incoming edges; the loop is all blocks
//! that reach this edge without passing through the header.

use super::{Cfg, Dominators};
use crate::define_index;
use crate::function::Block;
use crate::index::IndexVec;

define_index! {
    /// A natural loop. Inner loops have smaller numbers than the loops around them.
    Loop, "loop"
}

#[derive(Clone, Copy, Debug)]
struct LoopData {
    header: Block,
    parent: Option<Loop>,
    depth: u32,
    /// Union-find parent: a loop around this one, or the loop itself. Paths to the outermost loop found are compressed.
    outer: Loop,
}

/// The natural loops of a function and their nesting.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    loops: IndexVec<Loop, LoopData>,
    innermost: IndexVec<Block, Option<Loop>>,
    irreducible: Vec<Block>,
    worklist: Vec<Block>,
}

impl Loops {
    /// Returns the loops of the graph. O(edges · depth) in the worst case, nearly linear in practice.
    pub fn new(cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut loops = Self::default();
        loops.compute(cfg, dominators);
        loops
    }

    /// Computes the loops of the graph.
    pub fn compute(&mut self, cfg: &Cfg, dominators: &Dominators) {
        self.loops.clear();
        self.irreducible.clear();
        self.innermost.clear();
        self.innermost.resize(cfg.num_blocks(), None);
        // A header comes after the headers of the loops around it. In reverse order, inner loops are therefore found
        // first.
        for (number, &block) in cfg.rpo().iter().enumerate().rev() {
            let mut is_irreducible = false;
            for &pred in cfg.preds(block) {
                if dominators.dominates(block, pred) {
                    self.worklist.push(pred);
                } else if cfg.rpo_number(pred).is_some_and(|pred| pred as usize >= number) {
                    is_irreducible = true;
                }
            }
            if !self.worklist.is_empty() {
                self.collect(block, cfg);
            }
            if is_irreducible {
                self.irreducible.push(block);
            }
        }
        for found in self.loops.ids().rev() {
            let outer_depth = self.loops[found].parent.map_or(0, |parent| self.loops[parent].depth);
            self.loops[found].depth = outer_depth + 1;
        }
    }

    /// Returns the innermost loop around a block.
    #[inline]
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block]
    }

    /// Returns the number of natural loops around a block.
    #[inline]
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost[block].map_or(0, |innermost| self.loops[innermost].depth)
    }

    /// Returns the block through which a loop is entered.
    pub fn header(&self, of: Loop) -> Block {
        self.loops[of].header
    }

    /// Returns the innermost loop around another loop.
    pub fn parent(&self, of: Loop) -> Option<Loop> {
        self.loops[of].parent
    }

    /// Whether a block is in the loop or in one of its inner loops.
    pub fn contains(&self, outer: Loop, block: Block) -> bool {
        let mut at = self.innermost[block];
        while let Some(inner) = at {
            if inner == outer {
                return true;
            }
            at = self.loops[inner].parent;
        }
        false
    }

    /// Returns the number of loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Whether there are no natural loops.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Returns the entries of cycles that are not natural loops. The graph is reducible if there are none. Such cycles
    /// do not count in a depth.
    pub fn irreducible_entries(&self) -> &[Block] {
        &self.irreducible
    }

    /// Collects the loop of `header`, whose latches are on the worklist, by walking backwards from them. An inner loop
    /// that was already found is treated as one block.
    fn collect(&mut self, header: Block, cfg: &Cfg) {
        let this = self.loops.next_id();
        self.loops.push(LoopData { header, parent: None, depth: 0, outer: this });
        self.innermost[header] = Some(this);
        while let Some(block) = self.worklist.pop() {
            let entered_through = match self.innermost[block] {
                None => {
                    self.innermost[block] = Some(this);
                    block
                }
                Some(inner) => {
                    let inner = self.outermost(inner);
                    if inner == this {
                        continue;
                    }
                    self.loops[inner].parent = Some(this);
                    self.loops[inner].outer = this;
                    self.loops[inner].header
                }
            };
            self.worklist.extend(cfg.preds(entered_through).iter().filter(|&&pred| cfg.is_reachable(pred)));
        }
    }

    fn outermost(&mut self, mut inner: Loop) -> Loop {
        while self.loops[inner].outer != inner {
            let outer = self.loops[inner].outer;
            self.loops[inner].outer = self.loops[outer].outer;
            inner = outer;
        }
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::Loops;
    use crate::analysis::tests::graph;
    use crate::analysis::{Cfg, Dominators};
    use crate::function::Block;

    fn loops(succs: &[&[u32]]) -> Loops {
        let function = graph(succs);
        let cfg = Cfg::new(&function);
        Loops::new(&cfg, &Dominators::new(&function, &cfg))
    }

    /// In a loop nest, the inner header has depth two, and the inner loop's parent is the outer loop.
    #[test]
    fn nested() {
        let loops = loops(&[&[1], &[2], &[2, 3], &[1, 4], &[]]);
        assert_eq!([0, 1, 2, 3, 4].map(|block| loops.depth(Block(block))), [0, 1, 2, 1, 0]);
        let inner = loops.innermost(Block(2)).unwrap();
        let outer = loops.parent(inner).unwrap();
        assert_eq!((loops.header(inner), loops.header(outer)), (Block(2), Block(1)));
        assert!(loops.contains(outer, Block(2)) && !loops.contains(inner, Block(3)));
        assert!(loops.irreducible_entries().is_empty());
    }

    /// Two latches of one header form one loop.
    #[test]
    fn two_latches() {
        let loops = loops(&[&[1], &[2, 3], &[1], &[1, 4], &[]]);
        assert_eq!(loops.len(), 1);
        assert_eq!(loops.depth(Block(2)), 1);
    }

    /// A cycle with two entries is not a natural loop and is reported.
    #[test]
    fn irreducible_cycle() {
        let loops = loops(&[&[1, 2], &[2], &[1]]);
        assert!(loops.is_empty());
        assert_eq!(loops.irreducible_entries().len(), 1);
    }

    /// An unreachable cycle is not a loop, even if it leads into a loop.
    #[test]
    fn unreachable_cycle() {
        let loops = loops(&[&[1], &[1], &[3, 1], &[2]]);
        assert_eq!(loops.len(), 1);
        assert_eq!(loops.depth(Block(2)), 0);
    }
}
