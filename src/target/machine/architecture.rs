//! The resources of each architecture. All these numbers are defined only here.
//!
//! Sources, by the letters in the comments below:
//!
//! - \[G\] CUDA C++ Programming Guide, compute capabilities, "Technical Specifications per Compute Capability".
//! - \[H\] `cuda_occupancy.h` of CUDA 13.0.
//! - \[T\] `cuda/__device/arch_traits.h` of NVIDIA's CUDA Core Compute Libraries 3.5.
//! - \[D\] read from the output of `nvdisasm` of CUDA 13; no document of NVIDIA has it.
//!
//! `tests/rust/occupancy.rs` compares the numbers with \[H\] and \[T\].

use crate::error::{Error, ErrorKind};

/// Threads of a warp. \[G\]
pub const WARP_SIZE: u32 = 32;
/// 32-bit registers of an SM, and the most registers of one block: the same on all these architectures. \[G\] \[T\]
pub const REGISTERS: u32 = 64 * 1024;
/// The most registers of a thread: R0 to R254, because R255 reads as zero. \[G\] \[T\]
pub const MAX_REGISTERS: u32 = 255;
/// Predicates of a thread, P0 to P6, because P7 is always true; and uniform predicates of a warp. \[D\]
pub const PREDICATES: u32 = 7;
/// The granularity of a warp's registers: 8 for each of its threads. \[H\]
pub const REGISTER_GRANULARITY: u32 = 256;
/// Sub-partitions of an SM, each with an equal share of the registers. A warp stays in one sub-partition. \[H\]
pub const SUB_PARTITIONS: u32 = 4;
/// The most threads of a block. \[G\] \[T\]
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
/// The most bytes of static shared memory, which is also the limit of a block that does not opt in to more. \[G\] \[T\]
pub const SHARED_PER_BLOCK: u32 = 48 * KIB;

const KIB: u32 = 1024;

/// A register file, by its name in SASS.
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
    /// Returns the prefix of its registers' names.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::General => "R",
            Self::Uniform => "UR",
            Self::Predicate => "P",
            Self::UniformPredicate => "UP",
        }
    }
}

/// The resources of an SM of one compute capability. Suffixes (`sm_90a`, `sm_100f`) add instructions and change no
/// number.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// The name without a suffix, `sm_90`.
    pub name: &'static str,
    /// The major compute capability.
    pub major: u32,
    /// The minor compute capability.
    pub minor: u32,
    /// The most warps on an SM. \[G\] \[T\]
    pub max_warps: u32,
    /// The most blocks on an SM. \[G\] \[H\] \[T\]
    pub max_blocks: u32,
    /// The possible sizes of shared memory in bytes, ascending. The rest of the memory is L1 cache. The last size is
    /// all shared memory of an SM. \[G\] \[H\]
    pub carve_outs: &'static [u32],
    /// Bytes of shared memory that the driver reserves in each block. \[G\] \[T\]
    pub reserved_shared: u32,
    /// The granularity of a block's shared memory in bytes. \[H\]
    pub shared_granularity: u32,
    /// Block barriers of an SM, if \[H\] counts them as a limit.
    pub block_barriers: Option<u32>,
    /// Uniform registers of a warp that an instruction can name: UR0 to UR62 from sm_75 to sm_90, with UR63 as zero;
    /// UR0 to UR254 from sm_100 on, with UR255 as zero. \[D\] The number that ptxas allocates is not documented; UR77
    /// is the highest register observed in its output.
    pub uniform_registers: u32,
}

const VOLTA: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB];
const TURING: &[u32] = &[32 * KIB, 64 * KIB];
const UP_TO_100: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB];
const UP_TO_164: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB];
const UP_TO_228: &[u32] =
    &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB, 196 * KIB, 228 * KIB];

/// All known architectures, ascending.
///
/// sm_72 has the numbers of sm_70, with which it shares a row in \[G\] of CUDA 12. sm_88 is the same as sm_86 in \[T\].
/// sm_101 is named sm_110 in CUDA 13.
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

/// Volta. Turing differs.
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

/// Ampere and Ada, except the A100.
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

/// Hopper and Blackwell for data centres.
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

/// Other Blackwell processors.
const fn small(name: &'static str, major: u32, minor: u32, carve_outs: &'static [u32]) -> Architecture {
    Architecture { max_warps: 48, max_blocks: 24, carve_outs, block_barriers: Some(24), ..large(name, major, minor) }
}

impl Architecture {
    /// Returns all known architectures, ascending by compute capability.
    pub fn all() -> &'static [Self] {
        &ARCHITECTURES
    }

    /// Returns the architecture of an LLVM processor name: `sm_90`, or a name with an existing suffix, such as
    /// `sm_90a`, `sm_100a`, `sm_100f`.
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
                format!(
                    "use one of {}; from sm_90 on, the suffix a is valid, too, and from sm_100 on the suffix f",
                    names.join(", ")
                ),
            )
        })
    }

    /// Returns the registers of a file that one thread can name, or one warp for uniform files. 0 if the architecture
    /// does not have the file.
    ///
    /// P7, UP7 and the last register of the other files are constants and are not counted.
    pub fn registers(&self, file: RegisterFile) -> u32 {
        match file {
            RegisterFile::General => MAX_REGISTERS,
            RegisterFile::Uniform => self.uniform_registers,
            RegisterFile::Predicate => PREDICATES,
            RegisterFile::UniformPredicate if self.uniform_registers == 0 => 0,
            RegisterFile::UniformPredicate => PREDICATES,
        }
    }

    /// Returns the bytes of shared memory of an SM.
    pub fn shared(&self) -> u32 {
        self.carve_outs.last().copied().unwrap_or_default()
    }

    /// Returns the most bytes of shared memory that a block may have if its kernel opts in. \[G\] \[T\]
    pub fn shared_opt_in(&self) -> u32 {
        self.shared() - self.reserved_shared
    }

    /// Returns the smallest size of shared memory with at least this many bytes. All of it if no size is sufficient.
    pub fn carve_out(&self, bytes: u32) -> u32 {
        self.carve_outs.iter().copied().find(|size| *size >= bytes).unwrap_or(self.shared())
    }
}

/// Returns the number of an NVIDIA processor by its name: 90 for `sm_90a`. `None` for other names.
pub fn processor_number(name: &str) -> Option<u32> {
    name.strip_prefix("sm_")?.trim_end_matches(|last: char| !last.is_ascii_digit()).parse().ok()
}
