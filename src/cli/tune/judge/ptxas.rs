//! A judge that runs ptxas and the disassembler on each PTX file.

mod reading;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::profile::fingerprint;
use nvptx_ra::ptx::other_names;
use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::ptxas_output::PtxasReport;
use nvptx_ra::tune::question::NoAnswer;
use nvptx_ra::tune::relocatable::{Footprint, Relocatable};

use super::{Inspection, Judge};
use crate::cache::{Key, KeyBuilder};
use crate::machine::{relocatable, reported};
use crate::ptxas::{self, Folder, PtxasReports};
use crate::ptxas_run::{Assembled, Failure, crash};
use crate::tune::process::{self, Limit, RunFailure};

/// The programs.
#[derive(Clone, Debug)]
pub(in crate::tune) struct Tools {
    pub(in crate::tune) ptxas: PathBuf,
    pub(in crate::tune) cuobjdump: PathBuf,
    pub(in crate::tune) nvdisasm: PathBuf,
}

impl Tools {
    /// Finds the programs of the environment.
    pub(in crate::tune) fn find() -> Self {
        Self { ptxas: ptxas::tool("ptxas"), cuobjdump: ptxas::tool("cuobjdump"), nvdisasm: ptxas::tool("nvdisasm") }
    }
}

const REMEDY: &str = "put NVIDIA's ptxas and cuobjdump on PATH, or set CUDA_PATH to a CUDA toolkit";

/// A function that delays a ptxas run until the machine has room for it. The run holds the returned value.
pub(crate) type Gate = Box<dyn Fn() -> Box<dyn std::any::Any> + Send + Sync>;

/// How a build calls ptxas.
#[derive(Default)]
pub(crate) struct Build {
    /// All options that affect machine code, including the processor.
    pub(crate) options: Vec<OsString>,
    /// Whether ptxas prints figures for the build.
    pub(crate) is_verbose: bool,
    /// Called before each ptxas run.
    pub(crate) gate: Option<Gate>,
}

/// A file that was judged during a build.
struct JudgedModule {
    judged: Judgement,
    /// ptxas's messages, if ptxas ran with the build's own options.
    messages: Option<String>,
}

/// The version of the format in which results are stored. Results in other formats are not read.
const FORM: &str = "6";

/// The first option if no build sets options.
const LEVEL: &str = "-O3";

/// A judge that runs ptxas and the disassembler. Several threads may share it.
pub(in crate::tune) struct Ptxas {
    tools: Tools,
    cpu: String,
    /// ptxas options, without input and output files. Outside of a build, `-v` and the processor precede them.
    options: Vec<OsString>,
    /// Whether its output is linked later.
    is_relocatable: bool,
    /// Called before each ptxas run.
    gate: Option<Gate>,
    /// Results by the fingerprint of the file. `None` outside of a build.
    known: Option<Mutex<BTreeMap<String, JudgedModule>>>,
    /// Whether the build asks ptxas for figures.
    is_verbose: bool,
    /// Whether ptxas is called so that it prints the figures. A build may not ask for them.
    prints: bool,
    folder: Folder,
    /// ptxas's version. Results of other versions are not reused.
    version: String,
    files: AtomicUsize,
    /// The number of ptxas runs.
    runs: AtomicUsize,
    /// Whether a run failed for a reason that may not occur again.
    had_trouble: AtomicBool,
    /// Whether this project's own reader has always agreed with the disassembler.
    reads_well: AtomicBool,
    /// Whether the own reader and the disassembler were compared. They are not compared if the answers for stock come
    /// from a cache.
    has_compared: AtomicBool,
    /// Whether there is a disassembler.
    disassembles: bool,
}

