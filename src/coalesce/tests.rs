//! Required and forbidden merges of the coalescer, on the smallest functions that show each rule.

use super::coalesce;
use crate::check::check;
use crate::config::{Config, Priority};
use crate::function::Function;
use crate::fuzzing::view;
use crate::stats::CopyRefusal;
use crate::target::Classification;

/// Twelve 32-bit registers and the opcodes of these tests.
const HEAD: &str = "mfv 1\nfunction \"k\"\nopcode COPY copy\nopcode MOV_B32_i constant\nopcode MOV_B32_r copy\nopcode ADD\n\
    opcode LOAD\nopcode STORE\nopcode BRANCH\nopcode V2I32toI64 pack\nopcode I64toV2I32 unpack\n\
    opcode I64toI32H extract 1 of 2\nopcode LEA_ADDRi64\nopcode cvta_local_64\nopcode DBG_VALUE debug\n\
    regs %0 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32 B32\nregs %12 B64 B64 B64 B64 B128 B128\n\
    slot0 size 8 align 8\n";

fn function(blocks: &str) -> Function {
    view(HEAD, blocks)
}

/// Returns the body after coalescing, which the checker has proved, and the reasons for the remaining copies.
fn coalesced_with(blocks: &str, config: &Config) -> (String, Vec<CopyRefusal>) {
    let function = function(blocks);
    let outcome = coalesce(&function, &Classification::by_name(function.opcodes()), config);
    assert_eq!(check(&function, &outcome.edits), Ok(()), "the checker agrees");
    let text = outcome.edits.apply(&function).expect("the edits fit").function.to_string();
    let body = text[text.find("bb0:").expect("there is a block")..].trim_end_matches("end\n").to_owned();
    (body, outcome.report.refused.iter().map(|&(_, reason)| reason).collect())
}

fn coalesced(blocks: &str) -> (String, Vec<CopyRefusal>) {
    coalesced_with(blocks, &Config::default())
}

fn count(body: &str, word: &str) -> usize {
    body.matches(word).count()
}

const LOAD_AND_STORE: &str = "bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read
  %1 = COPY %0
  %2 = MOV_B32_r %1
  STORE %2, %0 :: write";

/// All registers of a chain of copies become the first register of the chain. This holds for every kind of move.
#[test]
fn chains_become_one_register() {
    let (body, refused) = coalesced(LOAD_AND_STORE);
    assert_eq!(count(&body, "COPY") + count(&body, "MOV"), 0, "{body}");
    assert!(body.contains("STORE %0, %0"), "{body}");
    assert_eq!(refused, []);
}

/// Two registers that swap their values in a loop are not merged.
#[test]
fn swapped_registers_stay_apart() {
    let (body, refused) = coalesced(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  %1 = LOAD 1 :: read
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %2 = COPY %0
  %0 = COPY %1
  %1 = COPY %2
  STORE %0, %1 :: write
bb2: frequency 1.0 depth 0",
    );
    assert_eq!(count(&body, "COPY"), 3, "{body}");
    assert_eq!(refused.len(), 3);
}

/// A copy remains if its value is read after the source has its next value.
#[test]
fn lost_copies_are_not_lost() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %1 = COPY %0
  %0 = ADD %1, 1
bb2: frequency 1.0 depth 0
  STORE %1, 0 :: write",
    );
    assert_eq!(count(&body, "COPY"), 1, "{body}");
}

/// Of two copies that exclude each other, the copy in the more frequent block is removed. If both are equally frequent,
/// the copy with the lower register number is removed.
#[test]
fn priority_decides_which_copy_goes() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1 bb2
  %0 = LOAD 0 :: read
  %1 = LOAD 1 :: read
bb1: frequency 0.1 depth 0 -> bb3
  %2 = COPY %0
bb2: frequency 0.9 depth 0 -> bb3
  %2 = COPY %1
bb3: frequency 1.0 depth 0
  STORE %2, %0, %1 :: write";
    let left_in = |body: &str| body.find("COPY").map(|at| body[..at].matches("bb").count());
    let read_on = blocks.replace(", %0, %1", "");
    let (body, _) = coalesced(&read_on);
    assert_eq!(count(&body, "COPY"), 1, "{body}");
    assert!(body.find("COPY") < body.find("bb2:"), "the copy in the colder block stays: {body}");
    let config = Config { priority: Priority::Register, ..Config::default() };
    let (body, _) = coalesced_with(&read_on, &config);
    assert!(body.find("COPY") > body.find("bb2:"), "the copy of the higher register stays: {body}");
    assert!(left_in(&body).is_some());
}

