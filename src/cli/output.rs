//! Output files. A path is checked before the work, and a file is written completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use nvptx_ra::error::Error;
use tempfile::{Builder, NamedTempFile};

use crate::input;

/// Returns the output path: the given path, or else the input's path with another extension.
pub(crate) fn beside(output: Option<&Path>, input: &Path, extension: &str) -> PathBuf {
    match output {
        Some(output) => output.to_owned(),
        None if input::is_stream(input) => PathBuf::from("-"),
        None => input.with_extension(extension),
    }
}

/// Checks whether a file can be written, without changing it. Commands call this function before they start, so that a
/// mistyped path does not waste a search of an hour.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    let tried = place(path).and_then(|place| match place {
        Place::New(path) | Place::Replaced(path, _) => temporary(&path).map(drop),
        Place::Opened(_) | Place::Pipe => Ok(()),
    });
    tried.map_err(|error| Error::file(path, &error))
}

/// Writes a file. The content goes to a temporary file in the same folder, which is then renamed. A concurrent reader,
/// or a reader after an interruption, therefore finds either the old content or the new content.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    let write = || match place(path)? {
        Place::New(path) => replace(&path, content, None),
        Place::Replaced(path, permissions) => replace(&path, content, Some(permissions)),
        Place::Opened(mut file) => file.write_all(content),
        Place::Pipe => OpenOptions::new().write(true).open(path)?.write_all(content),
    };
    write().map_err(|error| Error::file(path, &error))
}

/// The file type at a path.
enum Place {
    /// No file yet.
    New(PathBuf),
    /// A writable file, after all symbolic links, with its permissions.
    Replaced(PathBuf, fs::Permissions),
    /// A device, e.g. `/dev/null`, which is written directly.
    Opened(File),
    /// A pipe. Opening it blocks until it has a reader.
    Pipe,
}

fn place(path: &Path) -> io::Result<Place> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Place::New(path.to_owned())),
        Err(error) => return Err(error),
    };
    if found.file_type().is_fifo() {
        return Ok(Place::Pipe);
    }
    // Opening fails for a folder and for a read-only file.
    let file = OpenOptions::new().write(true).open(path)?;
    if found.is_file() {
        Ok(Place::Replaced(fs::canonicalize(path)?, found.permissions()))
    } else {
        Ok(Place::Opened(file))
    }
}

/// Makes a temporary file beside `path`, which is removed unless it is renamed.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().ok_or(io::ErrorKind::IsADirectory)?);
    prefix.push(".");
    // If the folder cannot be read, this call returns the system's error.
    fs::read_dir(folder)?;
    let mut builder = Builder::new();
    builder.prefix(&prefix).permissions(fs::Permissions::from_mode(0o666));
    builder.tempfile_in(folder).map_err(|error| error.kind().into())
}

fn replace(path: &Path, content: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let mut file = temporary(path)?;
    file.write_all(content)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is there").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Checking changes nothing: existing content stays, and a missing file is not created.
    #[test]
    fn trying_changes_nothing() {
        let folder = tempfile::tempdir().expect("there is space");
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, "kept").expect("there is space");
        check(&old).expect("it can be written");
        check(&new).expect("it can be written");
        assert_eq!(
            (names(folder.path()), fs::read_to_string(&old).expect("it is there")),
            (vec!["old".into()], "kept".into())
        );
    }

    /// Checking finds a missing folder, a folder at the path itself, and a file in place of a parent folder.
    #[test]
    fn what_cannot_be_written_is_found_before() {
        let folder = tempfile::tempdir().expect("there is space");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("there is space");
        for path in [folder.path().join("none/k.ptx"), folder.path().to_owned(), file.join("k.ptx")] {
            let error = check(&path).expect_err("it cannot be written");
            assert!(error.problem.starts_with(&path.display().to_string()), "{error}");
            assert_eq!(write(&path, b"").expect_err("it cannot be written"), error);
        }
    }

    /// A file is replaced completely and keeps its permissions, and a link to it stays a link.
    #[test]
    fn files_are_replaced() {
        let folder = tempfile::tempdir().expect("there is space");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "a longer text").expect("there is space");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("it is ours");
        symlink(&file, &link).expect("there is space");
        let mut reader = File::open(&file).expect("it is there");
        write(&link, b"new").expect("it can be written");
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "new");
        assert_eq!(io::read_to_string(&mut reader).expect("it is open"), "a longer text");
        assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["file", "link"]);
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    }

    /// A device is written directly.
    #[test]
    fn devices_stay() {
        check("/dev/null".as_ref()).and_then(|()| write("/dev/null".as_ref(), b"x")).expect("it takes everything");
        assert!(!fs::metadata("/dev/null").expect("it is there").is_file());
        assert!(write("/dev/full".as_ref(), b"x").is_err());
    }
}
