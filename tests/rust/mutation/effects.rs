//! Effects: memory, barriers, calls, physical registers.

use nvptx_ra::check::ErrorKind;
use nvptx_ra::function::{Edit, EditList, Inst, RegClass};

use super::program::{Program, end_of};
use super::{CALLS, accepts, delete, merge, refuses};

/// Swaps two instructions of the same block.
fn swap(program: &Program, edits: &mut EditList, left: Inst, right: Inst) {
    let block = program.function.block_of(left);
    let mut order: Vec<Inst> = program.function.block_insts(block).collect();
    let place = |inst| order.iter().position(|&other| other == inst).expect("in the block");
    let (left, right) = (place(left), place(right));
    order.swap(left, right);
    edits.push(Edit::Permute { block, order });
}

#[test]
fn effects_are_not_deleted() {
    let text = "
        bb0
        a = ld 1
        bar 0
        trap
        st a
        ret
    ";
    for name in ["bar", "trap", "st", "ret"] {
        refuses(ErrorKind::Deleted, text, |program, edits| delete(edits, program.nth(name, 0)));
    }
}

const MEMORY: &str = "
    bb0 -> bb1
    a = ld 1
    b = ld 2
    c = lds 1
    st b
    sts a
    bar 0
    d = ld 3
    e = shfl a
    f = shfl b
    st c
    st d
    st e
    st f
    trap
    x = atom a
    st x
    bb1
    ret
";

#[test]
fn independent_memory_operations_may_change_places() {
    accepts(MEMORY, |program, edits| swap(program, edits, program.def("a"), program.def("b")));
    accepts(MEMORY, |program, edits| swap(program, edits, program.def("c"), program.nth("st", 0)));
    accepts(MEMORY, |program, edits| swap(program, edits, program.nth("st", 0), program.nth("sts", 0)));
}

#[test]
fn conflicting_effects_keep_their_order() {
    refuses(ErrorKind::Order, MEMORY, |program, edits| {
        swap(program, edits, program.def("a"), program.nth("st", 0));
    });
    refuses(ErrorKind::Order, MEMORY, |program, edits| swap(program, edits, program.def("c"), program.nth("sts", 0)));
    refuses(ErrorKind::Order, MEMORY, |program, edits| swap(program, edits, program.nth("bar", 0), program.def("d")));
    refuses(ErrorKind::Order, MEMORY, |program, edits| swap(program, edits, program.def("e"), program.def("f")));
    refuses(ErrorKind::Order, MEMORY, |program, edits| swap(program, edits, program.nth("trap", 0), program.def("x")));
}

#[test]
fn effects_stay_in_their_block() {
    for name in ["bar", "st", "ld", "shfl", "trap"] {
        refuses(ErrorKind::Moved, MEMORY, |program, edits| {
            edits.push(Edit::Move { inst: program.nth(name, 0), at: end_of(1) });
        });
    }
}

#[test]
fn a_copy_in_a_call_sequence_may_be_merged() {
    accepts(CALLS, |program, edits| {
        merge(program, edits, "q", "a");
        delete(edits, program.def("q"));
    });
}

#[test]
fn call_sequences_stay_whole() {
    refuses(ErrorKind::CallSequence, CALLS, |program, edits| {
        edits.push(Edit::Move { inst: program.def("k"), at: program.before(program.nth("call", 0)) });
    });
    refuses(ErrorKind::CallSequence, CALLS, |program, edits| {
        let reg = edits.create_register(RegClass::B32);
        edits.insert_copy(program.before(program.nth("end", 0)), reg, program.reg("a"));
    });
    refuses(ErrorKind::CallSequence, CALLS, |program, edits| {
        edits.push(Edit::Move { inst: program.nth("end", 0), at: end_of(0) });
    });
    refuses(ErrorKind::Order, CALLS, |program, edits| {
        edits.push(Edit::Move { inst: program.nth("call", 0), at: end_of(0) });
    });
}

/// An instruction may be inserted between two call sequences, even if the second one begins directly after the first.
#[test]
fn a_copy_between_two_call_sequences_is_accepted() {
    accepts(CALLS, |program, edits| {
        let reg = edits.create_register(RegClass::B32);
        edits.insert_copy(program.before(program.nth("start", 1)), reg, program.reg("r"));
        edits.push(Edit::SetRegister { inst: program.nth("argument", 1), operand: 0, reg });
    });
}

#[test]
fn a_copy_of_a_physical_register_stays_where_it_is() {
    let text = "
        bb0
        a = copy $3
        $3 = asm 1
        b = copy $3
        st a
        st b
        ret
    ";
    refuses(ErrorKind::Order, text, |program, edits| {
        edits.push(Edit::Move { inst: program.def("a"), at: program.before(program.def("b")) });
    });
    refuses(ErrorKind::Operand, text, |program, edits| merge(program, edits, "b", "a"));
}

/// A pure instruction may move anywhere in its block after its operands, but not after a terminator.
#[test]
fn nothing_goes_behind_a_terminator() {
    let text = "
        bb0
        a = ld 1
        x = mul a 5
        st a
        ret
    ";
    let permute = |program: &Program, edits: &mut EditList, order: [Inst; 4]| {
        edits.push(Edit::Permute { block: program.function.block_of(order[0]), order: order.to_vec() });
    };
    accepts(text, |program, edits| {
        let [a, x, st, ret] = [program.def("a"), program.def("x"), program.nth("st", 0), program.nth("ret", 0)];
        permute(program, edits, [a, st, x, ret]);
    });
    refuses(ErrorKind::Edits, text, |program, edits| {
        let [a, x, st, ret] = [program.def("a"), program.def("x"), program.nth("st", 0), program.nth("ret", 0)];
        permute(program, edits, [a, st, ret, x]);
    });
    // Instructions after a conditional branch stay there, and no other instruction may be inserted among them.
    let branch = "
        bb0 -> bb1
        a = ld 1
        br a bb1
        st a
        ret
        bb1
        ret
    ";
    accepts(branch, |_, _| {});
    refuses(ErrorKind::Terminator, branch, |program, edits| {
        let copy = edits.create_register(RegClass::B32);
        edits.insert_copy(program.before(program.nth("st", 0)), copy, program.reg("a"));
    });
}
