//! Findings of the verifier on correct edits, and on each kind of wrong edit.

use super::{FindingKind, verify};
use crate::check::check;
use crate::function::{
    Block, Edit, EditList, Function, Inst, Position, RegClass, SharedArray, SharedPlace, Slot, VReg,
};

/// `%0` is read after a branch. A second definition of `%0`, and a call, may be inserted before the read.
const TEXT: &str = "mfv 1\nfunction \"k\"\nkernel maxntid 64\nopcode LD_i32\nopcode ST_i32\nopcode ST_i64\nopcode CALL\n\
    opcode SETP_i32rr\nopcode CBranch\nopcode Callseq_Start\nopcode Return\nregs %0 B32 B32 B1 B64\n\
    bb0: frequency 1.0 depth 0 -> bb1 bb2\n  %0 = LD_i32 0 :: read @ 10\n  %1 = LD_i32 1 :: read @ 11\n\
    %2 = SETP_i32rr %1, %1\n  CBranch %2, bb2 :: terminator\n\
    bb1: frequency 0.5 depth 0 -> bb2\n  Callseq_Start 0 :: call_sequence\n  CALL 0 :: call_sequence\n\
    %0 = LD_i32 2 :: read @ 12\n\
    bb2: frequency 1.0 depth 0\n  ST_i32 %0, 1 :: write @ 13\n  ST_i32 %1, 2 :: write\n  Return :: terminator\nend\n";

const CALL: Inst = Inst(5);
const SECOND: Inst = Inst(6);
const STORE: Inst = Inst(7);

fn function() -> Function {
    let function = Function::parse(&TEXT.replace(" @ ", " line ")).unwrap_or_else(|error| panic!("{error}"));
    function.validate().expect("a valid view");
    function
}

fn before(function: &Function, inst: Inst) -> Position {
    Position { block: function.block_of(inst), before: Some(inst) }
}

fn end(block: u32) -> Position {
    Position { block: Block(block), before: None }
}

/// Returns the findings for stores of registers, each with a position and one of two slots, and for a reload before
/// `bb2`'s store from slot number `reload`.
fn judge(stores: &[(VReg, Position, usize)], reload: usize) -> Vec<FindingKind> {
    let function = function();
    let mut edits = EditList::new(&function);
    let slots = [edits.create_slot(4, 4), edits.create_slot(4, 4)];
    let again = edits.create_register(RegClass::B32);
    for &(reg, at, slot) in stores {
        edits.insert_spill(at, reg, slots[slot]);
    }
    edits.insert_reload(before(&function, STORE), again, slots[reload]);
    edits.push(Edit::SetRegister { inst: STORE, operand: 0, reg: again });
    edits.finish();
    let kinds = kinds(&function, &edits);
    let is_proven = check(&function, &edits).is_ok();
    assert_eq!(is_proven, !kinds.iter().any(|kind| kind.is_error()), "both agree: {kinds:?}");
    kinds
}

fn kinds(function: &Function, edits: &EditList) -> Vec<FindingKind> {
    verify(function, edits).iter().map(|finding| finding.kind).collect()
}

/// A store after each definition is correct. A missing store, an old value and another value are found.
#[test]
fn reloads() {
    let function = function();
    let value = VReg(0);
    let first = before(&function, Inst(1));
    let both = [(value, first, 0), (value, end(1), 0)];
    assert_eq!(judge(&both, 0), []);
    assert_eq!(judge(&both, 1), [FindingKind::NoStore, FindingKind::Unread, FindingKind::Unread]);
    assert_eq!(judge(&both[..1], 0), [FindingKind::Old]);
    assert_eq!(judge(&both[1..], 0), [FindingKind::MaybeUnwritten]);
    assert_eq!(judge(&[both[0], (value, before(&function, SECOND), 0)], 0), [FindingKind::Old]);
    assert_eq!(judge(&[both[0], both[1], (VReg(1), end(1), 0)], 0), [FindingKind::Overwritten, FindingKind::Unread]);
    assert_eq!(judge(&[both[0], (value, end(1), 1)], 0), [FindingKind::Old, FindingKind::Unread]);
    let ahead_of_definition = [(value, before(&function, Inst(0)), 0), both[1]];
    assert_eq!(judge(&ahead_of_definition, 0), [FindingKind::Old]);
    let in_the_call = [both[0], both[1], (value, before(&function, CALL), 1)];
    assert_eq!(judge(&in_the_call, 0), [FindingKind::CallSequence, FindingKind::Unread]);
    let ahead_of_the_call = [both[0], both[1], (value, before(&function, Inst(4)), 1)];
    assert_eq!(judge(&ahead_of_the_call, 0), [FindingKind::Unread]);
}

