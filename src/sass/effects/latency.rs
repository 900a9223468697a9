//! When the results of an instruction are there.

use crate::sass::instruction::Instruction;

/// When results are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Latency {
    /// After a number of cycles that ptxas knows, so it leaves enough of them between.
    Fixed,
    /// When the unit has done the work; a scoreboard says when.
    Variable(Unit),
}

/// What does work whose end nobody can tell ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Transcendental functions, conversions, counts of bits.
    Special,
    /// Shared memory and shuffles.
    Shared,
    /// Global, local and generic memory.
    Memory,
    /// Loads of constants, and special registers of a thread.
    Constant,
    /// Special registers that go to uniform registers.
    Uniform,
    /// Doubles, on processors with few units for them.
    Double,
    /// Something else with a scoreboard.
    Other,
}

impl Unit {
    /// The first in order.
    pub(crate) const FIRST: Self = Self::Special;

    /// Whether the unit gives its results in the order in which it took the work: a scoreboard of an instruction then
    /// covers all that the unit took before. ptxas leaves scoreboards out only for these units.
    pub fn is_in_order(self) -> bool {
        matches!(self, Self::Special | Self::Shared | Self::Uniform | Self::Double)
    }

    /// Whether two units take their sources from one queue in order: a scoreboard of the later instruction then covers
    /// the sources of the earlier one.
    pub fn shares_queue(self, other: Self) -> bool {
        let is_memory = |unit| matches!(unit, Self::Shared | Self::Memory);
        self == other || is_memory(self) && is_memory(other)
    }
}

impl Latency {
    /// The latency of an instruction. `sm` is the processor: 80, 89, 90.
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

/// Whether a processor's units for doubles keep to a fixed latency: ptxas sets scoreboards for doubles on sm_80 and sm_89,
/// and none on sm_90.
fn has_doubles(sm: u32) -> bool {
    sm == 90
}
