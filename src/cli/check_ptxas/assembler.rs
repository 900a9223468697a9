//! The assemblers that a text is checked with: programs, releases, and their options.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::Command;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::ptx::Module;
use nvptx_ra::target::PtxVersion;

use crate::meaning::fuses;
use crate::ptxas::tool;
use crate::ptxas_run::Run;

/// Releases of ptxas, and the newest version of PTX that each reads.
const VERSIONS: [((u32, u32), u32); 10] = [
    ((12, 0), 80),
    ((12, 1), 81),
    ((12, 2), 82),
    ((12, 3), 83),
    ((12, 4), 84),
    ((12, 5), 85),
    ((12, 6), 85),
    ((12, 8), 87),
    ((12, 9), 88),
    ((13, 0), 90),
];

/// A ptxas with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assembler {
    program: PathBuf,
    /// Another program is of the same release.
    is_one_of_several: bool,
    /// Its release: 13.0.88.
    release: String,
    options: Vec<String>,
}

impl Assembler {
    /// Each program with each set of options.
    ///
    /// # Errors
    /// A program that does not say which release it is.
    pub(super) fn all(programs: &[PathBuf], options: &[String]) -> Result<Vec<Self>, Error> {
        let own = [tool("ptxas")];
        let programs = if programs.is_empty() { &own[..] } else { programs };
        let none = [String::new()];
        let options = if options.is_empty() { &none[..] } else { options };
        let releases: Vec<String> = programs.iter().map(|program| release(program)).collect::<Result<_, _>>()?;
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

    /// The same with one more option.
    pub(super) fn with(&self, option: &str) -> Self {
        let mut with = self.clone();
        with.options.push(option.to_owned());
        with
    }

    /// Whether no option says how much it optimises.
    pub(super) fn optimises(&self) -> bool {
        !self.options.iter().any(|option| option.starts_with("-O") || option.starts_with("--opt-level"))
    }

    /// How a person names it: `ptxas 13.0.88 -O1`.
    pub(super) fn name(&self) -> String {
        let program = if self.is_one_of_several { self.program.display().to_string() } else { "ptxas".to_owned() };
        let words = [program, self.release.clone()].into_iter().chain(self.options.iter().cloned());
        words.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn release(&self) -> &str {
        &self.release
    }

    /// The command that assembles a file for a processor.
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

    /// Whether the assembler may fuse products and sums.
    pub(super) fn fuses(&self) -> bool {
        fuses(&self.options)
    }

    /// The newest version of PTX that the release reads, as CUDA's release notes have it; `None` of a release that is newer
    /// than this table.
    fn ptx_version(&self) -> Option<PtxVersion> {
        let mut numbers = self.release.split('.').map(|number| number.parse::<u32>().unwrap_or_default());
        let release = (numbers.next()?, numbers.next()?);
        VERSIONS.iter().find(|known| known.0 == release).map(|known| PtxVersion(known.1))
    }

    /// A text that says no newer version of PTX than the release reads. If it needs what the version brought, ptxas refuses
    /// it.
    fn readable<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let older = self.ptx_version().and_then(|version| {
            let module = Module::read("k.ptx", text).ok()?;
            module.version().filter(|own| *own > version)?;
            let start = text.windows(8).position(|window| window == b".version")? + 8;
            let end = start + text[start..].iter().position(|&byte| byte == b'\n' || byte == b'/')?;
            let PtxVersion(number) = version;
            let words = format!(" {}.{}", number / 10, number % 10);
            Some([&text[..start], words.as_bytes(), &text[end..]].concat())
        });
        older.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Assembles a text. The outer error is that no file can be written or ptxas cannot be started, the inner one what ptxas
    /// says.
    pub(super) fn assemble(&self, text: &[u8], cpu: &str) -> Result<Result<Vec<u8>, String>, Error> {
        let folder = tempfile::tempdir().map_err(|error| Error::file(&std::env::temp_dir(), &error))?;
        let (ptx, cubin) = (folder.path().join("k.ptx"), folder.path().join("k.cubin"));
        std::fs::write(&ptx, self.readable(text)).map_err(|error| Error::file(&ptx, &error))?;
        let words = self.command(&ptx, cpu, &cubin);
        let mut command = Command::new(&words[0]);
        let run = Run::of(command.args(&words[1..])).map_err(|error| cannot_start(&self.program, &error))?;
        if let Some(failure) = run.failure() {
            return Ok(Err(failure.about("it")));
        }
        Ok(std::fs::read(&cubin).map_err(|error| format!("it writes no cubin: {error}")))
    }
}

fn cannot_start(program: &Path, error: &std::io::Error) -> Error {
    let problem = format!("{} cannot be started: {error}", program.display());
    Error::new(ErrorKind::File, problem, "name a ptxas with --ptxas, or a release with --release")
}

/// The release that a program says it is.
fn release(program: &Path) -> Result<String, Error> {
    let run = Run::of(Command::new(program).arg("--version")).map_err(|error| cannot_start(program, &error))?;
    let version = run.words.split_whitespace().find_map(|word| word.strip_prefix('V').map(str::to_owned));
    version.ok_or_else(|| {
        let problem = format!("{} does not say which release it is", program.display());
        Error::new(ErrorKind::File, problem, "name a ptxas of NVIDIA's")
    })
}
