//! `nvptx-ra search`: searches the PTX modules that builds have recorded. The search is not part of a build.
//!
//! A separate process searches each module, as an edge of a Ninja graph would, so that a crash affects one module only.
//! A module is done once its profile exists, so an interrupted search resumes where it stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::tune::objective::RunLimits;
use serde_json::json;

use super::profiles;
use super::real_ptxas::RealPtxas;
use super::recorded_search::{self, Found};
use super::records::{self, Record};
use super::workers::{self, Workers};
use crate::ninja::{in_path, in_value, quoted, word};
use crate::page::counted;
use crate::{input, interrupt};

/// Search the PTX that builds have recorded with NVPTX_RA_RUNS=0 and NVPTX_RA_RECORD=FOLDER
///
/// The results are written to FOLDER, as a profile for each PTX module. Builds with NVPTX_RA_PROFILE=FOLDER use the
/// profiles, and do not search a module that has a profile. This command does not search such modules either: after an
/// interruption, the next call resumes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the recorded PTX modules
    folder: PathBuf,
    /// How many variants of each kernel ptxas judges
    #[arg(long, value_name = "N", default_value_t = RunLimits::RUNS, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// How many modules are searched at once [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// NVIDIA's ptxas [default: the ptxas that builds use]
    #[arg(long, value_name = "PATH")]
    ptxas: Option<PathBuf>,
    /// Search only these modules, by the names of their files in FOLDER
    #[arg(long, value_name = "DIGEST", num_args = 1..)]
    only: Vec<String>,
    /// Write the searches as a Ninja graph, for build systems with more machines than this one
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    ninja: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The PTX modules of a folder.
struct Texts {
    /// The modules without a profile, by digest. If several records share a profile, the first is searched.
    open: BTreeMap<String, Record>,
    /// The number of modules with a profile.
    done: usize,
    /// The records that cannot be read.
    damaged: Vec<Error>,
}

impl Texts {
    fn new(folder: &Path, only: &[String]) -> Result<Self, Error> {
        let all = records::all(folder)?;
        if let Some(unknown) = only.iter().find(|digest| !all.contains(*digest)) {
            let problem = format!("{}: no record {unknown}", folder.display());
            return Err(Error::new(ErrorKind::Option, problem, "name a file of the folder, without '.json'"));
        }
        let mut texts = Self { open: BTreeMap::new(), done: 0, damaged: Vec::new() };
        let mut names = BTreeSet::new();
        for digest in all.into_iter().filter(|digest| only.is_empty() || only.contains(digest)) {
            match records::read(folder, &digest) {
                Err(error) => texts.damaged.push(error),
                Ok(record) if !names.insert(record.conditions.profile.clone()) => {}
                Ok(record) if folder.join(&record.conditions.profile).exists() => texts.done += 1,
                Ok(record) => drop(texts.open.insert(digest, record)),
            }
        }
        Ok(texts)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let folder = std::path::absolute(&arguments.folder).map_err(|error| Error::file(&arguments.folder, &error))?;
    let texts = Texts::new(&folder, &arguments.only)?;
    let ptxas = RealPtxas::find_or(arguments.ptxas.as_deref())?;
    if let Some(path) = &arguments.ninja {
        return write_graph(path, &texts, &folder, arguments.runs, &ptxas.path);
    }
    interrupt::watch()?;
    let mut summary = Summary { done: texts.done, ..Summary::default() };
    texts.damaged.iter().for_each(|error| summary.add(Err(error.clone()), arguments.json));
    let mut add = |result| summary.add(result, arguments.json);
    match texts.open.values().collect::<Vec<_>>()[..] {
        [record] => add(search(record, &folder, arguments.runs, &ptxas).map(Some)),
        ref records => {
            let program = workers::this_program()?;
            let processors = || std::thread::available_parallelism().map_or(1, usize::from);
            let jobs = arguments.jobs.map_or_else(processors, usize::from);
            let workers = Workers { program: &program, folder: &folder, runs: arguments.runs, ptxas: &ptxas.path };
            workers.search(records, jobs, &mut add);
        }
    }
    summary.end(&folder, arguments.json)
}

/// Searches one module, and writes its profile.
fn search(record: &Record, folder: &Path, runs: u32, ptxas: &RealPtxas) -> Result<Found, Error> {
    let (found, profile) = recorded_search::search(record, runs, ptxas)?;
    profiles::write(folder, &found.profile, &profile)?;
    Ok(found)
}

/// The results of all modules.
#[derive(Default)]
struct Summary {
    found: Vec<Found>,
    problems: Vec<String>,
    /// The number of modules that had a profile before this search.
    done: usize,
}

impl Summary {
    /// Adds a module's result, and prints its lines. The result is `None` if another process has searched the module
    /// meanwhile.
    fn add(&mut self, result: Result<Option<Found>, Error>, json: bool) {
        match result {
            Ok(None) => self.done += 1,
            Ok(Some(found)) => {
                if !json {
                    // A closed standard output does not stop the search.
                    let _ =
                        crate::print_text(&found.lines().iter().map(|line| format!("{line}\n")).collect::<String>());
                }
                self.found.push(found);
            }
            Err(error) => {
                // Only the exit code reports an interruption.
                if !interrupt::was_interrupted() {
                    say!("{error}");
                }
                self.problems.push(error.to_string());
            }
        }
    }

