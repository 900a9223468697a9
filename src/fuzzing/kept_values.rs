//! Tests spilling with the checker, the interpreter, and a second run.

use std::collections::HashSet;

use arbitrary::{Result, Unstructured};

use super::spoiled_slots::{check_spoiled_slot, may_be_undefined};
use super::trace::sound;
use super::{Options, check_same_effects, lowered_function, reached};
use crate::check::{check, lowered};
use crate::coalesce::coalesce;
use crate::config::{Chooser, Config, KeepInLoops, NamedLoad, Redefined, SpillTo};
use crate::function::{Edit, EditList, Function, Inst, LaunchBounds, Position, RegClass, SharedArray, Slot, VReg};
use crate::index::{EntityIndex, IndexVec};
use crate::spill::lower::lower;
use crate::spill::spiller::{Facts, Launch, PtxasSpill, SpillGoal};
use crate::spill::{Engine, EngineResult, Outcome, SpillSpace, SpillSummary, spill_values};
use crate::target::Classification;
use crate::target::machine::Architecture;

/// Checks that spilling keeps a function valid and preserves its meaning, gives each spilled value of each thread a
/// separate slot, and gives the same result a second time. Checks that spoiled edits are refused or change nothing.
pub fn check_kept_values(u: &mut Unstructured<'_>) -> Result<()> {
    let held = u.int_in_range(0..=6)?;
    let options = Options { undefined_paths: u.arbitrary()?, max_insts: 40, held, ..Options::default() };
    let mut function = lowered_function(u, &options)?;
    // A coalesced register has several definitions. Its tied operands may be far from them.
    if u.ratio(1, 2)? {
        let classification = Classification::by_name(function.opcodes());
        let edits = coalesce(&function, &classification, &Config::default()).edits;
        function = edits.apply(&function).expect("the edits fit").function;
    }
    let threads = u.int_in_range(1..=128)?;
    let says_threads = u.arbitrary()?;
    let max_threads = Some(threads).filter(|_| says_threads);
    function.kernel = Some(LaunchBounds { max_threads, ..LaunchBounds::default() });
    let is_chosen: bool = u.arbitrary()?;
    let chosen: Vec<bool> = function.regs().map(|_| u.arbitrary()).collect::<Result<_>>()?;
    let goal = SpillGoal {
        max_live_words: u.int_in_range(0..=3)?,
        max_values: u.int_in_range(1..=40)?,
        in_loops: *u.choose(&[KeepInLoops::Auto, KeepInLoops::Off, KeepInLoops::Around, KeepInLoops::On])?,
        redefined: *u.choose(&[Redefined::Auto, Redefined::Off, Redefined::On, Redefined::On])?,
        candidates: is_chosen.then(|| chosen.into_iter().collect()),
        ptxas_spills: if u.ratio(1, 2)? { Some(ptxas_spills(u, &function)?) } else { None },
        spill_to: SpillTo::from_bits_truncate(u.int_in_range(1..=SpillTo::all().bits())?),
        max_trials: u.int_in_range(1..=6)?,
        max_local_bytes: *u.choose(&[8, 24, u32::MAX])?,
        sinks: u.arbitrary()?,
        hoists: u.arbitrary()?,
        max_access_bytes: *u.choose(&[4, 8, 16])?,
    };
    let classification = Classification::by_name(function.opcodes());
    let architecture = Architecture::by_name("sm_90").expect("a processor");
    let most_bytes = u.int_in_range(1024..=49152)?;
    let launch = Launch { architecture, threads: Some(threads), dynamic_shared: None, most_bytes, callees: None };
    let facts = Facts::new((&function, &classification));
    let engine = Engine::new(*u.choose(&[Chooser::Price, Chooser::Greedy, Chooser::Briggs, Chooser::Fatpoint])?);
    let keep = || spill_values(&facts, &goal, &EngineResult::of(engine.clone()), &launch);
    let Ok(outcome) = keep() else { return Ok(()) };
    sound(&function, &outcome.edits);
    check_lowered(&function, &outcome.edits);
    check_owners(&function, &outcome, launch.most_bytes);
    assert!(outcome.bytes.local <= goal.max_local_bytes, "{} bytes of local memory", outcome.bytes.local);
    assert_eq!(keep().expect("as before").edits, outcome.edits, "the same again");
    note_kinds(&function, goal.spill_to, &outcome);
    check_trials(&goal, &outcome);
    let is_first = outcome.trials.len() <= 1;
    // An allocator may choose any value, including those with several definitions.
    let is_allocated = engine.chooser != Chooser::Price && goal.ptxas_spills.is_none();
    let is_among = |spilled: &SpillSummary| match &goal.ptxas_spills {
        Some(ptxas_spills) => ptxas_spills[spilled.reg].is_some(),
        None => is_allocated || goal.candidates.as_ref().is_none_or(|candidates| candidates[spilled.reg]),
    };
    assert!(outcome.spilled.iter().all(is_among), "a value is moved that nobody chose");
    let may_be_redefined =
        goal.redefined == Redefined::On || (goal.redefined == Redefined::Auto && (!is_first || is_allocated));
    assert!(
        may_be_redefined || outcome.spilled.iter().all(|spilled| spilled.stores == 1),
        "several definitions are stored"
    );
    assert!(outcome.spilled.len() <= goal.max_values, "more values are moved than wanted");
    let applied = outcome.edits.apply(&function).expect("they are sound").function;
    let bound = applied.kernel().and_then(LaunchBounds::threads);
    assert_eq!(bound, Some(threads).filter(|_| says_threads || outcome.bytes.shared > 0), "blocks keep to the slots");
    if !outcome.spilled.is_empty() {
        check_spoiled(u, &function, &outcome.edits)?;
        check_spoiled_slot(u, &function, &outcome.edits)?;
    }
    Ok(())
}

