//! Needless code is removed, the checker refuses wrong edits, and edited code runs correctly on a simulated machine.

use std::cell::Cell;

use arbitrary::Unstructured;

use super::*;
use crate::allocate::briggs::Briggs;
use crate::allocate::fatpoint::Fatpoint;
use crate::allocate::greedy::Greedy;
use crate::allocate::machine::run;
use crate::allocate::placement::{Placement, SpillSlot};
use crate::allocate::problem::{LiveRange, ProblemError};
use crate::allocate::{Allocator, Preset, check_allocation};
use crate::fuzzing::{Options, lowered_function};
use CleanupEdit::{Read, Remove, Unstored};

/// Creates a problem in which every live range has one register, with each live range in the given register.
fn placed(body: &str, units: &[u32]) -> (Problem, Allocation) {
    let text = format!("allocation 1\nproblem k\nfile R budget 8\nclass A R\n{body}end\n");
    let problem = Problem::parse(&text).expect("a problem");
    problem.validate().expect("a sound problem");
    let mut allocation = Allocation::blank(&problem);
    for (range, &unit) in problem.ranges().ids().zip(units) {
        allocation.placements[range] = Placement::Register(unit);
    }
    (problem, allocation)
}

/// Spills a live range, with the given units for its accesses.
fn spill(problem: &Problem, allocation: &mut Allocation, range: LiveRange, units: &[u32]) {
    allocation.placements[range] = Placement::Spilled(SpillSlot(0));
    for (access, &unit) in (problem.first_access(range)..).zip(units) {
        allocation.pieces[access] = Some(unit);
    }
}

/// Returns the edits after the checker has proved them.
fn cleaned(problem: &Problem, allocation: &Allocation) -> Vec<CleanupEdit> {
    check_allocation(problem, allocation).unwrap_or_else(|error| panic!("{error}\n{problem}"));
    let edits = clean(problem, allocation);
    check_cleanup(problem, allocation, &edits).unwrap_or_else(|error| panic!("{error}\n{edits:?}\n{problem}"));
    edits
}

const COPIED: &str = "range A cost 1 live 2..17 write 0*1 read 1*1 read 4*1\n\
    range A cost 1 live 6..13 write 1*1 read 3*9\ncopy 1 lr1 = lr0 * 1\n";

/// A use reads the source of its copy, and the copy is removed, unless the source has been overwritten by then.
#[test]
fn copies_are_forwarded() {
    let (problem, allocation) = placed(&format!("{COPIED}block 0..5\n"), &[0, 1]);
    assert_eq!(cleaned(&problem, &allocation), [Read { access: 4, unit: 0 }, Remove { inst: Inst(1) }]);
    let costs = |edits: &[CleanupEdit]| code_costs(&problem, &allocation, edits);
    let (before, after) = (costs(&[]), costs(&cleaned(&problem, &allocation)));
    assert_eq!((before.copies, before.copy_words, before.removed), (1, 1.0, 0));
    assert_eq!((after.copies, after.copy_words, after.removed), (0, 0.0, 1));
    let overwritten = COPIED.replace("live 2..17 write 0*1 read 1*1 read 4*1", "live 2..5 write 0*1 read 1*1");
    let other = "range A cost 1 live 10..17 write 2*1 read 4*1\n";
    let body = overwritten.replace("copy", &format!("{other}copy"));
    let (problem, allocation) = placed(&format!("{body}block 0..5\n"), &[0, 1, 0]);
    assert_eq!(cleaned(&problem, &allocation), []);
    let (problem, allocation) = placed(&format!("{body}block 0..5\n"), &[0, 1, 2]);
    assert_eq!(cleaned(&problem, &allocation).last(), Some(&Remove { inst: Inst(1) }));
}