/// If some path reads a register without a definition, a path that never writes the register needs no store, because
/// the register is undefined there. A path that writes the register without a store is found. A path without a write is
/// found in a device function, because the caller may have written the register.
#[test]
fn undefined_paths() {
    let text = |kernel: &str, written: &str| {
        format!(
            "mfv 1\nfunction \"k\"\n{kernel}opcode LD_i32\nopcode ST_i32\nopcode CBranch\nopcode IMPLICIT_DEF undef\nopcode Return\nregs %0 B32 B1\n\
             bb0: frequency 1.0 depth 0 -> bb1 bb2\n  CBranch %1, bb2 :: terminator\n\
             bb1: frequency 0.5 depth 0 -> bb3\n  %0 = LD_i32 1 :: read\n\
             bb2: frequency 0.5 depth 0 -> bb3\n{written}\
             bb3: frequency 1.0 depth 0\n  ST_i32 %0, 4 :: write\n  Return :: terminator\nend\n"
        )
    };
    let found = |kernel: &str, written: &str| {
        let function = Function::parse(&text(kernel, written)).unwrap_or_else(|error| panic!("{error}"));
        let read = function.insts().find(|&inst| function.block_of(inst) == Block(3)).expect("it reads");
        let mut edits = EditList::new(&function);
        let slot = edits.create_slot(4, 4);
        let again = edits.create_register(RegClass::B32);
        edits.insert_spill(end(1), VReg(0), slot);
        edits.insert_reload(before(&function, read), again, slot);
        edits.push(Edit::SetRegister { inst: read, operand: 0, reg: again });
        edits.finish();
        kinds(&function, &edits)
    };
    let kernel = "kernel maxntid 64\n";
    assert_eq!(found(kernel, ""), []);
    assert_eq!(found(kernel, "  %0 = LD_i32 2 :: read\n"), [FindingKind::MaybeUnwritten]);
    assert_eq!(found("", ""), [FindingKind::MaybeUnwritten]);
    assert_eq!(found(kernel, "  %0 = IMPLICIT_DEF\n"), []);
}

