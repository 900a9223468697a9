//! The entries, called as the shim calls them, with views built by hand.

mod entries;
pub(super) mod sample;
mod views;

use std::ptr;

use super::abi::{self, nvptx_ra_request};
use super::compare::compare;
use super::options::{nvptx_ra_check_options, nvptx_ra_option_at, nvptx_ra_option_count};
use super::run::{nvptx_ra_report_failure, nvptx_ra_report_time, nvptx_ra_run};
use super::verify::nvptx_ra_verify_applied;
use super::view;
use crate::bundle;
use crate::config::{COPY_COALESCER, option_count};
use crate::function::Function;
use crate::passes::PRINT_VIEW;
use sample::{Answer, Sample, request};

fn run(pass: &str, parameters: &str) -> Answer {
    let sample = Sample::new();
    // SAFETY: the request, the view and their memory are alive.
    Answer(unsafe { nvptx_ra_run(&request(&sample.view(), pass, parameters)) })
}

/// A printing pass answers with the text and without edits.
#[test]
fn prints() {
    let answer = run(PRINT_VIEW, "");
    assert_eq!(answer.raw().status, abi::NVPTX_RA_STATUS_UNCHANGED);
    assert!(answer.output().contains("MOV_B32_i"), "{}", answer.output());
}

/// An error or a panic in a pass becomes a response that names the kernel and states whether errors are fatal.
#[test]
fn errors_and_panics_are_answers() {
    let home = tempfile::tempdir().expect("there is space");
    // The folder need not exist yet.
    let bundles = home.path().join("bundles");
    let panic = format!("inject=panic;strict;bundle={}", bundles.display());
    for (parameters, strict, part) in [
        ("inject=error", 0, "the option inject=error requests an error"),
        (&panic, 1, "internal error at src/passes/"),
        ("no-such-option;strict", 1, "no-such-option"),
    ] {
        let answer = run(COPY_COALESCER, parameters);
        assert_eq!((answer.raw().status, answer.raw().strict), (abi::NVPTX_RA_STATUS_ERROR, strict));
        let message = answer.message();
        assert!(message.starts_with("nvptx-ra: kernel 'k': ") && message.contains(part), "{message}");
        assert_eq!(answer.raw().num_edits, 0);
    }
    // Only the panic has left a bundle, with everything that a replay needs.
    let bundle = bundle::read(&bundles.join("nvptx-ra-k-0")).expect("the bundle is whole");
    assert_eq!((bundle.report.pass.as_str(), bundle.function.name()), (COPY_COALESCER, "k"));
    assert_eq!(bundle.report.options.parameters, panic);
    assert!(bundle.report.backtrace.contains("passes::"), "{}", bundle.report.backtrace);
    assert_eq!(std::fs::read_dir(&bundles).map(Iterator::count).ok(), Some(1));
}

/// An unknown pass and unknown flags in a request are errors.
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

/// Verification of a response that did not request it is an error, not a crash.
#[test]
fn verification_must_be_asked_for() {
    let sample = Sample::new();
    let view = sample.view();
    let answer = run(COPY_COALESCER, "");
    // SAFETY: the response and the view are alive.
    let difference = Answer(unsafe { nvptx_ra_verify_applied(answer.0, &view) });
    assert!(difference.message().contains("did not request verification"), "{}", difference.message());
}

/// A launch bound that is not in the edits is a difference.
#[test]
fn another_launch_is_a_difference() {
    let function = |bounds| Function::parse(&format!("mfv 1\nfunction \"k\"\nkernel {bounds}\nend\n")).expect("a view");
    assert!(compare(&function("maxnreg 40"), &function("maxnreg 40")).is_ok());
    let difference = compare(&function("maxnreg 40"), &function("")).expect_err("the bound is lost").to_string();
    assert!(difference.contains("Some(40)"), "{difference}");
}

/// Edits that were not applied are an error. The error leaves a bundle with the function before the edits.
#[test]
fn difference_leaves_a_bundle() {
    let home = tempfile::tempdir().expect("there is space");
    // The folder need not exist yet.
    let bundles = home.path().join("bundles");
    let sample = Sample::new();
    let view = sample.view();
    let answer = run(COPY_COALESCER, &format!("verify;bundle={}", bundles.display()));
    assert_eq!(answer.raw().status, abi::NVPTX_RA_STATUS_EDITS, "{}", answer.message());
    // SAFETY: the response and the view are alive.
    let difference = Answer(unsafe { nvptx_ra_verify_applied(answer.0, &view) });
    let message = difference.message();
    let path = bundles.join("nvptx-ra-k-0");
    assert!(message.contains("the edits were applied incorrectly"), "{message}");
    assert!(message.ends_with(&format!("please report {}", path.display())), "{message}");
    let bundle = bundle::read(&path).expect("the bundle is whole");
    // SAFETY: the view and its memory are alive.
    let (function, _) = unsafe { view::read(&view) }.expect("the view is right");
    assert_eq!(bundle.function.to_string(), function.to_string());
    assert!(message.starts_with(bundle.report.message.split(';').next().unwrap_or_default()), "{message}");
}

/// Runs, failures and the times of the shim's phases are written to the statistics file.
#[test]
fn statistics() {
    let home = tempfile::tempdir().expect("there is space");
    let path = home.path().join("stats.jsonl");
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
    let events: Vec<_> = ["run", "shim", "failure"].iter().map(|event| format!("\"event\":\"{event}\"")).collect();
    assert_eq!(text.lines().count(), events.len(), "{text}");
    assert!(text.lines().zip(&events).all(|(line, event)| line.contains(event)), "{text}");
}

/// All options are returned. The entry after the last is empty.
#[test]
fn option_table() {
    assert_eq!(nvptx_ra_option_count(), option_count() as u64);
    // SAFETY: the table's texts live as long as the program.
    let name = unsafe { abi::text(nvptx_ra_option_at(0).name) };
    assert_eq!(name, crate::config::OPTIONS[0].name);
    assert_eq!(nvptx_ra_option_at(u64::MAX).name.len, 0);
}

/// The answer is null for valid options, and an error for wrong options or an unknown origin.
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