/// A constant that is an input of two registers is written to each register, and the constant's own register is
/// removed.
#[test]
fn constants_are_put_where_they_are_copied() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = MOV_B32_i 0
  %1 = COPY %0
  %2 = COPY %0
bb1: frequency 9.0 depth 1 -> bb1 bb2
  %1 = ADD %1, 1
  %2 = ADD %2, %1
bb2: frequency 1.0 depth 0
  STORE %2, 0 :: write";
    let (body, _) = coalesced(blocks);
    assert_eq!((count(&body, "COPY"), count(&body, "MOV_B32_i")), (0, 2), "{body}");
    let config = Config { remat_constants: false, ..Config::default() };
    let (body, _) = coalesced_with(blocks, &config);
    assert_eq!((count(&body, "COPY"), count(&body, "MOV_B32_i")), (1, 1), "{body}");
}

/// If a register takes a constant from two copies, the constant keeps its one definition: two definitions would be one
/// move more.
#[test]
fn a_constant_taken_twice_is_defined_once() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0 -> bb1 bb2
  %0 = MOV_B32_i 7
bb1: frequency 0.5 depth 0 -> bb3
  %1 = COPY %0
bb2: frequency 0.5 depth 0 -> bb3
  %1 = COPY %0
bb3: frequency 1.0 depth 0
  STORE %1, 0 :: write",
    );
    assert_eq!((count(&body, "COPY"), count(&body, "MOV_B32_i")), (0, 1), "{body}");
}

/// A copy becomes a constant if its source holds the constant at the copy, even if other definitions also write the
/// source.
#[test]
fn the_value_counts_and_not_the_register() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0
  %0 = MOV_B32_i 5
  %1 = COPY %0
  %0 = ADD %0, 1
  STORE %1, %0 :: write
  %0 = ADD %0, 1
  STORE %1, %0 :: write",
    );
    assert_eq!((count(&body, "COPY"), count(&body, "MOV_B32_i")), (0, 2), "{body}");
}

/// If a merged register has two definitions by one constant, the second has no effect and is removed.
#[test]
fn a_register_that_holds_the_constant_is_not_told_again() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0
  %0 = MOV_B32_i 5
  STORE %0, 0 :: write
  %1 = MOV_B32_i 5
  %2 = COPY %1
  STORE %0, %1, %2 :: write
  %2 = COPY %0
  STORE %0, %1, %2 :: write",
    );
    assert_eq!((count(&body, "COPY"), count(&body, "MOV_B32_i")), (0, 1), "{body}");
}

/// If a pair is packed and unpacked again, the results are the registers of the pair.
#[test]
fn round_trips_of_pairs_vanish() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read
  %1 = LOAD 1 :: read
  %12 = V2I32toI64 %0, %1
  %2, %3 = I64toV2I32 %12
  %4 = I64toI32H %12
  STORE %2, %3, %4 :: write",
    );
    assert_eq!(count(&body, "I64"), 0, "{body}");
    assert!(body.contains("STORE %0, %1, %1"), "{body}");
}

/// If a part changes after the pack, the unpack is not replaced.
#[test]
fn a_changed_part_is_not_forwarded() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read
  %1 = LOAD 1 :: read
  %12 = V2I32toI64 %0, %1
  %0 = ADD %0, 1
  %2, %3 = I64toV2I32 %12
  STORE %0, %2, %3 :: write",
    );
    assert_eq!(count(&body, "I64toV2I32"), 1, "{body}");
}

/// A pair that is unpacked and packed again in the same order is the same pair. In another order, it is not.
#[test]
fn the_parts_in_order_are_the_whole() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0
  %12 = LOAD 0 :: read
  %0, %1 = I64toV2I32 %12
  %13 = V2I32toI64 %0, %1
  %14 = V2I32toI64 %1, %0
  STORE %13, %14 :: write",
    );
    assert_eq!(count(&body, "V2I32toI64"), 1, "{body}");
    assert!(body.contains("STORE %12, %14"), "{body}");
}

