//! Tests of the reference application.

use std::sync::Arc;

use super::Origin;
use crate::function::{
    Block, Edit, EditList, Effects, Function, FunctionBuilder, Inst, OpcodeTable, Operand, Position, RegClass, Role,
    Slot, Symbol, VReg, Value,
};
use crate::index::EntityIndex;

/// Two blocks and a loop. Registers %0 and %1 are B32, %2 is B64, and %3 has no PTX class.
///
/// ```text
/// bb0: i0 %0 = ADD %1   i1 %1 = COPY %0   i2 DEBUG %1        (falls through to bb1)
/// bb1: i3 %1 = PHI %0 bb0 %1 bb1          i4 STORE %1   i5 BRANCH %1 bb1 bb2
/// bb2: i6 RETURN
/// ```
fn function() -> Function {
    let mut table = OpcodeTable::new();
    let mut opcode = |name: &str, role| table.intern(name, role);
    let (add, copy, debug) = (opcode("ADD", Role::Other), opcode("COPY", Role::Copy), opcode("DEBUG", Role::Debug));
    let (phi, store) = (opcode("PHI", Role::Phi), opcode("STORE", Role::Other));
    let (branch, ret) = (opcode("BRANCH", Role::Other), opcode("RETURN", Role::Other));
    opcode("CONSTANT", Role::Constant);
    let mut builder = FunctionBuilder::new("test", Arc::new(table));
    let (a, b) = (builder.reg(RegClass::B32), builder.reg(RegClass::B32));
    builder.reg(RegClass::B64);
    builder.reg(RegClass::Other);
    let slot = builder.slot(4, 4);
    let to = |block| Operand::plain(Value::Block(Block(block)));
    builder.block(&[Block(1)], 1.0, 0);
    builder.inst(add, &[Operand::write(a), Operand::read(b)], Effects::empty());
    builder.inst(copy, &[Operand::write(b), Operand::read(a)], Effects::empty());
    builder.inst(debug, &[Operand::read(b)], Effects::META);
    builder.block(&[Block(1), Block(2)], 8.0, 1);
    let inputs = [Operand::write(b), Operand::read(a), to(0), Operand::read(b), to(1)];
    builder.inst(phi, &inputs, Effects::empty());
    builder.inst(store, &[Operand::read(b), Operand::plain(Value::Slot(slot))], Effects::WRITE);
    builder.inst(branch, &[Operand::read(b), to(1), to(2)], Effects::TERMINATOR);
    builder.block(&[], 1.0, 0);
    builder.inst(ret, &[], Effects::TERMINATOR);
    builder.finish()
}

fn edited(edit: impl FnOnce(&Function, &mut EditList)) -> Result<super::Applied, super::ApplyError> {
    let function = function();
    let mut edits = EditList::new(&function);
    edit(&function, &mut edits);
    edits.finish();
    edits.apply(&function)
}

/// Returns the opcodes of each block, in order.
fn shape(function: &Function) -> Vec<Vec<&str>> {
    let name = |inst| function.opcodes().name(function.opcode(inst));
    function.blocks().map(|block| function.block_insts(block).map(name).collect()).collect()
}

fn before(block: u32, inst: u32) -> Position {
    Position { block: Block(block), before: Some(Inst(inst)) }
}

fn end(block: u32) -> Position {
    Position { block: Block(block), before: None }
}

/// Asserts that the edit is rejected with a reason that contains `part`.
fn refused(part: &str, edit: impl FnOnce(&Function, &mut EditList)) {
    let error = edited(edit).expect_err(part);
    assert!(error.reason.contains(part), "{error} does not say {part:?}");
}

#[test]
fn no_edits_change_nothing() {
    let applied = edited(|_, _| {}).expect("nothing to refuse");
    assert_eq!(applied.function, function());
    assert!(applied.origin.iter_enumerated().all(|(inst, &origin)| origin == Origin::Kept(inst)));
}

