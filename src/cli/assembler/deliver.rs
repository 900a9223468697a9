//! How a result takes the place of another, and how this program ends as ptxas has ended.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use nix::sys::signal::{Signal, raise};
use nvptx_ra::error::Error;

/// Puts bytes in a file's place, completely or not at all. The file keeps its permissions, and a link stays a link.
pub(super) fn replace(output: &Path, bytes: &[u8]) -> Result<(), Error> {
    let problem = |error: std::io::Error| Error::file(output, &error);
    let target = fs::canonicalize(output).map_err(problem)?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    let permissions = fs::metadata(&target).map_err(problem)?.permissions();
    let mut file = tempfile::Builder::new().prefix(".nvptx-ra-").tempfile_in(folder).map_err(problem)?;
    file.write_all(bytes).map_err(problem)?;
    file.as_file().set_permissions(permissions).map_err(problem)?;
    file.persist(&target).map_err(|error| problem(error.error))?;
    Ok(())
}

/// Writes what ptxas has written. Where nobody listens any more, nothing is left to say.
pub(super) fn say(output: &[u8], messages: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(output).and_then(|()| stdout.flush());
    let _ = std::io::stderr().write_all(messages);
}

/// Ends as a program has ended: with its exit code, or by its signal.
pub(super) fn end_as(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        if let Ok(signal) = Signal::try_from(signal) {
            // A handler may take the first one for itself: Rust's, for faults, is done with it then.
            let _ = raise(signal);
            let _ = raise(signal);
        }
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// The bytes are new; permissions and links stay; nothing else is left in the folder.
    #[test]
    fn replacing() {
        let folder = tempfile::tempdir().expect("there is space");
        let (file, link) = (folder.path().join("a.o"), folder.path().join("b.o"));
        fs::write(&file, "old").expect("there is space");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("it is ours");
        symlink("a.o", &link).expect("there is space");
        replace(&link, b"new").expect("there is space");
        assert_eq!(fs::read(&file).expect("it is there"), b"new");
        assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
        assert!(replace(&folder.path().join("none"), b"new").is_err());
    }
}
