//! Finds and starts the real ptxas.
//!
//! `NVPTX_RA_PTXAS` sets it. Otherwise, it is the next `ptxas` on PATH that is not this program, or else the ptxas in
//! `CUDA_PATH`. A link to this program is recognised as the same file, and a copy by its bytes. A script that calls
//! this program again is recognised by [`CALLERS`]: the variable lists every program that was tried, so that no program
//! is tried twice.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nvptx_ra::error::{Error, ErrorKind};

/// The variable that sets the real ptxas.
pub(crate) const NAMED: &str = "NVPTX_RA_PTXAS";

/// The variable that tells child processes which programs have started each other up to this process.
const CALLERS: &str = "NVPTX_RA_CALLERS";

/// NVIDIA's ptxas.
#[derive(Clone, Debug)]
pub(crate) struct RealPtxas {
    pub path: PathBuf,
    /// The value of [`CALLERS`] for its process.
    callers: String,
    /// Whether another wrapper started this program as the real ptxas. Then the outer wrapper searches.
    pub is_nested: bool,
}

/// The environment in which the real ptxas is searched.
struct Surroundings {
    named: Option<OsString>,
    path: Option<OsString>,
    cuda: Option<OsString>,
    callers: String,
    /// This program.
    this: Option<PathBuf>,
}

impl RealPtxas {
    pub(crate) fn find() -> Result<Self, Error> {
        Self::find_or(None)
    }

    /// Returns the ptxas at a given path, or else the ptxas that it finds.
    pub(crate) fn find_or(named: Option<&Path>) -> Result<Self, Error> {
        let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self::find_in(&Surroundings {
            named: named.map(Into::into).or_else(|| given(NAMED)),
            path: given("PATH"),
            cuda: given("CUDA_PATH"),
            callers: given(CALLERS).and_then(|value| value.into_string().ok()).unwrap_or_default(),
            this: std::env::current_exe().ok(),
        })
    }

    fn find_in(around: &Surroundings) -> Result<Self, Error> {
        let on_path = |name: &OsStr| {
            let folders = around.path.iter().flat_map(std::env::split_paths);
            folders.map(|folder| folder.join(name)).collect::<Vec<PathBuf>>()
        };
        let named = around.named.as_ref().map(|name| {
            let has_slash = name.as_bytes().contains(&b'/');
            let candidates = if has_slash { vec![name.into()] } else { on_path(name) };
            candidates.into_iter().find(|candidate| is_program(candidate)).ok_or_else(|| {
                let problem = format!("{NAMED} names '{}', which is not a program", name.to_string_lossy());
                Error::new(ErrorKind::File, problem, "set it to NVIDIA's ptxas, or unset it")
            })
        });
        let named = named.transpose()?;
        let path = match named {
            Some(named) if around.is_this(&named) => {
                let problem = format!("{NAMED} names '{}', which calls this program again", named.display());
                return Err(Error::new(ErrorKind::File, problem, "set it to NVIDIA's ptxas, or unset it"));
            }
            Some(named) => named,
            None => {
                let in_toolkit = around.cuda.iter().map(|cuda| Path::new(cuda).join("bin/ptxas"));
                let mut all = on_path("ptxas".as_ref()).into_iter().chain(in_toolkit);
                all.find(|candidate| is_program(candidate) && !around.is_this(candidate)).ok_or_else(|| {
                    let problem = "NVIDIA's ptxas: not found on PATH or in CUDA_PATH";
                    let problem = if around.callers.is_empty() {
                        problem.into()
                    } else {
                        format!("{problem}; the programs that were tried call this program again")
                    };
                    let remedy = format!("set {NAMED} to it, or CUDA_PATH to a CUDA toolkit");
                    Error::new(ErrorKind::File, problem, remedy)
                })?
            }
        };
        let tried = [around.this.as_deref(), Some(&path)].into_iter().flatten().filter_map(identity);
        let callers: Vec<String> = around.callers().map(str::to_owned).chain(tried).collect();
        Ok(Self { path, callers: callers.join(" "), is_nested: !around.callers.is_empty() })
    }

    /// Returns a command that starts it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.env(CALLERS, &self.callers);
        command
    }

    /// Returns whether ptxas takes a value for an option; `None` if ptxas does not know the option. ptxas runs with
    /// this option alone, and its message is read.
    pub(crate) fn takes_value(&self, option: &str) -> Option<bool> {
        takes_value(self.command(), option)
    }

    /// Replaces this process by ptxas, with the arguments unchanged. Returns only on failure.
    pub(crate) fn become_it(&self, arguments: &[OsString]) -> Error {
        let error = self.command().args(arguments).exec();
        Error::file(&self.path, &error)
    }
}

/// Implements [`RealPtxas::takes_value`]. `ptxas` is the command that starts ptxas.
pub(crate) fn takes_value(mut ptxas: Command, option: &str) -> Option<bool> {
    let done = ptxas.arg(option).stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&done.stderr);
    if said.contains("Unknown option") { None } else { Some(said.contains(": argument expected after")) }
}

impl Surroundings {
    fn callers(&self) -> impl Iterator<Item = &str> {
        self.callers.split_whitespace()
    }

