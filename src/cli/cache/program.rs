//! The digest of a program's content. The cache stores the digest by the file's metadata, so that a build does not read
//! a program of 30 MB.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Cache, Key, KeyBuilder};

/// A file that changed within this many seconds is not cached. It may change again within one tick of the file system's
/// clock.
const SETTLED: i64 = 2;

/// Returns the digest of a program's content, in hexadecimal.
///
/// # Errors
/// The program cannot be read.
pub(crate) fn digest(path: &Path, cache: Option<&Cache>) -> io::Result<String> {
    let path = path.canonicalize()?;
    let file = File::open(&path)?;
    let found = file.metadata()?;
    let key = key(&path, &found);
    if let Some(known) = cache.and_then(|cache| cache.get(&key)) {
        return Ok(known);
    }
    let digest = blake3::Hasher::new().update_reader(&file)?.finalize().to_string();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64);
    let is_settled = found.ctime().max(found.mtime()) < now - SETTLED;
    if let Some(cache) = cache
        && is_settled
        && self::key(&path, &file.metadata()?) == key
        && let Err(error) = cache.put(&key, &digest)
    {
        log::debug!("{error}");
    }
    Ok(digest)
}

/// Returns a key that changes if the file at a path changes. The key includes the time of the last change of any kind.
/// The user cannot set this time, unlike the time of the last write, which `cp -p` and `touch` set.
fn key(path: &Path, found: &Metadata) -> Key {
    let mut key = KeyBuilder::new("program");
    key.field("path", path.as_os_str().as_encoded_bytes());
    for (name, number) in [("device", found.dev()), ("inode", found.ino()), ("size", found.size())] {
        key.field(name, &number.to_le_bytes());
    }
    let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
    key.field("times", &times.map(i64::to_le_bytes).concat());
    key.key()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    /// Two programs with different contents have different digests, even if all metadata that a user can set are equal.
    #[test]
    fn content_is_what_counts() {
        let folder = tempfile::tempdir().expect("there is space");
        let cache = Cache::open(&folder.path().join("cache"), 1 << 20).expect("it can be made");
        let (program, link) = (folder.path().join("ptxas"), folder.path().join("link"));
        symlink(&program, &link).expect("there is space");
        let time = SystemTime::now() - Duration::from_secs(100);
        let digest_of = |content: &str| {
            fs::write(&program, content).expect("there is space");
            File::options().write(true).open(&program).and_then(|file| file.set_modified(time)).expect("it is ours");
            let digests = [(&program, Some(&cache)), (&link, Some(&cache)), (&program, None)];
            let digests = digests.map(|(path, cache)| digest(path, cache).expect("it is there"));
            assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
            digests[0].clone()
        };
        let digests = ["13.0", "13.1", "13.0"].map(digest_of);
        assert!(digests[0] == digests[2] && digests[0] != digests[1], "{digests:?}");
        assert!(digest(&folder.path().join("none"), Some(&cache)).is_err());
    }

    /// A cached digest is used without reading the file, but only after the file has settled.
    #[test]
    fn digests_are_remembered() {
        let folder = tempfile::tempdir().expect("there is space");
        let cache = Cache::open(&folder.path().join("cache"), 1 << 20).expect("it can be made");
        let program = folder.path().join("ptxas");
        fs::write(&program, "13.0").expect("there is space");
        let path = program.canonicalize().expect("it is there");
        let remembered = || cache.get::<String>(&key(&path, &fs::metadata(&path).expect("it is there")));
        let first = digest(&program, Some(&cache)).expect("it is there");
        assert_eq!(remembered(), None);
        sleep(Duration::from_secs(SETTLED as u64 + 2));
        assert_eq!(digest(&program, Some(&cache)).expect("it is there"), first);
        assert_eq!(remembered(), Some(first));
        let found = fs::metadata(&program).expect("it is there");
        cache.put(&key(&path, &found), &"what was remembered").expect("there is space");
        assert_eq!(digest(&program, Some(&cache)).expect("it is there"), "what was remembered");
    }
}