/// A copy is forwarded into later blocks if its source is intact on every path.
#[test]
fn across_blocks() {
    let body = |other: &str| {
        format!(
            "range A cost 1 live 2..5 write 0*1 read 1*1\nrange A cost 1 live 6..25 write 1*1 read 6*9\n\
             range A cost 1 live 14..17 write 3*1 read {other}*1\ncopy 1 lr1 = lr0 * 1\n\
             block 0..3 -> 1 2\nblock 3..5 -> 3\nblock 5..6 -> 3\nblock 6..7\n"
        )
    };
    let (problem, allocation) = placed(&body("4"), &[0, 1, 2]);
    assert_eq!(cleaned(&problem, &allocation), [Read { access: 3, unit: 0 }, Remove { inst: Inst(1) }]);
    let (problem, allocation) = placed(&body("4"), &[0, 1, 0]);
    assert_eq!(cleaned(&problem, &allocation), []);
}

/// A copy into a register that already has the value is removed.
#[test]
fn copied_once() {
    let (problem, allocation) = placed(
        "range A cost 1 live 2..17 write 0*1 read 1*1 read 3*1 read 4*1\nrange A cost 1 live 6..9 write 1*1 update 2*1\n\
         range A cost 1 live 14..21 write 3*1 read 5*1\ncopy 1 lr1 = lr0 * 1\ncopy 3 lr2 = lr0 * 1\nblock 0..6\n",
        &[0, 1, 1],
    );
    // The second copy is dead if its reader reads the source. The first copy stays, because its register is updated.
    assert_eq!(cleaned(&problem, &allocation).last(), Some(&Remove { inst: Inst(3) }));
    assert!(!cleaned(&problem, &allocation).contains(&Remove { inst: Inst(1) }));
    let (problem, allocation) = placed(
        "range A cost 1 live 2..21 write 0*1 read 1*1 read 3*1 read 5*1\nrange A cost 1 live 6..9 write 1*1 read 2*1\n\
         range A cost 1 live 14..20 write 3*1 update 4*1\ncopy 1 lr1 = lr0 * 1\ncopy 3 lr2 = lr0 * 1\nblock 0..6\n",
        &[0, 1, 1],
    );
    assert_eq!(check_cleanup(&problem, &allocation, &[Remove { inst: Inst(3) }]), Ok(()));
    let both = [Remove { inst: Inst(1) }, Remove { inst: Inst(3) }];
    let lost = CleanupError::Lost { range: LiveRange(1), inst: Inst(2) };
    assert_eq!(check_cleanup(&problem, &allocation, &both), Err(lost));
}

/// A reloaded value is read again in the register of the reload, even if this is not the register of the later read. It
/// is not read there after a write of the value or of the register.
#[test]
fn reloaded_once() {
    let body = "range A cost 1 live 2..17 write 0*1 read 2*1 read 3*1 read 4*1\n\
        range A cost 1 live 10..17 write 2*1 read 4*1\nblock 0..5\n";
    let (problem, mut allocation) = placed(body, &[0, 1]);
    spill(&problem, &mut allocation, LiveRange(0), &[0, 2, 3, 0]);
    let reads = [1, 2, 3].map(|access| Read { access, unit: 0 });
    let edits = cleaned(&problem, &allocation);
    assert_eq!((&edits[..3], edits[3]), (&reads[..], Unstored { access: 0 }));
    assert_eq!(code_costs(&problem, &allocation, &edits).moved_bytes, 0.0);
    // From instruction 2 on, other live ranges have its register.
    let (problem, mut allocation) = placed(body, &[0, 0]);
    spill(&problem, &mut allocation, LiveRange(0), &[0, 0, 3, 3]);
    assert_eq!(cleaned(&problem, &allocation), [Read { access: 1, unit: 0 }, Read { access: 3, unit: 3 }]);
    assert_eq!(code_costs(&problem, &allocation, &cleaned(&problem, &allocation)).moved_bytes, 8.0);
}

/// A value that is never read is not computed, and neither are values that only it needs. Instructions with another
/// effect stay.
#[test]
fn dead_code() {
    let body = "range A cost 1 live 2..5 write 0*1 read 1*1\nrange A cost 1 live 6..8 write 1*1\nblock 0..2\n";
    let (problem, allocation) = placed(&format!("{body}pure 0 1\n"), &[0, 0]);
    assert_eq!(cleaned(&problem, &allocation), [Remove { inst: Inst(0) }, Remove { inst: Inst(1) }]);
    let (problem, allocation) = placed(&format!("{body}pure 0\n"), &[0, 0]);
    assert_eq!(cleaned(&problem, &allocation), []);
    let fixed = format!("{body}pure 0 1\n").replacen("cost 1 live 6", "fixed 0 live 6", 1);
    let (problem, allocation) = placed(&fixed, &[0, 0]);
    assert_eq!(cleaned(&problem, &allocation), []);
}

