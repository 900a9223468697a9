//! Promotion of stack variables to registers, which ptxas performs before its allocation.
//!
//! The document on ptxas's allocator lists a pass for this promotion, ConvertMemoryToRegisterOrUniform, and an
//! eligibility check that counts a function's properties. The figures of this check are not legible. Experiments, which
//! are in the notebook, show what ptxas 13.0.88 promotes. ptxas treats all variables of a function as one,
//! `__local_depot`, so it promotes all of them or none. It promotes variables that are only loaded and stored in local
//! memory, in values of one width of 16 or 32 bits, if their address has no other use. A value at a computed address is
//! selected from all values that the address could refer to. ptxas promotes only if these selections cost less than the
//! memory accesses, weighted by loops.

mod promoted_values;
mod promotion_obstacle;
mod refusal;
mod stack_accesses;
#[cfg(test)]
mod tests;

use promoted_values::{Input, PromotedValues};
use promotion_obstacle::ObstacleSearch;
pub use promotion_obstacle::{Index, PromotionObstacle, UnpromotedVariable};
use refusal::PromotionRefusal;
pub(in crate::forecast) use stack_accesses::Transfer;
use stack_accesses::{Access, Address, StackAccesses};

use std::ops::Range;

use crate::analysis::{Cfg, LiveRanges, Loops, Occurrences, Point, UnrolledLoops, Unrolling};
use crate::function::{Function, Inst, Slot, VReg};
use crate::index::EntityIndex;
use crate::target::Classification;

/// Most values that a computed address may select from.
const MOST_PICKED_FROM: i64 = 93;

/// Instructions that promotion saves for a store or load at a known place, which disappears.
const STORE_GAINS: f64 = 4.1;
const LOAD_GAINS: f64 = 3.52;

/// Instructions that promotion saves for a load or store at a computed place. One instruction is subtracted for each
/// value that the address may refer to.
const PICK_GAINS: f64 = 5.66;
const REPLACE_GAINS: f64 = 3.83;

/// Factor of an access's weight for each loop around the access.
const TURNS: f64 = 16.0;

/// A set of values of the stack, by their numbers.
type Values = u128;

/// Largest number of values in the experiments. Larger stacks stay in memory.
const MOST_VALUES: i64 = Values::BITS as i64;

/// The stack variables of a function, if they are promoted. The memory is reused for the next function.
#[derive(Debug)]
pub(in crate::forecast) struct Promotion {
    stack: StackAccesses,
    /// Why the variables are not promoted; `None` if they are.
    refusal: Option<PromotionRefusal>,
    layout: Layout,
    promoted: PromotedValues,
    /// Whether all accesses are known.
    is_followed: bool,
    /// Accesses at computed addresses that become constants once ptxas has unrolled the loop around them. In the order
    /// of the code.
    known_in_turns: Vec<Inst>,
}

/// Layout of the values in the stack, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Bytes of a value, 1 or more.
    step: i64,
    count: i64,
}

impl Promotion {
    /// Decides about the promotion of a function's variables. O(operands + passes over the blocks · accesses) if there
    /// is a stack.
    pub(in crate::forecast) fn compute(
        &mut self,
        function: &Function,
        (cfg, loops, unrolled): (&Cfg, &Loops, &UnrolledLoops<'_>),
        (occurrences, ranges): (&Occurrences, &LiveRanges),
    ) {
        self.promoted.clear();
        self.known_in_turns.clear();
        let found = self.stack.compute(function, occurrences);
        if found.is_ok() && !loops.is_empty() {
            self.find_known_in_turns(unrolled, function, loops);
        }
        self.is_followed = found.is_ok();
        self.refusal = found.and_then(|()| self.find_values()).and_then(|()| self.pays(function, loops)).err();
        if self.is_promoted() {
            let (accesses, layout) = (&self.stack.accesses, self.layout);
            self.promoted.compute(&Input { function, cfg, ranges, accesses, layout });
        }
    }

    /// Whether ptxas keeps the variables in registers.
    pub(in crate::forecast) fn is_promoted(&self) -> bool {
        self.refusal.is_none()
    }

    /// Returns why the variables of the function are in memory; `None` if they are not, or there are no variables.
    /// O(uses of the address that is the cause).
    pub(in crate::forecast) fn in_memory(
        &self,
        (function, classification): (&Function, &Classification),
        occurrences: &Occurrences,
    ) -> Option<UnpromotedVariable> {
        let search = ObstacleSearch { function, classification, occurrences, stack: &self.stack, layout: self.layout };
        search.of(self.refusal?)
    }

    /// Yields the registers that are addresses of promoted variables, which are not computed.
    pub(in crate::forecast) fn addresses(&self) -> impl Iterator<Item = VReg> + '_ {
        self.is_promoted().then(|| self.stack.addresses()).into_iter().flatten()
    }

