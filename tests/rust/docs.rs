//! Every link and every path in the documents exists.

use std::fs;
use std::path::{Path, PathBuf};

const PAGES: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Folders of the repository. A word in backticks that starts with one of them is a path.
const FOLDERS: [&str; 7] = ["src/", "cpp-shim/", "tests/", "examples/", "scripts/", "docs/", ".ci/"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Returns the targets of `[text](target)` without anchors. Web addresses are excluded.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?.split('#').next()?;
        (!target.is_empty() && !target.contains("://")).then_some(target)
    })
}

/// Returns the paths of this repository between single backticks.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let fenced = text.split("```").step_by(2);
    let quoted = fenced.flat_map(|prose| prose.split('`').skip(1).step_by(2));
    quoted.filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)) && !word.contains([' ', '*', '…']))
}

fn missing<'a>(names: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    names.map(|name| root().join(name)).filter(|path| !path.exists()).collect()
}

/// Returns the pages of a folder and of its subfolders.
fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of documents").map(|entry| entry.expect("an entry").path());
    let of = |path: PathBuf| if path.is_dir() { pages_below(&path) } else { vec![path] };
    entries.flat_map(of).filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let pages = PAGES.iter().map(|page| root().join(page)).chain(pages_below(&root().join("docs")));
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page is text");
        let folder = page.parent().expect("a page stands in a folder");
        let missing: Vec<&str> = links(&text).filter(|link| !folder.join(link).exists()).collect();
        assert_eq!(missing, Vec::<&str>::new(), "{} links to what is not there", page.display());
    }
}

/// The first pages are short: the README has at most 120 lines, and the page of the forecast at most 11 KB.
#[test]
fn first_pages_are_short() {
    assert!(read("README.md").lines().count() <= 120, "figures belong in docs/results.md");
    assert!(read("docs/forecast.md").len() <= 11_000, "history belongs in docs/notebook");
}

#[test]
fn every_path_named_exists() {
    for page in PAGES {
        assert_eq!(missing(paths(&read(page))), Vec::<PathBuf>::new(), "{page} names what is not there");
    }
}

#[test]
fn the_code_map_has_every_room() {
    let map = read("ARCHITECTURE.md");
    for entry in fs::read_dir(root().join("src")).expect("src is a folder") {
        let name = entry.expect("src can be read").file_name().into_string().expect("names are text");
        let place = format!("(src/{name})");
        assert!(name == "lib.rs" || map.contains(&place), "ARCHITECTURE.md does not link to src/{name}");
    }
}

#[test]
fn files_of_the_shim_that_the_map_names_exist() {
    let map = read("ARCHITECTURE.md");
    let words = map.split('`').skip(1).step_by(2);
    let files = words.filter(|word| !word.contains('/') && (word.ends_with(".cpp") || word.ends_with(".h")));
    let missing: Vec<_> = files.filter(|file| !root().join("cpp-shim").join(file).exists()).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn links_and_paths_are_found() {
    let text = "[a](b.md#c), `src/x`, `not a path`, [d](https://example.org)\n```\n`src/fenced`\n```\n";
    assert_eq!(links(text).collect::<Vec<_>>(), ["b.md"]);
    assert_eq!(paths(text).collect::<Vec<_>>(), ["src/x"]);
    assert_eq!(missing(["src/no-such-file"].into_iter()), [root().join("src/no-such-file")]);
}
