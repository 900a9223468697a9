//! Small functions with obvious orders, and large functions whose cost is counted.

use super::facts::Facts;
use super::live::LiveWords;
use super::region::{Region, regions};
use super::schedule;
use crate::analysis::Edges;
use crate::check::check;
use crate::config::Order;
use crate::function::{Block, Edit, Function};
use crate::target::Classification;

const OPCODES: &str = "opcode ADD32rr\nopcode ADD32ri\nopcode INT_PTX_SREG_TID_x\nopcode INT_PTX_SREG_TID_y\n\
    opcode LD_i32\nopcode ST_i32\nopcode COPY copy\nopcode CBranch\nopcode Callseq_Start\nopcode CALL_UNI\n\
    opcode SUM\n";

/// Returns a function with one block of 32-bit registers.
fn function(regs: usize, body: &str) -> Function {
    let regs = vec!["B32"; regs].join(" ");
    let text = format!("mfv 1\nfunction \"f\"\n{OPCODES}regs %0 {regs}\nbb0: frequency 1.0 depth 0\n{body}\nend\n");
    let function = Function::parse(&text).expect("a view");
    function.validate().expect("a valid one");
    function
}

/// Returns the order of a function with one block, as the numbers of its instructions. The checker proves the order.
fn ordered(function: &Function, order: Order, seed: u32) -> Vec<u32> {
    let outcome = schedule(function, &Classification::by_name(function.opcodes()), order, seed);
    check(function, &outcome.edits).expect("the checker proves every order");
    match outcome.edits.edits() {
        [Edit::Permute { order, .. }] => order.iter().map(|inst| inst.0).collect(),
        _ => function.insts().map(|inst| inst.0).collect(),
    }
}

/// Returns the most live words in the block.
fn peak(function: &Function, order: &[u32]) -> u32 {
    let classification = Classification::by_name(function.opcodes());
    let facts = Facts::new(function, &classification);
    let (first, end) = regions(function, Block(0))[0];
    let region = Region::new(&facts, &mut Edges::default(), first, end);
    let nodes: Vec<_> = order.iter().map(|&inst| crate::analysis::Node(inst)).collect();
    LiveWords::peak(&region, nodes.into_iter()) as u32
}

/// A function with three values that are read long after their definitions.
const WAITING: &str = "%0 = INT_PTX_SREG_TID_x\n%1 = ADD32ri %0, 1\n%2 = ADD32ri %0, 2\n%3 = ADD32ri %0, 3\n\
    ST_i32 %1 :: write\nST_i32 %2 :: write\nST_i32 %3 :: write";

/// Each order that minimises registers computes such values late.
#[test]
fn definitions_come_before_their_readers() {
    let function = function(4, WAITING);
    assert_eq!(peak(&function, &ordered(&function, Order::Source, 0)), 3);
    for order in [Order::Late, Order::BottomUp, Order::SethiUllman] {
        let ordered = ordered(&function, order, 0);
        assert_eq!(ordered, [0, 1, 4, 2, 5, 3, 6], "{order:?}");
        assert_eq!(peak(&function, &ordered), 2);
    }
    // The last sum needs no additional register: its source dies.
    let eager = ordered(&function, Order::Eager, 0);
    assert_eq!(eager, [0, 1, 4, 2, 3, 5, 6]);
    assert_eq!(peak(&function, &eager), 2);
}

/// The operand that takes more registers is computed first, whatever the order in the code.
#[test]
fn sethi_ullman_computes_the_larger_operand_first() {
    let function = function(
        6,
        "%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_x\n%2 = INT_PTX_SREG_TID_y\n%3 = ADD32rr %1, %2\n\
         %4 = ADD32rr %0, %3\nST_i32 %4 :: write",
    );
    assert_eq!(ordered(&function, Order::SethiUllman, 0), [1, 2, 3, 0, 4, 5]);
}

