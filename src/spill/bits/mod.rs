//! Predicates kept as bits of general registers, which is called a bit-spill.
//!
//! A thread has seven predicates. ptxas keeps further ones as bits, too, and moves them there and back wherever it needs one: a
//! tile of 64 branches that each clear the predicates of all others took 20,615 instructions, and 9,783 with bits that are chosen
//! here. A bit takes two instructions where its predicate is defined, and one in each block that reads it.
//!
//! Predicates that live in one block stay: ptxas moves a comparison next to the instruction that reads it. So do those that
//! [comparisons made again](super::remat) serve. Across blocks, too, ptxas may compare again where that is cheaper than a bit. It
//! cannot where several definitions, each on paths of its own, set a predicate. So by default only these go, and only where bits take
//! [fewer instructions](gain) than ptxas does; all go only if asked.
//!
//! Predicates that are never live together share a bit, as values in memory share a slot, and 32 bits are a register. Which
//! register that is, and that it holds no predicate at first, is left to what applies the edits: a bit is a slot there.

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

/// What setting a bit costs, in reads of one: the others are kept.
const STORE: f64 = 2.0;

/// A function that has left SSA form, and its analyses.
pub(crate) struct Facts<'a> {
    pub(crate) function: &'a Function,
    pub(crate) cfg: &'a Cfg,
    pub(crate) occurrences: &'a Occurrences,
    pub(crate) frequencies: &'a IndexVec<Block, f64>,
    pub(crate) live: &'a LiveRanges,
}

/// A predicate that may be kept as a bit.
struct Candidate {
    reg: VReg,
    definitions: Vec<Occurrence>,
    groups: Vec<Group>,
    /// The stretches in which no register holds it while it is a bit.
    freed: Vec<Range<u32>>,
    /// Instructions for the bit, each as often as it runs, for each instruction without the predicate.
    price: f64,
}

/// How many predicates became bits, and by how many instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BitSpillCounts {
    pub(crate) predicates: usize,
    pub(crate) accesses: usize,
}

/// Which predicates are kept as bits, of those that may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// All.
    Any,
    /// Those with which the code gets shorter, and runs no more instructions.
    Shorter,
}

/// Keeps predicates as bits where more than seven that live in several blocks are live at once, if somewhere more than `many` are:
/// the cheapest first. Only those that `may_go` are moved and count. O(n log n) in operands and the blocks that registers are live into, and a
/// search among the bits so far for each predicate that is chosen.
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
    // Constants of fewer predicates stand alone where others stood beside them.
    if policy == Policy::Shorter && !gains(facts, &chosen).into_iter().sum::<Gain>().pays() {
        return BitSpillCounts::default();
    }
    let mut slot_of: FxHashMap<VReg, Slot> = FxHashMap::default();
    for (number, sharing) in (0..).zip(pack_into_slots(&chosen, live)) {
        let slot = edits.create_bit_slot(BitPlace { word: number / u32::BITS, bit: number % u32::BITS });
        slot_of.extend(sharing.into_iter().map(|reg| (reg, slot)));
    }
    // Stores come first where several accesses share a place: a constant stands directly ahead of its own.
    let stores: usize = candidates.iter().map(|one| one.store(function, slot_of[&one.reg], edits)).sum();
    let tests: usize = candidates.iter().map(|one| one.test(function, slot_of[&one.reg], edits)).sum();
    BitSpillCounts { predicates: chosen.len(), accesses: stores + tests }
}

/// Leaves those with which the code gets shorter.
fn retain_shorter(facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let regs: Vec<VReg> = candidates.iter().map(|candidate| candidate.reg).collect();
    let mut gains = gains(facts, &regs).into_iter();
    candidates.retain(|_| gains.next().is_some_and(Gain::pays));
}

/// How often instructions run, up to each; what a variable is does not.
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

/// A predicate that each instruction reads or writes as it stands: none that one instruction must have in the register of another,
/// none that some instruction or path leaves undefined, none of an asynchronous instruction, and none that a call returns.
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
    // Within a block ptxas would find equal tests of a bit, and make one of them.
    let groups = group(function, accesses, pressure, u32::MAX);
    let reads = groups.iter().filter(|group| !group.has_definition).map(|group| frequencies[group.block]);
    let writes = definitions.iter().map(|definition| STORE * frequencies[definition.block]);
    let cost: f64 = reads.chain(writes).sum();
    let freed = freed(reg, definitions.iter().map(|definition| definition.inst), &groups, live);
    let without: f64 = freed.iter().map(|stretch| runs.of(stretch)).sum();
    (without > 0.0).then(|| Candidate { reg, definitions, groups, freed, price: cost / without })
}

impl Candidate {
    /// Sets the bit behind each definition. Returns how many those are.
    fn store(&self, function: &Function, slot: Slot, edits: &mut EditList) -> usize {
        for definition in &self.definitions {
            edits.insert_spill(InsertionPoint::after(function, definition).position(function), self.reg, slot);
        }
        self.definitions.len()
    }

    /// Tests the bit in front of each group of reads. Returns how many those are.
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
