//! The entries as the shim calls them: with views built by hand, right and wrong.

use std::ffi::c_void;
use std::path::PathBuf;
use std::ptr;

use super::abi::{
    self, nvptx_ra_block, nvptx_ra_inst, nvptx_ra_opcode_desc, nvptx_ra_opcodes, nvptx_ra_operand, nvptx_ra_reg,
    nvptx_ra_request, nvptx_ra_response, nvptx_ra_slot, nvptx_ra_symbol, nvptx_ra_view,
};
use super::compare::compare;
use super::opcodes::{nvptx_ra_opcodes_create, nvptx_ra_opcodes_free};
use super::options::{nvptx_ra_check_options, nvptx_ra_option_at, nvptx_ra_option_count, nvptx_ra_version};
use super::response::nvptx_ra_response_free;
use super::run::{nvptx_ra_report_failure, nvptx_ra_report_time, nvptx_ra_run};
use super::verify::nvptx_ra_verify_applied;
use super::view;
use crate::bundle;
use crate::config::{COPY_COALESCER, option_count};
use crate::function::{Effects, Function, LaunchBounds, MemorySpace, Opcode, RegClass, Symbol, Value};
use crate::index::EntityIndex;
use crate::passes::PRINT_VIEW;

static OPCODES: [(&str, u32); 5] = [
    ("COPY", 0),
    ("MOV_B32_i", 0),
    ("LD_i32", abi::NVPTX_RA_DESC_LOAD),
    ("GOTO", abi::NVPTX_RA_DESC_TERMINATOR),
    ("Return", abi::NVPTX_RA_DESC_TERMINATOR),
];

/// Describes the opcodes, as the shim does for a target.
extern "C" fn describe(_target: *const c_void, opcode: u32) -> nvptx_ra_opcode_desc {
    let (name, flags) = OPCODES[opcode as usize];
    nvptx_ra_opcode_desc { name: abi::borrow(name), flags, num_defs: 1 }
}

/// A raw view with the memory that it points to:
///
/// ```text
/// bb0: %0 = MOV_B32_i 7; %1 = COPY %0; GOTO bb1     bb1: %0 = LD_i32 slot, symbol; Return
/// ```
pub(super) struct Sample {
    opcodes: *const nvptx_ra_opcodes,
    blocks: Vec<nvptx_ra_block>,
    succs: Vec<u32>,
    insts: Vec<nvptx_ra_inst>,
    operands: Vec<nvptx_ra_operand>,
    regs: Vec<nvptx_ra_reg>,
    slots: Vec<nvptx_ra_slot>,
    symbols: Vec<nvptx_ra_symbol>,
}

impl Sample {
    pub(super) fn new() -> Self {
        // SAFETY: the descriptors and their names are static.
        let opcodes = unsafe { nvptx_ra_opcodes_create(ptr::null(), Some(describe), OPCODES.len() as u64) };
        let operand = |kind: u32, flags: u32, id, value| nvptx_ra_operand {
            kind: kind as u8,
            flags: flags as u8,
            tied: abi::NVPTX_RA_NOT_TIED as u16,
            id,
            value,
        };
        let inst = |opcode, flags, operand_end, address_space| nvptx_ra_inst {
            opcode,
            flags,
            line: 12,
            operand_end,
            address_space,
            reserved: 0,
        };
        let block = |inst_end, succ_end, loop_depth, frequency| nvptx_ra_block {
            inst_end,
            succ_end,
            loop_depth,
            reserved: 0,
            frequency,
        };
        let reg = |name: &'static str| nvptx_ra_reg { name: abi::borrow(name), reg_class: 2, reserved: 0 };
        Self {
            opcodes,
            blocks: vec![block(3, 1, 0, 1.0), block(5, 1, 1, 8.0)],
            succs: vec![1],
            insts: vec![
                inst(1, 0, 2, 0),
                inst(0, 0, 4, 0),
                inst(3, 0, 5, 0),
                inst(2, abi::NVPTX_RA_INST_LOAD, 8, 5),
                inst(4, 0, 8, 0),
            ],
            operands: vec![
                operand(abi::NVPTX_RA_OPERAND_REG, abi::NVPTX_RA_FLAG_DEF, 0, 0),
                operand(abi::NVPTX_RA_OPERAND_IMMEDIATE, 0, 0, 7),
                operand(abi::NVPTX_RA_OPERAND_REG, abi::NVPTX_RA_FLAG_DEF, 1, 0),
                operand(abi::NVPTX_RA_OPERAND_REG, abi::NVPTX_RA_FLAG_KILL, 0, 0),
                operand(abi::NVPTX_RA_OPERAND_BLOCK, 0, 1, 0),
                operand(abi::NVPTX_RA_OPERAND_REG, abi::NVPTX_RA_FLAG_DEF, 0, 0),
                operand(abi::NVPTX_RA_OPERAND_SLOT, 0, 0, 0),
                operand(abi::NVPTX_RA_OPERAND_SYMBOL, 0, 0, 0),
            ],
            regs: vec![reg("x"), reg("")],
            slots: vec![nvptx_ra_slot { size: 4, align: 4 }],
            symbols: vec![nvptx_ra_symbol { text: abi::borrow("@g"), shared_bytes: 4096 }],
        }
    }

