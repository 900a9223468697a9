//! A cycle-level simulation of the blocks of one SM.
//!
//! Each partition issues at most one instruction per cycle. It chooses the warp that issued last if that warp can
//! issue, and otherwise the youngest warp that can (arXiv 2503.20481, section 5.1). A warp can issue when its stall
//! count has passed, its scoreboards are clear, its instruction has arrived, and its unit is free. Cycles in which no
//! warp can issue are skipped. O(instructions x warps of a partition).

use super::barrier::Barriers;
use super::facts::{Facts, Work};
use super::fetch::Fetch;
use super::memory::{Data, Memory};
use super::processor::Numbers;
use super::unit::Unit;
use super::waiting::{Reason, StallCounts};
use super::warp::Warp;
use crate::emulate::{AccessSpace, Step, WarpTrace};

/// The input of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Load<'t> {
    /// The facts of the instructions, by function and number.
    pub facts: &'t [Vec<Facts>],
    /// The traces of the warps, block by block.
    pub blocks: &'t [Vec<&'t WarpTrace>],
    /// The number of blocks that the SM holds. If there are fewer traces, blocks repeat them at other addresses.
    pub held: usize,
    /// The shared memory of all these blocks, in bytes.
    pub shared_bytes: u64,
    /// The location of the data.
    pub data: Data,
    /// Whether accesses to local memory take no time, as if there were no spills.
    pub without_local: bool,
}

/// The result of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulated {
    /// The cycles until the last warp exited.
    pub cycles: u64,
    /// The number of issued instructions.
    pub issued: u64,
    /// The sectors between L1 and L2, and between L2 and DRAM.
    pub sectors: [u64; 2],
    /// The waits of warps, by function and number of the instruction.
    pub waited: Vec<Vec<StallCounts>>,
}

/// A partition: its warps, and the cycles from which its units are free.
#[derive(Debug, Default)]
struct Partition {
    warps: Vec<usize>,
    last: Option<usize>,
    free: [u64; Unit::ALL.len()],
    next_at: u64,
}

/// Simulates the blocks of an SM.
pub fn simulate(load: &Load<'_>, numbers: &Numbers) -> Simulated {
    let count = numbers.whole("partitions").max(1) as usize;
    let mut sm = Sm {
        load,
        memory: Memory::new(numbers, load.shared_bytes, load.data),
        fetch: Fetch::new(numbers, count),
        partitions: (0..count).map(|_| Partition::default()).collect(),
        barriers: Vec::new(),
        warps: Vec::new(),
        branch: numbers.whole("latency.branch"),
        barrier: numbers.whole("latency.barrier"),
        merges: numbers.whole("store.merge_instructions") as usize,
        depth: numbers.whole("pipe.lsu_queue") * numbers.whole("pipe.lsu"),
        result: Simulated {
            waited: load.facts.iter().map(|of| vec![StallCounts::default(); of.len()]).collect(),
            ..Simulated::default()
        },
    };
    sm.begin();
    sm.run();
    sm.result.sectors = sm.memory.moved;
    sm.result.cycles = sm.result.cycles.max(sm.memory.quiet_at());
    sm.result
}

struct Sm<'t> {
    load: &'t Load<'t>,
    memory: Memory,
    fetch: Fetch,
    partitions: Vec<Partition>,
    barriers: Vec<Barriers>,
    warps: Vec<Warp<'t>>,
    branch: u64,
    barrier: u64,
    depth: u64,
    merges: usize,
    result: Simulated,
}

impl<'t> Sm<'t> {
    fn begin(&mut self) {
        for block in 0..self.load.held {
            let traces = &self.load.blocks[block % self.load.blocks.len().max(1)];
            let again = (block / self.load.blocks.len().max(1)) as u64;
            self.barriers.push(Barriers::new(traces.len() as u32));
            for trace in traces {
                let number = self.warps.len();
                let spaces = [again << 52, (number as u64 + 1) << 40];
                self.warps.push(Warp::new(trace, block, spaces));
                let partition = number % self.partitions.len();
                self.partitions[partition].warps.push(number);
                self.prepare(partition, number, None);
            }
        }
    }

