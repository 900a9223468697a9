//! The most registers that ptxas gives to a thread of a kernel, and the directive or option that decides it.
//!
//! The rules describe the observed behaviour of ptxas of CUDA 13.0.88; `tests/rust/register_limit.rs` verifies them
//! with ptxas for all combinations of a grid. The documentation of ptxas states that `.maxnreg`, launch bounds and
//! `-maxrregcount` each limit the registers, but says little about their priority.
//!
//! Among directives, `.maxnreg` has priority over the limit of `.maxntid` or `.reqntid` alone, even if no block with
//! that number of threads can then be launched. Together with `.minnctapersm`, the smaller of both limits applies.
//! `-maxrregcount` applies to kernels without a limiting directive. With `--override-directive-values`, only
//! `-maxrregcount` applies. Cluster sizes, `--register-usage-level` and `--device-function-maxrregcount` change no
//! kernel's limit. Separately compiled device functions have a limit of their own.

use std::fmt;

use super::{Architecture, MAX_REGISTERS, WARP_SIZE};
use crate::error::Error;
use crate::function::LaunchBounds;

/// The smallest register limit of ptxas, on every architecture. ptxas raises smaller limits and warns.
pub const MIN_REGISTER_LIMIT: u32 = 24;

/// Options of ptxas's command line, for all kernels of a file. The dimensions of blocks are multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandLine {
    /// `-maxrregcount`; its `archmin` is 32 and its `archmax` is 255. If it is set, ptxas ignores the next two options.
    pub max_registers: Option<u32>,
    /// `-maxntid`, 1 or more.
    pub max_threads: Option<u32>,
    /// `-minnctapersm`, 1 or more.
    pub min_blocks: Option<u32>,
    /// `--override-directive-values`: the three options have priority over a kernel's own directives.
    pub overrides: bool,
    /// `--device-function-maxrregcount`: replaces `-maxrregcount` for device functions that are compiled with `-c`.
    pub device_registers: Option<u32>,
    /// `--compile-as-tools-patch`: only device functions, with the fewest registers that the calling convention needs.
    pub tools_patch: bool,
}

/// The directive or option that decides the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decider {
    /// Only the hardware.
    Machine,
    /// `.maxnreg`.
    MaxRegisters,
    /// The threads of a block alone: one block must fit.
    Threads,
    /// The required number of resident blocks.
    Blocks,
    /// `-maxrregcount`; for device functions, also `--device-function-maxrregcount`.
    CommandLine,
    /// `--compile-as-tools-patch`.
    ToolsPatch,
}

/// A bound that ptxas ignores or changes. ptxas warns about each, with two exceptions: [`Self::CommandLine`] together
/// with a directive for threads alone, and [`Self::BlocksOfAnySize`] on its command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ignored {
    /// More threads than an SM holds. The threads and the required blocks are ignored.
    Threads(u32),
    /// A required number of resident blocks of unknown size.
    BlocksOfAnySize(u32),
    /// A combination of blocks and threads that an SM cannot hold.
    Blocks {
        /// The required blocks.
        blocks: u32,
        /// The threads of each block.
        threads: u32,
    },
    /// A limit below [`MIN_REGISTER_LIMIT`], which is used instead.
    TooFew(u32),
    /// A limit above [`MAX_REGISTERS`], which is used instead. ptxas reports "ignored", but the limit still has
    /// priority over other limits.
    TooMany(u32),
    /// `-maxrregcount`, because the kernel's directives decide.
    CommandLine(u32),
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Threads(threads) => write!(f, "blocks of {threads} threads are more than a multiprocessor holds"),
            Self::BlocksOfAnySize(blocks) => write!(f, "{blocks} resident blocks of unknown size"),
            Self::Blocks { blocks, threads } => {
                write!(f, "{blocks} resident blocks of {threads} threads are more than a multiprocessor holds")
            }
            Self::TooFew(limit) => write!(f, "a limit of {limit} registers: {MIN_REGISTER_LIMIT} is the smallest"),
            Self::TooMany(limit) => write!(f, "a limit of {limit} registers: {MAX_REGISTERS} is the largest"),
            Self::CommandLine(limit) => {
                write!(f, "-maxrregcount {limit}, because the kernel's own bounds have priority")
            }
        }
    }
}

/// The most registers that a thread may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterLimit {
    /// The limit, [`MIN_REGISTER_LIMIT`] to [`MAX_REGISTERS`].
    pub registers: u32,
    /// The directive or option that decides it.
    pub decider: Decider,
    /// Bounds that ptxas ignores or changes.
    pub ignored: Vec<Ignored>,
}