    pub(super) fn view(&self) -> nvptx_ra_view {
        nvptx_ra_view {
            version: abi::NVPTX_RA_ABI_VERSION,
            size: size_of::<nvptx_ra_view>() as u32,
            opcodes: self.opcodes,
            name: abi::borrow("k"),
            blocks: self.blocks.as_ptr(),
            num_blocks: self.blocks.len() as u64,
            succs: self.succs.as_ptr(),
            num_succs: self.succs.len() as u64,
            insts: self.insts.as_ptr(),
            num_insts: self.insts.len() as u64,
            operands: self.operands.as_ptr(),
            num_operands: self.operands.len() as u64,
            regs: self.regs.as_ptr(),
            num_regs: self.regs.len() as u64,
            slots: self.slots.as_ptr(),
            num_slots: self.slots.len() as u64,
            symbols: self.symbols.as_ptr(),
            num_symbols: self.symbols.len() as u64,
            file: abi::borrow("/k.cu"),
            maxntid: abi::borrow("32,4"),
            reqntid: abi::borrow(""),
            minctasm: abi::borrow("two"),
            maxnreg: abi::borrow("64"),
            flags: abi::NVPTX_RA_VIEW_KERNEL,
            reserved: 0,
            refusal: abi::borrow(""),
        }
    }

    /// Why the view is refused after `spoil` has changed it.
    fn refusal(mut self, spoil: impl FnOnce(&mut Self)) -> String {
        spoil(&mut self);
        refusal_of(&self.view())
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed here alone.
        unsafe { nvptx_ra_opcodes_free(self.opcodes) }
    }
}

fn refusal_of(view: &nvptx_ra_view) -> String {
    // SAFETY: the view and its memory are alive; only numbers and nulls in it are wrong.
    unsafe { view::read(view) }.expect_err("the view is wrong").to_string()
}

/// A response that frees itself.
pub(super) struct Answer(pub(super) *const nvptx_ra_response);

impl Answer {
    pub(super) fn raw(&self) -> &nvptx_ra_response {
        // SAFETY: entries that return an `Answer` here return a live response.
        unsafe { &*self.0 }
    }

    pub(super) fn message(&self) -> String {
        // SAFETY: the response is alive.
        unsafe { abi::text(self.raw().message) }.into_owned()
    }

    pub(super) fn output(&self) -> String {
        // SAFETY: the response is alive.
        unsafe { abi::text(self.raw().output) }.into_owned()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: returned by an entry, freed here alone.
        unsafe { nvptx_ra_response_free(self.0) }
    }
}

pub(super) fn request(view: *const nvptx_ra_view, pass: &str, parameters: &str) -> nvptx_ra_request {
    nvptx_ra_request {
        version: abi::NVPTX_RA_ABI_VERSION,
        size: size_of::<nvptx_ra_request>() as u32,
        pass: abi::borrow(pass),
        parameters: abi::borrow(parameters),
        command_line: abi::borrow(""),
        attribute: abi::borrow(""),
        target: abi::borrow("sm_90"),
        view,
        flags: 0,
        reserved: 0,
    }
}

fn run(pass: &str, parameters: &str) -> Answer {
    let sample = Sample::new();
    // SAFETY: the request, the view and their memory are alive.
    Answer(unsafe { nvptx_ra_run(&request(&sample.view(), pass, parameters)) })
}

/// A test's own folder for bundles. Nothing is in it, and it need not be there yet.
fn folder(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("nvptx-ra-ffi-{test}-{}", std::process::id()))
}

/// A right view becomes the function that it describes, its effects included.
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

