//! Folders that only the user can write. Their contents decide what a build delivers, so no other user may write there.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nvptx_ra::error::{Error, ErrorKind};

/// The bits of a folder's mode that let its group, or everybody, write.
const OTHERS_WRITE: u32 = 0o022;

/// Makes a folder with mode 0700, or opens an existing folder if it is safe. Returns its path, which is no link.
///
/// # Errors
/// The folder cannot be created, it is a symbolic link or a file, another user owns it, or other users can write to it.
pub(super) fn open(path: &Path) -> Result<PathBuf, Error> {
    // If the path ended with a slash or a dot, the system would follow a link.
    let path: PathBuf = path.components().collect();
    let found = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path),
        found => found,
    };
    let found = found.map_err(|error| Error::file(&path, &error))?;
    match fault(&found, nix::unistd::geteuid().as_raw()) {
        None => Ok(path),
        Some((problem, remedy)) => Err(Error::new(ErrorKind::File, format!("{}: {problem}", path.display()), remedy)),
    }
}

fn make(path: &Path) -> io::Result<Metadata> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        // If another process has created the folder first, it is checked like an existing folder.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::symlink_metadata(path),
    }
}

/// Returns why a folder is not safe for this user, and a remedy.
fn fault(found: &Metadata, user: u32) -> Option<(String, &'static str)> {
    if found.is_symlink() {
        return Some(("it is a symbolic link".into(), "name the folder itself"));
    }
    if !found.is_dir() {
        return Some(("it is not a folder".into(), "name a folder, or a path that does not exist yet"));
    }
    if found.uid() != user {
        return Some((format!("user {} owns it, not user {user}", found.uid()), "name a folder of your own"));
    }
    let mode = found.mode() & 0o7777;
    (mode & OTHERS_WRITE != 0).then(|| (format!("other users can write to it (mode {mode:04o})"), "chmod 700 it"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    fn refusal(path: &Path) -> String {
        open(path).expect_err("it is refused").problem
    }

    /// A new folder is private, and all missing parents are created; the second call opens it unchanged.
    #[test]
    fn a_new_folder_is_private() {
        let parent = tempfile::tempdir().expect("there is space");
        let path = parent.path().join("a/b/c");
        for _ in 0..2 {
            assert_eq!(open(&path.join(".")), Ok(path.clone()));
            assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o7777, 0o700);
        }
    }

    /// Each kind of folder that other users could write to is refused, with a message about the kind.
    #[test]
    fn unsafe_folders_are_refused() {
        let parent = tempfile::tempdir().expect("there is space");
        let path = |name: &str| parent.path().join(name);
        open(&path("own")).expect("it can be made");
        symlink(path("own"), path("link")).expect("there is space");
        for link in ["link", "link/", "link/."] {
            assert!(refusal(&path(link)).ends_with("link: it is a symbolic link"), "{link}");
        }
        fs::write(path("file"), "").expect("there is space");
        assert!(refusal(&path("file")).ends_with("it is not a folder"));
        assert!(open(&path("file/below")).is_err());
        for (mode, is_safe) in [(0o700, true), (0o755, true), (0o770, false), (0o702, false), (0o1777, false)] {
            fs::set_permissions(path("own"), fs::Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(open(&path("own")).is_ok(), is_safe, "{mode:o}");
        }
        assert!(refusal(&path("own")).ends_with("other users can write to it (mode 1777)"));
    }

    /// Another user's folder is refused, even for root.
    #[test]
    fn folders_of_others_are_refused() {
        let parent = tempfile::tempdir().expect("there is space");
        let path = open(&parent.path().join("theirs")).expect("it can be made");
        let theirs = if chown(&path, Some(12345), None).is_ok() { path } else { "/".into() };
        assert!(refusal(&theirs).contains("owns it, not user"), "{}", refusal(&theirs));
    }
}
