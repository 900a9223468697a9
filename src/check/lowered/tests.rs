use super::check;
use crate::function::{
    AccessRegisters, Block, Edit, EditList, Function, Insertion, Inst, LoweredEdit, MachineOp, MemoryAccess,
    MemorySpace, Operand, Position, RegClass, VReg, Value,
};
use crate::spill::lower::lower;

const FUNCTION: &str = "mfv 1
function \"k\"
kernel maxntid 256
opcode COPY copy
opcode LOAD
opcode MOV_B1_i constant
opcode SETP
opcode STORE
opcode BRANCH
regs %0 B32 B64 B1 B1 B1 B16 B128 B32
bb0: frequency 1.0 depth 0 -> bb1
  %0 = LOAD 0 :: read global
  %1 = LOAD 1 :: read global
  %2 = SETP %0, 7
  %3 = MOV_B1_i -1
  %4 = MOV_B1_i 0
  %5 = LOAD 2 :: read global
  %6 = LOAD 3 :: read global
  %7 = COPY %0
bb1: frequency 1.0 depth 0
  STORE %0, %1, %2, %3 :: write global
  STORE %4, %5, %6, %7 :: write global
end
";

/// Slots of each kind, each stored and loaded, with instructions that are reordered, moved and cloned.
const EDITS: &str = "function \"k\"
create-register %8 B32
create-register %9 B64
create-register %10 B1
create-register %11 B1
create-register %12 B1
create-register %13 B16
create-register %14 B128
create-register %15 B32
create-register %16 B32
create-register %17 B32
create-slot slot0 size 4 align 4
create-slot slot1 size 8 align 8
create-slot slot2 size 2 align 2
create-slot slot3 size 16 align 16
create-slot slot4 size 4 align 8
create-slot slot5 size 4 align 4
create-shared-array threads 256 bytes 12288
create-shared-slot slot6 size 4 offset 0 row 8
create-shared-slot slot7 size 4 offset 4 row 8
create-shared-slot slot8 size 2 offset 2048
create-shared-slot slot9 size 16 offset 4096
create-shared-slot slot10 size 4 offset 10240
create-bit-slot slot11 word 0 bit 3
create-bit-slot slot12 word 0 bit 31
create-bit-slot slot13 word 1 bit 0
insert-copy i10 in bb0 before i2 %16 %0
insert-spill i11 in bb0 before i2 %0 slot0
insert-spill i12 in bb0 before i2 %1 slot1
insert-spill i13 in bb0 before i3 %2 slot2
insert-spill i14 in bb0 before i3 %2 slot11
insert-spill i15 in bb0 before i4 %3 slot12
insert-spill i16 in bb0 before i5 %4 slot13
insert-spill i17 in bb0 before i6 %5 slot8
insert-spill i18 in bb0 before i7 %6 slot3
insert-spill i19 in bb0 before i7 %6 slot9
insert-wide-spill i20 in bb0 %7 slot6 %0 slot7
insert-wide-spill i21 in bb0 %7 slot4 %0 slot5
insert-spill i22 in bb0 %0 slot10
insert-reload i23 in bb1 before i8 %8 slot0
insert-reload i24 in bb1 before i8 %9 slot1
insert-reload i25 in bb1 before i8 %10 slot2
insert-reload i26 in bb1 before i8 %11 slot11
insert-reload i27 in bb1 before i9 %12 slot12
insert-reload i28 in bb1 before i9 %12 slot13
insert-reload i29 in bb1 before i9 %13 slot8
insert-reload i30 in bb1 before i9 %14 slot3
insert-reload i31 in bb1 before i9 %14 slot9
insert-wide-reload i32 in bb1 before i9 %15 slot6 %8 slot7
insert-wide-reload i33 in bb1 before i9 %15 slot4 %8 slot5
insert-reload i34 in bb1 before i9 %15 slot10
insert-clone i35 in bb1 before i9 %17 i7
permute bb1 i23 i24 i25 i26 i35 i8 i27 i28 i29 i30 i31 i32 i33 i34 i9
set-register i35 operand 1 %16
set-register i8 operand 0 %8
set-register i8 operand 2 %11
delete i9
end
";

fn function() -> Function {
    Function::parse(FUNCTION).expect("a function")
}

fn parsed(function: &Function, edits: &str) -> EditList {
    EditList::parse(edits, function).expect("edits").expect("of the function")
}

fn lowered(function: &Function, edits: &EditList) -> Vec<LoweredEdit> {
    lower(function, edits, None).expect("the edits fit").expect("they make slots")
}

