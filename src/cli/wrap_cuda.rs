//! `nvptx-ra wrap-cuda`: makes a CUDA toolkit of links, in which `bin/ptxas` is this program.
//!
//! nvcc starts the ptxas in its own folder, and reads `nvcc.profile` there. So `bin` is a real folder with a link for
//! each program. All other folders are links to the toolkit's folders. Nothing in the toolkit is changed or copied.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use nvptx_ra::error::{Error, ErrorKind};

use crate::ptxas_wrapper::real_ptxas::NAMED;

/// Make a CUDA toolkit of links in which nvptx-ra replaces ptxas
///
/// Run FOLDER/bin/nvcc, or give FOLDER to CMake as CUDAToolkit_ROOT, to JAX as CUDA_ROOT, and the like.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A new folder
    folder: PathBuf,
    /// The CUDA toolkit [default: CUDA_PATH, or else the toolkit of the nvcc on PATH, or else /usr/local/cuda]
    #[arg(long, value_name = "FOLDER")]
    cuda: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let cuda = toolkit(arguments.cuda.as_deref())?;
    let folder = &arguments.folder;
    let program = std::env::current_exe().map_err(|error| Error::file(Path::new("nvptx-ra"), &error))?;
    create(folder, &cuda, &program)?;
    say!("nvptx-ra: {} uses {} for {}", folder.display(), program.display(), cuda.join("bin/ptxas").display());
    Ok(ExitCode::SUCCESS)
}

/// Returns the toolkit to wrap, which must have a ptxas.
fn toolkit(named: Option<&Path>) -> Result<PathBuf, Error> {
    let candidate = named.map(Path::to_owned).or_else(|| {
        let given = std::env::var_os("CUDA_PATH").filter(|value| !value.is_empty()).map(PathBuf::from);
        given.or_else(|| {
            let nvcc = crate::ptxas::tool("nvcc");
            let of_nvcc = nvcc.parent().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
            of_nvcc.map(Path::to_owned)
        })
    });
    let candidate = candidate.unwrap_or_else(|| "/usr/local/cuda".into());
    if !candidate.join("bin/ptxas").is_file() {
        let problem = format!("{}: there is no bin/ptxas", candidate.display());
        return Err(Error::new(ErrorKind::File, problem, "name a CUDA toolkit with --cuda"));
    }
    // Links are not resolved, because a toolkit's folders may be links to places with other names.
    std::path::absolute(&candidate).map_err(|error| Error::file(&candidate, &error))
}

fn create(folder: &Path, cuda: &Path, program: &Path) -> Result<(), Error> {
    let problem = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| Error::file(&path, &error)
    };
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        let problem = format!("{}: the folder is not empty", folder.display());
        return Err(Error::new(ErrorKind::File, problem, "remove it, or name a new one"));
    }
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).map_err(problem(&bin))?;
    link_entries(cuda, folder, "bin".as_ref())?;
    link_entries(&cuda.join("bin"), &bin, "ptxas".as_ref())?;
    let ptxas = bin.join("ptxas");
    let text = script(&cuda.join("bin/ptxas"), program);
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(&ptxas);
    file.and_then(|mut file| std::io::Write::write_all(&mut file, &text)).map_err(problem(&ptxas))
}

/// Links all entries of a folder except one.
fn link_entries(from: &Path, to: &Path, but: &OsStr) -> Result<(), Error> {
    for entry in fs::read_dir(from).map_err(|error| Error::file(from, &error))? {
        let name = entry.map_err(|error| Error::file(from, &error))?.file_name();
        if name != but {
            let link = to.join(&name);
            symlink(from.join(&name), &link).map_err(|error| Error::file(&link, &error))?;
        }
    }
    Ok(())
}

/// Returns a script that starts this program with the toolkit's ptxas as the real one, unless the environment sets
/// another.
fn script(real: &Path, program: &Path) -> Vec<u8> {
    let mut text = b"#!/bin/sh\n# Made by nvptx-ra wrap-cuda.\nreal=".to_vec();
    text.extend(quoted(real));
    text.extend_from_slice(format!("\n{NAMED}=${{{NAMED}:-$real}} exec ").as_bytes());
    text.extend(quoted(program));
    text.extend_from_slice(b" ptxas \"$@\"\n");
    text
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> Vec<u8> {
    let mut word = vec![b'\''];
    for &byte in path.as_os_str().as_bytes() {
        if byte == b'\'' {
            word.extend_from_slice(b"'\\''");
        } else {
            word.push(byte);
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("there is space");
        fs::write(path, text).expect("there is space");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// Programs and folders are links. ptxas is a script that calls this program with the toolkit's ptxas, for any
    /// letters in the paths.
    #[test]
    fn a_wrapped_toolkit() {
        let folder = tempfile::tempdir().expect("there is space");
        let (cuda, wrapped) = (folder.path().join("cu'da 13"), folder.path().join("wrapped"));
        let program = folder.path().join("pro'gram $x");
        write(&cuda.join("bin/ptxas"), "the real one");
        write(&cuda.join("bin/nvcc"), "nvcc");
        write(&cuda.join("include/cuda.h"), "header");
        write(&program, &format!("#!/bin/sh\necho \"${NAMED}|$*\"\n"));
        create(&wrapped, &cuda, &program).expect("there is space");
        assert_eq!(fs::read_link(wrapped.join("bin/nvcc")).expect("a link"), cuda.join("bin/nvcc"));
        assert_eq!(fs::read_to_string(wrapped.join("include/cuda.h")).expect("a header"), "header");
        assert_eq!(fs::read_to_string(cuda.join("bin/ptxas")).expect("it stays"), "the real one");
        let said = |named: &str| {
            let output = Command::new(wrapped.join("bin/ptxas")).args(["a b", "-v"]).env(NAMED, named).output();
            String::from_utf8(output.expect("it starts").stdout).expect("text")
        };
        assert_eq!(said(""), format!("{}|ptxas a b -v\n", cuda.join("bin/ptxas").display()));
        assert_eq!(said("/other"), "/other|ptxas a b -v\n");
        let error = create(&wrapped, &cuda, &program).expect_err("it is there").to_string();
        assert!(error.ends_with("the folder is not empty; remove it, or name a new one"), "{error}");
    }

    #[test]
    fn a_folder_without_ptxas() {
        let folder = tempfile::tempdir().expect("there is space");
        let error = toolkit(Some(folder.path())).expect_err("it has none").to_string();
        assert!(error.ends_with("there is no bin/ptxas; name a CUDA toolkit with --cuda"), "{error}");
    }
}
