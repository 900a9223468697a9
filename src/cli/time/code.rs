//! The machine code of an input.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use nvptx_ra::emulate::Program;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::ptx::Module;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;

use crate::input::{self, Input};
use crate::machine::cubin::{self, Facts};
use crate::machine::program::{self, Loaded};
use crate::ptxas::Folder;
use crate::ptxas_run::Run;

/// Machine code, with the attributes of its kernels.
pub(crate) struct Code {
    /// Its name in messages.
    pub(crate) name: String,
    pub(crate) machine: Machine,
    pub(crate) facts: BTreeMap<String, Facts>,
    /// The PTX from which it was made, if the input is PTX.
    pub(crate) ptx: Option<Arc<Program>>,
}

impl Code {
    /// Reads a cubin, or assembles PTX.
    pub(crate) fn read(path: &Path, cpu: &str) -> Result<Self, Error> {
        let input = Input::open(path, "time", &[InputKind::Ptx, InputKind::Text, InputKind::Cubin])?;
        let (kind, name) = (input.kind, input::name(path));
        let content = input.content()?;
        match kind {
            InputKind::Cubin => Self::of_cubin(&content, name),
            _ => {
                let cubin = assembled(&content, &name, cpu)?;
                let ptx = Program::new(&Module::read(&name, &content)?);
                Ok(Self { ptx: Some(Arc::new(ptx)), ..Self::of_cubin(&cubin, name)? })
            }
        }
    }

    /// Decodes a cubin.
    pub(crate) fn of_cubin(bytes: &[u8], name: String) -> Result<Self, Error> {
        let damaged = || Error::pass(format!("{name}: it is truncated or damaged"), "build the file again");
        let facts = cubin::facts(bytes).ok_or_else(damaged)?;
        match program::program(bytes, &name, Approximation::default())? {
            Loaded::Machine(machine) => Ok(Self { name, machine, facts, ptx: None }),
            Loaded::Ptx(_) => Err(damaged()),
        }
    }
}

fn assembled(ptx: &[u8], name: &str, cpu: &str) -> Result<Vec<u8>, Error> {
    let folder = Folder::new("time")?;
    let [source, cubin] = ["k.ptx", "k.cubin"].map(|file| folder.path(file));
    std::fs::write(&source, ptx).map_err(|error| Error::file(&source, &error))?;
    let run = Run::assemble(&source, cpu, &cubin, false, true).map_err(|error| {
        let remedy = "put NVIDIA's ptxas on PATH, or set CUDA_PATH to a CUDA toolkit";
        Error::pass(format!("{name}: ptxas: {error}"), remedy)
    })?;
    if let Some(failure) = run.failure() {
        let problem = format!("{name}: {}", failure.about("its PTX"));
        return Err(Error::new(ErrorKind::Pass, problem, "assemble it with your own options, and name the cubin"));
    }
    std::fs::read(&cubin).map_err(|error| Error::file(&cubin, &error))
}
