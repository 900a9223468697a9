//! Pure instructions (constants, clones, moves, deletions, pairs), and spills.

use nvptx_ra::check::ErrorKind;
use nvptx_ra::function::{Edit, EditList, RegClass, Value};

use super::program::{Program, end_of};
use super::{BRANCH, LINE, LOOP, PAIRS, accepts, delete, merge, refuses, set};

#[test]
fn a_constant_made_again_at_its_uses_is_accepted() {
    accepts(BRANCH, |program, edits| {
        for (user, operand) in [(program.def("y"), 2), (program.nth("st", 1), 0)] {
            let reg = edits.create_register(RegClass::B32);
            edits.insert_constant(program.before(user), program.opcode("imm"), reg, Value::Immediate(7));
            edits.push(Edit::SetRegister { inst: user, operand, reg });
        }
        delete(edits, program.def("k"));
    });
}

#[test]
fn a_wrong_constant_is_refused() {
    refuses(ErrorKind::Operand, BRANCH, |program, edits| {
        let user = program.def("y");
        let reg = edits.create_register(RegClass::B32);
        edits.insert_constant(program.before(user), program.opcode("imm"), reg, Value::Immediate(8));
        edits.push(Edit::SetRegister { inst: user, operand: 2, reg });
    });
}

#[test]
fn a_constant_of_another_opcode_is_refused() {
    let text = "
        bb0
        k = depot 7
        st k
        ret
    ";
    refuses(ErrorKind::Operand, text, |program, edits| {
        let reg = edits.create_register(RegClass::B32);
        let user = program.nth("st", 0);
        let opcode = program.function.opcodes().find("MOV_B32_i").expect("interned by all programs");
        edits.insert_constant(program.before(user), opcode, reg, Value::Immediate(7));
        edits.push(Edit::SetRegister { inst: user, operand: 0, reg });
    });
}

#[test]
fn an_immediate_for_a_register_is_proven_by_its_value() {
    let to_immediate = |value| {
        move |program: &Program, edits: &mut EditList| {
            let opcode = program.function.opcodes().find("ADD32ri").expect("interned by all programs");
            edits.push(Edit::SetImmediate { inst: program.def("y"), operand: 2, opcode, value });
        }
    };
    accepts(BRANCH, to_immediate(7));
    refuses(ErrorKind::Operand, BRANCH, to_immediate(6));
}

#[test]
fn an_immediate_with_another_operation_is_refused() {
    refuses(ErrorKind::Opcode, BRANCH, |program, edits| {
        let opcode = program.opcode("mul");
        edits.push(Edit::SetImmediate { inst: program.def("y"), operand: 2, opcode, value: 7 });
    });
}

#[test]
fn a_pure_instruction_may_sink() {
    accepts(BRANCH, |program, edits| {
        edits.push(Edit::Move { inst: program.def("x"), at: program.before(program.def("y")) });
    });
}

#[test]
fn sinking_past_a_change_of_the_input_is_refused() {
    let text = "
        bb0 -> bb1
        a = ld 1
        x = mul a 5
        bb1
        a = addi a 1
        st a
        st x
        ret
    ";
    refuses(ErrorKind::Operand, text, |program, edits| {
        edits.push(Edit::Move { inst: program.def("x"), at: program.before(program.nth("st", 1)) });
    });
    accepts(text, |program, edits| {
        edits.push(Edit::Move { inst: program.def("x"), at: program.before(program.nth_def("a", 1)) });
    });
}

#[test]
fn moving_a_changing_instruction_out_of_its_loop_is_refused() {
    refuses(ErrorKind::Operand, LOOP, |program, edits| {
        edits.push(Edit::Move { inst: program.def("t"), at: end_of(0) });
    });
}

#[test]
fn moving_an_invariant_instruction_out_of_its_loop_is_accepted() {
    let text = "
        bb0 -> bb1
        a = ld 1
        i = imm 0
        bb1 -> bb1 bb2
        x = mul a 5
        i = add i x
        p = setlt i 9
        br p bb1
        bb2
        st i
        ret
    ";
    accepts(text, |program, edits| edits.push(Edit::Move { inst: program.def("x"), at: end_of(0) }));
}

#[test]
fn a_clone_at_its_use_is_accepted() {
    accepts(BRANCH, clone_for_y);
}

fn clone_for_y(program: &Program, edits: &mut EditList) {
    let user = program.def("y");
    let reg = edits.create_register(RegClass::B32);
    edits.insert_clone(program.before(user), program.def("x"), reg);
    edits.push(Edit::SetRegister { inst: user, operand: 1, reg });
}

#[test]
fn a_clone_with_a_changed_input_is_refused() {
    let text = "
        bb0 -> bb1
        a = ld 1
        x = mul a 5
        bb1
        a = ld 2
        y = add x a
        st y
        ret
    ";
    refuses(ErrorKind::Operand, text, clone_for_y);
}

#[test]
fn a_chain_of_clones_is_accepted() {
    let text = "
        bb0 -> bb1
        a = ld 1
        x = mul a 5
        z = sub x 2
        st x
        bb1 -> bb1 bb2
        q = ld 3
        st z
        p = setlt q a
        br p bb1
        bb2
        ret
    ";
    accepts(text, |program, edits| {
        let (x, z) = (edits.create_register(RegClass::B32), edits.create_register(RegClass::B32));
        let user = program.nth("st", 1);
        edits.insert_clone(program.before(user), program.def("x"), x);
        let clone = edits.insert_clone(program.before(user), program.def("z"), z);
        edits.push(Edit::SetRegister { inst: clone, operand: 1, reg: x });
        edits.push(Edit::SetRegister { inst: user, operand: 0, reg: z });
        delete(edits, program.def("z"));
    });
}

