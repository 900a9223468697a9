//! What ptxas and the disassembler make of a PTX file, each time anew.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::profile::fingerprint;
use nvptx_ra::ptx::other_names;
use nvptx_ra::tune::evidence::{Real, Sass, Spills};
use nvptx_ra::tune::judged::Judged;
use nvptx_ra::tune::question::NoAnswer;
use nvptx_ra::tune::relocatable::{Footprint, Relocatable};

use super::{Judge, Look};
use crate::cache::{Key, KeyBuilder};
use crate::machine::spills::spills;
use crate::machine::{disassembler, listing, machine_code, own_names, relocatable};
use crate::ptxas::{self, Folder, Measured};
use crate::ptxas_run::{Failure, crash};
use crate::tune::process::{self, Limit, Trouble};

/// The programs that are asked.
#[derive(Clone, Debug)]
pub(in crate::tune) struct Tools {
    pub(in crate::tune) ptxas: PathBuf,
    pub(in crate::tune) cuobjdump: PathBuf,
    pub(in crate::tune) nvdisasm: PathBuf,
}

impl Tools {
    /// Those of the environment.
    pub(in crate::tune) fn find() -> Self {
        Self { ptxas: ptxas::tool("ptxas"), cuobjdump: ptxas::tool("cuobjdump"), nvdisasm: ptxas::tool("nvdisasm") }
    }
}

const REMEDY: &str = "put NVIDIA's ptxas and cuobjdump on PATH, or set CUDA_PATH to a CUDA toolkit";

/// What holds back a run of ptxas until the machine has room for it; the run holds what it returns.
pub(crate) type Gate = Box<dyn Fn() -> Box<dyn std::any::Any> + Send + Sync>;

/// The form in which results are kept: those in another are not read.
const FORM: &str = "6";

/// The option that stands ahead of all others where no build says otherwise.
const LEVEL: &str = "-O3";

/// What messages call the machine code that is looked at for spills.
const SPILLS: &str = "what ptxas spills";

/// Runs ptxas and the disassembler; several threads may share one.
pub(in crate::tune) struct Ptxas {
    tools: Tools,
    cpu: String,
    /// Options of ptxas beside the processor, `-v` and the files.
    options: Vec<OsString>,
    /// Whether what it assembles is linked later.
    is_relocatable: bool,
    /// Asked before each run of ptxas.
    gate: Option<Gate>,
    folder: Folder,
    /// What ptxas says of its own version: another one is another judge.
    version: String,
    files: AtomicUsize,
    /// How often ptxas ran.
    runs: AtomicUsize,
    /// Whether a run gave no answer for a reason that may be gone the next time.
    had_trouble: AtomicBool,
    /// Whether reading machine code has always given what the disassembler gives.
    reads_well: AtomicBool,
    /// Whether both were compared: where the answers about the kernels as they are come from a cache, nobody has yet.
    has_compared: AtomicBool,
    /// Whether there is a disassembler.
    disassembles: bool,
}