const LOADS: &str = "%0 = INT_PTX_SREG_TID_x\n%1 = LD_i32 0, 0, 1, 3, 32, -1, %0, 0 :: read global\n\
    %2 = ADD32ri %1, 1\n%3 = LD_i32 0, 0, 1, 3, 32, -1, %0, 4 :: read global\n%4 = ADD32rr %2, %3\n\
    ST_i32 %4 :: write shared\n%5 = LD_i32 0, 0, 1, 3, 32, -1, %0, 8 :: read shared\nST_i32 %5 :: write global";

/// Loads follow each other if no dependence prevents it. Loads stay after stores that may write the memory that they
/// read.
#[test]
fn loads_are_clustered() {
    let function = function(6, LOADS);
    assert_eq!(ordered(&function, Order::LoadsClustered, 0), [0, 1, 3, 2, 4, 5, 6, 7]);
}

/// A load moves to its first reader, but not past a store that may write the memory that it reads.
#[test]
fn loads_are_put_off() {
    let late = function(
        4,
        "%0 = INT_PTX_SREG_TID_x\n%1 = LD_i32 0, 0, 1, 3, 32, -1, %0, 0 :: read global\n\
         %2 = LD_i32 0, 0, 1, 3, 32, -1, %0, 4 :: read shared\n%3 = ADD32ri %0, 1\nST_i32 %3 :: write shared\n\
         ST_i32 %1 :: write shared\nST_i32 %2 :: write global",
    );
    assert_eq!(ordered(&late, Order::LoadsLate, 0), [0, 3, 2, 4, 1, 5, 6]);
}

/// A load is issued before arithmetic on which the load does not depend.
#[test]
fn latency_starts_loads_first() {
    let function = function(
        5,
        "%0 = INT_PTX_SREG_TID_x\n%1 = ADD32ri %0, 1\n%2 = ADD32ri %1, 2\n\
         %3 = LD_i32 0, 0, 1, 3, 32, -1, %0, 0 :: read global\n%4 = ADD32rr %2, %3\nST_i32 %4 :: write global",
    );
    assert_eq!(ordered(&function, Order::Latency, 0), [0, 3, 1, 2, 4, 5]);
}

/// Returns a function whose `body` instructions are read only by the instructions in `behind`. A call sequence
/// separates the two, so that they cannot mix.
fn computed_for_later(regs: usize, ahead: &str, body: &str, behind: &str) -> Function {
    let fence = "Callseq_Start 0 :: call_sequence opaque";
    function(regs, &format!("{ahead}\n{fence}\n{body}\n{fence}\n{behind}"))
}

/// The loads must keep their order, and no instruction reads the sums in the region: each sum is updated as soon as its
/// operand is loaded.
#[test]
fn sums_are_eager() {
    let load = |reg: u32| format!("%{reg} = LD_i32 0, 0, 1, 3, 32, -1, %0, 0 :: read write global\n");
    let loads: String = (3..5).map(load).collect();
    let function = computed_for_later(
        5,
        "%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_y\n%2 = INT_PTX_SREG_TID_y",
        &format!("{loads}%1 = ADD32rr %1, %3\n%2 = ADD32rr %2, %4"),
        "ST_i32 %1 :: write\nST_i32 %2 :: write",
    );
    assert_eq!(ordered(&function, Order::Late, 0)[4..8], [4, 5, 6, 7]);
    assert_eq!(ordered(&function, Order::Eager, 0)[4..8], [4, 6, 5, 7]);
}