impl Ptxas {
    /// Creates a judge, and asks ptxas for its version. `options` are another compiler's ptxas options.
    pub(in crate::tune) fn new(tools: Tools, cpu: &str, options: &[OsString]) -> Result<Self, Error> {
        let version = Command::new(&tools.ptxas)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Error::pass(format!("{}: {error}", tools.ptxas.display()), REMEDY))?;
        if let Some(crash) = crash("ptxas", version.status) {
            return Err(Error::pass(format!("{}: {crash} when run with --version", tools.ptxas.display()), REMEDY));
        }
        if !tools.cuobjdump.is_file() {
            return Err(Error::pass("cuobjdump: not found", REMEDY));
        }
        let build =
            Build { options: [OsString::from(LEVEL)].iter().chain(options).cloned().collect(), ..Build::default() };
        let version = String::from_utf8_lossy(&version.stdout).into_owned();
        Ok(Self { version, known: None, ..Self::within_build(tools, cpu, build)? })
    }

    /// Creates a judge that calls ptxas as a build does.
    pub(in crate::tune) fn within_build(tools: Tools, cpu: &str, build: Build) -> Result<Self, Error> {
        let Build { options, is_verbose, gate } = build;
        Ok(Self {
            cpu: cpu.to_owned(),
            options,
            is_relocatable: false,
            gate,
            known: Some(Mutex::default()),
            is_verbose,
            prints: true,
            folder: Folder::new("tune")?,
            version: String::new(),
            files: AtomicUsize::new(0),
            runs: AtomicUsize::new(0),
            had_trouble: AtomicBool::new(false),
            reads_well: AtomicBool::new(true),
            has_compared: AtomicBool::new(false),
            disassembles: tools.cuobjdump.is_file(),
            tools,
        })
    }

    /// Reads figures from machine code, if the build does not ask ptxas for them and `are_wanted` is set.
    pub(in crate::tune) fn with_figures_of_code(self, are_wanted: bool) -> Self {
        Self { prints: self.is_verbose || !are_wanted, ..self }
    }

    /// Also reads what a linker sees, if the output is linked later.
    pub(in crate::tune) fn for_linker(self, is_relocatable: bool) -> Self {
        Self { is_relocatable, ..self }
    }

    /// Returns the programs.
    pub(in crate::tune) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Whether there is a program that finds the values that ptxas spills.
    pub(in crate::tune) fn looks_for_spills(&self) -> bool {
        self.tools.nvdisasm.is_file()
    }

    /// Returns the processor.
    pub(in crate::tune) fn cpu(&self) -> &str {
        &self.cpu
    }

    /// Returns another compiler's ptxas options.
    pub(in crate::tune) fn options(&self) -> impl Iterator<Item = &OsString> {
        self.options.iter().filter(|option| *option != LEVEL)
    }

    /// Returns the number of ptxas runs.
    pub(in crate::tune) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// Whether a run failed for a reason that may not occur again, such as a full disk or a time limit.
    pub(in crate::tune) fn had_trouble(&self) -> bool {
        self.had_trouble.load(Ordering::Relaxed)
    }

    /// Returns the path of a file's machine code. Earlier results are reused.
    pub(in crate::tune) fn cubin(&self, ptx: &[u8], limit: Duration) -> Result<PathBuf, NoAnswer> {
        let cubin = self.cubin_of(ptx);
        if !cubin.is_file() {
            // The cache stores no machine code.
            self.judge(ptx, limit, Inspection::OwnReader)?;
        }
        Ok(cubin)
    }

    /// Returns the machine code of a file, which then runs on the CPU. `None` if ptxas produces none. Earlier results
    /// are reused. If there is no earlier result, ptxas runs, and this run is not counted as a run of the search.
    pub(in crate::tune) fn machine_code(&self, ptx: &[u8], limit: Duration) -> Option<Vec<u8>> {
        let cubin = self.cubin_of(ptx);
        if !cubin.is_file() {
            self.judged(ptx, limit, Inspection::OwnReader).ok()?;
        }
        fs::read(cubin).ok()
    }

    /// Returns where the machine code of a file is stored.
    fn cubin_of(&self, ptx: &[u8]) -> PathBuf {
        self.folder.path(&format!("{}.cubin", fingerprint(&String::from_utf8_lossy(ptx))))
    }

    /// Returns the key of an answer: the form of answers, ptxas's version and options, the processor and the file.
    pub(in crate::tune) fn key(&self, ptx: &[u8]) -> Key {
        let mut key = KeyBuilder::new("judged");
        key.field("answer", FORM.as_bytes()).field("ptxas", self.version.as_bytes());
        self.options().for_each(|option| _ = key.field("option", option.as_encoded_bytes()));
        key.field("processor", self.cpu.as_bytes()).field("ptx", ptx).key()
    }

    /// Runs ptxas on a file, and returns its output and CPU time. The machine code stays in its file. The kernels have
    /// their own names in it.
    fn assembled(
        &self,
        Files { input, cubin, log, .. }: &Files,
        ptx: &[u8],
        limit: Duration,
        has_lines: bool,
        prints: bool,
    ) -> Result<(Assembled, Duration), NoAnswer> {
        let mut assembler = Command::new(&self.tools.ptxas);
        assembler.args(prints.then_some("-v"));
        if self.known.is_none() {
            assembler.args(["-arch", &self.cpu]);
        }
        assembler.args(&self.options).args(has_lines.then_some("-lineinfo")).arg("-o").arg(cubin).arg(input);
        let _permit = self.gate.as_ref().map(|gate| gate());
        let end = process::run(assembler, log, log, Limit::Computed(limit));
        let end = end.map_err(|failure| self.lost("ptxas", &failure))?;
        let messages = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
        match Failure::of(end.status, &messages) {
            None => {}
            Some(Failure::Crashed(crash)) => return Err(NoAnswer::Refused(crash)),
            Some(Failure::Refused(reason)) => return Err(NoAnswer::Refused(format!("ptxas: {reason}"))),
        }
        let made = Assembled { cubin: fs::read(cubin).unwrap_or_default(), messages };
        let others = other_names(ptx);
        if others.is_empty() {
            return Ok((made, end.computed));
        }
        let made = made.with_own_names(&others).map_err(NoAnswer::Refused)?;
        fs::write(cubin, &made.cubin).map_err(|error| self.failed(&cubin.display(), &error))?;
        Ok((made, end.computed))
    }

    /// Returns the answer for a file that cannot be written or read.
    fn failed(&self, place: &dyn Display, error: &std::io::Error) -> NoAnswer {
        self.had_trouble.store(true, Ordering::Relaxed);
        NoAnswer::Failed(format!("{place}: {error}"))
    }

    /// Returns the answer for a program that was killed or could not run.
    fn lost(&self, name: &str, failure: &RunFailure) -> NoAnswer {
        self.had_trouble.store(true, Ordering::Relaxed);
        let problem = format!("{name} {failure}");
        match failure {
            RunFailure::TooLong(_) => NoAnswer::Refused(problem),
            RunFailure::Lost(_) => NoAnswer::Failed(problem),
        }
    }
}

