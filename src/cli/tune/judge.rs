//! ptxas and the disassembler on one PTX file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nvptx_ra::error::Error;
use nvptx_ra::profile::fingerprint;

use super::figures::Sass;
use crate::ptxas::{self, Folder, Real};

/// What is known of each kernel of a file.
pub(super) type Judged = BTreeMap<String, (Real, Sass)>;

/// Runs ptxas and the disassembler; several threads may share one.
pub(super) struct Judge {
    ptxas: PathBuf,
    cuobjdump: PathBuf,
    cpu: String,
    folder: Folder,
    /// Where results are kept between searches, by what they are results of.
    cache: Option<PathBuf>,
    /// What ptxas says of its own version: another one is another judge.
    version: String,
    files: AtomicUsize,
    /// How often ptxas ran.
    runs: AtomicUsize,
}

impl Judge {
    /// Finds the programs.
    pub(super) fn new(cpu: &str, cache: Option<&Path>) -> Result<Self, Error> {
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
            version: String::from_utf8_lossy(&version.stdout).into_owned(),
            files: AtomicUsize::new(0),
            runs: AtomicUsize::new(0),
        })
    }

    /// How often ptxas ran.
    pub(super) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// What ptxas makes of the kernels of a file, within a time. An error says why there is no answer.
    pub(super) fn judge(&self, ptx: &[u8], limit: Duration) -> Result<Judged, String> {
        let text = String::from_utf8_lossy(ptx);
        let key = fingerprint(&format!("{}\n{}\n{text}", self.version, self.cpu));
        let kept = self.cache.as_ref().map(|folder| folder.join(format!("{key}.txt")));
        if let Some(judged) = kept.as_ref().and_then(|path| fs::read_to_string(path).ok()).and_then(|text| parse(&text))
        {
            return Ok(judged);
        }
        let judged = self.assemble(ptx, limit)?;
        if let Some(path) = kept {
            // A result that cannot be kept is found again.
            let _ = super::write_whole(&path, print(&judged).as_bytes());
        }
        Ok(judged)
    }

    fn assemble(&self, ptx: &[u8], limit: Duration) -> Result<Judged, String> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let file = |extension: &str| self.folder.path(&format!("{number}.{extension}"));
        let (input, cubin, log, sass) = (file("ptx"), file("cubin"), file("log"), file("sass"));
        fs::write(&input, ptx).map_err(|error| format!("{}: {error}", input.display()))?;
        let mut assembler = Command::new(&self.ptxas);
        assembler.args(["-v", "-O3", "-arch", &self.cpu, "-o"]).arg(&cubin).arg(&input);
        let finished = run(assembler, &log, limit).map_err(|problem| format!("ptxas {problem}"));
        let report = fs::read(&log).unwrap_or_default();
        let report = String::from_utf8_lossy(&report);
        let judged = finished.and_then(|is_success| {
            if !is_success {
                return Err(format!("ptxas: {}", report.lines().next().unwrap_or("it failed without a message")));
            }
            let mut disassembler = Command::new(&self.cuobjdump);
            disassembler.arg("-sass").arg(&cubin);
            if !run(disassembler, &sass, limit).map_err(|problem| format!("cuobjdump {problem}"))? {
                return Err("cuobjdump: it does not take what ptxas wrote".into());
            }
            let sass = fs::read(&sass).map_err(|error| format!("cuobjdump: {error}"))?;
            let counted = count(&String::from_utf8_lossy(&sass));
            Ok(ptxas::parse(&report)
                .into_iter()
                .filter_map(|(name, real)| counted.get(&name).map(|&sass| (name, (real, sass))))
                .collect())
        });
        for path in [input, cubin, log, sass] {
            // The folder goes away in the end.
            let _ = fs::remove_file(path);
        }
        judged
    }
}

/// Runs a program to its end, or to the limit, its output in a file. Whether it succeeded; an error where there was no
/// end.
fn run(mut command: Command, log: &Path, limit: Duration) -> Result<bool, String> {
    let output = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let errors = output.try_clone().map_err(|error| format!("{}: {error}", log.display()))?;
    let start = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
    let mut child = child.map_err(|error| format!("cannot be started: {error}"))?;
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if start.elapsed() < limit => std::thread::sleep(pause),
            Ok(None) => {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("takes more than {} s", limit.as_secs()));
            }
            Err(error) => return Err(format!("is lost: {error}")),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Counts the instructions of each function in what cuobjdump prints.
