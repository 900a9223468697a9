//! Small PHI webs with a known result. In every test, the checker proves that the function's meaning stays the same.

use super::conventional;
use crate::config::{Config, CssaInterference};
use crate::function::{Function, Role, VReg};
use crate::fuzzing::{edited, view};

const HEAD: &str = "mfv 1\nfunction \"k\"\nopcode PHI phi\nopcode COPY copy\nopcode MOV_B32_i constant\n\
    opcode DBG_VALUE debug\nopcode ADD\nopcode LOAD\nopcode STORE\nopcode CBranch\nopcode GOTO\nopcode IMPLICIT_DEF undef\n\
    regs %0 B32 B32 B32 B32 B32 B32 B32 B32 B1\n";

fn function(blocks: &str) -> Function {
    view(HEAD, blocks)
}

/// Returns the number of instructions with a role, and the body of the function, after the pass. The checker has proved
/// it.
fn after(blocks: &str, config: &Config, role: Role) -> (usize, String) {
    let before = function(blocks);
    let outcome = conventional(&before, config);
    let edited = edited(&before, &outcome.edits);
    assert_eq!(conventional(&before, config).edits, outcome.edits, "the same function gives the same edits");
    let count = edited.insts().filter(|&inst| edited.role(inst) == role).count();
    (count, edited.to_string())
}

fn copies(blocks: &str) -> (usize, String) {
    after(blocks, &Config::default(), Role::Copy)
}

/// A typical loop counter: no copy is needed.
const COUNTER: &str = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %1 = PHI %0, bb0, %2, bb1
  %2 = ADD %1, 1
  CBranch bb1 :: terminator
bb2: frequency 1.0 depth 0
  STORE %2, 0 :: write";

#[test]
fn a_counter_needs_no_copy() {
    let (count, body) = copies(COUNTER);
    assert_eq!(count, 0, "{body}");
}

/// If the pass is switched off, nothing changes. Without coalescing, the pass inserts all copies that it can. The copy
/// on the back edge is left to PHI elimination, because the block at the edge's start may also leave the loop.
#[test]
fn the_options_decide() {
    let off = Config { cssa_interference: CssaInterference::Stock, ..Config::default() };
    assert!(conventional(&function(COUNTER), &off).edits.is_empty());
    let (count, body) = after(COUNTER, &Config { cssa_coalesce: false, ..Config::default() }, Role::Copy);
    assert_eq!(count, 2, "{body}");
}

/// The lost-copy problem: the counter's old value is read after the loop, so one of the two values needs a register of
/// its own.
#[test]
fn a_lost_copy_is_made() {
    let (count, body) = copies(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
bb1: frequency 9.0 depth 1 -> bb2 bb3
  %1 = PHI %0, bb0, %2, bb2
  %2 = ADD %1, 1
  CBranch bb3 :: terminator
bb2: frequency 8.0 depth 1 -> bb1
  GOTO bb1 :: terminator
bb3: frequency 1.0 depth 0
  STORE %1, %2 :: write",
    );
    assert_eq!(count, 1, "{body}");
}

/// The swap problem: two PHIs that exchange their values need two parallel copies. Each copy writes a register of its
/// own, and PHI elimination chooses their order.
#[test]
fn a_swap_is_opened() {
    let (count, body) = copies(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  %1 = LOAD 1 :: read
bb1: frequency 9.0 depth 1 -> bb2 bb3
  %2 = PHI %0, bb0, %3, bb2
  %3 = PHI %1, bb0, %2, bb2
  STORE %2, %3 :: write
  CBranch bb3 :: terminator
bb2: frequency 8.0 depth 1 -> bb1
  GOTO bb1 :: terminator
bb3: frequency 1.0 depth 0",
    );
    assert_eq!(count, 2, "{body}");
}