/// Adds figures to ptxas's reports of functions. Only the object has these figures.
fn with_footprints(reported: PtxasReports, object: &Relocatable) -> PtxasReports {
    let with_footprint = |(name, ptxas_report): (String, PtxasReport)| {
        let Footprint { registers, frame, stack, .. } = object.functions.get(&name)?.footprint;
        let total_stack_bytes = ptxas_report.total_stack_bytes.max(stack);
        Some((name, PtxasReport { registers, stack_bytes: frame, total_stack_bytes, ..ptxas_report }))
    };
    reported.into_iter().filter_map(with_footprint).collect()
}

impl Judge for Ptxas {
    fn judge(&self, ptx: &[u8], limit: Duration, inspection: Inspection) -> Result<Judgement, NoAnswer> {
        let known = |known: &JudgedModule| known.judged.clone();
        if let Some(judged) = self.of_known(ptx, known).filter(|_| inspection != Inspection::Spills) {
            return Ok(judged);
        }
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.judged(ptx, limit, inspection)
    }
}

/// The files of a ptxas run.
struct Files {
    input: PathBuf,
    cubin: PathBuf,
    log: PathBuf,
    listing: PathBuf,
}

impl Ptxas {
    /// Returns a part of the result for a file that was judged during this build.
    fn of_known<R>(&self, ptx: &[u8], of: impl FnOnce(&JudgedModule) -> R) -> Option<R> {
        let known = self.known.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&fingerprint(&String::from_utf8_lossy(ptx))).map(of)
    }

    /// Returns ptxas's output for a file, if ptxas ran on it with the build's own options. The build then need not run
    /// ptxas again.
    pub(in crate::tune) fn made(&self, ptx: &[u8]) -> Option<Assembled> {
        let messages = self.of_known(ptx, |known| known.messages.clone())??;
        Some(Assembled { cubin: fs::read(self.cubin_of(ptx)).ok()?, messages })
    }

    /// Judges a file. The machine code is kept until this judge is dropped.
    fn judged(&self, ptx: &[u8], limit: Duration, inspection: Inspection) -> Result<Judgement, NoAnswer> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let file = |extension: &str| self.folder.path(&format!("{number}.{extension}"));
        let files = Files { input: file("ptx"), cubin: file("cubin"), log: file("log"), listing: file("sass") };
        let Files { input, cubin, log, listing } = &files;
        fs::write(input, ptx).map_err(|error| self.failed(&input.display(), &error))?;
        let judged = self.read(&files, ptx, limit, inspection);
        if judged.is_ok() {
            fs::rename(cubin, self.cubin_of(ptx)).map_err(|error| self.failed(&cubin.display(), &error))?;
        }
        for path in [input, cubin, log, listing] {
            // The whole folder is removed when this judge is dropped.
            let _ = fs::remove_file(path);
        }
        let (judged, messages) = judged?;
        if let Some(known) = self.known.as_ref().filter(|_| inspection != Inspection::Spills) {
            let known = &mut known.lock().unwrap_or_else(PoisonError::into_inner);
            let fingerprint = fingerprint(&String::from_utf8_lossy(ptx));
            known.insert(fingerprint, JudgedModule { judged: judged.clone(), messages });
        }
        Ok(judged)
    }

    /// Runs ptxas on a file and reads the figures. Also returns ptxas's messages, if ptxas ran with the build's own
    /// options.
    fn read(
        &self,
        files: &Files,
        ptx: &[u8],
        limit: Duration,
        inspection: Inspection,
    ) -> Result<(Judgement, Option<String>), NoAnswer> {
        let assembled = |prints| self.assembled(files, ptx, limit, inspection == Inspection::Spills, prints);
        let mut prints = self.prints || self.is_relocatable;
        let (mut made, mut took) = assembled(prints)?;
        let reported = if prints { None } else { reported::reported(&made.cubin) };
        if reported.is_none() && !prints {
            prints = true;
            (made, took) = assembled(prints)?;
        }
        let Assembled { cubin, messages } = made;
        let unread = || NoAnswer::Refused("ptxas: the object cannot be read".into());
        let object = self.is_relocatable.then(|| relocatable::read(&cubin).ok_or_else(unread)).transpose()?;
        let reported = match (&object, reported) {
            (Some(object), _) => with_footprints(ptxas::parse_separately(&messages), object),
            (None, Some(reported)) => ptxas::with_advice(reported, &messages),
            (None, None) => ptxas::parse(&messages),
        };
        let code = self.code(files, &cubin, limit, inspection, &reported)?;
        let with_code = |(name, ptxas_report)| code.get(&name).map(|&sass| (name, (ptxas_report, sass)));
        let spills = if inspection == Inspection::Spills { self.spills(&files.cubin, &cubin) } else { BTreeMap::new() };
        let kernels = reported.into_iter().filter_map(with_code).collect();
        let messages = (prints == self.is_verbose).then_some(messages);
        Ok((Judgement { kernels, took, spills, object }, messages))
    }
}