    /// Computes the first cycle at which a warp's next instruction may issue.
    fn prepare(&mut self, partition: usize, number: usize, previous: Option<u64>) {
        let Some(step) = self.warps[number].step() else {
            let block = self.warps[number].block;
            let at = self.warps[number].issued_at;
            self.partitions[partition].warps.retain(|&one| one != number);
            let awake = self.barriers[block].end();
            self.wake(&awake, at);
            return;
        };
        let facts = self.facts(step);
        let at = self.warps[number].next_at;
        let place = u64::from(step.function) << 24 | u64::from(step.line.saturating_sub(1));
        let there = self.fetch.wanted(partition, at, previous, place);
        let warp = &mut self.warps[number];
        warp.delay(there, Reason::Fetch);
        warp.wait(&facts);
    }

    fn facts(&self, step: Step) -> Facts {
        self.load.facts[usize::from(step.function)][step.line.saturating_sub(1) as usize]
    }

    fn wake(&mut self, warps: &[usize], at: u64) {
        for &number in warps {
            self.warps[number].waits_at_barrier = false;
            self.warps[number].delay(at + self.barrier, Reason::Barrier);
            let partition = number % self.partitions.len();
            self.partitions[partition].next_at = 0;
        }
    }

    fn run(&mut self) {
        let mut now = 0;
        loop {
            let mut next = u64::MAX;
            for partition in 0..self.partitions.len() {
                if self.partitions[partition].next_at <= now {
                    let at = self.issue(partition, now);
                    self.partitions[partition].next_at = at;
                }
                next = next.min(self.partitions[partition].next_at);
            }
            // A barrier may have released warps of a partition that was visited earlier in this cycle.
            if self.partitions.iter().any(|partition| partition.next_at == 0) {
                next = now + 1;
            }
            if next == u64::MAX {
                return;
            }
            now = next.max(now + 1);
        }
    }

    /// Issues an instruction of a partition if a warp is ready. Returns the next cycle at which the partition may
    /// issue.
    fn issue(&mut self, partition: usize, now: u64) -> u64 {
        let queue_is_full = self.memory.behind(now) > self.depth;
        let mut chosen: Option<usize> = None;
        let mut next = u64::MAX;
        let of = &self.partitions[partition];
        for &number in &of.warps {
            let warp = &self.warps[number];
            if warp.waits_at_barrier {
                continue;
            }
            let Some(step) = warp.step() else { continue };
            let facts = self.facts(step);
            let mut at = warp.next_at.max(of.free[facts.unit as usize]);
            if facts.unit == Unit::Memory && queue_is_full {
                at = at.max(now + self.memory.behind(now) - self.depth);
            }
            if at > now {
                next = next.min(at);
            } else if chosen.is_none() || of.last == Some(number) || of.last != chosen {
                chosen = Some(number);
            }
        }
        match chosen {
            Some(number) => {
                self.issue_of(partition, number, now);
                now + 1
            }
            None => next,
        }
    }