/// While a value is undefined, its slot may hold another value. A reload that either value may reach is then correct.
#[test]
fn slots_of_undefined_values() {
    let found = |made_undefined: &str| {
        let text = format!(
            "mfv 1\nfunction \"k\"\nkernel maxntid 64\nopcode LD_i32\nopcode ST_i32\nopcode CBranch\nopcode IMPLICIT_DEF undef\n\
             opcode Return\nregs %0 B32 B1 B32\nbb0: frequency 1.0 depth 0 -> bb1 bb2\n  %0 = LD_i32 0 :: read\n\
             CBranch %1, bb2 :: terminator\n\
             bb1: frequency 0.5 depth 0 -> bb2\n{made_undefined}  %2 = LD_i32 1 :: read\n  ST_i32 %2, 2 :: write\n\
             bb2: frequency 1.0 depth 0\n  ST_i32 %0, 3 :: write\n  Return :: terminator\nend\n"
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let of_block = |block: u32| function.block_insts(Block(block)).collect::<Vec<Inst>>();
        let (branch, read) = (of_block(0)[1], of_block(2)[0]);
        let &[.., own] = &of_block(1)[..] else { panic!("it stores") };
        let mut edits = EditList::new(&function);
        let slot = edits.create_slot(4, 4);
        edits.insert_spill(before(&function, branch), VReg(0), slot);
        edits.insert_spill(before(&function, own), VReg(2), slot);
        for inst in [own, read] {
            let again = edits.create_register(RegClass::B32);
            edits.insert_reload(before(&function, inst), again, slot);
            edits.push(Edit::SetRegister { inst, operand: 0, reg: again });
        }
        edits.finish();
        kinds(&function, &edits)
    };
    assert_eq!(found("  %0 = IMPLICIT_DEF\n"), []);
    assert_eq!(found(""), [FindingKind::Overwritten]);
}

/// An access may be between two call sequences, but not inside one.
#[test]
fn between_call_sequences() {
    let text = "mfv 1\nfunction \"k\"\nopcode LD_i32\nopcode ST_i32\nopcode Callseq_Start\nopcode Callseq_End\n\
        opcode Return\nregs %0 B32\nbb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n\
        Callseq_Start 0 :: call_sequence\n  Callseq_End 0 :: call_sequence\n\
        Callseq_Start 0 :: call_sequence\n  Callseq_End 0 :: call_sequence\n\
        ST_i32 %0, 1 :: write\n  Return :: terminator\nend\n";
    let function = Function::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let stored_ahead_of = |inst: u32| {
        let mut edits = EditList::new(&function);
        let slot = edits.create_slot(4, 4);
        let again = edits.create_register(RegClass::B32);
        edits.insert_spill(before(&function, Inst(inst)), VReg(0), slot);
        edits.insert_reload(before(&function, Inst(5)), again, slot);
        edits.push(Edit::SetRegister { inst: Inst(5), operand: 0, reg: again });
        edits.finish();
        kinds(&function, &edits)
    };
    for (inst, expected) in [(1, None), (2, Some(FindingKind::CallSequence)), (3, None), (5, None)] {
        assert_eq!(stored_ahead_of(inst).first().copied(), expected, "ahead of i{inst}");
    }
}

/// A store on one side of a branch reaches a reload several blocks later. A store after a reload reaches the reload in
/// the next iteration of the loop.
#[test]
fn joins_and_loops() {
    let text = "mfv 1\nfunction \"k\"\nopcode LD_i32\nopcode ST_i32\nopcode CBranch\nopcode Return\nregs %0 B32 B32 B1\n\
        bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n\
        bb1: frequency 1.0 depth 1 -> bb2 bb3\n  CBranch %2, bb3 :: terminator\n\
        bb2: frequency 0.5 depth 1 -> bb4\n  ST_i32 %1, 0 :: write\n\
        bb3: frequency 0.5 depth 1 -> bb4\n  ST_i32 %1, 1 :: write\n\
        bb4: frequency 1.0 depth 1 -> bb5\n  ST_i32 %1, 2 :: write\n\
        bb5: frequency 1.0 depth 1 -> bb1 bb6\n  ST_i32 %0, 3 :: write\n  CBranch %2, bb6 :: terminator\n\
        bb6: frequency 1.0 depth 0\n  Return :: terminator\nend\n";
    let function = Function::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let of = |clobber: Option<u32>| {
        let mut edits = EditList::new(&function);
        let slot = edits.create_slot(4, 4);
        let again = edits.create_register(RegClass::B32);
        edits.insert_spill(end(0), VReg(0), slot);
        let read = Inst(6);
        edits.insert_reload(before(&function, read), again, slot);
        edits.push(Edit::SetRegister { inst: read, operand: 0, reg: again });
        clobber.iter().for_each(|&block| _ = edits.insert_spill(end(block), VReg(1), slot));
        edits.finish();
        kinds(&function, &edits)
    };
    assert_eq!(of(None), []);
    for block in 1..=5 {
        assert_eq!(of(Some(block)).first(), Some(&FindingKind::Overwritten), "at the end of bb{block}");
    }
}

/// Returns the findings of one store and one reload of a slot with a size and an alignment, reloaded as a class.
fn access(size: u64, align: u64, stored: VReg, loaded: RegClass) -> Vec<FindingKind> {
    let function = function();
    let mut edits = EditList::new(&function);
    let slot = edits.create_slot(size, align);
    let again = edits.create_register(loaded);
    edits.insert_spill(end(0), stored, slot);
    edits.insert_reload(end(0), again, slot);
    edits.finish();
    kinds(&function, &edits)
}

/// The size and alignment of a slot match the stored value. A predicate takes two bytes and must be reloaded as a
/// predicate: the number that represents the predicate is not a 16-bit value.
#[test]
fn widths_and_encodings() {
    let (word, predicate) = (VReg(1), VReg(2));
    assert_eq!(access(4, 4, word, RegClass::B32), []);
    assert_eq!(access(2, 2, predicate, RegClass::B1), []);
    assert_eq!(access(8, 8, word, RegClass::B32), [FindingKind::Width; 2]);
    assert_eq!(access(2, 2, word, RegClass::B32), [FindingKind::Width; 2]);
    assert_eq!(access(4, 2, word, RegClass::B32), [FindingKind::Misaligned; 2]);
    assert_eq!(access(4, 4, predicate, RegClass::B1), [FindingKind::Width; 2]);
    assert_eq!(access(2, 2, predicate, RegClass::B16), [FindingKind::Encoding]);
    assert_eq!(access(4, 4, word, RegClass::B64), [FindingKind::Width]);
}

/// Slots of the shared array are inside the array, aligned, and do not overlap for any threads.
#[test]
fn layouts() {
    let function = function();
    let of = |array: Option<u32>, slots: &[(u32, u32)]| {
        let mut edits = EditList::new(&function);
        array.iter().for_each(|&bytes| edits.push(Edit::CreateSharedArray(SharedArray { threads: 64, bytes })));
        slots.iter().for_each(|&(size, offset)| _ = edits.create_shared_slot(size, offset));
        let kinds = kinds(&function, &edits);
        assert_eq!(edits.apply(&function).is_ok(), kinds.is_empty(), "{slots:?}: {kinds:?}");
        kinds
    };
    assert_eq!(of(Some(768), &[(8, 0), (4, 512)]), []);
    assert_eq!(of(None, &[(8, 0)]), [FindingKind::Outside]);
    assert_eq!(of(Some(768), &[(4, 516)]), [FindingKind::Outside]);
    assert_eq!(of(Some(768), &[(8, 4)]), [FindingKind::Misaligned]);
    assert_eq!(of(Some(768), &[(8, 0), (4, 508)]), [FindingKind::Overlap]);
    assert_eq!(of(Some(768), &[(4, 508), (8, 0)]), [FindingKind::Overlap]);
    // The row with the last end is not the nearest row.
    assert_eq!(of(Some(1024), &[(8, 0), (2, 0), (4, 256)]), [FindingKind::Overlap; 2]);
}

/// Slots of one row are inside the row and do not overlap.
#[test]
fn rows() {
    let function = function();
    let of = |slots: &[(u32, u32, u32)]| {
        let mut edits = EditList::new(&function);
        edits.push(Edit::CreateSharedArray(SharedArray { threads: 64, bytes: 1024 }));
        for &(size, offset, row) in slots {
            edits.create_slot_of_row(size, SharedPlace { offset, row });
        }
        kinds(&function, &edits)
    };
    assert_eq!(of(&[(4, 0, 8), (4, 4, 8), (8, 512, 8)]), []);
    assert_eq!(of(&[(4, 0, 8), (4, 0, 8)]), [FindingKind::Overlap]);
    assert_eq!(of(&[(8, 0, 16), (4, 4, 16), (4, 8, 16)]), [FindingKind::Overlap]);
    assert_eq!(of(&[(4, 4, 8), (4, 256, 4)]), [FindingKind::Overlap]);
    assert_eq!(of(&[(8, 8, 12)]), [FindingKind::Outside]);
}

/// One instruction may access several slots only if they are adjacent and aligned to their total size.
#[test]
fn wide_accesses() {
    let function = function();
    let of = |slots: [(u32, u32); 2], order: [usize; 2]| {
        let mut edits = EditList::new(&function);
        edits.push(Edit::CreateSharedArray(SharedArray { threads: 64, bytes: 2048 }));
        let slots = slots.map(|(offset, row)| edits.create_slot_of_row(4, SharedPlace { offset, row }));
        let again = [0, 1].map(|_| edits.create_register(RegClass::B32));
        let parts = |regs: [VReg; 2]| order.map(|number| (regs[number], slots[number])).to_vec();
        edits.insert_wide_spill(end(0), parts([VReg(0), VReg(1)]));
        edits.insert_wide_reload(end(0), parts(again));
        edits.finish();
        kinds(&function, &edits)
    };
    assert_eq!(of([(0, 8), (4, 8)], [0, 1]), []);
    assert_eq!(of([(8, 16), (12, 16)], [0, 1]), []);
    assert_eq!(of([(4, 16), (8, 16)], [0, 1]), [FindingKind::Misaligned; 2], "across the middle of the row");
    assert_eq!(of([(0, 4), (256, 4)], [0, 1]).first(), Some(&FindingKind::Misaligned), "in two rows");
    assert_eq!(of([(0, 8), (4, 8)], [1, 0]).first(), Some(&FindingKind::Misaligned), "the other way round");
}

/// The readers of one reloaded register may not read two different registers before the edits.
#[test]
fn two_values() {
    let function = function();
    let mut edits = EditList::new(&function);
    let slot = edits.create_slot(4, 4);
    let again = edits.create_register(RegClass::B32);
    edits.insert_spill(before(&function, STORE), VReg(0), slot);
    edits.insert_reload(before(&function, STORE), again, slot);
    edits.push(Edit::SetRegister { inst: STORE, operand: 0, reg: again });
    assert_eq!(kinds(&function, &edits), []);
    edits.push(Edit::SetRegister { inst: Inst(8), operand: 0, reg: again });
    assert_eq!(kinds(&function, &edits), [FindingKind::TwoValues]);
}

/// A finding has the kind, the place, the reason and the remedy.
#[test]
fn words() {
    let function = function();
    let mut edits = EditList::new(&function);
    let slot = edits.create_slot(4, 4);
    let again = edits.create_register(RegClass::B32);
    edits.insert_spill(end(1), VReg(0), slot);
    edits.insert_reload(before(&function, STORE), again, slot);
    edits.push(Edit::SetRegister { inst: STORE, operand: 0, reg: again });
    let [finding] = &verify(&function, &edits)[..] else { panic!("one finding") };
    assert_eq!((finding.slot, finding.reg), (Slot(0), Some(again)));
    assert_eq!(
        finding.to_string(),
        "reload of unwritten memory: %4 and slot0, before i7 in bb2 (line 13): a path through bb0 has no store to slot0; \
         move the store to a place on all paths to the reload"
    );
    let names: std::collections::BTreeSet<&str> = FindingKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), FindingKind::ALL.len());
}
