//! No function that C++ calls lets a panic escape, and the test covers all such functions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr;

use inkwell::context::Context;

use super::super::abi::{self, nvptx_ra_response};
use super::super::ahead::{nvptx_ra_choose_ahead, nvptx_ra_chooses_ahead, nvptx_ra_ir_marks_free};
use super::super::assembly::nvptx_ra_assembly_effects;
use super::super::choices::{nvptx_ra_add_header_note, nvptx_ra_print_choices, nvptx_ra_record_choices};
use super::super::forecast::nvptx_ra_forecast;
use super::super::guard::injection;
use super::super::inserted::{nvptx_ra_inserted_at, nvptx_ra_inserted_count, nvptx_ra_inserted_takes};
use super::super::loops::{nvptx_ra_loop_reads, nvptx_ra_mark_loop};
use super::super::messages::{clean_up_with, nvptx_ra_check_machine_code, nvptx_ra_clean_up, nvptx_ra_say};
use super::super::opcodes::{nvptx_ra_opcodes_create, nvptx_ra_opcodes_free};
use super::super::optimisations::{nvptx_ra_added, nvptx_ra_added_pipeline, nvptx_ra_skip_bit, nvptx_ra_skipped};
use super::super::options::{nvptx_ra_check_options, nvptx_ra_option_at, nvptx_ra_option_count};
use super::super::plugin::{
    llvmGetPassPluginInfo, nvptx_ra_pipeline_of, nvptx_ra_place_at, nvptx_ra_start, register_callbacks,
};
use super::super::profile::{nvptx_ra_replay_profile, nvptx_ra_replay_profile_ahead};
use super::super::response::nvptx_ra_response_free;
use super::super::run::{
    nvptx_ra_report_clone, nvptx_ra_report_failure, nvptx_ra_report_time, nvptx_ra_run, nvptx_ra_scope,
};
use super::super::session::{nvptx_ra_session_free, nvptx_ra_session_new};
use super::super::switch::{nvptx_ra_is_off, nvptx_ra_off_note};
use super::super::verify::nvptx_ra_verify_applied;
use super::run;
use super::sample::{Answer, Sample, request};
use crate::config::COPY_COALESCER;

/// Returns the functions of this folder that C++ may call, with their bodies.
fn entries() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ffi")) {
        let text = fs::read_to_string(&path).expect("a source is text");
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        // A function type has no name after `fn`.
        for rest in text.split("extern \"C\" fn ").skip(1) {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            let (_, body) = rest.split_once("{\n").expect("a function has a body");
            found.push((name.to_owned(), body.to_owned()));
        }
    }
    found
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the sources are there").flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let inner = folders.iter().filter(|folder| !folder.ends_with("tests")).flat_map(|folder| sources(folder));
    files.into_iter().chain(inner).collect()
}

