//! What one ptxas makes of one file.

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
use crate::ptxas::{self, Folder, Measured};
use crate::ptxas_run::{Failure, Run};
use crate::time::code::Code;

/// What ptxas says of a kernel that costs it performance, or might: a message's number, its first text, how often it stands
/// there, and whether ptxas says that it is a loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) count: usize,
    pub(super) is_loss: bool,
}

/// Figures of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) registers: u32,
    /// Bytes that spills store and load.
    pub(super) spilled: u32,
    pub(super) stack: u32,
    /// Warps that an SM holds.
    pub(super) warps: u32,
    pub(super) instructions: u32,
    /// By the numbers of the messages.
    pub(super) said: BTreeMap<String, Said>,
}

/// Machine code of a file.
pub(super) struct Built {
    /// What runs, or why it cannot: instructions that only the disassembler knows, and there is none.
    pub(super) code: Result<Code, String>,
    facts: BTreeMap<String, Facts>,
    measured: Measured,
    instructions: BTreeMap<String, u32>,
    /// The bytes of each function.
    bytes: BTreeMap<String, Vec<u8>>,
    words: String,
}

impl Built {
    /// Assembles a text. An error says why there is no machine code.
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
        // The text stands in a folder that nobody knows.
        let words = run.words.replace(&*source.to_string_lossy(), name);
        if let Some(failure) = Failure::of(run.status, &words) {
            return Err(failure.about("it"));
        }
        let bytes = std::fs::read(&cubin).map_err(|error| file(&cubin, error))?;
        let code = Code::of_cubin(&bytes, toolchain.name.clone());
        let code = code.map_err(|error| format!("it takes the disassembler to read it: {}", error.problem));
        let sass = machine_code::read(&bytes).unwrap_or_default().into_iter();
        Ok(Self {
            code: code.map(|code| Code { ptx: Some(Arc::clone(program)), ..code }),
            facts: cubin::facts(&bytes).unwrap_or_default(),
            measured: ptxas::parse(&words),
            instructions: sass.map(|(name, sass)| (name, sass.instructions)).collect(),
            bytes: Cubin::read(&bytes).map(|cubin| owned(&cubin)).unwrap_or_default(),
            words,
        })
    }

    /// What is known of a kernel whose launches add so many bytes of shared memory.
    pub(super) fn figures(&self, kernel: &str, architecture: &Architecture, dynamic_shared: u32) -> Figures {
        let facts = self.facts.get(kernel).cloned().unwrap_or_default();
        let real = self.measured.get(kernel).copied().unwrap_or_default();
        let launch = Launch {
            threads: facts.threads,
            static_shared: facts.shared,
            dynamic_shared,
            ..Launch::new(real.registers)
        };
        let mut said: BTreeMap<String, Said> = BTreeMap::new();
        for advice in ptxas::advice(&self.words).filter(|advice| advice.function == kernel) {
            let first = || Said { text: advice.text.to_owned(), count: 0, is_loss: advice.is_loss() };
            said.entry(advice.code.to_owned()).or_insert_with(first).count += 1;
        }
        Figures {
            registers: real.registers,
            spilled: real.spill_store_bytes + real.spill_load_bytes,
            stack: real.total_stack_bytes,
            warps: architecture.occupancy(&launch).warps,
            instructions: self.instructions.get(kernel).copied().unwrap_or(0),
            said,
        }
    }

    /// The machine code of a kernel.
    pub(super) fn bytes(&self, kernel: &str) -> Option<&[u8]> {
        self.bytes.get(kernel).map(Vec::as_slice)
    }
}

/// The newest version of PTX that a ptxas knows, where it refuses a text for a newer one.
pub(super) fn known_version(refusal: &str) -> Option<PtxVersion> {
    let (_, rest) = refusal.split_once("Unsupported .version ")?;
    let (_, known) = rest.split_once("current version is '")?;
    let (major, minor) = known.split_once('\'')?.0.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The major and the minor number.
pub(super) type PtxVersion = (u32, u32);

/// The text as one of another version. What that version does not have, ptxas refuses.
pub(super) fn of_version(ptx: &[u8], (major, minor): PtxVersion) -> Vec<u8> {
    const WORD: &[u8] = b".version ";
    let is_start = |at: &usize| *at == 0 || ptx[at - 1] == b'\n';
    let head = (0..ptx.len()).filter(is_start).find(|&at| ptx[at..].starts_with(WORD));
    let Some(head) = head else { return ptx.to_vec() };
    let rest = &ptx[head..];
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    [&ptx[..head], format!(".version {major}.{minor}").as_bytes(), &rest[end..]].concat()
}

fn owned(cubin: &Cubin) -> BTreeMap<String, Vec<u8>> {
    cubin.code().into_iter().map(|(name, bytes)| (name, bytes.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of a version that a ptxas does not know becomes one that it knows, and nothing else of it changes.
    #[test]
    fn versions() {
        let refusal =
            "ptxas refuses it: ptxas k.ptx, line 9; fatal   : Unsupported .version 9.0; current version is '8.7'";
        assert_eq!((known_version(refusal), known_version("ptxas fatal   : no")), (Some((8, 7)), None));
        let text = b"// .version 1.0\n.version 9.0\n.target sm_90\n";
        assert_eq!(of_version(text, (8, 7)), b"// .version 1.0\n.version 8.7\n.target sm_90\n");
        assert_eq!(of_version(b"none", (8, 7)), b"none");
    }
}