/// Draws the costs that ptxas is assumed to pay for some registers, with arbitrary reload points.
fn ptxas_spills(u: &mut Unstructured<'_>, function: &Function) -> Result<IndexVec<VReg, Option<PtxasSpill>>> {
    let mut ptxas_spills = IndexVec::default();
    for _ in function.regs() {
        let mut loads = Vec::new();
        for _ in 0..u.int_in_range(0..=3)? {
            let reads = (0..u.int_in_range(1..=3)?).map(|_| u.int_in_range(0..=6)).collect::<Result<_>>()?;
            loads.push(NamedLoad { reads, times: *u.choose(&[1, 10, 100])? });
        }
        let of_register = PtxasSpill { moved_words: *u.choose(&[1.0, 5.0, f64::INFINITY])?, loads };
        ptxas_spills.push(if u.ratio(2, 3)? { Some(of_register) } else { None });
    }
    Ok(ptxas_spills)
}

/// Checks that no trial follows a trial that reaches the goal, and that the outcome is that of the best trial.
fn check_trials(goal: &SpillGoal, outcome: &Outcome) {
    let Some((last, others)) = outcome.trials.split_last() else {
        assert!(outcome.spilled.is_empty() && outcome.fullest.is_none());
        return;
    };
    assert!(others.len() < goal.max_trials as usize, "more trials than allowed");
    assert!(others.iter().all(|trial| trial.score.words > goal.max_live_words), "a trial behind one that was enough");
    let least = outcome.trials.iter().map(|trial| trial.score.words).min();
    assert_eq!(Some(outcome.peaks[1].max(goal.max_live_words)), least, "a worse trial was taken");
    assert_eq!(outcome.fullest.is_some(), outcome.peaks[1] > goal.max_live_words);
    reached("a later trial is better", others.iter().any(|trial| trial.score.words > last.score.words));
    reached("a later trial is no better", others.iter().any(|trial| trial.score.words <= last.score.words));
}

