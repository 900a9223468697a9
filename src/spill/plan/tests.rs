//! Compares plans with the edited functions: for arbitrary spilled parts, each read finds its value, and the live words
//! match the plan.

use std::collections::BTreeSet;

use arbitrary::{Result, Unstructured};

use super::draft::Draft;
use super::from_allocation::draft;
use super::from_engine::{Plan, plan};
use super::{Register, SpilledValue, check_value};
use crate::analysis::pressure::Pressure;
use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences};
use crate::config::{KeepInLoops, Redefined, SpillTo};
use crate::function::{Block, EditList, Function, LaunchBounds, Origin, VReg};
use crate::fuzzing::{Options, explore, lowered_function, reached};
use crate::spill::edits::write;
use crate::spill::insertion_point::InsertionPoint;
use crate::spill::neighbours::Neighbours;
use crate::spill::spiller::{Facts, SpillGoal};
use crate::target::Classification;

/// Draws a function.
fn function(u: &mut Unstructured<'_>) -> Result<Function> {
    let options = Options { undefined_paths: u.arbitrary()?, max_insts: 40, held: 3, ..Options::default() };
    let mut function = lowered_function(u, &options)?;
    function.kernel = Some(LaunchBounds::default());
    Ok(function)
}

/// Draws the spilled parts of each value and returns their plan.
fn drawn<'f>(u: &mut Unstructured<'_>, facts: &'f Facts<'_>, goal: &SpillGoal) -> Result<Plan<'f>> {
    let mut spilled = Vec::new();
    for value in facts.values.iter().filter(|value| value.is_held) {
        let mut parts: Vec<BTreeSet<Block>> = vec![BTreeSet::new(); u.int_in_range(1..=3)?];
        for block in facts.function.blocks() {
            let part = u.int_in_range(0..=2 * parts.len())?;
            if let Some(part) = parts.get_mut(part) {
                part.insert(block);
            }
        }
        parts.retain(|part| !part.is_empty());
        spilled.push((value, parts));
    }
    Ok(plan(facts, goal, &spilled, None, true))
}

/// Returns the edits of a plan.
fn edits(facts: &Facts<'_>, plan: &mut Plan<'_>) -> EditList {
    let neighbours = Neighbours {
        function: facts.function,
        frequencies: &facts.frequencies,
        stores: plan.values.iter().map(|value| value.stores[0]).collect(),
        values: &plan.values,
        pressure: &mut plan.pressure,
        words: 0,
        bytes: 4,
    };
    let (rows, combined) = neighbours.find();
    let mut edits = EditList::new(facts.function);
    write(facts, &plan.values, (&plan.slots, rows, &combined), None, &mut edits);
    edits
}

fn everywhere(words: u32, to: SpillTo) -> SpillGoal {
    SpillGoal { in_loops: KeepInLoops::On, redefined: Redefined::On, hoists: true, ..SpillGoal::plain(words, to) }
}

/// For random spilled parts, the plan is proven correct, its edits pass the checker, and its live words are the live
/// words of the edited function.
#[test]
fn plans_say_what_they_become() {
    let check = |u: &mut Unstructured<'_>| {
        let function = function(u)?;
        let classification = Classification::by_name(function.opcodes());
        let facts = Facts::new((&function, &classification));
        let to = if u.ratio(1, 3)? { SpillTo::LOCAL | SpillTo::REMAT } else { SpillTo::LOCAL };
        let goal = everywhere(u.int_in_range(0..=8)?, to);
        let mut plan = drawn(u, &facts, &goal)?;
        let is_again = |value: &SpilledValue| value.location.space == super::SpillSpace::Rematerialised;
        let has_again = plan.values.iter().any(is_again);
        reached("a value is computed again", has_again);
        for value in plan.values.iter().filter(|value| !is_again(value)) {
            let accesses = facts.occurrences.of(value.reg);
            assert_eq!(check_value((&function, &facts.cfg), accesses, value), Ok(()), "{function}");
            note(value);
        }
        reached("parts come back", plan.unspilled_parts > 0);
        let told = plan.pressure.all();
        let edits = edits(&facts, &mut plan);
        assert_eq!(crate::check::check(&function, &edits), Ok(()), "{function}");
        let applied = edits.apply(&function).expect("the edits fit");
        let after = words_after(&facts, &applied.function);
        for inst in applied.function.insts() {
            // With rematerialised values, the live words may differ: registers that clones read live longer, and a
            // definition without remaining reads is removed.
            if let Origin::Kept(original) = applied.origin[inst]
                && !has_again
            {
                assert_eq!(
                    after[inst.0 as usize], told[original.0 as usize],
                    "{original} of {function}{}",
                    applied.function
                );
            }
        }
        Ok(())
    };
    let least = [
        ("parts come back", 10),
        ("a value is computed again", 1),
        ("a value comes back in its own register", 10),
        ("two loads of one register", 10),
        ("a store that is not behind a definition", 5),
    ];
    explore(check, 1_000, &least);
}

fn note(value: &SpilledValue) {
    let is_own = |into: Register| into == Register::Own;
    reached("a value comes back in its own register", value.reloads.iter().any(|reload| is_own(reload.into)));
    let new: Vec<Register> = value.reloads.iter().map(|reload| reload.into).filter(|&into| !is_own(into)).collect();
    let different: BTreeSet<Register> = new.iter().copied().collect();
    reached("two loads of one register", different.len() < new.len());
    reached("a store that is not behind a definition", !value.is_stored_once && value.stores.len() == 1);
}

