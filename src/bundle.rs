//! Bundles: folders with the files that reproduce an internal error.
//!
//! `report.json` holds the details. `function.mfv` holds the function as the pass received it. `nvptx-ra replay FOLDER`
//! runs the pass on the function again, without LLVM.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::config::{Config, Layers, read_options};
use crate::error::Error;
use crate::function::Function;

const REPORT: &str = "report.json";
const FUNCTION: &str = "function.mfv";

/// The options of a run as text, separated by origin as in [`Layers`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GivenOptions {
    /// The parameters in the pipeline string.
    #[serde(deserialize_with = "read_options")]
    pub parameters: String,
    /// The `-nvptx-ra-…` options.
    #[serde(deserialize_with = "read_options")]
    pub command_line: String,
    /// The function attribute `"nvptx-ra"`.
    #[serde(deserialize_with = "read_options")]
    pub attribute: String,
}

impl GivenOptions {
    /// Returns the options in the form that the option parser takes.
    pub fn layers(&self) -> Layers<'_> {
        Layers { parameters: &self.parameters, command_line: &self.command_line, attribute: &self.attribute }
    }
}

/// Details of an internal error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The version of this project.
    pub version: String,
    /// LLVM's version.
    pub llvm: String,
    /// The pass that failed.
    pub pass: String,
    /// The target processor.
    pub target: String,
    /// The function's name.
    pub function: String,
    /// The options.
    pub options: GivenOptions,
    /// Whether the function was in SSA form.
    pub is_ssa: bool,
    /// Whether the code generator ran at -O0.
    pub is_o0: bool,
    /// Whether the function was marked `optnone`.
    pub is_optnone: bool,
    /// The diagnostic.
    pub message: String,
    /// Backtrace of a panic, from the place where it was caught.
    pub backtrace: String,
}

impl Report {
    /// Returns a report of this version of the project.
    pub fn new() -> Self {
        Self { version: crate::VERSION.into(), ..Self::default() }
    }

    /// Writes the bundle of an error that is a bug, and adds its path to the error. Other errors are returned
    /// unchanged. The bundle is a new folder in the folder that the options name. Without that option, it is in the
    /// system's folder for temporary files. If the bundle cannot be written, the original error is returned, and only
    /// the log reports the failure.
    pub fn attach(mut self, error: Error, config: &Config, function: Option<&Function>) -> Error {
        if !error.is_bug() {
            return error;
        }
        self.message = error.to_string();
        let written = match &config.bundle {
            Some(folder) => self.write(folder, function),
            None => self.write_to(secret_folder(&self.function), function),
        };
        match written {
            Ok(path) => error.with_bundle(&path),
            Err(failure) => {
                log::warn!("no bundle: {failure}");
                error
            }
        }
    }

    /// Writes the bundle into a new folder under `parent` and returns the folder. `function` is `None` if no function
    /// could be read.
    pub fn write(&self, parent: &Path, function: Option<&Function>) -> Result<PathBuf, Error> {
        self.write_to(new_folder(parent, &self.function), function)
    }

    fn write_to(&self, folder: Result<PathBuf, Error>, function: Option<&Function>) -> Result<PathBuf, Error> {
        let folder = folder?;
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|error| Error::file(&path, &error))
        };
        let json = serde_json::to_string_pretty(self).map_err(|error| Error::internal(error, None))?;
        write(REPORT, &(json + "\n"))?;
        if let Some(function) = function {
            // A function that broke the pass may be malformed enough to break the printer, too. The report is still
            // useful.
            match catch_unwind(AssertUnwindSafe(|| function.to_string())) {
                Ok(text) => write(FUNCTION, &text)?,
                Err(_) => log::warn!("{}: the function cannot be printed", folder.display()),
            }
        }
        Ok(folder)
    }
}

/// Writes files about a function into a new folder in `parent`, or in the system's folder for temporary files. Returns
/// the new folder.
pub fn keep(parent: Option<&Path>, function: &str, files: &[(&str, &[u8])]) -> Result<PathBuf, Error> {
    let folder = match parent {
        Some(parent) => new_folder(parent, function),
        None => secret_folder(function),
    }?;
    for (name, content) in files {
        let path = folder.join(name);
        fs::write(&path, content).map_err(|error| Error::file(&path, &error))?;
    }
    Ok(folder)
}

