//! Lists every thread-local and mutable static variable with the reason why it cannot be passed as an argument.

use super::sources;
use std::fs;
use std::path::{Path, PathBuf};

/// (file, number of thread-local variables, why they cannot be passed)
const ALLOWED: &[(&str, usize, &str)] = &[
    ("cpp-shim/Compilation.cpp", 1, "LLVM's callback that configures a pipeline has no argument of ours"),
    ("src/ffi/guard.rs", 4, "a panic hook gets no argument of ours; one of them is of tests"),
    ("src/forecast/kernel/summary.rs", 1, "memory that is used again, of no meaning"),
    ("src/fuzzing/coverage.rs", 1, "what a run of an oracle has come to, for tests"),
    ("src/fuzzing/liveness.rs", 1, "memory that is used again on purpose, for tests"),
    ("src/fuzzing/uniformity.rs", 1, "memory that is used again on purpose, for tests"),
];

/// Counts the thread-local variables of a file: the statics inside each `thread_local!`, up to its closing brace.
fn thread_locals(text: &str) -> usize {
    let in_rust = text.split("thread_local! {\n").skip(1).map(|rest| {
        let inner = rest.chars().take_while(|&c| c == ' ').count();
        let body = rest.lines().take_while(|line| line.len() - line.trim_start().len() >= inner);
        body.filter(|line| line.trim_start().starts_with("static ")).count()
    });
    in_rust.sum::<usize>() + text.matches("static thread_local ").count()
}

#[test]
fn ambient_state_is_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shim = fs::read_dir(root.join("cpp-shim")).expect("the shim").map(|entry| entry.expect("a file").path());
    let shim: Vec<PathBuf> = shim.filter(|path| path.is_file()).collect();
    let mut found = Vec::new();
    for path in sources::files(&sources::src()).into_iter().chain(shim) {
        let text = fs::read_to_string(&path).expect("a source is text");
        let name = path.strip_prefix(root).expect("a file of the crate").to_string_lossy().into_owned();
        assert!(!text.contains("static mut "), "{name}: a mutable static variable");
        if thread_locals(&text) > 0 {
            found.push((name, thread_locals(&text)));
        }
    }
    found.sort();
    let allowed: Vec<(String, usize)> = ALLOWED.iter().map(|&(file, count, _)| (file.to_owned(), count)).collect();
    assert_eq!(found, allowed, "pass state along, or name here why it cannot be passed");
}
