//! The unit that executes an instruction, and the interval until the unit accepts the next instruction.
//!
//! The units and intervals are derived from the distances that ptxas's own schedules leave between independent
//! instructions (docs/notebook/2026-11-30-numbers-of-the-model-of-time.md). The throughput table of the CUDA C++
//! Programming Guide agrees wherever it has a row.

use super::processor::Numbers;
use crate::sass::instruction::Instruction;

/// A unit of an SM's partition, or of the SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Multiply-adds of floats, halves and integers.
    Fma,
    /// Integer and logic operations, comparisons, moves.
    Alu,
    /// Double-precision operations, and matrix products.
    Double,
    /// Approximate functions, conversions, bit counts.
    Special,
    /// Uniform registers.
    Uniform,
    /// Jumps and convergence registers.
    Branch,
    /// Memory, shuffles, barriers, special registers and indexed constants: a queue of the SM.
    Memory,
    /// No unit: only the dispatch.
    None,
}

impl Unit {
    /// All units, in the order of their numbers.
    pub const ALL: [Self; 8] =
        [Self::Fma, Self::Alu, Self::Double, Self::Special, Self::Uniform, Self::Branch, Self::Memory, Self::None];

    /// Returns the name that reports print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fma => "multiplication",
            Self::Alu => "integer",
            Self::Double => "double and matrix",
            Self::Special => "special",
            Self::Uniform => "uniform",
            Self::Branch => "branch",
            Self::Memory => "memory queue",
            Self::None => "dispatch",
        }
    }

    /// Returns the unit of an instruction.
    pub fn of(instruction: &Instruction) -> Self {
        match instruction.word() {
            "HFMA2" if instruction.has("MMA") => Self::Double,
            "IMAD" | "IDP" | "IDP4A" | "IMUL" | "FFMA" | "FADD" | "FMUL" | "FSWZADD" | "HADD2" | "HMUL2" | "HFMA2"
            | "FFMA32I" | "FADD32I" | "FMUL32I" => Self::Fma,
            word if is_matrix_product(word) => Self::Double,
            "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" => Self::Double,
            "MUFU" | "F2F" | "F2I" | "I2F" | "FRND" | "I2I" | "POPC" | "FLO" | "BREV" | "FCHK" | "F2IP" | "I2IP" => {
                Self::Special
            }
            "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "CALL" | "RET" | "EXIT" | "KILL" | "BPT" | "BSSY" | "BSYNC"
            | "BREAK" | "BMOV" | "WARPSYNC" | "YIELD" => Self::Branch,
            "LDG" | "LD" | "LDL" | "LDS" | "LDSM" | "LDGSTS" | "LDC" | "STG" | "ST" | "STL" | "STS" | "STSM"
            | "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" | "SHFL" | "MATCH" | "REDUX" | "MOVM" | "S2R" | "B2R"
            | "MEMBAR" | "CCTL" | "BAR" | "SYNCS" | "ARRIVES" => Self::Memory,
            "NOP" | "DEPBAR" | "LDGDEPBAR" | "WARPGROUP" | "USETMAXREG" | "ERRBAR" | "CGAERRBAR" | "FENCE" | "R2UR"
            | "S2UR" => Self::None,
            word if word.starts_with('U') => Self::Uniform,
            _ => Self::Alu,
        }
    }

    /// Returns the cycles until the unit accepts the next instruction of its partition.
    pub fn interval(self, instruction: &Instruction, numbers: &Numbers) -> u64 {
        let is_wide = instruction.has("WIDE") || instruction.has("HI");
        let name = match (self, instruction.word()) {
            (_, word) if is_matrix_product(word) => return matrix_interval(instruction, numbers),
            (Self::Fma, "HADD2" | "HMUL2" | "HFMA2") => "pipe.half",
            (Self::Fma, "IMAD" | "IMUL") if is_wide => "pipe.fma_wide",
            (Self::Fma, "IMAD" | "IMUL" | "IDP" | "IDP4A") => "pipe.fma_heavy",
            (Self::Fma, _) => "pipe.fma",
            (Self::Alu, _) => "pipe.alu",
            (Self::Double, "HFMA2") => "pipe.half_mma",
            (Self::Double, _) => "pipe.fp64",
            (Self::Special, _) => "pipe.xu",
            (Self::Uniform, _) => "pipe.uniform",
            (Self::Branch, _) => "pipe.branch",
            (Self::Memory, "LDC") => "pipe.ldc",
            (Self::Memory, "REDUX" | "MATCH") => "pipe.redux",
            (Self::Memory, _) => "pipe.lsu",
            (Self::None, _) => return 1,
        };
        numbers.whole(name).max(1)
    }
}

fn is_matrix_product(word: &str) -> bool {
    matches!(word, "HMMA" | "IMMA" | "DMMA" | "BMMA" | "QMMA" | "OMMA" | "HGMMA" | "IGMMA" | "QGMMA")
}

/// Returns the cycles of a matrix product. They are in the row with the longest name that the mnemonic begins with.
fn matrix_interval(instruction: &Instruction, numbers: &Numbers) -> u64 {
    let mut name = format!("pipe.tensor.{}", instruction.mnemonic);
    while !numbers.has(&name) {
        match name.rfind('.') {
            Some(at) if at > "pipe.tensor.".len() => name.truncate(at),
            _ => return numbers.whole(OF_MOST),
        }
    }
    numbers.whole(&name)
}

/// The row for products without their own row.
const OF_MOST: &str = "pipe.tensor.HMMA.16816.F32";