/// The address of a slot keeps its one definition, even if a merge would cause no interference.
#[test]
fn frame_addresses_keep_one_definition() {
    let (body, refused) = coalesced(
        "bb0: frequency 1.0 depth 0 -> bb1 bb2
  %12 = LOAD 0 :: read
bb1: frequency 0.5 depth 0 -> bb3
  %13 = LEA_ADDRi64 slot0, 0
  %14 = cvta_local_64 %13
  %15 = COPY %14
bb2: frequency 0.5 depth 0 -> bb3
  %15 = COPY %12
bb3: frequency 1.0 depth 0
  STORE %15, 0 :: write",
    );
    assert_eq!(count(&body, "COPY"), 1, "{body}");
    assert_eq!(refused, [CopyRefusal::FrameAddress]);
}

/// Registers of 128 bits are not changed.
#[test]
fn quads_are_left_alone() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0
  %16 = LOAD 0 :: read
  %17 = COPY %16
  STORE %17, 0 :: write",
    );
    assert_eq!(count(&body, "COPY"), 1, "{body}");
}

/// A debug value stays if the merged register still holds its variable. If the register may hold another value, the
/// variable becomes unknown.
#[test]
fn debug_values_stay_true() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0
  %0 = LOAD 0 :: read
  %1 = COPY %0
  DBG_VALUE %1 :: meta
  STORE %1, 0 :: write
  DBG_VALUE %0 :: meta
  %1 = LOAD 1 :: read
  DBG_VALUE %0 :: meta
  STORE %1, 0 :: write",
    );
    assert_eq!(count(&body, "COPY"), 0, "{body}");
    assert_eq!(count(&body, "DBG_VALUE %0"), 2, "{body}");
}

/// A debug value of a register that is dead there, but live into the block, keeps its register.
#[test]
fn a_debug_value_outlives_the_last_use() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  %1 = COPY %0
bb1: frequency 1.0 depth 0
  STORE %1, 0 :: write
  DBG_VALUE %1, $noreg :: meta
  STORE 1, 0 :: write",
    );
    assert_eq!(count(&body, "COPY"), 0, "{body}");
    assert_eq!(count(&body, "DBG_VALUE %0"), 1, "{body}");
}

/// The register of a variable may be removed because it held a constant. The variable then becomes the constant. This
/// holds if the constant's definition is removed, and also if the merged register holds another value at the debug
/// value. A debug value that describes an address becomes unknown.
#[test]
fn debug_values_of_constants_become_the_constant() {
    let (body, _) = coalesced(
        "bb0: frequency 1.0 depth 0
  %0 = MOV_B32_i 7
  DBG_VALUE %0, $noreg :: meta
  DBG_VALUE %0, 0 :: meta
  %1 = COPY %0
  %2 = COPY %0
  %1 = ADD %1, 1
  %2 = ADD %2, 2
  STORE %1, %2 :: write",
    );
    assert_eq!(count(&body, "COPY"), 0, "{body}");
    assert_eq!((count(&body, "DBG_VALUE 7, "), count(&body, "DBG_VALUE $noreg, 0")), (1, 1), "{body}");
}

/// Limits are respected: of three removable copies, only as many are removed as the limit allows.
#[test]
fn limits_bound_the_work() {
    for (config, left) in [
        (Config { coalesce_limit: 1, ..Config::default() }, 1),
        (Config { copy_limit: 1, ..Config::default() }, 1),
        (Config { join_liveintervals: false, ..Config::default() }, 2),
    ] {
        let (body, _) = coalesced_with(LOAD_AND_STORE, &config);
        assert_eq!(count(&body, "COPY") + count(&body, "MOV"), left, "{body}");
    }
}

/// Functions with PHIs, without copies, or without blocks are unchanged.
#[test]
fn nothing_to_do_is_nothing_done() {
    for blocks in ["", "bb0: frequency 1.0 depth 0\n  STORE 0, 1 :: write"] {
        let function = function(blocks);
        let classification = Classification::by_name(function.opcodes());
        assert!(coalesce(&function, &classification, &Config::default()).edits.is_empty());
    }
}

/// Copies between blocks remain if only copies within blocks are allowed.
#[test]
fn global_copies_can_be_left() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read
  %1 = COPY %0
  STORE %1, 0 :: write
  %2 = LOAD 0 :: read
  %3 = COPY %2
bb1: frequency 1.0 depth 0
  STORE %3, 0 :: write";
    let config = Config { join_globalcopies: false, ..Config::default() };
    let (body, refused) = coalesced_with(blocks, &config);
    assert_eq!(count(&body, "COPY"), 1, "{body}");
    assert_eq!(refused, [CopyRefusal::Global]);
}