/// One value is an input of two webs on a back edge, and the block at the edge's start may also leave the loop. The
/// copy is left to PHI elimination, which can split the edge.
#[test]
fn critical_edges_are_left_to_phi_elimination() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  %3 = LOAD 1 :: read
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %1 = PHI %0, bb0, %2, bb1
  %4 = PHI %3, bb0, %2, bb1
  %2 = ADD %1, %4
  CBranch bb1 :: terminator
bb2: frequency 1.0 depth 0
  STORE %2, 0 :: write";
    let outcome = conventional(&function(blocks), &Config::default());
    assert_eq!(outcome.report.copied.len(), 1);
    assert!(outcome.edits.is_empty(), "{:?}", outcome.edits);
}

/// The last loaded and the last stored value of an accumulator are two PHIs in each of two blocks. Both always hold the
/// same value. If interference depends on values, one PHI of each pair is removed and nothing is copied. If it depends
/// on liveness, a copy is needed.
#[test]
fn of_congruent_phis_one_stays() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
bb1: frequency 9.0 depth 1 -> bb2 bb3
  %1 = PHI %0, bb0, %5, bb3
  %2 = PHI %6, bb3, %0, bb0
  CBranch bb3 :: terminator
bb2: frequency 4.0 depth 1 -> bb3
  %4 = ADD %1, 1
bb3: frequency 9.0 depth 1 -> bb1 bb4
  %5 = PHI %1, bb1, %4, bb2
  %6 = PHI %2, bb1, %4, bb2
  CBranch bb1 :: terminator
bb4: frequency 1.0 depth 0
  STORE %5, %6 :: write";
    let copied = |cssa_interference| {
        let config = Config { cssa_interference, ..Config::default() };
        after(blocks, &config, Role::Copy);
        conventional(&function(blocks), &config).report.copied.len()
    };
    assert_eq!(copied(CssaInterference::Values), 0);
    let (count, body) = after(blocks, &Config::default(), Role::Phi);
    assert_eq!(count, 2, "{body}");
    assert!(copied(CssaInterference::Liveness) > 0);
}

/// A running maximum is read again after its next value is computed, and is also read by a PHI after the loop. One copy
/// at the end of the loop's block serves both PHIs. The values from before the loop need no copy.
#[test]
fn one_copy_serves_two_phis() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1 bb2
  %0 = LOAD 0 :: read
  CBranch bb2 :: terminator
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %1 = PHI %0, bb0, %2, bb1
  %2 = ADD %1, 1
  STORE %1, %2 :: write
  CBranch bb1 :: terminator
bb2: frequency 1.0 depth 0
  %3 = PHI %0, bb0, %2, bb1
  STORE %3, 0 :: write";
    let before = function(blocks);
    let outcome = conventional(&before, &Config::default());
    // The edges are critical, so their copies are left to PHI elimination.
    assert!(outcome.edits.is_empty(), "{:?}", outcome.edits);
    let copied: Vec<VReg> =
        outcome.report.copied.iter().filter_map(|&(phi, _)| before.operands(phi)[0].def()).collect();
    assert_eq!(copied, [VReg(1), VReg(3)]);
}

/// The pass does not merge registers that are left to LLVM, even if their PHIs always hold the same value.
#[test]
fn congruent_phis_of_wide_registers_stay() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1 bb2
  %9 = LOAD 0 :: read
  CBranch bb2 :: terminator
bb1: frequency 0.5 depth 0 -> bb2
  %10 = LOAD 16 :: read
  GOTO bb2 :: terminator
bb2: frequency 1.0 depth 0
  %11 = PHI %9, bb0, %10, bb1
  %12 = PHI %9, bb0, %10, bb1
  STORE %11, %12 :: write";
    let before = view(&HEAD.replace("B1\n", "B1 B128 B128 B128 B128\n"), blocks);
    for cssa_coalesce in [true, false] {
        let config = Config { cssa_coalesce, ..Config::default() };
        assert!(conventional(&before, &config).edits.is_empty(), "{cssa_coalesce}");
    }
}

