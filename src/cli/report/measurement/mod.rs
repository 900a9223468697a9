//! `nvptx-ra report --sass`: measures ptxas's code for each kernel, by source line.
//!
//! * [`input`]: the machine code in an input, or ptxas's output for the input;
//! * [`kernel`]: joins a function's tables;
//! * [`assigned`]: which registers have a value;
//! * [`allocation`]: why a function uses more registers than are live;
//! * [`local`]: a function's traffic to and from local memory;
//! * [`spills`]: how much of this traffic is spills;
//! * [`executed`]: execution counts of a drawn launch;
//! * [`table`], [`json`], [`difference`]: output formats. The page is in [`super::page`].

mod allocation;
mod assigned;
pub(super) mod difference;
mod executed;
pub(super) mod input;
pub(super) mod json;
pub(super) mod kernel;
mod local;
pub(super) mod spills;
pub(super) mod table;

use std::collections::BTreeMap;
use std::path::Path;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::sass::meaning::Approximation;
use nvptx_ra::target::machine::{Architecture, Launch, Occupancy};

use self::executed::Executed;
pub(super) use self::kernel::Kernel;
use crate::kernel_names;
use crate::machine::cubin::Facts;
use crate::machine::source_lines::Place;
use crate::machine::{cubin, disassembler, machine_code, program};
use crate::ptxas::{self, PtxasReports};

/// The measurement of one cubin.
pub(super) struct Measurement {
    /// Its name in messages.
    pub(super) input: String,
    pub(super) architecture: &'static Architecture,
    /// Kernels, then other separately compiled functions, each in the file's order.
    pub(super) kernels: Vec<Kernel>,
    /// Source files.
    pub(super) files: Vec<String>,
    /// Whether the cubin has source lines.
    pub(super) has_lines: bool,
    /// ptxas's messages when it wrote the cubin.
    pub(super) words: String,
}

impl Measurement {
    /// Measures the cubin's functions. Kernels are only measured if their names contain one of the wanted parts. `said`
    /// are ptxas's figures from the run that wrote the cubin. With `runs`, a launch of each kernel is run.
    pub(super) fn read(
        path: &Path,
        name: &str,
        wanted: &[String],
        said: Option<&PtxasReports>,
        runs: bool,
    ) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::file(path, &error))?;
        let damaged = || {
            let problem = format!("{name}: the cubin is truncated or damaged");
            Error::new(ErrorKind::View, problem, "build it again, or give its PTX")
        };
        let facts = cubin::facts(&bytes).ok_or_else(damaged)?;
        let code = machine_code::instructions(&bytes).ok_or_else(damaged)?;
        let program = runs.then(|| program::program(&bytes, name, Approximation::default())).transpose()?;
        drop(bytes);
        if facts.is_empty() {
            let problem = format!("{name}: it has no code");
            return Err(Error::new(ErrorKind::View, problem, "give a cubin with kernels"));
        }
        let (mut kernels, mut target) = (Vec::new(), String::new());
        let mut files: Vec<String> = Vec::new();
        let mut has_lines = false;
        let nvdisasm = ptxas::tool("nvdisasm");
        for part in parts(&facts, wanted) {
            let mut lines = disassembler::source_lines(&nvdisasm, path, &part, name)?;
            has_lines |= !lines.is_empty();
            lines.share_files(&mut files);
            disassembler::life_ranges(&nvdisasm, path, &part, name, |table| {
                table.target.clone_into(&mut target);
                let facts = facts.get(&table.name).cloned().unwrap_or_default();
                let ptxas_report = said.and_then(|said| said.get(&table.name)).copied();
                let code = code.get(&table.name).map_or(&[][..], Vec::as_slice);
                let mut kernel = Kernel::new(table, &lines, code, facts, ptxas_report);
                if let Some(program) = program.as_ref().filter(|_| kernel.facts.is_kernel) {
                    let line = |offset| lines.of(&kernel.name, offset).first().copied();
                    kernel.executed = Some(Executed::new(program, &kernel.name, &kernel.facts, line));
                }
                kernels.push(kernel);
            })?;
        }
        if kernels.is_empty() {
            let problem = format!("{name}: nvdisasm prints no table of registers for it");
            return Err(Error::pass(problem, "use the nvdisasm of CUDA 13, and code for sm_75 or later"));
        }
        kernels.sort_by_key(|kernel| !kernel.facts.is_kernel);
        Ok(Self {
            input: name.to_owned(),
            architecture: Architecture::by_name(&target)?,
            kernels,
            has_lines,
            files,
            words: String::new(),
        })
    }

    /// Returns a kernel's launch.
    pub(super) fn launch(kernel: &Kernel, dynamic_shared: u32) -> Launch {
        let (threads, static_shared) = (kernel.facts.threads, kernel.facts.shared);
        Launch { threads, static_shared, dynamic_shared, ..Launch::new(kernel.registers()) }
    }

    /// Returns the occupancy of a kernel.
    pub(super) fn occupancy(&self, kernel: &Kernel) -> Occupancy {
        self.architecture.occupancy(&Self::launch(kernel, kernel.dynamic_shared))
    }

    /// Returns the highest register count with which an SM holds more warps of the kernel.
    pub(super) fn next_step(&self, kernel: &Kernel) -> Option<u32> {
        self.architecture.next_step(&Self::launch(kernel, kernel.dynamic_shared))
    }

    /// Returns the file of a place.
    pub(super) fn file(&self, place: Place) -> &str {
        self.files.get(place.file as usize).map_or("", String::as_str)
    }
}

/// Bytes of code that are disassembled at once. The disassembler uses some 100 bytes of memory for each byte of code.
const PART: usize = 1 << 20;

/// Splits the wanted functions into parts. If a symbol is missing, there is one part with all functions. If no function
/// is wanted, returns the first function, because its disassembly describes the file.
fn parts(facts: &BTreeMap<String, Facts>, wanted: &[String]) -> Vec<Vec<usize>> {
    let is_wanted = |name: &str| kernel_names::is_wanted(wanted, name);
    let mut chosen: Vec<&Facts> = facts.iter().filter(|(name, _)| is_wanted(name)).map(|(_, facts)| facts).collect();
    if chosen.is_empty() {
        chosen.extend(facts.values().next());
    }
    chosen.sort_by_key(|facts| facts.symbol);
    let mut parts = vec![Vec::new()];
    let mut bytes = 0;
    for facts in chosen {
        let Some(symbol) = facts.symbol else { return vec![Vec::new()] };
        if bytes + facts.bytes > PART && bytes > 0 {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += facts.bytes;
        parts.last_mut().into_iter().for_each(|part| part.push(symbol));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each wanted function is in exactly one part. Only a part with a single function may exceed the size limit. If a
    /// symbol is missing, there is one part.
    #[test]
    fn parts_of_a_file() {
        let functions = |sizes: &[usize]| -> BTreeMap<String, Facts> {
            let of =
                |(symbol, &bytes)| (format!("k{symbol}"), Facts { symbol: Some(symbol), bytes, ..Facts::default() });
            sizes.iter().enumerate().map(of).collect()
        };
        let half = PART / 2;
        let facts = functions(&[half, half, 1, 3 * PART, half]);
        assert_eq!(parts(&facts, &[]), [vec![0, 1], vec![2], vec![3], vec![4]]);
        assert_eq!(parts(&facts, &["k4".into()]), [vec![4]]);
        assert_eq!(parts(&facts, &["other".into()]), [vec![0]]);
        let mut odd = facts;
        odd.insert("l".into(), Facts::default());
        assert_eq!(parts(&odd, &[]), [Vec::<usize>::new()]);
    }
}