    /// Prints the totals.
    fn end(&self, folder: &Path, json: bool) -> Result<ExitCode, Error> {
        if json {
            let object = json!({ "folder": folder, "texts": self.found, "problems": self.problems, "done": self.done });
            let text = serde_json::to_string(&object).map_err(|error| Error::internal(error, None))?;
            crate::print_text(&(text + "\n"))?;
        } else {
            crate::print_text(&self.line())?;
        }
        Ok(match self.problems.is_empty() {
            _ if interrupt::was_interrupted() => interrupt::exit_code(),
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }

    fn line(&self) -> String {
        let better = self.found.iter().filter(|found| !found.changes.is_empty()).count();
        let kernels: usize = self.found.iter().map(|found| found.changes.len()).sum();
        let took: Duration = self.found.iter().map(Found::took).sum();
        let mut line = format!(
            "{} searched: {better} better, with {}; {:.1} s of searches",
            counted(self.found.len(), "file"),
            counted(kernels, "better kernel"),
            took.as_secs_f64()
        );
        if self.done > 0 {
            line += &format!("; {} searched before", counted(self.done, "file"));
        }
        if !self.problems.is_empty() {
            line += &format!("; {} not searched", counted(self.problems.len(), "file"));
        }
        line + "\n"
    }
}

/// Writes the Ninja graph of the modules without a profile, with an edge for each module.
fn write_graph(path: &Path, texts: &Texts, folder: &Path, runs: u32, ptxas: &Path) -> Result<ExitCode, Error> {
    texts.damaged.iter().for_each(|error| say!("{error}"));
    let program = workers::this_program()?;
    let text = graph(texts, folder, runs, ptxas, &program)?;
    if input::is_stream(path) {
        return crate::print(text.as_bytes());
    }
    crate::output::write(path, text.as_bytes())?;
    let (left, place) = (counted(texts.open.len(), "file"), path.display());
    crate::print_text(&format!("{left} to search: run ninja -f {place}\n"))
}

fn graph(texts: &Texts, folder: &Path, runs: u32, ptxas: &Path, program: &Path) -> Result<String, Error> {
    // The programs are not inputs of the edges, so a newer ptxas does not cause a new search.
    let command = [word(program)?, "search".into(), word(folder)?, format!("--runs={runs}"), "--ptxas".into()];
    let command = [&command[..], &[word(ptxas)?, "--only $digest".into()]].concat().join(" ");
    let mut text = "# The searches of nvptx-ra search, one for each PTX file.\n".to_owned();
    text += &format!("ninja_required_version = 1.3\n\nrule search\n  command = {command}\n");
    text += "  description = search $digest\n\n";
    for (digest, record) in &texts.open {
        let output = in_path(&folder.join(&record.conditions.profile))?;
        let [ptx, json] = records::files(folder, digest);
        text += &format!("build {output}: search {} {}\n", in_path(&ptx)?, in_path(&json)?);
        text += &format!("  digest = {}\n", in_value(&quoted(digest)));
    }
    Ok(text)
}
