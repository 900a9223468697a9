//! ptxas and the disassembler on one PTX file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nvptx_ra::error::Error;
use nvptx_ra::profile::fingerprint;
use nvptx_ra::target::machine::Architecture;

use super::figures::Figures;
use super::machine_code;
use super::process;
use super::sass::{self, Sass};
use crate::ptxas::{self, Folder, Real};

/// What is known of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// Each kernel by its name.
    pub(super) kernels: BTreeMap<String, (Real, Sass)>,
    /// How long ptxas took when it was asked.
    pub(super) took: Duration,
}

impl Judged {
    /// What one kernel costs, which is launched with so many threads in a block.
    pub(super) fn figures(
        &self,
        kernel: &str,
        threads: Option<u32>,
        architecture: &Architecture,
    ) -> Result<Figures, String> {
        let found = self.kernels.get(kernel).ok_or("ptxas: it makes nothing of the kernel")?;
        Ok(Figures::new(found.0, found.1, architecture, threads))
    }
}

/// How machine code is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// By the disassembler.
    Closely,
    /// By counting, where that is enough.
    Quickly,
}

/// The form in which results are kept: those in another are not read.
const FORM: u32 = 3;

/// Runs ptxas and the disassembler; several threads may share one.
pub(super) struct Judge {
    ptxas: PathBuf,
    cuobjdump: PathBuf,
    cpu: String,
    folder: Folder,
    /// Where results are kept between searches, by what they are results of.
    cache: Option<PathBuf>,
    /// Whether machine code is kept until the end.
    keeps_cubins: bool,
    /// What ptxas says of its own version: another one is another judge.
    version: String,
    files: AtomicUsize,
    /// How often ptxas ran.
    runs: AtomicUsize,
    /// Whether counting has given what the disassembler gives.
    counts_well: AtomicBool,
}

impl Judge {
    /// Finds the programs.
    pub(super) fn new(cpu: &str, cache: Option<&Path>, keeps_cubins: bool) -> Result<Self, Error> {
        let ptxas = ptxas::tool("ptxas");
        let remedy = "put NVIDIA's ptxas and cuobjdump on PATH, or set CUDA_PATH to a CUDA toolkit";
        let version = Command::new(&ptxas)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Error::pass(format!("{}: {error}", ptxas.display()), remedy))?;
        let cuobjdump = ptxas::tool("cuobjdump");
        if !cuobjdump.is_file() {
            return Err(Error::pass("cuobjdump: not found", remedy));
        }
        if let Some(folder) = cache {
            fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
        }
        Ok(Self {
            ptxas,
            cuobjdump,
            cpu: cpu.to_owned(),
            folder: Folder::new("tune")?,
            cache: cache.map(Path::to_owned),
            keeps_cubins,
            version: String::from_utf8_lossy(&version.stdout).into_owned(),
            files: AtomicUsize::new(0),
            runs: AtomicUsize::new(0),
            counts_well: AtomicBool::new(true),
        })
    }

    /// How often ptxas ran.
    pub(super) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// The machine code of a file, as a file: what was judged before is at hand.
    pub(super) fn cubin(&self, ptx: &[u8], limit: Duration) -> Result<PathBuf, String> {
        let cubin = self.cubin_of(ptx);
        if !cubin.is_file() {
            // What a cache remembers has no machine code.
            self.assemble(ptx, limit, Look::Quickly)?;
        }
        Ok(cubin)
    }

    /// Where the machine code of a file is kept.
    fn cubin_of(&self, ptx: &[u8]) -> PathBuf {
        self.folder.path(&format!("{}.cubin", fingerprint(&String::from_utf8_lossy(ptx))))
    }

    /// What ptxas makes of the kernels of a file, within a time. An error says why there is no answer.
    pub(super) fn judge(&self, ptx: &[u8], limit: Duration, look: Look) -> Result<Judged, String> {
        let text = String::from_utf8_lossy(ptx);
        let key = fingerprint(&format!("{FORM}\n{}\n{}\n{text}", self.version, self.cpu));
        let kept = self.cache.as_ref().map(|folder| folder.join(format!("{key}.txt")));
        if let Some(judged) = kept.as_ref().and_then(|path| fs::read_to_string(path).ok()).and_then(|text| parse(&text))
        {
            return Ok(judged);
        }
        let judged = self.assemble(ptx, limit, look)?;
        if let Some(path) = kept {
            // A result that cannot be kept is found again.
            let _ = super::write_whole(&path, print(&judged).as_bytes());
        }
        Ok(judged)
    }

    fn assemble(&self, ptx: &[u8], limit: Duration, look: Look) -> Result<Judged, String> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let file = |extension: &str| self.folder.path(&format!("{number}.{extension}"));
        let (input, cubin, log, sass) = (file("ptx"), file("cubin"), file("log"), file("sass"));
        fs::write(&input, ptx).map_err(|error| format!("{}: {error}", input.display()))?;
        let start = Instant::now();
        let report = self.run_ptxas(&input, &cubin, &log, limit);
        let took = start.elapsed();
        let judged = report.and_then(|report| {
            let reported = ptxas::parse(&report);
            let has_stack = reported.values().any(|real| real.total_stack_bytes > 0);
            let counted = machine_code::count(&fs::read(&cubin).unwrap_or_default()).unwrap_or_default();
            let is_counting_enough = look == Look::Quickly && !has_stack && self.counts_well.load(Ordering::Relaxed);
            let code = if is_counting_enough {
                counted
                    .into_iter()
                    .map(|(name, count)| (name, Sass { instructions: count, ..Sass::default() }))
                    .collect()
            } else {
                self.disassemble(&cubin, &sass, limit, &counted)?
            };
            let with_code = |(name, real)| code.get(&name).map(|&sass| (name, (real, sass)));
            Ok(Judged { kernels: reported.into_iter().filter_map(with_code).collect(), took })
        });
        if self.keeps_cubins && judged.is_ok() {
            fs::rename(&cubin, self.cubin_of(ptx)).map_err(|error| format!("{}: {error}", cubin.display()))?;
        }
        for path in [input, cubin, log, sass] {
            // The folder goes away in the end.
            let _ = fs::remove_file(path);
        }
        judged
    }

    /// What ptxas reports of a file.
    fn run_ptxas(&self, input: &Path, cubin: &Path, log: &Path, limit: Duration) -> Result<String, String> {
        let mut assembler = Command::new(&self.ptxas);
        assembler.args(["-v", "-O3", "-arch", &self.cpu, "-o"]).arg(cubin).arg(input);
        let succeeded = process::run(assembler, log, log, limit).map_err(|problem| format!("ptxas {problem}"))?;
        let report = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
        if succeeded {
            return Ok(report);
        }
        Err(format!("ptxas: {}", report.lines().next().unwrap_or("it failed without a message")))
    }

    /// What the disassembler says of a file. It is compared with what was counted.
    fn disassemble(
        &self,
        cubin: &Path,
        listing: &Path,
        limit: Duration,
        counted: &BTreeMap<String, u32>,
    ) -> Result<BTreeMap<String, Sass>, String> {
        let mut disassembler = Command::new(&self.cuobjdump);
        disassembler.arg("-sass").arg(cubin);
        let finished = process::run(disassembler, listing, listing, limit);
        if !finished.map_err(|problem| format!("cuobjdump {problem}"))? {
            return Err("cuobjdump: it does not take what ptxas wrote".into());
        }
        let listing = fs::read(listing).map_err(|error| format!("cuobjdump: {error}"))?;
        let code = sass::read(&String::from_utf8_lossy(&listing));
        if !code.iter().all(|(name, sass)| counted.get(name) == Some(&sass.instructions)) {
            self.counts_well.store(false, Ordering::Relaxed);
        }
        Ok(code)
    }
}

