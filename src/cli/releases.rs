//! Releases of ptxas, by their numbers. They are in a folder of the user, and come from NVIDIA's wheels on PyPI.
//!
//! pip downloads a wheel, because it knows the user's index, proxy and certificates. Python also reads archives, so
//! ptxas can be extracted without another program.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::str::FromStr;

use nvptx_ra::error::{Error, ErrorKind};

use crate::private_folder;

/// The variable that sets the folder of releases.
const FOLDER: &str = "NVPTX_RA_RELEASES";

/// Path of ptxas in a release's folder.
const PROGRAM: &str = "ptxas";

/// Extracts ptxas from a wheel. The path of ptxas in wheels has changed with CUDA 13.
const UNPACK: &str = r#"
import shutil, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = [name for name in wheel.namelist() if name.endswith("/bin/ptxas")]
if not names:
    sys.exit("it has no bin/ptxas")
with wheel.open(names[0]) as source, open(sys.argv[2], "wb") as target:
    shutil.copyfileobj(source, target)
"#;

/// A release as a user writes it: `12.8` is the newest build of 12.8, `12.8.93` exactly this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    toolkit: [u32; 2],
    build: Option<u32>,
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
        let release = match parts.as_deref() {
            Some(&[major, minor]) => Some(Self { toolkit: [major, minor], build: None }),
            Some(&[major, minor, build]) => Some(Self { toolkit: [major, minor], build: Some(build) }),
            _ => None,
        };
        release
            .filter(|release| release.toolkit[0] >= 12)
            .ok_or_else(|| format!("'{text}' is not a release: write 12.8 or 12.8.93, from 12.0 on"))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor] = self.toolkit;
        write!(formatter, "{major}.{minor}")?;
        self.build.map_or(Ok(()), |build| write!(formatter, ".{build}"))
    }
}

impl Release {
    /// Returns the package that contains the release.
    fn package(self) -> String {
        match self.toolkit[0] {
            12 => "nvidia-cuda-nvcc-cu12".into(),
            _ => "nvidia-cuda-nvcc".into(),
        }
    }

    /// Returns the requirement for pip.
    fn requirement(self) -> String {
        let any = if self.build.is_none() { ".*" } else { "" };
        format!("{}=={self}{any}", self.package())
    }

    /// Returns the build of a full number, if it belongs to this release.
    fn build_of(self, number: &str) -> Option<u32> {
        let found: Self = number.parse().ok()?;
        let build = found.build.filter(|_| found.toolkit == self.toolkit)?;
        self.build.is_none_or(|wanted| wanted == build).then_some(build)
    }

    /// Returns the full number in a wheel's name, if it belongs to this release:
    /// `nvidia_cuda_nvcc_cu12-12.8.93-py3-none-….whl`.
    fn number_of_wheel(self, name: &str) -> Option<&str> {
        let rest = name.strip_suffix(".whl")?.strip_prefix(&self.package().replace('-', "_"))?;
        let number = rest.strip_prefix('-')?.split('-').next()?;
        self.build_of(number).map(|_| number)
    }
}

/// Returns the ptxas of a release: `12.8` is the newest build of 12.8 in the folder of releases, or else on PyPI.
///
/// # Errors
/// The release is not in the folder and may not be downloaded, or the download fails.
pub(crate) fn ptxas(version: &str, may_download: bool) -> Result<PathBuf, Error> {
    let release = version.parse().map_err(|problem: String| {
        Error::new(ErrorKind::Option, format!("--release {version}: {problem}"), "or name the program with --ptxas")
    })?;
    let folder = folder(&|name| std::env::var_os(name)).ok_or_else(|| {
        let problem = "there is no folder for releases of ptxas: neither XDG_CACHE_HOME nor HOME is set";
        Error::new(ErrorKind::File, problem, format!("set {FOLDER} to a folder"))
    })?;
    Releases { folder, python: "python3".into() }.ptxas(release, may_download)
}

/// Returns the full number of a ptxas from its version output: `Cuda compilation tools, release 12.8, V12.8.93`.
pub(crate) fn number_of(ptxas: &Path) -> Option<String> {
    let said = Command::new(ptxas).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let (_, number) = text.split_once(", V")?;
    number.split_whitespace().next().map(str::to_owned)
}

/// Returns the folder of releases, from the environment.
fn folder(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given(FOLDER).or_else(|| {
        let cache = given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")))?;
        Some(cache.join("nvptx-ra").join("ptxas"))
    })
}

/// A folder of releases, and the program that downloads others.
struct Releases {
    folder: PathBuf,
    python: OsString,
}

