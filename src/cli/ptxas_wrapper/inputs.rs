//! The PTX inputs of an invocation. They are read before ptxas runs, because the output may have the name of an input.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::invocation::{Input, Invocation, Source};

/// Reads all inputs. If an input is unsuitable, returns the reason why ptxas runs alone. In this case, no input that
/// can only be read once has been read.
pub(super) fn read(invocation: &mut Invocation) -> Result<(), String> {
    check_output(&invocation.output)?;
    let (last, first): (Vec<&mut Input>, Vec<&mut Input>) =
        invocation.inputs.iter_mut().partition(|input| input.source == Source::StandardInput);
    for input in first.into_iter().chain(last) {
        match &input.source {
            Source::Argument => {}
            Source::File(path) => {
                let path_and = |problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
                // A pipe can only be read once, and ptxas must read it.
                if !fs::metadata(path).map_err(|error| path_and(&error))?.is_file() {
                    return Err(path_and(&"it is not a regular file"));
                }
                input.text = fs::read(path).map_err(|error| path_and(&error))?;
            }
            Source::StandardInput => {
                // If a read error occurs, ptxas gets the bytes up to the error, as if the input ended there.
                let _ = std::io::stdin().lock().read_to_end(&mut input.text);
            }
        }
    }
    Ok(())
}

/// Checks that the output can be read back and replaced. Other outputs, such as `/dev/null`, are left to ptxas.
fn check_output(output: &Path) -> Result<(), String> {
    match fs::metadata(output) {
        Ok(found) if !found.is_file() => Err(format!("{}: it is not a regular file", output.display())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regular files are read; other or missing files are left to ptxas.
    #[test]
    fn files() {
        let folder = tempfile::tempdir().expect("there is space");
        let path = |name: &str| folder.path().join(name).into_os_string();
        fs::write(path("a.ptx"), "text").expect("there is space");
        let read = |input: std::ffi::OsString, output: std::ffi::OsString| {
            let mut invocation = Invocation::read(vec![input, "-o".into(), output], &|_| None);
            read(&mut invocation).map(|()| invocation.inputs.remove(0).text)
        };
        assert_eq!(read(path("a.ptx"), path("a.o")), Ok(b"text".to_vec()));
        assert_eq!(read(path("a.ptx"), path("a.ptx")), Ok(b"text".to_vec()));
        assert_eq!(read(path("a.ptx"), "/dev/null".into()), Err("/dev/null: it is not a regular file".into()));
        assert_eq!(read("/dev/null".into(), path("a.o")), Err("/dev/null: it is not a regular file".into()));
        assert!(read(path("none.ptx"), path("a.o")).is_err());
    }
}
