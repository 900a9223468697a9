//! Simplify: removes nodes from the graph that are sure to find a place.
//!
//! The description of cicc has another test: a node is safe if fewer than K of its neighbours have K or more neighbours
//! themselves. Both tests remove the same nodes in the end. If all nodes with fewer than K neighbours are removed
//! repeatedly, the other neighbours of a safe node are removed first.

use super::build::{Coloring, MoveState, State};
use crate::allocate::problem::LiveRange;

impl Coloring<'_> {
    /// Removes the node with the least degree from the graph. Returns false if no such node is left.
    pub(super) fn simplify(&mut self, neighbours: &mut Vec<LiveRange>) -> bool {
        let Some(node) = self.simplify.pop() else { return false };
        self.remove(node, neighbours);
        true
    }

    /// Removes a node from the graph. Each of its neighbours then has one neighbour fewer.
    pub(super) fn remove(&mut self, node: LiveRange, neighbours: &mut Vec<LiveRange>) {
        self.state[node] = State::Removed;
        self.stack.push(node);
        self.collect_neighbours(node, false, neighbours);
        let class = self.class[node];
        for &neighbour in &*neighbours {
            if self.state[neighbour] == State::Present {
                let taken = self.problem.classes().taken(self.class[neighbour], class);
                self.lower_degree(neighbour, taken);
            }
        }
    }

    /// Lowers the degree of a node by a number of places. If the node is then sure to find a place, copies around it
    /// that failed before are tried again.
    pub(super) fn lower_degree(&mut self, node: LiveRange, places: u32) {
        let was_low = self.is_low(node);
        self.degree[node] -= places;
        if !was_low && self.is_low(node) && !self.moves.is_empty() {
            self.enable_moves(node);
            let mut neighbours = Vec::new();
            self.collect_neighbours(node, false, &mut neighbours);
            for neighbour in neighbours {
                self.enable_moves(neighbour);
            }
        }
        self.refresh(node);
    }

    /// Tries the copies of a node again.
    pub(super) fn enable_moves(&mut self, node: LiveRange) {
        if !self.is_move_related(node) {
            return;
        }
        let again: Vec<_> = self.moves_of(node).filter(|&id| self.moves[id].state == MoveState::Tried).collect();
        for id in again {
            if self.moves[id].state == MoveState::Tried {
                self.moves[id].state = MoveState::Waiting;
                self.coalesce.push_back(id);
            }
        }
    }
}
