//! Boundaries at which live ranges can still be split, in an ordered tree: the boundary with the largest saving comes
//! first.

use std::collections::BTreeSet;

use super::choice::loops_to_split_at;
use super::regions::Regions;
use crate::allocate::problem::{LiveRange, Problem};
use crate::analysis::Loop;
use crate::index::IndexVec;

/// Boundaries of loops at which live ranges can be split.
#[derive(Debug)]
pub(super) struct Candidates {
    /// Each key begins with the inverted bits of the words that a split can save, so that the largest saving comes
    /// first. The live range and the loop follow.
    tree: BTreeSet<(u64, LiveRange, Loop)>,
}

impl Candidates {
    /// Collects the boundaries of some live ranges at which a split can save more than `least` words. O(live ranges ·
    /// loops · log).
    pub(super) fn new(given: &Problem, regions: &Regions, ranges: impl Iterator<Item = LiveRange>, least: f32) -> Self {
        let mut tree = BTreeSet::new();
        for range in ranges {
            let words = f64::from(given.class(range).bytes.div_ceil(4));
            for (of, gain) in loops_to_split_at(given, regions, range) {
                let saved = gain * words;
                if saved > f64::from(least) {
                    // The bits of positive numbers are ordered like the numbers.
                    tree.insert((!saved.to_bits(), range, of));
                }
            }
        }
        Self { tree }
    }

    /// Takes the best `count` boundaries. Each live range's list in `chosen` stays sorted, with inner loops first.
    /// Returns whether there was a boundary to take.
    pub(super) fn take(&mut self, count: u32, chosen: &mut IndexVec<LiveRange, Vec<Loop>>) -> bool {
        let mut has_taken = false;
        for _ in 0..count {
            let Some((_, range, of)) = self.tree.pop_first() else { break };
            let loops = &mut chosen[range];
            loops.insert(loops.partition_point(|&other| other < of), of);
            has_taken = true;
        }
        has_taken
    }
}
