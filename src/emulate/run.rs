//! One program run alone: what it stores.

use super::launch::{LaunchSeed, Launches};
use super::machine::{Outcome, Setting, Traffic, run as run_machine};
use super::memory::{Image, Written};
use super::program::{Function, Op, Program};
use super::tolerance::value_of;
use super::types::{Kind, low};

/// How much of a kernel, with all that it calls, ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Statements that ran, and all of the functions that were entered.
    pub statements: [usize; 2],
    /// The same of blocks.
    pub blocks: [usize; 2],
}

/// What a program executed in the launches that both programs end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Instructions of warps.
    pub instructions: u64,
    /// Those that access local memory.
    pub local: u64,
    /// Those that access shared memory.
    pub shared: u64,
}

impl Executed {
    /// Adds what was executed in a launch.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.instructions += outcome.instructions;
        self.local += outcome.local;
        self.shared += outcome.shared;
    }
}

/// How often an instruction ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The line of the text; of machine code, the number in the function, from 1 on.
    pub line: u32,
    /// It begins a block.
    pub is_leader: bool,
    /// How often a warp issued it.
    pub issued: u64,
    /// What it moved.
    pub traffic: Traffic,
}

/// What ran of a program in all launches.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// How much.
    pub coverage: Coverage,
    /// Hashed instructions, and how often a warp ran each.
    pub(super) hashed: Vec<(String, u64)>,
    /// Instructions of warps.
    pub steps: u64,
    /// Instructions of threads.
    pub thread_steps: u64,
    covered: Vec<Vec<bool>>,
    issued: Vec<Vec<u64>>,
    traffic: Vec<Vec<Traffic>>,
}

impl Side {
    /// Adds what ran in a launch.
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

    /// How often warps issued what stands in each line of a kernel's text, and what its accesses moved where that was
    /// measured; lines that were never issued, too. Nothing where there is no such kernel.
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

    /// Whether a statement in a line of the program's text ran.
    pub fn has_run(&self, program: &Program, line: u32) -> bool {
        let of = |(function, covered): (&Function, &Vec<bool>)| {
            function.insts.iter().zip(covered).any(|(inst, &covered)| covered && inst.line == line)
        };
        program.functions.iter().zip(&self.covered).any(of)
    }

    /// The hashed instructions that ran, and how often.
    pub fn hashed(&self) -> impl Iterator<Item = (&str, u64)> {
        self.hashed.iter().filter(|hashed| hashed.1 > 0).map(|(name, count)| (name.as_str(), *count))
    }

    /// The lines of a function that never ran, with what stands there and cannot be run.
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
    /// Where: a generic address.
    pub address: u64,
    /// The number of its bytes.
    pub bytes: usize,
    /// The value as bits.
    pub bits: u64,
    /// What kind of value it is.
    pub kind: Kind,
    /// The thread's number in the grid.
    pub thread: u64,
    /// The line in the text.
    pub line: u32,
}

impl Store {
    /// The value as people read it.
    pub fn text(&self) -> String {
        if self.kind.is_float() && self.bytes == self.kind.bytes() {
            return format!("{:?}", value_of(self.kind, self.bits));
        }
        format!("{:#x}", self.bits)
    }
}

/// What a launch stored.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    /// The words, by address.
    pub stores: Vec<Store>,
    /// What ran.
    pub side: Side,
    /// The grid and the block.
    pub shape: [[u32; 3]; 2],
    /// The bytes of the parameters.
    pub parameters: Vec<(String, u64)>,
}

/// Runs the first launch of a kernel.
///
/// # Errors
/// Says why nothing can be said of it.
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

/// Runs a launch. What it leaves is known: no two threads write a word in no order.
pub(super) fn run_in_order(program: &Program, setting: &Setting, image: &mut Image) -> Result<Outcome, String> {
    let outcome = run_machine(program, setting, image).map_err(|stopped| stopped.told())?;
    outcome.race.clone().map_or(Ok(outcome), Err)
}

/// The parameters of a launch that has run, with their values; of a longer one, the first eight bytes.
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

/// Words as values of their kinds.
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
