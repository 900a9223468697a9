//! Predicates stored as bits of general registers: bit-spills.
//!
//! A thread has seven predicates. ptxas also stores additional predicates as bits, but moves them wherever it needs a
//! predicate. For example, in a tile of 64 branches, each branch clears the predicates of all others. The tile took
//! 20,615 instructions with ptxas's own bits, and 9,783 with bits that this module chooses. A bit takes two
//! instructions at a definition of its predicate, and one in each block that reads it.
//!
//! Predicates that live in one block do not become bits, because ptxas moves a comparison next to the instruction that
//! reads it. Predicates of [rematerialised comparisons](super::remat) do not become bits, either. Across blocks, ptxas
//! may also repeat a comparison if that is cheaper than a bit. It cannot if several definitions, each on its own path,
//! set the predicate. By default, only predicates with several definitions become bits, and only if bits take [fewer
//! instructions](gain) than ptxas does. An option extends this to all predicates.
//!
//! Predicates that are never live together share a bit, as spilled values share a slot, and 32 bits form a register. A
//! bit is a slot in the edits. The code that applies the edits assigns the register and clears it at the function's
//! entry.

mod gain;

use std::ops::Range;

use gain::{Gain, gains};
use rustc_hash::FxHashMap;

use super::groups::{Group, freed, group};
use super::insertion_point::InsertionPoint;
use super::packing::pack_into_slots;
use crate::analysis::pressure::Pressure;
use crate::analysis::{Cfg, LiveRanges, Occurrence, Occurrences};
use crate::function::{BitPlace, Block, Edit, EditList, Effects, Function, Inst, RegClass, Role, Slot, VReg};
use crate::index::IndexVec;
use crate::target::asynchrony;
use crate::target::machine::PREDICATES;

/// Cost of setting a bit, relative to a read of a bit.
const STORE: f64 = 2.0;

/// A function that has left SSA form, and its analyses.
pub(crate) struct Facts<'a> {
    pub(crate) function: &'a Function,
    pub(crate) cfg: &'a Cfg,
    pub(crate) occurrences: &'a Occurrences,
    pub(crate) frequencies: &'a IndexVec<Block, f64>,
    pub(crate) live: &'a LiveRanges,
}

/// A predicate that may be stored as a bit.
struct Candidate {
    reg: VReg,
    definitions: Vec<Occurrence>,
    groups: Vec<Group>,
    /// The stretches in which no register holds the predicate while it is a bit.
    freed: Vec<Range<u32>>,
    /// Instructions that access the bit, weighted by frequency, divided by the executed instructions at which the
    /// predicate is freed.
    price: f64,
}

/// Number of predicates that became bits, and of accesses to the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BitSpillCounts {
    pub(crate) predicates: usize,
    pub(crate) accesses: usize,
}

/// Which eligible predicates become bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// All.
    Any,
    /// Only predicates whose bits make the code shorter, without more executed instructions.
    Shorter,
}

/// Turns predicates into bits, the cheapest first, where more than seven predicates that cross blocks are live at once.
/// Does nothing unless more than `many` are live somewhere. Only predicates that `may_go` accepts are counted and
/// become bits. O(n log n) in operands and the blocks that registers are live into, and a search among the chosen bits
/// for each predicate.
pub(crate) fn spill_predicates(
    facts: &Facts<'_>,
    (many, policy): (u32, Policy),
    may_go: impl Fn(VReg) -> bool,
    edits: &mut EditList,
) -> BitSpillCounts {
    let Facts { function, live, .. } = *facts;
    let is_global = |reg: VReg| function.class(reg) == RegClass::B1 && !live.live_ins(reg).is_empty();
    let mut pressure = Pressure::weighted(function, live, |reg| u32::from(is_global(reg) && may_go(reg)));
    if pressure.peak() <= many {
        return BitSpillCounts::default();
    }
    let runs = Runs::new(facts);
    let global = function.regs().filter(|&reg| is_global(reg) && may_go(reg));
    let mut candidates: Vec<Candidate> = global.filter_map(|reg| candidate(facts, &pressure, &runs, reg)).collect();
    if policy == Policy::Shorter {
        retain_shorter(facts, &mut candidates);
    }
    candidates.sort_by(|one, other| one.price.total_cmp(&other.price).then(one.reg.cmp(&other.reg)));
    candidates.retain(|candidate| {
        let is_full = candidate.freed.iter().any(|stretch| pressure.most_in(stretch) > PREDICATES.min(many));
        if is_full {
            candidate.freed.iter().for_each(|stretch| pressure.take(stretch, 1));
        }
        is_full
    });
    let chosen: Vec<VReg> = candidates.iter().map(|candidate| candidate.reg).collect();
    // A sequence of constants may now lack predicates that were not chosen, so the gains are computed again.
    if policy == Policy::Shorter && !gains(facts, &chosen).into_iter().sum::<Gain>().pays() {
        return BitSpillCounts::default();
    }
    let mut slot_of: FxHashMap<VReg, Slot> = FxHashMap::default();
    for (number, sharing) in (0..).zip(pack_into_slots(&chosen, live)) {
        let slot = edits.create_bit_slot(BitPlace { word: number / u32::BITS, bit: number % u32::BITS });
        slot_of.extend(sharing.into_iter().map(|reg| (reg, slot)));
    }
    // If several accesses have the same place, stores come first, because a constant must directly precede its own
    // store.
    let stores: usize = candidates.iter().map(|one| one.store(function, slot_of[&one.reg], edits)).sum();
    let tests: usize = candidates.iter().map(|one| one.test(function, slot_of[&one.reg], edits)).sum();
    BitSpillCounts { predicates: chosen.len(), accesses: stores + tests }
}

