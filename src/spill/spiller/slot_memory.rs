//! How much shared memory a kernel may take for slots, and why it may take none.

use std::fmt;

use super::callees::{Call, CalleeTable, shared_of_callees};
use super::forbidden::Forbidden;
use crate::function::{Function, LaunchBounds, SharedArray};
use crate::target::Classification;
use crate::target::machine::{self, Architecture, CommandLine, MAX_THREADS_PER_BLOCK, SHARED_PER_BLOCK as MOST_STATIC};

/// The parameters of a kernel's launch that its code does not define.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The GPU.
    pub architecture: &'a Architecture,
    /// Threads of a block, if the kernel has no bound of them; `None` if unknown.
    pub threads: Option<u32>,
    /// Bytes of dynamic shared memory; `None` if unknown.
    pub dynamic_shared: Option<u32>,
    /// Most bytes that the slots of a block may take.
    pub most_bytes: u32,
    /// The functions of the module, if all of them are available.
    pub callees: Option<&'a CalleeTable>,
}

/// The shared memory that slots may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spill) struct SlotMemory {
    /// Most threads of a block.
    pub(in crate::spill) threads: u32,
    /// Bytes for each block.
    pub(in crate::spill) bytes: u32,
    /// Granularity of the array's size.
    pub(in crate::spill) alignment: u32,
    /// The launch without slots.
    pub(in crate::spill) stock_launch: machine::Launch,
}

/// Reason for which a kernel gets no slots in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is a device function.
    DeviceFunction,
    /// Its block size has no bound.
    AnyBlockSize,
    /// It has dynamic shared memory of unknown size.
    DynamicShared,
    /// It calls functions with unknown or unsuitable shared memory. This call is the worst.
    Calls(Call),
    /// Its code could access slots.
    Forbidden(Forbidden),
    /// The memory is too small for one slot.
    NoSlotMemory,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeviceFunction => "only kernels spill to shared memory",
            Self::AnyBlockSize => {
                "its blocks may have any size; add __launch_bounds__, or declare their number of threads with threads=N"
            }
            Self::DynamicShared => {
                "it has dynamic shared memory of unknown size; declare the size with dynamic-shared=BYTES"
            }
            Self::Calls(call) => return call.fmt(f),
            Self::Forbidden(forbidden) => return write!(f, "it {forbidden}"),
            Self::NoSlotMemory => "its shared memory has no room for a slot without reducing the blocks on an SM",
        })
    }
}

/// Returns the bounds of a kernel. If its block size has no bound, it is `threads`.
pub fn bounds(own: &LaunchBounds, threads: Option<u32>) -> LaunchBounds {
    LaunchBounds { max_threads: if own.threads().is_none() { threads } else { own.max_threads }, ..*own }
}

/// Returns the shared memory that a kernel has for slots: the static shared memory is at most 48 KB in all, and the
/// number of blocks on an SM does not decrease.
pub(in crate::spill) fn slot_memory(
    (function, classification): (&Function, &Classification),
    launch: &Launch<'_>,
) -> Result<SlotMemory, Refusal> {
    let bounds = function.kernel().ok_or(Refusal::DeviceFunction)?;
    let threads = self::bounds(bounds, launch.threads).threads();
    let threads = threads.filter(|&threads| threads <= MAX_THREADS_PER_BLOCK).ok_or(Refusal::AnyBlockSize)?;
    Forbidden::of(function).map_or(Ok(()), |forbidden| Err(Refusal::Forbidden(forbidden)))?;
    let of_callees = shared_of_callees((function, classification), launch.callees).map_err(Refusal::Calls)?;
    let has_dynamic = function.has_dynamic_shared();
    let dynamic = match launch.dynamic_shared {
        Some(bytes) => bytes,
        None if has_dynamic => return Err(Refusal::DynamicShared),
        None => 0,
    };
    let alignment = if has_dynamic || dynamic > 0 { SharedArray::ALIGNMENT_OF_DYNAMIC } else { SharedArray::ALIGNMENT };
    // ptxas places the memory of all callees next to the kernel's own memory.
    let own = function.static_shared_bytes().next_multiple_of(SharedArray::ALIGNMENT.into());
    let own = u32::try_from(own.saturating_add(of_callees)).unwrap_or(u32::MAX);
    // A launch with at most 48 KB of shared memory need not request more. It must therefore stay within 48 KB.
    let in_all =
        if own.saturating_add(dynamic) <= MOST_STATIC { MOST_STATIC } else { launch.architecture.shared_opt_in() };
    let most = (MOST_STATIC.saturating_sub(own))
        .min(in_all.saturating_sub(own).saturating_sub(dynamic))
        .min(launch.most_bytes);
    let registers = launch.architecture.register_limit(&self::bounds(bounds, launch.threads), &CommandLine::default());
    let registers = registers.map_or(machine::MAX_REGISTERS, |limit| limit.registers);
    let stock_launch = machine::Launch {
        static_shared: own,
        dynamic_shared: dynamic,
        ..machine::Launch::new(registers).with_threads(threads)
    };
    let bytes = launch.architecture.free_shared(&stock_launch, alignment, most);
    if bytes < 4 * threads {
        Err(Refusal::NoSlotMemory)
    } else {
        Ok(SlotMemory { threads, bytes, alignment, stock_launch })
    }
}