/// A stored value is needed if the slot is read.
#[test]
fn stored_and_wanted() {
    let body = "range A cost 1 live 2..13 write 0*1 read 3*1\nrange A cost 1 live 6..9 write 1*1 read 2*1\n\
        range A cost 1 live 10..12 write 2*1\nblock 0..4\npure 0 2\n";
    let (problem, mut allocation) = placed(body, &[0, 0, 1]);
    spill(&problem, &mut allocation, LiveRange(0), &[0, 0]);
    assert_eq!(cleaned(&problem, &allocation), [Remove { inst: Inst(2) }]);
}

/// The checker refuses a read at a place without the value, the removal of needed code, and edits that are not allowed.
#[test]
fn the_checker_refuses() {
    let (problem, mut allocation) = placed(&format!("{COPIED}block 0..5\npure 0\n"), &[0, 1]);
    let check = |allocation: &Allocation, edits: &[CleanupEdit]| {
        check_cleanup(&problem, allocation, edits).err().map(|error| error.to_string())
    };
    let lost = |range: u32, inst: u32| Some(format!("lr{range}: instruction {inst} does not find its value"));
    assert_eq!(check(&allocation, &[]), None);
    assert_eq!(check(&allocation, &[Remove { inst: Inst(1) }]), lost(1, 3));
    assert_eq!(check(&allocation, &[Remove { inst: Inst(0) }]), lost(0, 1));
    assert_eq!(check(&allocation, &[Read { access: 1, unit: 1 }]), lost(0, 1));
    let none = [
        Remove { inst: Inst(3) },
        Remove { inst: Inst(9) },
        Read { access: 0, unit: 0 },
        Read { access: 4, unit: 7 },
        Read { access: 9, unit: 0 },
        Unstored { access: 0 },
    ];
    for edit in none {
        assert_eq!(check_cleanup(&problem, &allocation, &[edit]), Err(CleanupError::Edit { edit }));
    }
    spill(&problem, &mut allocation, LiveRange(0), &[0, 0, 0]);
    assert_eq!(check(&allocation, &[Unstored { access: 0 }]), lost(0, 1));
    let (problem, allocation) = placed(COPIED, &[0, 1]);
    assert_eq!(clean(&problem, &allocation), []);
    let edits = [Remove { inst: Inst(1) }];
    assert_eq!(check_cleanup(&problem, &allocation, &edits), Err(CleanupError::NoFlow));
}

/// Edited code on random paths reads the same values as the unedited code.
#[test]
fn edited_code_runs() {
    let (removed, moved) = (Cell::new(0), Cell::new(0));
    let check = |u: &mut Unstructured<'_>| {
        let function = lowered_function(u, &Options::default())?;
        let register_limit = if u.ratio(1, 3)? { None } else { Some(u.int_in_range(4..=16)?) };
        let preset = Preset { register_limit, packs_halves: u.arbitrary()?, ..Preset::HW };
        let problem = Problem::by_name(&function, &preset).expect("no PHIs");
        for engine in [&Greedy::default() as &dyn Allocator, &Briggs::default(), &Fatpoint::default()] {
            let allocation = match engine.allocate(&problem) {
                Err(ProblemError::LimitNotMet { .. }) => continue,
                found => found.expect("a sound problem"),
            };
            let edits = cleaned(&problem, &allocation);
            run(u, &function, &problem, &allocation, &edits)?;
            let is_removed = |edit: &&CleanupEdit| matches!(edit, Remove { .. });
            removed.set(removed.get() + edits.iter().filter(is_removed).count());
            moved.set(moved.get() + edits.len() - edits.iter().filter(is_removed).count());
        }
        Ok(())
    };
    for _ in 0..20 {
        arbtest::arbtest(check).budget_ms(1_500);
        if removed.get() > 50 && moved.get() > 50 {
            return;
        }
    }
    panic!("{removed:?} instructions removed, {moved:?} accesses moved");
}