/// Results as text: the time, then a kernel a line.
fn print(judged: &Judged) -> String {
    let line = |(name, (real, sass)): (&String, &(Real, Sass))| {
        let Real { registers, spill_store_bytes, spill_load_bytes, stack_bytes, total_stack_bytes, shared_bytes } =
            real;
        let Sass { instructions, local, stack_traffic } = sass;
        let of_ptxas = format!(
            "{registers} {spill_store_bytes} {spill_load_bytes} {stack_bytes} {total_stack_bytes} {shared_bytes}"
        );
        format!("{of_ptxas} {instructions} {local} {stack_traffic} {name}\n")
    };
    format!("{}\n{}", judged.took.as_millis(), judged.kernels.iter().map(line).collect::<String>())
}

/// What [`print`] wrote; `None` where it is anything else.
fn parse(text: &str) -> Option<Judged> {
    let mut lines = text.lines();
    let took = Duration::from_millis(lines.next()?.parse().ok()?);
    let mut kernels = BTreeMap::new();
    for line in lines {
        let mut words = line.splitn(10, ' ');
        let mut number = || words.next()?.parse::<u32>().ok();
        let real = Real {
            registers: number()?,
            spill_store_bytes: number()?,
            spill_load_bytes: number()?,
            stack_bytes: number()?,
            total_stack_bytes: number()?,
            shared_bytes: number()?,
        };
        let (instructions, local) = (number()?, number()?);
        let sass = Sass { instructions, local, stack_traffic: words.next()?.parse().ok()? };
        kernels.insert(words.next()?.to_owned(), (real, sass));
    }
    (!kernels.is_empty()).then_some(Judged { kernels, took })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kept results read back, and broken ones are none.
    #[test]
    fn kept_results() {
        let real = Real { registers: 40, spill_store_bytes: 8, ..Real::default() };
        let sass = Sass { instructions: 9, local: 2, stack_traffic: 1 << 40 };
        let kernels = BTreeMap::from([("a b".to_owned(), (real, sass))]);
        let judged = Judged { kernels, took: Duration::from_millis(17) };
        assert_eq!(parse(&print(&judged)), Some(judged));
        assert_eq!(parse("40 8"), None);
        assert_eq!(parse(""), None);
    }
}
