//! How many registers ptxas lets a thread of a kernel have: which of the directives and options decides.
//!
//! All of it is what ptxas of CUDA 13.0.88 was seen to do; `tests/rust/register_limit.rs` asks it again, over the grid.
//! Its documentation says that `.maxnreg`, launch bounds and `-maxrregcount` each limit the registers, and little of
//! which of them wins.
//!
//! Of the directives, `.maxnreg` wins over what `.maxntid` or `.reqntid` alone leave, even where no block of so many
//! threads can then be launched; beside `.minnctapersm` the smaller of both holds. `-maxrregcount` holds for kernels
//! that no directive limits, unless `--override-directive-values` stands beside it: then it alone holds. The sizes of
//! clusters, `--register-usage-level` and `--device-function-maxrregcount` change no kernel's limit. Device functions
//! that are compiled by themselves have a limit of their own.

use std::fmt;

use super::{Architecture, MAX_REGISTERS, WARP_SIZE};
use crate::error::Error;
use crate::function::LaunchBounds;

/// The fewest registers to which ptxas limits a thread, on every architecture: it raises smaller limits, and warns.
pub const MIN_REGISTER_LIMIT: u32 = 24;

/// What the command line of ptxas says, for all kernels of a file. Products stand for the dimensions of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandLine {
    /// `-maxrregcount`; its `archmin` is 32 and its `archmax` 255. With it ptxas ignores the next two.
    pub max_registers: Option<u32>,
    /// `-maxntid`, 1 or more.
    pub max_threads: Option<u32>,
    /// `-minnctapersm`, 1 or more.
    pub min_blocks: Option<u32>,
    /// `--override-directive-values`: the three win over a kernel's own directives.
    pub overrides: bool,
    /// `--device-function-maxrregcount`: for device functions that are compiled with `-c`, instead of `-maxrregcount`.
    pub device_registers: Option<u32>,
    /// `--compile-as-tools-patch`: device functions alone, with as few registers as the calling convention needs.
    pub tools_patch: bool,
}

/// What decides the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decider {
    /// Nothing but the machine.
    Machine,
    /// `.maxnreg`.
    MaxRegisters,
    /// The threads of a block, alone: one block must fit.
    Threads,
    /// The blocks that are to be resident.
    Blocks,
    /// `-maxrregcount`, or for device functions `--device-function-maxrregcount`.
    CommandLine,
    /// `--compile-as-tools-patch`.
    ToolsPatch,
}

/// What is said of a kernel and does not hold. ptxas warns of each, but not of [`Self::CommandLine`] beside a directive
/// for threads alone, nor of [`Self::BlocksOfAnySize`] from its command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ignored {
    /// More threads than an SM holds: neither they nor the blocks count.
    Threads(u32),
    /// Blocks to be resident, of a size that nothing says.
    BlocksOfAnySize(u32),
    /// So many blocks of so many threads, which an SM never holds.
    Blocks {
        /// Of the blocks that are asked for.
        blocks: u32,
        /// Of each.
        threads: u32,
    },
    /// A limit below [`MIN_REGISTER_LIMIT`], which is taken instead.
    TooFew(u32),
    /// A limit above [`MAX_REGISTERS`], which is taken instead: ptxas says "ignored", and still it wins over others.
    TooMany(u32),
    /// `-maxrregcount`, because the kernel's directives decide.
    CommandLine(u32),
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Threads(threads) => write!(f, "blocks of {threads} threads are more than a multiprocessor holds"),
            Self::BlocksOfAnySize(blocks) => write!(f, "{blocks} resident blocks, of a size that nothing says"),
            Self::Blocks { blocks, threads } => {
                write!(f, "{blocks} resident blocks of {threads} threads are more than a multiprocessor holds")
            }
            Self::TooFew(limit) => write!(f, "a limit of {limit} registers: {MIN_REGISTER_LIMIT} is the smallest"),
            Self::TooMany(limit) => write!(f, "a limit of {limit} registers: {MAX_REGISTERS} is the largest"),
            Self::CommandLine(limit) => write!(f, "-maxrregcount {limit}, because the kernel's own bounds decide"),
        }
    }
}

/// How many registers a thread of a kernel may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterLimit {
    /// The most, [`MIN_REGISTER_LIMIT`] to [`MAX_REGISTERS`].
    pub registers: u32,
    /// Why not more.
    pub decider: Decider,
    /// What is said and does not hold.
    pub ignored: Vec<Ignored>,
}

impl RegisterLimit {
    /// How many registers ptxas lets a device function have that is compiled by itself, with `-c` or as a patch for
    /// tools; within a whole program it has those of the kernel that calls it. Constant time.
    ///
    /// # Errors
    ///
    /// Of kind [`crate::error::ErrorKind::Pass`] for a patch with a `-maxrregcount` above what it may have.
    pub fn of_function(options: &CommandLine) -> Result<Self, Error> {
        let mut ignored = Vec::new();
        if options.tools_patch {
            if let Some(limit) = options.max_registers.filter(|&limit| limit > MIN_REGISTER_LIMIT) {
                let problem = format!("-maxrregcount {limit} for a patch of tools, which has {MIN_REGISTER_LIMIT}");
                return Err(Error::pass(problem, "leave -maxrregcount out: ptxas refuses them together"));
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

    /// Whether ptxas gives every thread just so many registers when the kernel is entered if it asks for more or fewer
    /// later (`setmaxnreg`): not where nothing limits it, or the size of its blocks alone.
    pub fn is_known_at_entry(&self) -> bool {
        !matches!(self.decider, Decider::Machine | Decider::Threads)
    }
}

impl Architecture {
    /// How many registers ptxas lets a thread of a kernel have. Constant time.
    ///
    /// # Errors
    ///
    /// Of kind [`crate::error::ErrorKind::Pass`] for a kernel that says both how many threads its blocks have at most
    /// and how many they have, and for any in a patch of tools: ptxas does not assemble it.
    pub fn register_limit(&self, bounds: &LaunchBounds, options: &CommandLine) -> Result<RegisterLimit, Error> {
        if let (Some(most), Some(all)) = (bounds.max_threads, bounds.required_threads) {
            let problem = format!("maxntid {most} and reqntid {all} contradict each other");
            return Err(Error::pass(problem, "keep one of both: ptxas refuses them together"));
        }
        if options.tools_patch {
            let problem = "a kernel cannot be compiled as a patch of tools";
            return Err(Error::pass(problem, "leave --compile-as-tools-patch out, or the kernel"));
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

    /// What the size of blocks and their number leave; `None` where nothing is said of the size, or it cannot be.
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

/// The limit that is taken for one that is asked for.
fn clamped(limit: u32, ignored: &mut Vec<Ignored>) -> u32 {
    match limit {
        0..MIN_REGISTER_LIMIT => ignored.push(Ignored::TooFew(limit)),
        MIN_REGISTER_LIMIT..=MAX_REGISTERS => {}
        _ => ignored.push(Ignored::TooMany(limit)),
    }
    limit.clamp(MIN_REGISTER_LIMIT, MAX_REGISTERS)
}
