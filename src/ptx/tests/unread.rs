//! Function heads, and functions that are not read.

use crate::function::LaunchBounds;
use crate::ptx::Module;

fn read(text: &str) -> Module<'_> {
    Module::read("a.ptx", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the names of the functions with a body.
fn names(text: &str) -> Vec<String> {
    let module = read(text);
    module.bodies().iter().map(|body| body.name(module.file()).to_owned()).collect()
}

/// Returns the number of functions in a file, with or without bodies. The words `.entry` and `.func` are counted
/// without the project's reader. A word ends at white space, a bracket or a semicolon. Words in comments and strings do
/// not count.
fn count(text: &str) -> usize {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => {
                let mut is_escaped = true;
                let is_end = |letter: char| {
                    let is_end = letter == '"' && !is_escaped;
                    is_escaped = letter == '\\' && !is_escaped;
                    is_end
                };
                rest.find(is_end).map_or(rest.len(), |end| end + 1)
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => {
                code.push(if ";(){},".contains(first) { ' ' } else { first });
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        code.push(' ');
        rest = &rest[end..];
    }
    code.split_whitespace().filter(|word| [".entry", ".func"].contains(word)).count()
}

/// Returns the numbers of bodies, prototypes, and functions that are reported as not read.
fn accounted(text: &str) -> [usize; 3] {
    let module = read(text);
    let file = module.file();
    let unread = module.unread();
    let is_prototype = |parts| match parts {
        Some(crate::ptx::Parts::Function(head)) if head.is_prototype => {
            let name = file.text().str(head.name);
            !unread.iter().any(|of| of.name == name)
        }
        _ => false,
    };
    let prototypes = file.statements().ids().filter(|&statement| is_prototype(file.parts(statement))).count();
    [module.bodies().len(), prototypes, unread.len()]
}

/// Every directive of a head can be read, including `.pragma` with its semicolon. The head prints again, and bounds
/// after a pragma count.
#[test]
fn heads_with_directives() {
    for head in [
        ".pragma \"nounroll\";",
        ".maxntid 128\n.pragma \"nounroll\", \"x\"; .maxnreg 40 .pragma \"y\";",
        ".reqntid 128, 1, 1 .minnctapersm 1 .local_maxnreg 32",
        ".blocksareclusters .reqntid 32 .reqnctapercluster 2, 1, 1 .explicitcluster .maxclusterrank 4",
        ".maxnctapersm 2 .noreturn .abi_preserve 8 .abi_preserve_control 2 .language \"x\"",
        ".unheard_of 1, 2 .another(.of, 3) .pragma \"x\" ;",
    ] {
        let text = format!(".version 9.0\n.visible .entry a(.param .u32 n) {head} {{ ret; }}\n.entry b() {{ ret; }}");
        assert_eq!(names(&text), ["a", "b"], "{head}");
        let module = read(&text);
        assert!(module.unread().is_empty(), "{head}");
        assert!(module.file().print() == text.as_bytes(), "{head}");
        assert!(module.slices(&["a"])[0].as_deref().is_some_and(|slice| text.as_bytes().starts_with(slice)), "{head}");
    }
    let module = read(".entry a() .pragma \"x\"; .maxnreg 40 .maxntid 64 { ret; }");
    let bounds = module.bodies()[0].launch_bounds(module.file());
    let wanted = LaunchBounds { max_registers: Some(40), max_threads: Some(64), ..LaunchBounds::default() };
    assert_eq!(bounds, Some(wanted));
    let patch = module.begin(&module.bodies()[0], &[(".maxnreg", 32)], None);
    assert!(String::from_utf8_lossy(&patch.apply(module.file().text().bytes())).contains(".maxnreg 32"));
    let module = read(".entry a() .pragma \"x\";\n{ ret; }");
    let patch = module.begin(&module.bodies()[0], &[(".maxnreg", 32)], None);
    let limited = String::from_utf8_lossy(&patch.apply(module.file().text().bytes())).into_owned();
    assert_eq!(limited, ".entry a() .pragma \"x\";\n.maxnreg 32\n{ ret; }");
}

/// A prototype ends at its semicolon, whatever follows it.
#[test]
fn prototypes() {
    let text = ".func f(.param .b32 a) .noreturn;\n.pragma \"x\";\n.func g() .pragma \"y\";\n.pragma \"z\";\n\
                .entry k() .maxntid 1 { ret; }\n.func f(.param .b32 a) .noreturn { ret; }";
    assert_eq!(names(text), ["k", "f"]);
    assert_eq!(accounted(text), [2, 2, 0]);
}

/// A function with an unknown head, or at an unexpected place, is reported with its line.
#[test]
fn functions_that_are_not_read() {
    let of = |text: &str| {
        let unread = read(text).unread();
        unread.iter().map(|of| (of.line, of.word.clone(), of.name.clone())).collect::<Vec<_>>()
    };
    let named = |line, word: &str, name: &str| vec![(line, word.to_owned(), name.to_owned())];
    assert_eq!(of("\n.entry k() .maxntid = 3 { ret; }"), named(2, ".entry", "k"));
    assert_eq!(of(".func (.param .b32 r) f(5) { ret; }\n.entry k() { ret; }"), named(1, ".func", "f"));
    assert_eq!(of(".hidden .entry k() { ret; } .entry l() { ret; }\n.global .b32 x;"), {
        let mut both = named(1, ".entry", "k");
        both.extend(named(1, ".entry", "l"));
        both
    });
    assert_eq!(of(".entry 5() { ret; }"), named(1, ".entry", ""));
    assert_eq!(of(".entry k() ; { ret; }"), named(1, ".entry", "k"));
    // The head ends at a semicolon that belongs to no pragma, and its body follows another statement.
    assert_eq!(of(".entry k() .pragma \"x\"; = ; { ret; } .func f();"), named(1, ".entry", "k"));
    assert_eq!(of(".func f();\n.func g() .pragma \"x\"; .alias a, b; { { ret; } }\n.entry k() { ret; }"), {
        named(2, ".func", "g")
    });
    assert_eq!(
        of(".func f(); .pragma \"x\"; .global .b32 x[2] = {1, 2}; .section .d { .b8 1 } .entry k() { ret; }"),
        []
    );
    let said = read(".entry k() .x = 3 { ret; }").unread()[0].to_string();
    let expected = "a.ptx:1: k (.entry) is left out: the head of the function cannot be parsed; check the function with \
                    ptxas, and report the head if ptxas accepts it";
    assert_eq!(said, expected);
}

/// Every function in the test files is a body, a prototype, or reported. This also holds with unknown words in the
/// heads.
#[test]
fn none_is_lost() {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))];
    let mut texts: Vec<String> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "ptx") {
                texts.push(std::fs::read_to_string(path).expect("a text"));
            }
        }
    }
    texts.retain(|text| Module::read("a.ptx", text.as_bytes()).is_ok());
    texts.sort();
    assert!(texts.len() > 5, "{}", texts.len());
    let all: usize = texts.iter().map(|text| count(text)).sum();
    assert!(all >= texts.len(), "{all}");
    for text in &texts {
        let [bodies, prototypes, unread] = accounted(text);
        assert_eq!((bodies + prototypes, unread), (count(text), 0), "{text}");
    }
    const STRANGE: [&str; 9] =
        [".pragma \"x\";", ".odd 1", ".odd(1)", "= 3", "word", ".pragma \"x\"; = ;", "[", ".alias a, b;", ", ,"];
    // All possible replacements are made, so the test does not depend on random draws.
    let mut named = [0; STRANGE.len()];
    for text in &texts {
        let functions = [".entry", ".func"].into_iter().flat_map(|word| text.match_indices(word));
        // Unknown words are inserted before the word of a function, and after the closing parenthesis of its
        // parameters.
        let places = functions.flat_map(|(at, _)| [at, at + text[at..].find('{').unwrap_or(0)]);
        for (at, number) in places.flat_map(|at| (0..STRANGE.len()).map(move |number| (at, number))) {
            let changed = format!("{}{} {}", &text[..at], STRANGE[number], &text[at..]);
            if Module::read("a.ptx", changed.as_bytes()).is_ok() {
                let [bodies, prototypes, unread] = accounted(&changed);
                assert_eq!(bodies + prototypes + unread, count(&changed), "{changed}");
                named[number] += unread;
            }
        }
    }
    let is_named = |strange: &str| STRANGE.iter().zip(named).any(|(one, named)| *one == strange && named > 0);
    assert!(["= 3", "word", ", ,", ".pragma \"x\"; = ;"].into_iter().all(is_named), "{named:?}");
    assert!(!is_named(".pragma \"x\";"), "{named:?}");
}