/// A node that makes one more word live is placed together with the next node if the next node ends two words. A node
/// that does not end any value waits for its reader.
#[test]
fn eager_looks_one_step_ahead() {
    let load = "LD_i32 0, 0, 1, 3, 32, -1, %0, 0 :: read write global";
    let function = computed_for_later(
        6,
        "%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_y",
        &format!(
            "%2 = ADD32ri %0, 1\n%3 = {load}\n%4 = {load}\n%5 = ADD32rr %0, %3\n%1 = ADD32rr %5, %1\n\
             %1 = ADD32rr %1, %4"
        ),
        "ST_i32 %3 :: write\nST_i32 %1 :: write\nST_i32 %2 :: write\nST_i32 %0 :: write",
    );
    // The definition of %5 ends neither %3 nor %0, which are read later, but the sum then ends %5.
    assert_eq!(ordered(&function, Order::Eager, 0)[3..9], [4, 6, 7, 5, 8, 3]);
}

/// There are many pairs of nodes of which the first makes one more word live, and the second ends two words. Each pair
/// is placed as a whole, even if the second node reads the value of the first twice.
#[test]
fn eager_pairs_stay_together() {
    let function = computed_for_later(
        5,
        "%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_y\n%2 = INT_PTX_SREG_TID_y",
        "%3 = ADD32ri %0, 1\n%4 = ADD32ri %0, 2\n%1 = SUM %1, %3, %3\n%2 = SUM %2, %4, %4",
        "ST_i32 %0 :: write\nST_i32 %1 :: write\nST_i32 %2 :: write",
    );
    assert_eq!(ordered(&function, Order::Eager, 0)[4..8], [4, 6, 5, 7]);
}

/// A seed changes the order of independent instructions. The same seed gives the same order, another seed gives another
/// order, and seed 0 changes nothing.
#[test]
fn seeds_change_orders() {
    let body: String = (0..40).map(|reg| format!("%{reg} = INT_PTX_SREG_TID_x\n")).collect();
    let stores: String = (0..40).map(|reg| format!("ST_i32 %{reg} :: write\n")).collect();
    let function = function(40, &(body + stores.trim_end()));
    let (two, four) = (ordered(&function, Order::Source, 2), ordered(&function, Order::Source, 4));
    assert_ne!(two, four);
    assert_ne!(two, ordered(&function, Order::Source, 0));
    assert_eq!(two, ordered(&function, Order::Source, 2));
    assert!(two.iter().filter(|&&inst| inst >= 40).is_sorted(), "stores stay in their order: {two:?}");
    let drawn: std::collections::BTreeSet<Vec<u32>> =
        (0..20).map(|seed| ordered(&function, Order::Source, 2 * seed + 1)).collect();
    assert!(drawn.len() >= 3, "odd seeds draw from the orders that there are");
}

/// No instruction moves into a call sequence, or out of it.
#[test]
fn call_sequences_stay_whole() {
    let function = function(
        4,
        "%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_y\nCallseq_Start 0 :: call_sequence opaque\n\
         ST_i32 %0 :: write call_sequence param\nCALL_UNI 0 :: call_sequence opaque\n%2 = ADD32ri %0, 1\nST_i32 %2 :: write\n\
         ST_i32 %1 :: write",
    );
    for order in [Order::Late, Order::Eager, Order::BottomUp, Order::SethiUllman, Order::Latency] {
        let ordered = ordered(&function, order, 7);
        assert_eq!(ordered[2..5], [2, 3, 4], "{order:?}");
    }
}

/// Instructions that access a physical register that the function writes stay in their places, because the view does
/// not follow values through physical registers. A register that is never written has the same contents everywhere.
#[test]
fn physical_registers_keep_their_order() {
    let body = |written: &str| {
        function(
            5,
            &format!(
                "%0 = COPY $3\n{written} = INT_PTX_SREG_TID_x\n%1 = COPY $3\n%2 = ADD32ri %1, 1\nST_i32 %2 :: write\n\
                 ST_i32 %0 :: write"
            ),
        )
    };
    for order in [Order::Late, Order::BottomUp, Order::SethiUllman] {
        let of = |written| ordered(&body(written), order, 0);
        assert_eq!(of("$3")[..3], [0, 1, 2], "{order:?}");
        assert_ne!(of("$4")[..3], [0, 1, 2], "{order:?}");
    }
}

