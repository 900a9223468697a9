//! Freeze: if no node can be simplified and no copy merged, a node gives up its copies. The node can then be
//! simplified.

use super::build::{Coloring, Move, MoveState, State};
use crate::allocate::problem::LiveRange;

impl Coloring<'_> {
    /// Gives up the copies of the node that has waited longest. Returns false if no node waits.
    pub(super) fn freeze(&mut self) -> bool {
        while let Some(node) = self.freeze.pop_front() {
            let waits =
                self.state[node] == State::Present && !self.simplify.contains(node) && !self.spill.contains(node);
            if !waits {
                continue;
            }
            if !self.is_low(node) {
                self.put_on_worklist(node);
                continue;
            }
            self.freeze_moves(node);
            debug_assert!(self.simplify.contains(node), "{node} waits for no copy");
            return true;
        }
        false
    }

    /// Gives up all copies of a node. After the last one, the node can be simplified if it is sure to find a place.
    pub(super) fn freeze_moves(&mut self, node: LiveRange) {
        let moves: Vec<Move> = self.moves_of(node).collect();
        for id in moves {
            if self.moves[id].state != MoveState::Done {
                self.finish_move(id);
            }
        }
    }
}