impl Releases {
    fn ptxas(&self, release: Release, may_download: bool) -> Result<PathBuf, Error> {
        // Programs in the folder are executed, so no other user may write there.
        let folder = private_folder::open(&self.folder)?;
        if let Some(number) = newest(&folder, |name| release.build_of(name).filter(|_| is_unpacked(&folder, name))) {
            return Ok(folder.join(number).join(PROGRAM));
        }
        // The user may have put a wheel into the folder.
        let build = |name: &str| release.build_of(release.number_of_wheel(name)?);
        if let Some(wheel) = newest(&folder, build) {
            return self.unpack(release, &folder, &folder.join(wheel));
        }
        if !may_download {
            let problem = format!("ptxas {release} is not in {}", folder.display());
            let remedy = format!(
                "add --download to fetch it from PyPI ({}), or name the program with --ptxas",
                release.requirement()
            );
            return Err(Error::new(ErrorKind::File, problem, remedy));
        }
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(&folder);
        let new = new.map_err(|error| Error::file(&folder, &error))?;
        say!("nvptx-ra: downloading ptxas {release}: {}", release.requirement());
        self.download(release, &folder, new.path())?;
        match newest(new.path(), build) {
            Some(wheel) => self.unpack(release, &folder, &new.path().join(wheel)),
            None => Err(by_hand(release, &folder, "pip downloaded no wheel")),
        }
    }

    /// Makes pip download the wheel into a folder.
    fn download(&self, release: Release, folder: &Path, into: &Path) -> Result<(), Error> {
        let quiet = ["-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-input", "--retries", "2"];
        let what = ["--no-deps", "--only-binary=:all:", "-d"];
        let requirement = OsString::from(release.requirement());
        let arguments = quiet.iter().chain(&what).map(OsStr::new).chain([into.as_os_str(), &requirement]);
        let said = self.run(arguments).map_err(|problem| by_hand(release, folder, &problem))?;
        if said.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&said.stderr).into_owned();
        Err(by_hand(release, folder, &format!("pip: {}", reason(&words))))
    }

    /// Extracts ptxas from a wheel and puts it in place atomically, because another process may do the same.
    fn unpack(&self, release: Release, folder: &Path, wheel: &Path) -> Result<PathBuf, Error> {
        let name = wheel.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let number = release.number_of_wheel(&name).unwrap_or_default();
        let place = folder.join(number);
        let failed = |problem: &str| by_hand(release, folder, &format!("{}: {problem}", wheel.display()));
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(folder);
        let new = new.map_err(|error| Error::file(folder, &error))?;
        let program = new.path().join(PROGRAM);
        let file = |error: &std::io::Error| Error::file(&program, error);
        let arguments = ["-c".as_ref(), UNPACK.as_ref(), wheel.as_os_str(), program.as_os_str()];
        let said = self.run(arguments).map_err(|problem| failed(&problem))?;
        if !said.status.success() {
            return Err(failed(reason(&String::from_utf8_lossy(&said.stderr))));
        }
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(|error| file(&error))?;
        if let Err(error) = fs::rename(new.path(), &place)
            && !is_unpacked(folder, number)
        {
            return Err(Error::file(&place, &error));
        }
        Ok(place.join(PROGRAM))
    }

    fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a OsStr>) -> Result<Output, String> {
        let output = Command::new(&self.python).args(arguments).stdin(Stdio::null()).output();
        output.map_err(|error| {
            let name = self.python.to_string_lossy();
            match error.kind() {
                IoErrorKind::NotFound => format!("{name}, whose pip downloads it, is not there"),
                _ => format!("{name}: {error}"),
            }
        })
    }
}

/// Returns whether a folder has the ptxas of a full number.
fn is_unpacked(folder: &Path, number: &str) -> bool {
    folder.join(number).join(PROGRAM).is_file()
}

/// Returns the name in a folder with the highest build.
fn newest(folder: &Path, build: impl Fn(&str) -> Option<u32>) -> Option<String> {
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| Some((build(&name)?, name))).max().map(|(_, name)| name)
}

/// Returns why a Python program failed: its first error message, else its last line.
fn reason(words: &str) -> &str {
    let mut lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| line.starts_with("ERROR:") || line.contains("No module named pip");
    lines.clone().find(is_error).or_else(|| lines.next_back()).unwrap_or("it failed without a message")
}

/// Returns the error for an unavailable release, with manual instructions.
fn by_hand(release: Release, folder: &Path, problem: &str) -> Error {
    let package = release.package();
    let remedy = format!(
        "put the wheel {}-{release}….whl of https://pypi.org/project/{package}/#files into {}, or name the program with \
         --ptxas",
        package.replace('-', "_"),
        folder.display()
    );
    Error::new(ErrorKind::File, format!("ptxas {release} is not available: {problem}"), remedy)
}

#[cfg(test)]
mod tests;