/// In a block of 100,000 instructions, each of which reads two of the last hundred results, each order takes a number
/// of steps that is linear up to a logarithm.
#[test]
fn large_blocks_take_linear_work() {
    for len in [10_000u32, 100_000] {
        let mut body = String::from("%0 = INT_PTX_SREG_TID_x\n%1 = INT_PTX_SREG_TID_y");
        for reg in 2..len {
            let (a, b) = (reg - 1 - (reg * 7) % reg.min(100), reg - 1 - (reg * 13) % reg.min(90));
            body += &match reg % 5 {
                0 => format!("\n%{reg} = LD_i32 0, 0, 1, 3, 32, -1, %{a}, 0 :: read global"),
                4 => format!("\nST_i32 %{a} :: write global\n%{reg} = ADD32ri %{b}, 1"),
                _ => format!("\n%{reg} = ADD32rr %{a}, %{b}"),
            };
        }
        let function = function(len as usize, &body);
        use Order::{BottomUp, Eager, Late, Latency, LoadsClustered, LoadsLate, SethiUllman};
        for order in [Late, Eager, BottomUp, SethiUllman, Latency, LoadsLate, LoadsClustered] {
            let outcome = schedule(&function, &Classification::by_name(function.opcodes()), order, 0);
            assert!(outcome.work <= 100 * u64::from(len), "{order:?}: {} steps for {len}", outcome.work);
        }
    }
}

/// Checks for all orders that the first instruction of each pair precedes the second.
fn stays_ahead(text: &str, pairs: &[(u32, u32)]) {
    let function = Function::parse(text).expect("a view");
    for order in super::ORDERS {
        for seed in 0..20 {
            let ordered = ordered(&function, order, seed);
            let at = |inst: u32| ordered.iter().position(|&other| other == inst);
            assert!(pairs.iter().all(|&(first, second)| at(first) < at(second)), "{order:?}: {ordered:?}");
        }
    }
}

/// In all orders, an instruction that reads the result of an asynchronous instruction stays after the instruction that
/// waits for the result.
#[test]
fn results_are_read_behind_the_wait() {
    let opcodes = format!("{OPCODES}opcode TCGEN05_LD_16x64b_x1\nopcode tcgen05_wait_ld\n");
    let body = "%0 = INT_PTX_SREG_TID_x\n%1 = TCGEN05_LD_16x64b_x1 %0 :: opaque\ntcgen05_wait_ld :: opaque\n\
        %2 = ADD32ri %1, 1\n%3 = ADD32ri %0, 1\nST_i32 %3 :: write\nST_i32 %2 :: write";
    let text =
        format!("mfv 1\nfunction \"f\"\n{opcodes}regs %0 B32 B32 B32 B32\nbb0: frequency 1.0 depth 0\n{body}\nend\n");
    stays_ahead(&text, &[(2, 3)]);
}

/// In all orders, a writer of a product's fragment precedes the fence. An instruction that computes the descriptor may
/// follow the fence.
#[test]
fn fragments_are_written_ahead_of_the_fence() {
    let opcodes = format!("{OPCODES}opcode WGMMA_FENCE_SYNC_ALIGNED\nopcode wgmma.mma_async\n");
    let body = "%0 = INT_PTX_SREG_TID_x\n%1 = ADD32ri %0, 1\n%2 = ADD32ri %0, 2\n\
        WGMMA_FENCE_SYNC_ALIGNED :: opaque convergent\n%3 = wgmma.mma_async %3, %1, %2 :: opaque convergent\nST_i32 %0 :: write";
    let text =
        format!("mfv 1\nfunction \"f\"\n{opcodes}regs %0 B32 B32 B32 B32\nbb0: frequency 1.0 depth 0\n{body}\nend\n");
    stays_ahead(&text, &[(1, 3), (2, 3)]);
}
