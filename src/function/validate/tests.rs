//! Each rule is violated once, and valid special cases are accepted.

use std::sync::Arc;

use super::*;
use crate::function::{FunctionBuilder, OpcodeTable, VReg};

const HEADER: &str = "mfv 1\nfunction \"f\"\nopcode ADD\nopcode PHI phi\nopcode DBG debug\nopcode BR\n\
                      regs %0 B32 B32 B32\nslot0 size 3 align 4\n";

/// Returns the violated rule of a function with these blocks.
fn broken(blocks: &str) -> Option<String> {
    let function = Function::parse(&format!("{HEADER}{blocks}\nend\n")).unwrap();
    function.validate().err().map(|error| error.to_string())
}

#[test]
fn a_function_without_blocks_is_valid() {
    assert_eq!(FunctionBuilder::new("f", Arc::new(OpcodeTable::new())).finish().validate(), Ok(()));
}

#[test]
fn unreachable_and_empty_blocks_irreducible_loops_and_missing_terminators_are_valid() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1 bb2\nbb1: frequency 0.0 depth 0 -> bb2\n\
                  bb2: frequency 1.0 depth 9 -> bb1\nBR bb1 :: terminator\nbb3: frequency 1.0 depth 0 -> bb3";
    assert_eq!(broken(blocks), None);
}

#[test]
fn copies_of_other_classes_and_reads_without_definition_are_valid() {
    assert_eq!(broken("bb0: frequency 1.0 depth 0\n%0 = ADD %1, undef %2\nDBG %2, $noreg :: meta"), None);
}

#[test]
fn a_phi_needs_no_input_from_a_predecessor_that_cannot_be_reached() {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb2\nbb1: frequency 1.0 depth 0 -> bb2\nbb2: frequency 1.0 depth 0";
    assert_eq!(broken(&format!("{blocks}\n%0 = PHI %1, bb0")), None);
    assert_eq!(broken(&format!("{blocks}\n%0 = PHI %1, bb0, %2, bb1")), None);
}

#[test]
fn debug_values_may_stand_behind_terminators() {
    assert_eq!(broken("bb0: frequency 1.0 depth 0\nBR :: terminator\nDBG %0 :: meta\nBR :: terminator"), None);
}

#[test]
fn broken_rules_of_blocks_are_named() {
    for (blocks, message) in [
        ("bb0: frequency -1.0 depth 0", "bb0: its frequency -1 is not a finite number that is 0 or more"),
        ("bb0: frequency 1.0 depth 0 -> bb1 bb1\nbb1: frequency 1.0 depth 0", "bb0: its successor bb1 occurs twice"),
        ("bb0: frequency 1.0 depth 0\nBR :: terminator\nADD", "i1: it follows the terminator i0"),
        ("bb0: frequency 1.0 depth 0\nBR bb0 :: terminator", "i0: it goes to bb0, which is not a successor of bb0"),
        ("bb0: frequency 1.0 depth 0\nADD\n%0 = PHI", "i1: a PHI follows another instruction"),
    ] {
        assert_eq!(broken(blocks).as_deref(), Some(message), "{blocks}");
    }
}

#[test]
fn broken_rules_of_phis_are_named() {
    let before = "bb0: frequency 1.0 depth 0 -> bb1\nbb1: frequency 1.0 depth 0 -> bb1";
    for (phi, message) in [
        ("PHI", "i0: a PHI without a definition"),
        ("PHI %0, bb0", "i0: a PHI must be a defined register, then pairs of a register and a block"),
        ("%0 = PHI %1", "i0: a PHI must be a defined register, then pairs of a register and a block"),
        ("%0 = PHI %1, %2", "i0: a PHI's inputs must be pairs of a register and a block"),
        ("%0 = PHI 5, bb0, %1, bb1", "i0: a PHI's input is not a register that is read"),
        ("%0 = PHI def %1, bb0, %1, bb1", "i0: a PHI's input is not a register that is read"),
        ("%0 = PHI %1, bb0", "i0: it has no input from the predecessor bb1"),
        ("%0 = PHI %1, bb0, %2, bb0", "i0: it has two different inputs from bb0"),
        ("%0 = PHI %1, bb0, %1, bb0", "i0: it has no input from the predecessor bb1"),
    ] {
        // A definition in the middle of a PHI does not count as the leading one. It is printed and parsed as a flag.
        assert_eq!(broken(&format!("{before}\n{phi}")).as_deref(), Some(message), "{phi}");
    }
    // After a switch, a predecessor occurs once for each edge, with the same register.
    assert_eq!(broken(&format!("{before}\n%0 = PHI %1, bb0, %2, bb1, %1, bb0")), None);
    let elsewhere = "bb0: frequency 1.0 depth 0 -> bb1\n%0 = PHI %1, bb1\nbb1: frequency 1.0 depth 0";
    let message = "i0: its input comes from bb1, which is not a predecessor";
    assert_eq!(broken(elsewhere).as_deref(), Some(message));
}