#[test]
fn insertions_at_one_place_keep_their_order_and_moves_follow() {
    let applied = edited(|function, edits| {
        edits.push(Edit::Move { inst: Inst(0), at: end(1) });
        edits.insert_copy(end(1), VReg(0), VReg(1));
        let constant = function.opcodes().find("CONSTANT").expect("interned");
        edits.insert_constant(before(1, 5), constant, VReg(0), Value::Immediate(1));
        edits.insert_clone(before(0, 0), Inst(0), VReg(1));
    })
    .expect("the edits fit");
    let expected =
        [vec!["ADD", "COPY", "DEBUG"], vec!["PHI", "STORE", "COPY", "CONSTANT", "ADD", "BRANCH"], vec!["RETURN"]];
    assert_eq!(shape(&applied.function), expected);
    assert_eq!(applied.origin[Inst(0)], Origin::Clone(Inst(0)));
    assert!(matches!(applied.origin[Inst(5)], Origin::Inserted(_)));
    assert_eq!(applied.origin[Inst(7)], Origin::Kept(Inst(0)));
}

#[test]
fn a_place_before_a_moved_instruction_stays_where_it_was() {
    let applied = edited(|_, edits| {
        edits.insert_copy(before(0, 1), VReg(0), VReg(1));
        edits.push(Edit::Move { inst: Inst(1), at: before(0, 0) });
        edits.push(Edit::Delete { inst: Inst(0) });
    })
    .expect("the edits fit");
    assert_eq!(shape(&applied.function)[0], ["COPY", "COPY", "DEBUG"]);
    assert_eq!(applied.origin[Inst(0)], Origin::Kept(Inst(1)));
}

#[test]
fn merges_rename_everywhere_even_in_insertions() {
    let applied = edited(|_, edits| {
        edits.insert_copy(end(0), VReg(0), VReg(1));
        edits.push(Edit::Merge { from: VReg(1), into: VReg(0) });
    })
    .expect("the edits fit");
    let regs = |function: &Function, inst| function.operands(Inst(inst)).iter().filter_map(Operand::reg).collect();
    for inst in 0..applied.function.num_insts() as u32 {
        let regs: Vec<VReg> = regs(&applied.function, inst);
        assert!(regs.iter().all(|&reg| reg == VReg(0)));
    }
}

#[test]
fn a_split_edge_that_falls_through_gets_two_branches() {
    let applied = edited(|_, edits| _ = edits.split_edge(Block(0), Block(1))).expect("the edge is there");
    let function = &applied.function;
    let expected = [vec!["ADD", "COPY", "DEBUG", "GOTO"], vec!["PHI", "STORE", "BRANCH"], vec!["RETURN"], vec!["GOTO"]];
    assert_eq!(shape(function), expected);
    assert_eq!(function.succs(Block(0)), [Block(3)]);
    assert_eq!(function.succs(Block(3)), [Block(1)]);
    assert_eq!(function.operands(Inst(3))[0].value, Value::Block(Block(3)));
    assert_eq!(function.operands(Inst(4))[2].value, Value::Block(Block(3)));
    assert_eq!(function.operands(Inst(4))[4].value, Value::Block(Block(1)));
}

#[test]
fn a_split_edge_that_branches_is_turned() {
    let applied = edited(|_, edits| _ = edits.split_edge(Block(1), Block(1))).expect("the edge is there");
    let function = &applied.function;
    assert_eq!(shape(function)[1], ["PHI", "STORE", "BRANCH"]);
    assert_eq!(function.succs(Block(1)), [Block(3), Block(2)]);
    assert_eq!(function.operands(Inst(5))[1].value, Value::Block(Block(3)));
    assert_eq!(function.operands(Inst(3))[4].value, Value::Block(Block(3)));
}

#[test]
fn spills_go_to_slots_of_the_edits() {
    let applied = edited(|_, edits| {
        let slot = edits.create_slot(4, 4);
        edits.insert_spill(end(0), VReg(0), slot);
        edits.insert_reload(end(1), VReg(0), slot);
    })
    .expect("the edits fit");
    let function = &applied.function;
    assert_eq!((function.role(Inst(3)), function.role(Inst(6))), (Role::Spill, Role::Reload));
    assert_eq!(function.effects(Inst(3)), Effects::WRITE);
    assert_eq!(function.num_slots(), 2);
}