/// Bounds on a function that is no kernel say nothing.
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
        (|s| s.operands[1].flags = 1, "an operand has flags, but is no register"),
        (|s| s.operands[0].tied = 2, "an operand is tied to one that does not exist"),
        (|s| s.insts[1].opcode = 5, "instruction 1 of the view: its opcode is not in the table"),
        (|s| s.insts[1].flags = 1 << 20, "instruction 1 of the view: it has unknown flags"),
        (|s| s.insts[1].operand_end = 1, "instruction 1 of the view: its operands end wrong"),
        (|s| s.insts[3].operand_end = u32::MAX, "instruction 3 of the view: its operands end wrong"),
        (|s| s.insts[4].operand_end = 7, "instruction 4 of the view: its operands end wrong"),
        (|s| s.blocks[0].inst_end = 6, "block 0 of the view: its instructions end wrong"),
        (|s| s.blocks[1].succ_end = 0, "block 1 of the view: its successors end wrong"),
        (|s| s.blocks[1].frequency = f64::NAN, "block 1 of the view: its frequency"),
        (|s| s.succs[0] = 2, "successor 0 of the view: there is no such block"),
        (|s| s.regs[1].reg_class = 5, "register 1 of the view: its class is unknown"),
        (|s| s.slots[0].align = 0, "slot 0 of the view: its alignment is no power of two"),
    ];
    for (spoil, reason) in cases {
        let text = Sample::new().refusal(spoil);
        assert!(text.starts_with("nvptx-ra: kernel 'k': ") && text.contains(reason), "{text}\nexpected: {reason}");
    }
}

/// What the arrays hold beyond the last block or instruction is an error.
#[test]
fn refuses_leftovers() {
    let text = Sample::new().refusal(|sample| sample.blocks.truncate(1));
    assert!(text.contains("belong to no block"), "{text}");
    let text = Sample::new().refusal(|sample| sample.operands.push(sample.operands[0]));
    assert!(text.contains("belong to no instruction"), "{text}");
}