#[test]
fn what_is_lowered_passes() {
    let function = function();
    let edits = parsed(&function, EDITS);
    assert_eq!(check(&function, &edits, &lowered(&function, &edits)), Ok(()));
    // An entry whose instructions are reordered, and an entry whose first instruction moves.
    for more in [
        "permute bb0 i1 i0 i10 i11 i12 i2 i13 i14 i3 i15 i4 i16 i5 i17 i6 i18 i19 i7 i20 i21 i22\nset-register i35",
        "move i0 in bb0 before i2\nset-register i35",
    ] {
        let (ahead, rest) = EDITS.split_once("set-register i35").expect("it is there");
        let ahead = if more.starts_with("move") { ahead.split_once("permute").expect("one").0 } else { ahead };
        let edits = parsed(&function, &format!("{ahead}{more}{rest}"));
        assert_eq!(check(&function, &edits, &lowered(&function, &edits)), Ok(()), "{more}");
    }
}

/// Returns numbers that differ from a number.
fn other_numbers(number: i64) -> [i64; 6] {
    [number + 1, number - 1, -number - 1, number + 16, !number, i64::from(number == 0) * 8]
}

/// Returns instructions that differ from an instruction.
fn other_insertions(function: &Function, of: &Insertion, num_regs: u32) -> Vec<Insertion> {
    let mut others = Vec::new();
    let mut push = |other: Insertion| others.push(other);
    for (number, operand) in of.operands.iter().enumerate() {
        let mut set = |new: Operand| {
            let mut operands = of.operands.clone();
            operands[number] = new;
            push(Insertion { operands, ..of.clone() });
        };
        match operand.value {
            Value::Reg(_) => {
                (0..num_regs).for_each(|reg| set(Operand { value: Value::Reg(VReg(reg)), ..*operand }));
                set(if operand.is_def() { Operand::read(VReg(0)) } else { Operand::write(VReg(0)) });
            }
            Value::Immediate(value) => {
                other_numbers(value).into_iter().for_each(|value| set(Operand::immediate(value)))
            }
            _ => {}
        }
    }
    let moved = |registers, class| AccessRegisters { class, registers };
    for moved in [moved(1, RegClass::B16), moved(1, RegClass::B32), moved(1, RegClass::B64), moved(2, RegClass::B32)] {
        push(Insertion { op: MachineOp::Load(moved), ..of.clone() });
        push(Insertion { op: MachineOp::Store(moved), ..of.clone() });
    }
    for op in [MachineOp::Set, MachineOp::And, MachineOp::Or, MachineOp::Test, MachineOp::Clear, MachineOp::Whole] {
        push(Insertion { op, ..of.clone() });
    }
    push(Insertion { operands: of.operands[1..].to_vec(), ..of.clone() });
    push(Insertion { inst: Inst(of.inst.0 + 1), ..of.clone() });
    for block in function.blocks() {
        for before in function.block_insts(block).map(Some).chain([None]) {
            push(Insertion { at: Position { block, before }, ..of.clone() });
        }
    }
    if let Some(memory) = of.memory {
        let mut set = |memory| push(Insertion { memory, ..of.clone() });
        set(None);
        set(Some(MemoryAccess { space: MemorySpace::Generic, ..memory }));
        set(Some(MemoryAccess { bytes: memory.bytes * 2, ..memory }));
        set(Some(MemoryAccess { align: memory.align / 2, ..memory }));
        set(Some(MemoryAccess { is_store: !memory.is_store, ..memory }));
        set(Some(MemoryAccess { is_volatile: !memory.is_volatile, ..memory }));
    }
    others
}

