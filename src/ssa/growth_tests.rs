//! The work grows in proportion to the function's size, in this pass and in LLVM. The functions have switches with many
//! cases.

use std::fmt::Write as _;

use super::rewrite::MOST_COPIES;
use super::{Outcome, conventional};
use crate::config::Config;
use crate::function::{Edit, Function, VReg};
use crate::fuzzing::edited;

/// Number of variables of the loop.
const VARIABLES: usize = 8;

/// Creates a loop around a switch with the given number of cases. Each case sets all variables to values that come from
/// outside the loop.
fn dispatch(cases: usize) -> Function {
    let mut text = String::from(
        "mfv 1\nfunction \"k\"\nopcode PHI phi\nopcode LOAD\nopcode STORE\nopcode BRX\nopcode GOTO\nregs %0",
    );
    text += &" B32".repeat(2 * VARIABLES);
    text += "\nbb0: frequency 1.0 depth 0 -> bb1\n";
    // Writes to a string cannot fail.
    for number in 0..VARIABLES {
        let _ = writeln!(text, "  %{number} = LOAD {number} :: read");
    }
    text += "  GOTO bb1 :: terminator\nbb1: frequency 9.0 depth 1 ->";
    for block in 2..cases + 3 {
        let _ = write!(text, " bb{block}");
    }
    text.push('\n');
    for variable in 0..VARIABLES {
        let _ = write!(text, "  %{} = PHI %{variable}, bb0", VARIABLES + variable);
        for case in 0..cases {
            let _ = write!(text, ", %{}, bb{}", (case + variable) % VARIABLES, case + 2);
        }
        text.push('\n');
    }
    text += "  BRX 0 :: terminator\n";
    for case in 0..cases {
        let _ = writeln!(text, "bb{}: frequency 1.0 depth 1 -> bb1", case + 2);
        text += "  STORE 0, 0 :: write\n  GOTO bb1 :: terminator\n";
    }
    let _ = writeln!(text, "bb{}: frequency 1.0 depth 0", cases + 2);
    for reg in VARIABLES..2 * VARIABLES {
        let _ = writeln!(text, "  STORE %{reg}, 0 :: write");
    }
    Function::parse(&(text + "end\n")).expect("a function")
}

/// Returns for each register the number of its copies in the edits.
fn copies(function: &Function, outcome: &Outcome) -> Vec<u64> {
    let mut copies = vec![0; function.num_regs()];
    for edit in outcome.edits.edits() {
        if let Edit::InsertCopy { src, .. } = edit
            && let Some(count) = copies.get_mut(src.0 as usize)
        {
            *count += 1;
        }
    }
    copies
}

/// Returns the work of LLVM's coalescer. For each copy, it visits all uses of the copied register, including other
/// copies.
fn steps_of_llvm(function: &Function, outcome: &Outcome) -> u64 {
    let mut uses = vec![0; function.num_regs()];
    for operand in function.insts().flat_map(|inst| function.operands(inst)) {
        if let Some(VReg(reg)) = operand.use_reg() {
            uses[reg as usize] += 1;
        }
    }
    copies(function, outcome).iter().zip(uses).map(|(copies, uses)| copies * uses).sum()
}

/// A function with twice as many cases needs at most about twice as many steps, in this pass and in LLVM.
#[test]
fn steps_grow_with_the_cases() {
    let [small, large] = [1_000, 2_000].map(|cases| {
        let function = dispatch(cases);
        let outcome = conventional(&function, &Config::default());
        assert!(outcome.report.copied.len() >= cases, "{}", outcome.report.copied.len());
        [outcome.steps, steps_of_llvm(&function, &outcome)]
    });
    for (small, large) in small.into_iter().zip(large) {
        assert!(large as f64 <= 2.5 * small as f64, "{small} {large}");
    }
}

/// A register with at most the bound of copies is copied. If it would have more copies, it is not copied at all, and
/// this is reported. The meaning stays the same in both cases.
#[test]
fn many_copies_of_one_register_are_left() {
    for (cases, is_left) in [(100, false), (2_000, true)] {
        let function = dispatch(cases);
        let outcome = conventional(&function, &Config::default());
        let copied = copies(&function, &outcome);
        assert!(copied.iter().all(|&copies| copies <= u64::from(MOST_COPIES)), "{copied:?}");
        assert_eq!(!outcome.report.left.is_empty(), is_left);
        let left = &outcome.report.left;
        assert!(left.iter().all(|left| left.copies > MOST_COPIES && copied[left.register.0 as usize] == 0), "{left:?}");
        assert!(is_left || copied.iter().any(|&copies| copies > 0), "{copied:?}");
        edited(&function, &outcome.edits);
    }
}
