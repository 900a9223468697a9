//! Live ranges, case by case: which points, and which values.

use std::sync::Arc;

use nvptx_ra::analysis::{Cfg, Dominators, LiveIn, LiveRanges, Occurrences, Point, Segment, ValueDef, ValueNumber};
use nvptx_ra::function::{
    Block, Effects, Function, FunctionBuilder, Inst, OpcodeTable, Operand, OperandFlags, RegClass, Role, VReg, Value,
};

const A: VReg = VReg(0);

/// A function with one register; each block is given by its successors and the operands of its instructions.
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

/// In a two-address instruction the read ends where the write starts, with another value.
#[test]
fn tied_operands() {
    let (write, read) = (Operand::write(A), Operand::read(A));
    let ranges = ranges(&function(&[(&[], &[&[write], &[write, read], &[read]])]));
    assert_eq!(ranges.segments(A), [segment(1, 3, 0), segment(3, 5, 1)]);
    assert_eq!(ranges.value_at(A, Point::early(Inst(1))), Some(ValueNumber(0)));
    assert_eq!(ranges.value_def(ValueNumber(1)), ValueDef::Inst { inst: Inst(1), operand: 0 });
}

/// What nobody reads is live where it is written, early writes for the whole instruction.
#[test]
fn dead_definitions() {
    let early = flagged(Operand::write(A), OperandFlags::EARLY_CLOBBER);
    let ranges = ranges(&function(&[(&[], &[&[Operand::write(A)], &[early]])]));
    assert_eq!(ranges.segments(A), [segment(1, 2, 0), segment(2, 4, 1)]);
}

/// An undefined read is none, and a register without occurrences has no segments.
#[test]
fn undefined_read() {
    let undefined = flagged(Operand::read(A), OperandFlags::UNDEF);
    let ranges = ranges(&function(&[(&[], &[&[undefined]])]));
    assert!(ranges.segments(A).is_empty());
    assert_eq!(ranges.num_values(), 0);
}

/// A loop that updates a register gives it a value at its header; around the loop it is live everywhere.
#[test]
fn updated_in_loop() {
    let (write, read) = (Operand::write(A), Operand::read(A));
    let ranges = ranges(&function(&[(&[1], &[&[write]]), (&[1, 2], &[&[write, read]]), (&[], &[&[read]])]));
    assert_eq!(ranges.segments(A), [segment(1, 2, 0), segment(2, 3, 2), segment(3, 5, 1)]);
    assert_eq!(ranges.value_def(ValueNumber(2)), ValueDef::Phi(Block(1)));
    assert_eq!(ranges.values_of(A), ValueNumber(0)..ValueNumber(3));
    assert_eq!(ranges.live_in_value(A, Block(2)), Some(ValueNumber(1)));
}

/// A value that a loop only reads is the same value in every block of it.
#[test]
fn read_in_loop() {
    let ranges = ranges(&function(&[(&[1], &[&[Operand::write(A)]]), (&[1, 2], &[&[Operand::read(A)]]), (&[], &[])]));
    assert_eq!(ranges.segments(A), [segment(1, 4, 0)]);
    assert_eq!(ranges.live_ins(A), [LiveIn { block: Block(1), value: ValueNumber(0) }]);
}

/// Where one path defines the register and the other does not, the values meet: that of the undefined register,
/// live from the entry, is one of them.
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

/// A PHI writes at the start of its block and reads at the end of the predecessor, not in its own block.
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

/// An empty block has no points, and still says what is live into it and out of it.
#[test]
fn empty_block() {
    let function = function(&[(&[1], &[&[Operand::write(A)]]), (&[2], &[]), (&[], &[&[Operand::read(A)]])]);
    let ranges = ranges(&function);
    assert_eq!(ranges.segments(A), [segment(1, 3, 0)]);
    assert_eq!(ranges.live_out_value(&function, A, Block(1)), Some(ValueNumber(0)));
}
