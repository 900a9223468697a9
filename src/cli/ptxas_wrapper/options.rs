//! The table of ptxas's options: their names, how their values are written, and their meaning for a search.
//!
//! The table contains every option in `ptxas --help` of the releases 12.8 to 13.5, and the hidden options that a search
//! must know. [`unknown`] classifies options that are in neither table.

/// Syntax of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionValue {
    /// No value. ptxas refuses `--verbose=true`.
    Nothing,
    /// `--name=value` or `--name value`.
    Value,
    /// Like [`OptionValue::Value`], with several values separated by commas. A repeated option adds values.
    List,
    /// Like [`OptionValue::Value`], and a number may directly follow the short name: `-m64`.
    Number,
    /// Like [`OptionValue::Number`], but the next argument is never the short name's value: the 3 in `-O 3` is an input
    /// file.
    JoinedNumber,
}

/// An option's meaning for a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Blocks,
    /// A file that ptxas reads.
    File,
    Entries,
    Jobserver,
    Level,
    LocalMemoryWarnings,
    NoWarnings,
    OptionFile,
    Output,
    OverridesDirectives,
    Processor,
    Relocatable,
    RegisterLimit,
    RegisterUsage,
    SpillWarnings,
    SplitCompile,
    Text,
    Threads,
    Verbose,
    Version,
    WarningsAsErrors,
}

/// How an option affects an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Kernels are searched. Every variant gets the option.
    Search,
    /// Kernels are searched, and the search considers the option's meaning.
    SearchWith(Meaning),
    /// Kernels are searched, and variants do not get the option. It concerns one run of ptxas, usually a file of that
    /// run.
    OfOneRun,
    /// ptxas runs alone, for this reason.
    PassThrough(&'static str),
    /// Like [`Class::PassThrough`], except that the option has no effect with this value.
    PassThroughUnless(&'static str, &'static str),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Its name after two dashes.
    pub long: &'static str,
    /// Its name after one dash.
    pub short: &'static str,
    pub takes: OptionValue,
    pub class: Class,
    /// The first release that has the option; 12.8 also stands for earlier releases.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test compares it with ptxas"))]
    pub since: (u32, u32),
}

use Class::{OfOneRun, PassThrough, PassThroughUnless, Search, SearchWith};
use OptionValue::{JoinedNumber, List, Nothing, Number, Value};

const fn row(long: &'static str, short: &'static str, takes: OptionValue, class: Class) -> Row {
    since((12, 8), long, short, takes, class)
}

const fn since(since: (u32, u32), long: &'static str, short: &'static str, takes: OptionValue, class: Class) -> Row {
    Row { long, short, takes, class, since }
}

const DEBUGGING: Class = PassThrough("it is for debugging");
const INSTRUMENTED: Class = PassThrough("it asks for instrumented code");
const PRINTS: Class = PassThrough("it only asks for information");
const LINKED_LATER: Class = PassThrough("the result is linked later");