/// Returns the words that are live at each instruction of the edited function.
fn words_after(facts: &Facts<'_>, after: &Function) -> Vec<u32> {
    let cfg = Cfg::new(after);
    let dominators = Dominators::new(after, &cfg);
    let occurrences = Occurrences::new(after, &|_| true);
    let all: Vec<VReg> = after.regs().collect();
    let live = LiveRanges::new(after, &cfg, &dominators, &occurrences, &all);
    let given = facts.function.num_regs() as u32;
    Pressure::of(after, &live, |reg| reg.0 >= given || facts.counts[reg]).all()
}

/// A corrupted plan is refused: without a store, with a load before the store, or with a read in a register without the
/// value.
#[test]
fn spoiled_plans_are_refused() {
    let check = |u: &mut Unstructured<'_>| {
        let function = function(u)?;
        let classification = Classification::by_name(function.opcodes());
        let facts = Facts::new((&function, &classification));
        let mut plan = drawn(u, &facts, &everywhere(0, SpillTo::LOCAL))?;
        // If a path leaves a value undefined at a reload, a corrupted plan may still be correct.
        let is_reached =
            |value: &SpilledValue| value.reloads.iter().all(|reload| facts.cfg.is_reachable(reload.at.block));
        let is_single = |value: &SpilledValue| facts.values.iter().any(|of| of.reg == value.reg && of.is_single);
        plan.values.retain(|value| is_single(value) && is_reached(value));
        if plan.values.is_empty() {
            return Ok(());
        }
        let number = u.choose_index(plan.values.len())?;
        let value = &mut plan.values[number];
        let accesses = facts.occurrences.of(value.reg);
        let is_right = |value: &SpilledValue| check_value((&function, &facts.cfg), accesses, value).is_ok();
        assert!(is_right(value));
        let store = u.choose_index(value.stores.len())?;
        let gone = value.stores.remove(store);
        assert!(!is_right(value), "a store is missing: {function}");
        reached("a store is missing", true);
        value.stores.insert(store, gone);
        let start = InsertionPoint { block: Block(0), before: 0 };
        let reload = u.choose_index(value.reloads.len())?;
        let at = std::mem::replace(&mut value.reloads[reload].at, start);
        // The value's own register has the value anyway. A register that another load writes may have it, too.
        let into = value.reloads[reload].into;
        let is_alone = value.reloads.iter().filter(|other| other.into == into).count() == 1;
        if is_alone && into != Register::Own && value.definition.0 > 0 {
            assert!(!is_right(value), "a load is ahead of the store: {function}");
            reached("a load is elsewhere", true);
        }
        value.reloads[reload].at = at;
        if !value.reads.is_empty() {
            let read = u.choose_index(value.reads.len())?;
            value.reads[read].1 += 100;
            value.reloads.push(super::Reload { at, into: Register::New(200) });
            assert!(!is_right(value), "a read is in a register without the value: {function}");
            reached("a read is in another register", true);
        }
        Ok(())
    };
    explore(
        check,
        1_000,
        &[("a store is missing", 50), ("a load is elsewhere", 30), ("a read is in another register", 30)],
    );
}

/// A value that a loop does not read stays in memory in the loop. A value that only the loop reads stays in a register
/// inside the loop.
#[test]
fn parts_are_stored_and_loaded_at_the_edges_of_loops() {
    let text = "bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n\
        bb1: frequency 10.0 depth 1 -> bb1 bb2\n  %0 = ADD32ri %0 tied 0, 1\n  %2 = SETP_i32rr %1, %1\n\
        CBranch %2, bb1 :: terminator\n\
        bb2: frequency 1.0 depth 0 -> bb3\n  ST_i32 %1, 1 :: write\n\
        bb3: frequency 1.0 depth 0\n  ST_i32 %0, 3 :: write\n  Return :: terminator\n";
    let function = crate::spill::tests::function("kernel maxntid 64\n", "B32 B32 B1", text);
    let classification = Classification::by_name(function.opcodes());
    let facts = Facts::new((&function, &classification));
    let value = |reg: u32| facts.values.iter().find(|value| value.reg == VReg(reg)).expect("a value");
    let in_memory = |reg: u32, blocks: &[u32]| -> Draft<'_> {
        let parts = vec![blocks.iter().map(|&block| Block(block)).collect()];
        draft(&facts, value(reg), &parts, (&facts.pressure, 0))
    };
    let blocks = |places: &[InsertionPoint]| -> Vec<u32> { places.iter().map(|at| at.block.0).collect() };
    // The loop changes `%0`: the value is reloaded before the loop and stored after it.
    let around = in_memory(0, &[0, 2, 3]);
    assert_eq!((blocks(&around.stores), blocks(&around.reloads)), (vec![0, 2], vec![0, 3]));
    // If the value is in memory only after the loop, it is stored once.
    let behind = in_memory(0, &[2, 3]);
    assert_eq!((blocks(&behind.stores), blocks(&behind.reloads)), (vec![2], vec![3]));
    // If `%1` is in memory after the loop, one store is enough, after its only definition or after the loop.
    let behind = in_memory(1, &[2, 3]);
    assert_eq!((behind.stores.len(), blocks(&behind.reloads)), (1, vec![2]));
}
