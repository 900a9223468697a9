//! Runs one program alone and returns what it stores.

use super::launch::{LaunchSeed, Launches};
use super::machine::{Outcome, Setting, Traffic, run as run_machine};
use super::memory::{Image, Written};
use super::program::{Function, Op, Program};
use super::tolerance::value_of;
use super::types::{Kind, low};

/// Coverage of a kernel and all functions that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Executed statements, and all statements of the entered functions.
    pub statements: [usize; 2],
    /// The same for blocks.
    pub blocks: [usize; 2],
}

/// Instruction counts of a program in the launches that both programs end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Warp instructions.
    pub instructions: u64,
    /// Warp instructions that access local memory.
    pub local: u64,
    /// Warp instructions that access shared memory.
    pub shared: u64,
}

impl Executed {
    /// Adds the counts of a launch.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.instructions += outcome.instructions;
        self.local += outcome.local;
        self.shared += outcome.shared;
    }
}

/// Execution count of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The line of the PTX file; in machine code, the instruction's number in the function, from 1.
    pub line: u32,
    /// Whether it begins a block.
    pub is_leader: bool,
    /// How often a warp issued it.
    pub issued: u64,
    /// Its traffic.
    pub traffic: Traffic,
}

/// Coverage of a program in all launches.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Statements and blocks.
    pub coverage: Coverage,
    /// Hashed instructions, and how often a warp ran each.
    pub(super) hashed: Vec<(String, u64)>,
    /// Warp instructions.
    pub steps: u64,
    /// Thread instructions.
    pub thread_steps: u64,
    covered: Vec<Vec<bool>>,
    issued: Vec<Vec<u64>>,
    traffic: Vec<Vec<Traffic>>,
}

impl Side {
    /// Adds the coverage of a launch.
    pub(super) fn add(&mut self, program: &Program, outcome: &Outcome) {
        self.steps += outcome.instructions;
        self.thread_steps += outcome.thread_steps;
        if self.covered.is_empty() {
            self.covered.clone_from(&outcome.covered);
            self.issued = outcome.issued.iter().map(|one| vec![0; one.len()]).collect();
            self.traffic = outcome.traffic.iter().map(|one| vec![Traffic::default(); one.len()]).collect();
            self.hashed = program.hashed.iter().map(|name| (name.clone(), 0)).collect();
        }
        for (all, one) in self.covered.iter_mut().zip(&outcome.covered) {
            all.iter_mut().zip(one).for_each(|(all, &one)| *all |= one);
        }
        for (all, one) in self.issued.iter_mut().zip(&outcome.issued) {
            all.iter_mut().zip(one).for_each(|(all, one)| *all += one);
        }
        for (all, one) in self.traffic.iter_mut().zip(&outcome.traffic) {
            all.iter_mut().zip(one).for_each(|(all, &one)| all.add(one));
        }
        self.hashed.iter_mut().zip(&outcome.hashed).for_each(|(all, &one)| all.1 += one);
        self.coverage = Coverage::default();
        for (function, covered) in program.functions.iter().zip(&self.covered) {
            if !covered.contains(&true) {
                continue;
            }
            let own = function.insts.iter().zip(covered).filter(|(inst, _)| inst.line > 0 && inst.is_first);
            for (inst, &covered) in own {
                self.coverage.statements[1] += 1;
                self.coverage.statements[0] += usize::from(covered);
                if inst.is_leader {
                    self.coverage.blocks[1] += 1;
                    self.coverage.blocks[0] += usize::from(covered);
                }
            }
        }
    }

    /// Returns how often warps issued the instruction in each line of a kernel, and its traffic if measured. Lines that
    /// never ran are included. `None` if there is no such kernel.
    pub fn counts(&self, program: &Program, kernel: &str) -> Option<Vec<Count>> {
        let number = program.kernel(kernel)?;
        let mut counts: Vec<Count> = Vec::new();
        let own = program.functions[number].insts.iter().enumerate().filter(|(_, inst)| inst.line > 0);
        for (at, inst) in own {
            if inst.is_first {
                let issued = self.issued.get(number).and_then(|all| all.get(at)).copied().unwrap_or_default();
                let (line, is_leader) = (inst.line, inst.is_leader);
                counts.push(Count { line, is_leader, issued, traffic: Traffic::default() });
            }
            let moved = self.traffic.get(number).and_then(|all| all.get(at));
            if let (Some(count), Some(&moved)) = (counts.last_mut(), moved) {
                count.traffic.add(moved);
            }
        }
        Some(counts)
    }

    /// Whether a statement in a line of the PTX file ran.
    pub fn has_run(&self, program: &Program, line: u32) -> bool {
        let of = |(function, covered): (&Function, &Vec<bool>)| {
            function.insts.iter().zip(covered).any(|(inst, &covered)| covered && inst.line == line)
        };
        program.functions.iter().zip(&self.covered).any(of)
    }