fn count(listing: &str) -> BTreeMap<String, Sass> {
    let mut counted: BTreeMap<String, Sass> = BTreeMap::new();
    let mut name = None;
    for line in listing.lines() {
        if let Some(found) = line.trim_start().strip_prefix("Function : ") {
            name = Some(found.trim().to_owned());
            counted.entry(found.trim().to_owned()).or_default();
        }
        let Some(of_function) = name.as_ref().and_then(|name| counted.get_mut(name)) else { continue };
        let Some(opcode) = opcode(line) else { continue };
        of_function.instructions += u32::from(opcode != "NOP");
        of_function.local += u32::from(opcode.starts_with("LDL") || opcode.starts_with("STL"));
    }
    counted
}

/// The opcode in a line as `/*0010*/  @P0 LDL R1, [R2] ;  /* 0x… */`.
fn opcode(line: &str) -> Option<&str> {
    let (address, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let is_address = address.len() >= 4 && address.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut words = rest.split_whitespace().filter(|_| is_address);
    let first = words.next()?;
    let opcode = if first.starts_with('@') { words.next()? } else { first };
    Some(opcode.trim_end_matches(';'))
}

/// Results as text, a kernel a line.
fn print(judged: &Judged) -> String {
    let line = |(name, (real, sass)): (&String, &(Real, Sass))| {
        let Real { registers, spill_store_bytes, spill_load_bytes, stack_bytes, shared_bytes } = real;
        let Sass { instructions, local } = sass;
        format!(
            "{registers} {spill_store_bytes} {spill_load_bytes} {stack_bytes} {shared_bytes} {instructions} {local} {name}\n"
        )
    };
    judged.iter().map(line).collect()
}

/// What [`print`] wrote; `None` where it is anything else.
fn parse(text: &str) -> Option<Judged> {
    let mut judged = Judged::new();
    for line in text.lines() {
        let mut words = line.splitn(8, ' ');
        let mut number = || words.next()?.parse::<u32>().ok();
        let real = Real {
            registers: number()?,
            spill_store_bytes: number()?,
            spill_load_bytes: number()?,
            stack_bytes: number()?,
            shared_bytes: number()?,
        };
        let sass = Sass { instructions: number()?, local: number()? };
        judged.insert(words.next()?.to_owned(), (real, sass));
    }
    (!judged.is_empty()).then_some(judged)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instructions are counted for each function, NOPs apart, local accesses beside.
    #[test]
    fn counts_sass() {
        let listing = "\t\tFunction : a\n\t.headerflags\t@\"EF\"\n\
             \u{20}       /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */\n\
             \u{20}                                                           /* 0x000fe20000000800 */\n\
             \u{20}       /*0010*/              @!P0 STL.64 [R1], R4 ;         /* 0x0000000401007387 */\n\
             \u{20}       /*0020*/                   NOP;                      /* 0x0000000000007918 */\n\
             \t\tFunction : b\n\
             \u{20}       /*0000*/                   EXIT ;                    /* 0x000000000000794d */\n";
        let counted = count(listing);
        assert_eq!(counted["a"], Sass { instructions: 2, local: 1 });
        assert_eq!(counted["b"], Sass { instructions: 1, local: 0 });
    }

    /// Kept results read back, and broken ones are none.
    #[test]
    fn kept_results() {
        let real = Real { registers: 40, spill_store_bytes: 8, ..Real::default() };
        let judged = Judged::from([("a b".to_owned(), (real, Sass { instructions: 9, local: 2 }))]);
        assert_eq!(parse(&print(&judged)), Some(judged));
        assert_eq!(parse("40 8"), None);
        assert_eq!(parse(""), None);
    }

    /// A program that does not end is ended.
    #[test]
    fn time_limit() {
        let log = std::env::temp_dir().join(format!("nvptx-ra-limit-{}", std::process::id()));
        let mut sleep = Command::new("sleep");
        sleep.arg("60");
        let problem = run(sleep, &log, Duration::from_millis(30)).expect_err("it is stopped");
        assert!(problem.contains("takes more than"), "{problem}");
        assert_eq!(run(Command::new("false"), &log, Duration::from_secs(30)), Ok(false));
        std::fs::remove_file(log).expect("it was written");
    }
}