/// Returns the text after the parenthesis that closes the one at the start.
fn behind_parentheses(text: &str) -> &str {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return &text[at + 1..],
            ')' => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// The whole body of each function that C++ calls is under the guard.
#[test]
fn every_entry_is_guarded() {
    let entries = entries();
    assert!(entries.len() > 25, "{}", entries.len());
    for (name, body) in entries {
        let body: String = body.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let rest = body.trim_start().strip_prefix("entry").map(behind_parentheses);
        let rest = rest.map(|rest| rest.trim_start_matches(';').trim_start());
        assert!(rest.is_some_and(|rest| rest.starts_with('}')), "{name} does more than call entry(…)");
    }
}

/// After a panic in any function that C++ calls, the function returns an answer, if possible with an error, and the
/// next function is coalesced as usual.
#[test]
fn a_panic_in_any_entry_is_survived() {
    let sample = Sample::new();
    let view = sample.view();
    let strict = request(&view, COPY_COALESCER, "strict");
    let context = Context::create();
    let module = context.create_module("m").as_mut_ptr();
    let none = abi::borrow("");
    let answered = |response: *const nvptx_ra_response, strict: u32| {
        let answer = Answer(response);
        assert_eq!((answer.raw().status, answer.raw().strict), (abi::NVPTX_RA_STATUS_ERROR, strict));
        assert!(answer.message().contains("a panic was asked for at an entry"), "{}", answer.message());
    };
    let mut tried = BTreeSet::new();
    let mut with_panic = |name: &'static str, call: &mut dyn FnMut()| {
        injection::arm();
        call();
        assert!(!injection::is_armed(), "{name} has no guard");
        let next = run(COPY_COALESCER, "");
        assert_eq!(next.raw().status, abi::NVPTX_RA_STATUS_EDITS, "behind {name}: {}", next.message());
        tried.insert(name);
    };
    // SAFETY: here and below, each argument is alive, or null where null is allowed. The panic comes before any
    // argument is read.
    unsafe {
        with_panic("nvptx_ra_run", &mut || answered(nvptx_ra_run(&strict), 1));
        with_panic("nvptx_ra_scope", &mut || {
            assert_eq!(nvptx_ra_scope(&strict, None, ptr::null_mut()), abi::NVPTX_RA_SCOPE_WHOLE);
        });
        with_panic("nvptx_ra_forecast", &mut || answered(nvptx_ra_forecast(&strict, ptr::null(), 0), 1));
        with_panic("nvptx_ra_verify_applied", &mut || answered(nvptx_ra_verify_applied(ptr::null(), &view), 1));
        with_panic("nvptx_ra_report_failure", &mut || nvptx_ra_report_failure(&strict, none));
        with_panic("nvptx_ra_report_time", &mut || nvptx_ra_report_time(&strict, 1, 2));
        with_panic("nvptx_ra_report_clone", &mut || {
            assert_eq!(nvptx_ra_report_clone(none, none, 0, 0, none), 0);
        });
        with_panic("nvptx_ra_response_free", &mut || nvptx_ra_response_free(ptr::null()));
        with_panic("nvptx_ra_session_new", &mut || assert!(nvptx_ra_session_new(ptr::null_mut()).is_null()));
        with_panic("nvptx_ra_session_free", &mut || nvptx_ra_session_free(ptr::null_mut()));
        with_panic("nvptx_ra_opcodes_create", &mut || {
            nvptx_ra_opcodes_free(nvptx_ra_opcodes_create(ptr::null(), None, 1));
        });
        with_panic("nvptx_ra_opcodes_free", &mut || nvptx_ra_opcodes_free(ptr::null()));
        with_panic("nvptx_ra_check_options", &mut || answered(nvptx_ra_check_options(none, none), 0));
        with_panic("nvptx_ra_skipped", &mut || assert_eq!(nvptx_ra_skipped(abi::borrow("skip-passes=gvn"), none), 0));
        with_panic("nvptx_ra_added", &mut || assert_eq!(nvptx_ra_added(abi::borrow("add-passes=sink"), none), 0));
        with_panic("nvptx_ra_chooses_ahead", &mut || assert_eq!(nvptx_ra_chooses_ahead(abi::borrow("inline=all")), 0));
        with_panic("nvptx_ra_choose_ahead", &mut || assert_eq!(nvptx_ra_choose_ahead(ptr::null()).num_marks, 0));
        with_panic("nvptx_ra_ir_marks_free", &mut || nvptx_ra_ir_marks_free(abi::nvptx_ra_ir_marks::default()));
        with_panic("nvptx_ra_mark_loop", &mut || {
            assert_eq!(nvptx_ra_mark_loop(ptr::null()).kind, abi::NVPTX_RA_LOOP_LEAVE);
        });
        with_panic("nvptx_ra_skip_bit", &mut || assert_eq!(nvptx_ra_skip_bit(abi::borrow("gvn")), 0));
        with_panic("nvptx_ra_assembly_effects", &mut || {
            assert_eq!(nvptx_ra_assembly_effects(none, none), abi::NVPTX_RA_ASSEMBLY_UNKNOWN);
        });
        with_panic("nvptx_ra_record_choices", &mut || assert_eq!(nvptx_ra_record_choices(module, none), 0));
        with_panic("nvptx_ra_add_header_note", &mut || nvptx_ra_add_header_note(module));
        with_panic("nvptx_ra_print_choices", &mut || nvptx_ra_print_choices(module));
        with_panic("nvptx_ra_replay_profile", &mut || {
            answered(nvptx_ra_replay_profile(module, none, none, none), 0);
        });
        with_panic("nvptx_ra_replay_profile_ahead", &mut || {
            answered(nvptx_ra_replay_profile_ahead(module, none), 0);
        });
        with_panic("nvptx_ra_say", &mut || nvptx_ra_say(none));
        with_panic("nvptx_ra_check_machine_code", &mut || assert_eq!(nvptx_ra_check_machine_code(none, none), 0));
        with_panic("nvptx_ra_pipeline_of", &mut || {
            assert_eq!(nvptx_ra_pipeline_of(abi::borrow("position=off")).coalesces, 1);
        });
        with_panic("nvptx_ra_place_at", &mut || assert_eq!(nvptx_ra_place_at(none, 1, 0).pass.len, 0));
    }
    with_panic("nvptx_ra_added_pipeline", &mut || assert_eq!(nvptx_ra_added_pipeline(u32::MAX, 0).len, 0));
    with_panic("nvptx_ra_loop_reads", &mut || {
        assert_eq!(nvptx_ra_loop_reads(1, 0), abi::NVPTX_RA_LOOP_READS_NOTHING);
    });
    clean_up_with(|| ());
    with_panic("nvptx_ra_clean_up", &mut || nvptx_ra_clean_up());
    with_panic("nvptx_ra_option_count", &mut || assert_eq!(nvptx_ra_option_count(), 0));
    with_panic("nvptx_ra_option_at", &mut || assert_eq!(nvptx_ra_option_at(0).name.len, 0));
    with_panic("nvptx_ra_inserted_count", &mut || assert_eq!(nvptx_ra_inserted_count(), 0));
    with_panic("nvptx_ra_inserted_at", &mut || assert_eq!(nvptx_ra_inserted_at(0).len, 0));
    with_panic("nvptx_ra_inserted_takes", &mut || {
        assert_eq!(nvptx_ra_inserted_takes(0, 0, abi::nvptx_ra_operand::default(), 1), 0);
    });
    with_panic("nvptx_ra_is_off", &mut || assert_eq!(nvptx_ra_is_off(), 0));
    with_panic("nvptx_ra_off_note", &mut || assert_eq!(nvptx_ra_off_note().len, 0));
    with_panic("nvptx_ra_start", &mut || nvptx_ra_start());
    with_panic("llvmGetPassPluginInfo", &mut || _ = llvmGetPassPluginInfo());
    with_panic("register_callbacks", &mut || register_callbacks(ptr::null_mut()));
    // Only LLVM calls this function. The tests of src/ffi/branch.rs cover it.
    tried.insert("call");
    let found = entries();
    assert_eq!(tried, found.iter().map(|(name, _)| name.as_str()).collect());
}

/// A panic while an error is written into the statistics loses only the line. The answer is still the error.
#[test]
fn a_late_panic_keeps_the_answer() {
    let answer = run(COPY_COALESCER, "inject=late-panic;strict");
    assert_eq!((answer.raw().status, answer.raw().strict), (abi::NVPTX_RA_STATUS_ERROR, 1));
    assert!(answer.message().contains("the option inject=late-panic requests an error"), "{}", answer.message());
    assert_eq!(run(COPY_COALESCER, "").raw().status, abi::NVPTX_RA_STATUS_EDITS);
}
