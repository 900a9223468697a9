//! The symbolic checker against edits that keep the meaning and edits that do not.

mod program;

use nvptx_ra::check::{ErrorKind, check};
use nvptx_ra::function::{Block, Edit, EditList, Inst, Position, RegClass, VReg, Value};
use program::{Program, end_of, program};

/// The kinds of errors that edits of a program have; none where the checker proves them.
fn kinds(text: &str, edit: impl FnOnce(&Program, &mut EditList)) -> Vec<ErrorKind> {
    let program = program(text);
    let mut edits = EditList::new(&program.function);
    edit(&program, &mut edits);
    edits.finish();
    match check(&program.function, &edits) {
        Ok(()) => Vec::new(),
        Err(errors) => {
            assert!(errors.iter().all(|error| !error.to_string().contains('\n')));
            errors.iter().map(|error| error.kind).collect()
        }
    }
}

fn accepts(text: &str, edit: impl FnOnce(&Program, &mut EditList)) {
    let program = program(text);
    let mut edits = EditList::new(&program.function);
    edit(&program, &mut edits);
    edits.finish();
    if let Err(errors) = check(&program.function, &edits) {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("not proven:\n{}", errors.join("\n"));
    }
}

fn refuses(kind: ErrorKind, text: &str, edit: impl FnOnce(&Program, &mut EditList)) {
    let kinds = kinds(text, edit);
    assert!(kinds.contains(&kind), "{kind:?} expected, found {kinds:?}");
}

fn merge(program: &Program, edits: &mut EditList, from: &str, into: &str) {
    edits.push(Edit::Merge { from: program.reg(from), into: program.reg(into) });
}

fn delete(edits: &mut EditList, inst: Inst) {
    edits.push(Edit::Delete { inst });
}

fn set(program: &Program, edits: &mut EditList, inst: Inst, operand: u32, reg: &str) {
    edits.push(Edit::SetRegister { inst, operand, reg: program.reg(reg) });
}

/// Swaps two instructions of the block that holds them.
fn swap(program: &Program, edits: &mut EditList, left: Inst, right: Inst) {
    let block = program.function.block_of(left);
    let mut order: Vec<Inst> = program.function.block_insts(block).collect();
    let place = |inst| order.iter().position(|&other| other == inst).expect("in the block");
    let (left, right) = (place(left), place(right));
    order.swap(left, right);
    edits.push(Edit::Permute { block, order });
}

const LINE: &str = "
    bb0
    a = ld 1
    b = ld 2
    c = add a b
    d = copy c
    st c
    e = mul d 3
    st e
    ret
";

/// A loop that counts in `i` and sums in `s`, out of SSA form.
const LOOP: &str = "
    bb0 -> bb1
    n = ld 1
    i0 = imm 0
    s0 = imm 0
    i = copy i0
    s = copy s0
    bb1 -> bb1 bb2
    t = add s i
    j = addi i 1
    p = setlt j n
    s = copy t
    i = copy j
    br p bb1
    bb2
    st s
    ret
";

/// The swap problem: two PHIs of a loop header that exchange their values.
const SWAP: &str = "
    bb0 -> bb1
    a0 = ld 1
    b0 = ld 2
    bb1 -> bb1 bb2
    a = phi a0 bb0 b bb1
    b = phi b0 bb0 a bb1
    p = setlt a b
    br p bb1
    bb2
    st a
    st b
    ret
";

#[test]
fn no_edits_are_accepted() {
    for text in [LINE, LOOP, SWAP, CALLS, PAIRS, BRANCH] {
        accepts(text, |_, _| {});
    }
}

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

/// PHIs are evaluated at once: sequential copies at the end of the latch lose a value.
#[test]
fn sequential_copies_for_a_swap_are_refused() {
    refuses(ErrorKind::Operand, SWAP, |program, edits| {
        phis_to_copies(program, edits, |edits, latch, a, b| {
            edits.insert_copy(latch, a, b);
            edits.insert_copy(latch, b, a);
        });
    });
}

