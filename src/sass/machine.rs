//! A machine code file that can run.

use super::counts::Counts;
use super::cubin::Cubin;
use super::decode::decode;
use super::hazards::latencies::Latencies;
use super::hazards::{self, Finding};
use super::instruction::{BYTES, Function};
use super::meaning::Approximation;
use super::{lower, text};
use crate::emulate::{Count, Program, Side};

/// The first processor for which the cycles between dependent instructions are unknown. They were mined up to sm_90,
/// and later processors have other cycles.
const FIRST_UNKNOWN: u32 = 100;

/// A machine code file, decoded.
#[derive(Debug)]
pub struct Machine {
    /// The program for the emulator.
    pub program: Program,
    /// The instructions of each function.
    pub code: Vec<Function>,
    /// The processor: 90 for sm_90.
    pub processor: u32,
}

impl Machine {
    /// Decodes the functions of a file. If the decoder does not know all instructions of a function, `disassemble`
    /// provides the disassembler's text of the file instead. If a line of this text cannot be read, a launch that
    /// reaches the line ends.
    pub fn new<E>(
        cubin: &Cubin,
        approximation: Approximation,
        disassemble: impl FnOnce() -> Result<String, E>,
    ) -> Result<Self, E> {
        let code = match decoded(cubin) {
            Some(code) => code,
            None => text::read(&disassemble()?, &cubin.code()).0,
        };
        Ok(Self { program: lower::program(cubin, &code, approximation), code, processor: cubin.processor })
    }

    /// Returns the places where a kernel's code does not wait for a result or source. Empty since sm_100, because the
    /// required cycles are unknown.
    pub fn hazards(&self, kernel: &str) -> Vec<Finding> {
        if self.processor >= FIRST_UNKNOWN {
            return Vec::new();
        }
        let check = |code| hazards::check(code, self.processor, Latencies::of_ptxas());
        self.code_of(kernel).map_or_else(Vec::new, check)
    }

    fn code_of(&self, kernel: &str) -> Option<&Function> {
        self.code.iter().find(|code| code.name == kernel)
    }

    /// Returns how often each instruction of a kernel executed, by its address in the function.
    pub fn count_by_address(&self, kernel: &str, side: &Side) -> Vec<(u32, Count)> {
        let counts = side.counts(&self.program, kernel);
        counts.into_iter().flatten().map(|count| ((count.line - 1) * BYTES, count)).collect()
    }

    /// Returns the executed instructions of a kernel in the launches of a run.
    pub fn counts(&self, kernel: &str, side: &Side) -> Option<Counts> {
        Some(Counts::new(self.code_of(kernel)?, &side.counts(&self.program, kernel)?))
    }
}

/// Decodes all functions. `None` if the decoder does not know an instruction. O(bytes).
pub fn decoded(cubin: &Cubin) -> Option<Vec<Function>> {
    let mut functions = Vec::new();
    for (name, bytes) in cubin.code() {
        // An address that the linker has not written yet is in a separate section.
        let is_open =
            cubin.sections.get(&format!(".text.{name}")).is_some_and(|section| !section.relocations.is_empty());
        if is_open {
            return None;
        }
        let (words, _) = bytes.as_chunks::<{ BYTES as usize }>();
        let instructions = words
            .iter()
            .enumerate()
            .map(|(number, word)| decode(u128::from_le_bytes(*word), number as u32 * BYTES, cubin.processor));
        functions.push(Function { name, instructions: instructions.collect::<Option<_>>()?, callees: Vec::new() });
    }
    Some(functions)
}