/// Removes the candidates that would not make the code shorter.
fn retain_shorter(facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let regs: Vec<VReg> = candidates.iter().map(|candidate| candidate.reg).collect();
    let mut gains = gains(facts, &regs).into_iter();
    candidates.retain(|_| gains.next().is_some_and(Gain::pays));
}

/// Prefix sums of the instructions' frequencies. A debug instruction counts as 0.
struct Runs(Vec<f64>);

impl Runs {
    fn new(facts: &Facts<'_>) -> Self {
        let mut sums = vec![0.0];
        let mut sum = 0.0;
        for block in facts.function.blocks() {
            for inst in facts.function.block_insts(block) {
                if facts.function.role(inst) != Role::Debug {
                    sum += facts.frequencies[block];
                }
                sums.push(sum);
            }
        }
        Self(sums)
    }

    fn of(&self, stretch: &Range<u32>) -> f64 {
        self.0[stretch.end as usize] - self.0[stretch.start as usize]
    }
}

/// Returns the candidate of a predicate whose accesses can all be replaced. `None` if an operand is tied to another
/// register, if an instruction or a path leaves the predicate undefined, or if an asynchronous instruction or a call
/// accesses it.
fn candidate(facts: &Facts<'_>, pressure: &Pressure, runs: &Runs, reg: VReg) -> Option<Candidate> {
    let Facts { function, live, frequencies, .. } = *facts;
    let accesses = facts.occurrences.of(reg);
    let definitions: Vec<Occurrence> = accesses.iter().copied().filter(Occurrence::is_def).collect();
    let is_plain = |access: &Occurrence| {
        let effects = Effects::TERMINATOR | Effects::CALL_SEQUENCE;
        let is_definition_of_its_own = !function.effects(access.inst).intersects(effects)
            && !matches!(function.role(access.inst), Role::Phi | Role::Undef);
        let operand = &function.operands(access.inst)[access.operand as usize];
        operand.tied.is_none()
            && asynchrony(function, access.inst).is_none()
            && if access.is_def() { is_definition_of_its_own } else { access.is_use() }
    };
    let is_reached = |block: Block| block != Block(0) && facts.cfg.is_reachable(block);
    if !accesses.iter().all(is_plain) || !live.live_ins(reg).iter().all(|live_in| is_reached(live_in.block)) {
        return None;
    }
    // One group for each block, because ptxas would merge equal tests of a bit within a block.
    let groups = group(function, accesses, pressure, u32::MAX);
    let reads = groups.iter().filter(|group| !group.has_definition).map(|group| frequencies[group.block]);
    let writes = definitions.iter().map(|definition| STORE * frequencies[definition.block]);
    let cost: f64 = reads.chain(writes).sum();
    let freed = freed(reg, definitions.iter().map(|definition| definition.inst), &groups, live);
    let without: f64 = freed.iter().map(|stretch| runs.of(stretch)).sum();
    (without > 0.0).then(|| Candidate { reg, definitions, groups, freed, price: cost / without })
}

impl Candidate {
    /// Sets the bit after each definition. Returns the number of stores.
    fn store(&self, function: &Function, slot: Slot, edits: &mut EditList) -> usize {
        for definition in &self.definitions {
            edits.insert_spill(InsertionPoint::after(function, definition).position(function), self.reg, slot);
        }
        self.definitions.len()
    }

    /// Tests the bit before each group of reads. Returns the number of tests.
    fn test(&self, function: &Function, slot: Slot, edits: &mut EditList) -> usize {
        let tests = self.groups.iter().filter(|group| !group.has_definition);
        for group in tests.clone() {
            let Inst(before) = group.place;
            let reg = edits.create_register(RegClass::B1);
            edits.insert_reload(InsertionPoint { block: group.block, before }.position(function), reg, slot);
            for read in &group.reads {
                edits.push(Edit::SetRegister { inst: read.inst, operand: read.operand, reg });
            }
        }
        tests.count()
    }
}
