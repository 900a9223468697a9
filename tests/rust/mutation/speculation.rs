//! Pure instructions that may fault run only where they ran before the edits, with the same operands.

use nvptx_ra::check::ErrorKind;
use nvptx_ra::function::{Block, Edit, EditList, Inst, Position, RegClass, VReg, Value};

use super::program::{Program, end_of};
use super::{accepts, merge, refuses, set};

/// A load after a branch and after an instruction that may trap. After the load come a loop, and a block that both
/// paths reach.
const GUARDED: &str = "
    bb0 -> bb1 bb4
    a = ld 1
    p = setlt a 9
    br p bb4
    bb1 -> bb2 bb3
    b = mul a 2
    trap
    x = ldnc a
    st x
    br p bb3
    bb2 -> bb2 bb3
    b = addi b 1
    st b
    br p bb2
    bb3 -> bb4
    st x
    goto bb4
    bb4
    st a
    ret
";

/// Inserts a clone of `x` that is never read.
fn clone_at(at: impl FnOnce(&Program) -> Position) -> impl FnOnce(&Program, &mut EditList) {
    move |program, edits| _ = clone(program, edits, at(program))
}

fn clone(program: &Program, edits: &mut EditList, at: Position) -> (Inst, VReg) {
    let reg = edits.create_register(RegClass::B32);
    (edits.insert_clone(at, program.def("x"), reg), reg)
}

#[test]
fn a_clone_above_its_guard_is_refused() {
    refuses(ErrorKind::Speculated, GUARDED, clone_at(|_| end_of(0)));
    refuses(ErrorKind::Speculated, GUARDED, clone_at(|program| program.before(program.def("p"))));
}

#[test]
fn a_clone_where_another_path_leads_is_refused() {
    refuses(ErrorKind::Speculated, GUARDED, clone_at(|_| end_of(4)));
    refuses(ErrorKind::Speculated, GUARDED, |program, edits| {
        // The edge that bypasses the guard.
        let block = edits.split_edge(Block(0), Block(4));
        clone(program, edits, Position { block, before: None });
    });
}

#[test]
fn a_clone_below_its_guard_is_accepted() {
    for block in [1, 2, 3] {
        accepts(GUARDED, clone_at(|_| end_of(block)));
    }
    accepts(GUARDED, |program, edits| {
        let block = edits.split_edge(Block(1), Block(3));
        clone(program, edits, Position { block, before: None });
    });
    accepts(GUARDED, |program, edits| {
        let user = program.nth("st", 2);
        let (_, reg) = clone(program, edits, program.before(user));
        edits.push(Edit::SetRegister { inst: user, operand: 0, reg });
    });
}

#[test]
fn a_move_above_the_guard_is_refused_and_below_accepted() {
    refuses(ErrorKind::Speculated, GUARDED, |program, edits| {
        edits.push(Edit::Move { inst: program.def("x"), at: end_of(0) });
    });
    let text = GUARDED.replace("    x = ldnc a\n    st x\n", "    x = ldnc a\n");
    accepts(&text, |program, edits| {
        edits.push(Edit::Move { inst: program.def("x"), at: program.before(program.nth("st", 1)) });
    });
}

/// An instruction that cannot fault may move anywhere.
#[test]
fn arithmetic_may_be_speculated() {
    accepts(GUARDED, |program, edits| edits.push(Edit::Move { inst: program.def("b"), at: end_of(0) }));
}

#[test]
fn what_may_not_return_is_a_guard_too() {
    refuses(ErrorKind::Speculated, GUARDED, |program, edits| {
        edits.push(Edit::Move { inst: program.def("x"), at: program.before(program.nth("trap", 0)) });
    });
    refuses(ErrorKind::Speculated, GUARDED, clone_at(|program| program.before(program.nth("trap", 0))));
    accepts(GUARDED, clone_at(|program| program.before(program.def("x"))));
    // A store always returns, so the load may move before it.
    let text = GUARDED.replace("trap", "st b");
    accepts(&text, |program, edits| {
        edits.push(Edit::Move { inst: program.def("x"), at: program.before(program.nth("st", 0)) });
    });
    // The load may move down.
    let text = GUARDED.replace("x = ldnc a\n    st x", "x = ldnc a\n    trap\n    st x");
    accepts(&text, |program, edits| {
        edits.push(Edit::Move { inst: program.def("x"), at: program.before(program.nth("st", 0)) });
    });
}

/// The clone is never read, so only its own check proves its address.
#[test]
fn a_clone_that_reads_another_address_is_refused() {
    for block in [1, 3] {
        refuses(ErrorKind::Speculated, GUARDED, |program, edits| {
            let (inst, _) = clone(program, edits, end_of(block));
            edits.push(Edit::SetRegister { inst, operand: 1, reg: program.reg("b") });
        });
    }
    // The address register has changed before the clone.
    let text = GUARDED.replace("    st b\n", "    a = addi a 1\n");
    refuses(ErrorKind::Speculated, &text, clone_at(|_| end_of(3)));
    refuses(ErrorKind::Speculated, &text, clone_at(|_| end_of(2)));
    accepts(&text, clone_at(|_| end_of(1)));
}

/// The result of the earlier load need not be available: an undefined value may have replaced it.
#[test]
fn the_last_run_counts_and_not_the_register() {
    let text = GUARDED.replace("    st x\n    br p bb3\n", "    st x\n    x = undef\n    br p bb3\n");
    accepts(&text, clone_at(|_| end_of(3)));
    refuses(ErrorKind::Speculated, &text, |program, edits| {
        let (inst, _) = clone(program, edits, end_of(3));
        edits.push(Edit::SetRegister { inst, operand: 1, reg: program.reg("b") });
    });
}

/// The same address may come from another register, or from a constant that replaces a register.
#[test]
fn the_same_address_elsewhere_is_accepted() {
    let text = GUARDED.replace("    trap\n", "    c = copy a\n    k = imm 7\n    trap\n    y = ldnc k\n");
    accepts(&text, |program, edits| {
        let (inst, _) = clone(program, edits, end_of(3));
        edits.push(Edit::SetRegister { inst, operand: 1, reg: program.reg("c") });
    });
    accepts(&text, |program, edits| {
        let (reg, address) = (edits.create_register(RegClass::B32), edits.create_register(RegClass::B32));
        edits.insert_constant(end_of(3), program.opcode("imm"), address, Value::Immediate(7));
        let inst = edits.insert_clone(end_of(3), program.def("y"), reg);
        edits.push(Edit::SetRegister { inst, operand: 1, reg: address });
    });
}

/// A load that stays must keep its operands, like any other instruction.
#[test]
fn a_load_in_its_place_reads_what_it_read() {
    refuses(ErrorKind::Operand, GUARDED, |program, edits| set(program, edits, program.def("x"), 1, "b"));
    accepts(&GUARDED.replace("    trap\n", "    c = copy a\n"), |program, edits| merge(program, edits, "c", "a"));
}
