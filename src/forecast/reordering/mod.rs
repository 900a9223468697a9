//! How little can be live at once in another order.
//!
//! ptxas reorders: it brings forward what frees registers, puts off what takes some, and turns short branches into
//! predicates, so that the order of PTX, and its division into blocks, tell little of what must be live. Here each
//! region, blocks that follow each other in one loop, is scheduled once by a list scheduler that cares about registers
//! alone. The most that is live in its order, or in the code's where that is less, stands for what ptxas can reach; it
//! is no bound on it.

mod dependences;
mod list;
#[cfg(test)]
mod tests;

use dependences::Dependences;
use list::{Queues, schedule};

use super::behaviour::Behaviours;
use super::stretches::{Pressure, Stretches};
use super::words::{Word, Words};
use crate::analysis::{Grouping, Loops, Point};
use crate::define_index;
use crate::function::{Function, Inst, Role};
use crate::index::{EntityIndex, IndexVec};

/// What is live at once where the order is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// All words.
    pub(super) all: u32,
    /// Those that differ between the threads of a warp.
    pub(super) varying: u32,
    /// The same in loops alone.
    pub(super) varying_in_loops: u32,
}

/// What scheduling reads.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    /// The function, out of SSA form.
    pub(super) function: &'a Function,
    /// How its instructions may move.
    pub(super) behaviours: &'a Behaviours,
    /// What its registers hold.
    pub(super) words: &'a Words,
    /// Where.
    pub(super) stretches: &'a Stretches,
    /// Which are the same in all threads of a warp.
    pub(super) uniform: &'a IndexVec<Word, bool>,
    /// How many words are live where, in the order of the code.
    pub(super) pressure: &'a Pressure,
    /// The same of those that differ between the threads of a warp.
    pub(super) varying: &'a Pressure,
}

define_index! {
    /// A region, by its place in the code.
    RegionNumber, "region"
}

/// Blocks in layout order whose innermost loop is the same.
#[derive(Clone, Copy)]
struct Region {
    first: Inst,
    end: Inst,
    is_loop: bool,
}

/// What a word does in a region.
#[derive(Clone, Copy, Debug, Default)]
struct WordState {
    /// How many instructions that are still to be scheduled read it.
    unread: u32,
    /// The last of the list of its readers, one up; 0 where there is none.
    readers: u32,
    is_live: bool,
    /// It is read behind the region, or in the loop's next turn.
    stays: bool,
}

/// Schedules each region and says what was live at most, there or in the order of the code, whichever is less. O(n log
/// n) in the operands.
pub(super) fn reach(input: &Input<'_>, loops: &Loops) -> Reached {
    let regions = regions(input.function, loops);
    let mut states = IndexVec::filled(WordState::default(), input.words.len());
    let mut queues = Queues::default();
    let mut dependences = Dependences::default();
    let mut reached = Reached::default();
    let words_in = words_in(input, &regions);
    for (number, region) in regions.iter().enumerate() {
        let words = words_in.of(RegionNumber::new(number));
        for &word in words {
            states[word] = boundary(input, region, word);
        }
        dependences.compute(input, region.first, region.end);
        let most = schedule(input, &dependences, words, &mut states, &mut queues);
        let varying = most.varying.min(input.varying.most_between(region.first, region.end));
        reached.all = reached.all.max(most.all.min(input.pressure.most_between(region.first, region.end)));
        reached.varying = reached.varying.max(varying);
        if region.is_loop {
            reached.varying_in_loops = reached.varying_in_loops.max(varying);
        }
    }
    reached
}

fn regions(function: &Function, loops: &Loops) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    let mut before = None;
    for block in function.blocks() {
        let (innermost, insts) = (loops.innermost(block), function.block_range(block));
        match regions.last_mut() {
            Some(region) if before == Some(innermost) => region.end = insts.end,
            _ => regions.push(Region { first: insts.start, end: insts.end, is_loop: innermost.is_some() }),
        }
        before = Some(innermost);
    }
    for region in &mut regions {
        // What the last instruction writes counts as read behind the region, with debug values behind it, too.
        let code = (region.first.0..region.end.0).map(Inst).rfind(|&inst| function.role(inst) != Role::Debug);
        region.end = code.map_or(region.first, |last| Inst(last.0 + 1));
    }
    regions
}

/// The words that are live somewhere in each region, sorted, each once.
fn words_in(input: &Input<'_>, regions: &[Region]) -> Grouping<RegionNumber, Word> {
    let mut found: Vec<(RegionNumber, Word)> = Vec::with_capacity(input.words.len());
    let mut region_of = IndexVec::<Inst, u32>::filled(0, input.function.num_insts());
    for (number, region) in (0..).zip(regions) {
        region_of.range_mut(region.first..region.end).fill(number);
    }
    for word in (0..input.words.len()).map(Word::new) {
        let mut next = 0;
        for &(start, end) in input.stretches.of(word) {
            let mut at = region_of.get(start.inst()).map_or(regions.len(), |&region| region as usize).max(next);
            while regions.get(at).is_some_and(|region| Point::early(region.first) < end) {
                found.push((RegionNumber::new(at), word));
                at += 1;
            }
            next = at;
        }
    }
    Grouping::new(regions.len(), found.iter().copied())
}

/// O(log blocks) where an instruction reads.
fn is_block_start(function: &Function, point: Point) -> bool {
    let is_first = |inst| function.block_range(function.block_of(inst)).start == inst;
    point == Point::early(point.inst()) && is_first(point.inst())
}

/// Whether a word comes into a region from outside, and whether it is read behind it.
fn boundary(input: &Input<'_>, region: &Region, word: Word) -> WordState {
    let (first, end) = (Point::early(region.first), Point::early(region.end));
    let mut state = WordState::default();
    for &(start, stop) in input.stretches.of(word) {
        if stop > first && start < end {
            // What comes into a block starts where its first instruction reads; so does what that writes early, which
            // is taken for the same.
            state.is_live |= start < first || is_block_start(input.function, start);
            state.stays |= stop >= end;
        }
    }
    // What comes into a loop comes round.
    state.stays |= region.is_loop && state.is_live;
    state
}
