//! Lines about what happened, for those who ask for them.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use nvptx_ra::printable::printable;
use nvptx_ra::profile::Entry;
use serde::Serialize;

use super::settings::Log;
use crate::tune::request::ChangedKernel;

/// A kernel of the report.
#[derive(Serialize)]
pub(super) struct Reported<'a> {
    #[serde(flatten)]
    pub(super) change: &'a ChangedKernel,
    pub(super) file: &'a str,
    pub(super) processor: &'a str,
    /// The choices, as a profile has them: those of the kernel, and behind the first kernel of a text those of functions that
    /// kernels call.
    pub(super) entries: Vec<&'a Entry>,
}

/// Adds a kernel to the report, a JSON object on one line. A report that cannot be written is no reason for a build to
/// fail.
pub(super) fn report(path: &Path, reported: &Reported<'_>) {
    if let Ok(line) = serde_json::to_string(reported) {
        append(path, &format!("{line}\n"));
    }
}

/// One call for one line, at the end of the file: lines of several processes do not mix.
fn append(path: &Path, line: &str) {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

impl Log {
    /// Writes one line that is about a file and a processor, where these are known.
    pub(crate) fn about(&self, about: &str, line: &str) {
        if about.is_empty() { self.line(line) } else { self.line(&format!("{about}: {line}")) }
    }

    /// Writes one line. A log that cannot be written is no reason for a build to fail.
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