/// All options, sorted by name.
pub(super) const TABLE: &[Row] = &[
    since((12, 9), "Ofast-compile", "Ofc", Value, PassThroughUnless("0", "it asks for a fast compilation")),
    row("allow-expensive-optimizations", "allow-expensive-optimizations", Value, Search),
    since((13, 3), "apply-controls", "apply-controls", Value, SearchWith(Meaning::File)),
    row("compile-as-tools-patch", "astoolspatch", Nothing, INSTRUMENTED),
    row("compile-only", "c", Nothing, SearchWith(Meaning::Relocatable)),
    row("compiler-annotations", "annotate", Nothing, DEBUGGING),
    row("def-load-cache", "dlcm", Value, Search),
    row("def-store-cache", "dscm", Value, Search),
    row("device-debug", "g", Nothing, DEBUGGING),
    // ptxas ignores the option without --compile-only.
    row("device-function-maxrregcount", "func-maxrregcount", Value, Search),
    row("device-stack-protector", "device-stack-protector", Value, PassThroughUnless("false", "it protects the stack")),
    row("disable-optimizer-constants", "disable-optimizer-consts", Nothing, Search),
    row("disable-warnings", "w", Nothing, SearchWith(Meaning::NoWarnings)),
    row("dont-merge-basicblocks", "no-bb-merge", Nothing, DEBUGGING),
    // ptxas ignores the option without --compile-only.
    since((13, 3), "enable-func-clone-sc", "enable-func-clone-sc", Value, Search),
    row("entry", "e", List, SearchWith(Meaning::Entries)),
    row("extensible-whole-program", "ewp", Nothing, LINKED_LATER),
    row("fmad", "fmad", Value, Search),
    row("force-load-cache", "flcm", Value, Search),
    row("force-store-cache", "fscm", Value, Search),
    row("g-tensor-memory-access-check", "g-tmem-access-check", Nothing, INSTRUMENTED),
    row("generate-line-info", "lineinfo", Nothing, Search),
    since((13, 5), "gno-fabric-access-check", "gno-fabric-access-check", Nothing, Search),
    since((13, 0), "gno-tensor-memory-access-check", "gno-tmem-access-check", Nothing, Search),
    row("gpu-name", "arch", Value, SearchWith(Meaning::Processor)),
    row("help", "h", Nothing, PRINTS),
    row("input-as-string", "ias", Value, SearchWith(Meaning::Text)),
    since((13, 1), "jobserver", "jobserver", Nothing, SearchWith(Meaning::Jobserver)),
    row(
        "legacy-bar-warp-wide-behavior",
        "legacy-bar-warp-wide-behavior",
        Nothing,
        PassThrough("it changes what instructions mean"),
    ),
    since((13, 1), "list-arch", "arch-ls", Nothing, PRINTS),
    since((13, 0), "list-version", "version-ls", Nothing, PRINTS),
    row("machine", "m", Number, Search),
    row("make-errors-visible-at-exit", "make-errors-visible-at-exit", Nothing, INSTRUMENTED),
    row("maxntid", "maxntid", List, SearchWith(Meaning::Threads)),
    row("maxrregcount", "maxrregcount", Value, SearchWith(Meaning::RegisterLimit)),
    row("minnctapersm", "minnctapersm", Value, SearchWith(Meaning::Blocks)),
    row("opt-level", "O", JoinedNumber, SearchWith(Meaning::Level)),
    row("optimize-float-atomics", "opt-fp-atomics", Nothing, Search),
    row("options-file", "optf", List, SearchWith(Meaning::OptionFile)),
    row("output-file", "o", Value, SearchWith(Meaning::Output)),
    row("override-directive-values", "override-directive-values", Nothing, SearchWith(Meaning::OverridesDirectives)),
    row("position-independent-code", "pic", Value, Search),
    row("preserve-relocs", "preserve-relocs", Nothing, LINKED_LATER),
    row("register-usage-level", "regUsageLevel", Value, SearchWith(Meaning::RegisterUsage)),
    row("return-at-end", "ret-end", Nothing, DEBUGGING),
    since((13, 0), "sanitize", "sanitize", Value, INSTRUMENTED),
    row("sp-bounds-check", "sp-bounds-check", Nothing, INSTRUMENTED),
    row("split-compile", "split-compile", Value, SearchWith(Meaning::SplitCompile)),
    row(
        "suppress-async-bulk-multicast-advisory-warning",
        "suppress-async-bulk-multicast-advisory-warning",
        Nothing,
        Search,
    ),
    row("suppress-debug-info", "suppress-debug-info", Nothing, Search),
    row("suppress-double-demote-warning", "suppress-double-demote-warning", Nothing, Search),
    since(
        (13, 5),
        "suppress-position-independent-code-warning",
        "suppress-position-independent-code-warning",
        Nothing,
        Search,
    ),
    since((13, 0), "suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", Nothing, Search),
    row("suppress-stack-size-warning", "suppress-stack-size-warning", Nothing, Search),
    row("verbose", "v", Nothing, SearchWith(Meaning::Verbose)),
    since((13, 2), "verbose2", "v2", Nothing, PassThrough("it shows how ptxas proceeds")),
    row("version", "V", Nothing, SearchWith(Meaning::Version)),
    row("warn-on-double-precision-use", "warn-double-usage", Nothing, Search),
    row("warn-on-local-memory-usage", "warn-lmem-usage", Nothing, SearchWith(Meaning::LocalMemoryWarnings)),
    row("warn-on-spills", "warn-spills", Nothing, SearchWith(Meaning::SpillWarnings)),
    row("warning-as-error", "Werror", Nothing, SearchWith(Meaning::WarningsAsErrors)),
];