/// The contents of a bundle, as [`read`] returns them.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The details. Empty for a bare `.mfv` file.
    pub report: Report,
    /// The function.
    pub function: Function,
}

/// Reads a bundle's folder, or a bare `.mfv` file.
pub fn read(path: &Path) -> Result<Bundle, Error> {
    let (report, text_path) = if path.is_dir() {
        let file = path.join(REPORT);
        let text = fs::read_to_string(&file).map_err(|error| Error::file(&file, &error))?;
        let report = serde_json::from_str(&text).map_err(|error| {
            let reason = io::Error::new(io::ErrorKind::InvalidData, format!("no report: {error}"));
            Error::file(&file, &reason)
        })?;
        (report, path.join(FUNCTION))
    } else {
        (Report::default(), path.to_owned())
    };
    let text = fs::read_to_string(&text_path).map_err(|error| Error::file(&text_path, &error))?;
    Ok(Bundle { report, ..of_text(&text, &text_path)? })
}

/// Parses a function in text form. `path` is its origin, for errors.
pub fn of_text(text: &str, path: &Path) -> Result<Bundle, Error> {
    let function = Function::parse(text).map_err(|error| {
        let mut error = Error::from(error);
        error.problem = format!("{}: {}", path.display(), error.problem);
        error
    })?;
    Ok(Bundle { report: Report::default(), function })
}

