//! Comparisons of functions that have one difference.

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
        ("STV_i32_v2", Role::Other),
        ("LD_i32", Role::Other),
        ("LD_i16", Role::Other),
        ("ST_i16", Role::Other),
        ("SELP_b16ii", Role::Other),
        ("SETP_i16ri", Role::Other),
        ("MOV_B32_i", Role::Constant),
        ("MOV_B1_i", Role::Constant),
        ("OR_b32ri", Role::Other),
        ("I128toV2I64", Role::Unpack),
        ("V2I64toI128", Role::Pack),
        ("STV_i64_v2", Role::Other),
        ("LDV_i64_v2", Role::Other),
        ("SELP_b32ii", Role::Other),
        ("AND_b32ri", Role::Other),
        ("OR_b32rr", Role::Other),
        ("SETP_i32ri", Role::Other),
        ("INLINEASM", Role::Other),
        ("Return", Role::Other),
        ("GOTO", Role::Other),
    ] {
        table.intern(name, role);
    }
    Arc::new(table)
}

/// The arguments of a builder: opcode, operands, effects.
type Line = (&'static str, Vec<Operand>, Effects);

fn line(name: &'static str, operands: impl Into<Vec<Operand>>) -> Line {
    (name, operands.into(), Effects::empty())
}

/// The text that sets the address of slots in local memory.
const LOCAL: &str = ".local .align 8 .b8 nvptx_ra_local[8]; add.u32 $0, %nvptx_ra1, %nvptx_ra0;";

/// Builds a function of one block with three 32-bit registers and registers of the classes `more`, and symbols `@a`,
/// `@b` and [`LOCAL`].
fn function_with(more: &[RegClass], slots: usize, lines: &[Line]) -> Function {
    let mut builder = FunctionBuilder::new("k", opcodes());
    for &class in [RegClass::B32; 3].iter().chain(more) {
        builder.reg(class);
    }
    for _ in 0..slots {
        builder.slot(4, 4);
    }
    for symbol in ["@a", "@b", LOCAL] {
        builder.symbol(symbol);
    }
    builder.block(&[], 1.0, 0);
    for (name, operands, effects) in lines {
        let opcode = opcodes().find(name).expect("the table has it");
        builder.full_inst(opcode, operands, *effects, MemorySpace::Generic, 0);
    }
    builder.finish()
}

/// Builds a function like [`function_with`], without additional registers.
fn function(slots: usize, lines: &[Line]) -> Function {
    function_with(&[], slots, lines)
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

/// A function is equal to itself, and to a function with other symbol numbers.
#[test]
fn equal_up_to_numbers_of_symbols() {
    let wanted = function(0, &sample(0, 1));
    assert_eq!(compare(&wanted, &wanted), Ok(()));
    assert_eq!(compare(&wanted, &function(0, &sample(1, 0))), Ok(()));
}

/// It is a difference if two equal symbols become different, or if two different symbols become equal.
#[test]
fn different_symbols() {
    let wanted = function(0, &sample(0, 1));
    assert!(difference(&wanted, &function(0, &sample(0, 0))).contains("i1 of bb0: operand 1"));
    let mut lines = sample(0, 1);
    lines[2].1[1] = symbol(1);
    assert!(difference(&wanted, &function(0, &lines)).contains("i2 of bb0: operand 1"));
}

/// Another register, another opcode and a missing instruction are each reported with the place and the kernel.
#[test]
fn first_difference_is_named() {
    let copy = line("COPY", [Operand::write(VReg(0)), Operand::read(VReg(1))]);
    let wanted = function(0, std::slice::from_ref(&copy));
    let other = function(0, &[line("COPY", [Operand::write(VReg(0)), Operand::read(VReg(2))])]);
    let text = difference(&wanted, &other);
    assert!(text.starts_with("nvptx-ra: kernel 'k': ") && text.contains("i0 of bb0: operand 1"), "{text}");
    let other = function(0, &[line("LD_i32", [Operand::write(VReg(0)), Operand::read(VReg(1))])]);
    assert!(difference(&wanted, &other).contains("LD_i32, expected COPY"));
    assert!(difference(&wanted, &function(0, &[])).contains("0 instructions of bb0, expected 1"));
    assert!(difference(&wanted, &function(1, &[copy])).contains("1 slots, expected 0"));
}

/// Hints may be dropped, but other flags may not.
#[test]
fn flags() {
    let with = |flags| {
        let read = Operand { flags, ..Operand::read(VReg(1)) };
        function(0, &[line("COPY", [Operand::write(VReg(0)), read])])
    };
    assert_eq!(compare(&with(OperandFlags::KILL), &with(OperandFlags::empty())), Ok(()));
    assert!(compare(&with(OperandFlags::UNDEF), &with(OperandFlags::empty())).is_err());
}

/// A debug value may lose a register that has no definition left, but no other register.
#[test]
fn lost_debug_values() {
    let none = line("DBG_VALUE", [Operand::plain(Value::NoReg)]);
    let debug = line("DBG_VALUE", [Operand::read(VReg(0))]);
    let wanted = function(0, std::slice::from_ref(&debug));
    assert_eq!(compare(&wanted, &function(0, std::slice::from_ref(&none))), Ok(()));
    let write = line("MOV_B32_sym", [Operand::write(VReg(0)), symbol(0)]);
    let wanted = function(0, &[write.clone(), debug]);
    assert!(difference(&wanted, &function(0, &[write, none])).contains("expected"));
}

/// Builds the code at the entry that sets a register to the address of slots in local memory.
fn local_address(reg: VReg) -> Line {
    line("INLINEASM", [symbol(2), Operand::immediate(1), Operand::write(reg)])
}

/// A spill must store to its own slot, by the expected address.
#[test]
fn spills() {
    let before = function(1, &[]);
    let mut edits = EditList::new(&before);
    let slots = [edits.create_slot(2, 2), edits.create_slot(4, 4)];
    edits.insert_spill(Position { block: Block(0), before: None }, VReg(1), slots[1]);
    edits.push(Edit::InsertDirective { text: ".pragma \"nounroll\";".into() });
    edits.finish();
    let wanted = edits.apply(&before).expect("the edits fit").function;
    let found = |offset, reg, address| {
        let store = vec![Operand::read(reg), Operand::read(address), Operand::immediate(offset)];
        function_with(&[RegClass::B32], 1, &[local_address(VReg(3)), ("ST_i32", store, Effects::WRITE)])
    };
    assert_eq!(compare(&wanted, &found(4, VReg(1), VReg(3))), Ok(()));
    for wrong in [found(0, VReg(1), VReg(3)), found(4, VReg(2), VReg(3)), found(4, VReg(1), VReg(0))] {
        assert!(difference(&wanted, &wrong).contains("expected Spill"));
    }
}

/// A wide store has exactly the registers of its slots, in order.
#[test]
fn wide_spills() {
    let before = function(1, &[]);
    let mut edits = EditList::new(&before);
    let slots = [edits.create_slot(4, 8), edits.create_slot(4, 4)];
    let at = Position { block: Block(0), before: None };
    edits.insert_wide_spill(at, vec![(VReg(1), slots[0]), (VReg(2), slots[1])]);
    edits.finish();
    let wanted = edits.apply(&before).expect("the edits fit").function;
    let found = |registers: &[VReg]| {
        let registers = registers.iter().map(|&reg| Operand::read(reg));
        let store = registers.chain([Operand::read(VReg(3)), Operand::immediate(0)]).collect();
        function_with(&[RegClass::B32], 1, &[local_address(VReg(3)), ("STV_i32_v2", store, Effects::WRITE)])
    };
    assert_eq!(compare(&wanted, &found(&[VReg(1), VReg(2)])), Ok(()));
    for wrong in [&[VReg(1)][..], &[VReg(2), VReg(1)], &[VReg(1), VReg(1)], &[VReg(1), VReg(2), VReg(2)]] {
        assert!(difference(&wanted, &found(wrong)).contains("expected Spill"));
    }
}

/// A predicate is converted directly before its store and directly after its load, without inversion.
#[test]
fn predicates() {
    let before = function_with(&[RegClass::B1; 2], 0, &[]);
    let (end, [stored, loaded]) = (Position { block: Block(0), before: None }, [VReg(3), VReg(4)]);
    let mut edits = EditList::new(&before);
    let slot = edits.create_slot(2, 2);
    edits.insert_spill(end, stored, slot);
    edits.insert_reload(end, loaded, slot);
    edits.finish();
    let wanted = edits.apply(&before).expect("the edits fit").function;
    let found = |source, one, comparison, is_apart: bool| {
        let [address, spilled, reloaded] = [VReg(5), VReg(6), VReg(7)];
        let at = [Operand::read(address), Operand::immediate(0)];
        let number = Operand::immediate;
        let mut lines = vec![
            local_address(address),
            line("SELP_b16ii", [Operand::write(spilled), number(one), number(0), Operand::read(source)]),
            ("ST_i16", [&[Operand::read(spilled)], &at[..]].concat(), Effects::WRITE),
            ("LD_i16", [&[Operand::write(reloaded)], &at[..]].concat(), Effects::READ),
            line("SETP_i16ri", [Operand::write(loaded), Operand::read(reloaded), number(0), number(comparison)]),
        ];
        if is_apart {
            lines.swap(2, 3);
        }
        function_with(&[RegClass::B1, RegClass::B1, RegClass::B32, RegClass::B16, RegClass::B16], 0, &lines)
    };
    assert_eq!(compare(&wanted, &found(stored, 1, 1, false)), Ok(()));
    for wrong in
        [found(loaded, 1, 1, false), found(stored, 0, 1, false), found(stored, 1, 0, false), found(stored, 1, 1, true)]
    {
        assert!(
            difference(&wanted, &wrong).contains("expected Spill")
                || difference(&wanted, &wrong).contains("expected Reload")
        );
    }
}

/// A bit is set and tested in the word that the entry creates, with its own mask, without inversion, and in consecutive
/// instructions.
#[test]
fn bits() {
    let before = function_with(&[RegClass::B1; 2], 0, &[]);
    let (end, [stored, loaded]) = (Position { block: Block(0), before: None }, [VReg(3), VReg(4)]);
    let mut edits = EditList::new(&before);
    let slot = edits.create_bit_slot(BitPlace { word: 0, bit: 31 });
    edits.insert_spill(end, stored, slot);
    edits.insert_reload(end, loaded, slot);
    edits.finish();
    let wanted = edits.apply(&before).expect("the edits fit").function;
    let (mask, others) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let found = |source, masks: [i64; 3], comparison, is_apart: bool| {
        let [word, bit, rest, tested] = [VReg(5), VReg(6), VReg(7), VReg(8)];
        let (number, read, write) = (Operand::immediate, Operand::read, Operand::write);
        let mut lines = vec![
            line("MOV_B32_i", [write(word), number(0)]),
            line("SELP_b32ii", [write(bit), number(masks[0]), number(0), read(source)]),
            line("AND_b32ri", [write(rest), read(word), number(masks[1])]),
            line("OR_b32rr", [write(word), read(rest), read(bit)]),
            line("AND_b32ri", [write(tested), read(word), number(masks[2])]),
            line("SETP_i32ri", [write(loaded), read(tested), number(0), number(comparison)]),
        ];
        if is_apart {
            lines.swap(1, 2);
        }
        function_with(&[[RegClass::B1; 2].as_slice(), &[RegClass::B32; 4]].concat(), 0, &lines)
    };
    assert_eq!(compare(&wanted, &found(stored, [mask, others, mask], 1, false)), Ok(()));
    for wrong in [
        found(loaded, [mask, others, mask], 1, false),
        found(stored, [1, others, mask], 1, false),
        found(stored, [mask, -1, mask], 1, false),
        found(stored, [mask, others, 1], 1, false),
        found(stored, [mask, others, mask], 0, false),
        found(stored, [mask, others, mask], 1, true),
    ] {
        let difference = difference(&wanted, &wrong);
        assert!(difference.contains("expected Spill") || difference.contains("expected Reload"), "{difference}");
    }
}

/// A constant sets or clears its bit without the predicate. A word is cleared once, at the entry.
#[test]
fn bits_of_constants() {
    let constant = |value| line("MOV_B1_i", [Operand::write(VReg(3)), Operand::immediate(value)]);
    let wanted = |value| {
        let before = function_with(&[RegClass::B1; 2], 0, &[constant(value)]);
        let mut edits = EditList::new(&before);
        let slot = edits.create_bit_slot(BitPlace { word: 0, bit: 3 });
        edits.insert_spill(Position { block: Block(0), before: None }, VReg(3), slot);
        edits.finish();
        edits.apply(&before).expect("the edits fit").function
    };
    let found = |value, opcode, mask, is_cleared_again| {
        let word = VReg(5);
        let clear = line("MOV_B32_i", [Operand::write(word), Operand::immediate(0)]);
        let set = line(opcode, [Operand::write(word), Operand::read(word), Operand::immediate(mask)]);
        let mut lines = vec![clear.clone(), constant(value), set];
        lines.extend(Some(clear).filter(|_| is_cleared_again));
        function_with(&[RegClass::B1, RegClass::B1, RegClass::B32], 0, &lines)
    };
    assert_eq!(compare(&wanted(-1), &found(-1, "OR_b32ri", 8, false)), Ok(()));
    assert_eq!(compare(&wanted(0), &found(0, "AND_b32ri", -9, false)), Ok(()));
    assert!(compare(&wanted(-1), &found(-1, "OR_b32ri", 4, false)).is_err());
    assert!(compare(&wanted(-1), &found(-1, "AND_b32ri", -9, false)).is_err());
    assert!(compare(&wanted(0), &found(0, "OR_b32ri", 8, false)).is_err());
    assert!(compare(&wanted(-1), &found(-1, "OR_b32ri", 8, true)).is_err());
}

/// A 128-bit register is split directly before its store, low half first.
#[test]
fn halves() {
    let before = function_with(&[RegClass::B128], 0, &[]);
    let mut edits = EditList::new(&before);
    let slot = edits.create_slot(16, 16);
    edits.insert_spill(Position { block: Block(0), before: None }, VReg(3), slot);
    edits.finish();
    let wanted = edits.apply(&before).expect("the edits fit").function;
    let found = |stored: [u32; 2]| {
        let [address, low, high] = [VReg(4), VReg(5), VReg(6)];
        let store = stored.map(|half| Operand::read(VReg(half))).into_iter();
        let store = store.chain([Operand::read(address), Operand::immediate(0)]).collect();
        let lines = [
            local_address(address),
            line("I128toV2I64", [Operand::write(low), Operand::write(high), Operand::read(VReg(3))]),
            ("STV_i64_v2", store, Effects::WRITE),
        ];
        function_with(&[RegClass::B128, RegClass::B32, RegClass::B64, RegClass::B64], 0, &lines)
    };
    assert_eq!(compare(&wanted, &found([5, 6])), Ok(()));
    assert!(difference(&wanted, &found([6, 5])).contains("expected Spill"));
}
