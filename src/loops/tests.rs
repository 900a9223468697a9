use super::{Outcome, Reason, shape_loops};
use crate::analysis::Unrolling;
use crate::check::{ErrorKind, check};
use crate::config::LoopShape;
use crate::function::{Block, Edit, Function, Inst};
use crate::target::Classification;

/// Returns a kernel with `bounds` and a loop, bb1. The loop counts %0 up to %1, and consists of `body` and `end`.
fn looped(bounds: &str, body: &str, end: &str) -> Function {
    let text = format!(
        "mfv 1\nfunction \"k\"\nkernel {bounds}\nopcode LOAD\nopcode ADD32ri\nopcode FADDf32rr\nopcode SETP_i32rr\nopcode SETP_i32ri\n\
         opcode CP_ASYNC_CA_SHARED_GLOBAL_4\nopcode \"bar.sync/i\"\nopcode CBranch\nopcode GOTO\nopcode Return\nopcode USE\n\
         regs %0 B32 B32 B32 B1\n\
         bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LOAD\nbb1: frequency 9.0 depth 1 -> bb2 bb1\n{body}{end}\
         bb2: frequency 1.0 depth 0\n  Return :: terminator\nend\n"
    );
    Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn outcome(function: &Function) -> Outcome {
    shape_loops((function, &Classification::by_name(function.opcodes())), LoopShape::On)
}

const ADD: &str = "  %0 = ADD32ri %0, 1\n";
const SUB: &str = "  %0 = ADD32ri %0, -1\n";
const TO_ZERO: &str = "  %3 = SETP_i32ri %0, 0, 0\n";
const FADD: &str = "  %2 = FADDf32rr %2, %2\n";
const JUMPS: &str = "  CBranch %3, bb2 :: terminator\n  GOTO bb1 :: terminator\n";

/// Returns a comparison, by LLVM's number of its kind.
fn compared(kind: u32) -> String {
    format!("  %3 = SETP_i32rr %0, %1, {kind}\n")
}

/// The two jumps are swapped, and the comparison becomes its complement, which the checker proves.
#[test]
fn a_loop_that_ends_at_equality() {
    let function = looped("", &format!("{FADD}{SUB}{TO_ZERO}"), JUMPS);
    let outcome = outcome(&function);
    assert_eq!(outcome.turned, [(Block(1), Unrolling::Partly(4))]);
    assert_eq!(outcome.edits.edits(), [Edit::TurnBranch { block: Block(1), comparison: Inst(3) }]);
    check(&function, &outcome.edits).expect("it means the same");
    let edited = outcome.edits.apply(&function).expect("the edits fit").function;
    let expected = looped(
        "",
        &format!("{FADD}{SUB}{}", TO_ZERO.replace("0, 0\n", "0, 1\n")),
        "  CBranch %3, bb1 :: terminator\n  GOTO bb2 :: terminator\n",
    );
    assert_eq!(edited.to_string(), expected.to_string());
    assert!(self::outcome(&edited).turned.is_empty(), "a second run finds nothing");
}

/// A loop that computes many words stays, because four bodies keep more values live at once. `LoopShape::All` changes
/// it anyway.
#[test]
fn a_long_turn() {
    for (length, is_left) in [(10, false), (20, true)] {
        let loads = "  %2 = LOAD :: read\n".repeat(length);
        let text = looped("", &format!("{loads}{SUB}{TO_ZERO}"), JUMPS).to_string();
        let text = text.replace("B32 B32 B32 B1", "B32 B32 B128 B1");
        let function = Function::parse(&text).expect("a view");
        let left = outcome(&function).left;
        assert_eq!(left, Vec::from_iter(is_left.then_some((Block(1), Reason::Pressure))), "{length}");
        let all = shape_loops((&function, &Classification::by_name(function.opcodes())), LoopShape::All);
        assert_eq!(all.turned.len(), 1, "{length}");
    }
}

/// Each reason is reported for a loop that stays. A loop that ptxas does not unroll in any form is not reported.
#[test]
fn loops_that_stay() {
    let of = |bounds: &str, body: &str, kind: u32| {
        let outcome = outcome(&looped(bounds, &format!("{body}{ADD}{}", compared(kind)), JUMPS));
        assert!(outcome.edits.is_empty() && outcome.turned.is_empty());
        outcome.left.iter().map(|&(_, reason)| reason).collect::<Vec<_>>()
    };
    assert_eq!(of("maxntid 256 minctasm 2", FADD, 0), [Reason::Bounds]);
    assert_eq!(of("maxnreg 32", FADD, 0), [Reason::Bounds]);
    // Comparisons by an order of signed numbers are never unrolled correctly.
    for kind in [2, 3, 4, 5] {
        assert_eq!(of("", FADD, kind), [Reason::Overflow], "{kind}");
    }
    assert_eq!(of("", "  \"bar.sync/i\" 0 :: convergent ordered\n", 0), [Reason::Synchronised]);
    assert_eq!(of("", "  CP_ASYNC_CA_SHARED_GLOBAL_4 %1, %2 :: read write\n", 0), [Reason::Synchronised]);
    assert_eq!(of("", &FADD.repeat(40), 0), []);
    // The counter may pass the middle of the number range shortly before this bound, where ne.b32 is wrong.
    let minus_eight = "  %3 = SETP_i32ri %0, -8, 0\n";
    let left = outcome(&looped("", &format!("{FADD}{ADD}{minus_eight}"), JUMPS)).left;
    assert_eq!(left, [(Block(1), Reason::Overflow)]);
    // The bound is the first operand. In LLVM's code, the edit makes the counter the first operand. In PTX, the bound
    // stays first, so the loop stays.
    let mirrored = looped("", &format!("{FADD}{ADD}  %3 = SETP_i32rr %1, %0, 0\n"), JUMPS);
    assert_eq!(outcome(&mirrored).turned.len(), 1);
    let text = ["opcode SETP_i32rr", "SETP_i32rr %1, %0, 0"];
    let of_ptx = ["opcode \"setp.eq.b32/rrr\"", "\"setp.eq.b32/rrr\" %1, %0"];
    let mirrored = mirrored.to_string().replace(text[0], of_ptx[0]).replace(text[1], of_ptx[1]);
    let mirrored = Function::parse(&mirrored).expect("a view");
    assert_eq!(outcome(&mirrored).left, [(Block(1), Reason::Predicate)]);
    let all = shape_loops((&mirrored, &Classification::by_name(mirrored.opcodes())), LoopShape::All);
    assert_eq!(all.turned.len(), 1);
    // Registers are compared by ne.s32, and unsigned orders are unrolled correctly.
    assert_eq!(outcome(&looped("", &format!("{FADD}{ADD}{}", compared(0)), JUMPS)).turned.len(), 1);
    let function = looped("maxntid 256", &format!("{FADD}{ADD}{}", compared(9)), JUMPS);
    assert_eq!(outcome(&function).turned, [(Block(1), Unrolling::Partly(4))]);
}

/// A loop that the source says not to unroll stays, whether LLVM's metadata or the PTX says so. ptxas ignores a pragma
/// before the label, so the pragma is inserted after the label, and nothing else changes.
#[test]
fn loops_that_are_not_to_be_unrolled() {
    let told = |words: &str| {
        let text = looped("", &format!("{FADD}{SUB}{TO_ZERO}"), JUMPS).to_string();
        Function::parse(&text.replace("depth 1", &format!("depth 1 {words}"))).expect("a view")
    };
    for words in ["nounroll", "nounroll back"] {
        let outcome = outcome(&told(words));
        assert!(outcome.edits.is_empty());
        assert_eq!(outcome.left, [(Block(1), Reason::Pragma)], "{words}");
    }
    let ahead = told("nounroll ahead");
    let outcome = outcome(&ahead);
    assert_eq!(outcome.edits.edits(), [Edit::InsertPragma { block: Block(1) }]);
    assert_eq!((outcome.told, outcome.left, outcome.turned), (vec![Block(1)], vec![], vec![]));
    check(&ahead, &outcome.edits).expect("it means the same");
    let edited = outcome.edits.apply(&ahead).expect("the edits fit").function;
    assert_eq!(edited.to_string(), told("nounroll").to_string());
    // The same holds for a loop that ends in only one jump, to its label.
    let plain =
        told("nounroll ahead").to_string().replace("  CBranch %3, bb2 :: terminator\n  GOTO bb1", "  CBranch %3, bb1");
    assert_eq!(self::outcome(&Function::parse(&plain).expect("a view")).told, [Block(1)]);
}

/// If a predicate has other readers, its comparison stays, and the checker refuses an edit that changes the comparison.
#[test]
fn a_predicate_with_another_reader() {
    let function = looped("", &format!("{FADD}{SUB}{TO_ZERO}  USE %3 :: opaque\n"), JUMPS);
    let outcome = outcome(&function);
    assert_eq!(outcome.left, [(Block(1), Reason::Predicate)]);
    let mut edits = outcome.edits;
    edits.push(Edit::TurnBranch { block: Block(1), comparison: Inst(3) });
    let errors = check(&function, &edits).expect_err("it is read elsewhere");
    assert!(errors.iter().any(|error| error.kind == ErrorKind::Branch), "{errors:?}");
}

/// The checker requires the deciding comparison before the branch, in the same block.
#[test]
fn another_comparison() {
    let body = format!("{FADD}{ADD}{}  %4 = SETP_i32rr %2, %1, 0\n  USE %4 :: opaque\n", compared(0));
    let function =
        Function::parse(&looped("", &body.replace("%4", "%3"), JUMPS).to_string().replace("B1\n", "B1 B1\n"));
    let function = function.expect("a view");
    let text =
        function.to_string().replacen("%3 = SETP_i32rr %2", "%4 = SETP_i32rr %2", 1).replacen("USE %3", "USE %4", 1);
    let function = Function::parse(&text).expect("a view");
    let mut edits = crate::function::EditList::new(&function);
    edits.push(Edit::TurnBranch { block: Block(1), comparison: Inst(4) });
    let errors = check(&function, &edits).expect_err("another comparison");
    assert!(errors.iter().any(|error| error.kind == ErrorKind::Branch), "{errors:?}");
}
