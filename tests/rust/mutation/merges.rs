//! Renaming: copies, PHIs, undefined values.

use nvptx_ra::check::ErrorKind;
use nvptx_ra::function::{Block, EditList, Position, RegClass, VReg};

use super::program::{Program, end_of};
use super::{LINE, LOOP, SWAP, accepts, delete, merge, refuses, set};

#[test]
fn a_merged_copy_is_accepted() {
    accepts(LINE, |program, edits| {
        merge(program, edits, "d", "c");
        delete(edits, program.def("d"));
    });
}

#[test]
fn a_merged_copy_may_stay() {
    accepts(LINE, |program, edits| merge(program, edits, "d", "c"));
}

#[test]
fn a_dropped_merge_is_refused() {
    refuses(ErrorKind::Operand, LINE, |program, edits| delete(edits, program.def("d")));
}

#[test]
fn interfering_ranges_are_refused() {
    refuses(ErrorKind::Operand, LINE, |program, edits| merge(program, edits, "a", "b"));
}

#[test]
fn swapped_operands_are_refused() {
    refuses(ErrorKind::Operand, LINE, |program, edits| {
        let add = program.def("c");
        set(program, edits, add, 1, "b");
        set(program, edits, add, 2, "a");
    });
}

#[test]
fn merged_copies_of_a_loop_are_accepted() {
    accepts(LOOP, |program, edits| {
        for (copy, n, from) in [("i", 0, "i0"), ("s", 0, "s0"), ("i", 1, "j"), ("s", 1, "t")] {
            merge(program, edits, from, copy);
            delete(edits, program.nth_def(copy, n));
        }
    });
}

#[test]
fn a_merge_that_forgets_the_first_value_is_refused() {
    refuses(ErrorKind::Operand, LOOP, |program, edits| {
        merge(program, edits, "j", "i");
        delete(edits, program.nth_def("i", 1));
        delete(edits, program.nth_def("i", 0));
    });
}

#[test]
fn the_swap_problem_is_refused() {
    refuses(ErrorKind::Operand, SWAP, |program, edits| merge(program, edits, "a", "b"));
    refuses(ErrorKind::DoubleDefinition, SWAP, |program, edits| merge(program, edits, "a", "b"));
}

/// PHIs are evaluated in parallel, so sequential copies at the end of the latch lose a value.
#[test]
fn sequential_copies_for_a_swap_are_refused() {
    refuses(ErrorKind::Operand, SWAP, |program, edits| {
        phis_to_copies(program, edits, |edits, latch, a, b| {
            edits.insert_copy(latch, a, b);
            edits.insert_copy(latch, b, a);
        });
    });
}

/// Copies at the end of the loop block, and not on its back edge, change the values that are read after the loop.
#[test]
fn copies_that_belong_on_a_critical_edge_are_refused() {
    refuses(ErrorKind::Operand, SWAP, |program, edits| {
        phis_to_copies(program, edits, |edits, _, a, b| {
            let temporary = edits.create_register(RegClass::B32);
            edits.insert_copy(end_of(1), temporary, a);
            edits.insert_copy(end_of(1), a, b);
            edits.insert_copy(end_of(1), b, temporary);
        });
    });
}

#[test]
fn a_swap_through_a_third_register_is_accepted() {
    accepts(SWAP, |program, edits| {
        phis_to_copies(program, edits, |edits, latch, a, b| {
            let temporary = edits.create_register(RegClass::B32);
            edits.insert_copy(latch, temporary, a);
            edits.insert_copy(latch, a, b);
            edits.insert_copy(latch, b, temporary);
        });
    });
}

/// Replaces the PHIs of [`SWAP`] by copies. `on_edge` inserts the copies on the back edge.
fn phis_to_copies(program: &Program, edits: &mut EditList, on_edge: impl FnOnce(&mut EditList, Position, VReg, VReg)) {
    let (a, b) = (program.reg("a"), program.reg("b"));
    edits.insert_copy(end_of(0), a, program.reg("a0"));
    edits.insert_copy(end_of(0), b, program.reg("b0"));
    let latch = edits.split_edge(Block(1), Block(1));
    on_edge(edits, end_of(latch.0), a, b);
    delete(edits, program.def("a"));
    delete(edits, program.def("b"));
}

/// The lost-copy problem: a PHI's result is still read after the loop, in which its web is redefined.
const LOST_COPY: &str = "
    bb0 -> bb1
    x0 = ld 1
    bb1 -> bb1 bb2
    x = phi x0 bb0 y bb1
    y = addi x 1
    p = setlt y 9
    br p bb1
    bb2
    st x
    ret
";

#[test]
fn the_lost_copy_problem_is_refused() {
    refuses(ErrorKind::Operand, LOST_COPY, |program, edits| merge(program, edits, "y", "x"));
}

#[test]
fn a_phi_web_without_interference_is_accepted() {
    accepts(LOST_COPY, |program, edits| merge(program, edits, "x0", "x"));
}