/// Records which places and classes occur, and checks that the places are allowed.
fn note_kinds(function: &Function, to: SpillTo, outcome: &Outcome) {
    let slots = outcome.edits.edits().iter().filter(|edit| slot_bytes(edit).is_some()).count();
    let in_memory = outcome.spilled.iter().filter(|spilled| spilled.space != SpillSpace::Rematerialised).count();
    reached("a slot is shared", slots < in_memory);
    let is_own = |edit: &Edit| matches!(edit, Edit::InsertReload { reg, .. } if reg.index() < function.num_regs());
    reached("a tied value comes back", outcome.edits.edits().iter().any(is_own));
    for edit in outcome.edits.edits() {
        if let Edit::InsertWideSpill { parts, .. } | Edit::InsertWideReload { parts, .. } = edit {
            let class = outcome.edits.class(function, parts[0].0).and_then(RegClass::spilled_bytes);
            let bytes = class.expect("a register in memory") * parts.len() as u32;
            reached(if bytes == 8 { "8 bytes at once" } else { "16 bytes at once" }, true);
        }
    }
    for spilled in &outcome.spilled {
        let (flag, name) = match spilled.space {
            SpillSpace::Shared => (SpillTo::SHARED, "in shared memory"),
            SpillSpace::Local => (SpillTo::LOCAL, "in local memory"),
            SpillSpace::Rematerialised => (SpillTo::REMAT, "computed again"),
        };
        assert!(to.contains(flag), "{name}: not allowed");
        assert!(spilled.reloads > 0, "{}: it does not come back", spilled.reg);
        reached(name, true);
        reached("several definitions", spilled.stores > 1);
        let is_defined =
            |inst: &Inst| function.operands(*inst).iter().any(|operand| operand.def() == Some(spilled.reg));
        reached(
            "one store of several definitions",
            spilled.stores == 1 && function.insts().filter(is_defined).count() > 1,
        );
        reached("undefined on a path, and stored", spilled.stores > 0 && may_be_undefined(function, spilled.reg));
        match function.class(spilled.reg) {
            RegClass::B16 => reached("16 bits", true),
            RegClass::B64 => reached("64 bits", true),
            _ => {}
        }
    }
}

/// Returns the bytes of the slot that an edit creates.
fn slot_bytes(edit: &Edit) -> Option<u64> {
    match *edit {
        Edit::CreateSlot { size, .. } => Some(size),
        Edit::CreateSharedSlot { size, .. } => Some(size.into()),
        _ => None,
    }
}

/// Checks that every byte of the array belongs to at most one slot of one thread, and that each slot has the size of
/// its value.
fn check_owners(function: &Function, outcome: &Outcome, most_bytes: u32) {
    let mut array: Option<SharedArray> = None;
    let mut owned = HashSet::new();
    let mut sizes = Vec::new();
    let (mut shared, mut local) = (0, 0);
    for edit in outcome.edits.edits() {
        sizes.extend(slot_bytes(edit));
        match *edit {
            Edit::CreateSharedArray(new) => {
                array = Some(new);
                shared = new.bytes;
            }
            Edit::CreateSharedSlot { size, offset, row, .. } => {
                let SharedArray { threads, bytes } = array.expect("an array comes first");
                assert!(bytes <= most_bytes, "{bytes} bytes are more than {most_bytes}");
                for byte in bytes_of(offset, size, row, threads) {
                    assert!(byte < bytes && owned.insert(byte), "byte {byte} has two owners, or none");
                }
            }
            Edit::CreateSlot { size, align, .. } => {
                assert!(align.is_multiple_of(size), "it is aligned to its size");
                local += size as u32;
            }
            Edit::InsertSpill { reg, slot, .. } | Edit::InsertReload { reg, slot, .. } => {
                check_size(function, outcome, (reg, slot), &sizes);
            }
            Edit::InsertWideSpill { ref parts, .. } | Edit::InsertWideReload { ref parts, .. } => {
                parts.iter().for_each(|&part| check_size(function, outcome, part, &sizes));
            }
            _ => {}
        }
    }
    assert_eq!((outcome.bytes.shared, outcome.bytes.local), (shared, local));
}

fn check_size(function: &Function, outcome: &Outcome, (reg, slot): (VReg, Slot), sizes: &[u64]) {
    let class = outcome.edits.class(function, reg).expect("a register");
    let size = sizes[slot.index() - function.num_slots()];
    assert_eq!(class.spilled_bytes().map(u64::from), Some(size));
}

