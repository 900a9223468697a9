//! How much shared memory a kernel may take for slots, and why it may take none.

use std::fmt;

use super::callees::{Call, CalleeTable, worst_call};
use crate::function::assembly::assembly_text;
use crate::function::ptx_opcode::bases_of_addresses;
use crate::function::{Function, Inst, LaunchBounds, MemorySpace, Operand, Role, SharedArray, VReg, Value};
use crate::index::IndexVec;
use crate::target::Classification;
use crate::target::machine::{self, Architecture, CommandLine, MAX_THREADS_PER_BLOCK, SHARED_PER_BLOCK as MOST_STATIC};

/// How a kernel is launched, as far as its code does not say.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The processor.
    pub architecture: &'a Architecture,
    /// Threads of a block, where the kernel does not say; `None`: nobody says.
    pub threads: Option<u32>,
    /// Bytes of shared memory that the launch adds; `None`: nobody says.
    pub dynamic_shared: Option<u32>,
    /// The most bytes that the slots of a block may take.
    pub most_bytes: u32,
    /// The functions of the module, where all of it is at hand.
    pub callees: Option<&'a CalleeTable>,
}

/// The shared memory that slots may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spill) struct Room {
    /// The most threads of a block.
    pub(in crate::spill) threads: u32,
    /// Bytes of a block.
    pub(in crate::spill) bytes: u32,
    /// The array's size is a multiple of this.
    pub(in crate::spill) alignment: u32,
    /// The launch without slots.
    pub(in crate::spill) as_it_is: machine::Launch,
}

/// Why a kernel gets no slots in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no kernel.
    DeviceFunction,
    /// Its blocks may have any size.
    AnyBlockSize,
    /// It has dynamic shared memory of unknown size.
    DynamicShared,
    /// It calls functions, which may have shared memory of their own; this call is the worst.
    Calls(Call),
    /// It changes the number of its registers.
    SetMaxNReg,
    /// It asks how much shared memory it has.
    AsksForSize,
    /// It addresses shared memory by a number.
    NumberAsAddress,
    /// The memory does not suffice for one slot.
    NoRoom,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeviceFunction => "only kernels keep values in shared memory",
            Self::AnyBlockSize => {
                "its blocks may have any size; add __launch_bounds__, or say how many threads they have with threads=N"
            }
            Self::DynamicShared => {
                "it has dynamic shared memory of unknown size; say how many bytes with dynamic-shared=BYTES"
            }
            Self::Calls(call) => return call.fmt(f),
            Self::SetMaxNReg => "it changes its number of registers by setmaxnreg",
            Self::AsksForSize => "it reads the size of its shared memory",
            Self::NumberAsAddress => "it addresses shared memory by a number",
            Self::NoRoom => "its shared memory has no room for a slot without fewer blocks on an SM",
        })
    }
}

/// The bounds of a kernel; blocks of any size have at most `threads` threads, where somebody says so.
pub fn bounds(own: &LaunchBounds, threads: Option<u32>) -> LaunchBounds {
    LaunchBounds { max_threads: if own.threads().is_none() { threads } else { own.max_threads }, ..*own }
}

/// The shared memory that a kernel has for slots: 48 KB of static shared memory in all, and no fewer blocks on an SM.
pub(in crate::spill) fn room(
    (function, classification): (&Function, &Classification),
    launch: &Launch<'_>,
) -> Result<Room, Refusal> {
    let bounds = function.kernel().ok_or(Refusal::DeviceFunction)?;
    let threads = self::bounds(bounds, launch.threads).threads();
    let threads = threads.filter(|&threads| threads <= MAX_THREADS_PER_BLOCK).ok_or(Refusal::AnyBlockSize)?;
    let numbers = numbers(function);
    for inst in function.insts() {
        refusal_of(function, &numbers, inst).map_or(Ok(()), Err)?;
    }
    worst_call((function, classification), launch.callees).map_or(Ok(()), |call| Err(Refusal::Calls(call)))?;
    let has_dynamic = function.has_dynamic_shared();
    let dynamic = match launch.dynamic_shared {
        Some(bytes) => bytes,
        None if has_dynamic => return Err(Refusal::DynamicShared),
        None => 0,
    };
    let alignment = if has_dynamic || dynamic > 0 { SharedArray::ALIGNMENT_OF_DYNAMIC } else { SharedArray::ALIGNMENT };
    let own =
        u32::try_from(function.static_shared_bytes()).unwrap_or(u32::MAX).next_multiple_of(SharedArray::ALIGNMENT);
    // A launch that stays within 48 KB need not ask for more, so it must stay within them.
    let in_all =
        if own.saturating_add(dynamic) <= MOST_STATIC { MOST_STATIC } else { launch.architecture.shared_opt_in() };
    let most = (MOST_STATIC.saturating_sub(own))
        .min(in_all.saturating_sub(own).saturating_sub(dynamic))
        .min(launch.most_bytes);
    let registers = launch.architecture.register_limit(&self::bounds(bounds, launch.threads), &CommandLine::default());
    let registers = registers.map_or(machine::MAX_REGISTERS, |limit| limit.registers);
    let as_it_is = machine::Launch {
        static_shared: own,
        dynamic_shared: dynamic,
        ..machine::Launch::new(registers).with_threads(threads)
    };
    let bytes = launch.architecture.free_shared(&as_it_is, alignment, most);
    if bytes < 4 * threads { Err(Refusal::NoRoom) } else { Ok(Room { threads, bytes, alignment, as_it_is }) }
}

/// The registers that are set to a number somewhere.
fn numbers(function: &Function) -> IndexVec<VReg, bool> {
    let mut numbers = IndexVec::filled(false, function.num_regs());
    for inst in function.insts().filter(|&inst| function.role(inst) == Role::Constant) {
        let operands = function.operands(inst);
        if operands.iter().any(|operand| matches!(operand.value, Value::Immediate(_))) {
            operands.iter().filter_map(Operand::def).for_each(|reg| numbers[reg] = true);
        }
    }
    numbers
}

/// Why an instruction forbids slots.
fn refusal_of(function: &Function, numbers: &IndexVec<VReg, bool>, inst: Inst) -> Option<Refusal> {
    let name = function.opcodes().name(function.opcode(inst));
    let operands = function.operands(inst);
    let text = assembly_text(function, inst).unwrap_or_default();
    let says = |word: &str| name.to_ascii_lowercase().contains(word) || text.contains(word);
    if says("setmaxn") {
        return Some(Refusal::SetMaxNReg);
    }
    if says("smem_size") {
        return Some(Refusal::AsksForSize);
    }
    if !matches!(function.memory_space(inst), MemorySpace::Shared | MemorySpace::SharedCluster) {
        return None;
    }
    // Loads and stores of LLVM end with an address and an offset, and mnemonics say which operands are addresses; of what
    // else accesses shared memory any operand may be one.
    let is_number = |operand: &Operand| match operand.value {
        Value::Immediate(_) => true,
        Value::Reg(reg) => !operand.is_def() && numbers[reg],
        _ => false,
    };
    let by_number = match (bases_of_addresses(name), name.starts_with("LD") || name.starts_with("ST"), operands) {
        (Some(addresses), ..) => addresses.into_iter().any(|at| operands.get(at).is_none_or(is_number)),
        (None, true, [.., address, _]) => is_number(address),
        _ => operands.iter().any(|operand| operand.reg().is_some() && is_number(operand)),
    };
    by_number.then_some(Refusal::NumberAsAddress)
}
