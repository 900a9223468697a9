//! Uniformity of registers in small functions.

use super::UniformityInfo;
use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences};
use crate::function::{Block, Function, VReg};
use crate::fuzzing::view;
use crate::target::Classification;

const HEAD: &str = "mfv 1\nfunction \"f\"\nopcode INT_PTX_SREG_TID_x\nopcode INT_PTX_SREG_CTAID_x\nopcode ADD32ri\n\
    opcode ADD32rr\nopcode SETP_i32ri\nopcode MOV_B32_i constant\nopcode PHI phi\nopcode CBranch\nopcode GOTO\n\
    opcode Return\nopcode ST\nopcode LD_i32\nregs %0 B32 B32 B32 B32 B1 B1 B32 B32\n@0 = \"&f_param_0\"\n\
    bb0: frequency 1.0 depth 0";

/// `%4` differs between threads and `%5` does not. Both are predicates.
const PREDICATES: &str =
    "%0 = INT_PTX_SREG_TID_x\n%4 = SETP_i32ri %0, 0, 0\n%1 = INT_PTX_SREG_CTAID_x\n%5 = SETP_i32ri %1, 0, 0";

fn uniformity(function: &Function, in_kernel: bool) -> UniformityInfo {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let occurrences = Occurrences::new(function, &|_| true);
    let regs: Vec<VReg> = function.regs().collect();
    let live_ranges = LiveRanges::new(function, &cfg, &dominators, &occurrences, &regs);
    let classification = Classification::by_name(function.opcodes());
    UniformityInfo::new((function, &classification), &cfg, &dominators, &occurrences, &live_ranges, in_kernel)
}

fn uniform(blocks: &str, regs: &[u32]) -> Vec<bool> {
    let info = uniformity(&view(HEAD, blocks), false);
    regs.iter().map(|&reg| info.is_uniform(VReg(reg))).collect()
}

/// A value computed from a thread number is divergent. A value computed only from block numbers is uniform. A register
/// without occurrences is not uniform.
#[test]
fn data_dependence() {
    let sums = "\n%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_CTAID_x\n%2 = ADD32ri %1, 7\n%3 = ADD32rr %2, %0\n\
        ST %3, %2 :: write\nReturn :: terminator";
    assert_eq!(uniform(sums, &[0, 1, 2, 3, 6]), [false, true, true, false, false]);
}

/// A parameter is uniform in a kernel, and not in other functions.
#[test]
fn parameters() {
    let function = view(HEAD, "\n%0 = LD_i32 0, 0, 101, 3, 32, -1, @0, 0\nReturn :: terminator");
    assert!(uniformity(&function, true).is_uniform(VReg(0)));
    assert!(!uniformity(&function, false).is_uniform(VReg(0)));
}

/// Builds a diamond in which `%2` receives a constant in each arm of a branch on `predicate`.
fn diamond(predicate: &str, is_ssa: bool) -> Vec<bool> {
    let (left, right, join) = match is_ssa {
        true => ("%3", "%6", "%2 = PHI %3, bb1, %6, bb2\n"),
        false => ("%2", "%2", ""),
    };
    let blocks = format!(
        " -> bb1 bb2\n{PREDICATES}\nCBranch {predicate}, bb2 :: terminator\n\
         bb1: frequency 1.0 depth 0 -> bb3\n{left} = MOV_B32_i 1\nGOTO bb3 :: terminator\n\
         bb2: frequency 1.0 depth 0 -> bb3\n{right} = MOV_B32_i 2\n\
         bb3: frequency 1.0 depth 0\n{join}%7 = ADD32ri %2, 1\nST %7 :: write\nReturn :: terminator"
    );
    uniform(&blocks, &[2, 7])
}

/// After a divergent branch, the join of two constants is divergent, in SSA form and outside of it. After a uniform
/// branch it is uniform.
#[test]
fn a_divergent_branch_makes_its_join_divergent() {
    for is_ssa in [false, true] {
        assert_eq!(diamond("%4", is_ssa), [false, false], "SSA: {is_ssa}");
        assert_eq!(diamond("%5", is_ssa), [true, true], "SSA: {is_ssa}");
    }
}

/// A branch on an undefined value may be divergent, although a read of it is uniform.
#[test]
fn a_branch_on_nothing_is_divergent() {
    assert_eq!(diamond("undef %5, %5", false), [false, false]);
    assert_eq!(diamond("%5, %5", false), [true, true]);
}

/// Under a divergent guard, a value that depends on a uniform branch stays uniform. A value read after the guard does
/// not.
#[test]
fn a_uniform_branch_under_a_divergent_guard() {
    let blocks = format!(
        " -> bb1 bb5\n{PREDICATES}\n%3 = MOV_B32_i 0\nCBranch %4, bb5 :: terminator\n\
         bb1: frequency 1.0 depth 0 -> bb2 bb3\nCBranch %5, bb3 :: terminator\n\
         bb2: frequency 1.0 depth 0 -> bb4\n%2 = MOV_B32_i 1\nGOTO bb4 :: terminator\n\
         bb3: frequency 1.0 depth 0 -> bb4\n%2 = MOV_B32_i 2\n\
         bb4: frequency 1.0 depth 0 -> bb5\n%6 = ADD32ri %2, 1\n%3 = MOV_B32_i 1\n\
         bb5: frequency 1.0 depth 0\nST %3 :: write\nReturn :: terminator"
    );
    assert_eq!(uniform(&blocks, &[2, 6, 3]), [true, true, false]);
}

