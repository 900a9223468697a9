//! Live ranges, case by case: their points and their values.

use std::sync::Arc;

use nvptx_ra::analysis::{Cfg, Dominators, LiveIn, LiveRanges, Occurrences, Point, Segment, ValueDef, ValueNumber};
use nvptx_ra::function::{
    Block, Effects, Function, FunctionBuilder, Inst, OpcodeTable, Operand, OperandFlags, RegClass, Role, VReg, Value,
};

const A: VReg = VReg(0);

/// Builds a function with one register. Each block is given by its successors and the operands of its instructions.
fn function(blocks: &[(&[u32], &[&[Operand]])]) -> Function {
    let mut opcodes = OpcodeTable::new();
    let (op, phi) = (opcodes.intern("op", Role::Other), opcodes.intern("PHI", Role::Phi));
    let mut builder = FunctionBuilder::new("f", Arc::new(opcodes));
    builder.reg(RegClass::B32);
    for (succs, insts) in blocks {
        builder.block(&succs.iter().copied().map(Block).collect::<Vec<_>>(), 1.0, 0);
        for operands in *insts {
            let is_phi = operands.iter().any(|operand| matches!(operand.value, Value::Block(_)));
            builder.inst(if is_phi { phi } else { op }, operands, Effects::empty());
        }
    }
    builder.finish()
}

fn ranges(function: &Function) -> LiveRanges {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    LiveRanges::new(function, &cfg, &dominators, &Occurrences::new(function, &|_| true), &[A])
}

fn segment(start: u32, end: u32, value: u32) -> Segment {
    Segment { start: Point(start), end: Point(end), value: ValueNumber(value) }
}

fn flagged(operand: Operand, flags: OperandFlags) -> Operand {
    Operand { flags: operand.flags | flags, ..operand }
}

/// In a two-address instruction, the read value ends where the written value starts.
#[test]
fn tied_operands() {
    let (write, read) = (Operand::write(A), Operand::read(A));
    let ranges = ranges(&function(&[(&[], &[&[write], &[write, read], &[read]])]));
    assert_eq!(ranges.segments(A), [segment(1, 3, 0), segment(3, 5, 1)]);
    assert_eq!(ranges.value_at(A, Point::early(Inst(1))), Some(ValueNumber(0)));
    assert_eq!(ranges.value_def(ValueNumber(1)), ValueDef::Inst { inst: Inst(1), operand: 0 });
}

/// A value that is never read is live only at its write. An early-clobber write is live for the whole instruction.
#[test]
fn dead_definitions() {
    let early = flagged(Operand::write(A), OperandFlags::EARLY_CLOBBER);
    let ranges = ranges(&function(&[(&[], &[&[Operand::write(A)], &[early]])]));
    assert_eq!(ranges.segments(A), [segment(1, 2, 0), segment(2, 4, 1)]);
}

/// An undefined read extends no live range, and a register without occurrences has no segments.
#[test]
fn undefined_read() {
    let undefined = flagged(Operand::read(A), OperandFlags::UNDEF);
    let ranges = ranges(&function(&[(&[], &[&[undefined]])]));
    assert!(ranges.segments(A).is_empty());
    assert_eq!(ranges.num_values(), 0);
}

/// If a loop updates a register, the register has a value of its own at the loop's header and is live in the whole
/// loop.
#[test]
fn updated_in_loop() {
    let (write, read) = (Operand::write(A), Operand::read(A));
    let ranges = ranges(&function(&[(&[1], &[&[write]]), (&[1, 2], &[&[write, read]]), (&[], &[&[read]])]));
    assert_eq!(ranges.segments(A), [segment(1, 2, 0), segment(2, 3, 2), segment(3, 5, 1)]);
    assert_eq!(ranges.value_def(ValueNumber(2)), ValueDef::Phi(Block(1)));
    assert_eq!(ranges.values_of(A), ValueNumber(0)..ValueNumber(3));
    assert_eq!(ranges.live_in_value(A, Block(2)), Some(ValueNumber(1)));
}

/// If a loop only reads a register, the register has the same value in each block of the loop.
#[test]
fn read_in_loop() {
    let ranges = ranges(&function(&[(&[1], &[&[Operand::write(A)]]), (&[1, 2], &[&[Operand::read(A)]]), (&[], &[])]));
    assert_eq!(ranges.segments(A), [segment(1, 4, 0)]);
    assert_eq!(ranges.live_ins(A), [LiveIn { block: Block(1), value: ValueNumber(0) }]);
}

/// If only one of two paths defines a register, the two values meet in a new value. The undefined register also has a
/// value, which is live from the entry.
#[test]
fn undefined_on_one_path() {
    let function = function(&[(&[1, 2], &[]), (&[2], &[&[Operand::write(A)]]), (&[], &[&[Operand::read(A)]])]);
    let ranges = ranges(&function);
    assert_eq!(
        ranges.live_in_value(A, Block(0)).map(|value| ranges.value_def(value)),
        Some(ValueDef::Undefined(Block(0)))
    );
    assert_eq!(ranges.live_in_value(A, Block(2)).map(|value| ranges.value_def(value)), Some(ValueDef::Phi(Block(2))));
    assert!(!ranges.is_live_in(A, Block(1)));
}

/// A PHI writes at the start of its block. It reads at the end of the predecessor, not in its own block.
#[test]
fn phi() {
    let block = Operand::plain(Value::Block(Block(1)));
    let function = function(&[
        (&[1], &[]),
        (&[1, 2], &[&[Operand::write(A), Operand::read(A), block], &[Operand::immediate(0)]]),
        (&[], &[&[Operand::immediate(0)]]),
    ]);
    let ranges = ranges(&function);
    assert_eq!(ranges.segments(A), [segment(0, 4, 0)]);
    assert_eq!(ranges.live_out_value(&function, A, Block(1)), Some(ValueNumber(0)));
    assert!(ranges.live_ins(A).is_empty());
}

/// An empty block has no points, but still has live-in and live-out values.
#[test]
fn empty_block() {
    let function = function(&[(&[1], &[&[Operand::write(A)]]), (&[2], &[]), (&[], &[&[Operand::read(A)]])]);
    let ranges = ranges(&function);
    assert_eq!(ranges.segments(A), [segment(1, 3, 0)]);
    assert_eq!(ranges.live_out_value(&function, A, Block(1)), Some(ValueNumber(0)));
}
