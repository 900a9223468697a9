//! Values kept in shared memory against the checker, the interpreter, and itself.

use std::collections::HashSet;

use arbitrary::{Result, Unstructured};

use super::trace::sound;
use super::{Options, check_same_effects, lowered_function, reached};
use crate::check::check;
use crate::config::KeepInLoops;
use crate::function::{Edit, EditList, Function, LaunchBounds, SharedArray, VReg};
use crate::index::IndexVec;
use crate::spill::shared::{Aim, Kept, Launch, keep_in_shared};
use crate::target::Classification;
use crate::target::machine::Architecture;

/// Checks that keeping values in shared memory keeps a kernel valid and its meaning, gives each thread slots of its own,
/// and is the same the second time; and that edits that are spoiled are refused, or change nothing.
pub fn check_kept_values(u: &mut Unstructured<'_>) -> Result<()> {
    let options = Options { undefined_paths: u.arbitrary()?, max_insts: 60, ..Options::default() };
    let mut function = lowered_function(u, &options)?;
    let threads = u.int_in_range(1..=128)?;
    let says_threads = u.arbitrary()?;
    let max_threads = Some(threads).filter(|_| says_threads);
    function.kernel = Some(LaunchBounds { max_threads, ..LaunchBounds::default() });
    let in_loops = *u.choose(&[KeepInLoops::Off, KeepInLoops::Around, KeepInLoops::On])?;
    let is_chosen: bool = u.arbitrary()?;
    let chosen: Vec<bool> = function.regs().map(|_| u.arbitrary()).collect::<Result<_>>()?;
    let among: Option<IndexVec<VReg, bool>> = is_chosen.then(|| chosen.into_iter().collect());
    let aim = Aim { words: u.int_in_range(0..=3)?, values: u.int_in_range(1..=40)?, in_loops, among };
    let classification = Classification::by_name(function.opcodes());
    let architecture = Architecture::by_name("sm_90").expect("a processor");
    let most_bytes = u.int_in_range(1024..=49152)?;
    let launch = Launch { architecture, threads: Some(threads), dynamic_shared: None, most_bytes };
    let keep = || keep_in_shared((&function, &classification), &aim, &launch);
    let Ok(outcome) = keep() else { return Ok(()) };
    sound(&function, &outcome.edits);
    check_owners(&outcome.edits, launch.most_bytes);
    assert_eq!(keep().expect("as before").edits, outcome.edits, "the same again");
    reached("kept", !outcome.kept.is_empty());
    let is_among = |kept: &Kept| aim.among.as_ref().is_none_or(|among| among[kept.reg]);
    assert!(outcome.kept.iter().all(is_among), "a value is kept that nobody chose");
    assert!(outcome.kept.len() <= aim.values, "more values are kept than wanted");
    let applied = outcome.edits.apply(&function).expect("they are sound").function;
    let bound = applied.kernel().and_then(LaunchBounds::threads);
    assert_eq!(bound, Some(threads).filter(|_| says_threads || !outcome.kept.is_empty()), "blocks keep to the slots");
    let slots = outcome.edits.edits().iter().filter(|edit| matches!(edit, Edit::CreateSharedSlot { .. })).count();
    reached("a slot is shared", slots < outcome.kept.len());
    if !outcome.kept.is_empty() {
        check_spoiled(u, &function, &outcome.edits)?;
    }
    Ok(())
}

/// Every byte of the array belongs to one slot of one thread at most.
fn check_owners(edits: &EditList, most_bytes: u32) {
    let mut array: Option<SharedArray> = None;
    let mut owned = HashSet::new();
    for edit in edits.edits() {
        match *edit {
            Edit::CreateSharedArray(new) => array = Some(new),
            Edit::CreateSharedSlot { size, offset, .. } => {
                let SharedArray { threads, bytes } = array.expect("an array comes first");
                assert!(bytes <= most_bytes, "{bytes} bytes are more than {most_bytes}");
                for byte in offset..offset + size * threads {
                    assert!(byte < bytes && owned.insert(byte), "byte {byte} has two owners, or none");
                }
            }
            _ => {}
        }
    }
}

/// Spoils one edit: a store is missing or goes elsewhere, or a load comes from elsewhere. What the checker then lets pass
/// means the same.
fn check_spoiled(u: &mut Unstructured<'_>, function: &Function, edits: &EditList) -> Result<()> {
    let all = edits.edits();
    let moves: Vec<usize> =
        (0..all.len()).filter(|&at| matches!(all[at], Edit::InsertSpill { .. } | Edit::InsertReload { .. })).collect();
    let slots: Vec<_> = all
        .iter()
        .filter_map(|edit| if let Edit::CreateSharedSlot { slot, .. } = edit { Some(*slot) } else { None })
        .collect();
    let at = *u.choose(&moves)?;
    let other = *u.choose(&slots)?;
    let mut spoiled = EditList::new(function);
    let is_gone = u.arbitrary()?;
    for (number, edit) in all.iter().enumerate() {
        let edit = match *edit {
            // An instruction that stays, so that all others keep their numbers, and does nothing.
            Edit::InsertSpill { inst, at: place, reg, .. } if number == at && is_gone => {
                Edit::InsertCopy { inst, at: place, dst: reg, src: reg }
            }
            Edit::InsertSpill { inst, at: place, reg, .. } if number == at => {
                Edit::InsertSpill { inst, at: place, reg, slot: other }
            }
            Edit::InsertReload { inst, at: place, reg, .. } if number == at => {
                Edit::InsertReload { inst, at: place, reg, slot: other }
            }
            ref edit => edit.clone(),
        };
        spoiled.push(edit);
    }
    let Ok(applied) = spoiled.apply(function) else { return Ok(()) };
    match check(function, &spoiled) {
        Err(_) => reached("a spoiled edit is refused", true),
        Ok(()) => {
            if let Err(mismatch) = check_same_effects(function, &applied) {
                panic!("the checker lets pass: {mismatch}\n{function}\n{}", applied.function);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    /// Values are kept without a change of meaning, and spoiled stores and loads are found.
    #[test]
    fn keeps_the_meaning() {
        let least = [("kept", 1), ("a slot is shared", 0), ("a spoiled edit is refused", 0)];
        explore(check_kept_values, 1_000, &least);
    }
}