    fn issue_of(&mut self, partition: usize, number: usize, now: u64) {
        let Some(step) = self.warps[number].step() else { return };
        let facts = self.facts(step);
        self.note(partition, number, step, &facts, now);
        self.partitions[partition].last = Some(number);
        let is_left_out = self.load.without_local && self.is_local(number, step);
        let free = &mut self.partitions[partition].free;
        if !is_left_out {
            free[facts.unit as usize] = now + facts.interval + facts.bank_cycles;
        }
        let mut cycles = u64::from(facts.control.stall).max(1);
        self.warps[number].advance(now);
        let goes_elsewhere =
            self.warps[number].step().is_some_and(|next| next.line != step.line + 1 || next.function != step.function);
        if facts.work == Work::Jump && goes_elsewhere {
            cycles = cycles.max(self.branch);
        }
        self.warps[number].next_at = now + cycles + facts.bank_cycles;
        let mut awake = Vec::new();
        match facts.work {
            _ if is_left_out => {}
            Work::Fixed | Work::Jump | Work::Waits(..) => {
                let until = now + cycles;
                self.set(number, &facts, until, until, Reason::Other);
            }
            Work::Latency(latency) => {
                let begin = if facts.unit == Unit::Memory { self.memory.takes(now, 1) } else { now };
                self.set(number, &facts, begin + facts.interval, begin + latency, Reason::Other);
            }
            Work::Group => {
                let until = self.warps[number].open_copies;
                self.set(number, &facts, until, until, Reason::Global);
            }
            Work::Access(kind) => self.access(number, step, &facts, kind, now),
            Work::Barrier(barrier, threads) | Work::Arrives(barrier, threads) => {
                let waits = matches!(facts.work, Work::Barrier(..));
                self.warps[number].waits_at_barrier = waits;
                let block = self.warps[number].block;
                awake = self.barriers[block].arrive(barrier, number, waits, threads);
                self.set(number, &facts, now + cycles, now + cycles, Reason::Barrier);
            }
        }
        let place = u64::from(step.function) << 24 | u64::from(step.line.saturating_sub(1));
        self.prepare(partition, number, Some(place));
        self.wake(&awake, now);
        self.result.cycles = self.result.cycles.max(now + cycles);
    }

    fn set(&mut self, number: usize, facts: &Facts, read: u64, there: u64, reason: Reason) {
        let warp = &mut self.warps[number];
        warp.set(facts.control.reads, read, reason);
        warp.set(facts.control.writes, there, reason);
    }

    fn access(&mut self, number: usize, step: Step, facts: &Facts, kind: super::facts::Access, now: u64) {
        let warp = &self.warps[number];
        let Some(access) = warp.trace.accesses.get(step.access as usize) else {
            // If no thread accessed memory, the access still occupies the queue.
            let begin = self.memory.takes(now, 1);
            return self.set(number, facts, begin + 1, begin + 1, Reason::Queue);
        };
        let (space, reason) = match access.space {
            AccessSpace::Global => (warp.spaces[0], Reason::Global),
            AccessSpace::Local => (warp.spaces[1], Reason::Local),
            AccessSpace::Shared => (0, Reason::Shared),
        };
        let is_merged = kind.is_store && !kind.is_atomic && access.space == AccessSpace::Global;
        let merged = is_merged.then(|| self.warps[number].stores(&access.sectors, self.merges));
        let sectors = merged.as_deref().unwrap_or(&access.sectors);
        let done = self.memory.access(now, kind, access, sectors, space);
        if kind.is_copy {
            let warp = &mut self.warps[number];
            warp.open_copies = warp.open_copies.max(done.there);
        }
        let there = if kind.is_copy { done.read } else { done.there };
        self.set(number, facts, done.read, there, reason);
    }

    fn is_local(&self, number: usize, step: Step) -> bool {
        let access = self.warps[number].trace.accesses.get(step.access as usize);
        access.is_some_and(|access| access.space == AccessSpace::Local)
    }

    /// Records what a warp waited for before an instruction.
    fn note(&mut self, partition: usize, number: usize, step: Step, facts: &Facts, now: u64) {
        let warp = &self.warps[number];
        let waited = &mut self.result.waited[usize::from(step.function)][step.line.saturating_sub(1) as usize];
        self.result.issued += 1;
        waited.issued += 1;
        let since = warp.issued_at + u64::from(warp.issued_at > 0);
        let ready = warp.next_at.clamp(since, now.max(since));
        waited.cycles[warp.reason as usize] += ready - since;
        let free = self.partitions[partition].free[facts.unit as usize].clamp(ready, now.max(ready));
        waited.cycles[Reason::Unit as usize] += free - ready;
        let rest = now.saturating_sub(free);
        let reason = if facts.unit == Unit::Memory && self.memory.behind(now) + 1 > self.depth {
            Reason::Queue
        } else {
            Reason::Turn
        };
        waited.cycles[reason as usize] += rest;
    }
}
