//! What does the work of an instruction, and for how long nothing else can begin there.
//!
//! Widths are those of the table of throughputs in the CUDA C++ Programming Guide: a unit of 16 lanes takes a warp's
//! instruction each other cycle.

use super::processor::Numbers;
use crate::sass::instruction::Instruction;

/// A unit of a partition of an SM, or of the SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Products and sums of floats and halves.
    Fma,
    /// The half of these lanes that multiplies integers, too.
    Multiply,
    /// Integers, logic, comparisons, moves.
    Alu,
    /// Doubles.
    Double,
    /// Approximate functions, conversions, counts of bits.
    Special,
    /// Products of matrices.
    Matrix,
    /// Registers of warps.
    Uniform,
    /// Jumps and registers of convergence.
    Branch,
    /// Memory, shuffles and constants with an index: a queue of the SM.
    Memory,
    /// None: the dispatch alone.
    None,
}

impl Unit {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Fma,
        Self::Multiply,
        Self::Alu,
        Self::Double,
        Self::Special,
        Self::Matrix,
        Self::Uniform,
        Self::Branch,
        Self::Memory,
        Self::None,
    ];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fma => "float",
            Self::Multiply => "integer product",
            Self::Alu => "integer",
            Self::Double => "double",
            Self::Special => "special",
            Self::Matrix => "matrix",
            Self::Uniform => "uniform",
            Self::Branch => "branch",
            Self::Memory => "memory queue",
            Self::None => "dispatch",
        }
    }

    /// The unit of an instruction.
    pub fn of(instruction: &Instruction) -> Self {
        match instruction.word() {
            "FFMA" | "FADD" | "FMUL" | "FSWZADD" | "HADD2" | "HMUL2" | "HFMA2" | "FFMA32I" | "FADD32I" | "FMUL32I" => {
                Self::Fma
            }
            "IMAD" | "IDP" | "IDP4A" | "IMUL" => Self::Multiply,
            "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" => Self::Double,
            "MUFU" | "F2F" | "F2I" | "I2F" | "FRND" | "I2I" | "POPC" | "FLO" | "BREV" | "FCHK" | "F2IP" | "I2IP" => {
                Self::Special
            }
            "HMMA" | "IMMA" | "DMMA" | "BMMA" | "QMMA" | "OMMA" | "HGMMA" | "IGMMA" | "QGMMA" => Self::Matrix,
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

    /// The cycles until the unit takes the next instruction of its partition.
    pub fn interval(self, instruction: &Instruction, numbers: &Numbers) -> u64 {
        let name = match self {
            Self::Fma if instruction.word().starts_with('H') => "pipe.half",
            Self::Fma => "pipe.fma",
            Self::Multiply if instruction.has("WIDE") || instruction.has("HI") => "pipe.fma_heavy.wide",
            Self::Multiply => "pipe.fma_heavy",
            Self::Alu => "pipe.alu",
            Self::Double => "pipe.fp64",
            Self::Special => "pipe.xu",
            Self::Matrix => return matrix_interval(instruction, numbers),
            Self::Uniform => "pipe.uniform",
            Self::Branch => "pipe.branch",
            Self::Memory => "pipe.lsu",
            Self::None => return 1,
        };
        numbers.whole(name).max(1)
    }
}

/// The cycles of a product of matrices: of its own row, or of the row with the longest name that its mnemonic begins with.
fn matrix_interval(instruction: &Instruction, numbers: &Numbers) -> u64 {
    let mut name = format!("pipe.tensor.{}", instruction.mnemonic);
    while !numbers.has(&name) {
        match name.rfind('.') {
            Some(at) if at > "pipe.tensor.".len() => name.truncate(at),
            _ => return numbers.get(OF_MOST).ceil() as u64,
        }
    }
    numbers.get(&name).ceil() as u64
}

/// The row of products that have none.
const OF_MOST: &str = "pipe.tensor.HMMA.16816.F32";