/// At the end of the latch itself, the copies change what is read after the loop.
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

/// Replaces the PHIs of [`SWAP`] by copies; `on_edge` makes those of the back edge.
fn phis_to_copies(program: &Program, edits: &mut EditList, on_edge: impl FnOnce(&mut EditList, Position, VReg, VReg)) {
    let (a, b) = (program.reg("a"), program.reg("b"));
    edits.insert_copy(end_of(0), a, program.reg("a0"));
    edits.insert_copy(end_of(0), b, program.reg("b0"));
    let latch = edits.split_edge(Block(1), Block(1));
    on_edge(edits, end_of(latch.0), a, b);
    delete(edits, program.def("a"));
    delete(edits, program.def("b"));
}

/// The lost-copy problem: a PHI is still read after the loop that redefines its web.
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

/// Both sides of the copy are read later, but they hold the same value.
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

const BRANCH: &str = "
    bb0 -> bb1 bb2
    k = imm 7
    a = ld 1
    x = mul a 5
    p = setlt a 3
    br p bb1
    bb1 -> bb3
    y = add x k
    st y
    goto bb3
    bb2 -> bb3
    st k
    bb3
    st a
    ret
";

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

const CALLS: &str = "
    bb0
    a = ld 1
    k = mul a 3
    start 0
    q = param a
    argument q
    call 5
    r = result 0
    end 0
    start 1
    argument r
    call 6
    end 1
    st k
    ret
";

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

/// Between two calls there is room, even where one begins right after the other.
#[test]
fn a_copy_between_two_call_sequences_is_accepted() {
    accepts(CALLS, |program, edits| {
        let reg = edits.create_register(RegClass::B32);
        edits.insert_copy(program.before(program.nth("start", 1)), reg, program.reg("r"));
        edits.push(Edit::SetRegister { inst: program.nth("argument", 1), operand: 0, reg });
    });
}

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
        edits.push(Edit::SetDebugValue { inst: program.nth("dbg", 0), reg: None });
        delete(edits, program.def("b"));
    });
    refuses(ErrorKind::DebugValue, text, |program, edits| set(program, edits, program.nth("dbg", 0), 0, "c"));
    refuses(ErrorKind::DebugValue, text, |program, edits| {
        edits.push(Edit::SetDebugValue { inst: program.nth("dbg", 1), reg: Some(program.reg("a")) });
    });
    refuses(ErrorKind::DebugValue, text, |program, edits| delete(edits, program.def("b")));
}

/// `a` is dead where the debug value reads it, but its register still held its value.
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
        edits.push(Edit::SetDebugValue { inst: program.nth("dbg", 0), reg: None });
        merge(program, edits, "c", "a");
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

/// A round trip through a wide register, in one block and across blocks.
const PAIRS: &str = "
    bb0 -> bb1
    a = ld 1
    b = ld 2
    w = pack a b
    c d = unpack w
    st c
    st d
    bb1
    e f = unpack w
    g = high w
    st e
    st f
    st g
    w2 = pack e f
    st w2
    ret
";

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

#[test]
fn the_wrong_half_is_refused() {
    refuses(ErrorKind::Operand, PAIRS, |program, edits| set(program, edits, program.nth("st", 0), 0, "b"));
    refuses(ErrorKind::Operand, PAIRS, |program, edits| set(program, edits, program.nth("st", 2), 0, "b"));
    refuses(ErrorKind::Operand, PAIRS, |program, edits| set(program, edits, program.nth("st", 4), 0, "e"));
}

#[test]
fn two_definitions_of_one_register_are_refused() {
    refuses(ErrorKind::DoubleDefinition, PAIRS, |program, edits| merge(program, edits, "c", "d"));
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

/// Neither a long block, nor a long chain of blocks, nor a loop that makes ever longer terms is too much.
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
