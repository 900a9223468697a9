//! A folder of PTX modules for a later search, recorded by builds that do not search themselves.
//!
//! A record is two files, `DIGEST.ptx` and `DIGEST.json`: the PTX, and everything else that a search needs. The digest
//! covers both, so concurrent builds of the same module write the same bytes, and damage is detected. The PTX is
//! written first, and each file is written atomically: a record exists once its JSON file exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};

use nvptx_ra::error::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use super::entry::digest;
use super::profiles;
use super::settings::{OF_SEARCH, Settings};
use super::task::Task;
use crate::{output, private_folder};

/// Version of the format.
const FORM: u32 = 1;

/// Digits of a record's digest.
const DIGITS: usize = 16;

/// Everything that a search needs except the PTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Conditions {
    form: u32,
    /// The file name of the profile that a search writes.
    pub(super) profile: String,
    /// ptxas's options that affect machine code, the processor included.
    pub(super) options: Vec<String>,
    /// The environment variables that change a search's result.
    settings: BTreeMap<String, String>,
}

/// A recorded PTX module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) digest: String,
    pub(super) text: Vec<u8>,
    pub(super) conditions: Conditions,
}

impl Conditions {
    fn json(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self).map(|json| json + "\n").map_err(|error| Error::internal(error, None))
    }

    /// Returns the settings of a build that searches with `runs` runs.
    pub(super) fn settings(&self, runs: u32) -> Result<Settings, Error> {
        let runs = runs.to_string();
        Settings::read_with(&|name| match name {
            "NVPTX_RA_RUNS" => Some((&runs).into()),
            name => self.settings.get(name).map(Into::into),
        })
    }
}

/// Returns a record's digest.
fn digest_of(text: &[u8], json: &str) -> String {
    digest(&[json.as_bytes(), text].concat())[..DIGITS].to_owned()
}

/// Records a build's PTX. The folder must be private to the user, because its contents decide what later builds
/// deliver.
pub(super) fn write(folder: &Path, task: &Task<'_>) -> Result<(), Error> {
    let Task { invocation, input, .. } = task;
    if let Some(file) = invocation.files.first() {
        let problem = format!("ptxas also reads {}", file.display());
        return Err(Error::new(ErrorKind::Option, problem, "search in the build instead"));
    }
    let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let settings = OF_SEARCH.iter().filter_map(|&name| Some((name.to_owned(), given(name)?)));
    let conditions = Conditions {
        form: FORM,
        profile: profiles::name(invocation, input),
        options: invocation.options.clone(),
        settings: settings.collect(),
    };
    let json = conditions.json()?;
    let folder = private_folder::open(folder)?;
    let digest = digest_of(&input.text, &json);
    for (end, content) in [("ptx", input.text.as_slice()), ("json", json.as_bytes())] {
        let path = folder.join(format!("{digest}.{end}"));
        // A file with the right content keeps its modification time, because build systems compare times.
        if fs::read(&path).is_ok_and(|there| there == content) {
            continue;
        }
        output::write(&path, content)?;
    }
    Ok(())
}

/// Reads a record from a folder.
///
/// # Errors
/// There is no record with this digest, or it is damaged.
pub(super) fn read(folder: &Path, digest: &str) -> Result<Record, Error> {
    let path = |end: &str| folder.join(format!("{digest}.{end}"));
    let text = fs::read(path("ptx")).map_err(|error| Error::file(&path("ptx"), &error))?;
    let json = fs::read_to_string(path("json")).map_err(|error| Error::file(&path("json"), &error))?;
    let damaged = |problem: String| {
        let problem = format!("{}: {problem}", path("json").display());
        Error::new(ErrorKind::File, problem, "remove the record, and build again")
    };
    if digest_of(&text, &json) != digest {
        return Err(damaged("the record is damaged".into()));
    }
    let conditions: Conditions = serde_json::from_str(&json).map_err(|error| damaged(error.to_string()))?;
    if conditions.form != FORM {
        return Err(damaged(format!(
            "the record has format {}, and this program reads format {FORM}",
            conditions.form
        )));
    }
    Ok(Record { digest: digest.to_owned(), text, conditions })
}

/// Returns the paths of a record's files.
pub(super) fn files(folder: &Path, digest: &str) -> [PathBuf; 2] {
    ["ptx", "json"].map(|end| folder.join(format!("{digest}.{end}")))
}

/// Returns the digests of all records, sorted.
pub(super) fn all(folder: &Path) -> Result<BTreeSet<String>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| match error.kind() {
        NotFound => {
            let problem = format!("{}: no such folder", folder.display());
            Error::new(ErrorKind::File, problem, "build with NVPTX_RA_RUNS=0 and NVPTX_RA_RECORD set to this folder")
        }
        _ => Error::file(folder, &error),
    })?;
    let is_digest = |name: &&str| name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.strip_suffix(".json").filter(is_digest).map(str::to_owned)).collect())
}
