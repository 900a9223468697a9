//! What the model says of a kernel.

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

/// A kernel whose time is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'m> {
    /// Its file.
    pub machine: &'m Machine,
    /// Its name.
    pub kernel: &'m str,
    /// The launch: where it has no grid, there are blocks enough for all SMs.
    pub launches: &'m Launches,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block that are known ahead.
    pub shared: u32,
    /// Bytes of shared memory that the launch adds.
    pub dynamic_shared: u32,
    /// The PTX that it was made of: it knows what kinds of values memory holds.
    pub ptx: Option<&'m Program>,
    /// Whether it is asked, too, what would be without spills and with more blocks.
    pub asks_more: bool,
    /// The most instructions of an SM's warps that are issued, where time is short: nothing is said of more.
    pub most_issued: Option<u64>,
}

/// Where a prediction's traces come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A launch that ran to its end.
    Run,
    /// The beginning of a launch that is too long.
    Beginning,
    /// A walk through the code: loops run so often as the code says, or a fixed number of times.
    Walk,
}

/// What the model says of a kernel.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Where the traces come from.
    pub source: Source,
    /// Why the launch did not run, where it is a walk.
    pub reason: Option<String>,
    /// The blocks that an SM holds at a time, as far as there are so many.
    pub held: u32,
    /// The warps of a block.
    pub warps: u32,
    /// Blocks of the launch, where that is known.
    pub blocks: Option<u64>,
    /// The blocks of the busiest SM; those that it holds, where the launch is not known.
    pub blocks_of_sm: u64,
    /// Cycles of the launch, with data in L2 and in DRAM; where the launch is not known, of as many blocks as an SM holds.
    pub cycles: [u64; 2],
    /// The same with data in L2 and without any access of local memory, if it was asked.
    pub without_local: Option<u64>,
    /// The same with one block more on an SM.
    pub with_more: Option<u64>,
    /// The blocks of an SM with data in L2: what it waited for.
    pub ran: Simulated,
    /// What it takes at least, with data in L2 and in DRAM.
    pub bounds: [Bounds; 2],
    /// Instructions of all warps of a block.
    pub instructions: u64,
    /// Bytes of local memory that a block's warps access.
    pub local_bytes: u64,
}

impl Prediction {
    /// Cycles for each block of an SM, with data in L2 and in DRAM: what two codes of a kernel are compared by.
    pub fn cycles_of_block(&self) -> [f64; 2] {
        self.cycles.map(|cycles| cycles as f64 / self.blocks_of_sm.max(1) as f64)
    }

    /// The unit, queue or bandwidth that is busiest, and the share of the time for which it is.
    pub fn busiest(&self, data: Data) -> Option<(Resource, f64)> {
        let at = usize::from(data == Data::InDram);
        let waves = (self.blocks_of_sm as f64 / f64::from(self.held.max(1))).max(1.0);
        let (resource, cycles) = self.bounds[at].throughput()?;
        Some((resource, cycles as f64 * waves / self.cycles[at].max(1) as f64))
    }

    /// What limits the kernel: a resource that is busy for most of the time, or else latency.
    pub fn limit(&self, data: Data) -> Resource {
        let busiest = self.busiest(data).filter(|&(_, share)| share >= LIMITS);
        busiest.map_or(Resource::Latency, |(resource, _)| resource)
    }
}

/// A resource that is busy for this share of the time limits a kernel.
const LIMITS: f64 = 0.6;

/// Predicts the time of a kernel.
///
/// # Errors
/// Says why nothing can be said: no such kernel, or code that is not known.
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
        return Err("no warp ran".into());
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
        return Err("its blocks take too many instructions".into());
    }
    let own = load(held, Data::InL2);
    let ran = simulate(&own, numbers);
    let far = load(held, Data::InDram);
    let ran_far = simulate(&far, numbers);
    let local =
        |access: &emulate::AccessOfWarp| (access.space == AccessSpace::Local) as u64 * access.sectors.len() as u64;
    let local_bytes: u64 =
        by_block[0].iter().flat_map(|warp| &warp.accesses).map(local).sum::<u64>() * super::cache::SECTOR;
    // The blocks that an SM holds have run already.
    let total = |simulated: &Simulated, data| {
        grid::cycles(blocks_of_sm, held, |count| match count == held {
            true => simulated.cycles,
            false => simulate(&load(count, data), numbers).cycles,
        })
    };
    let cycles = [total(&ran, Data::InL2), total(&ran_far, Data::InDram)];
    let more = u64::from(most) + 1;
    let with_more = || match blocks {
        // Blocks enough for all: one more of them takes its share of the time.
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

/// The blocks that an SM holds.
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

/// Warps in rows of a block each.
fn by_block(traces: &[WarpTrace], warps: u32) -> Vec<Vec<&WarpTrace>> {
    traces.chunks(warps.max(1) as usize).map(|block| block.iter().collect()).collect()
}

struct Traces {
    source: Source,
    reason: Option<String>,
    warps: Vec<WarpTrace>,
    shape: [[u32; 3]; 2],
}

/// The most blocks that are run: others do what these do, at other addresses.
const MOST_BLOCKS: u64 = 2;

/// Runs some blocks; where that is too much, one of them, and where that does not run, walks through the code.
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
