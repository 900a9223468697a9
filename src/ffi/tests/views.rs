//! Reading of views: valid views are read completely, invalid views are rejected.

use std::ptr;

use super::super::abi::{self, nvptx_ra_view};
use super::super::run::nvptx_ra_run;
use super::super::view;
use super::sample::{Answer, Sample};
use crate::function::{Effects, LaunchBounds, MemorySpace, Opcode, RegClass, Symbol, Value};
use crate::index::EntityIndex;

fn refusal_of(view: &nvptx_ra_view) -> String {
    // SAFETY: the view and its memory are alive; only numbers and nulls in it are wrong.
    unsafe { view::read(view) }.expect_err("the view is wrong").to_string()
}

/// Returns the reason for which the view is rejected after `spoil` has changed it.
fn refusal(spoil: impl FnOnce(&mut Sample)) -> String {
    let mut sample = Sample::new();
    spoil(&mut sample);
    refusal_of(&sample.view())
}

/// A valid view becomes the function that it describes, with its effects.
#[test]
fn reads_a_view() {
    let sample = Sample::new();
    // SAFETY: the view and its memory are alive.
    let (function, _) = unsafe { view::read(&sample.view()) }.expect("the view is right");
    assert_eq!(function.validate(), Ok(()));
    assert_eq!(function.name(), "k");
    let insts: Vec<_> = function.insts().collect();
    let regs: Vec<_> = function.regs().collect();
    assert_eq!(function.as_copy(insts[1]), Some((regs[1], regs[0])));
    assert_eq!((function.class(regs[0]), function.reg_name(regs[0])), (RegClass::B32, Some("x")));
    assert_eq!(function.operands(insts[0])[1].value, Value::Immediate(7));
    assert_eq!(function.effects(insts[3]), Effects::READ);
    assert_eq!(function.memory_space(insts[3]), MemorySpace::Local);
    let blocks: Vec<_> = function.blocks().collect();
    assert_eq!(function.succs(blocks[0]), [blocks[1]]);
    assert_eq!((function.frequency(blocks[1]), function.loop_depth(blocks[1])), (8.0, 1));
    assert_eq!(function.line(insts[4]), 12);
    assert_eq!(function.opcode(insts[4]), Opcode::new(4));
    let bounds = LaunchBounds { max_threads: Some(128), max_registers: Some(64), ..LaunchBounds::default() };
    assert_eq!((function.kernel(), function.file()), (Some(&bounds), Some("/k.cu")));
    assert_eq!(function.shared_bytes(Symbol::new(0)), 4096);
}

/// Launch bounds are ignored on a function that is not a kernel.
#[test]
fn only_kernels_are_launched() {
    let sample = Sample::new();
    let view = nvptx_ra_view { flags: 0, ..sample.view() };
    // SAFETY: the view and its memory are alive.
    let (function, _) = unsafe { view::read(&view) }.expect("the view is right");
    assert_eq!(function.kernel(), None);
}

/// Every number of a view that is out of range is an error with its place, never a crash.
#[test]
fn refuses_hostile_numbers() {
    type Spoil = fn(&mut Sample);
    let cases: [(Spoil, &str); 19] = [
        (|s| s.operands[0].id = 2, "instruction 0 of the view: an operand is out of range"),
        (|s| s.operands[4].id = 2, "instruction 2 of the view: an operand is out of range"),
        (|s| s.operands[6].id = u32::MAX, "instruction 3 of the view: an operand is out of range"),
        (|s| s.operands[7].id = 1, "instruction 3 of the view: an operand is out of range"),
        (|s| s.operands[1].kind = 8, "an operand is of an unknown kind"),
        (|s| s.operands[0].flags = 64, "an operand has unknown flags"),
        (|s| s.operands[1].flags = 1, "an operand has flags, but is not a register"),
        (|s| s.operands[0].tied = 2, "an operand is tied to an operand that does not exist"),
        (|s| s.insts[1].opcode = 5, "instruction 1 of the view: its opcode is not in the table"),
        (|s| s.insts[1].flags = 1 << 20, "instruction 1 of the view: it has unknown flags"),
        (|s| s.insts[1].operand_end = 1, "instruction 1 of the view: the end of its operands is out of range"),
        (|s| s.insts[3].operand_end = u32::MAX, "instruction 3 of the view: the end of its operands is out of range"),
        (|s| s.insts[4].operand_end = 7, "instruction 4 of the view: the end of its operands is out of range"),
        (|s| s.blocks[0].inst_end = 6, "block 0 of the view: the end of its instructions is out of range"),
        (|s| s.blocks[1].succ_end = 0, "block 1 of the view: the end of its successors is out of range"),
        (|s| s.blocks[1].frequency = f64::NAN, "block 1 of the view: its frequency"),
        (|s| s.succs[0] = 2, "successor 0 of the view: there is no such block"),
        (|s| s.regs[1].reg_class = 5, "register 1 of the view: its class is unknown"),
        (|s| s.slots[0].align = 0, "slot 0 of the view: its alignment is not a power of two"),
    ];
    for (spoil, reason) in cases {
        let text = refusal(spoil);
        assert!(text.starts_with("nvptx-ra: kernel 'k': ") && text.contains(reason), "{text}\nexpected: {reason}");
    }
}

/// Array entries after the last block or instruction are an error.
#[test]
fn refuses_leftovers() {
    let text = refusal(|sample| sample.blocks.truncate(1));
    assert!(text.contains("do not belong to a block"), "{text}");
    let text = refusal(|sample| sample.operands.push(sample.operands[0]));
    assert!(text.contains("do not belong to an instruction"), "{text}");
}

/// Nulls, another version and a refusal by the shim are errors with a message.
#[test]
fn refuses_wrong_structs() {
    let sample = Sample::new();
    let spoiled = |spoil: fn(&mut nvptx_ra_view)| {
        let mut view = sample.view();
        spoil(&mut view);
        refusal_of(&view)
    };
    assert!(spoiled(|view| view.version = 2).contains("are from different versions"));
    assert!(spoiled(|view| view.size -= 16).contains("are from different versions"));
    assert!(spoiled(|view| view.opcodes = ptr::null()).contains("no opcode table"));
    assert!(spoiled(|view| view.operands = ptr::null()).contains("operands: null, but 8 entries"));
    assert!(spoiled(|view| view.flags = 2).contains("unknown flags"));
    assert!(spoiled(|view| view.num_insts = 1 << 40).contains("too many"));
    assert!(spoiled(|view| view.refusal = abi::borrow("bundles")).contains("kernel 'k': bundles"));
    // SAFETY: null is allowed.
    assert!(unsafe { view::read(ptr::null()) }.is_err());
    // SAFETY: null is allowed.
    let answer = Answer(unsafe { nvptx_ra_run(ptr::null()) });
    assert_eq!(answer.raw().status, abi::NVPTX_RA_STATUS_ERROR);
}

/// An empty view, with null pointers only, is a function without blocks.
#[test]
fn empty_view() {
    let sample = Sample::new();
    let view = nvptx_ra_view {
        version: abi::NVPTX_RA_ABI_VERSION,
        size: size_of::<nvptx_ra_view>() as u32,
        opcodes: sample.opcodes,
        ..nvptx_ra_view::default()
    };
    // SAFETY: all pointers except the table's are null.
    let (function, _) = unsafe { view::read(&view) }.expect("an empty view is right");
    assert_eq!((function.num_blocks(), function.name()), (0, ""));
    assert_eq!((function.kernel(), function.file()), (None, None));
}