/// A copy of an undefined value is no copy. Two PHIs stay separate if one reads the copied register and the other reads
/// this copy.
#[test]
fn what_is_undefined_is_no_copy() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1 bb2
  %0 = LOAD 0 :: read
  %1 = COPY undef %0
  CBranch bb2 :: terminator
bb1: frequency 0.5 depth 0 -> bb2
  %2 = LOAD 4 :: read
  GOTO bb2 :: terminator
bb2: frequency 1.0 depth 0
  %3 = PHI %1, bb0, %2, bb1
  %4 = PHI %0, bb0, %2, bb1
  STORE %3, %4 :: write";
    let (count, body) = after(blocks, &Config::default(), Role::Phi);
    assert_eq!(count, 2, "{body}");
}

/// If a block has only PHIs, and PHIs of the next block read their results, the results are copied before the inputs.
#[test]
fn results_come_before_inputs() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
bb1: frequency 1.0 depth 0 -> bb2
  %2 = PHI %0, bb0
  GOTO bb2 :: terminator
bb2: frequency 1.0 depth 0
  %3 = PHI %2, bb1
  STORE %3, 0 :: write";
    let (count, body) = after(blocks, &Config { cssa_coalesce: false, ..Config::default() }, Role::Copy);
    assert_eq!(count, 4, "{body}");
}

/// Interference depends on values. A PHI with one input holds the same value as its input, so both may be live at once
/// in one register.
#[test]
fn equal_values_share_a_register() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  GOTO bb1 :: terminator
bb1: frequency 1.0 depth 0
  %2 = PHI %0, bb0
  STORE %0, %2 :: write";
    let (count, body) = copies(blocks);
    assert_eq!(count, 0, "{body}");
    let (count, body) =
        after(blocks, &Config { cssa_interference: CssaInterference::Liveness, ..Config::default() }, Role::Copy);
    assert_eq!(count, 1, "{body}");
}

/// Of two copies at one place, the one that reads a register comes before the one that writes it, whatever the order of
/// the PHIs is. So PHI elimination's own copies can be removed.
#[test]
fn what_is_read_comes_before_what_is_written() {
    let (count, body) = copies(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  %1 = LOAD 1 :: read
bb1: frequency 9.0 depth 1 -> bb2 bb3
  %3 = PHI %1, bb0, %4, bb2
  %2 = PHI %0, bb0, %3, bb2
  %4 = LOAD %3 :: read
  STORE %2, %3 :: write
  CBranch bb3 :: terminator
bb2: frequency 8.0 depth 1 -> bb1
  GOTO bb1 :: terminator
bb3: frequency 1.0 depth 0
  STORE %2, %3 :: write",
    );
    assert_eq!(count, 2, "{body}");
    let (read, written) = (body.find("COPY %3").expect("a copy"), body.find("COPY %4").expect("another"));
    assert!(read < written, "{body}");
}

/// A constant that is an input of two webs is rematerialised for each web, and its old definition is removed. A debug
/// value of its register shows the constant.
#[test]
fn constants_are_written_where_they_are_read() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1 bb2
  %0 = MOV_B32_i 7
  DBG_VALUE %0, $noreg :: meta
  %3 = LOAD 0 :: read
  %6 = LOAD 4 :: read
  CBranch bb2 :: terminator
bb1: frequency 0.5 depth 0 -> bb2
  GOTO bb2 :: terminator
bb2: frequency 1.0 depth 0
  %1 = PHI %3, bb0, %0, bb1
  %2 = PHI %6, bb0, %0, bb1
  %4 = ADD %1, 1
  %5 = ADD %2, 2
  STORE %4, %5 :: write";
    let (count, body) = after(blocks, &Config::default(), Role::Constant);
    assert_eq!(count, 2, "{body}");
    assert!(body.contains("DBG_VALUE 7, "), "{body}");
    assert_eq!(copies(blocks).0, 0);
}