#[test]
fn broken_rules_of_operands_are_named() {
    for (inst, message) in [
        ("%0 = ADD kill 5", "i0: operand 1: it has flags, but is not a register"),
        ("%0 = ADD 5 tied 0", "i0: operand 1: it is tied, but is not a register"),
        ("kill %0 = ADD", "i0: operand 0: a definition is marked as the last read"),
        ("ADD dead %0", "i0: operand 0: a read is marked as a dead or early definition"),
        ("ADD early_clobber %0", "i0: operand 0: a read is marked as a dead or early definition"),
        ("ADD %0 tied 1, %1", "i0: operand 0: it is tied to operand 1, but a tie connects a definition and a read"),
        ("%0 = ADD %1 tied 1", "i0: operand 1: it is tied to operand 1, but a tie connects a definition and a read"),
        ("%0 tied 1 = ADD %1, %2 tied 0", "i0: operand 2: it is tied to operand 0, which is tied to another"),
    ] {
        let found = broken(&format!("bb0: frequency 1.0 depth 0\n{inst}"));
        assert_eq!(found.as_deref(), Some(message), "{inst}");
    }
}

/// Returns a valid function, for violations that a text cannot express.
fn valid() -> Function {
    let blocks = "bb0: frequency 1.0 depth 0 -> bb1\n%0 = ADD %1\nbb1: frequency 1.0 depth 0\nADD slot0";
    Function::parse(&format!("{HEADER}{blocks}\nend\n")).unwrap()
}

#[test]
fn broken_tables_are_named() {
    type Break = fn(&mut Function);
    let cases: [(Break, &str); 13] = [
        (|f| f.inst_line.clear(), "function: its instruction tables differ in length"),
        (|f| f.operand_start.clear(), "function: the operands of its instructions are not contiguous"),
        (|f| f.operand_start[1] = 9, "function: the operands of its instructions are not contiguous"),
        (|f| f.operands.clear(), "function: its last operands do not belong to an instruction"),
        (|f| f.blocks[Block(1)].insts.end = 1, "function: its last instructions do not belong to a block"),
        (|f| f.blocks[Block(0)].insts.end = 0, "bb1: its instructions do not follow those of the previous block"),
        (|f| f.blocks[Block(0)].succs.start = 1, "bb0: its successors do not follow those of the previous block"),
        (|f| f.inst_opcode[Inst(1)].0 = 99, "i1: op99 is not in the function's table"),
        (
            |f| f.kernel = Some(LaunchBounds { min_blocks: Some(0), ..LaunchBounds::default() }),
            "function: one of its launch bounds is 0",
        ),
        (|f| f.slots[crate::function::Slot(0)].align = 6, "slot0: its alignment 6 is not a power of two"),
        (
            |f| f.blocks[Block(1)].frequency = f64::NAN,
            "bb1: its frequency NaN is not a finite number that is 0 or more",
        ),
        (|f| f.succs[0] = Block(7), "bb0: its successor bb7 does not exist"),
        (|f| f.operands[1].value = Value::Reg(VReg(3)), "i0: operand 1: Reg(%3) does not exist"),
    ];
    assert_eq!(valid().validate(), Ok(()));
    for (break_it, message) in cases {
        let mut function = valid();
        break_it(&mut function);
        assert_eq!(function.validate().unwrap_err().to_string(), message);
    }
}
