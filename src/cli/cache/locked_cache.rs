//! Keeps a cache's size below a bound while many processes add entries.
//!
//! One file is the lock of all writers. It contains a number of bytes that is never below the entries' size: a writer
//! adds its entry's size to the number before it writes the entry. If the number exceeds the bound, the writer sums up
//! the files' sizes and removes the least recently used entries. The system releases the lock of a killed process. A
//! killed process may leave a number that is too high, or a file with a temporary name. The next count of the files
//! corrects both.
//!
//! All writers hold the lock. So if the process that holds the lock finds a temporary file, the file's writer is dead.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

/// The lock file, which contains the number.
const LOCK: &str = "space-taken";
/// Extension of an entry's file.
const ENTRY: &str = ".entry";
/// Prefix and extension of a file that is not yet complete.
const TEMPORARY: (&str, &str) = (".new-", ".tmp");
/// Block size of the file system. Most entries are smaller than a block.
const BLOCK: u64 = 4096;

/// Returns the path of an entry's file.
pub(super) fn path(folder: &Path, name: &impl std::fmt::Display) -> PathBuf {
    folder.join(format!("{name}{ENTRY}"))
}

/// Returns the disk space of a file with this many bytes.
pub(super) fn space(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK)
}

/// Returns the entry's name from its file's path.
pub(super) fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(ENTRY)
}

/// The lock of a cache, with the operations that need it. The lock is released on drop.
pub(super) struct LockedCache<'a> {
    folder: &'a Path,
    lock: File,
}

impl<'a> LockedCache<'a> {
    /// Waits for the lock; `None` if the lock is not free within `patience`.
    pub(super) fn lock(folder: &'a Path, patience: Duration) -> io::Result<Option<Self>> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = locked(options.open(folder.join(LOCK))?, patience)?;
        Ok(lock.map(|lock| Self { folder, lock }))
    }

    /// Writes an entry, within the bound. The file gets its name when it is complete.
    pub(super) fn write(&mut self, path: &Path, content: &[u8], bound: u64) -> io::Result<()> {
        self.reserve(space(content.len() as u64), bound)?;
        let (prefix, suffix) = TEMPORARY;
        let mut file = tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile_in(self.folder)?;
        // There is no sync: after a power failure, the checksum reveals an incomplete file.
        file.write_all(content)?;
        // A new file's time comes from the file system's clock, which is coarser than the clock that marks uses.
        file.as_file().set_modified(SystemTime::now())?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Removes all entries. Returns their number and their size on disk.
    pub(super) fn clear(&mut self) -> io::Result<(usize, u64)> {
        let entries = self.entries()?;
        for (_, path, _) in &entries {
            remove(path)?;
        }
        self.note(0)?;
        Ok((entries.len(), entries.iter().map(|(_, _, space)| space).sum()))
    }

    /// Adds a file's size to the number, and frees space if needed.
    fn reserve(&mut self, needed: u64, bound: u64) -> io::Result<()> {
        let taken = match self.taken()? {
            Some(taken) if taken.saturating_add(needed) <= bound => taken,
            _ => self.make_room(needed, bound)?,
        };
        self.note(taken + needed)
    }

    /// Reads the number from the lock file; `None` if the number is missing or malformed.
    fn taken(&mut self) -> io::Result<Option<u64>> {
        let mut text = String::new();
        self.lock.rewind()?;
        match (&self.lock).take(64).read_to_string(&mut text) {
            Err(error) if error.kind() != io::ErrorKind::InvalidData => Err(error),
            _ => Ok(text.strip_suffix('\n').filter(|number| number.len() == 20).and_then(|number| number.parse().ok())),
        }
    }

    fn note(&mut self, taken: u64) -> io::Result<()> {
        self.lock.rewind()?;
        // A single write of constant length: a killed process has written all of it or nothing.
        self.lock.write_all(format!("{taken:020}\n").as_bytes())
    }

    /// Returns the entries, and removes files of dead writers.
    fn entries(&self) -> io::Result<Vec<CacheFile>> {
        let is_temporary = |name: &str| name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1);
        for file in fs::read_dir(self.folder)? {
            let file = file?;
            if file.file_name().to_str().is_some_and(is_temporary) {
                remove(&file.path())?;
            }
        }
        entries(self.folder)
    }

    /// Sums up the files' sizes. If more space is needed, removes more entries than necessary, so that the next writers
    /// need not count again.
    fn make_room(&self, needed: u64, bound: u64) -> io::Result<u64> {
        let mut entries = self.entries()?;
        let mut taken: u64 = entries.iter().map(|(_, _, space)| space).sum();
        if taken.saturating_add(needed) <= bound {
            return Ok(taken);
        }
        entries.sort();
        let aim = (bound - bound / 8).max(needed);
        for (_, path, space) in entries {
            if taken + needed <= aim {
                break;
            }
            remove(&path)?;
            taken -= space;
        }
        Ok(taken)
    }
}

/// An entry's file: last use, path, and disk space.
pub(super) type CacheFile = (SystemTime, PathBuf, u64);

/// Returns the files of all entries, unordered. No lock is needed, because a file gets its name when it is complete.
pub(super) fn entries(folder: &Path) -> io::Result<Vec<CacheFile>> {
    let mut entries = Vec::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        if file.file_name().to_str().is_some_and(|name| name.ends_with(ENTRY))
            && let Some(found) = regular(&file)?
        {
            entries.push((found.modified()?, file.path(), space(found.len())));
        }
    }
    Ok(entries)
}

/// Locks a file; `None` if the lock is not free within `patience`. This function blocks instead of polling: the system
/// queues blocked processes, but a process that polls may be overtaken for many seconds. A thread that still waits
/// after `patience` releases the lock as soon as it gets the lock.
fn locked(file: File, patience: Duration) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => return Ok(Some(file)),
        Err(TryLockError::Error(error)) => return Err(error),
        Err(TryLockError::WouldBlock) if patience.is_zero() => return Ok(None),
        Err(TryLockError::WouldBlock) => {}
    }
    let (sender, receiver) = mpsc::channel();
    // If the lock comes too late, the result has no receiver, and the file is closed.
    thread::Builder::new().spawn(move || sender.send(file.lock().map(|()| file)))?;
    receiver.recv_timeout(patience).map_or(Ok(None), |lock| lock.map(Some))
}

/// Returns a file's metadata; `None` if it is no regular file or does not exist.
fn regular(file: &fs::DirEntry) -> io::Result<Option<Metadata>> {
    match file.metadata() {
        Ok(found) => Ok(found.is_file().then_some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a file that the user may already have removed.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
