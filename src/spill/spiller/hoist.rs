//! Where the values that were chosen come back: one reload for several groups of reads, where that is rarer.
//!
//! A source is a register that holds the value: that of the definition, or that of a reload. A source may serve the reads
//! of another that it dominates, if its register can be live from there to them: backwards from the reads, every
//! instruction up to the source has room for it. So
//! * a reload goes if a source that dominates it can serve its reads: the value is then in a register on all paths there;
//! * a reload at the end of a block takes the place of those that the block dominates, if it runs more rarely than they do
//!   together. The end of a block ahead of a loop is such a place for reloads in the loop.
//!
//! Invariant: a register is defined once, its source dominates all reads that it serves, and where it is live in addition,
//! at most `words` words are live with it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::aim::Aim;
use super::choice::{Choice, Chosen};
use super::facts::Facts;
use super::moved::{Moved, Reload};
use super::stores;
use crate::analysis::pressure::Pressure;
use crate::analysis::{Cfg, Dominators, Loops, Occurrence};
use crate::function::{Block, Function};
use crate::index::IndexVec;
use crate::spill::at::At;
use crate::spill::groups::Group;

/// The most blocks that the reads of one reload are followed through, and the most steps up the dominator tree.
const MOST_STEPS: usize = 256;

/// The most reloads of a value whose places are compared with each other.
const MOST_RELOADS: usize = 128;

/// A reload must run at least this much more rarely than those that it replaces, as a share.
const RARER: f64 = 0.999;

/// The places where chosen values are stored and come back, and the words that are then live at each instruction. Values that
/// need no reload any more, and values of which no store reaches one, are left out: they stay in their registers. Values that
/// are computed again, that have a sink, and that have several definitions come back where they were chosen to.
/// O(reloads · (log + steps)), and O(blocks) for each value with several definitions.
pub(super) fn place_reloads(facts: &Facts<'_>, choice: Choice, aim: &Aim) -> (Vec<Moved>, Pressure) {
    let Facts { function, cfg, dominators, loops, frequencies, .. } = facts;
    let Choice { chosen, mut pressure, .. } = choice;
    let (words, pressure_now) = (aim.words, &mut pressure);
    let mut hoisting =
        Hoisting { function, cfg, dominators, loops, frequencies, pressure: pressure_now, words, size: 0 };
    let place = |chosen: Chosen| {
        let mut sources = hoisting.sources(&chosen);
        if aim.hoists && chosen.home.slot.is_some() && chosen.sink.is_none() && chosen.is_stored_once() {
            hoisting.size = function.class(chosen.reg).words();
            hoisting.improve(&mut sources);
        }
        let mut sources = sources.into_iter().flatten();
        let definition = sources.next()?;
        let until = definition.covers.get(&definition.at.block).map_or(definition.at.before, |covered| covered.end);
        let reloads: Vec<Reload> = sources.map(|source| Reload { at: source.at, reads: source.reads }).collect();
        let accesses = facts.occurrences.of(chosen.reg).iter().copied();
        let writes: Vec<Occurrence> = accesses.filter(Occurrence::is_def).collect();
        let stores = stores::places(function, cfg, &chosen, &writes, &reloads);
        (!reloads.is_empty() && !stores.is_empty()).then_some(Moved { chosen, reloads, stores, until })
    };
    let moved = chosen.into_iter().filter_map(place).collect();
    (moved, pressure)
}

/// A register that holds a value.
struct Source {
    at: At,
    reads: Vec<Occurrence>,
    /// The instructions of each block at whose reads it is live. They begin at the source, or at the start of the block.
    covers: BTreeMap<Block, Range<u32>>,
}

impl Source {
    fn new(at: At, reads: &[Occurrence], end: u32) -> Self {
        Self { at, reads: reads.to_vec(), covers: BTreeMap::from([(at.block, at.before..end)]) }
    }
}

