//! ptxas runs on other machines: each question becomes a planned run, whose answer comes later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::question::NoAnswer;

use super::ptxas::Ptxas;
use super::{Inspection, Judge};

/// The planned runs of a search.
pub(in crate::tune) struct Planned<'a> {
    /// The judge whose runs are planned.
    ptxas: &'a Ptxas,
    /// The cache folder.
    folder: PathBuf,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    /// The time limit and the [`Inspection`] of each run, by key.
    wanted: BTreeMap<String, (Duration, Inspection)>,
    /// The error of the first file that could not be written.
    error: Option<Error>,
}

impl<'a> Planned<'a> {
    pub(in crate::tune) fn new(ptxas: &'a Ptxas, folder: &Path) -> Self {
        Self { ptxas, folder: folder.to_owned(), runs: Mutex::default() }
    }

    /// Returns the judge whose runs are planned.
    pub(in crate::tune) fn ptxas(&self) -> &'a Ptxas {
        self.ptxas
    }

    /// Returns the time limit and the inspection of each run, by key.
    ///
    /// # Errors
    /// An input could not be written.
    pub(in crate::tune) fn wanted(&self) -> Result<BTreeMap<String, (Duration, Inspection)>, Error> {
        let runs = self.runs();
        runs.error.as_ref().map_or_else(|| Ok(runs.wanted.clone()), |error| Err(error.clone()))
    }

    /// Returns the input of a run, and the cache entry that is its output.
    pub(in crate::tune) fn files(&self, key: &str) -> [PathBuf; 2] {
        ["ptx", "txt"].map(|extension| self.folder.join(format!("{key}.{extension}")))
    }

    /// Removes the inputs of answered runs.
    pub(in crate::tune) fn tidy(&self) {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for input in files.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")) {
            if input.with_extension("txt").is_file() {
                // An input that remains is harmless.
                let _ = std::fs::remove_file(input);
            }
        }
    }

    /// Adds a run. Its input is written into the cache folder, beside its future answer.
    pub(in crate::tune) fn note(&self, key: &str, ptx: &[u8], limit: Duration, inspection: Inspection) {
        let mut runs = self.runs();
        let [input, _] = self.files(key);
        if runs.wanted.insert(key.to_owned(), (limit, inspection)).is_none()
            && let Err(error) = crate::output::write(&input, ptx)
        {
            runs.error.get_or_insert(error);
        }
    }

    /// Locks the runs. They stay consistent even if a thread panics under the lock.
    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Judge for Planned<'_> {
    fn judge(&self, ptx: &[u8], limit: Duration, inspection: Inspection) -> Result<Judgement, NoAnswer> {
        self.note(&self.ptxas.key(ptx).to_string(), ptx, limit, inspection);
        Err(NoAnswer::Later)
    }
}
