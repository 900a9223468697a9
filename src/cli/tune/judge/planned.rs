//! Runs of ptxas that somebody else is to do: each question becomes one, and its answer comes later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::question::NoAnswer;

use super::ptxas::Ptxas;
use super::{Inspection, Judge};

/// The runs that a search waits for.
pub(in crate::tune) struct Planned<'a> {
    /// Whose runs they are.
    ptxas: &'a Ptxas,
    /// The folder of the answers.
    folder: PathBuf,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    /// How long each may take, and how its machine code is looked at, by what it answers.
    wanted: BTreeMap<String, (Duration, Inspection)>,
    /// The first file that could not be written.
    error: Option<Error>,
}

impl<'a> Planned<'a> {
    pub(in crate::tune) fn new(ptxas: &'a Ptxas, folder: &Path) -> Self {
        Self { ptxas, folder: folder.to_owned(), runs: Mutex::default() }
    }

    /// Whose runs they are.
    pub(in crate::tune) fn ptxas(&self) -> &'a Ptxas {
        self.ptxas
    }

    /// How long each run may take, and how its machine code is looked at, by what it answers.
    ///
    /// # Errors
    /// An input could not be written.
    pub(in crate::tune) fn wanted(&self) -> Result<BTreeMap<String, (Duration, Inspection)>, Error> {
        let runs = self.runs();
        runs.error.as_ref().map_or_else(|| Ok(runs.wanted.clone()), |error| Err(error.clone()))
    }

    /// The input of a run, and the entry of the cache that is its output.
    pub(in crate::tune) fn files(&self, key: &str) -> [PathBuf; 2] {
        ["ptx", "txt"].map(|extension| self.folder.join(format!("{key}.{extension}")))
    }

    /// Removes inputs whose answers have come.
    pub(in crate::tune) fn tidy(&self) {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for input in files.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")) {
            if input.with_extension("txt").is_file() {
                // One that stays is in nobody's way.
                let _ = std::fs::remove_file(input);
            }
        }
    }

    /// Notes a run. Its input goes into the cache's folder, beside the answer that it will have.
    pub(in crate::tune) fn note(&self, key: &str, ptx: &[u8], limit: Duration, inspection: Inspection) {
        let mut runs = self.runs();
        let [input, _] = self.files(key);
        if runs.wanted.insert(key.to_owned(), (limit, inspection)).is_none()
            && let Err(error) = crate::output::write(&input, ptx)
        {
            runs.error.get_or_insert(error);
        }
    }

    /// Writing under the lock leaves what is in it whole.
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
