//! Every kind of edit has a line in the text form and tests through the shim.

use std::fs;
use std::path::{Path, PathBuf};

/// Tests of refused edits. The other tests apply edits.
const REFUSALS: [&str; 5] =
    ["refused.test", "refused-bits.test", "refused-shared.test", "refused-wide.test", "unproven.test"];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An edit that exists for PTX modules only.
const OF_TEXT: &str = "insert-pragma";

/// Edits that replace edits of slots before they reach the shim. src/ffi/wrong_edits.rs draws such edits, and
/// src/check/lowered proves them.
const LOWERED: [&str; 2] = ["insert-inst", "insert-assembly"];

/// Returns the kinds of edits, as `Edit::kind` returns them.
fn kinds(source: &str) -> Vec<String> {
    let names = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Edit::")?.split_once("=> \"")?.1.strip_suffix("\","));
    names.filter(|&name| name != OF_TEXT).map(str::to_owned).collect()
}

/// Returns the kinds of edits that the shim accepts, from the constants in the header, spelled as in the text form.
fn crossing(header: &str) -> Vec<String> {
    let names = header.lines().filter_map(|line| line.strip_prefix("#define NVPTX_RA_EDIT_")?.split(' ').next());
    names.map(|name| name.to_lowercase().replace('_', "-")).collect()
}

fn missing<'a>(kinds: &'a [String], text: &str) -> Vec<&'a str> {
    let has = |kind: &str| text.lines().any(|line| line.split(' ').next() == Some(kind));
    kinds.iter().map(String::as_str).filter(|kind| !has(kind)).collect()
}

#[test]
fn each_kind_is_applied_and_refused_in_a_test() {
    let kinds = kinds(&read(&path("src/function/edit.rs")));
    assert!(kinds.len() > 20, "{kinds:?}");
    let (mut applied, mut refused) = (String::new(), String::new());
    for entry in fs::read_dir(path("tests/lit/edits")).expect("the folder is there") {
        let file = entry.expect("the folder can be read").path();
        let name = file.file_name().and_then(|name| name.to_str()).expect("names are text");
        if name.ends_with(".test") {
            let text = if REFUSALS.contains(&name) { &mut refused } else { &mut applied };
            text.push_str(&read(&file));
        }
    }
    assert_eq!(missing(&kinds, &applied), Vec::<&str>::new(), "tests/lit/edits applies none of these");
    assert_eq!(missing(&kinds, &refused), Vec::<&str>::new(), "tests/lit/edits refuses none of these");
}

#[test]
fn each_kind_is_in_the_grammar() {
    let kinds = kinds(&read(&path("src/function/edit.rs")));
    assert!(kinds.len() > 20, "{kinds:?}");
    let page = read(&path("docs/mfv.md"));
    let missing: Vec<_> = kinds.iter().filter(|kind| !page.contains(&format!("\"{kind}\""))).collect();
    assert_eq!(missing, Vec::<&String>::new(), "docs/mfv.md has no line for these");
}

/// Each kind of edit that the shim accepts is an edit of the text form, or replaces an edit of slots.
#[test]
fn what_crosses_is_known() {
    let kinds = kinds(&read(&path("src/function/edit.rs")));
    let crossing = crossing(&read(&path("cpp-shim/include/nvptx_ra.h")));
    let is_known = |kind: &&String| kinds.contains(kind) || LOWERED.contains(&kind.as_str());
    assert_eq!(crossing.iter().filter(|kind| !is_known(kind)).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(LOWERED.iter().all(|&kind| crossing.iter().any(|other| other == kind)));
}

#[test]
fn a_kind_without_a_test_is_found() {
    let source = "            Edit::Merge { .. } => \"merge\",\n            Edit::SplitEdge { .. } => \"split-edge\",\n\
                  Edit::InsertPragma { .. } => \"insert-pragma\",\n";
    let kinds = kinds(source);
    assert_eq!(kinds, ["merge", "split-edge"]);
    assert_eq!(missing(&kinds, "function \"merge\"\n; merge\nsplit-edge bb3 from bb0 to bb1\n"), ["merge"]);
    let header =
        "#define NVPTX_RA_EDIT_MERGE 14u\n#define NVPTX_RA_EDIT_SPLIT_EDGE 3u /* x */\n#define NVPTX_RA_NONE 1\n";
    assert_eq!(crossing(header), ["merge", "split-edge"]);
}