impl RegisterLimit {
    /// Returns the limit of a device function that is compiled separately, with `-c` or as a patch for tools. In a
    /// whole program, a device function has the limit of the calling kernel. Constant time.
    ///
    /// # Errors
    ///
    /// Of kind [`crate::error::ErrorKind::Pass`] for a patch with a `-maxrregcount` above the patch's limit.
    pub fn of_function(options: &CommandLine) -> Result<Self, Error> {
        let mut ignored = Vec::new();
        if options.tools_patch {
            if let Some(limit) = options.max_registers.filter(|&limit| limit > MIN_REGISTER_LIMIT) {
                let problem =
                    format!("-maxrregcount {limit} exceeds the limit of a patch for tools, {MIN_REGISTER_LIMIT}");
                return Err(Error::pass(problem, "remove -maxrregcount: ptxas refuses the two options together"));
            }
            let registers = clamped(options.max_registers.unwrap_or(MIN_REGISTER_LIMIT), &mut ignored);
            return Ok(Self { registers, decider: Decider::ToolsPatch, ignored });
        }
        let (decider, registers) = match options.device_registers.or(options.max_registers) {
            Some(limit) => (Decider::CommandLine, clamped(limit, &mut ignored)),
            None => (Decider::Machine, MAX_REGISTERS),
        };
        Ok(Self { registers, decider, ignored })
    }

    /// Whether the registers at kernel entry are known if the kernel requests more or fewer later (`setmaxnreg`). ptxas
    /// does not know them if nothing limits the registers, or if only the size of the blocks limits them.
    pub fn is_known_at_entry(&self) -> bool {
        !matches!(self.decider, Decider::Machine | Decider::Threads)
    }
}

impl Architecture {
    /// Returns the most registers that ptxas gives to a thread of a kernel. Constant time.
    ///
    /// # Errors
    ///
    /// Of kind [`crate::error::ErrorKind::Pass`], if ptxas does not assemble the kernel: a kernel with both a maximum
    /// and an exact number of threads, or any kernel in a patch for tools.
    pub fn register_limit(&self, bounds: &LaunchBounds, options: &CommandLine) -> Result<RegisterLimit, Error> {
        if let (Some(most), Some(all)) = (bounds.max_threads, bounds.required_threads) {
            let problem = format!("maxntid {most} and reqntid {all} contradict each other");
            return Err(Error::pass(problem, "keep one of the two: ptxas refuses them together"));
        }
        if options.tools_patch {
            let problem = "a kernel cannot be compiled as a patch for tools";
            return Err(Error::pass(problem, "remove --compile-as-tools-patch or the kernel"));
        }
        let mut ignored = Vec::new();
        let by_launch = self.by_launch(bounds, options, &mut ignored);
        let mut limited = |limit: Option<u32>| limit.map(|limit| clamped(limit, &mut ignored));
        let own = match (limited(bounds.max_registers), by_launch) {
            (Some(most), Some((Decider::Blocks, registers))) if registers < most => Some((Decider::Blocks, registers)),
            (Some(most), _) => Some((Decider::MaxRegisters, most)),
            (None, by_launch) => by_launch,
        };
        let given = limited(options.max_registers).map(|limit| (Decider::CommandLine, limit));
        let (decider, registers) = match (own, given) {
            (Some(own), None) => own,
            (Some(own), Some((_, limit))) if !options.overrides => {
                ignored.push(Ignored::CommandLine(limit));
                own
            }
            (_, given) => given.unwrap_or((Decider::Machine, MAX_REGISTERS)),
        };
        Ok(RegisterLimit { registers, decider, ignored })
    }

    /// Returns the limit of the size and number of blocks. `None` if the size is unknown or impossible.
    fn by_launch(
        &self,
        bounds: &LaunchBounds,
        options: &CommandLine,
        ignored: &mut Vec<Ignored>,
    ) -> Option<(Decider, u32)> {
        let pick = |own: Option<u32>, option: Option<u32>| {
            let option = option.filter(|_| options.max_registers.is_none());
            if options.overrides { option.or(own) } else { own.or(option) }
        };
        let threads = pick(bounds.threads(), options.max_threads);
        let blocks = pick(bounds.min_blocks, options.min_blocks);
        let Some(threads) = threads else {
            ignored.extend(blocks.map(Ignored::BlocksOfAnySize));
            return None;
        };
        if threads > self.max_warps * WARP_SIZE {
            ignored.push(Ignored::Threads(threads));
            return None;
        }
        if let Some(blocks) = blocks {
            match self.registers_for(threads, blocks) {
                Some(registers) => return Some((Decider::Blocks, registers)),
                None => ignored.push(Ignored::Blocks { blocks, threads }),
            }
        }
        Some((Decider::Threads, super::max_registers::registers_for_block(threads)))
    }
}

/// Returns the limit that ptxas uses for a requested limit.
fn clamped(limit: u32, ignored: &mut Vec<Ignored>) -> u32 {
    match limit {
        0..MIN_REGISTER_LIMIT => ignored.push(Ignored::TooFew(limit)),
        MIN_REGISTER_LIMIT..=MAX_REGISTERS => {}
        _ => ignored.push(Ignored::TooMany(limit)),
    }
    limit.clamp(MIN_REGISTER_LIMIT, MAX_REGISTERS)
}