    /// Returns whether a program is this program or a copy, or calls it again.
    fn is_this(&self, program: &Path) -> bool {
        let other = identity(program);
        let leads_back = other.as_deref().is_some_and(|other| self.callers().any(|caller| caller == other));
        let this = self.this.as_deref();
        leads_back || this.is_some_and(|this| identity(this) == other || is_copy(this, program))
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns a file's device and inode, after links are followed.
fn identity(path: &Path) -> Option<String> {
    fs::metadata(path).ok().map(|found| format!("{}:{}", found.dev(), found.ino()))
}

/// Returns whether two files have the same bytes. Files are only read if their lengths agree.
fn is_copy(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| fs::metadata(path).map(|found| found.len()).ok();
    length(one).is_some()
        && length(one) == length(other)
        && fs::read(one).is_ok_and(|bytes| fs::read(other).is_ok_and(|others| bytes == others))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes a folder with `us/ptxas`, this program; `link/ptxas` and `copy/ptxas`; `real/ptxas`; and `plain/ptxas`,
    /// which is not executable.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("there is space");
        let write = |name: &str, text: &str, mode| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("there is space");
            fs::write(&path, text).expect("there is space");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        write("us/ptxas", "this", 0o755);
        write("copy/ptxas", "this", 0o755);
        write("real/ptxas", "that", 0o755);
        write("cuda/bin/ptxas", "those", 0o755);
        write("plain/ptxas", "text", 0o644);
        fs::create_dir(folder.path().join("link")).expect("there is space");
        symlink("../us/ptxas", folder.path().join("link/ptxas")).expect("there is space");
        folder
    }

    fn around(folder: &Path, path: &[&str]) -> Surroundings {
        let path = std::env::join_paths(path.iter().map(|name| folder.join(name))).expect("names");
        Surroundings {
            named: None,
            path: Some(path),
            cuda: None,
            callers: String::new(),
            this: Some(folder.join("us/ptxas")),
        }
    }

    /// The result is the first program on PATH that is not this program, a link to it or a copy. If there is none, it
    /// is the toolkit's ptxas.
    #[test]
    fn the_next_on_path() {
        let folder = folder();
        let folder = folder.path();
        let ours = ["us", "link", "copy", "plain", "none"];
        let found = |around: &Surroundings| RealPtxas::find_in(around).map(|ptxas| ptxas.path);
        let mut around = around(folder, &[&ours[..], &["real"]].concat());
        assert_eq!(found(&around), Ok(folder.join("real/ptxas")));
        around.path = self::around(folder, &ours).path;
        around.cuda = Some(folder.join("cuda").into());
        assert_eq!(found(&around), Ok(folder.join("cuda/bin/ptxas")));
        around.cuda = None;
        let error = found(&around).expect_err("there is none").to_string();
        assert_eq!(
            error,
            "nvptx-ra: NVIDIA's ptxas: not found on PATH or in CUDA_PATH; \
             set NVPTX_RA_PTXAS to it, or CUDA_PATH to a CUDA toolkit"
        );
    }

    /// The program that the variable sets is used, by its path or by its name on PATH, unless it is this program or not
    /// executable.
    #[test]
    fn the_named_one() {
        let folder = folder();
        let folder = folder.path();
        let mut around = around(folder, &["us", "real"]);
        let mut found = |name: &Path| {
            around.named = Some(name.into());
            RealPtxas::find_in(&around).map(|ptxas| ptxas.path).map_err(|error| error.problem)
        };
        assert_eq!(found(&folder.join("cuda/bin/ptxas")), Ok(folder.join("cuda/bin/ptxas")));
        for ours in ["us/ptxas", "link/ptxas", "copy/ptxas"] {
            let problem = found(&folder.join(ours)).expect_err("it is this program");
            assert!(problem.ends_with("/ptxas', which calls this program again"), "{problem}");
        }
        let problem = found(&folder.join("plain/ptxas")).expect_err("it is no program");
        assert!(problem.ends_with("which is not a program"), "{problem}");
        assert!(found(Path::new("ptxas")).is_err(), "the first on PATH is this program");
        assert!(found(Path::new("no-such-ptxas")).is_err());
    }

    /// Programs that were tried are not tried again: a script that starts this program is skipped, until no program is
    /// left.
    #[test]
    fn a_script_that_leads_back() {
        let folder = folder();
        let folder = folder.path();
        let mut around = around(folder, &["real", "cuda/bin"]);
        let first = RealPtxas::find_in(&around).expect("the script");
        assert!(first.path.ends_with("real/ptxas") && !first.is_nested);
        around.callers = first.callers;
        let second = RealPtxas::find_in(&around).expect("the next one");
        assert!(second.path.ends_with("cuda/bin/ptxas") && second.is_nested);
        around.callers = second.callers;
        let error = RealPtxas::find_in(&around).expect_err("nothing is left").to_string();
        assert!(error.contains("the programs that were tried call this program again"), "{error}");
        around.named = Some(folder.join("real/ptxas").into());
        assert!(RealPtxas::find_in(&around).is_err());
    }
}
