//! Classes of machine instructions, for counts.

use super::instruction::Instruction;

/// The class of an instruction: the unit or the kind of memory that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Integer and logic operations, moves, comparisons, and floats of 32 and 16 bits.
    Arithmetic,
    /// Double-precision operations.
    Double,
    /// Approximate functions and conversions.
    Special,
    /// Matrix products, and loads of matrix fragments from shared memory.
    Matrix,
    /// Jumps, calls, exits, and operations on convergence registers.
    Branch,
    /// Loads from global memory, generic loads included.
    GlobalLoad,
    /// Stores to global memory, generic stores included.
    GlobalStore,
    /// Loads from shared memory.
    SharedLoad,
    /// Stores to shared memory.
    SharedStore,
    /// Loads from local memory.
    LocalLoad,
    /// Stores to local memory.
    LocalStore,
    /// Loads from constant banks.
    ConstantLoad,
    /// Atomic operations.
    Atomic,
    /// Barriers, fences and waits.
    Barrier,
    /// Shuffles, votes, and special registers.
    Warp,
    /// Instructions without an effect.
    Nothing,
    /// Unknown instructions.
    Unknown,
}

impl Class {
    /// All classes, in the order in which tables list them.
    pub const ALL: [Self; 17] = [
        Self::Arithmetic,
        Self::Double,
        Self::Special,
        Self::Matrix,
        Self::Branch,
        Self::GlobalLoad,
        Self::GlobalStore,
        Self::SharedLoad,
        Self::SharedStore,
        Self::LocalLoad,
        Self::LocalStore,
        Self::ConstantLoad,
        Self::Atomic,
        Self::Barrier,
        Self::Warp,
        Self::Nothing,
        Self::Unknown,
    ];

    /// Returns the name that reports print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Double => "double",
            Self::Special => "special",
            Self::Matrix => "matrix",
            Self::Branch => "branch",
            Self::GlobalLoad => "global load",
            Self::GlobalStore => "global store",
            Self::SharedLoad => "shared load",
            Self::SharedStore => "shared store",
            Self::LocalLoad => "local load",
            Self::LocalStore => "local store",
            Self::ConstantLoad => "constant load",
            Self::Atomic => "atomic",
            Self::Barrier => "barrier",
            Self::Warp => "warp",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the class of an instruction.
    pub fn of(instruction: &Instruction) -> Self {
        match instruction.word() {
            "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" => Self::Double,
            "MUFU" | "F2F" | "F2I" | "I2F" | "FRND" | "I2I" | "F2IP" | "I2IP" => Self::Special,
            "HMMA" | "IMMA" | "DMMA" | "BMMA" | "QMMA" | "OMMA" | "HGMMA" | "IGMMA" | "QGMMA" | "LDSM" | "STSM"
            | "MOVM" | "WARPGROUP" => Self::Matrix,
            "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "CALL" | "RET" | "EXIT" | "KILL" | "BPT" | "BSSY" | "BSYNC"
            | "BREAK" | "BMOV" | "WARPSYNC" | "YIELD" | "LEPC" | "ENDCOLLECTIVE" => Self::Branch,
            "LDG" | "LD" | "LDGSTS" => Self::GlobalLoad,
            "STG" | "ST" => Self::GlobalStore,
            "LDS" => Self::SharedLoad,
            "STS" => Self::SharedStore,
            "LDL" => Self::LocalLoad,
            "STL" => Self::LocalStore,
            "LDC" | "ULDC" | "LDCU" => Self::ConstantLoad,
            "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" => Self::Atomic,
            "BAR" | "B2R" | "MEMBAR" | "FENCE" | "ERRBAR" | "CGAERRBAR" | "CCTL" | "DEPBAR" | "LDGDEPBAR" | "SYNCS"
            | "ARRIVES" | "NANOSLEEP" | "ACQBULK" | "PREEXIT" | "UCGABAR_ARV" | "UCGABAR_WAIT" => Self::Barrier,
            "SHFL" | "VOTE" | "VOTEU" | "MATCH" | "REDUX" | "CREDUX" | "ELECT" | "S2R" | "S2UR" | "R2UR" => Self::Warp,
            "NOP" | "USETMAXREG" => Self::Nothing,
            "?" => Self::Unknown,
            _ => Self::Arithmetic,
        }
    }
}