/// Nulls, another version and a refusal of the shim are errors in words.
#[test]
fn refuses_wrong_structs() {
    let sample = Sample::new();
    let spoiled = |spoil: fn(&mut nvptx_ra_view)| {
        let mut view = sample.view();
        spoil(&mut view);
        refusal_of(&view)
    };
    assert!(spoiled(|view| view.version = 2).contains("do not belong together"));
    assert!(spoiled(|view| view.size -= 16).contains("do not belong together"));
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

/// A view without anything in it, nulls everywhere, is a function without blocks.
#[test]
fn empty_view() {
    let sample = Sample::new();
    let view = nvptx_ra_view {
        version: abi::NVPTX_RA_ABI_VERSION,
        size: size_of::<nvptx_ra_view>() as u32,
        opcodes: sample.opcodes,
        ..nvptx_ra_view::default()
    };
    // SAFETY: all pointers are null but the table's.
    let (function, _) = unsafe { view::read(&view) }.expect("an empty view is right");
    assert_eq!((function.num_blocks(), function.name()), (0, ""));
    assert_eq!((function.kernel(), function.file()), (None, None));
}

/// A printing pass answers with the text, and without edits.
#[test]
fn prints() {
    let answer = run(PRINT_VIEW, "");
    assert_eq!(answer.raw().status, abi::NVPTX_RA_STATUS_UNCHANGED);
    assert!(answer.output().contains("MOV_B32_i"), "{}", answer.output());
}

/// An error and a panic in a pass become responses that name the kernel; strictness goes with them.
#[test]
fn errors_and_panics_are_answers() {
    let bundles = folder("panic");
    let panic = format!("inject=panic;strict;bundle={}", bundles.display());
    for (parameters, strict, part) in [
        ("inject=error", 0, "an error was asked for"),
        (&panic, 1, "internal error at src/passes/"),
        ("no-such-option;strict", 1, "no-such-option"),
    ] {
        let answer = run(COPY_COALESCER, parameters);
        assert_eq!((answer.raw().status, answer.raw().strict), (abi::NVPTX_RA_STATUS_ERROR, strict));
        let message = answer.message();
        assert!(message.starts_with("nvptx-ra: kernel 'k': ") && message.contains(part), "{message}");
        assert_eq!(answer.raw().num_edits, 0);
    }
    // The panic, and nothing else, has left a bundle with all that a replay needs.
    let bundle = bundle::read(&bundles.join("nvptx-ra-k-0")).expect("the bundle is whole");
    assert_eq!((bundle.report.pass.as_str(), bundle.function.name()), (COPY_COALESCER, "k"));
    assert_eq!(bundle.report.options.parameters, panic);
    assert!(bundle.report.backtrace.contains("passes::"), "{}", bundle.report.backtrace);
    assert_eq!(std::fs::read_dir(&bundles).map(Iterator::count).ok(), Some(1));
    std::fs::remove_dir_all(&bundles).expect("the folder is ours");
}

/// An unknown pass and unknown flags of a request are errors.
#[test]
fn refuses_wrong_requests() {
    assert!(run("nothing", "").message().contains("there is no pass 'nothing'"));
    let sample = Sample::new();
    let view = sample.view();
    let request = nvptx_ra_request { flags: 1 << 9, ..request(&view, PRINT_VIEW, "") };
    // SAFETY: the request, the view and their memory are alive.
    let answer = Answer(unsafe { nvptx_ra_run(&request) });
    assert!(answer.message().contains("unknown flags"), "{}", answer.message());
}

/// A response that did not ask to be verified cannot be, which is an error and no crash.
#[test]
fn verification_must_be_asked_for() {
    let sample = Sample::new();
    let view = sample.view();
    let answer = run(COPY_COALESCER, "");
    // SAFETY: the response and the view are alive.
    let difference = Answer(unsafe { nvptx_ra_verify_applied(answer.0, &view) });
    assert!(difference.message().contains("did not ask"), "{}", difference.message());
}

/// A bound of a launch that the edits do not ask for is a difference.
#[test]
fn another_launch_is_a_difference() {
    let function = |bounds| Function::parse(&format!("mfv 1\nfunction \"k\"\nkernel {bounds}\nend\n")).expect("a view");
    assert!(compare(&function("maxnreg 40"), &function("maxnreg 40")).is_ok());
    let difference = compare(&function("maxnreg 40"), &function("")).expect_err("the bound is lost").to_string();
    assert!(difference.contains("Some(40)"), "{difference}");
}

/// Edits that were not applied are an error, which leaves a bundle with the function that they are for.
#[test]
fn difference_leaves_a_bundle() {
    let bundles = folder("difference");
    let sample = Sample::new();
    let view = sample.view();
    let answer = run(COPY_COALESCER, &format!("verify;bundle={}", bundles.display()));
    assert_eq!(answer.raw().status, abi::NVPTX_RA_STATUS_EDITS, "{}", answer.message());
    // SAFETY: the response and the view are alive.
    let difference = Answer(unsafe { nvptx_ra_verify_applied(answer.0, &view) });
    let message = difference.message();
    let path = bundles.join("nvptx-ra-k-0");
    assert!(message.contains("not applied as they are meant"), "{message}");
    assert!(message.ends_with(&format!("please report {}", path.display())), "{message}");
    let bundle = bundle::read(&path).expect("the bundle is whole");
    // SAFETY: the view and its memory are alive.
    let (function, _) = unsafe { view::read(&view) }.expect("the view is right");
    assert_eq!(bundle.function.to_string(), function.to_string());
    assert!(message.starts_with(bundle.report.message.split(';').next().unwrap_or_default()), "{message}");
    std::fs::remove_dir_all(&bundles).expect("the folder is ours");
}

/// Runs, their failures and the shim's times reach the statistics file.
#[test]
fn statistics() {
    let path = std::env::temp_dir().join(format!("nvptx-ra-ffi-{}.jsonl", std::process::id()));
    let parameters = format!("stats={}", path.display());
    let sample = Sample::new();
    let view = sample.view();
    let request = request(&view, COPY_COALESCER, &parameters);
    // SAFETY: the request, the view and their memory are alive.
    unsafe {
        drop(Answer(nvptx_ra_run(&request)));
        nvptx_ra_report_time(&request, 5, 6);
        nvptx_ra_report_failure(&request, abi::borrow("no"));
        nvptx_ra_report_time(ptr::null(), 5, 6);
    }
    let text = std::fs::read_to_string(&path).expect("the file is there");
    std::fs::remove_file(&path).expect("the file is there");
    let events: Vec<_> = ["run", "shim", "failure"].iter().map(|event| format!("\"event\":\"{event}\"")).collect();
    assert_eq!(text.lines().count(), events.len(), "{text}");
    assert!(text.lines().zip(&events).all(|(line, event)| line.contains(event)), "{text}");
}

/// The options cross whole; beyond their end there is nothing.
#[test]
fn option_table() {
    assert_eq!(nvptx_ra_option_count(), option_count() as u64);
    // SAFETY: the table's texts live as long as the program.
    let name = unsafe { abi::text(nvptx_ra_option_at(0).name) };
    assert_eq!(name, crate::config::OPTIONS[0].name);
    assert_eq!(nvptx_ra_option_at(u64::MAX).name.len, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { abi::text(nvptx_ra_version()) }, env!("CARGO_PKG_VERSION"));
}

/// Right options are answered by null, wrong ones and an unknown origin by an error.
#[test]
fn checks_options() {
    let check = |parameters: &str, origin: &str| {
        // SAFETY: both texts are alive.
        unsafe { nvptx_ra_check_options(abi::borrow(parameters), abi::borrow(origin)) }
    };
    assert!(check("strict", "pass parameters").is_null());
    assert!(Answer(check("strikt", "pass parameters")).message().contains("strict"));
    assert!(Answer(check("strict", "nowhere")).message().contains("nowhere"));
}
