//! Every kind of edit that crosses to the shim has its line in the text form and its tests through the shim.

use std::fs;
use std::path::{Path, PathBuf};

/// Tests of edits that are refused; the others are of edits that are applied.
const REFUSALS: [&str; 5] =
    ["refused.test", "refused-bits.test", "refused-shared.test", "refused-wide.test", "unproven.test"];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The kinds as the header numbers them, in the words of the text form.
fn kinds(header: &str) -> Vec<String> {
    let names = header.lines().filter_map(|line| line.strip_prefix("#define NVPTX_RA_EDIT_")?.split(' ').next());
    names.map(|name| name.to_lowercase().replace('_', "-")).collect()
}

fn missing<'a>(kinds: &'a [String], text: &str) -> Vec<&'a str> {
    let has = |kind: &str| text.lines().any(|line| line.split(' ').next() == Some(kind));
    kinds.iter().map(String::as_str).filter(|kind| !has(kind)).collect()
}

#[test]
fn each_kind_is_applied_and_refused_in_a_test() {
    let kinds = kinds(&read(&path("cpp-shim/include/nvptx_ra.h")));
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
    let kinds = kinds(&read(&path("cpp-shim/include/nvptx_ra.h")));
    let page = read(&path("docs/mfv.md"));
    let missing: Vec<_> = kinds.iter().filter(|kind| !page.contains(&format!("\"{kind}\""))).collect();
    assert_eq!(missing, Vec::<&String>::new(), "docs/mfv.md has no line for these");
}

#[test]
fn a_kind_without_a_test_is_found() {
    let header =
        "#define NVPTX_RA_EDIT_MERGE 14u\n#define NVPTX_RA_EDIT_SPLIT_EDGE 3u /* x */\n#define NVPTX_RA_NONE 1\n";
    let kinds = kinds(header);
    assert_eq!(kinds, ["merge", "split-edge"]);
    assert_eq!(missing(&kinds, "function \"merge\"\n; merge\nsplit-edge bb3 from bb0 to bb1\n"), ["merge"]);
}
