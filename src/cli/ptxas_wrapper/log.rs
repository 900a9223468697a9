//! The log and the report, which users can request.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use nvptx_ra::printable::printable;
use nvptx_ra::profile::Entry;
use serde::Serialize;

use super::settings::Log;
use crate::tune::request::ChangedKernel;

/// A kernel in the report.
#[derive(Serialize)]
pub(super) struct Reported<'a> {
    #[serde(flatten)]
    pub(super) change: &'a ChangedKernel,
    pub(super) file: &'a str,
    pub(super) processor: &'a str,
    /// The choices, as entries of a profile. The first kernel of a module also has the choices of the functions that
    /// kernels call.
    pub(super) entries: Vec<&'a Entry>,
}

/// Appends a kernel to the report, as a JSON object on one line. A failed write does not fail the build.
pub(super) fn report(path: &Path, reported: &Reported<'_>) {
    if let Ok(line) = serde_json::to_string(reported) {
        append(path, &format!("{line}\n"));
    }
}

/// Appends one line with one system call, so that lines of several processes do not mix.
fn append(path: &Path, line: &str) {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

impl Log {
    /// Writes one line, with its file and processor if they are known.
    pub(crate) fn about(&self, about: &str, line: &str) {
        if about.is_empty() { self.line(line) } else { self.line(&format!("{about}: {line}")) }
    }

    /// Writes one line. A failed write does not fail the build.
    pub(crate) fn line(&self, line: &str) {
        let line = format!("{}\n", printable(line));
        match self {
            Self::Nowhere => {}
            Self::StandardError => {
                let _ = std::io::stderr().write_all(line.as_bytes());
            }
            Self::File(path) => append(path, &line),
        }
    }
}