/// One definition of a constant serves both places at which one PHI reads it. Another PHI gets a definition of its own.
#[test]
fn one_constant_serves_two_places() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = MOV_B32_i 5
  GOTO bb1 :: terminator
bb1: frequency 9.0 depth 1 -> bb2 bb4
  %1 = PHI %0, bb0, %3, bb5
  CBranch bb4 :: terminator
bb2: frequency 4.0 depth 1 -> bb3 bb5
  %2 = MOV_B32_i 7
  CBranch bb5 :: terminator
bb3: frequency 2.0 depth 1 -> bb5
  %5 = MOV_B32_i 6
  STORE 1, 0 :: write
  GOTO bb5 :: terminator
bb4: frequency 5.0 depth 1 -> bb5
  %6 = MOV_B32_i 6
  GOTO bb5 :: terminator
bb5: frequency 9.0 depth 1 -> bb1 bb6
  %3 = PHI %2, bb2, %2, bb3, %1, bb4
  %4 = PHI %2, bb2, %5, bb3, %6, bb4
  STORE %4, 1 :: write
  CBranch bb1 :: terminator
bb6: frequency 1.0 depth 0
  STORE %3, 0 :: write";
    let (count, body) = after(blocks, &Config::default(), Role::Constant);
    assert_eq!(count, 5, "{body}");
    assert_eq!(copies(blocks).0, 0);
}

/// Two PHIs of one web that each read the constant at one place also share its definition.
#[test]
fn one_constant_serves_a_web() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1 bb4
  %0 = MOV_B32_i 7
  CBranch bb4 :: terminator
bb1: frequency 0.5 depth 0 -> bb2 bb3
  CBranch bb3 :: terminator
bb2: frequency 0.2 depth 0 -> bb3
  %1 = LOAD 0 :: read
  GOTO bb3 :: terminator
bb3: frequency 0.5 depth 0 -> bb4
  %2 = PHI %0, bb1, %1, bb2
  GOTO bb4 :: terminator
bb4: frequency 1.0 depth 0
  %3 = PHI %0, bb0, %2, bb3
  STORE %3, 0 :: write";
    assert!(conventional(&function(blocks), &Config::default()).edits.is_empty());
}

/// A constant that is already defined in the predecessor, and only for one PHI, stays.
#[test]
fn a_constant_in_its_place_stays() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = MOV_B32_i 7
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %1 = PHI %0, bb0, %2, bb1
  %2 = ADD %1, 1
  CBranch bb1 :: terminator
bb2: frequency 1.0 depth 0
  STORE %2, 0 :: write";
    assert!(conventional(&function(blocks), &Config::default()).edits.is_empty());
}

/// PHIs that are read only by each other are removed, and debug values show their variables as unknown.
#[test]
fn dead_phis_go() {
    let (count, body) = after(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %1 = PHI %0, bb0, %2, bb1
  %2 = PHI %0, bb0, %1, bb1
  DBG_VALUE %1, $noreg :: meta
  CBranch bb1 :: terminator
bb2: frequency 1.0 depth 0
  STORE %0, 0 :: write",
        &Config::default(),
        Role::Phi,
    );
    assert_eq!(count, 0, "{body}");
    assert!(body.contains("DBG_VALUE $noreg"), "{body}");
}

/// An undefined input is not copied, and does not prevent other inputs from sharing a register.
#[test]
fn undefined_inputs_are_not_copied() {
    let (count, body) = copies(
        "bb0: frequency 1.0 depth 0 -> bb1 bb2
  %3 = IMPLICIT_DEF
  CBranch bb2 :: terminator
bb1: frequency 0.5 depth 0 -> bb2
  %0 = LOAD 0 :: read
  GOTO bb2 :: terminator
bb2: frequency 1.0 depth 0
  %1 = PHI %3, bb0, %0, bb1
  STORE %1, 0 :: write",
    );
    assert_eq!(count, 0, "{body}");
}