#[test]
fn a_phi_with_a_wrong_input_is_refused() {
    refuses(ErrorKind::Operand, LOST_COPY, |program, edits| {
        set(program, edits, program.def("x"), 3, "x0");
    });
}

/// Both registers of the copy are read later, but they hold the same value.
#[test]
fn interference_of_equal_values_is_accepted() {
    let text = "
        bb0 -> bb1 bb2
        a = ld 1
        b = copy a
        p = setlt b 3
        br p bb1
        bb1 -> bb2
        st b
        bb2
        c = add a b
        st c
        ret
    ";
    accepts(text, |program, edits| {
        merge(program, edits, "b", "a");
        delete(edits, program.def("b"));
    });
}

#[test]
fn interference_of_unequal_values_is_refused() {
    let text = "
        bb0 -> bb1 bb2
        a = ld 1
        b = copy a
        p = setlt b 3
        br p bb1
        bb1 -> bb2
        b = addi b 1
        bb2
        c = add a b
        st c
        ret
    ";
    refuses(ErrorKind::Operand, text, |program, edits| {
        merge(program, edits, "b", "a");
        delete(edits, program.def("b"));
    });
}

#[test]
fn registers_of_two_classes_are_refused() {
    let text = "
        bb0
        a = ld 1
        w = ldw 1
        st a
        st w
        ret
    ";
    refuses(ErrorKind::Edits, text, |program, edits| merge(program, edits, "a", "w"));
    refuses(ErrorKind::Edits, text, |program, edits| set(program, edits, program.nth("st", 0), 0, "w"));
    refuses(ErrorKind::Edits, text, |program, edits| {
        edits.insert_copy(end_of(0), program.reg("a"), program.reg("w"));
    });
}

#[test]
fn an_undefined_value_may_become_any() {
    let text = "
        bb0
        a = undef
        b = ld 1
        c = add a b
        d = add x b
        e = add y? c
        st d
        st e
        ret
    ";
    accepts(text, |program, edits| {
        merge(program, edits, "a", "b");
        merge(program, edits, "x", "b");
        merge(program, edits, "y", "b");
        delete(edits, program.def("a"));
    });
}

#[test]
fn a_defined_value_does_not_become_undefined() {
    let text = "
        bb0
        b = ld 1
        a = undef
        st b
        ret
    ";
    refuses(ErrorKind::Operand, text, |program, edits| merge(program, edits, "b", "a"));
}

#[test]
fn parallel_copies_on_a_split_edge_are_accepted() {
    let text = "
        bb0 -> bb1 bb2
        a = ld 1
        b = ld 2
        p = setlt a b
        br p bb2
        goto bb1
        bb1 -> bb2
        st a
        bb2
        x = phi b bb0 a bb1
        y = phi a bb0 b bb1
        st x
        st y
        ret
    ";
    let split = |swapped: bool| {
        move |program: &Program, edits: &mut EditList| {
            let new = edits.split_edge(Block(0), Block(2));
            let (x, y, a, b) = (program.reg("x"), program.reg("y"), program.reg("a"), program.reg("b"));
            let (first, second) = if swapped { (a, b) } else { (b, a) };
            edits.insert_copy(end_of(new.0), x, first);
            edits.insert_copy(end_of(new.0), y, second);
            edits.insert_copy(end_of(1), x, a);
            edits.insert_copy(end_of(1), y, b);
            delete(edits, program.def("x"));
            delete(edits, program.def("y"));
        }
    };
    accepts(text, split(false));
    refuses(ErrorKind::Operand, text, split(true));
}

#[test]
fn a_split_edge_keeps_its_phis() {
    accepts(SWAP, |_, edits| {
        edits.split_edge(Block(1), Block(1));
        edits.split_edge(Block(0), Block(1));
    });
}

#[test]
fn an_unreachable_block_needs_no_proof() {
    let text = "
        bb0
        a = ld 1
        b = ld 2
        st a
        st b
        ret
        bb1
        st b
        ret
    ";
    accepts(text, |program, edits| set(program, edits, program.nth("st", 2), 0, "a"));
}

/// The checker handles a long block, a long chain of blocks, and a loop whose terms grow in each iteration.
#[test]
fn large_functions_are_checked() {
    use std::fmt::Write;
    let mut text = String::from("bb0 -> bb1\nx = ld 1\n");
    for _ in 0..20_000 {
        text.push_str("y = copy x\nx = add y x\n");
    }
    for block in 1..10_000 {
        write!(text, "bb{block} -> bb{}\ny = copy x\nst y\n", block + 1).expect("a string takes all");
    }
    text.push_str("bb10000\nst x\nret\n");
    accepts(&text, |program, edits| {
        merge(program, edits, "y", "x");
        for inst in program.function.insts().filter(|&inst| program.function.as_copy(inst).is_some()) {
            delete(edits, inst);
        }
    });
}
