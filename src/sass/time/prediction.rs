//! The model's prediction for a kernel.

use super::bound::{Bounds, Resource, bounds};
use super::facts::Facts;
use super::memory::Data;
use super::processor::{self, Numbers};
use super::simulate::{Load, Simulated, simulate};
use super::{grid, walk};
use crate::emulate::{self, AccessSpace, Launches, Program, WarpTrace};
use crate::sass::instruction::Function;
use crate::sass::machine::Machine;
use crate::target::machine::{Architecture, Launch};

/// A question: the kernel whose time is to be predicted.
#[derive(Clone, Copy, Debug)]
pub struct Question<'m> {
    /// The file of the kernel.
    pub machine: &'m Machine,
    /// The name of the kernel.
    pub kernel: &'m str,
    /// The launch. Without a grid, there are enough blocks for all SMs.
    pub launches: &'m Launches,
    /// The registers of a thread.
    pub registers: u32,
    /// The static shared memory of a block, in bytes.
    pub shared: u32,
    /// The dynamic shared memory that the launch adds, in bytes.
    pub dynamic_shared: u32,
    /// The PTX from which the kernel was compiled. It gives the kinds of values in memory.
    pub ptx: Option<&'m Program>,
    /// Whether two more times are predicted: the time without spills, and the time with one more block.
    pub asks_more: bool,
    /// The most instructions that an SM's warps may issue. Longer kernels get no prediction. `None` without a limit.
    pub most_issued: Option<u64>,
}

/// The source of a prediction's traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A launch that ran to its end.
    Run,
    /// The beginning of a launch that is too long to run to its end.
    Beginning,
    /// A walk through the code, with a fixed trip count for loops.
    Walk,
}

/// The model's prediction for a kernel.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The source of the traces.
    pub source: Source,
    /// For a walk, the reason why the launch could not run.
    pub reason: Option<String>,
    /// The resident blocks of an SM, at most the blocks of the launch.
    pub held: u32,
    /// The warps of a block.
    pub warps: u32,
    /// The blocks of the launch, if known.
    pub blocks: Option<u64>,
    /// The blocks of the busiest SM. If the launch is not known, the blocks that an SM holds.
    pub blocks_of_sm: u64,
    /// The cycles of the launch, with data in L2 and in DRAM. If the launch is not known, the cycles of the resident
    /// blocks of one SM.
    pub cycles: [u64; 2],
    /// The cycles with data in L2 and without accesses to local memory, if requested.
    pub without_local: Option<u64>,
    /// The cycles with data in L2 and one more block on an SM, if requested.
    pub with_more: Option<u64>,
    /// The result for the blocks of an SM with data in L2, with the reasons for waits.
    pub ran: Simulated,
    /// The lower bounds, with data in L2 and in DRAM.
    pub bounds: [Bounds; 2],
    /// The instructions of all warps of a block.
    pub instructions: u64,
    /// The bytes of local memory that a block's warps access.
    pub local_bytes: u64,
}

impl Prediction {
    /// Returns the cycles per block of an SM, with data in L2 and in DRAM. Two versions of a kernel are compared by
    /// these cycles.
    pub fn cycles_of_block(&self) -> [f64; 2] {
        self.cycles.map(|cycles| cycles as f64 / self.blocks_of_sm.max(1) as f64)
    }

    /// Returns the busiest unit, queue or bandwidth, and the share of the time in which it is busy.
    pub fn busiest(&self, data: Data) -> Option<(Resource, f64)> {
        let at = usize::from(data == Data::InDram);
        let waves = (self.blocks_of_sm as f64 / f64::from(self.held.max(1))).max(1.0);
        let (resource, cycles) = self.bounds[at].throughput()?;
        Some((resource, cycles as f64 * waves / self.cycles[at].max(1) as f64))
    }

    /// Returns the limit of the kernel: the busiest resource if it is busy for most of the time, and latency otherwise.
    pub fn limit(&self, data: Data) -> Resource {
        let busiest = self.busiest(data).filter(|&(_, share)| share >= LIMITS);
        busiest.map_or(Resource::Latency, |(resource, _)| resource)
    }
}

/// The share of busy time above which a resource limits a kernel.
const LIMITS: f64 = 0.6;