#[test]
fn a_clone_of_an_effect_is_refused() {
    refuses(ErrorKind::Edits, LINE, |program, edits| {
        let reg = edits.create_register(RegClass::B32);
        edits.insert_clone(end_of(0), program.def("a"), reg);
    });
}

#[test]
fn a_live_pure_instruction_is_not_deleted() {
    refuses(ErrorKind::Operand, LINE, |program, edits| delete(edits, program.def("c")));
}

#[test]
fn a_dead_pure_instruction_is_deleted() {
    let text = "
        bb0
        a = ld 1
        b = mul a 2
        st a
        ret
    ";
    accepts(text, |program, edits| delete(edits, program.def("b")));
    refuses(ErrorKind::Deleted, text, |program, edits| delete(edits, program.def("a")));
}

#[test]
fn a_round_trip_through_a_pair_is_removed() {
    accepts(PAIRS, |program, edits| {
        for (from, into) in [("c", "a"), ("d", "b"), ("e", "a"), ("f", "b"), ("g", "b"), ("w2", "w")] {
            merge(program, edits, from, into);
        }
        for name in ["c", "e", "g", "w2"] {
            delete(edits, program.def(name));
        }
    });
}

#[test]
fn an_unpack_that_stays_for_its_other_half_is_accepted() {
    accepts(PAIRS, |program, edits| {
        set(program, edits, program.nth("st", 2), 0, "a");
        set(program, edits, program.nth("st", 4), 0, "f");
    });
}

/// Packs a half of a pair with an undefined half, in the pair's block and in another block.
const HALF_UNDEFINED: &str = "
    bb0 -> bb1
    w = ld 1
    c d = unpack w
    goto bb1
    bb1
    e f = unpack w
    w_low = pack e x?
    w_high = pack x? f
    w_crossed = pack f x?
    w_near = pack c x?
    st w_low
    st w_high
    st w_crossed
    st w_near
    ret
";

#[test]
fn a_half_with_an_undefined_one_may_become_the_pair_that_it_is_of() {
    accepts(HALF_UNDEFINED, |program, edits| {
        for name in ["w_low", "w_high", "w_near"] {
            merge(program, edits, name, "w");
            delete(edits, program.def(name));
        }
    });
}

#[test]
fn a_half_at_the_other_place_does_not_become_the_pair() {
    refuses(ErrorKind::Operand, HALF_UNDEFINED, |program, edits| {
        merge(program, edits, "w_crossed", "w");
        delete(edits, program.def("w_crossed"));
    });
}

#[test]
fn the_wrong_half_is_refused() {
    refuses(ErrorKind::Operand, PAIRS, |program, edits| set(program, edits, program.nth("st", 0), 0, "b"));
    refuses(ErrorKind::Operand, PAIRS, |program, edits| set(program, edits, program.nth("st", 2), 0, "b"));
    refuses(ErrorKind::Operand, PAIRS, |program, edits| set(program, edits, program.nth("st", 4), 0, "e"));
}

#[test]
fn spilled_values_come_back() {
    let spill = |into: &'static str, clobber: bool| {
        move |program: &Program, edits: &mut EditList| {
            let slot = edits.create_slot(4, 4);
            edits.insert_spill(program.before(program.def("p")), program.reg("x"), slot);
            if clobber {
                edits.insert_spill(end_of(0), program.reg("a"), slot);
            }
            let user = program.def("y");
            let reg = edits.create_register(RegClass::B32);
            edits.insert_reload(program.before(user), reg, slot);
            edits.push(Edit::SetRegister { inst: user, operand: if into == "x" { 1 } else { 2 }, reg });
        }
    };
    accepts(BRANCH, spill("x", false));
    refuses(ErrorKind::Operand, BRANCH, spill("x", true));
    refuses(ErrorKind::Operand, BRANCH, spill("k", false));
}

#[test]
fn a_reload_without_a_spill_on_some_path_is_refused() {
    refuses(ErrorKind::Operand, BRANCH, |program, edits| {
        let slot = edits.create_slot(4, 4);
        edits.insert_spill(program.before(program.def("y")), program.reg("a"), slot);
        let user = program.nth("st", 2);
        let reg = edits.create_register(RegClass::B32);
        edits.insert_reload(program.before(user), reg, slot);
        edits.push(Edit::SetRegister { inst: user, operand: 0, reg });
    });
}

#[test]
fn a_reload_of_another_class_is_refused() {
    let text = "
        bb0
        a = ld 1
        h = ldh 2
        st a
        ret
    ";
    refuses(ErrorKind::Operand, text, |program, edits| {
        let slot = edits.create_slot(4, 4);
        let user = program.nth("st", 0);
        edits.insert_spill(program.before(user), program.reg("a"), slot);
        edits.insert_spill(program.before(user), program.reg("h"), slot);
        edits.insert_reload(program.before(user), program.reg("a"), slot);
    });
}

#[test]
fn endless_terms_are_given_up() {
    let text = "
        bb0 -> bb1
        x = ld 1
        y = ld 2
        bb1 -> bb2 bb3
        x = add x y
        br x bb2
        bb2 -> bb1 bb3
        y = add y x
        br y bb1
        bb3 -> bb1 bb4
        x = mul x y
        br x bb1
        bb4
        st x
        st y
        ret
    ";
    refuses(ErrorKind::Operand, text, |program, edits| {
        edits.push(Edit::Move { inst: program.nth_def("x", 1), at: end_of(2) });
        edits.push(Edit::Move { inst: program.nth_def("y", 1), at: end_of(3) });
        edits.push(Edit::Move { inst: program.nth_def("x", 2), at: end_of(1) });
    });
}
