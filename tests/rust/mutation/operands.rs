//! Operands of single instructions, including debug values.

use nvptx_ra::check::ErrorKind;
use nvptx_ra::function::{Edit, EditList, Value};

use super::{PAIRS, accepts, delete, merge, refuses, set};

#[test]
fn debug_values_show_the_same_or_nothing() {
    let text = "
        bb0
        a = ld 1
        b = copy a
        dbg b
        c = ld 2
        st c
        dbg c
        ret
    ";
    accepts(text, |program, edits| {
        merge(program, edits, "b", "a");
        delete(edits, program.def("b"));
    });
    accepts(text, |program, edits| {
        edits.push(Edit::SetDebugValue { inst: program.nth("dbg", 0), value: Value::NoReg });
        delete(edits, program.def("b"));
    });
    refuses(ErrorKind::DebugValue, text, |program, edits| set(program, edits, program.nth("dbg", 0), 0, "c"));
    refuses(ErrorKind::DebugValue, text, |program, edits| {
        edits.push(Edit::SetDebugValue { inst: program.nth("dbg", 1), value: Value::Reg(program.reg("a")) });
    });
    refuses(ErrorKind::DebugValue, text, |program, edits| delete(edits, program.def("b")));
}

/// A debug value's register may be replaced by the constant in the register, and by no other constant.
#[test]
fn a_debug_value_of_another_number_is_refused() {
    let text = "
        bb0
        a = imm 7
        st a
        dbg a
        ret
    ";
    let describe = |program: &super::Program, edits: &mut EditList, value| {
        edits.push(Edit::SetDebugValue { inst: program.nth("dbg", 0), value: Value::Immediate(value) });
    };
    accepts(text, |program, edits| describe(program, edits, 7));
    refuses(ErrorKind::DebugValue, text, |program, edits| describe(program, edits, 8));
}

/// `a` is dead at the debug value, but its register still holds its value there.
#[test]
fn a_debug_value_of_a_reused_register_is_refused() {
    let text = "
        bb0
        a = ld 1
        st a
        c = ld 2
        dbg a
        st c
        ret
    ";
    refuses(ErrorKind::DebugValue, text, |program, edits| merge(program, edits, "c", "a"));
    accepts(text, |program, edits| {
        edits.push(Edit::SetDebugValue { inst: program.nth("dbg", 0), value: Value::NoReg });
        merge(program, edits, "c", "a");
    });
}

#[test]
fn two_definitions_of_one_register_are_refused() {
    refuses(ErrorKind::DoubleDefinition, PAIRS, |program, edits| merge(program, edits, "c", "d"));
}

#[test]
fn tied_operands_stay_tied() {
    let text = "
        bb0
        a = ld 1
        b = copy a
        b = tied b 3
        st a
        st b
        ret
    ";
    accepts(text, |_, _| {});
    refuses(ErrorKind::Tied, text, |program, edits| set(program, edits, program.nth_def("b", 1), 1, "a"));
}

#[test]
fn early_clobber_definitions_keep_apart_from_reads() {
    let text = "
        bb0
        a = ld 1
        b! = asm a
        st b
        ret
    ";
    refuses(ErrorKind::EarlyClobber, text, |program, edits| merge(program, edits, "b", "a"));
}
