//! What each architecture has. Every number stands here and nowhere else.
//!
//! Sources, by the letters that the items below name:
//!
//! - \[G\] CUDA C++ Programming Guide, compute capabilities, "Technical Specifications per Compute Capability".
//! - \[H\] `cuda_occupancy.h` of CUDA 13.0.
//! - \[T\] `cuda/__device/arch_traits.h` of NVIDIA's CUDA Core Compute Libraries 3.5.
//! - \[D\] read off `nvdisasm` of CUDA 13: no document of NVIDIA's has it.
//!
//! `tests/rust/occupancy.rs` compares with \[H\] and \[T\].

use crate::error::{Error, ErrorKind};

/// Threads of a warp. \[G\]
pub const WARP_SIZE: u32 = 32;
/// 32-bit registers of an SM, and the most that one block may take: the same on all architectures here. \[G\] \[T\]
pub const REGISTERS: u32 = 64 * 1024;
/// The most registers of a thread: R0 to R254, for R255 reads as zero. \[G\] \[T\]
pub const MAX_REGISTERS: u32 = 255;
/// Predicates of a thread, P0 to P6, for P7 is always true; and of a warp. \[D\]
pub const PREDICATES: u32 = 7;
/// Registers are given to a warp in multiples of so many: 8 for each of its threads. \[H\]
pub const REGISTER_GRANULARITY: u32 = 256;
/// Parts of an SM, each with its share of the registers; a warp stays in one of them. \[H\]
pub const SUB_PARTITIONS: u32 = 4;
/// The most threads of a block. \[G\] \[T\]
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
/// Bytes of shared memory that a block has without asking for more; static shared memory is never more. \[G\] \[T\]
pub const SHARED_PER_BLOCK: u32 = 48 * KIB;

const KIB: u32 = 1024;

/// A register file, as SASS names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegisterFile {
    /// `R`: 32 bits for each thread.
    General,
    /// `UR`: 32 bits for a warp.
    Uniform,
    /// `P`: one bit for each thread.
    Predicate,
    /// `UP`: one bit for a warp.
    UniformPredicate,
}

impl RegisterFile {
    /// What the names of its registers begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::General => "R",
            Self::Uniform => "UR",
            Self::Predicate => "P",
            Self::UniformPredicate => "UP",
        }
    }
}

/// What an SM of one compute capability has. Suffixes (`sm_90a`, `sm_100f`) add instructions and change no number.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// Its name without a suffix, `sm_90`.
    pub name: &'static str,
    /// Compute capability, before the point.
    pub major: u32,
    /// Compute capability, behind the point.
    pub minor: u32,
    /// The most warps on an SM. \[G\] \[T\]
    pub max_warps: u32,
    /// The most blocks on an SM. \[G\] \[H\] \[T\]
    pub max_blocks: u32,
    /// The sizes in bytes that shared memory can have, the rest being L1 cache; ascending, the last is all that an SM
    /// has. \[G\] \[H\]
    pub carve_outs: &'static [u32],
    /// Bytes of shared memory that the driver takes of each block. \[G\] \[T\]
    pub reserved_shared: u32,
    /// Shared memory is given to a block in multiples of so many bytes. \[H\]
    pub shared_granularity: u32,
    /// Barriers of blocks on an SM, where \[H\] lets them limit anything.
    pub block_barriers: Option<u32>,
    /// Uniform registers that an instruction can name, which a warp has: UR0 to UR62 from sm_75 to sm_90, with UR63 as
    /// zero; UR0 to UR254 from sm_100 on, with UR255 as zero. \[D\] How many of them ptxas allocates is not
    /// documented; UR77 is the highest that it was seen to use.
    pub uniform_registers: u32,
}

const VOLTA: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB];
const TURING: &[u32] = &[32 * KIB, 64 * KIB];
const UP_TO_100: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB];
const UP_TO_164: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB];
const UP_TO_228: &[u32] =
    &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB, 196 * KIB, 228 * KIB];

/// All that is known, ascending.
///
/// sm_72 is taken as sm_70, whose row it shares in \[G\] of CUDA 12; sm_88 is as sm_86 in \[T\]; sm_101 is what CUDA 13
/// calls sm_110.
static ARCHITECTURES: [Architecture; 15] = [
    volta("sm_70", 0),
    volta("sm_72", 2),
    Architecture { max_warps: 32, max_blocks: 16, carve_outs: TURING, uniform_registers: 63, ..volta("sm_75", 5) },
    Architecture { max_warps: 64, max_blocks: 32, ..ampere("sm_80", 0, UP_TO_164) },
    ampere("sm_86", 6, UP_TO_100),
    ampere("sm_87", 7, UP_TO_164),
    ampere("sm_88", 8, UP_TO_100),
    Architecture { max_blocks: 24, ..ampere("sm_89", 9, UP_TO_100) },
    Architecture { uniform_registers: 63, ..large("sm_90", 9, 0) },
    large("sm_100", 10, 0),
    small("sm_101", 10, 1, UP_TO_228),
    large("sm_103", 10, 3),
    small("sm_110", 11, 0, UP_TO_228),
    small("sm_120", 12, 0, UP_TO_100),
    small("sm_121", 12, 1, UP_TO_100),
];

