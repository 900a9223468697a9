//! Small functions with a known number of names. In every test, the checker proves that the function's meaning stays
//! the same.

use super::rename;
use crate::fuzzing::{edited, view};

const HEAD: &str = "mfv 1\nfunction \"k\"\nopcode COPY copy\nopcode DBG_VALUE debug\nopcode ADD\nopcode LOAD\nopcode LOAD2\n\
    opcode STORE\nopcode BRA\nopcode INLINEASM\nregs %0 B32 B32 B32 B32 B32 B32 B64 B64 B1 B128 B128\n";

/// Returns the number of registers that occur in the renamed function, and this function. The checker has proved it.
fn names(blocks: &str) -> (usize, String) {
    let function = view(HEAD, blocks);
    let outcome = rename(&function, true);
    let renamed = edited(&function, &outcome.edits);
    let mut occur: Vec<_> = renamed.insts().flat_map(|i| renamed.operands(i)).filter_map(|o| o.reg()).collect();
    occur.sort_unstable();
    occur.dedup();
    assert_eq!(occur.len(), outcome.after, "{renamed}");
    assert_eq!(rename(&function, true).edits, outcome.edits, "the same function gives the same names");
    (outcome.after, renamed.to_string())
}

/// A register that an instruction reads for the last time may share its name with a register that the same instruction
/// writes.
#[test]
fn a_chain_has_one_name() {
    let (after, body) = names(
        "bb0: frequency 1.0 depth 0\n  %0 = LOAD 0 :: read\n  %1 = ADD %0, 1\n  %2 = ADD %1, 1\n  STORE %2, 0 :: write",
    );
    assert_eq!(after, 1, "{body}");
}

/// Two results of one instruction, and two registers of different classes, never share a name.
#[test]
fn results_and_classes_stay_apart() {
    let (after, body) = names(
        "bb0: frequency 1.0 depth 0\n  dead %0, dead %1 = LOAD2 0 :: read\n  dead %6 = LOAD 0 :: read\n  dead %8 = LOAD 0 :: read",
    );
    assert_eq!(after, 4, "{body}");
}

/// Registers of 128 bits keep their names.
#[test]
fn quads_are_left_alone() {
    let (after, body) = names("bb0: frequency 1.0 depth 0\n  dead %9 = LOAD 0 :: read\n  dead %10 = LOAD 0 :: read");
    assert_eq!(after, 2, "{body}");
}

/// A register takes the name of another during its hole only if it ends before the hole does.
#[test]
fn holes_are_used_with_care() {
    let blocks = |in_the_hole: &str, behind_it: &str| {
        format!(
            "bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read
  STORE %0, 0 :: write
  %1 = LOAD 1 :: read
  STORE {in_the_hole}, 0 :: write
  %0 = LOAD 2 :: read
  STORE %0, {behind_it} :: write"
        )
    };
    assert_eq!(names(&blocks("%1", "0")).0, 1);
    let (after, body) = names(&blocks("0", "%1"));
    assert_eq!(after, 2, "{body}");
}

/// Outputs of inline assembly share no register with its inputs, whether they are early clobbers or not, unless they
/// are tied.
#[test]
fn assembly_keeps_its_registers() {
    let (after, body) = names(
        "bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read
  INLINEASM 0, 1, def %1, %0 :: opaque
  STORE %1, 0 :: write",
    );
    assert_eq!(after, 2, "{body}");
    let (after, body) = names(
        "bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read
  INLINEASM 0, 1, def %0 tied 3, %0 tied 2 :: opaque
  STORE %0, 0 :: write",
    );
    assert_eq!(after, 1, "{body}");
}

/// A register of a debug value keeps its name.
#[test]
fn variables_stay_known() {
    let (after, body) = names(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  STORE %0, 0 :: write
  %1 = LOAD 1 :: read
bb1: frequency 1.0 depth 0
  DBG_VALUE %0, $noreg :: meta
  STORE %1, 0 :: write",
    );
    assert_eq!(after, 2, "{body}");
    assert!(body.contains("DBG_VALUE %0, "), "{body}");
}

/// If as many registers are live as there are names, the number of names stays the same, and no value is lost around a
/// loop.
#[test]
fn a_loop_keeps_what_it_carries() {
    let (after, body) = names(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  %1 = LOAD 1 :: read
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %2 = ADD %0, %1
  %0 = ADD %2, 1
  BRA bb1 :: terminator
bb2: frequency 1.0 depth 0
  STORE %0, 0 :: write",
    );
    assert_eq!(after, 2, "{body}");
}

/// By default, registers that are live across blocks do not share their names.
#[test]
fn names_are_shared_within_blocks() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  %1 = ADD %0, 1
  %2 = ADD %1, 1
  %3 = ADD %2, 1
bb1: frequency 1.0 depth 0
  %4 = ADD %3, 1
  %5 = ADD %4, 1
  STORE %5, 0 :: write";
    let function = view(HEAD, blocks);
    assert_eq!(rename(&function, true).after, 1);
    let outcome = rename(&function, false);
    assert_eq!(outcome.after, 2, "all but %3 have one name");
    edited(&function, &outcome.edits);
}

/// The registers with the most occurrences have the lowest numbers. If renaming gains nothing, nothing changes.
#[test]
fn frequent_names_are_short() {
    let (_, body) = names(
        "bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read
  %1 = LOAD 1 :: read
  STORE %1, %1 :: write
  STORE %1, %0 :: write",
    );
    assert!(body.contains("%12 = LOAD 0") && body.contains("%11 = LOAD 1"), "{body}");
    let one = view(HEAD, "bb0: frequency 1.0 depth 0\n  %0 = LOAD 0 :: read\n  STORE %0, 0 :: write");
    assert!(rename(&one, true).edits.is_empty());
}

/// By default, operands of inline assembly and of instructions of the whole warp keep their names.
#[test]
fn bound_operands_keep_their_names() {
    for (inst, effects) in
        [("%1 = INLINEASM 0, 1, %0", ":: opaque"), ("%1 = INLINEASM 0, 1, %0", ""), ("%1 = ADD %0, 1", ":: convergent")]
    {
        let blocks = format!(
            "bb0: frequency 1.0 depth 0\n  %0 = LOAD 0 :: read\n  {inst} {effects}\n  %2 = ADD %1, 1\n  %3 = ADD %2, 1\n  STORE %3, 0 :: write"
        );
        let function = view(HEAD, &blocks);
        assert_eq!(rename(&function, false).after, 3, "{blocks}");
        assert!(rename(&function, true).after < 3, "{blocks}");
    }
}

/// The registers of an asynchronous instruction share no name, even with `all`: the instruction writes them until
/// another one waits.
#[test]
fn registers_in_use_keep_their_names() {
    let body = |word: &str| {
        format!(
            "bb0: frequency 1.0 depth 0\n  %0 = LOAD 0 :: read\n  %1 = \"{word}\" %0 :: opaque\n  %2 = ADD %1, 1\n  STORE %2, 0 :: write"
        )
    };
    let head = |word: &str| HEAD.replacen("opcode ADD", &format!("opcode \"{word}\"\nopcode ADD"), 1);
    let after = |word: &str| rename(&view(&head(word), &body(word)), true).after;
    assert_eq!((after("tcgen05.ld/r"), after("tcgen05.wait::ld/r")), (3, 1));
}