/// Returns the bytes of the array that belong to a slot of all threads.
fn bytes_of(offset: u32, size: u32, row: u32, threads: u32) -> impl Iterator<Item = u32> {
    (0..threads).flat_map(move |thread| (0..size).map(move |byte| offset + row * thread + byte))
}

/// Checks that the lowered edits mean the same as the edits.
fn check_lowered(function: &Function, edits: &EditList) {
    if let Some(lowered) = lower(function, edits, None).expect("they are sound") {
        assert_eq!(lowered::check(function, edits, &lowered), Ok(()));
    }
}

/// Spoils one edit. If the checker accepts the result, it must mean the same.
fn check_spoiled(u: &mut Unstructured<'_>, function: &Function, edits: &EditList) -> Result<()> {
    let all = edits.edits();
    let is_moved = |edit: &Edit| {
        matches!(
            edit,
            Edit::InsertSpill { .. }
                | Edit::InsertReload { .. }
                | Edit::InsertWideSpill { .. }
                | Edit::InsertWideReload { .. }
                | Edit::InsertClone { .. }
                | Edit::CreateSharedSlot { .. }
        )
    };
    let moved: Vec<usize> = (0..all.len()).filter(|&at| is_moved(&all[at])).collect();
    // Wide edits are rare.
    let is_wide = |edit: &Edit| matches!(edit, Edit::InsertWideSpill { .. } | Edit::InsertWideReload { .. });
    let wide: Vec<usize> = moved.iter().copied().filter(|&at| is_wide(&all[at])).collect();
    let is_any = wide.is_empty() || u.ratio(1, 4)?;
    let at = *u.choose(if is_any { &moved } else { &wide })?;
    let Some((name, edit)) = spoil(u, function, all, &all[at])? else { return Ok(()) };
    let mut spoiled = EditList::new(function);
    for (number, original) in all.iter().enumerate() {
        spoiled.push(if number == at { edit.clone() } else { original.clone() });
    }
    let is_same = spoiled.edits() == all;
    let Ok(applied) = spoiled.apply(function) else {
        reached(name, true);
        return Ok(());
    };
    match check(function, &spoiled) {
        Err(_) => reached(name, true),
        Ok(()) => {
            // A slot may be anywhere if it does not overlap others.
            assert!(is_same || !matches!(edit, Edit::CreateSharedSlot { .. }) || applies_apart(&spoiled));
            if let Err(mismatch) = check_same_effects(function, &applied) {
                panic!("the checker lets pass: {mismatch}\n{function}\n{}", applied.function);
            }
        }
    }
    Ok(())
}

