//! `nvptx-ra bisect`: finds the kernel, and its choices, that make a test fail.
//!
//! TEST is a command that builds and checks. An environment variable tells the ptxas wrapper which kernels stay stock
//! (`NVPTX_RA_UNCHANGED`). The wrapper writes the kernels that it has changed into the file of another variable
//! (`NVPTX_RA_REPORT`).

mod minimal;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::profile::Entry;
use nvptx_ra::switch;
use serde::Deserialize;

use self::minimal::minimal;
use crate::kernel_names::readable;
use crate::page::counted;
use crate::ptxas::Folder;
use crate::ptxas_wrapper::exclusions;

/// Find the kernel, and the choices, that make a test fail
///
/// TEST is a command that builds from scratch and checks the result; its exit code is 0 on success. It runs with
/// NVPTX_RA=off, then normally, then with halves of the changed kernels left unchanged, and finally with halves of one
/// kernel's choices excluded. The exit code is 0 if a culprit is found, and 1 otherwise.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The command and its arguments, after --
    #[arg(value_name = "TEST", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    test: Vec<OsString>,
}

/// A function that the ptxas wrapper has changed.
#[derive(Clone, Debug)]
struct ChangedFunction {
    entry: Entry,
    /// The first file and processor with the change.
    place: String,
}

/// The fields that this module reads from a line of the report.
#[derive(Deserialize)]
struct ReportLine {
    file: String,
    processor: String,
    entries: Vec<Entry>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if std::env::var_os("NVPTX_RA_SECONDS").is_some_and(|value| !value.is_empty()) {
        say!(
            "nvptx-ra: NVPTX_RA_SECONDS is set: a search that ends early may have another result in each run; unset it"
        );
    }
    let mut runs = Runs { test: &arguments.test, folder: Folder::new("bisect")?, count: 0 };
    let (verdict, found) = match search(&mut runs)? {
        Verdict::Found(text) => (text, ExitCode::SUCCESS),
        Verdict::Nothing(text) => (text.to_owned() + "\n", ExitCode::FAILURE),
    };
    let of_runs = counted(runs.count, "run");
    crate::print_text(&format!("\n{of_runs} of TEST\n{verdict}"))?;
    Ok(found)
}

enum Verdict {
    Found(String),
    Nothing(&'static str),
}

fn search(runs: &mut Runs<'_>) -> Result<Verdict, Error> {
    if runs.fails("with NVPTX_RA=off", &[(switch::VARIABLE, switch::OFF.into())], None)? {
        return Ok(Verdict::Nothing("TEST fails with NVPTX_RA=off, too: nvptx-ra is not the cause"));
    }
    let report = runs.folder.path("report");
    let is_failing = runs.fails("with nvptx-ra", &[("NVPTX_RA_REPORT", report.clone().into())], None)?;
    let changed = read_report(&report)?;
    if !is_failing {
        return Ok(Verdict::Nothing("TEST passes with nvptx-ra, too: there is no failure to find"));
    }
    if changed.is_empty() {
        return Ok(Verdict::Nothing(
            "TEST fails, but the ptxas wrapper changed no kernel. Either TEST has not built from scratch, or the LLVM plugin causes the failure, or TEST fails at random",
        ));
    }
    if runs.fails("with all kernels unchanged", &[], Some(exclusions::ALL))? {
        return Ok(Verdict::Nothing(
            "TEST fails with all kernels unchanged, but not with NVPTX_RA=off: either the LLVM plugin causes the failure, or TEST fails at random",
        ));
    }
    let culprits = minimal(&changed, |parts: &[ChangedFunction]| {
        let is_part = |one: &ChangedFunction| parts.iter().any(|part| part.entry == one.entry);
        let unchanged = changed.iter().filter(|one| !is_part(one)).map(|one| one.line(&[])).collect::<String>();
        let words = format!("with {} of {} changed", parts.len(), counted(changed.len(), "kernel"));
        runs.fails(&words, &[], Some(&unchanged))
    })?;
    let is_culprit = |one: &ChangedFunction| culprits.iter().any(|culprit| culprit.entry == one.entry);
    let others: String = changed.iter().filter(|one| !is_culprit(one)).map(|one| one.line(&[])).collect();
    let mut text = match culprits.len() {
        1 => "TEST fails if this kernel is changed and all others are not:\n".to_owned(),
        _ => "TEST fails if these kernels are changed and all others are not; each of them is necessary:\n".to_owned(),
    };
    for culprit in &culprits {
        let all = exclusions::choices(&culprit.entry);
        let without =
            |kept: &[String]| -> Vec<String> { all.iter().filter(|choice| !kept.contains(choice)).cloned().collect() };
        let needed = minimal(&all, |kept: &[String]| {
            let list = others.clone() + &culprit.line(&without(kept));
            let words = format!("with {} of {} of {}", kept.len(), counted(all.len(), "choice"), culprit.name());
            runs.fails(&words, &[], Some(&list))
        })?;
        let (name, place) = (culprit.name(), &culprit.place);
        _ = writeln!(text, "\n  kernel   {name}\n  file     {place}\n  choices  {}", needed.join(" "));
    }
    let left_out: String = culprits.iter().map(|culprit| culprit.line(&[])).collect();
    text += match runs.fails("with all kernels changed except the culprit", &[], Some(&left_out))? {
        false => "\nTEST passes if all other kernels are changed.",
        true => "\nTEST fails if all other kernels are changed: another kernel causes the failure, too.",
    };
    text += "\nTo leave the kernel unchanged, write this line into a file, and set NVPTX_RA_UNCHANGED to the file's path, with a slash:\n\n";
    culprits.iter().for_each(|culprit| text += &format!("  {}", culprit.line(&[])));
    let names: Vec<&str> = culprits.iter().map(|culprit| culprit.entry.name.as_str()).collect();
    _ = writeln!(
        text,
        "\nNVPTX_RA_UNCHANGED={} leaves all code of that name unchanged. Please report the failure, with the PTX.",
        names[0]
    );
    Ok(Verdict::Found(text))
}

impl ChangedFunction {
    fn name(&self) -> String {
        readable(&self.entry.name)
    }

