//! Coalesce: merges the two sides of a copy into one node if that cannot make the graph harder to colour.
//!
//! Coalescing is iterated (George and Appel, "Iterated register coalescing", TOPLAS 1996): a copy that failed is tried
//! again after a neighbouring node has become easy. The description of cicc adds two rules to the tests. Two sides with
//! few neighbours are always merged. Two sides are never merged if the merged node would have very many neighbours.

use super::build::{Coloring, Move, MoveState, State};
use crate::allocate::problem::{Class, LiveRange, is_place};

/// Decision on a copy.
enum Verdict {
    Merge,
    Impossible,
    NotNow,
}

impl Coloring<'_> {
    /// Tries the next copy. Returns false if no copy is left.
    pub(super) fn coalesce(&mut self) -> bool {
        let Some(id) = self.coalesce.pop_front() else { return false };
        if self.moves[id].state != MoveState::Waiting {
            return true;
        }
        let (to, from) = (self.find(self.moves[id].to), self.find(self.moves[id].from));
        if to == from {
            self.finish_move(id);
            return true;
        }
        // A node in the graph is merged into a fixed one, never the other way round.
        let (node, other) = if self.state[from] == State::Fixed { (from, to) } else { (to, from) };
        match self.verdict(node, other) {
            Verdict::Merge => {
                self.finish_move(id);
                self.merge(node, other);
            }
            Verdict::Impossible => self.finish_move(id),
            Verdict::NotNow => self.moves[id].state = MoveState::Tried,
        }
        true
    }

    /// Marks a copy as done, whether it was merged or not. Each of its sides then has one open copy fewer.
    pub(super) fn finish_move(&mut self, id: Move) {
        self.moves[id].state = MoveState::Done;
        let (to, from) = (self.find(self.moves[id].to), self.find(self.moves[id].from));
        self.open_moves[to] -= 1;
        self.open_moves[from] -= 1;
        self.release(to);
        if from != to {
            self.release(from);
        }
    }

    /// Lets a node be simplified if only its copies kept it from that, and none of its copies is open any more.
    fn release(&mut self, node: LiveRange) {
        if self.state[node] == State::Present && !self.is_move_related(node) && self.is_low(node) {
            self.put_on_worklist(node);
        }
    }

    fn verdict(&mut self, node: LiveRange, other: LiveRange) -> Verdict {
        let present = [State::Present, State::Fixed];
        if self.state[other] != State::Present || !present.contains(&self.state[node]) {
            return Verdict::Impossible;
        }
        // A piece of a spilled live range must have a register, and is short. It must not become part of a long live
        // range that can be spilled.
        let must_have_both = self.cost[node].is_infinite() == self.cost[other].is_infinite();
        let Some(class) = self.common_class(node, other) else { return Verdict::Impossible };
        let (mut of_node, mut of_other) = (Vec::new(), Vec::new());
        self.collect_neighbours(node, true, &mut of_node);
        if of_node.contains(&other) || !must_have_both || self.is_fixed_beyond_limit(node) {
            return Verdict::Impossible;
        }
        of_node.retain(|&neighbour| self.state[neighbour] != State::Removed);
        self.collect_neighbours(other, false, &mut of_other);
        if self.is_safe([node, other], class, &of_node, &of_other) { Verdict::Merge } else { Verdict::NotNow }
    }

    /// Whether a node is fixed at units beyond the register limit, which calls also clobber. No other live range may be
    /// placed there.
    fn is_fixed_beyond_limit(&self, node: LiveRange) -> bool {
        let class = self.problem.class(node);
        let register_limit = self.problem.files()[class.file].register_limit.unwrap_or(u32::MAX);
        self.problem.ranges()[node].fixed.is_some_and(|unit| !is_place(class, unit, register_limit))
    }

    /// Returns the class in which both nodes may be kept. It is the class of one node, if the other node has the same
    /// class or promotes to it.
    fn common_class(&self, node: LiveRange, other: LiveRange) -> Option<Class> {
        let promotes = |from: Class, into: Class| {
            let mut class = Some(from);
            while class.is_some_and(|class| class != into) {
                class = class.and_then(|class| self.problem.classes()[class].promotes_to);
            }
            class.is_some()
        };
        let (class, others) = (self.class[node], self.class[other]);
        if promotes(others, class) {
            Some(class)
        } else if promotes(class, others) && self.state[node] != State::Fixed {
            Some(others)
        } else {
            None
        }
    }

    fn is_safe(
        &mut self,
        [node, other]: [LiveRange; 2],
        class: Class,
        of_node: &[LiveRange],
        of_other: &[LiveRange],
    ) -> bool {
        self.choose(of_node);
        if self.state[node] == State::Fixed {
            return self.is_george_safe(of_other);
        }
        let places = self.places[class] as f32;
        let few = |node: LiveRange| (self.degree[node] as f32) < self.rules.always_below * places;
        if few(node) && few(other) {
            return true;
        }
        let union = of_node.iter().chain(of_other.iter().filter(|&&neighbour| !self.is_chosen(neighbour)));
        let taken = |neighbour: LiveRange| self.problem.classes().taken(class, self.class[neighbour]);
        if union.clone().map(|&neighbour| taken(neighbour)).sum::<u32>() as f32 > self.rules.never_above * places {
            return false;
        }
        // Briggs: neighbours of high degree together cannot take all places of the merged node.
        let significant = union.filter(|&&neighbour| self.is_significant(neighbour));
        if significant.map(|&neighbour| taken(neighbour)).sum::<u32>() < self.places[class] {
            return true;
        }
        self.is_george_safe(of_other) || {
            self.choose(of_other);
            self.is_george_safe(of_node)
        }
    }

    /// George: each neighbour of one side either has low degree or is also a neighbour of the other side. The chosen
    /// nodes are the other side's neighbours.
    fn is_george_safe(&self, neighbours: &[LiveRange]) -> bool {
        neighbours.iter().all(|&neighbour| !self.is_significant(neighbour) || self.is_chosen(neighbour))
    }

    /// Whether a neighbour may remain after all easy nodes have been removed.
    fn is_significant(&self, node: LiveRange) -> bool {
        self.state[node] == State::Fixed
            || self.degree[node] as f32 * self.rules.degree_factor >= self.places[self.class[node]] as f32
    }

    /// Merges `other` into `node`, which represents both from then on.
    fn merge(&mut self, node: LiveRange, other: LiveRange) {
        let class = self.common_class(node, other).unwrap_or(self.class[node]);
        let (mut of_node, mut of_other) = (Vec::new(), Vec::new());
        self.collect_neighbours(node, false, &mut of_node);
        self.collect_neighbours(other, false, &mut of_other);

        self.simplify.remove(other);
        self.spill.remove(other);
        self.simplify.remove(node);
        self.spill.remove(node);
        let (was, others) = (self.class[node], self.class[other]);
        self.state[other] = State::Merged;
        self.join_members(node, other);
        self.class[node] = class;
        self.cost[node] += self.cost[other];
        self.open_moves[node] += self.open_moves[other];
        self.merged += 1;

        let classes = self.problem.classes();
        self.choose(&of_node);
        let only_other: Vec<LiveRange> =
            of_other.iter().copied().filter(|&neighbour| !self.is_chosen(neighbour)).collect();
        // A node that was a neighbour of one or both sides has the merged node as its only neighbour in their place.
        let mut taken_before: Vec<(LiveRange, u32)> = Vec::with_capacity(of_node.len() + only_other.len());
        let mut degree = 0;
        self.choose(&of_other);
        for &neighbour in of_node.iter().chain(&only_other) {
            let theirs = self.class[neighbour];
            degree += classes.taken(class, theirs);
            let by_other = if self.is_chosen(neighbour) { classes.taken(theirs, others) } else { 0 };
            taken_before.push((neighbour, by_other));
        }
        self.choose(&of_node);
        for (neighbour, by_other) in &mut taken_before {
            if self.is_chosen(*neighbour) {
                *by_other += classes.taken(self.class[*neighbour], was);
            }
        }
        for (neighbour, before) in taken_before {
            let now = classes.taken(self.class[neighbour], class);
            if self.state[neighbour] == State::Present {
                match now.checked_sub(before) {
                    Some(0) => {}
                    Some(more) => self.raise_degree(neighbour, more),
                    None => self.lower_degree(neighbour, before - now),
                }
            }
        }
        self.degree[node] = degree;
        if self.state[node] == State::Present {
            self.put_on_worklist(node);
        }
        self.enable_moves(node);
    }

    /// Raises the degree of a neighbour of a merged node that has a wider class than before and takes more places away.
    fn raise_degree(&mut self, node: LiveRange, places: u32) {
        self.degree[node] += places;
        if !self.is_low(node) {
            self.simplify.remove(node);
            self.put_on_worklist(node);
        } else {
            self.refresh(node);
        }
    }
}
