//! The model's static knowledge of an instruction.

use super::processor::Numbers;
use super::unit::Unit;
use crate::sass::control::Control;
use crate::sass::instruction::{Function, Instruction};
use crate::sass::operand::{Operand, RZ};

/// The effect of an instruction on time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The control codes alone determine when the result arrives.
    Fixed,
    /// The result arrives after a number of cycles.
    Latency(u64),
    /// A memory access.
    Access(Access),
    /// A barrier at which the warp waits: its number, and the number of threads if it is given.
    Barrier(u8, Option<u32>),
    /// An arrival at a barrier without a wait.
    Arrives(u8, Option<u32>),
    /// The end of a group of asynchronous copies into shared memory.
    Group,
    /// A wait for a scoreboard, until at most a number of its groups are left.
    Waits(u8, u32),
    /// A possible jump.
    Jump,
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whether the access returns no value.
    pub is_store: bool,
    /// Whether the access goes to L2, even if L1 has the data.
    pub is_atomic: bool,
    /// Whether the access is an asynchronous copy from global to shared memory, which belongs to a group.
    pub is_copy: bool,
}

/// The model's static knowledge of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The unit that executes the instruction.
    pub unit: Unit,
    /// The cycles until the unit accepts another instruction.
    pub interval: u64,
    /// The control codes.
    pub control: Control,
    /// The effect on time.
    pub work: Work,
    /// Additional cycles for sources in the same register bank.
    pub bank_cycles: u64,
}

impl Facts {
    /// Returns the facts of an instruction.
    pub fn of(instruction: &Instruction, numbers: &Numbers) -> Self {
        let unit = Unit::of(instruction);
        Self {
            unit,
            interval: unit.interval(instruction, numbers),
            control: instruction.control,
            work: work(instruction, numbers),
            bank_cycles: bank_cycles(instruction, unit),
        }
    }

    /// Returns the facts of all instructions of a function, in order.
    pub fn of_function(function: &Function, numbers: &Numbers) -> Vec<Self> {
        function.instructions.iter().map(|instruction| Self::of(instruction, numbers)).collect()
    }
}

fn work(instruction: &Instruction, numbers: &Numbers) -> Work {
    let latency = |name: &str| Work::Latency(numbers.whole(name));
    let access = |is_store, is_atomic, is_copy| Work::Access(Access { is_store, is_atomic, is_copy });
    match instruction.word() {
        "LDG" | "LD" | "LDL" | "LDS" | "LDSM" => access(false, false, false),
        "STG" | "ST" | "STL" | "STS" | "STSM" => access(true, false, false),
        "ATOM" | "ATOMG" | "ATOMS" => access(false, true, false),
        "RED" | "REDG" => access(true, true, false),
        "LDGSTS" => access(false, false, true),
        "MUFU" => latency("latency.mufu"),
        "F2F" | "F2I" | "I2F" | "FRND" | "I2I" | "POPC" | "FLO" | "BREV" | "FCHK" => latency("latency.conversion"),
        "SHFL" | "MATCH" | "REDUX" | "MOVM" => latency("latency.shuffle"),
        "LDC" => latency("latency.constant"),
        "S2R" | "S2UR" | "B2R" | "R2UR" => latency("latency.s2r"),
        "HMMA" | "IMMA" | "BMMA" | "QMMA" | "DMMA" => latency("latency.hmma"),
        "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" => latency("latency.fp64"),
        "LDGDEPBAR" => Work::Group,
        "DEPBAR" => depbar(instruction),
        "BAR" => barrier(instruction),
        "BRA" | "BRX" | "JMP" | "CALL" | "RET" | "EXIT" | "BSYNC" => Work::Jump,
        _ if instruction.control.writes.is_some() => latency("latency.conversion"),
        _ => Work::Fixed,
    }
}

/// Parses `DEPBAR.LE SB0, 0x1`.
fn depbar(instruction: &Instruction) -> Work {
    let scoreboard = instruction.operands.iter().find_map(|operand| match operand {
        Operand::Scoreboard(number) => Some(*number),
        _ => None,
    });
    match (scoreboard, immediates(instruction).next()) {
        (Some(scoreboard), left) => Work::Waits(scoreboard, left.unwrap_or_default()),
        _ => Work::Fixed,
    }
}

/// Parses `BAR.SYNC.DEFER_BLOCKING 0x1, 0x80`.
fn barrier(instruction: &Instruction) -> Work {
    let mut numbers = immediates(instruction);
    let (number, threads) = (numbers.next().unwrap_or_default() as u8 % 16, numbers.next().filter(|&count| count > 0));
    match instruction.has("ARV") {
        true => Work::Arrives(number, threads),
        false => Work::Barrier(number, threads),
    }
}

fn immediates(instruction: &Instruction) -> impl Iterator<Item = u32> {
    instruction.operands.iter().filter_map(|operand| match operand {
        Operand::Immediate(value) => Some(*value),
        _ => None,
    })
}

/// Returns the cycles of bank conflicts. Registers are in two banks by parity. A product of three registers in one bank
/// waits one cycle, unless one of them is in the operand cache (arXiv 2503.20481, section 5.3).
fn bank_cycles(instruction: &Instruction, unit: Unit) -> u64 {
    if unit != Unit::Fma {
        return 0;
    }
    let sources = instruction.operands.iter().skip(1).enumerate().filter_map(|(at, operand)| match operand {
        Operand::Register(register, _) if !register.is_uniform && register.number != RZ => {
            Some((at, register.number)).filter(|_| instruction.control.reuse >> at & 1 == 0)
        }
        _ => None,
    });
    let mut registers: Vec<u8> = sources.map(|(_, number)| number).collect();
    registers.sort_unstable();
    registers.dedup();
    u64::from(registers.len() == 3 && registers.iter().all(|number| number % 2 == registers[0] % 2))
}