/// Hidden options that do more than change machine code, sorted by name. `ptxas --help` does not list them. Some have
/// other short names in the ptxas of CUDA 12 and 13.0 than in the ptxas of 13.5.
pub(super) const HIDDEN: &[Row] = &[
    row("compiler-stats", "compilerStats", Value, OfOneRun),
    row("compiler-stats-file", "compiler-stats-file", Value, OfOneRun),
    row("compiler-stats-file", "compilerStatsFile", Value, OfOneRun),
    row("ext-desc-file", "ext-desc-file", Value, PassThrough("it describes instructions")),
    row("ext-desc-string", "ext-desc-string", Value, PassThrough("it describes instructions")),
    row("fast-compile", "fc", Nothing, PassThrough("it asks for a fast compilation")),
    row("fdevice-time-trace", "fdevice-time-trace", Value, OfOneRun),
    row("fdevice-time-trace", "timeTraceFile", Value, OfOneRun),
    row("force-externals", "fext", Nothing, DEBUGGING),
    row("ftrace-phase-after", "ftrace-phase-after", Value, OfOneRun),
    row("ftrace-phase-after", "ftracePhaseAfter", Value, OfOneRun),
    row("okey", "ok", Value, PassThrough("the PTX is obfuscated")),
    row("ptx-length", "ptxlen", Value, PassThrough("the PTX is obfuscated")),
    row("use-trace-pid", "use-trace-pid", Value, OfOneRun),
];

/// Parts of option names that suggest more than a change of machine code: debugging, checks, or files.
const TELLING: [(&str, &str); 9] = [
    ("debug", "it may be for debugging"),
    ("sanitize", "it may ask for instrumented code"),
    ("instrument", "it may ask for instrumented code"),
    ("access-check", "it may ask for instrumented code"),
    ("dump", "it may write a file"),
    ("file", "it may name a file"),
    ("keep", "it may write a file"),
    ("output", "it may name a file"),
    ("trace", "it may write a file"),
];

/// Checks that an option in no table is harmless for a search; otherwise returns the reason.
///
/// ptxas knows the option, because its run on the stock PTX would fail otherwise. The same ptxas with the same option
/// judges every variant. But a variant must not write a user's file, and a file that ptxas reads affects the result.
/// `exists` returns whether a file exists.
pub(super) fn unknown(name: &str, value: Option<&str>, exists: &dyn Fn(&str) -> bool) -> Result<(), &'static str> {
    let name = name.trim_start_matches('-').to_ascii_lowercase();
    if let Some((_, reason)) = TELLING.iter().find(|(part, _)| name.contains(part)) {
        return Err(reason);
    }
    let is_number = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
    let is_file = |name: &str| !is_number(name) && exists(name);
    let is_path = |value: &str| value.contains('/') || value.split(',').chain([value]).any(is_file);
    if value.is_some_and(is_path) { Err("its value may name a file") } else { Ok(()) }
}