struct Hoisting<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    loops: &'a Loops,
    frequencies: &'a IndexVec<Block, f64>,
    pressure: &'a mut Pressure,
    words: u32,
    /// The words of the value's registers.
    size: u32,
}

impl Hoisting<'_> {
    /// The first definition or the sink, and a reload for each group that no definition serves.
    fn sources(&self, chosen: &Chosen) -> Vec<Option<Source>> {
        let near = chosen.groups.iter().find(|group| group.has_definition);
        let end = |group: &Group, at: At| group.kept.iter().find(|kept| kept.start == at.before).map(|kept| kept.end);
        let definition = &chosen.definitions[0];
        let behind = At { block: definition.block, before: definition.inst.0 + 1 };
        let first = chosen.sink.map_or(behind, |sink| At::end(self.function, sink));
        let of_group = |group: &Group| {
            let at = At { block: group.block, before: group.place.0 };
            Some(Source::new(at, &group.reads, end(group, at).unwrap_or(at.before)))
        };
        let reads = near.map_or(&[][..], |group| &group.reads);
        let until = near.and_then(|group| end(group, first)).unwrap_or(first.before);
        let mut sources = vec![Some(Source::new(first, reads, until))];
        sources.extend(chosen.reloads().map(of_group));
        sources
    }

    fn improve(&mut self, sources: &mut Vec<Option<Source>>) {
        self.absorb(sources);
        if self.hoist(sources) {
            self.absorb(sources);
        }
    }

    /// Whether a source stands ahead of another on all paths to that.
    fn dominates(&self, one: At, other: At) -> bool {
        match one.block == other.block {
            true => one.before <= other.before,
            false => self.dominators.dominates(one.block, other.block),
        }
    }

    /// The reloads, each behind those that dominate it.
    fn in_order(&self, sources: &[Option<Source>]) -> Vec<usize> {
        let place = |number: usize| sources[number].as_ref().map(|source| source.at);
        let mut order: Vec<usize> = (1..sources.len()).filter(|&number| place(number).is_some()).collect();
        order.sort_by_key(|&number| place(number).map(|at| (self.dominators.preorder(at.block), at.before)));
        order
    }

    /// Takes away each reload whose reads the nearest source that dominates it can serve. What the nearest one cannot
    /// serve none can: the paths from the others pass it.
    fn absorb(&mut self, sources: &mut [Option<Source>]) {
        let mut above = vec![0];
        for number in self.in_order(sources) {
            let Some(source) = sources[number].take() else { continue };
            while let Some(nearest) = above.pop() {
                let Some(candidate) = sources[nearest].as_mut() else { continue };
                if !self.dominates(candidate.at, source.at) {
                    continue;
                }
                above.push(nearest);
                if self.serve(candidate, &source).is_none() {
                    sources[number] = Some(source);
                    above.push(number);
                }
                break;
            }
        }
    }

    /// Puts reloads at the ends of blocks in place of those that run more often together. Whether there are any.
    fn hoist(&mut self, sources: &mut Vec<Option<Source>>) -> bool {
        let order = self.in_order(sources);
        let mut has_hoisted = false;
        if !(1..=MOST_RELOADS).contains(&order.len()) {
            return false;
        }
        for block in self.places(sources, &order) {
            let is_below = |number: &usize| {
                let source = sources[*number].as_ref();
                source.is_some_and(|source| self.dominators.strictly_dominates(block, source.at.block))
            };
            let below: Vec<usize> = (1..sources.len()).filter(is_below).collect();
            let runs = |number: usize| sources[number].as_ref().map_or(0.0, |source| self.frequencies[source.at.block]);
            if self.frequencies[block] >= RARER * below.iter().map(|&number| runs(number)).sum::<f64>() {
                continue;
            }
            let at = At::end(self.function, block);
            let mut hoisted = Source::new(at, &[], at.before);
            let mut added = Vec::new();
            let mut served = Vec::new();
            for number in below {
                if let Some(parts) = sources[number].as_ref().and_then(|source| self.serve(&mut hoisted, source)) {
                    added.extend(parts);
                    served.push(number);
                }
            }
            let often = served.iter().map(|&number| runs(number)).fold(1.0, f64::max);
            let together: f64 = served.iter().map(|&number| runs(number)).sum();
            if self.frequencies[block] < RARER * together && self.frequencies[block] <= often {
                served.iter().for_each(|&number| sources[number] = None);
                sources.push(Some(hoisted));
                has_hoisted = true;
            } else {
                added.iter().for_each(|part| self.pressure.take(part, self.size));
            }
        }
        has_hoisted
    }

    /// The blocks at whose ends a reload may serve several others: the nearest that dominate two that follow each other in
    /// the tree, and those ahead of loops. The deepest first.
    fn places(&self, sources: &[Option<Source>], order: &[usize]) -> Vec<Block> {
        let blocks = order.iter().filter_map(|&number| sources[number].as_ref().map(|source| source.at.block));
        let blocks: Vec<Block> = blocks.collect();
        let mut places: Vec<Block> = blocks.windows(2).filter_map(|pair| self.common(pair[0], pair[1])).collect();
        for &block in &blocks {
            let loops = std::iter::successors(self.loops.innermost(block), |&inner| self.loops.parent(inner));
            places.extend(loops.filter_map(|around| self.dominators.idom(self.loops.header(around))));
        }
        let definition = sources[0].as_ref().map(|source| source.at.block);
        places.retain(|&block| definition.is_some_and(|definition| self.dominators.dominates(definition, block)));
        places.sort_unstable_by_key(|&block| Reverse(self.dominators.preorder(block)));
        places.dedup();
        places
    }

    /// The nearest block that dominates both; none where it is far.
    fn common(&self, mut one: Block, other: Block) -> Option<Block> {
        for _ in 0..MOST_STEPS {
            if self.dominators.dominates(one, other) {
                return Some(one);
            }
            one = self.dominators.idom(one)?;
        }
        None
    }

    /// Lets a source serve the reads of another that it dominates, if there is room for its register on the way. Returns
    /// the stretches that it is live in and no register of the value was.
    fn serve(&mut self, source: &mut Source, other: &Source) -> Option<Vec<Range<u32>>> {
        let mut ends: BTreeMap<Block, u32> = BTreeMap::new();
        let mut parts = Vec::new();
        let mut todo: Vec<(Block, u32)> = other.reads.iter().map(|read| (read.block, read.inst.0 + 1)).collect();
        let mut steps = todo.len() + MOST_STEPS;
        while let Some((block, end)) = todo.pop() {
            steps = steps.checked_sub(1)?;
            let is_own = block == source.at.block;
            let start = if is_own { source.at.before } else { self.function.block_range(block).start.0 };
            let covered = ends.get(&block).copied().or_else(|| source.covers.get(&block).map(|covered| covered.end));
            if covered.is_none() && !is_own {
                let end_of = |&pred: &Block| (pred, self.function.block_range(pred).end.0);
                todo.extend(self.cfg.preds(block).iter().map(end_of));
            }
            let from = covered.unwrap_or(start);
            ends.insert(block, end.max(from));
            let others = other.covers.get(&block).cloned().unwrap_or(0..0);
            for part in [from..end.min(others.start.max(from)), others.end.max(from)..end] {
                let part = if others.is_empty() { from..end } else { part };
                if !part.is_empty() {
                    if self.pressure.most_in(&part) + self.size > self.words {
                        return None;
                    }
                    parts.push(part);
                }
                if others.is_empty() {
                    break;
                }
            }
        }
        parts.iter().for_each(|part| self.pressure.put(part, self.size));
        for (block, end) in ends {
            let start =
                if block == source.at.block { source.at.before } else { self.function.block_range(block).start.0 };
            source.covers.entry(block).or_insert(start..end).end = end;
        }
        source.reads.extend(&other.reads);
        Some(parts)
    }
}