/// Predicts the time of a kernel.
///
/// # Errors
/// There is no such kernel, no warp executed, or the kernel is too long.
pub fn predict(question: &Question<'_>) -> Result<Prediction, String> {
    let machine = question.machine;
    let code = machine.code.iter().find(|code| code.name == question.kernel);
    let code = code.ok_or_else(|| format!("there is no kernel {}", question.kernel))?;
    let numbers = processor::numbers();
    let sms = numbers.whole("sms").max(1);
    let Traces { source, reason, warps: traces, shape } = traces(question, code, sms);
    let is_walk = source == Source::Walk;
    let facts = if is_walk { vec![Facts::of_function(code, numbers)] } else { facts(machine, numbers) };
    let threads = shape[1].iter().product::<u32>();
    let warps = threads.div_ceil(32);
    let by_block = by_block(&traces, warps);
    if by_block.is_empty() {
        return Err("no warp executed".into());
    }
    let most = held(question, threads);
    let blocks = question.launches.grid.map(|grid| grid.iter().map(|&side| u64::from(side)).product::<u64>());
    let blocks_of_sm = blocks.map_or(u64::from(most), |blocks| blocks.div_ceil(sms));
    let shared = question.shared + question.dynamic_shared;
    let load = |blocks: u64, data| Load {
        facts: &facts,
        blocks: &by_block,
        held: blocks as usize,
        shared_bytes: u64::from(shared) * blocks,
        data,
        without_local: false,
    };
    let held = u64::from(most).min(blocks_of_sm).max(1);
    let cycles_of = |held: u64, data, without_local| {
        grid::cycles(blocks_of_sm, held, |count| simulate(&Load { without_local, ..load(count, data) }, numbers).cycles)
    };
    let steps: u64 = by_block.iter().flatten().map(|warp| warp.steps.len() as u64).sum();
    if question.most_issued.is_some_and(|most| held * steps > most * by_block.len() as u64) {
        return Err("the blocks execute too many instructions".into());
    }
    let own = load(held, Data::InL2);
    let ran = simulate(&own, numbers);
    let far = load(held, Data::InDram);
    let ran_far = simulate(&far, numbers);
    let local =
        |access: &emulate::AccessOfWarp| (access.space == AccessSpace::Local) as u64 * access.sectors.len() as u64;
    let local_bytes: u64 =
        by_block[0].iter().flat_map(|warp| &warp.accesses).map(local).sum::<u64>() * super::cache::SECTOR;
    // The simulation of the resident blocks is already available.
    let total = |simulated: &Simulated, data| {
        grid::cycles(blocks_of_sm, held, |count| match count == held {
            true => simulated.cycles,
            false => simulate(&load(count, data), numbers).cycles,
        })
    };
    let cycles = [total(&ran, Data::InL2), total(&ran_far, Data::InDram)];
    let more = u64::from(most) + 1;
    let with_more = || match blocks {
        // The launch is unknown, so there are enough blocks for all SMs. The time is scaled to the original number of
        // blocks.
        None => (simulate(&load(more, Data::InL2), numbers).cycles as f64 * held as f64 / more as f64) as u64,
        Some(_) => cycles_of(more.min(blocks_of_sm), Data::InL2, false),
    };
    let without_local = || if local_bytes > 0 { cycles_of(held, Data::InL2, true) } else { cycles[0] };
    Ok(Prediction {
        source,
        reason,
        held: held as u32,
        warps,
        blocks,
        blocks_of_sm,
        cycles,
        without_local: question.asks_more.then(without_local),
        with_more: question.asks_more.then(with_more),
        bounds: [bounds(&own, &ran, numbers), bounds(&far, &ran_far, numbers)],
        ran,
        instructions: steps / by_block.len() as u64,
        local_bytes,
    })
}

/// Returns the blocks that an SM holds.
fn held(question: &Question<'_>, threads: u32) -> u32 {
    let name = format!("sm_{}", question.machine.processor);
    let Ok(architecture) = Architecture::by_name(&name).or_else(|_| Architecture::by_name("sm_90")) else { return 1 };
    let launch = Launch {
        static_shared: question.shared,
        dynamic_shared: question.dynamic_shared,
        ..Launch::new(question.registers).with_threads(threads)
    };
    architecture.occupancy(&launch).blocks.max(1)
}

fn facts(machine: &Machine, numbers: &Numbers) -> Vec<Vec<Facts>> {
    let of = |name: &str| machine.code.iter().find(|code| code.name == name);
    let names = machine.program.function_names();
    names.map(|name| of(name).map_or_else(Vec::new, |code| Facts::of_function(code, numbers))).collect()
}

/// Groups the warps by block.
fn by_block(traces: &[WarpTrace], warps: u32) -> Vec<Vec<&WarpTrace>> {
    traces.chunks(warps.max(1) as usize).map(|block| block.iter().collect()).collect()
}

struct Traces {
    source: Source,
    reason: Option<String>,
    warps: Vec<WarpTrace>,
    shape: [[u32; 3]; 2],
}

/// The most blocks that are emulated. Additional resident blocks repeat their traces at other addresses.
const MOST_BLOCKS: u64 = 2;

/// Emulates some blocks. If they are too long, emulates one block. If the emulation fails, walks through the code.
fn traces(question: &Question<'_>, code: &Function, sms: u64) -> Traces {
    let Question { machine, kernel, launches, ptx, .. } = *question;
    let apart = if launches.grid.is_some() { sms } else { 1 };
    let blocks_of_sm = |grid: u64, warps: u64| {
        let held = u64::from(held(question, warps as u32 * 32));
        held.min(grid.div_ceil(apart)).min(MOST_BLOCKS)
    };
    let some =
        |grid: u32, warps: u32| (0..blocks_of_sm(grid.into(), warps.into())).map(|at| (at * apart) as u32).collect();
    let program: &Program = &machine.program;
    let mut traced = emulate::trace(program, ptx, kernel, launches, some);
    if !matches!(&traced, Ok(all) if !all.is_cut) {
        traced = emulate::trace(program, ptx, kernel, launches, |_, _| vec![0]);
    }
    match traced {
        Ok(traced) => {
            let source = if traced.is_cut { Source::Beginning } else { Source::Run };
            Traces { source, reason: None, warps: traced.warps, shape: traced.shape }
        }
        Err(reason) => {
            let threads = launches.block.unwrap_or([128, 1, 1]);
            let shape = [launches.grid.unwrap_or([1, 1, 1]), threads];
            let warps = walk::walk(code, threads.iter().product::<u32>().div_ceil(32));
            Traces { source: Source::Walk, reason: Some(reason), warps, shape }
        }
    }
}