    /// Returns the hashed instructions that ran, and how often.
    pub fn hashed(&self) -> impl Iterator<Item = (&str, u64)> {
        self.hashed.iter().filter(|hashed| hashed.1 > 0).map(|(name, count)| (name.as_str(), *count))
    }

    /// Returns the lines of a program with instructions that cannot be executed, each with the reason.
    pub fn unknown(program: &Program) -> Vec<(u32, String)> {
        let insts = program.functions.iter().flat_map(|function| &function.insts);
        let unknown = insts.filter_map(|inst| match &inst.op {
            Op::Unknown(what) => Some((inst.line, what.clone())),
            _ => None,
        });
        unknown.collect()
    }
}

/// A word that a launch stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Store {
    /// The generic address.
    pub address: u64,
    /// The number of bytes.
    pub bytes: usize,
    /// The value as bits.
    pub bits: u64,
    /// The kind of the value.
    pub kind: Kind,
    /// The thread's index in the grid.
    pub thread: u64,
    /// The line in the PTX file.
    pub line: u32,
}

impl Store {
    /// Returns the value as text for people.
    pub fn text(&self) -> String {
        if self.kind.is_float() && self.bytes == self.kind.bytes() {
            return format!("{:?}", value_of(self.kind, self.bits));
        }
        format!("{:#x}", self.bits)
    }
}

/// The stores of a launch.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    /// The words, by address.
    pub stores: Vec<Store>,
    /// The coverage.
    pub side: Side,
    /// Grid and block.
    pub shape: [[u32; 3]; 2],
    /// The bytes of the parameters.
    pub parameters: Vec<(String, u64)>,
}

/// Runs the first launch of a kernel.
///
/// # Errors
/// Returns the reason why the launch cannot be compared.
pub fn run(program: &Program, kernel: &str, launches: &Launches) -> Result<Stores, String> {
    let number = program.kernel(kernel).ok_or_else(|| format!("there is no kernel {kernel}"))?;
    let setting = launches.setting(program, number, &LaunchSeed::default(), 0);
    let mut image = launches.image(program, &setting, &LaunchSeed::default());
    let outcome = run_in_order(program, &setting, &mut image)?;
    let mut side = Side::default();
    side.add(program, &outcome);
    let parameters = parameters(program, &setting, &mut image);
    Ok(Stores { stores: stores(&outcome.written), side, shape: [setting.grid, setting.block], parameters })
}

/// Runs a launch that must not have racing writes, so that its final memory is known.
pub(super) fn run_in_order(program: &Program, setting: &Setting, image: &mut Image) -> Result<Outcome, String> {
    let outcome = run_machine(program, setting, image).map_err(|stopped| stopped.told())?;
    outcome.race.clone().map_or(Ok(outcome), Err)
}

/// Returns the parameters of a launch that has run, with their values. For a longer parameter, the value is its first
/// eight bytes.
pub(super) fn parameters(program: &Program, setting: &Setting, image: &mut Image) -> Vec<(String, u64)> {
    let kernel = program.functions[setting.kernel].kernel.clone().unwrap_or_default();
    let value = |(name, offset, bytes): (String, u32, u32)| {
        let bytes = bytes.min(8);
        let all = (0..bytes).fold(0, |all, byte| {
            let at = super::layout::PARAMETERS + u64::from(offset + byte);
            all | image.read(at, 1, Kind::Integer) << (8 * byte)
        });
        (name, all)
    };
    kernel.parameters.into_iter().map(|one| (one.name, one.offset, one.bytes)).map(value).collect()
}

/// Returns words as values of their kinds.
pub(super) fn stores(written: &[Written]) -> Vec<Store> {
    let mut stores = Vec::new();
    let mut at = 0;
    while let Some(&(address, value, mask, write)) = written.get(at) {
        at += 1;
        let store = |offset: u64, bytes: usize, bits: u64| Store {
            address: address + offset,
            bytes,
            bits,
            kind: write.kind,
            thread: write.thread,
            line: write.line,
        };
        let is_half = matches!(write.kind, Kind::F16 | Kind::BF16);
        match written.get(at) {
            Some(&(next, high, 0xf, _))
                if write.kind == Kind::F64 && mask == 0xf && address % 8 == 0 && next == address + 4 =>
            {
                stores.push(store(0, 8, u64::from(value) | u64::from(high) << 32));
                at += 1;
            }
            _ if mask == 0xf && !is_half => stores.push(store(0, 4, value.into())),
            _ if matches!(mask, 3 | 0xc | 0xf) => {
                for (half, of) in [(0, 3), (1, 0xc)] {
                    if mask & of == of {
                        stores.push(store(2 * half, 2, low(u64::from(value) >> (16 * half), 16)));
                    }
                }
            }
            _ => {
                for byte in (0..4).filter(|byte| mask >> byte & 1 == 1) {
                    stores.push(store(byte, 1, u64::from(value) >> (8 * byte) & 0xff));
                }
            }
        }
    }
    stores
}
