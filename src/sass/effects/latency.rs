//! The latency of an instruction's results.

use crate::sass::instruction::Instruction;

/// The kind of latency of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Latency {
    /// A fixed number of cycles. ptxas knows the number and leaves enough cycles before the reader.
    Fixed,
    /// A variable number of cycles in a unit. A scoreboard signals the end.
    Variable(Unit),
}

/// A unit with a variable latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Transcendental functions, conversions and bit counts.
    Special,
    /// Shared memory and shuffles.
    Shared,
    /// Global, local and generic memory.
    Memory,
    /// Loads from constant banks, and special registers of a thread.
    Constant,
    /// Special registers that are read into uniform registers.
    Uniform,
    /// Double-precision operations, on processors with few units for them.
    Double,
    /// Other operations that set a scoreboard.
    Other,
}

impl Unit {
    /// The first unit in order.
    pub(crate) const FIRST: Self = Self::Special;

    /// Whether the unit returns results in the order of its instructions. The scoreboard of an instruction then covers
    /// all earlier instructions of the unit. ptxas omits scoreboards only for these units.
    pub fn is_in_order(self) -> bool {
        matches!(self, Self::Special | Self::Shared | Self::Uniform | Self::Double)
    }

    /// Whether two units read their sources from one in-order queue. A scoreboard of the later instruction then covers
    /// the sources of the earlier one.
    pub fn shares_queue(self, other: Self) -> bool {
        let is_memory = |unit| matches!(unit, Self::Shared | Self::Memory);
        self == other || is_memory(self) && is_memory(other)
    }
}

impl Latency {
    /// Returns the latency of an instruction. `sm` is the processor: 80, 89, 90.
    pub fn of(instruction: &Instruction, sm: u32) -> Self {
        let control = instruction.control;
        let unit = match instruction.word() {
            "MUFU" | "F2F" | "F2I" | "I2F" | "FRND" | "POPC" | "FLO" | "BREV" | "FCHK" => Unit::Special,
            "LDS" | "LDSM" | "STS" | "STSM" | "ATOMS" | "SHFL" | "MATCH" | "REDUX" | "MOVM" => Unit::Shared,
            "LD" | "LDG" | "LDL" | "ST" | "STG" | "STL" | "ATOM" | "ATOMG" | "RED" | "REDG" | "LDGSTS" | "QSPC"
            | "LDGDEPBAR" => Unit::Memory,
            "LDC" | "S2R" | "B2R" => Unit::Constant,
            "S2UR" => Unit::Uniform,
            "DADD" | "DFMA" | "DMUL" | "DSETP" if !has_doubles(sm) => Unit::Double,
            _ if control.writes.is_some() || control.reads.is_some() => Unit::Other,
            _ => return Self::Fixed,
        };
        Self::Variable(unit)
    }
}

/// Whether a processor's double-precision units have a fixed latency. ptxas sets scoreboards for doubles on sm_80 and
/// sm_89, and none on sm_90.
fn has_doubles(sm: u32) -> bool {
    sm == 90
}
