//! Answers that are stored between searches, in a folder with one file for each answer. The file's name is the answer's
//! key.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::tune::judgement::{self, Judgement};
use nvptx_ra::tune::question::NoAnswer;

use super::ptxas::Ptxas;
use super::{Inspection, Judge};
use crate::cache::{self, Key};

/// A judge that returns stored answers. If an answer is missing, it asks another judge and stores the answer.
pub(in crate::tune) struct Cached<'a> {
    folder: PathBuf,
    /// The judge whose answers are stored.
    ptxas: &'a Ptxas,
    /// The judge for answers that are not stored.
    behind: &'a dyn Judge,
}

impl<'a> Cached<'a> {
    pub(in crate::tune) fn new(folder: &Path, ptxas: &'a Ptxas, behind: &'a dyn Judge) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
        crate::output::check(&folder.join("answer.txt"))?;
        Ok(Self { folder: folder.to_owned(), ptxas, behind })
    }
}

impl Judge for Cached<'_> {
    fn judge(&self, ptx: &[u8], limit: Duration, inspection: Inspection) -> Result<Judgement, NoAnswer> {
        let key = self.ptxas.key(ptx);
        let kept = self.folder.join(format!("{key}.txt"));
        if let Some(known) = fs::read(&kept).ok().and_then(|entry| unsealed(&key, &entry)) {
            return known.map_err(NoAnswer::Refused);
        }
        let judged = self.behind.judge(ptx, limit, inspection)?;
        // If the result cannot be stored, the next search computes it again.
        let _ = crate::output::write(&kept, &sealed(&key, &Ok(judged.clone())));
        Ok(judged)
    }
}

/// Returns an answer as a cache entry.
pub(in crate::tune) fn sealed(key: &Key, answer: &Result<Judgement, String>) -> Vec<u8> {
    cache::seal(key, judgement::print(answer).as_bytes())
}

/// Returns the answer of an entry. `None` if the entry is damaged, or belongs to another key.
fn unsealed(key: &Key, entry: &[u8]) -> Option<Result<Judgement, String>> {
    judgement::parse(std::str::from_utf8(cache::unseal(key, entry)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry is an answer to its own question only.
    #[test]
    fn entries_are_sealed() {
        let [one, other] = [b"1", b"2"].map(|ptx| cache::KeyBuilder::new("judged").field("ptx", ptx).key());
        let answer = Err("ptxas: not today".to_owned());
        let mut entry = sealed(&one, &answer);
        assert_eq!((unsealed(&one, &entry), unsealed(&other, &entry)), (Some(answer), None));
        *entry.last_mut().expect("it is not empty") = b' ';
        assert_eq!(unsealed(&one, &entry), None);
    }
}
