//! The layers of the code. Rooms import only rooms of lower layers, the checker imports only the function view, and
//! files of different ideas do not import each other in a cycle.
//!
//! The sources are parsed, not compiled: `use` items and paths in code, without items under `#[cfg(test)]`. A name that
//! a module re-exports (`pub use`) counts as an import of the file that defines it. A module and its submodules are one
//! idea: the module's file may import its submodules, and the submodules may import its definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::sources::{files, src};
use syn::visit::{self, Visit};

/// The rooms, from top to bottom. A room imports only rooms in later lines.
const LAYERS: &[&[&str]] = &[
    &["cli"],
    &["ffi"],
    &["lab"],
    &["bundle"],
    &["sass"],
    &["emulate"],
    &["passes"],
    &["lint", "reduce", "tune"],
    &["forecast"],
    &["ptx"],
    &["spill"],
    &["addressing", "allocate", "coalesce", "loops", "optimise", "rename", "schedule", "ssa"],
    &["profile", "stats"],
    &["analysis"],
    &["check", "config", "target"],
    &["function"],
    &["input_kind"],
    &["error"],
    &["disjoint_sets", "logging", "switch"],
    &["printable"],
    &["index"],
];

/// What the checker may import: the function view with its edits, and the indices and errors that these use.
const CHECKER_MAY_IMPORT: [&str; 3] = ["function", "index", "error"];

/// A file of the sources: the path of its module below the crate.
type Module = Vec<String>;

struct Source {
    /// Paths that the code references, relative to the crate's root.
    imports: BTreeSet<Vec<String>>,
    /// Names that the module re-exports, and the paths that they refer to.
    exports: BTreeMap<String, Vec<String>>,
}

/// Reads the paths of one file.
struct Reader<'a> {
    modules: &'a BTreeSet<Module>,
    /// The module that is being read: the file's module, or an inline module inside the file.
    here: Module,
    imports: BTreeSet<Vec<String>>,
    exports: BTreeMap<String, Vec<String>>,
}

fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    let condition = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
        _ => String::new(),
    };
    attributes.iter().map(condition).any(|text| text == "test" || text.starts_with("any (test"))
}