/// Builds a loop that counts in `%2` and keeps `%3`, and that threads leave by `predicate`.
fn counting_loop(predicate: &str) -> Vec<bool> {
    let blocks = format!(
        " -> bb1\n{PREDICATES}\n%2 = MOV_B32_i 0\n%3 = MOV_B32_i 5\n\
         bb1: frequency 1.0 depth 0 -> bb1 bb2\n%2 = ADD32ri %2, 1\n%6 = ADD32ri %3, 1\n\
         CBranch {predicate}, bb1 :: terminator\n\
         bb2: frequency 1.0 depth 0\n%7 = ADD32ri %2, 1\nST %7, %6 :: write\nReturn :: terminator"
    );
    uniform(&blocks, &[2, 7, 3, 6])
}

/// Threads that leave a loop in different iterations hold different counts, but equal loop-invariant values.
#[test]
fn what_leaves_a_loop_at_different_turns() {
    assert_eq!(counting_loop("%4"), [false, false, true, true]);
    assert_eq!(counting_loop("%5"), [true, true, true, true]);
}

/// A register with one definition, under a divergent guard in a loop, holds values of different iterations after the
/// guard.
#[test]
fn a_lone_definition_that_some_threads_skip() {
    let blocks = format!(
        " -> bb1\n{PREDICATES}\n%2 = MOV_B32_i 0\n\
         bb1: frequency 1.0 depth 0 -> bb2 bb3\n%2 = ADD32ri %2, 1\nCBranch %4, bb3 :: terminator\n\
         bb2: frequency 1.0 depth 0 -> bb3\n%3 = ADD32ri %2, 1\n\
         bb3: frequency 1.0 depth 0 -> bb1 bb4\nST %3 :: write\nCBranch %5, bb1 :: terminator\n\
         bb4: frequency 1.0 depth 0\nReturn :: terminator"
    );
    assert_eq!(uniform(&blocks, &[2, 3]), [true, false]);
}

/// A divergent branch leaves an inner loop, which is always entered again. Its immediate post-dominator is also reached
/// in another iteration of the outer loop.
#[test]
fn a_post_dominator_in_another_turn() {
    let blocks = format!(
        " -> bb1\n{PREDICATES}\n%2 = MOV_B32_i 0\n\
         bb1: frequency 1.0 depth 0 -> bb2\n%2 = MOV_B32_i 0\n\
         bb2: frequency 1.0 depth 0 -> bb3 bb4\n%2 = ADD32ri %2, 1\nCBranch %4, bb4 :: terminator\n\
         bb3: frequency 1.0 depth 0 -> bb2 bb5\nCBranch %5, bb2 :: terminator\nGOTO bb5 :: terminator\n\
         bb4: frequency 1.0 depth 0 -> bb1\nST %2 :: write\nGOTO bb1 :: terminator\n\
         bb5: frequency 1.0 depth 0\nReturn :: terminator"
    );
    assert_eq!(uniform(&blocks, &[2]), [false]);
}

/// In an irreducible function, one divergent branch makes every join divergent, including the join of a uniform branch
/// in `%3`. Without a divergent branch, all joins are uniform.
#[test]
fn irreducible_flow() {
    let blocks = |inner: &str| {
        format!(
            " -> bb1 bb2\n{PREDICATES}\n%2 = MOV_B32_i 0\nCBranch %5, bb2 :: terminator\n\
             bb1: frequency 1.0 depth 0 -> bb2\n%2 = ADD32ri %2, 1\n\
             bb2: frequency 1.0 depth 0 -> bb1 bb3\nST %2 :: write\nCBranch {inner}, bb1 :: terminator\n\
             bb3: frequency 1.0 depth 0 -> bb4 bb5\n%3 = MOV_B32_i 1\nCBranch %5, bb5 :: terminator\n\
             bb4: frequency 1.0 depth 0 -> bb5\n%3 = MOV_B32_i 2\n\
             bb5: frequency 1.0 depth 0\nST %3 :: write\nReturn :: terminator"
        )
    };
    assert_eq!(uniform(&blocks("%4"), &[2, 3]), [false, false]);
    assert_eq!(uniform(&blocks("%5"), &[2, 3]), [true, true]);
}

/// Builds a chain of exits that threads take one by one, followed by the join of a uniform branch in `%2`.
fn chain(exits: u32) -> UniformityInfo {
    let mut blocks = format!(" -> bb1\n{PREDICATES}\n");
    let out = exits + 5;
    for block in 1..=exits {
        let next = block + 1;
        blocks += &format!("bb{block}: frequency 1.0 depth 0 -> bb{next} bb{out}\nCBranch %4, bb{out} :: terminator\n");
    }
    let [fork, left, right, join] = [1, 2, 3, 4].map(|after| exits + after);
    blocks += &format!(
        "bb{fork}: frequency 1.0 depth 0 -> bb{left} bb{right}\nCBranch %5, bb{right} :: terminator\n\
         bb{left}: frequency 1.0 depth 0 -> bb{join}\n%2 = MOV_B32_i 1\nGOTO bb{join} :: terminator\n\
         bb{right}: frequency 1.0 depth 0 -> bb{join}\n%2 = MOV_B32_i 2\n\
         bb{join}: frequency 1.0 depth 0 -> bb{out}\nST %2, %1 :: write\n\
         bb{out}: frequency 1.0 depth 0\nReturn :: terminator"
    );
    uniformity(&view(HEAD, &blocks), false)
}

/// The walks of a long chain of early exits are abandoned, and unvisited joins then count as divergent. In a short
/// chain they do not.
#[test]
fn a_long_chain_of_divergent_exits() {
    for (exits, is_uniform) in [(100, true), (5_000, false)] {
        let info = chain(exits);
        assert!(info.is_divergent_branch(Block(exits)) && !info.is_divergent_branch(Block(exits + 1)));
        assert_eq!(info.is_uniform(VReg(2)), is_uniform, "{exits} exits");
        assert!(info.is_uniform(VReg(1)), "no join makes it");
    }
}