/// Creates `nvptx-ra-NAME-N` with the lowest free N. `create_dir` fails if the folder exists, so two processes never
/// share a folder.
fn new_folder(parent: &Path, function: &str) -> Result<PathBuf, Error> {
    /// A compiler that fails on every function should not fill the disk.
    const MOST: u32 = 1000;
    fs::create_dir_all(parent).map_err(|error| Error::file(parent, &error))?;
    let stem = file_stem(function);
    for number in 0..MOST {
        let folder = parent.join(format!("nvptx-ra-{stem}-{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::file(&folder, &error)),
        }
    }
    let reason = io::Error::new(io::ErrorKind::AlreadyExists, format!("{MOST} bundles of {stem} exist already"));
    Err(Error::file(parent, &reason))
}

/// Creates a folder under the system's folder for temporary files, which all users share. Other users can neither guess
/// its name in advance nor read its contents.
fn secret_folder(function: &str) -> Result<PathBuf, Error> {
    use std::os::unix::fs::PermissionsExt as _;
    let prefix = format!("nvptx-ra-{}-", file_stem(function));
    let private = fs::Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix(&prefix).permissions(private).tempdir();
    folder.map(tempfile::TempDir::keep).map_err(|error| Error::file(&std::env::temp_dir(), &error))
}

/// Returns a function's name as part of a file name: short, and without characters that have a meaning in a path.
fn file_stem(function: &str) -> String {
    const LONGEST: usize = 60;
    let safe = |character: char| {
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '.') { character } else { '_' }
    };
    function.chars().take(LONGEST).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::function::{FunctionBuilder, OpcodeTable};

    fn report() -> Report {
        let options = GivenOptions { parameters: "verify".into(), ..GivenOptions::default() };
        Report { function: "a/../b".into(), message: "boom".into(), options, ..Report::new() }
    }

    fn function() -> Function {
        let mut builder = FunctionBuilder::new("k", Arc::new(OpcodeTable::inserted()));
        builder.block(&[], 1.0, 0);
        builder.finish()
    }

    /// A bundle reads back as it was written, and two bundles of one function do not share a folder.
    #[test]
    fn round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().join("bundles");
        let first = report().write(&parent, Some(&function())).unwrap();
        let second = report().write(&parent, Some(&function())).unwrap();
        assert_eq!(first.file_name().unwrap(), "nvptx-ra-a_.._b-0");
        assert_eq!(second.file_name().unwrap(), "nvptx-ra-a_.._b-1");
        let bundle = read(&first).unwrap();
        assert_eq!(bundle.report, report());
        assert_eq!(bundle.function, function());
        assert!(Config::resolve(&bundle.report.options.layers()).unwrap().verify);
    }

    /// A bundle of an earlier version is read with the current names of options.
    #[test]
    fn of_before() {
        let folder = tempfile::tempdir().unwrap();
        let options = GivenOptions {
            parameters: "usedessa=1".into(),
            command_line: "verify;skip=gvn".into(),
            attribute: "add=sink".into(),
        };
        let written = Report { options, ..report() }.write(folder.path(), Some(&function())).unwrap();
        let GivenOptions { parameters, command_line, attribute } = read(&written).unwrap().report.options;
        let now = ["cssa-interference=1", "verify;skip-passes=gvn", "add-passes=sink"];
        assert_eq!([parameters, command_line, attribute], now);
    }

    /// A bug gets a bundle in the folder that the options name. A refusal gets no bundle. A bug gets no bundle if the
    /// folder cannot be written.
    #[test]
    fn only_bugs_are_attached() {
        let kept = tempfile::tempdir().unwrap();
        let parent = kept.path().join("bundles");
        let config = Config { bundle: Some(parent.clone()), ..Config::default() };
        let bug = report().attach(Error::internal("boom", None).in_function("k"), &config, Some(&function()));
        let folder = parent.join("nvptx-ra-a_.._b-0");
        assert!(bug.to_string().ends_with(&format!("please report {}", folder.display())), "{bug}");
        assert_eq!(read(&folder).unwrap().report.message, Error::internal("boom", None).in_function("k").to_string());
        let refusal = Error::pass("too large", "raise copy-limit");
        assert_eq!(report().attach(refusal.clone(), &config, None), refusal);
        let nowhere = Config { bundle: Some(folder.join(REPORT)), ..Config::default() };
        let bug = Error::internal("boom", None);
        assert_eq!(report().attach(bug.clone(), &nowhere, None), bug);
    }

    /// If the options name no folder, the bundle is in a folder with a unique name that other users cannot read.
    #[test]
    fn bundles_in_shared_folders_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let bundles = [0, 1].map(|_| {
            let error = report().attach(Error::internal("boom", None), &Config::default(), Some(&function()));
            PathBuf::from(error.remedy.split("please report ").nth(1).expect("it is named"))
        });
        assert_ne!(bundles[0], bundles[1]);
        for bundle in bundles {
            let name = bundle.file_name().unwrap().to_string_lossy().into_owned();
            assert!(name.starts_with("nvptx-ra-a_.._b-") && !name.ends_with("-0") && !name.ends_with("-1"), "{name}");
            assert_eq!(fs::metadata(&bundle).unwrap().permissions().mode() & 0o777, 0o700);
            assert_eq!(read(&bundle).unwrap().function, function());
            fs::remove_dir_all(bundle).unwrap();
        }
    }

    /// Other files are kept in the same kind of folder.
    #[test]
    fn files_are_kept() {
        let kept = tempfile::tempdir().unwrap();
        let parent = kept.path().join("bundles");
        let files: [(&str, &[u8]); 2] = [("a.ptx", b"first"), ("b.ptx", b"second")];
        for number in 0..2 {
            let folder = keep(Some(&parent), "a/../b", &files).unwrap();
            assert_eq!(folder, parent.join(format!("nvptx-ra-a_.._b-{number}")));
            assert_eq!(fs::read(folder.join("b.ptx")).unwrap(), b"second");
        }
        let private = keep(None, "k", &files).unwrap();
        assert_eq!(fs::read(private.join("a.ptx")).unwrap(), b"first");
        fs::remove_dir_all(private).unwrap();
        let error = keep(Some(&parent.join("nvptx-ra-a_.._b-0/a.ptx")), "k", &files).unwrap_err().to_string();
        assert!(error.contains("a.ptx"), "{error}");
    }

    /// A report without a function is still written, and reading it reports what is missing.
    #[test]
    fn missing_and_malformed_parts_are_named() {
        let kept = tempfile::tempdir().unwrap();
        let parent = kept.path().join("bundles");
        let folder = report().write(&parent, None).unwrap();
        let error = read(&folder).unwrap_err().to_string();
        assert!(error.contains("function.mfv"), "{error}");
        fs::write(folder.join(REPORT), "{").unwrap();
        let error = read(&folder).unwrap_err().to_string();
        assert!(error.contains("report.json: no report"), "{error}");
        fs::write(folder.join(FUNCTION), "nonsense").unwrap();
        let error = read(&folder.join(FUNCTION)).unwrap_err().to_string();
        assert!(error.contains("function.mfv: line 1"), "{error}");
    }
}