impl Reader<'_> {
    /// Returns the path relative to the crate's root. `None` if the path leads out of the crate.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let mut base = self.here.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            "nvptx_ra" => (base, rest) = (Vec::new(), &path[1..]),
            first => {
                let child: Module = base.iter().cloned().chain([first.to_owned()]).collect();
                if !self.modules.contains(&child) {
                    return None;
                }
            }
        }
        Some(base.into_iter().chain(rest.iter().cloned()).collect())
    }

    fn add(&mut self, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.imports.insert(path);
        }
    }

    fn read_use(&mut self, tree: &syn::UseTree, prefix: &[String], exports: bool) {
        let with = |name: &syn::Ident| prefix.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        let (path, name) = match tree {
            syn::UseTree::Path(path) => return self.read_use(&path.tree, &with(&path.ident), exports),
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|item| self.read_use(item, prefix, exports));
            }
            syn::UseTree::Name(name) if name.ident == "self" => (prefix.to_vec(), prefix.last().cloned()),
            syn::UseTree::Name(name) => (with(&name.ident), Some(name.ident.to_string())),
            syn::UseTree::Rename(rename) => (with(&rename.ident), Some(rename.rename.to_string())),
            syn::UseTree::Glob(_) => (prefix.to_vec(), None),
        };
        if let (true, Some(name), Some(path)) = (exports, name, self.absolute(&path)) {
            self.exports.insert(name, path);
        }
        self.add(&path);
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if is_test_only(attributes) {
            return;
        }
        match item {
            syn::Item::Use(item) => {
                self.read_use(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
            }
            syn::Item::Mod(module) => {
                self.here.push(module.ident.to_string());
                visit::visit_item(self, item);
                self.here.pop();
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test_only(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if words.len() > 1 {
            self.add(&words);
        }
        visit::visit_path(self, path);
    }
}

/// All modules that have a file, with their imports. The files are read once for all tests.
static SOURCES: LazyLock<Sources> = LazyLock::new(Sources::read);

/// Modules with their imports.
struct Sources(BTreeMap<Module, Source>);

impl Sources {
    fn read() -> Self {
        let root = src();
        let files: Vec<(Module, PathBuf)> = files(&root).into_iter().map(|file| (module(&root, &file), file)).collect();
        let modules: BTreeSet<Module> = files.iter().map(|(module, _)| module.clone()).collect();
        let read = |(module, file): &(Module, PathBuf)| {
            let text = fs::read_to_string(file).expect("a source");
            let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut reader =
                Reader { modules: &modules, here: module.clone(), imports: BTreeSet::new(), exports: BTreeMap::new() };
            reader.visit_file(&parsed);
            (module.clone(), Source { imports: reader.imports, exports: reader.exports })
        };
        Self(files.iter().filter(|(module, _)| !is_for_tests(module)).map(read).collect())
    }

    /// Returns the file that defines a path's target: the longest module in the path, followed through its re-exports.
    fn defining(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let length = (0..=path.len()).rev().find(|&length| self.0.contains_key(&path[..length]))?;
            let (module, rest) = path.split_at(length);
            match rest.first().and_then(|name| self.0[module].exports.get(name)) {
                Some(target) => path = target.iter().chain(&rest[1..]).cloned().collect(),
                None => return Some(module.to_vec()),
            }
        }
        None
    }

    /// Returns the files that each file imports, without itself, its parent modules and its submodules.
    fn edges(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let of = |(module, source): (&'_ Module, &Source)| {
            let targets = source.imports.iter().filter_map(|path| self.defining(path));
            targets.filter(|target| !target.starts_with(module) && !module.starts_with(target)).collect()
        };
        self.0.iter().map(|(module, source)| (module, of((module, source)))).collect()
    }
}

/// Returns the module path of a file.
fn module(root: &Path, file: &Path) -> Module {
    let relative = file.strip_prefix(root).expect("a file below the root").with_extension("");
    let mut words: Module = relative.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if words.last().is_some_and(|word| ["mod", "lib", "main"].contains(&word.as_str())) {
        words.pop();
    }
    words
}

/// Whether a file is compiled only for tests and fuzzing.
fn is_for_tests(module: &Module) -> bool {
    let is_test = |word: &String| word == "tests" || word.ends_with("_tests");
    module.first().is_some_and(|room| room == "fuzzing") || module.iter().any(is_test)
}

fn layer(room: &str) -> Option<usize> {
    LAYERS.iter().position(|rooms| rooms.contains(&room))
}

/// Every room has a layer, and imports nothing from its own layer or from above.
#[test]
fn rooms_import_downwards() {
    let mut faults = Vec::new();
    for (module, targets) in SOURCES.edges() {
        let Some(room) = module.first() else { continue };
        let own = layer(room).unwrap_or_else(|| panic!("the room '{room}' stands in no layer; add it to LAYERS"));
        for target in targets {
            let Some(other) = target.first().filter(|other| *other != room) else { continue };
            if layer(other).is_none_or(|below| below <= own) {
                faults.push(format!("{} imports {}", module.join("::"), target.join("::")));
            }
        }
    }
    assert!(faults.is_empty(), "imports that do not go downwards:\n{}", faults.join("\n"));
}

/// The checker proves edits from the view alone. It uses no pass, no analysis and no opcode.
#[test]
fn the_checker_knows_the_view_alone() {
    let edges = SOURCES.edges();
    let own = edges.iter().filter(|(module, _)| module.first().is_some_and(|room| room == "check"));
    let imported: BTreeSet<String> =
        own.flat_map(|(_, targets)| targets).filter_map(|target| target.first().cloned()).collect();
    let foreign: Vec<&String> =
        imported.iter().filter(|room| *room != "check" && !CHECKER_MAY_IMPORT.contains(&room.as_str())).collect();
    assert!(imported.contains("function") && foreign.is_empty(), "check imports {foreign:?}");
}

/// Files of different ideas do not import each other, so each file can be read without the other.
#[test]
fn no_circles() {
    let edges = SOURCES.edges();
    let mut reached: BTreeMap<&Module, BTreeSet<Module>> = BTreeMap::new();
    for &start in edges.keys() {
        let mut seen = BTreeSet::new();
        let mut work: Vec<&Module> = edges[start].iter().collect();
        while let Some(next) = work.pop() {
            if seen.insert(next.clone()) {
                work.extend(&edges[next]);
            }
        }
        reached.insert(start, seen);
    }
    let in_circle_with = |module: &Module| -> BTreeSet<String> {
        let others = reached[module].iter().filter(|other| reached[*other].contains(module));
        others.map(|other| other.join("::")).collect()
    };
    let circles: BTreeSet<BTreeSet<String>> =
        edges.keys().map(|module| in_circle_with(module)).filter(|circle| !circle.is_empty()).collect();
    let circles: Vec<String> =
        circles.iter().map(|circle| circle.iter().cloned().collect::<Vec<_>>().join(" <-> ")).collect();
    assert!(circles.is_empty(), "files that import each other:\n{}", circles.join("\n"));
}

/// The reader sees `use` items with groups and renames, paths in code, and re-exports.
#[test]
fn the_reader_sees_imports() {
    let modules: BTreeSet<Module> = [vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]].into();
    let mut reader = Reader {
        modules: &modules,
        here: modules.first().cloned().expect("a"),
        imports: BTreeSet::new(),
        exports: BTreeMap::new(),
    };
    let text = "use crate::x::{self, Y as Z}; pub use b::C; fn f() { super::g(); std::mem::take(); }\n\
                #[cfg(test)] mod tests { use crate::unseen::T; }";
    reader.visit_file(&syn::parse_file(text).expect("it is Rust"));
    let imports: Vec<String> = reader.imports.iter().map(|path| path.join("::")).collect();
    assert_eq!(imports, ["a::b::C", "g", "x", "x::Y"]);
    assert_eq!(reader.exports["C"].join("::"), "a::b::C");
}