impl Ptxas {
    /// Asks the programs for their version. `options` are those that another compiler gives to ptxas.
    pub(in crate::tune) fn new(tools: Tools, cpu: &str, options: &[OsString]) -> Result<Self, Error> {
        let version = Command::new(&tools.ptxas)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Error::pass(format!("{}: {error}", tools.ptxas.display()), REMEDY))?;
        if let Some(crash) = crash("ptxas", version.status) {
            return Err(Error::pass(format!("{}: {crash}, asked for its version", tools.ptxas.display()), REMEDY));
        }
        if !tools.cuobjdump.is_file() {
            return Err(Error::pass("cuobjdump: not found", REMEDY));
        }
        Ok(Self {
            version: String::from_utf8_lossy(&version.stdout).into_owned(),
            ..Self::within_build(tools, cpu, [OsString::from(LEVEL)].iter().chain(options).cloned().collect(), None)?
        })
    }

    /// One that asks ptxas with a build's own options, through a gate. Without a disassembler, all machine code is read by
    /// ourselves.
    pub(in crate::tune) fn within_build(
        tools: Tools,
        cpu: &str,
        options: Vec<OsString>,
        gate: Option<Gate>,
    ) -> Result<Self, Error> {
        Ok(Self {
            cpu: cpu.to_owned(),
            options,
            is_relocatable: false,
            gate,
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

    /// The same, which reads what a linker sees if its options ask for what is linked later.
    pub(in crate::tune) fn for_linker(self, is_relocatable: bool) -> Self {
        Self { is_relocatable, ..self }
    }

    /// The programs.
    pub(in crate::tune) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Whether there is a program that tells what ptxas spills.
    pub(in crate::tune) fn looks_for_spills(&self) -> bool {
        self.tools.nvdisasm.is_file()
    }

    /// The processor.
    pub(in crate::tune) fn cpu(&self) -> &str {
        &self.cpu
    }

    /// The options that another compiler gives to ptxas.
    pub(in crate::tune) fn options(&self) -> impl Iterator<Item = &OsString> {
        self.options.iter().filter(|option| *option != LEVEL)
    }

    /// How often ptxas ran.
    pub(in crate::tune) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// Whether a run gave no answer for a reason that may be gone the next time: no space, a limit of time.
    pub(in crate::tune) fn had_trouble(&self) -> bool {
        self.had_trouble.load(Ordering::Relaxed)
    }

    /// The machine code of a file, as a file: what was judged before is at hand.
    pub(in crate::tune) fn cubin(&self, ptx: &[u8], limit: Duration) -> Result<PathBuf, NoAnswer> {
        let cubin = self.cubin_of(ptx);
        if !cubin.is_file() {
            // What a cache remembers has no machine code.
            self.judge(ptx, limit, Look::Quickly)?;
        }
        Ok(cubin)
    }

    /// The machine code of a file, for running it: nothing where ptxas gives none. What was judged before is at hand; else
    /// ptxas runs, and that counts for no search.
    pub(in crate::tune) fn machine_code(&self, ptx: &[u8], limit: Duration) -> Option<Vec<u8>> {
        let cubin = self.cubin_of(ptx);
        if !cubin.is_file() {
            self.judged(ptx, limit, Look::Quickly).ok()?;
        }
        fs::read(cubin).ok()
    }

    /// Where the machine code of a file is kept.
    fn cubin_of(&self, ptx: &[u8]) -> PathBuf {
        self.folder.path(&format!("{}.cubin", fingerprint(&String::from_utf8_lossy(ptx))))
    }

    /// What an answer is the answer to: the form of answers, ptxas's version and options, the processor and the file.
    pub(in crate::tune) fn key(&self, ptx: &[u8]) -> Key {
        let mut key = KeyBuilder::new("judged");
        key.field("answer", FORM.as_bytes()).field("ptxas", self.version.as_bytes());
        self.options().for_each(|option| _ = key.field("option", option.as_encoded_bytes()));
        key.field("processor", self.cpu.as_bytes()).field("ptx", ptx).key()
    }

    /// What ptxas reports of a file, and its CPU time.
    fn run_ptxas(
        &self,
        input: &Path,
        cubin: &Path,
        log: &Path,
        limit: Duration,
        has_lines: bool,
    ) -> Result<(String, Duration), NoAnswer> {
        let mut assembler = Command::new(&self.tools.ptxas);
        assembler.args(["-v", "-arch", &self.cpu]).args(&self.options).arg("-o").arg(cubin).arg(input);
        assembler.args(has_lines.then_some("-lineinfo"));
        let _permit = self.gate.as_ref().map(|gate| gate());
        let end = process::run(assembler, log, log, Limit::Computed(limit));
        let end = end.map_err(|trouble| self.lost("ptxas", &trouble))?;
        let report = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
        match Failure::of(end.status, &report) {
            None => Ok((report, end.computed)),
            Some(Failure::Crashed(crash)) => Err(NoAnswer::Refused(crash)),
            Some(Failure::Refused(reason)) => Err(NoAnswer::Refused(format!("ptxas: {reason}"))),
        }
    }

    /// What the disassembler says of a file. It is compared with what we read ourselves.
    fn disassemble(
        &self,
        cubin: &Path,
        listing: &Path,
        limit: Duration,
        own: &BTreeMap<String, Sass>,
    ) -> Result<BTreeMap<String, Sass>, NoAnswer> {
        let mut disassembler = Command::new(&self.tools.cuobjdump);
        disassembler.arg("-sass").arg(cubin);
        let finished = process::run(disassembler, listing, listing, Limit::Computed(limit));
        let status = finished.map_err(|trouble| self.lost("cuobjdump", &trouble))?.status;
        if !status.success() {
            let refused = || "cuobjdump: it refuses what ptxas wrote; take both from one CUDA toolkit".into();
            return Err(NoAnswer::Refused(crash("cuobjdump", status).unwrap_or_else(refused)));
        }
        let listing = fs::read(listing).map_err(|error| self.failed(&"cuobjdump", &error))?;
        let code = listing::read(&String::from_utf8_lossy(&listing));
        if let Some((name, sass)) = code.iter().find(|(name, sass)| own.get(*name) != Some(sass)) {
            self.reads_well.store(false, Ordering::Relaxed);
            log::debug!("{name}: the disassembler has {sass:?}, its bits are read as {:?}", own.get(name));
        }
        self.has_compared.store(true, Ordering::Relaxed);
        Ok(code)
    }

    /// What each function of machine code with source lines spills; nothing where no disassembler tells. `bytes` are the
    /// file's.
    fn spills(&self, cubin: &Path, bytes: &[u8]) -> BTreeMap<String, Spills> {
        let nvdisasm = &self.tools.nvdisasm;
        let code = machine_code::instructions(bytes).unwrap_or_default();
        let mut found = BTreeMap::new();
        let asked = disassembler::source_lines(nvdisasm, cubin, &[], SPILLS).and_then(|lines| {
            disassembler::life_ranges(nvdisasm, cubin, &[], SPILLS, |table| {
                let code = code.get(&table.name).map_or(&[][..], Vec::as_slice);
                found.insert(table.name.clone(), spills(&table, &lines, code));
            })
        });
        if let Err(error) = asked {
            log::debug!("{error}");
        }
        found
    }

    /// A file that cannot be written or read.
    fn failed(&self, place: &dyn Display, error: &std::io::Error) -> NoAnswer {
        self.had_trouble.store(true, Ordering::Relaxed);
        NoAnswer::Failed(format!("{place}: {error}"))
    }

    /// What a program that came to no end has to say.
    fn lost(&self, name: &str, trouble: &Trouble) -> NoAnswer {
        self.had_trouble.store(true, Ordering::Relaxed);
        let problem = format!("{name} {trouble}");
        match trouble {
            Trouble::TooLong(_) => NoAnswer::Refused(problem),
            Trouble::Lost(_) => NoAnswer::Failed(problem),
        }
    }
}

/// What ptxas reports of the functions of an object, with what stands in the object alone.
fn with_footprints(reported: Measured, object: &Relocatable) -> Measured {
    let with_footprint = |(name, real): (String, Real)| {
        let Footprint { registers, frame, stack, .. } = object.functions.get(&name)?.footprint;
        let total_stack_bytes = real.total_stack_bytes.max(stack);
        Some((name, Real { registers, stack_bytes: frame, total_stack_bytes, ..real }))
    };
    reported.into_iter().filter_map(with_footprint).collect()
}

impl Judge for Ptxas {
    fn judge(&self, ptx: &[u8], limit: Duration, look: Look) -> Result<Judged, NoAnswer> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.judged(ptx, limit, look)
    }
}

impl Ptxas {
    /// What ptxas makes of a file. The machine code is kept until the end.
    fn judged(&self, ptx: &[u8], limit: Duration, look: Look) -> Result<Judged, NoAnswer> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let file = |extension: &str| self.folder.path(&format!("{number}.{extension}"));
        let (input, cubin, log, sass) = (file("ptx"), file("cubin"), file("log"), file("sass"));
        fs::write(&input, ptx).map_err(|error| self.failed(&input.display(), &error))?;
        let report = self.run_ptxas(&input, &cubin, &log, limit, look == Look::ForSpills);
        let judged = report.and_then(|(report, took)| {
            let read = fs::read(&cubin).unwrap_or_default();
            let others = other_names(ptx);
            let report = own_names::in_messages(report, &others);
            let bytes = if others.is_empty() {
                read
            } else {
                let bytes = own_names::put_back(&read, &others).map_err(NoAnswer::Refused)?;
                fs::write(&cubin, &bytes).map_err(|error| self.failed(&cubin.display(), &error))?;
                bytes
            };
            let object = self.is_relocatable.then(|| {
                let unread = || NoAnswer::Refused("ptxas: the object cannot be read".into());
                relocatable::read(&bytes).ok_or_else(unread)
            });
            let object = object.transpose()?;
            let reported = match &object {
                None => ptxas::parse(&report),
                Some(object) => with_footprints(ptxas::parse_separately(&report), object),
            };
            let has_stack = reported.values().any(|real| real.total_stack_bytes > 0);
            let own = machine_code::read(&bytes).unwrap_or_default();
            let is_own_enough = match look {
                Look::Closely => false,
                Look::WhereStack => !has_stack,
                Look::Quickly | Look::ForSpills => true,
            };
            let has_read_well = self.has_compared.load(Ordering::Relaxed) && self.reads_well.load(Ordering::Relaxed);
            let is_own_enough = is_own_enough && has_read_well;
            let code =
                if is_own_enough || !self.disassembles { own } else { self.disassemble(&cubin, &sass, limit, &own)? };
            let with_code = |(name, real)| code.get(&name).map(|&sass| (name, (real, sass)));
            let spills = if look == Look::ForSpills { self.spills(&cubin, &bytes) } else { BTreeMap::new() };
            let kernels = reported.into_iter().filter_map(with_code).collect();
            Ok(Judged { kernels, took, spills, object })
        });
        if judged.is_ok() {
            fs::rename(&cubin, self.cubin_of(ptx)).map_err(|error| self.failed(&cubin.display(), &error))?;
        }
        for path in [input, cubin, log, sass] {
            // The folder goes away in the end.
            let _ = fs::remove_file(path);
        }
        judged
    }
}
