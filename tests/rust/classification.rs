//! Opcodes are classified in one place: a run gets a classification, which includes LLVM's own properties of opcodes.
//! No room looks up an opcode by its name.

use std::fs;

use super::sources::{files, src};

/// The files that make a classification: the shim's side, for LLVM's opcodes, and the tool, for functions in text form,
/// whose opcodes are only known by name.
const MAKERS: [&str; 5] = ["ffi/opcodes.rs", "cli/views.rs", "cli/optimum.rs", "cli/replay.rs", "ptx/view/finish.rs"];

/// Code that no other room may contain.
const FORBIDDEN: [&str; 4] = ["classify(", "Classification::by_name(", "Classification::new(", "Classification::lazy("];

/// Whether a file is for tests only, or belongs to a room that may look up names: the target itself, and the fuzzing
/// oracles, whose functions are in text form.
fn is_exempt(file: &str) -> bool {
    let is_test = |name: &str| matches!(name, "tests" | "tests.rs") || name.ends_with("_tests.rs");
    file.split('/').any(is_test) || file.starts_with("target/") || file.starts_with("fuzzing/")
}

/// Returns the code without comments and without items under `#[cfg(test)]`.
fn compiled(text: &str) -> Vec<&str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut left = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if ["#[cfg(test)]", "#[cfg(any(test,"].iter().any(|attribute| line.trim_start().starts_with(attribute)) {
            let is_end = |item: &&str| indent(item) == indent(line) && (item.ends_with('}') || item.ends_with(';'));
            lines.by_ref().find(is_end);
        } else if !line.trim_start().starts_with("//") {
            left.push(line);
        }
    }
    left
}

/// Returns the part of [`FORBIDDEN`] that a line of code contains. An associated function with the same name does not
/// count.
fn offence(line: &str) -> Option<&'static str> {
    let is_written = |word: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = &line[..at];
            let is_own = before.ends_with("fn ") || (before.ends_with("::") && !before.ends_with("target::"));
            !is_own && !before.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == '.')
        })
    };
    FORBIDDEN.into_iter().find(|word| is_written(word))
}

/// Only rooms that make classifications look up an opcode by its name.
#[test]
fn rooms_ask_the_classification_of_the_run() {
    let mut offences = Vec::new();
    let mut looked_at = 0;
    for path in files(&src()) {
        let file = path.strip_prefix(src()).expect("a path below src").to_string_lossy().into_owned();
        if is_exempt(&file) || MAKERS.contains(&file.as_str()) {
            continue;
        }
        looked_at += 1;
        let text = fs::read_to_string(&path).expect("a source can be read");
        let found = compiled(&text).into_iter().filter(|line| offence(line).is_some());
        offences.extend(found.map(|line| format!("src/{file}: {}", line.trim())));
    }
    assert_eq!(offences, Vec::<String>::new(), "take the classification as a parameter");
    assert!(looked_at > 200, "only {looked_at} files of src were found");
}

/// Each file in [`MAKERS`] makes a classification.
#[test]
fn makers_make_classifications() {
    for maker in MAKERS {
        let text = fs::read_to_string(src().join(maker)).unwrap_or_else(|error| panic!("src/{maker}: {error}"));
        assert!(compiled(&text).iter().any(|line| offence(line).is_some()), "src/{maker} makes none");
    }
}

/// No thread-local variable stores names that a run could use without getting them as an argument.
#[test]
fn the_target_remembers_nothing() {
    for path in files(&src().join("target")) {
        let text = fs::read_to_string(&path).expect("a source can be read");
        assert!(!compiled(&text).iter().any(|line| line.contains("thread_local!")), "{}", path.display());
    }
}

#[test]
fn offences_are_found() {
    assert_eq!(offence("let info = classify(name);"), Some("classify("));
    assert_eq!(offence("let info = crate::target::classify(name);"), Some("classify("));
    assert_eq!(offence("let known = Classification::by_name(table);"), Some("Classification::by_name("));
    assert_eq!(offence("let lists = Lists::classify(&nodes);"), None);
    assert_eq!(offence("pub(super) fn classify("), None);
    let text = "a();\n#[cfg(test)]\nfn f() {\n    classify(name);\n}\n// classify(name)\nb();\n    #[cfg(test)]\n    use x;\nc();\n";
    assert_eq!(compiled(text), ["a();", "b();", "c();"]);
}
