//! One ptxas's result for one file.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use nvptx_ra::emulate::Program;
use nvptx_ra::error::Error;
use nvptx_ra::sass::cubin::Cubin;
use nvptx_ra::target::machine::{Architecture, Launch};

use super::toolchain::Toolchain;
use crate::machine::cubin::{self, Facts};
use crate::machine::machine_code;
use crate::ptxas::{self, Folder, PtxasReports};
use crate::ptxas_run::{Failure, Run};
use crate::time::code::Code;

/// ptxas's warnings of one number about a kernel's performance: the first text, the number of occurrences, and whether
/// ptxas calls them a loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PtxasWarning {
    pub(super) text: String,
    pub(super) count: usize,
    pub(super) is_loss: bool,
}

/// Figures of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) registers: u32,
    /// Bytes that the code spills and reloads.
    pub(super) spilled: u32,
    pub(super) stack: u32,
    /// Warps that an SM holds.
    pub(super) warps: u32,
    pub(super) instructions: u32,
    /// Warnings, by their numbers.
    pub(super) said: BTreeMap<String, PtxasWarning>,
}

/// Machine code of a file.
pub(super) struct Built {
    pub(super) cubin: Vec<u8>,
    /// The decoded program, or the reason why it cannot run: instructions that only the disassembler knows.
    pub(super) code: Result<Code, String>,
    facts: BTreeMap<String, Facts>,
    measured: PtxasReports,
    instructions: BTreeMap<String, u32>,
    /// The bytes of each function.
    bytes: BTreeMap<String, Vec<u8>>,
    words: String,
}

impl Built {
    /// Assembles PTX. The error is the reason why there is no machine code.
    pub(super) fn new(
        toolchain: &Toolchain,
        (name, ptx): (&str, &[u8]),
        program: &Arc<Program>,
        cpu: &str,
        options: &str,
    ) -> Result<Self, String> {
        let told = |error: Error| error.problem;
        let folder = Folder::new("diff").map_err(told)?;
        let [source, cubin] = ["k.ptx", "k.cubin"].map(|name| folder.path(name));
        let file = |path: &Path, error: std::io::Error| Error::file(path, &error).problem;
        std::fs::write(&source, ptx).map_err(|error| file(&source, error))?;
        let mut command = Command::new(&toolchain.ptxas);
        command.args(["-v", "-arch", cpu, "-o"]).arg(&cubin).args(options.split_whitespace()).arg(&source);
        let run = Run::of(&mut command).map_err(|error| file(&toolchain.ptxas, error))?;
        // The file is in a temporary folder whose name means nothing to the user.
        let words = run.words.replace(&*source.to_string_lossy(), name);
        if let Some(failure) = Failure::of(run.status, &words) {
            return Err(failure.about("it"));
        }
        let bytes = std::fs::read(&cubin).map_err(|error| file(&cubin, error))?;
        let code = Code::of_cubin(&bytes, toolchain.name.clone());
        let code = code.map_err(|error| format!("only the disassembler can read it: {}", error.problem));
        let sass = machine_code::read(&bytes).unwrap_or_default().into_iter();
        Ok(Self {
            code: code.map(|code| Code { ptx: Some(Arc::clone(program)), ..code }),
            facts: cubin::facts(&bytes).unwrap_or_default(),
            measured: ptxas::parse(&words),
            instructions: sass.map(|(name, sass)| (name, sass.instructions)).collect(),
            bytes: Cubin::read(&bytes).map(|cubin| owned(&cubin)).unwrap_or_default(),
            words,
            cubin: bytes,
        })
    }

    /// Returns the figures of a kernel whose launches add `dynamic_shared` bytes of shared memory.
    pub(super) fn figures(&self, kernel: &str, architecture: &Architecture, dynamic_shared: u32) -> Figures {
        let facts = self.facts.get(kernel).cloned().unwrap_or_default();
        let ptxas_report = self.measured.get(kernel).copied().unwrap_or_default();
        let launch = Launch {
            threads: facts.threads,
            static_shared: facts.shared,
            dynamic_shared,
            ..Launch::new(ptxas_report.registers)
        };
        let mut said: BTreeMap<String, PtxasWarning> = BTreeMap::new();
        for advice in ptxas::advice(&self.words).filter(|advice| advice.function == kernel) {
            let first = || PtxasWarning { text: advice.text.to_owned(), count: 0, is_loss: advice.is_loss() };
            said.entry(advice.code.to_owned()).or_insert_with(first).count += 1;
        }
        Figures {
            registers: ptxas_report.registers,
            spilled: ptxas_report.spill_store_bytes + ptxas_report.spill_load_bytes,
            stack: ptxas_report.total_stack_bytes,
            warps: architecture.occupancy(&launch).warps,
            instructions: self.instructions.get(kernel).copied().unwrap_or(0),
            said,
        }
    }

    /// Returns the machine code of a kernel.
    pub(super) fn bytes(&self, kernel: &str) -> Option<&[u8]> {
        self.bytes.get(kernel).map(Vec::as_slice)
    }
}

fn owned(cubin: &Cubin) -> BTreeMap<String, Vec<u8>> {
    cubin.code().into_iter().map(|(name, bytes)| (name, bytes.to_vec())).collect()
}
