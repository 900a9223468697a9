//! The files to compare.

use std::fs;
use std::path::{Path, PathBuf};

use nvptx_ra::error::{Error, ErrorKind};

/// Returns the given files, and the PTX files below the given folders, in the order of their names.
pub(super) fn all(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let before = files.len();
        below(input, &mut files)?;
        if files.len() == before {
            let problem = format!("{}: no file in this folder ends in .ptx", input.display());
            return Err(Error::new(ErrorKind::File, problem, "name a folder with PTX, or files"));
        }
    }
    Ok(files)
}

/// Adds the PTX files below a folder. Links to folders are not followed: they may be cyclic.
fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::file(folder, &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        entries.push((entry.path(), entry.file_type().map_err(failed)?.is_dir()));
    }
    entries.sort();
    for (path, is_folder) in entries {
        if is_folder {
            below(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders are searched in the order of names, for PTX only; a given file may have any name.
    #[test]
    fn files_and_folders() {
        let folder = tempfile::tempdir().expect("there is space");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("b/deep")).expect("there is space");
        for name in ["b/z.ptx", "b/deep/y.ptx", "b/x.cubin", "c.txt", "a.ptx"] {
            fs::write(path(name), "").expect("there is space");
        }
        std::os::unix::fs::symlink("..", path("b/back")).expect("there is space");
        let found = all(&[path("c.txt"), path("b"), path("a.ptx")]).expect("they are there");
        assert_eq!(found, ["c.txt", "b/deep/y.ptx", "b/z.ptx", "a.ptx"].map(path));
        fs::create_dir(path("none")).expect("there is space");
        let error = all(&[path("none")]).expect_err("nothing is in it").to_string();
        assert!(error.contains("no file in this folder ends in .ptx"), "{error}");
    }
}