#[test]
fn permutations_include_insertions_and_moves() {
    let permuted = |order: Vec<Inst>| {
        edited(move |_, edits| {
            let copy = edits.insert_copy(end(1), VReg(0), VReg(1));
            assert_eq!(copy, Inst(7));
            edits.push(Edit::Move { inst: Inst(0), at: end(1) });
            edits.push(Edit::Permute { block: Block(1), order });
        })
    };
    let order = |numbers: &[u32]| numbers.iter().map(|&number| Inst(number)).collect::<Vec<_>>();
    let applied = permuted(order(&[3, 0, 7, 4, 5])).expect("every instruction is listed");
    assert_eq!(shape(&applied.function)[1], ["PHI", "ADD", "COPY", "STORE", "BRANCH"]);
    for wrong in [&[3, 7, 4, 5][..], &[3, 0, 7, 7, 5], &[0, 3, 7, 4, 5], &[3, 0, 7, 5, 4], &[3, 0, 7, 4, 5, 99]] {
        assert!(permuted(order(wrong)).is_err(), "{wrong:?} is no order of the block");
    }
}

#[test]
fn a_debug_value_is_given_up_or_moved() {
    let set = |value| edited(move |_, edits| edits.push(Edit::SetDebugValue { inst: Inst(2), value }));
    for value in [Value::NoReg, Value::Reg(VReg(0)), Value::Immediate(-5)] {
        assert_eq!(set(value).expect("it fits").function.operands(Inst(2))[0].value, value);
    }
    for wrong in [Value::Reg(VReg(2)), Value::Symbol(Symbol(0)), Value::Block(Block(0))] {
        assert!(set(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn unsorted_edits_are_refused() {
    let function = function();
    let mut edits = EditList::new(&function);
    edits.push(Edit::Delete { inst: Inst(0) });
    edits.insert_copy(end(0), VReg(0), VReg(1));
    assert!(edits.apply(&function).expect_err("unsorted").reason.contains("sorted"));
}

#[test]
fn unknown_ids_are_refused() {
    let reg = VReg(99);
    let at = end(0);
    refused("register", |_, edits| _ = edits.insert_copy(at, reg, VReg(0)));
    refused("register", |_, edits| edits.push(Edit::Merge { from: VReg(0), into: reg }));
    refused("register", |_, edits| edits.push(Edit::SetRegister { inst: Inst(0), operand: 0, reg }));
    refused("instruction", |_, edits| edits.push(Edit::Delete { inst: Inst(99) }));
    refused("instruction", |_, edits| edits.push(Edit::SetDebugValue { inst: Inst(99), value: Value::NoReg }));
    refused("inline assembly", |_, edits| edits.push(Edit::SetAssembly { inst: Inst(0), text: String::new() }));
    refused("instruction", |_, edits| edits.push(Edit::SetAssembly { inst: Inst(99), text: String::new() }));
    refused("not a block", |_, edits| edits.push(Edit::TurnBranch { block: Block(99), comparison: Inst(0) }));
    refused("not an instruction", |_, edits| edits.push(Edit::TurnBranch { block: Block(0), comparison: Inst(99) }));
    refused("does not end in", |_, edits| edits.push(Edit::TurnBranch { block: Block(0), comparison: Inst(0) }));
    refused("not a block", |_, edits| edits.push(Edit::InsertPragma { block: Block(99) }));
    refused("there is no pragma directly before", |_, edits| edits.push(Edit::InsertPragma { block: Block(1) }));
    refused("instruction", |_, edits| edits.push(Edit::Move { inst: Inst(99), at }));
    refused("instruction", |_, edits| _ = edits.insert_clone(at, Inst(99), VReg(0)));
    refused("instruction", |_, edits| _ = edits.insert_copy(before(0, 4), VReg(0), VReg(1)));
    refused("operand", |_, edits| edits.push(Edit::SetRegister { inst: Inst(0), operand: 9, reg: VReg(0) }));
    refused("block", |_, edits| _ = edits.insert_copy(end(9), VReg(0), VReg(1)));
    refused("block", |_, edits| _ = edits.split_edge(Block(0), Block(9)));
    refused("block", |_, edits| edits.push(Edit::Permute { block: Block(9), order: vec![] }));
    refused("slot", |_, edits| _ = edits.insert_spill(at, VReg(0), Slot(9)));
    refused("opcode", |function, edits| {
        let opcode = crate::function::Opcode::new(function.opcodes().len());
        edits.insert_constant(at, opcode, VReg(0), Value::Immediate(0));
    });
}

#[test]
fn ids_are_given_in_order() {
    refused("next free id", |_, edits| edits.push(Edit::CreateRegister { reg: VReg(9), class: RegClass::B32 }));
    refused("next free id", |_, edits| edits.push(Edit::CreateSlot { slot: Slot(9), size: 4, align: 4 }));
    refused("next free id", |_, edits| {
        edits.push(Edit::SplitEdge { block: Block(9), from: Block(0), to: Block(1) });
    });
    refused("next free id", |_, edits| {
        edits.push(Edit::InsertCopy { inst: Inst(9), at: end(0), dst: VReg(0), src: VReg(1) });
    });
}

#[test]
fn classes_are_kept() {
    refused("use one class", |_, edits| _ = edits.insert_copy(end(0), VReg(0), VReg(2)));
    refused("use one class", |_, edits| edits.push(Edit::Merge { from: VReg(0), into: VReg(2) }));
    refused("use one class", |_, edits| edits.push(Edit::SetRegister { inst: Inst(0), operand: 1, reg: VReg(2) }));
    refused("use one class", |_, edits| _ = edits.insert_clone(end(0), Inst(0), VReg(2)));
    refused("left to LLVM", |_, edits| edits.push(Edit::Merge { from: VReg(3), into: VReg(3) }));
    refused("class other", |_, edits| _ = edits.create_register(RegClass::Other));
}

#[test]
fn nothing_is_done_twice_or_both_ways() {
    refused("moved twice", |_, edits| {
        edits.push(Edit::Move { inst: Inst(0), at: end(0) });
        edits.push(Edit::Move { inst: Inst(0), at: end(1) });
    });
    refused("deleted twice", |_, edits| {
        edits.push(Edit::Delete { inst: Inst(0) });
        edits.push(Edit::Delete { inst: Inst(0) });
    });
    refused("moved and deleted", |_, edits| {
        edits.push(Edit::Move { inst: Inst(0), at: end(1) });
        edits.push(Edit::Delete { inst: Inst(0) });
    });
    refused("moved too", |_, edits| {
        edits.push(Edit::Move { inst: Inst(0), at: before(0, 1) });
        edits.push(Edit::Move { inst: Inst(1), at: end(1) });
    });
    refused("split twice", |_, edits| {
        edits.split_edge(Block(0), Block(1));
        edits.split_edge(Block(0), Block(1));
    });
    refused("merged twice", |_, edits| {
        let other = edits.create_register(RegClass::B32);
        edits.push(Edit::Merge { from: VReg(0), into: VReg(1) });
        edits.push(Edit::Merge { from: VReg(0), into: other });
    });
    refused("is merged itself", |_, edits| {
        edits.push(Edit::Merge { from: VReg(0), into: VReg(1) });
        edits.push(Edit::Merge { from: VReg(1), into: VReg(0) });
    });
    refused("into itself", |_, edits| edits.push(Edit::Merge { from: VReg(0), into: VReg(0) }));
    refused("permuted twice", |_, edits| {
        edits.push(Edit::Permute { block: Block(2), order: vec![Inst(6)] });
        edits.push(Edit::Permute { block: Block(2), order: vec![Inst(6)] });
    });
}

#[test]
fn places_and_instructions_that_must_stay_are_refused() {
    refused("PHI", |_, edits| _ = edits.insert_copy(before(1, 3), VReg(0), VReg(1)));
    refused("PHI", |_, edits| edits.push(Edit::Move { inst: Inst(3), at: end(2) }));
    refused("terminator", |_, edits| edits.push(Edit::Move { inst: Inst(6), at: end(1) }));
    refused("not pure", |_, edits| _ = edits.insert_clone(end(1), Inst(4), VReg(0)));
    refused("not pure", |_, edits| _ = edits.insert_clone(end(1), Inst(3), VReg(0)));
    refused("no edge", |_, edits| _ = edits.split_edge(Block(0), Block(2)));
    refused("made by a split", |_, edits| {
        let block = edits.split_edge(Block(0), Block(1));
        edits.push(Edit::Permute { block, order: vec![] });
    });
    refused("belongs to the function", |_, edits| _ = edits.insert_spill(end(0), VReg(0), Slot(0)));
    refused("too few", |_, edits| {
        let slot = edits.create_slot(4, 4);
        edits.insert_spill(end(0), VReg(2), slot);
    });
    refused("power of two", |_, edits| _ = edits.create_slot(4, 3));
    refused("1 to 2147483647 bytes", |_, edits| _ = edits.create_slot(1 << 31, 4));
    refused("8 bytes, too few", |_, edits| {
        let wide = edits.create_register(RegClass::B128);
        let slot = edits.create_slot(8, 16);
        edits.insert_spill(end(0), wide, slot);
    });
    refused("1 bytes, too few", |_, edits| {
        let predicate = edits.create_register(RegClass::B1);
        let slot = edits.create_slot(1, 1);
        edits.insert_spill(end(0), predicate, slot);
    });
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    refused("does not make constants", |function, edits| {
        let opcode = function.opcodes().find("ADD").expect("interned");
        edits.insert_constant(end(0), opcode, VReg(0), Value::Immediate(1));
    });
    refused("is not a constant", |function, edits| {
        let opcode = function.opcodes().find("CONSTANT").expect("interned");
        edits.insert_constant(end(0), opcode, VReg(0), Value::Reg(VReg(1)));
    });
    refused("not an untied register", |function, edits| {
        let opcode = function.opcode(Inst(0));
        edits.push(Edit::SetImmediate { inst: Inst(0), operand: 0, opcode, value: 1 });
    });
    refused("not a virtual register", |_, edits| {
        edits.push(Edit::SetRegister { inst: Inst(3), operand: 2, reg: VReg(0) });
    });
    refused("not a debug instruction", |_, edits| {
        edits.push(Edit::SetDebugValue { inst: Inst(0), value: Value::NoReg })
    });
}

/// A launch bound that an edit sets replaces the bound of the edited kernel. Other bounds stay. A function that is not
/// a kernel has no bounds afterwards either.
#[test]
fn attributes_change_the_bounds_of_kernels_alone() {
    let set = |head: &str| {
        let text = format!("mfv 1\nfunction \"f\"\n{head}\nend\n");
        let function = Function::parse(&text).unwrap();
        let mut edits = EditList::new(&function);
        edits.push(Edit::SetAttribute { key: "nvvm.maxnreg".into(), value: "40".into() });
        edits.apply(&function).unwrap().function.to_string()
    };
    assert_eq!(
        set("kernel maxntid 96 maxnreg 64\nfile \"k.cu\"\n@0 = \"s\" shared 8"),
        "mfv 1\nfunction \"f\"\nkernel maxntid 96 maxnreg 40\nfile \"k.cu\"\n@0 = \"s\" shared 8\nend\n"
    );
    assert_eq!(set("file \"k.cu\""), "mfv 1\nfunction \"f\"\nfile \"k.cu\"\nend\n");
}

/// An edit can set the block size only to that of the shared array, and only in a kernel that does not bound its block
/// size.
#[test]
fn threads_are_those_of_the_array() {
    let set = |head: &str, array: Option<u32>, value: &str| {
        let function = Function::parse(&format!("mfv 1\nfunction \"f\"\n{head}\nend\n")).unwrap();
        let mut edits = EditList::new(&function);
        if let Some(threads) = array {
            edits.push(Edit::CreateSharedArray(crate::function::SharedArray { threads, bytes: 1024 }));
        }
        edits.push(Edit::SetAttribute { key: "nvvm.maxntid".into(), value: value.into() });
        edits.apply(&function).map(|applied| *applied.function.kernel().unwrap()).map_err(|error| error.to_string())
    };
    let unbounded = "kernel minctasm 1";
    assert_eq!(set(unbounded, Some(96), "96").map(|bounds| bounds.max_threads), Ok(Some(96)));
    for (head, array, value) in [
        (unbounded, None, "96"),
        (unbounded, Some(96), "128"),
        (unbounded, Some(96), "96,1"),
        (unbounded, Some(96), "096"),
        ("kernel maxntid 96", Some(96), "96"),
        ("kernel reqntid 96", Some(96), "96"),
    ] {
        let error = set(head, array, value).expect_err("is no bound for it");
        assert!(error.contains("use the thread count of the shared array"), "{error}");
    }
}

#[test]
fn directives_and_attributes_are_checked() {
    edited(|_, edits| {
        edits.push(Edit::InsertDirective { text: ".pragma \"nounroll\";".into() });
        edits.push(Edit::InsertDirective { text: ".pragma \"enable_smem_spilling\";".into() });
        edits.push(Edit::SetAttribute { key: "nvvm.maxnreg".into(), value: "255".into() });
    })
    .expect("they are right");
    let whole = ".pragma \"nounroll\"; trap;";
    for text in ["", "  ", "a\nb", "trap;", "// nothing", ".pragma \"frequency 1\";", ".pragma \"nounroll\"", whole] {
        refused("is not known", |_, edits| edits.push(Edit::InsertDirective { text: text.into() }));
    }
    for key in ["", "a=b", "nvvm.reqntid", "nvvm.kernel", "nvvm.maxnreg ", "target-cpu", "nvptx-ra"] {
        refused("is not known", |_, edits| edits.push(Edit::SetAttribute { key: key.into(), value: "40".into() }));
    }
    for value in ["", "0", "256", "-1", "+40", "040", "0x28", "40,1", "a=b", " 40"] {
        refused("a number of registers", |_, edits| {
            edits.push(Edit::SetAttribute { key: "nvvm.maxnreg".into(), value: value.into() })
        });
    }
}

/// The text of an existing symbol gives this symbol, not a new one. A text that LLVM would truncate is rejected.
#[test]
fn texts_of_assembly() {
    let text = "mfv 1\nfunction \"k\"\nopcode INLINEASM\n@0 = \"&bar.sync 0;\"\n@1 = \"&bar.sync 1;\"\n\
                bb0: frequency 1.0 depth 0\nINLINEASM @0, 1 :: opaque\nINLINEASM @1, 1 :: opaque\nend\n";
    let function = Function::parse(text).expect("a function");
    let set = |texts: [&str; 2]| {
        let mut edits = EditList::new(&function);
        for (inst, text) in (0..).map(Inst).zip(texts) {
            edits.push(Edit::SetAssembly { inst, text: text.into() });
        }
        let applied = edits.apply(&function).map_err(|error| error.reason)?.function;
        Ok::<_, String>([0, 1].map(|inst| applied.operands(Inst(inst))[0].value))
    };
    let symbols = |numbers: [u32; 2]| Ok(numbers.map(|number| Value::Symbol(Symbol(number))));
    assert_eq!(set(["bar.sync 1;", "bar.sync 0;"]), symbols([1, 0]));
    assert_eq!(set(["bar.sync 7;", "bar.sync 7;"]), symbols([2, 2]));
    assert!(set(["bar.sync 1;", "bar.sync 0;\0"]).expect_err("a NUL").contains("NUL"));
}