/// Returns a replacement of an edit and the name of its fault; `None` if it would be the same.
fn spoil(
    u: &mut Unstructured<'_>,
    function: &Function,
    all: &[Edit],
    edit: &Edit,
) -> Result<Option<(&'static str, Edit)>> {
    let slots: Vec<_> = all
        .iter()
        .filter_map(|edit| match *edit {
            Edit::CreateSharedSlot { slot, .. } | Edit::CreateSlot { slot, .. } => Some(slot),
            _ => None,
        })
        .collect();
    let goes = u.arbitrary::<bool>()?;
    let elsewhere = u.arbitrary::<bool>()?;
    let there = Inst::new(u.choose_index(function.num_insts())?);
    let there = Position { block: function.block_of(there), before: Some(there) };
    Ok(match *edit {
        // The replacement has no effect, but keeps the numbers of all other instructions.
        Edit::InsertSpill { inst, at, reg, .. } if goes => {
            Some(("a store is missing", Edit::InsertCopy { inst, at, dst: reg, src: reg }))
        }
        Edit::InsertSpill { inst, reg, slot, .. } if elsewhere => {
            Some(("a store is elsewhere", Edit::InsertSpill { inst, at: there, reg, slot }))
        }
        Edit::InsertSpill { inst, at, reg, .. } => {
            Some(("a store takes another slot", Edit::InsertSpill { inst, at, reg, slot: *u.choose(&slots)? }))
        }
        Edit::InsertReload { inst, reg, slot, .. } if elsewhere => {
            Some(("a load is elsewhere", Edit::InsertReload { inst, at: there, reg, slot }))
        }
        Edit::InsertReload { inst, at, reg, .. } => {
            Some(("a load takes another slot", Edit::InsertReload { inst, at, reg, slot: *u.choose(&slots)? }))
        }
        Edit::InsertWideSpill { inst, ref parts, .. } if elsewhere => {
            Some(("a wide store is elsewhere", Edit::InsertWideSpill { inst, at: there, parts: parts.clone() }))
        }
        Edit::InsertWideSpill { inst, at, ref parts } => {
            Some(("a wide store is of others", Edit::InsertWideSpill { inst, at, parts: other_registers(u, parts)? }))
        }
        Edit::InsertWideReload { inst, ref parts, .. } if elsewhere => {
            Some(("a wide load is elsewhere", Edit::InsertWideReload { inst, at: there, parts: parts.clone() }))
        }
        Edit::InsertWideReload { inst, at, ref parts } => {
            Some(("a wide load is of others", Edit::InsertWideReload { inst, at, parts: other_registers(u, parts)? }))
        }
        Edit::InsertClone { inst, of, dst, .. } if elsewhere => {
            Some(("a clone is elsewhere", Edit::InsertClone { inst, at: there, of, dst }))
        }
        Edit::InsertClone { inst, at, dst, .. } => {
            let of = Inst::new(u.choose_index(function.num_insts())?);
            Some(("a clone is of another instruction", Edit::InsertClone { inst, at, of, dst }))
        }
        Edit::CreateSharedSlot { slot, size, offset, row } => {
            let by = size * u.int_in_range(1..=4)?;
            let offset = if goes { offset + by } else { offset.saturating_sub(by) };
            Some(("a slot is another thread's", Edit::CreateSharedSlot { slot, size, offset, row }))
        }
        _ => None,
    })
}

/// Exchanges the registers of two slots.
fn other_registers(u: &mut Unstructured<'_>, parts: &[(VReg, Slot)]) -> Result<Vec<(VReg, Slot)>> {
    let mut parts = parts.to_vec();
    let (one, other) = (u.choose_index(parts.len())?, u.choose_index(parts.len())?);
    (parts[one].0, parts[other].0) = (parts[other].0, parts[one].0);
    Ok(parts)
}

/// Whether no slots in shared memory overlap.
fn applies_apart(edits: &EditList) -> bool {
    let mut owned = HashSet::new();
    let mut threads = 0;
    edits.edits().iter().all(|edit| match *edit {
        Edit::CreateSharedArray(array) => {
            threads = array.threads;
            true
        }
        Edit::CreateSharedSlot { size, offset, row, .. } => {
            bytes_of(offset, size, row, threads).all(|byte| owned.insert(byte))
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    /// Values of all kinds are spilled to all places without a change of meaning, and every spoiled edit is found.
    #[test]
    fn keeps_the_meaning() {
        let least = [
            ("in shared memory", 0),
            ("in local memory", 0),
            ("computed again", 0),
            ("16 bits", 0),
            ("64 bits", 0),
            ("several definitions", 0),
            ("one store of several definitions", 0),
            ("undefined on a path, and stored", 0),
            ("a tied value comes back", 0),
            ("a later trial is better", 0),
            ("a later trial is no better", 0),
            ("a slot is shared", 0),
            ("a store is missing", 0),
            ("a store is elsewhere", 0),
            ("a store takes another slot", 0),
            ("a load is elsewhere", 0),
            ("a load takes another slot", 0),
            ("8 bytes at once", 1),
            ("16 bytes at once", 0),
            ("a wide store is elsewhere", 0),
            ("a wide store is of others", 0),
            ("a wide load is elsewhere", 0),
            ("a wide load is of others", 0),
            ("a clone is elsewhere", 0),
            ("a clone is of another instruction", 0),
            ("a slot is another thread's", 0),
        ];
        explore(check_kept_values, 1_000, &least);
    }
}
