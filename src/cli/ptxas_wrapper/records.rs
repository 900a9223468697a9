//! A folder of texts that could be searched, noted by builds that do not search themselves.
//!
//! A record is two files, `DIGEST.ptx` and `DIGEST.json`: the text, and all else that a search needs. The digest is of both,
//! so that builds which note the same text at once write the same bytes, and a damaged record is seen. The text is written
//! first, and each file as a whole: a record is there when its JSON is.

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

/// The version of the form.
const FORM: u32 = 1;

/// Digits of a record's digest.
const DIGITS: usize = 16;

/// What a search needs beside the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Conditions {
    form: u32,
    /// The name of the profile that a search makes.
    pub(super) profile: String,
    /// The options of ptxas that bear on machine code. The processor is one of them.
    pub(super) options: Vec<String>,
    /// The variables of the environment that change what a search finds.
    settings: BTreeMap<String, String>,
}

/// A text that was noted.
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

    /// The settings of a build that searches with so many runs.
    pub(super) fn settings(&self, runs: u32) -> Result<Settings, Error> {
        let runs = runs.to_string();
        Settings::read_with(&|name| match name {
            "NVPTX_RA_RUNS" => Some((&runs).into()),
            name => self.settings.get(name).map(Into::into),
        })
    }
}

/// The digest of a record.
fn digest_of(text: &[u8], json: &str) -> String {
    digest(&[json.as_bytes(), text].concat())[..DIGITS].to_owned()
}

/// Notes the text of a build. What stands in the folder decides what later builds deliver, so that it is the user's alone.
pub(super) fn write(folder: &Path, task: &Task<'_>) -> Result<(), Error> {
    let Task { invocation, input, .. } = task;
    if let Some(file) = invocation.files.first() {
        let problem = format!("ptxas reads {} beside the text", file.display());
        return Err(Error::new(ErrorKind::Option, problem, "let the build search it"));
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
        // A file that is right keeps its time: build systems go by it.
        if fs::read(&path).is_ok_and(|there| there == content) {
            continue;
        }
        output::write(&path, content)?;
    }
    Ok(())
}

/// Reads a record of a folder.
///
/// # Errors
/// There is none of this digest, or it is damaged.
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
        return Err(damaged(format!("a record of form {}, and this program reads {FORM}", conditions.form)));
    }
    Ok(Record { digest: digest.to_owned(), text, conditions })
}

/// The path of a record's file.
pub(super) fn files(folder: &Path, digest: &str) -> [PathBuf; 2] {
    ["ptx", "json"].map(|end| folder.join(format!("{digest}.{end}")))
}

/// The digests of all records, sorted.
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
