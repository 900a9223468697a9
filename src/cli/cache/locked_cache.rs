//! The space that a cache takes: it stays below a bound, however many processes add entries.
//!
//! One file is the lock of all who write, and holds a number of bytes that is never below what the entries take: a writer
//! adds what its entry needs before it writes the entry. Only where the number exceeds the bound are the files counted, and
//! the entries that were not used for the longest time removed. A process that is killed loses the lock by itself; what it
//! leaves is a number that is too high, or a file under a temporary name, and the next count puts both right.
//!
//! Nobody writes without the lock, so a temporary file that its holder finds is of a process that is dead.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

/// The file that is the lock and holds the number.
const LOCK: &str = "space-taken";
/// The end of an entry's name.
const ENTRY: &str = ".entry";
/// How the name of a file begins and ends until it is an entry.
const TEMPORARY: (&str, &str) = (".new-", ".tmp");
/// File systems give space in blocks. Most entries are smaller than one.
const BLOCK: u64 = 4096;

/// Where the entry of this name stands.
pub(super) fn path(folder: &Path, name: &impl std::fmt::Display) -> PathBuf {
    folder.join(format!("{name}{ENTRY}"))
}

/// The space that a file of so many bytes takes.
pub(super) fn space(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK)
}

/// The entry's name in that of its file.
pub(super) fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(ENTRY)
}

/// The lock of a cache, and what its holder does. It is free again when this goes away.
pub(super) struct LockedCache<'a> {
    folder: &'a Path,
    lock: File,
}

impl<'a> LockedCache<'a> {
    /// Waits for the lock. `None` if others have it all the time.
    pub(super) fn lock(folder: &'a Path, patience: Duration) -> io::Result<Option<Self>> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = locked(options.open(folder.join(LOCK))?, patience)?;
        Ok(lock.map(|lock| Self { folder, lock }))
    }

    /// Writes an entry, within the bound. The file has its name only when it is complete.
    pub(super) fn write(&mut self, path: &Path, content: &[u8], bound: u64) -> io::Result<()> {
        self.reserve(space(content.len() as u64), bound)?;
        let (prefix, suffix) = TEMPORARY;
        let mut file = tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile_in(self.folder)?;
        // What a machine without power loses, the checksum tells.
        file.write_all(content)?;
        // The clock of the file system ticks more slowly than the clock that notes when an entry was used.
        file.as_file().set_modified(SystemTime::now())?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Removes all entries. Gives their number and the space that they took.
    pub(super) fn clear(&mut self) -> io::Result<(usize, u64)> {
        let entries = self.entries()?;
        for (_, path, _) in &entries {
            remove(path)?;
        }
        self.note(0)?;
        Ok((entries.len(), entries.iter().map(|(_, _, space)| space).sum()))
    }

    /// Adds to the number what a file will take, and makes room for it.
    fn reserve(&mut self, needed: u64, bound: u64) -> io::Result<()> {
        let taken = match self.taken()? {
            Some(taken) if taken.saturating_add(needed) <= bound => taken,
            _ => self.make_room(needed, bound)?,
        };
        self.note(taken + needed)
    }

    /// The number; `None` where there is none, or nonsense.
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
        // One write of always the same length: a process that is killed has written all of it or nothing.
        self.lock.write_all(format!("{taken:020}\n").as_bytes())
    }

    /// The entries, and files that no living process writes go away.
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

    /// Counts what the files take. Where more is needed, it removes entries, and some more than it must: the next that
    /// are written do not count again.
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

/// A file of an entry: when it was last used, where it is, and the space that it takes.
pub(super) type CacheFile = (SystemTime, PathBuf, u64);

/// The files of all entries, in no order. No lock is needed: each has its name when it is complete.
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

/// Locks a file. Who waits stands in the system's queue: where many look again and again, others overtake one of them for
/// many seconds. `None` if the lock is not free in time; a thread that still waits gives it back as soon as it has it.
fn locked(file: File, patience: Duration) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => return Ok(Some(file)),
        Err(TryLockError::Error(error)) => return Err(error),
        Err(TryLockError::WouldBlock) if patience.is_zero() => return Ok(None),
        Err(TryLockError::WouldBlock) => {}
    }
    let (sender, receiver) = mpsc::channel();
    // Nobody receives what comes too late, and the file is closed.
    thread::Builder::new().spawn(move || sender.send(file.lock().map(|()| file)))?;
    receiver.recv_timeout(patience).map_or(Ok(None), |lock| lock.map(Some))
}

/// A file's properties; `None` of anything that is no regular file, or is gone.
fn regular(file: &fs::DirEntry) -> io::Result<Option<Metadata>> {
    match file.metadata() {
        Ok(found) => Ok(found.is_file().then_some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a file that the user may have removed already.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