/// Volta; Turing differs.
const fn volta(name: &'static str, minor: u32) -> Architecture {
    Architecture {
        name,
        major: 7,
        minor,
        max_warps: 64,
        max_blocks: 32,
        carve_outs: VOLTA,
        reserved_shared: 0,
        shared_granularity: 256,
        block_barriers: None,
        uniform_registers: 0,
    }
}

/// Ampere and Ada, but for the A100.
const fn ampere(name: &'static str, minor: u32, carve_outs: &'static [u32]) -> Architecture {
    Architecture {
        name,
        major: 8,
        minor,
        max_warps: 48,
        max_blocks: 16,
        carve_outs,
        reserved_shared: KIB,
        shared_granularity: 128,
        block_barriers: None,
        uniform_registers: 63,
    }
}

/// Hopper and Blackwell of data centres.
const fn large(name: &'static str, major: u32, minor: u32) -> Architecture {
    Architecture {
        name,
        major,
        minor,
        max_warps: 64,
        max_blocks: 32,
        carve_outs: UP_TO_228,
        reserved_shared: KIB,
        shared_granularity: 128,
        block_barriers: Some(64),
        uniform_registers: 255,
    }
}

/// The other Blackwells.
const fn small(name: &'static str, major: u32, minor: u32, carve_outs: &'static [u32]) -> Architecture {
    Architecture { max_warps: 48, max_blocks: 24, carve_outs, block_barriers: Some(24), ..large(name, major, minor) }
}

impl Architecture {
    /// All that are known, ascending by compute capability.
    pub fn all() -> &'static [Self] {
        &ARCHITECTURES
    }

    /// The architecture that LLVM's processor name stands for: `sm_90`, and with the suffixes that exist `sm_90a`,
    /// `sm_100a`, `sm_100f`.
    ///
    /// # Errors
    ///
    /// Of kind [`ErrorKind::Option`], for a name that is not in the table: its numbers would be guesses.
    pub fn by_name(name: &str) -> Result<&'static Self, Error> {
        let found = Self::all().iter().find(|known| {
            name.strip_prefix(known.name).is_some_and(|suffix| match suffix {
                "" => true,
                "a" => known.major >= 9,
                "f" => known.major >= 10,
                _ => false,
            })
        });
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::all().iter().map(|known| known.name).collect();
            Error::new(
                ErrorKind::Option,
                format!("processor '{name}' is not known"),
                format!("known are {}; from sm_90 on with suffix a, from sm_100 on with f, too", names.join(", ")),
            )
        })
    }

    /// How many registers of a file one thread, or for uniform ones one warp, can name. 0 where the file is not there.
    ///
    /// P7, UP7 and the last of the others are constants, and not counted.
    pub fn registers(&self, file: RegisterFile) -> u32 {
        match file {
            RegisterFile::General => MAX_REGISTERS,
            RegisterFile::Uniform => self.uniform_registers,
            RegisterFile::Predicate => PREDICATES,
            RegisterFile::UniformPredicate if self.uniform_registers == 0 => 0,
            RegisterFile::UniformPredicate => PREDICATES,
        }
    }

    /// Bytes of shared memory of an SM.
    pub fn shared(&self) -> u32 {
        self.carve_outs.last().copied().unwrap_or_default()
    }

    /// The most bytes of shared memory that a block may have if its kernel asks for it. \[G\] \[T\]
    pub fn shared_opt_in(&self) -> u32 {
        self.shared() - self.reserved_shared
    }

    /// The smallest size that shared memory can have with so many bytes; all of it where that is not enough.
    pub fn carve_out(&self, bytes: u32) -> u32 {
        self.carve_outs.iter().copied().find(|size| *size >= bytes).unwrap_or(self.shared())
    }
}

/// The number of a processor of NVIDIA's by its name: 90 of `sm_90a`. `None`: it is no such name.
pub fn processor_number(name: &str) -> Option<u32> {
    name.strip_prefix("sm_")?.trim_end_matches(|last: char| !last.is_ascii_digit()).parse().ok()
}
