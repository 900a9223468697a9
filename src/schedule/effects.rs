//! The order that instructions with effects must keep.
//!
//! Two instructions keep their order if [`Effects::conflict`] requires it. An instruction that may fault stays after an
//! instruction that may end the thread ([`Effects::is_guarded_by`]). The checker proves the same rules. Each
//! instruction gets edges only from the last instructions with which it conflicts, because chains of edges imply the
//! rest. The number of edges therefore stays linear in the instructions.

use crate::analysis::{Edges, Node};
use crate::function::{Effects, MemorySpace};

/// Reads and writes of one memory space since the last ordered access.
#[derive(Debug, Default)]
struct Accesses {
    reads: Vec<Node>,
    /// By memory space of a writer: how many of `reads` already precede the last write of that space.
    held: [usize; MemorySpace::ALL.len()],
    last_write: Option<Node>,
}

/// Takes the instructions of a stretch in their order, and creates the edges between conflicting instructions.
#[derive(Debug, Default)]
pub(super) struct EffectOrder {
    barrier: Option<Node>,
    may_not_return: Option<Node>,
    /// All impure nodes since the last barrier.
    since_barrier: Vec<Node>,
    convergent: Option<Node>,
    ordered: Option<Node>,
    /// All memory accesses since the last ordered node.
    since_ordered: Vec<Node>,
    accesses: [Accesses; MemorySpace::ALL.len()],
}

impl EffectOrder {
    /// Adds the next instruction. Amortised O(memory spaces).
    pub(super) fn next(&mut self, node: Node, effects: Effects, space: MemorySpace, edges: &mut Edges) {
        if effects.is_pure() {
            // Instructions that may not return are barriers, so an edge from the last of them implies the edges from
            // all others.
            let guard = self.may_not_return.filter(|_| effects.contains(Effects::MAY_FAULT));
            guard.iter().for_each(|&earlier| edges.add(earlier, node));
            return;
        }
        if effects.intersects(Effects::BARRIER) {
            self.since_barrier.iter().for_each(|&earlier| edges.add(earlier, node));
            self.barrier.iter().for_each(|&earlier| edges.add(earlier, node));
            let may_not_return = if effects.may_not_return() { Some(node) } else { self.may_not_return };
            *self = Self { barrier: Some(node), may_not_return, ..Self::default() };
            return;
        }
        self.barrier.iter().for_each(|&earlier| edges.add(earlier, node));
        self.since_barrier.push(node);
        if effects.contains(Effects::CONVERGENT)
            && let Some(earlier) = self.convergent.replace(node)
        {
            edges.add(earlier, node);
        }
        if effects.intersects(Effects::MEMORY) {
            self.access(node, effects, space, edges);
        }
    }

    fn access(&mut self, node: Node, effects: Effects, space: MemorySpace, edges: &mut Edges) {
        self.ordered.iter().for_each(|&earlier| edges.add(earlier, node));
        if effects.contains(Effects::ORDERED) {
            self.since_ordered.drain(..).for_each(|earlier| edges.add(earlier, node));
            self.accesses = Default::default();
            self.ordered = Some(node);
            return;
        }
        self.since_ordered.push(node);
        let own = MemorySpace::ALL.iter().position(|&known| known == space).unwrap_or(0);
        let writes = effects.contains(Effects::WRITE);
        for (other, accesses) in MemorySpace::ALL.iter().zip(&mut self.accesses) {
            if !space.may_alias(*other) {
                continue;
            }
            accesses.last_write.iter().for_each(|&earlier| edges.add(earlier, node));
            if writes {
                // Earlier reads precede the last write of the same space, and that write precedes this write.
                let new = &accesses.reads[accesses.held[own]..];
                new.iter().for_each(|&earlier| edges.add(earlier, node));
                accesses.held[own] = accesses.reads.len();
            }
        }
        if writes {
            self.accesses[own].last_write = Some(node);
        } else {
            self.accesses[own].reads.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::EntityIndex;

    /// Two instructions are ordered by a chain of edges if and only if a chain of conflicts orders them.
    #[test]
    fn holds_what_conflicts() {
        let kinds = [
            Effects::empty(),
            Effects::READ,
            Effects::READ,
            Effects::WRITE,
            Effects::CONVERGENT,
            Effects::READ | Effects::ORDERED,
            Effects::READ | Effects::WRITE,
            Effects::CONVERGENT | Effects::WRITE,
            Effects::OPAQUE,
            Effects::OPAQUE | Effects::TRAP,
            Effects::MAY_FAULT,
        ];
        arbtest::arbtest(|source| {
            let count = source.int_in_range(0..=12usize)?;
            let mut order = EffectOrder::default();
            let mut edges = Edges::default();
            let mut insts = Vec::new();
            for node in 0..count {
                let drawn = (
                    kinds[source.choose_index(kinds.len())?],
                    MemorySpace::ALL[source.choose_index(MemorySpace::ALL.len())?],
                );
                order.next(Node::new(node), drawn.0, drawn.1, &mut edges);
                insts.push(drawn);
            }
            let mut expected = Edges::default();
            for (to, &(effects, space)) in insts.iter().enumerate() {
                for (from, &(other, other_space)) in insts[..to].iter().enumerate() {
                    if other.conflict(other_space, effects, space) || effects.is_guarded_by(other) {
                        expected.add(Node::new(from), Node::new(to));
                    }
                }
            }
            assert_eq!(edges.reaches(count), expected.reaches(count), "{insts:?}");
            Ok(())
        });
    }

    /// If many reads of all spaces are followed by many writes of every space, each instruction gets only a few edges.
    #[test]
    fn edges_are_linear() {
        let mut order = EffectOrder::default();
        let mut edges = Edges::default();
        let len = 20_000;
        for node in 0..len {
            let effects = if node < len / 2 { Effects::READ } else { Effects::WRITE };
            let space =
                if node < len / 2 { MemorySpace::Generic } else { MemorySpace::ALL[node % MemorySpace::ALL.len()] };
            order.next(Node::new(node), effects, space, &mut edges);
        }
        assert!(edges.len() <= 2 * MemorySpace::ALL.len() * len, "{}", edges.len());
    }
}
