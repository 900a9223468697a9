//! The machine code of an input: a cubin, the cubins in a larger file, or ptxas's output for PTX.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::input_kind::InputKind;

use super::Measurement;
use crate::input::{self, Input};
use crate::ptxas::{self, Folder};
use crate::ptxas_run::Run;

/// Kinds of files with machine code.
pub(in super::super) const MACHINE_CODE: [InputKind; 4] =
    [InputKind::Cubin, InputKind::FatBinary, InputKind::Elf, InputKind::Archive];

/// Returns whether a file contains machine code; false if it cannot be read. A stream is not examined, because it can
/// only be read once.
pub(in super::super) fn is_machine_code(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = |file: File| file.take(InputKind::ENOUGH as u64).read_to_end(&mut head);
    !input::is_stream(path)
        && path.is_file()
        && File::open(path).and_then(read).is_ok()
        && MACHINE_CODE.contains(&InputKind::of(&head, path))
}

/// Measures a file that holds machine code.
pub(in super::super) fn of_machine_code(
    input: Input,
    wanted: &[String],
    runs: bool,
) -> Result<Vec<Measurement>, Error> {
    let folder = Folder::new("report")?;
    let (path, kind, name) = (input.path.clone(), input.kind, input::name(&input.path));
    // A stream has no path for the disassembler.
    let file = if input::is_stream(&path) {
        let file = folder.path("input");
        std::fs::write(&file, input.content()?).map_err(|error| Error::file(&file, &error))?;
        file
    } else {
        path
    };
    if kind == InputKind::Cubin {
        return Ok(vec![Measurement::read(&file, &name, wanted, None, runs)?]);
    }
    let inside = folder.path("cubins");
    std::fs::create_dir(&inside).map_err(|error| Error::file(&inside, &error))?;
    let of_cubin = |cubin: &PathBuf| {
        let inner = cubin.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        Measurement::read(cubin, &format!("{name}:{inner}"), wanted, None, runs)
    };
    let cubins = crate::machine::disassembler::extract(&file, &name, &inside)?;
    cubins.iter().map(of_cubin).collect()
}

/// Assembles PTX as `nvcc -lineinfo` does, and measures the result.
pub(in super::super) fn of_ptx(
    ptx: &Path,
    name: &str,
    cpu: &str,
    is_part: bool,
    wanted: &[String],
    runs: bool,
) -> Result<Measurement, Error> {
    let folder = Folder::new("report")?;
    let cubin = folder.path("k.cubin");
    let run = Run::assemble(ptx, cpu, &cubin, is_part, true).map_err(|error| {
        let remedy = "put NVIDIA's ptxas and nvdisasm on PATH, or set CUDA_PATH to a CUDA toolkit";
        Error::pass(format!("--sass: ptxas: {error}"), remedy)
    })?;
    let failure = run.failure();
    let words = run.words;
    if let Some(failure) = failure {
        let problem = format!("--sass: {name}: {}", failure.about("its PTX"));
        let remedy = match words.contains("Optimized debugging") || words.contains(".target debug") {
            true => "compile it with -lineinfo or -gline-tables-only instead of -g",
            false => "leave out --sass for a forecast",
        };
        return Err(Error::new(ErrorKind::Pass, problem, remedy));
    }
    let measurement = Measurement::read(&cubin, name, wanted, Some(&ptxas::parse(&words)), runs)?;
    Ok(Measurement { words, ..measurement })
}
