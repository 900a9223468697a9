//! Dead: values that are never read are not stored, copied or computed.
//!
//! A backward pass over each block computes the places that are read later. A removed instruction reads nothing. So a
//! value is also dead if only dead values need it, even around loops.

use super::overlay::Overlay;
use super::places::Place;
use super::steps::{Step, Steps};
use crate::allocate::problem::LiveRange;
use crate::function::{Block, Inst};
use crate::index::{EntityIndex, IndexVec};

/// Removes dead instructions and stores, as edits in the overlay. O(blocks · places + steps), a few times in loops.
pub(super) fn remove(steps: &Steps<'_>, overlay: &mut Overlay) {
    let blocks = steps.problem.flow().blocks();
    let words = steps.places.len().div_ceil(64);
    let mut live_in: IndexVec<Block, Vec<u64>> = IndexVec::filled(vec![0; words], blocks.len());
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for block in blocks.ids().rev() {
            let live = walk(steps, (block, &live_in), overlay, |_| {});
            if live.places != live_in[block] {
                live_in[block] = live.places;
                has_changed = true;
            }
        }
    }
    let mut found: Vec<Dead> = Vec::new();
    for block in blocks.ids() {
        walk(steps, (block, &live_in), overlay, |dead| found.push(dead));
    }
    for dead in found {
        match dead {
            Dead::Store(access) => overlay.leave_unstored(access),
            Dead::Inst(inst) => {
                overlay.remove(inst);
                for &step in steps.of(inst) {
                    if let Step::Read { access, .. } | Step::ReadInPlace { access, .. } = step {
                        overlay.read_at(access, None);
                    }
                }
            }
        }
    }
}

/// A dead part of the code.
enum Dead {
    Inst(Inst),
    Store(usize),
}

/// Visits a block backwards and returns its dead parts.
fn walk(
    steps: &Steps<'_>,
    (block, live_in): (Block, &IndexVec<Block, Vec<u64>>),
    overlay: &Overlay,
    mut found: impl FnMut(Dead),
) -> Live {
    let data = &steps.problem.flow().blocks()[block];
    let mut live = Live { places: vec![0; live_in[block].len()] };
    for &succ in &data.succs {
        live.places.iter_mut().zip(&live_in[succ]).for_each(|(word, more)| *word |= more);
    }
    for inst in data.insts().rev() {
        if overlay.is_removed(inst) {
            continue;
        }
        if steps.is_removable(inst) && !live.wants(steps, inst, overlay) {
            found(Dead::Inst(inst));
            continue;
        }
        if steps.is_removable(inst) && steps.is_within_place(inst, overlay) {
            continue;
        }
        for &step in steps.of(inst).iter().rev() {
            if let Some(dead) = live.step(steps, step, overlay) {
                found(dead);
            }
        }
    }
    live
}

/// Places that are read later.
struct Live {
    places: Vec<u64>,
}

impl Live {
    fn has(&self, first: Place, width: u32) -> bool {
        (first.index()..first.index() + width as usize).any(|place| self.places[place / 64] >> (place % 64) & 1 == 1)
    }

    fn set(&mut self, first: Place, width: u32, is_read: bool) {
        for place in first.index()..first.index() + width as usize {
            let bit = 1 << (place % 64);
            let word = &mut self.places[place / 64];
            *word = if is_read { *word | bit } else { *word & !bit };
        }
    }

    /// Whether a later step reads a place that the instruction writes, or that is reloaded for the instruction.
    fn wants(&self, steps: &Steps<'_>, inst: Inst, overlay: &Overlay) -> bool {
        steps.of(inst).iter().any(|&step| match step {
            Step::Write { range, access } => {
                let is_stored = steps.is_spilled(range) && !overlay.is_unstored(access);
                self.has(steps.units(range, access), steps.width(range)) || is_stored && self.has(steps.home(range), 1)
            }
            Step::Reload { range, access } if overlay.read(access).is_none() => {
                self.has(steps.units(range, access), steps.width(range))
            }
            _ => false,
        })
    }

    /// Moves back across a step. Returns the store of the step if it is dead.
    fn step(&mut self, steps: &Steps<'_>, step: Step, overlay: &Overlay) -> Option<Dead> {
        let mut read = |range: LiveRange, first: Place| self.set(first, steps.width(range), true);
        match step {
            Step::Link { from, .. } if steps.is_spilled(from) => {}
            Step::Link { from, .. } => read(from, steps.home(from)),
            Step::Read { range, access } | Step::ReadInPlace { range, access } => {
                read(range, steps.read_place(range, access, overlay));
            }
            Step::Reload { range, access } if overlay.read(access).is_none() => {
                self.set(steps.units(range, access), steps.width(range), false);
                self.set(steps.home(range), 1, true);
            }
            Step::Reload { .. } | Step::Resume { .. } => {}
            Step::Take { range } => self.set(steps.home(range), steps.width(range), false),
            Step::Write { range, access } => {
                self.set(steps.units(range, access), steps.width(range), false);
                if steps.is_spilled(range) && !steps.is_kept(range) && !overlay.is_unstored(access) {
                    let is_dead = !self.has(steps.home(range), 1);
                    self.set(steps.home(range), 1, false);
                    return is_dead.then_some(Dead::Store(access));
                }
            }
        }
        None
    }
}
