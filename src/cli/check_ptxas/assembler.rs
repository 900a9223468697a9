//! The assemblers to check: programs, releases, and their options.

use std::path::{Path, PathBuf};
use std::process::Command;

use nvptx_ra::error::{Error, ErrorKind};

use crate::meaning::fuses;
use crate::ptx_version::{known_version, of_version};
use crate::ptxas::tool;
use crate::ptxas_run::Run;
use crate::releases::number_of;

/// A ptxas with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assembler {
    program: PathBuf,
    /// Whether another program has the same release.
    is_one_of_several: bool,
    /// Its release, such as 13.0.88.
    release: String,
    options: Vec<String>,
}

impl Assembler {
    /// Returns each program with each set of options.
    ///
    /// # Errors
    /// A program does not report its release.
    pub(super) fn all(programs: &[PathBuf], options: &[String]) -> Result<Vec<Self>, Error> {
        let own = [tool("ptxas")];
        let programs = if programs.is_empty() { &own[..] } else { programs };
        let none = [String::new()];
        let options = if options.is_empty() { &none[..] } else { options };
        let release = |program: &PathBuf| number_of(program).ok_or_else(|| no_release(program));
        let releases: Vec<String> = programs.iter().map(release).collect::<Result<_, _>>()?;
        let mut all = Vec::new();
        for (program, release) in programs.iter().zip(&releases) {
            let is_one_of_several = releases.iter().filter(|other| *other == release).count() > 1;
            for options in options {
                let options = options.split_whitespace().map(str::to_owned).collect();
                all.push(Self { program: program.clone(), is_one_of_several, release: release.clone(), options });
            }
        }
        Ok(all)
    }

    /// Returns the same assembler with one more option.
    pub(super) fn with(&self, option: &str) -> Self {
        let mut with = self.clone();
        with.options.push(option.to_owned());
        with
    }

    /// Returns whether no option sets the optimisation level.
    pub(super) fn optimises(&self) -> bool {
        !self.options.iter().any(|option| option.starts_with("-O") || option.starts_with("--opt-level"))
    }

    /// Returns a readable name: `ptxas 13.0.88 -O1`.
    pub(super) fn name(&self) -> String {
        let program = if self.is_one_of_several { self.program.display().to_string() } else { "ptxas".to_owned() };
        let words = [program, self.release.clone()].into_iter().chain(self.options.iter().cloned());
        words.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn release(&self) -> &str {
        &self.release
    }

    /// Returns the command that assembles a file for a processor.
    pub(super) fn command(&self, ptx: &Path, cpu: &str, output: &Path) -> Vec<String> {
        let mut words = vec![self.program.display().to_string()];
        if !self
            .options
            .iter()
            .any(|word| ["-arch", "--gpu-name", "-gpu-name"].iter().any(|name| word.starts_with(name)))
        {
            words.extend(["-arch".into(), cpu.to_owned()]);
        }
        words.extend(self.options.iter().cloned());
        words.extend([ptx.display().to_string(), "-o".into(), output.display().to_string()]);
        words
    }

    /// Returns whether the assembler may fuse products and sums.
    pub(super) fn fuses(&self) -> bool {
        fuses(&self.options)
    }

    /// Assembles PTX. If the release does not support the PTX version, ptxas gets the same PTX with the newest version
    /// that the release supports.
    ///
    /// The outer error is a file that cannot be written, or a ptxas that cannot be started. The inner error is the
    /// reason why there is no machine code.
    pub(super) fn assemble(&self, text: &[u8], cpu: &str) -> Result<Result<Vec<u8>, String>, Error> {
        let folder = tempfile::tempdir().map_err(|error| Error::file(&std::env::temp_dir(), &error))?;
        let (ptx, cubin) = (folder.path().join("k.ptx"), folder.path().join("k.cubin"));
        let words = self.command(&ptx, cpu, &cubin);
        let run = |text: &[u8]| {
            std::fs::write(&ptx, text).map_err(|error| Error::file(&ptx, &error))?;
            let mut command = Command::new(&words[0]);
            Run::of(command.args(&words[1..])).map_err(|error| cannot_start(&self.program, &error))
        };
        let mut ran = run(text)?;
        if let Some(version) = known_version(&ran.words).filter(|_| ran.failure().is_some()) {
            ran = run(&of_version(text, version))?;
        }
        if let Some(failure) = ran.failure() {
            return Ok(Err(failure.about("it")));
        }
        Ok(std::fs::read(&cubin).map_err(|error| format!("it writes no cubin: {error}")))
    }
}

fn cannot_start(program: &Path, error: &std::io::Error) -> Error {
    let problem = format!("{} cannot be started: {error}", program.display());
    Error::new(ErrorKind::File, problem, "name a ptxas with --ptxas, or a release with --release")
}

/// Returns the error for a program that cannot be started or does not report its release.
fn no_release(program: &Path) -> Error {
    match Command::new(program).arg("--version").output() {
        Err(error) => cannot_start(program, &error),
        Ok(_) => {
            let problem = format!("{} does not report its release", program.display());
            Error::new(ErrorKind::File, problem, "name NVIDIA's ptxas")
        }
    }
}