/// Every list that differs from the lowered list in one place is refused: another register, number, position or memory
/// in an instruction; a missing, repeated or misplaced edit; other code at the entry.
#[test]
fn every_mutant_is_refused() {
    let function = function();
    let edits = parsed(&function, EDITS);
    let right = lowered(&function, &edits);
    let created = right.iter().filter(|edit| matches!(edit, LoweredEdit::Kept(Edit::CreateRegister { .. }))).count();
    let num_regs = (function.num_regs() + created) as u32;
    let mut count = 0;
    let mut refuse = |mutant: &[LoweredEdit], what: &str| {
        if mutant != right {
            count += 1;
            let differs = mutant.iter().zip(&right).find(|(mutant, right)| mutant != right);
            assert!(check(&function, &edits, mutant).is_err(), "{what}: {differs:?}");
        }
    };
    for (number, edit) in right.iter().enumerate() {
        let with = |other: LoweredEdit| {
            let mut mutant = right.clone();
            mutant[number] = other;
            mutant
        };
        let mut mutant = right.clone();
        mutant.remove(number);
        refuse(&mutant, "an edit is missing");
        let mut mutant = right.clone();
        mutant.insert(number, edit.clone());
        refuse(&mutant, "an edit is there twice");
        let mut mutant = right.clone();
        mutant.swap(number, (number + 1) % right.len());
        refuse(&mutant, "two edits change places");
        match edit {
            LoweredEdit::Insert(insertion) => {
                for other in other_insertions(&function, insertion, num_regs) {
                    refuse(&with(LoweredEdit::Insert(other)), "another instruction");
                }
            }
            LoweredEdit::InsertAssembly { inst, at, text, results } => {
                let with = |inst: Inst, at: Position, text: &str, results: &[VReg]| {
                    let (text, results) = (text.to_owned(), results.to_vec());
                    with(LoweredEdit::InsertAssembly { inst, at, text, results })
                };
                refuse(&with(Inst(inst.0 + 1), *at, text, results), "another number");
                let other = Position { block: Block(0), before: Some(Inst(1)) };
                refuse(&with(*inst, other, text, results), "another place");
                for number in 1..results.len() {
                    let mut results = results.clone();
                    results.swap(0, number);
                    refuse(&with(*inst, *at, text, &results), "other results");
                }
                let texts = [
                    ("[12288]", "[8192]"),
                    ("align 1024", "align 8"),
                    ("align 16 .b8 nvptx_ra_local", "align 8 .b8 nvptx_ra_local"),
                    (", 8, ", ", 16, "),
                    ("$0, %nvptx_ra0, 2,", "$0, %nvptx_ra0, 4,"),
                    ("$1", "$0"),
                ];
                for (old, new) in texts {
                    assert!(text.contains(old), "{old} in {text}");
                    refuse(&with(*inst, *at, &text.replacen(old, new, 1), results), "another text");
                }
            }
            LoweredEdit::Kept(Edit::Permute { block, order }) => {
                for number in 1..order.len() {
                    let mut order = order.clone();
                    order.swap(number - 1, number);
                    refuse(&with(LoweredEdit::Kept(Edit::Permute { block: *block, order })), "another order");
                }
            }
            LoweredEdit::Kept(Edit::SetRegister { inst, operand, reg }) => {
                let other = Edit::SetRegister { inst: Inst(inst.0 + 1), operand: *operand, reg: *reg };
                refuse(&with(LoweredEdit::Kept(other)), "another instruction is set");
            }
            LoweredEdit::Kept(_) => {}
        }
    }
    assert!(count > 5_000, "{count} mutants");
}

/// A store of a constant predicate must set the constant's value, and the two halves of a 128-bit value must keep their
/// order. The previous test changes one instruction at a time, and these mutants change whole sequences.
#[test]
fn wrong_sequences_are_refused() {
    let function = function();
    let edits = parsed(&function, EDITS);
    let right = lowered(&function, &edits);
    let place = |op: MachineOp| {
        let is_op = |edit: &LoweredEdit| matches!(edit, LoweredEdit::Insert(insertion) if insertion.op == op);
        right.iter().position(is_op).unwrap_or_else(|| panic!("{op:?} is in the list"))
    };
    // The stored bits of a constant true predicate and of a constant false predicate.
    let set = place(MachineOp::Set);
    let mut mutant = right.clone();
    if let LoweredEdit::Insert(insertion) = &mut mutant[set] {
        insertion.op = MachineOp::And;
        insertion.operands[2] = Operand::immediate(i64::from(i32::MAX));
    }
    assert!(check(&function, &edits, &mutant).is_err_and(|error| error.contains("expected Set")));
    // The halves of the store are swapped.
    let halves = place(MachineOp::Halves);
    let mut mutant = right.clone();
    if let LoweredEdit::Insert(insertion) = &mut mutant[halves] {
        insertion.operands.swap(0, 1);
    }
    assert!(check(&function, &edits, &mutant).is_err_and(|error| error.contains("expected Halves")));
    // All 16-byte accesses to local memory get the same wrong offset: as store and load agree, the error shows only as
    // an overlap with another slot.
    let mut mutant = right.clone();
    for edit in &mut mutant {
        if let LoweredEdit::Insert(insertion) = edit
            && let Some(memory) = insertion.memory
            && (memory.space, memory.bytes) == (MemorySpace::Local, 16)
            && let Some(offset) = insertion.operands.last_mut()
        {
            *offset = Operand::immediate(0);
        }
    }
    let error = check(&function, &edits, &mutant).expect_err("slots overlap");
    assert!(error.contains("slots that overlap"), "{error}");
}