/// Looks up an option as it is written in an argument, with its dashes and without its value. ptxas accepts long names
/// after two dashes, short names after one dash, and no abbreviations.
pub(super) fn by_word(word: &str) -> Option<&'static Row> {
    let mut all = TABLE.iter().chain(HIDDEN);
    match word.strip_prefix("--") {
        Some(long) => all.find(|row| row.long == long),
        None => word.strip_prefix('-').and_then(|short| all.find(|row| row.short == short)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    use super::*;
    use crate::ptxas_wrapper::tests::ptxas;

    /// Names are sorted and unique.
    #[test]
    fn names_are_unique() {
        assert!(TABLE.is_sorted_by_key(|row| row.long) && HIDDEN.is_sorted_by_key(|row| row.long));
        let all = || TABLE.iter().chain(HIDDEN);
        let shorts: BTreeSet<&str> = all().map(|row| row.short).collect();
        assert_eq!(shorts.len(), all().count());
        for row in all() {
            assert!(by_word(&format!("--{}", row.long)).is_some_and(|found| found.long == row.long));
            assert!(by_word(&format!("-{}", row.short)).is_some_and(|found| found.long == row.long));
        }
        for word in ["--verb", "-verbose", "--arch", "---v", "v", "", "-", "--", "-O3"] {
            assert!(by_word(word).is_none(), "{word}");
        }
    }

    /// Options that are in no table are accepted, unless their names or values suggest files, debugging or checks.
    #[test]
    fn options_of_no_table() {
        let exists = |name: &str| ["here", "2"].contains(&name);
        let said = |name: &str, value: Option<&str>| unknown(name, value, &exists).err().unwrap_or("goes along");
        for (name, value, expected) in [
            ("--regAllocOptLevel", Some("2"), "goes along"),
            ("-regAllocOptLevel", Some("2"), "goes along"),
            ("--sw4575628", None, "goes along"),
            ("--cuda-api-version", Some("13.5"), "goes along"),
            ("--new", Some("none,here"), "its value may name a file"),
            ("--new", Some("here"), "its value may name a file"),
            ("--new", Some("a/b"), "its value may name a file"),
            ("--new-File", Some("x"), "it may name a file"),
            ("--trace-phases", None, "it may write a file"),
            ("--g-fabric-access-check", None, "it may ask for instrumented code"),
            ("--debug-more", None, "it may be for debugging"),
        ] {
            assert_eq!(said(name, value), expected, "{name} {value:?}");
        }
    }

    /// The table matches `ptxas --help` for this release: it has the same names, and an option has a value exactly if
    /// the help shows one.
    #[test]
    fn the_table_is_that_of_the_help() {
        let Some(ptxas) = ptxas() else { return };
        let print = |argument: &str| {
            let output = Command::new(&ptxas).arg(argument).output().expect("ptxas starts");
            String::from_utf8(output.stdout).expect("it is text")
        };
        let version = print("--version");
        let release = version.split("release ").nth(1).and_then(|rest| rest.split(',').next()).expect("a release");
        let (major, minor) = release.split_once('.').expect("two numbers");
        let release: (u32, u32) = (major.parse().expect("a number"), minor.parse().expect("a number"));
        let help = print("--help");
        let shown: BTreeSet<(&str, &str)> = help
            .lines()
            .filter_map(|line| {
                let (long, rest) = line.strip_prefix("--")?.split_once(' ')?;
                let short = rest.rsplit_once("(-")?.1.trim_end().strip_suffix(')')?;
                let row = by_word(&format!("--{long}"));
                let has_value = rest.contains('<');
                assert!(!has_value || row.is_none_or(|row| row.takes != Nothing), "{line}");
                Some((long, short))
            })
            .collect();
        let known: BTreeSet<(&str, &str)> =
            TABLE.iter().filter(|row| row.since <= release).map(|row| (row.long, row.short)).collect();
        assert!(shown.len() > 40, "{help}");
        assert_eq!(shown, known, "ptxas {release:?} and the table");
    }

    /// ptxas takes a value for exactly the options that have a value in the table.
    #[test]
    fn values_are_taken_as_the_table_says() {
        let Some(ptxas) = ptxas() else { return };
        let said = |argument: String| {
            let output = Command::new(&ptxas).arg(argument).output().expect("ptxas starts");
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        for row in TABLE.iter().chain(HIDDEN) {
            let nothing_expected = said(format!("--{}=1", row.long)).contains("no argument expected after");
            let is_unknown = said(format!("--{}", row.long)).contains("Unknown option");
            assert!(nothing_expected == (row.takes == Nothing) || is_unknown, "{}", row.long);
            let said_of_short = said(format!("-{}", row.short));
            let value_expected = said_of_short.contains("argument expected after");
            let wants_one = !matches!(row.takes, Nothing | JoinedNumber);
            assert!(value_expected == wants_one || said_of_short.contains("Unknown option"), "{}", row.short);
        }
    }
}