    /// Yields ranges between two points, in the order of the code, each with the number of the variables' words that
    /// are live in it.
    pub(in crate::forecast) fn words(&self) -> impl Iterator<Item = ((Point, Point), u32)> + '_ {
        self.promoted
            .promoted_ranges()
            .iter()
            .map(|range| ((range.start, range.end), self.layout.words_of(range.values)))
    }

    /// Yields the variables that are live at a point, with their words. A word that two variables share counts for the
    /// first.
    pub(in crate::forecast) fn promoted_at(&self, point: Point) -> impl Iterator<Item = (Slot, u32)> + '_ {
        let values = self.promoted.at(point);
        let slots = self.stack.starts.ids().filter(move |_| values != 0);
        let words = slots.scan((0, 0), move |(seen, told), slot| {
            *seen |= values & self.values_of_slot(slot);
            let words = self.layout.words_of(*seen) - *told;
            *told += words;
            Some((slot, words))
        });
        words.filter(|&(_, words)| words > 0)
    }

    /// Yields the ranges in which any value of a variable is live, in the order of the code.
    pub(in crate::forecast) fn stretches_of(&self, slot: Slot) -> impl Iterator<Item = (Point, Point)> + '_ {
        let own = self.values_of_slot(slot);
        let ranges = self.promoted.promoted_ranges().iter().filter(move |range| range.values & own != 0);
        ranges.map(|range| (range.start, range.end))
    }

    /// Yields the stores that may write a variable.
    pub(in crate::forecast) fn stores_to(&self, slot: Slot) -> impl Iterator<Item = Inst> + '_ {
        let own = self.values_of_slot(slot);
        let stores = self.stack.accesses.iter().filter(|access| access.is_store);
        stores.filter(move |access| self.layout.values_of(access) & own != 0).map(|access| access.inst)
    }

    /// Finds the accesses at computed addresses that are constants in each iteration of a loop that ptxas unrolls in
    /// full.
    fn find_known_in_turns(&mut self, unrolled: &UnrolledLoops<'_>, function: &Function, loops: &Loops) {
        let stack = &self.stack;
        let is_known = |reg| matches!(stack.address(reg), Some(Address::At(_)));
        let computed = stack.accesses.iter().filter(|access| matches!(access.address, Address::Anywhere(_)));
        let is_known_in_turns = |access: &&Access| {
            let base =
                Transfer::of(function, access.inst).and_then(|of| function.operands(access.inst)[of.address].reg());
            loops.innermost(function.block_of(access.inst)).zip(base).is_some_and(|(this, base)| {
                matches!(unrolled.unrolling(this), Ok(Unrolling::Whole(_)))
                    && unrolled.is_known_in_turns(this, base, &is_known)
            })
        };
        self.known_in_turns.extend(computed.filter(is_known_in_turns).map(|access| access.inst));
    }

    /// Returns the bytes of the stack that an access covers, or the whole stack if they are unknown. `None` for an
    /// instruction that is no access, or for a stack with unknown accesses.
    pub(in crate::forecast) fn place(&self, inst: Inst) -> Option<Range<i64>> {
        let accesses = if self.is_followed { &self.stack.accesses[..] } else { &[] };
        let access = &accesses[accesses.binary_search_by_key(&inst, |access| access.inst).ok()?];
        Some(match access.address {
            Address::At(offset) => {
                offset..offset.saturating_add(i64::from(access.width / 8).saturating_mul(i64::from(access.values)))
            }
            Address::Anywhere(_) => 0..self.stack.bytes,
        })
    }

    /// Lays out the values. An error if the values have several widths or a width that is not promoted, if an access
    /// crosses their borders, or if there are too many values.
    fn find_values(&mut self) -> Result<(), PromotionRefusal> {
        let accesses = &self.stack.accesses;
        let &Access { inst: first, width, .. } = accesses.first().ok_or(PromotionRefusal::NotAccessed)?;
        let step = i64::from(width / 8).max(1);
        self.layout = Layout { step, count: self.stack.bytes / step };
        let Layout { count, .. } = self.layout;
        if !matches!(width, 16 | 32) {
            return Err(PromotionRefusal::Width(first));
        }
        if let Some(other) = accesses.iter().find(|access| access.width != width) {
            return Err(PromotionRefusal::OtherWidth(first, other.inst));
        }
        for access in accesses {
            match access.address {
                Address::At(offset) => {
                    let end = offset.saturating_add(i64::from(access.values) * step);
                    if offset < 0 || end > count * step || offset % step != 0 {
                        return Err(PromotionRefusal::Misaligned(access.inst));
                    }
                }
                Address::Anywhere(_) if self.known_in_turns.contains(&access.inst) => {}
                Address::Anywhere(offset) => {
                    if count.saturating_add(offset.max(0) / step) > MOST_PICKED_FROM {
                        return Err(PromotionRefusal::TooManyMeant(access.inst));
                    }
                }
            }
        }
        if count > MOST_VALUES { Err(PromotionRefusal::TooMany) } else { Ok(()) }
    }

    /// Checks that selecting and replacing values costs no more than the removed loads and stores.
    fn pays(&self, function: &Function, loops: &Loops) -> Result<(), PromotionRefusal> {
        let gain = |access: &Access| {
            let meant = self.layout.count as f64 / f64::from(access.values.max(1));
            let gains = match (access.address, access.is_store) {
                (_, true) if self.known_in_turns.contains(&access.inst) => STORE_GAINS,
                (_, false) if self.known_in_turns.contains(&access.inst) => LOAD_GAINS,
                (Address::At(_), true) => STORE_GAINS,
                (Address::At(_), false) => LOAD_GAINS,
                (Address::Anywhere(_), true) => REPLACE_GAINS - meant,
                (Address::Anywhere(_), false) => PICK_GAINS - meant,
            };
            gains * TURNS.powi(loops.depth(function.block_of(access.inst)).min(30) as i32)
        };
        let accesses = &self.stack.accesses;
        if accesses.iter().map(gain).sum::<f64>() >= 0.0 {
            return Ok(());
        }
        let worst = accesses.iter().min_by(|a, b| gain(a).total_cmp(&gain(b)));
        Err(worst.map_or(PromotionRefusal::NotAccessed, |access| PromotionRefusal::Costly(access.inst)))
    }

    /// Returns the values of a variable.
    fn values_of_slot(&self, slot: Slot) -> Values {
        let (starts, step) = (&self.stack.starts, self.layout.step);
        let end = starts.get(Slot::new(slot.index() + 1)).copied().unwrap_or(self.stack.bytes);
        numbered(starts[slot] / step, (end - starts[slot]) / step)
    }
}

impl Default for Promotion {
    /// Returns the state of a function without variables.
    fn default() -> Self {
        Self {
            stack: StackAccesses::default(),
            refusal: Some(PromotionRefusal::NoStack),
            layout: Layout::default(),
            promoted: PromotedValues::default(),
            is_followed: false,
            known_in_turns: Vec::new(),
        }
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self { step: 1, count: 0 }
    }
}

impl Layout {
    /// Returns the values that an access may read or write.
    fn values_of(self, access: &Access) -> Values {
        match access.address {
            Address::At(offset) => numbered(offset / self.step, i64::from(access.values)),
            Address::Anywhere(_) => numbered(0, self.count),
        }
    }

    fn words_of(self, values: Values) -> u32 {
        (values.count_ones() * self.step as u32).div_ceil(4)
    }
}

/// Returns `count` values, starting with `first`.
fn numbered(first: i64, count: i64) -> Values {
    let up_to = |end: i64| if end >= MOST_VALUES { Values::MAX } else { (1 << end.max(0)) - 1 };
    up_to(first.saturating_add(count)) & !up_to(first)
}
