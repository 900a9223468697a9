//! Comparisons of functions that differ in one thing.

use std::sync::Arc;

use super::*;
use crate::function::{Edit, EditList, FunctionBuilder, MemorySpace, OpcodeTable, Position, RegClass};

fn opcodes() -> Arc<OpcodeTable> {
    let mut table = OpcodeTable::new();
    for (name, role) in [
        ("COPY", Role::Copy),
        ("MOV_B32_sym", Role::Constant),
        ("DBG_VALUE", Role::Debug),
        ("ST_i32", Role::Other),
        ("LD_i32", Role::Other),
        ("LEA_ADDRi64", Role::Other),
        ("cvta_to_local_64", Role::Other),
        ("Return", Role::Other),
        ("GOTO", Role::Other),
    ] {
        table.intern(name, role);
    }
    Arc::new(table)
}

/// What a builder is given: opcode, operands, effects.
type Line = (&'static str, Vec<Operand>, Effects);

fn line(name: &'static str, operands: impl Into<Vec<Operand>>) -> Line {
    (name, operands.into(), Effects::empty())
}

/// A function of one block with three registers of 32 bits, as many of 64 as `wide` says, and symbols `@a`, `@b`.
fn function(wide: usize, slots: usize, lines: &[Line]) -> Function {
    let mut builder = FunctionBuilder::new("k", opcodes());
    for class in [RegClass::B32; 3].into_iter().chain(std::iter::repeat_n(RegClass::B64, wide)) {
        builder.reg(class);
    }
    for _ in 0..slots {
        builder.slot(4, 4);
    }
    for symbol in ["@a", "@b"] {
        builder.symbol(symbol);
    }
    builder.block(&[], 1.0, 0);
    for (name, operands, effects) in lines {
        let opcode = opcodes().find(name).expect("the table has it");
        builder.full_inst(opcode, operands, *effects, MemorySpace::Generic, 0);
    }
    builder.finish()
}

fn symbol(number: u32) -> Operand {
    Operand::plain(Value::Symbol(Symbol(number)))
}

fn sample(first: u32, second: u32) -> Vec<Line> {
    vec![
        line("MOV_B32_sym", [Operand::write(VReg(0)), symbol(first)]),
        line("MOV_B32_sym", [Operand::write(VReg(1)), symbol(second)]),
        line("MOV_B32_sym", [Operand::write(VReg(2)), symbol(first)]),
    ]
}

fn difference(wanted: &Function, found: &Function) -> String {
    compare(wanted, found).expect_err("they differ").to_string()
}

/// A function is equal to itself, and to one whose symbols are numbered otherwise.
#[test]
fn equal_up_to_numbers_of_symbols() {
    let wanted = function(0, 0, &sample(0, 1));
    assert_eq!(compare(&wanted, &wanted), Ok(()));
    assert_eq!(compare(&wanted, &function(0, 0, &sample(1, 0))), Ok(()));
}

/// Symbols that differ where they should agree, or agree where they should differ, are a difference.
#[test]
fn different_symbols() {
    let wanted = function(0, 0, &sample(0, 1));
    assert!(difference(&wanted, &function(0, 0, &sample(0, 0))).contains("i1 of bb0: operand 1"));
    let mut lines = sample(0, 1);
    lines[2].1[1] = symbol(1);
    assert!(difference(&wanted, &function(0, 0, &lines)).contains("i2 of bb0: operand 1"));
}

/// Another register, another opcode, a missing instruction: each is named with its place and the kernel.
#[test]
fn first_difference_is_named() {
    let copy = line("COPY", [Operand::write(VReg(0)), Operand::read(VReg(1))]);
    let wanted = function(0, 0, std::slice::from_ref(&copy));
    let other = function(0, 0, &[line("COPY", [Operand::write(VReg(0)), Operand::read(VReg(2))])]);
    let text = difference(&wanted, &other);
    assert!(text.starts_with("nvptx-ra: kernel 'k': ") && text.contains("i0 of bb0: operand 1"), "{text}");
    let other = function(0, 0, &[line("LD_i32", [Operand::write(VReg(0)), Operand::read(VReg(1))])]);
    assert!(difference(&wanted, &other).contains("LD_i32, expected COPY"));
    assert!(difference(&wanted, &function(0, 0, &[])).contains("0 instructions of bb0, expected 1"));
    assert!(difference(&wanted, &function(0, 1, &[copy])).contains("1 slots, expected 0"));
}

/// Hints may be dropped, other flags may not.
#[test]
fn flags() {
    let with = |flags| {
        let read = Operand { flags, ..Operand::read(VReg(1)) };
        function(0, 0, &[line("COPY", [Operand::write(VReg(0)), read])])
    };
    assert_eq!(compare(&with(OperandFlags::KILL), &with(OperandFlags::empty())), Ok(()));
    assert!(compare(&with(OperandFlags::UNDEF), &with(OperandFlags::empty())).is_err());
}

/// A debug value may lose a register that nothing writes any more, and no other.
#[test]
fn lost_debug_values() {
    let none = line("DBG_VALUE", [Operand::plain(Value::NoReg)]);
    let debug = line("DBG_VALUE", [Operand::read(VReg(0))]);
    let wanted = function(0, 0, std::slice::from_ref(&debug));
    assert_eq!(compare(&wanted, &function(0, 0, std::slice::from_ref(&none))), Ok(()));
    let write = line("MOV_B32_sym", [Operand::write(VReg(0)), symbol(0)]);
    let wanted = function(0, 0, &[write.clone(), debug]);
    assert!(difference(&wanted, &function(0, 0, &[write, none])).contains("expected"));
}

/// A spill is the store to the address that the entry computes for its slot, and to no other slot.
#[test]
fn spills() {
    let before = function(0, 0, &[]);
    let mut edits = EditList::new(&before);
    let slots = [edits.create_slot(4, 4), edits.create_slot(4, 4)];
    edits.insert_spill(Position { block: Block(0), before: None }, VReg(1), slots[0]);
    edits.push(Edit::InsertDirective { text: ".pragma \"nounroll\";".into() });
    edits.finish();
    let wanted = edits.apply(&before).expect("the edits fit").function;
    let found = |slot, reg| {
        let (generic, local) = (VReg(3), VReg(4));
        let address = [Operand::write(generic), Operand::plain(Value::Slot(slot)), Operand::immediate(0)];
        function(
            2,
            2,
            &[
                line("LEA_ADDRi64", address),
                line("cvta_to_local_64", [Operand::write(local), Operand::read(generic)]),
                ("ST_i32", vec![Operand::read(reg), Operand::read(local), Operand::immediate(0)], Effects::WRITE),
            ],
        )
    };
    assert_eq!(compare(&wanted, &found(slots[0], VReg(1))), Ok(()));
    assert!(difference(&wanted, &found(slots[1], VReg(1))).contains("expected Spill"));
    assert!(difference(&wanted, &found(slots[0], VReg(2))).contains("expected Spill"));
}

/// Whether a block names the successor that it falls through to does not matter; where it goes does.
#[test]
fn branches() {
    let with = |branch: bool, to: usize| {
        let mut builder = FunctionBuilder::new("k", opcodes());
        let blocks: Vec<Block> = (0..3).map(Block::new).collect();
        builder.block(&[blocks[to]], 1.0, 0);
        if branch {
            let goto = opcodes().find("GOTO").expect("the table has it");
            builder.inst(goto, &[Operand::plain(Value::Block(blocks[to]))], Effects::TERMINATOR);
        }
        builder.block(&[], 1.0, 0);
        builder.block(&[], 1.0, 0);
        builder.finish()
    };
    assert_eq!(compare(&with(false, 1), &with(true, 1)), Ok(()));
    assert!(difference(&with(true, 1), &with(true, 2)).contains("bb0 goes to"));
}