    /// Returns the line that excludes the function, or some of its choices.
    fn line(&self, without: &[String]) -> String {
        exclusions::line(&self.entry.name, &self.entry.hash, without)
    }
}

/// Reads the changed functions, sorted by name and code, so that the order of the builds has no effect.
fn read_report(path: &std::path::Path) -> Result<Vec<ChangedFunction>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Error::file(path, &error)),
    };
    let mut changed = BTreeMap::new();
    for line in text.lines() {
        let problem = |error: serde_json::Error| {
            let problem = format!("the report of a build cannot be read: {error}");
            Error::new(ErrorKind::File, problem, "let TEST's builds run this version of nvptx-ra")
        };
        let ReportLine { file, processor, entries } = serde_json::from_str(line).map_err(problem)?;
        for entry in entries {
            let place = format!("{file} for {processor}");
            let key = (entry.name.clone(), entry.hash.clone());
            let first: &mut ChangedFunction =
                changed.entry(key).or_insert_with(|| ChangedFunction { entry, place: place.clone() });
            // Builds run concurrently, so the order of lines varies.
            if place < first.place {
                first.place = place;
            }
        }
    }
    Ok(changed.into_values().collect())
}

/// The runs of TEST.
struct Runs<'a> {
    test: &'a [OsString],
    folder: Folder,
    count: usize,
}

impl Runs<'_> {
    /// Runs TEST. Returns whether it fails. `unchanged` is the content of NVPTX_RA_UNCHANGED's file.
    fn fails(&mut self, words: &str, variables: &[(&str, OsString)], unchanged: Option<&str>) -> Result<bool, Error> {
        self.count += 1;
        let path = |name: &str| -> PathBuf { self.folder.path(&format!("{name}-{}", self.count)) };
        let mut command = Command::new(&self.test[0]);
        command.args(&self.test[1..]);
        for name in [switch::VARIABLE, "NVPTX_RA_REPORT", exclusions::VARIABLE] {
            command.env_remove(name);
        }
        // Compilers' caches would hide changes. So each run has empty caches, and ccache is disabled.
        command.env("TRITON_CACHE_DIR", path("triton")).env("TORCHINDUCTOR_CACHE_DIR", path("inductor"));
        command.env("CCACHE_DISABLE", "1");
        if std::env::var_os("NVPTX_RA_CACHE").is_some_and(|value| value == "off") {
            // Without a cache, each run would search again, possibly with another result.
            command.env("NVPTX_RA_CACHE", self.folder.path("cache"));
        }
        if let Some(text) = unchanged {
            let list = path("unchanged");
            std::fs::write(&list, text).map_err(|error| Error::file(&list, &error))?;
            command.env(exclusions::VARIABLE, list);
        }
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let status = command.status().map_err(|error| Error::file(self.test[0].as_ref(), &error))?;
        let (count, how) = (self.count, if status.success() { "passes" } else { "fails" });
        say!("nvptx-ra: run {count}, {words}: TEST {how}");
        Ok(!status.success())
    }
}
