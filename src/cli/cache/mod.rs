//! A cache on disk for many concurrent processes. Its contents are never trusted.
//!
//! A folder has a file for each entry. A file contains its [key](key) and a checksum, and gets its name when it is
//! complete ([sealed], [locked_cache]). So readers need no lock: they use a file only if it is a complete entry, and
//! discard other files. If a process is killed at any moment, the cache stays usable.
//!
//! `tune --cache` stores ptxas's figures in files of the same form. Their folder is the user's choice, and has no
//! bound.

mod key;
mod locked_cache;
pub(crate) mod program;
mod sealed;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nvptx_ra::error::{Error, ErrorKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use key::{Key, KeyBuilder};
use locked_cache::LockedCache;
pub(crate) use sealed::{seal, unseal};

use crate::private_folder;

/// How long a writer waits for other writers. Each of these takes a millisecond, or 20 ms on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder of entries.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Most bytes that the entries may take on disk.
    bound: u64,
}

impl Cache {
    /// Opens a cache, or makes an empty one.
    ///
    /// # Errors
    /// The folder cannot be created, or other users can write to it.
    pub(crate) fn open(folder: &Path, bound: u64) -> Result<Self, Error> {
        Ok(Self { folder: private_folder::open(folder)?, bound })
    }

    /// Opens an existing cache; `None` if there is none.
    ///
    /// # Errors
    /// Other users can write to the folder.
    pub(crate) fn existing(folder: &Path, bound: u64) -> Result<Option<Self>, Error> {
        if folder.symlink_metadata().is_ok() { Self::open(folder, bound).map(Some) } else { Ok(None) }
    }

    /// Returns the entries of one form, least recently used first. This does not count as a use.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn entries<T: DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        let mut files = locked_cache::entries(&self.folder).map_err(|error| Error::file(&self.folder, &error))?;
        files.sort();
        let entry = |(_, path, _): &locked_cache::CacheFile| {
            let key = Key::of_name(locked_cache::name(path)?)?;
            let mut sealed = Vec::new();
            File::open(path).ok()?.take(self.bound).read_to_end(&mut sealed).ok()?;
            serde_json::from_slice(sealed::unseal(&key, &sealed)?).ok()
        };
        Ok(files.iter().filter_map(entry).collect())
    }

    /// Returns the number of entries of all forms, and their size on disk.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn size(&self) -> Result<(usize, u64), Error> {
        let files = locked_cache::entries(&self.folder).map_err(|error| Error::file(&self.folder, &error))?;
        Ok((files.len(), files.iter().map(|(_, _, space)| space).sum()))
    }

    /// Removes all entries. Returns their number and their size on disk.
    ///
    /// # Errors
    /// An entry cannot be removed, or other processes hold the lock for too long.
    pub(crate) fn clear(&self) -> Result<(usize, u64), Error> {
        let failed = |error: io::Error| Error::file(&self.folder, &error);
        let Some(mut locked_cache) = LockedCache::lock(&self.folder, PATIENCE).map_err(failed)? else {
            let problem = format!("{}: another process holds the lock", self.folder.display());
            return Err(Error::new(ErrorKind::File, problem, "end that process"));
        };
        locked_cache.clear().map_err(failed)
    }

    /// Returns the entry of a key. A file that is damaged or has another key is removed.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        match self.read(key) {
            Ok(entry) => Some(entry),
            Err(Missing::Absent) => None,
            Err(Missing::Damaged) => {
                self.discard::<T>(key);
                None
            }
        }
    }

    /// Stores an entry. The least recently used entries are removed if space is needed.
    ///
    /// # Errors
    /// The entry is not stored, for example because the disk is full or the entry exceeds the bound. The only loss is
    /// the time to compute it again.
    pub(crate) fn put<T: Serialize>(&self, key: &Key, entry: &T) -> Result<(), Error> {
        let not_kept = |problem: &str, remedy: &str| {
            let problem = format!("{}: an entry is not stored: {problem}", self.folder.display());
            Error::new(ErrorKind::File, problem, remedy)
        };
        let content = serde_json::to_vec(entry).map_err(|error| Error::internal(error, None))?;
        let sealed = sealed::seal(key, &content);
        let needed = locked_cache::space(sealed.len() as u64);
        if needed > self.bound {
            let problem = format!("it needs {needed} bytes, and the whole cache may have {}", self.bound);
            return Err(not_kept(&problem, "allow a larger cache"));
        }
        let failed = |error: io::Error| not_kept(&error.to_string(), "check the space and the permissions");
        let Some(mut locked_cache) = LockedCache::lock(&self.folder, PATIENCE).map_err(failed)? else {
            return Err(not_kept("another process holds the lock", "end that process"));
        };
        locked_cache.write(&self.path(key), &sealed, self.bound).map_err(failed)
    }

    fn path(&self, key: &Key) -> PathBuf {
        locked_cache::path(&self.folder, key)
    }

    /// Reads an entry, and marks it as used.
    fn read<T: DeserializeOwned>(&self, key: &Key) -> Result<T, Missing> {
        let path = self.path(key);
        // Opening a file of another type might block.
        let found = path.symlink_metadata().map_err(|_| Missing::Absent)?;
        if !found.is_file() {
            return Err(Missing::Damaged);
        }
        let file = File::open(path).map_err(|_| Missing::Absent)?;
        let mut sealed = Vec::new();
        (&file).take(self.bound).read_to_end(&mut sealed).map_err(|_| Missing::Absent)?;
        let content = sealed::unseal(key, &sealed).ok_or(Missing::Damaged)?;
        let entry = serde_json::from_slice(content).map_err(|_| Missing::Damaged)?;
        // If the time of use cannot be set, the entry stays valid.
        let _ = file.set_modified(SystemTime::now());
        Ok(entry)
    }

    /// Removes the file of a key, unless another process has just written a valid entry. If the file cannot be removed,
    /// the next reader finds it damaged again.
    fn discard<T: DeserializeOwned>(&self, key: &Key) {
        if let Ok(Some(_locked_cache)) = LockedCache::lock(&self.folder, Duration::ZERO)
            && matches!(self.read::<T>(key), Err(Missing::Damaged))
        {
            let _ = std::fs::remove_file(self.path(key));
        }
    }
}

/// Reason why there is no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Absent,
    Damaged,
}
