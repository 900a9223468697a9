//! When the results of an instruction are there.

use crate::sass::instruction::Instruction;

/// When results are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Latency {
    /// After a number of cycles that ptxas knows, so it leaves enough of them between.
    Fixed,
    /// When the unit has done it; a scoreboard says when.
    Variable(Unit),
}

/// A unit that takes work from a queue and gives results in the order of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Transcendental functions, conversions, counts of bits.
    Special,
    /// Shared memory, shuffles, loads of constants by address.
    Shared,
    /// Global, local and generic memory.
    Memory,
    /// Loads of constants.
    Constant,
    /// Special registers.
    Registers,
    /// Doubles, on processors with few units for them.
    Double,
    /// What crosses to uniform registers.
    Uniform,
    /// Matrices of a warpgroup.
    Matrix,
}

impl Latency {
    /// The latency of an instruction.
    pub fn of(instruction: &Instruction) -> Self {
        let unit = match instruction.word() {
            "MUFU" | "F2F" | "F2I" | "I2F" | "FRND" | "POPC" | "FLO" | "BREV" | "FCHK" => Unit::Special,
            "LDS" | "LDSM" | "STS" | "STSM" | "ATOMS" | "SHFL" | "MATCH" | "REDUX" | "MOVM" => Unit::Shared,
            "LD" | "LDG" | "LDL" | "ST" | "STG" | "STL" | "ATOM" | "ATOMG" | "RED" | "REDG" | "LDGSTS" | "QSPC"
            | "LDGDEPBAR" => Unit::Memory,
            "LDC" => Unit::Constant,
            "S2R" | "S2UR" | "B2R" => Unit::Registers,
            _ => return Self::Fixed,
        };
        Self::Variable(unit)
    }
}
