//! The engine that chooses the values to spill: the cost model, or an allocator.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::plan::from_allocation::Parts;
use super::spiller::{Candidate, Facts};
use crate::allocate::briggs::Briggs;
use crate::allocate::fatpoint::Fatpoint;
use crate::allocate::greedy::Greedy;
use crate::allocate::{Allocator, LiveRange, Placement, Preset, Problem, ProblemError, split};
use crate::config::Chooser;
use crate::function::{Block, Inst, VReg};

/// An allocator and its constants.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The kind of engine. `Price` is the cost model, which needs no allocator.
    pub chooser: Chooser,
    /// The allocator's constants, except the register limit, which depends on the kernel.
    pub preset: Preset,
}

impl Engine {
    /// Returns an engine with the documented constants.
    pub fn new(chooser: Chooser) -> Self {
        Self { chooser, preset: Preset::HW }
    }

    fn allocator(&self) -> Option<Box<dyn Allocator>> {
        Some(match self.chooser {
            Chooser::Price => return None,
            Chooser::Greedy => Box::new(Greedy::default()),
            Chooser::Briggs => Box::new(Briggs { coalescing: self.preset.coalescing.clone() }),
            Chooser::Fatpoint => Box::new(Fatpoint { knobs: self.preset.fatpoint.clone() }),
        })
    }

    /// Returns the values that an allocator spills with `words` registers, each with its spilled parts.
    ///
    /// Values in uniform registers, constants and predicates do not occupy any of the registers. Values that may not be
    /// spilled occupy registers.
    ///
    /// # Errors
    /// An instruction needs more registers than there are, whatever is spilled.
    fn allocate<'f>(&self, allocator: &dyn Allocator, facts: &'f Facts<'_>, words: u32) -> Spilled<'f> {
        let candidates: BTreeMap<VReg, &Candidate> =
            facts.values.iter().filter(|value| value.is_held).map(|value| (value.reg, value)).collect();
        let preset = self.preset.clone().with_registers(words);
        let takes_registers = |reg: VReg| facts.counts[reg] && facts.function.class(reg).words() > 0;
        let may_spill = |reg: VReg| candidates.contains_key(&reg);
        let function = (facts.function, facts.classification);
        let problem = Problem::of_registers(function, &preset, &takes_registers, &may_spill);
        let found = split::allocate(allocator, &problem, &preset.splitting)?;
        let allocated = found.problem.as_ref().unwrap_or(&problem);
        let mut parts: BTreeMap<VReg, Parts> = BTreeMap::new();
        for range in allocated.ranges().ids() {
            let first = allocated.ranges()[range].part_of.unwrap_or(range);
            let (Placement::Spilled(_), Some(reg)) =
                (found.allocation.placements[range], allocated.ranges()[first].register)
            else {
                continue;
            };
            parts.entry(reg).or_default().push(blocks(facts, allocated, range));
        }
        let spilled = parts.into_iter().filter_map(|(reg, parts)| Some((*candidates.get(&reg)?, parts)));
        Ok(spilled.collect())
    }
}

/// The values that an allocator spills, each with its spilled parts.
type Spilled<'f> = Result<Vec<(&'f Candidate, Parts)>, ProblemError>;

/// Result of an engine for a function and a number of words. The engine runs when a plan first needs the result. The
/// same result serves several plans, which may spill the values to different memories.
#[derive(Debug)]
pub struct EngineResult<'f> {
    engine: Engine,
    spilled: OnceCell<Option<Spilled<'f>>>,
}

impl<'f> EngineResult<'f> {
    /// Wraps an engine that has not run yet.
    pub fn of(engine: Engine) -> Self {
        Self { engine, spilled: OnceCell::new() }
    }

    /// Returns the values that the engine spills; `None` for the cost model.
    pub(super) fn spilled(&self, facts: &'f Facts<'_>, words: u32) -> Option<&Spilled<'f>> {
        let ask = || Some(self.engine.allocate(&*self.engine.allocator()?, facts, words));
        self.spilled.get_or_init(ask).as_ref()
    }

    /// Whether a clean-up of the plan follows the allocator.
    pub(super) fn is_cleaned(&self) -> bool {
        self.engine.preset.cleanup
    }
}

/// Returns the blocks in which a live range is live. A block without instructions belongs to the range if a successor
/// does.
fn blocks(facts: &Facts<'_>, problem: &Problem, range: LiveRange) -> BTreeSet<Block> {
    let function = facts.function;
    let mut blocks = BTreeSet::new();
    let end = function.num_insts() as u32;
    for segment in problem.segments(range) {
        let (mut at, last) = (segment.start.0 / 4, (segment.end.0.saturating_sub(1) / 4).min(end.saturating_sub(1)));
        while at <= last {
            let block = function.block_of(Inst(at));
            blocks.insert(block);
            at = function.block_range(block).end.0;
        }
    }
    let mut todo: Vec<Block> = blocks.iter().copied().collect();
    while let Some(block) = todo.pop() {
        for &pred in facts.cfg.preds(block) {
            if function.block_range(pred).is_empty() && blocks.insert(pred) {
                todo.push(pred);
            }
        }
    }
    blocks
}
