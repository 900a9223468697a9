//! State shared by all threads of a launch.

use rustc_hash::FxHashMap;

use super::block::Block;
use super::trace::WarpTrace;
use super::traffic::{LaneAccesses, Traffic};
use crate::emulate::layout;
use crate::emulate::memory::{Global, Image, Origin, Written};
use crate::emulate::program::{CarriedKind, Function, Init, Program, Special, Variable};
use crate::emulate::types::{Kind, mixed};
use crate::emulate::wishes::Wishes;

/// Order of threads. In each order, other threads run from time to time, so that no thread starves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulate) enum Turns {
    /// Threads of a drawn warp, earliest instruction in the PTX file first.
    Drawn,
    /// Threads of the first warp, earliest instruction first.
    FirstToLast,
    /// Threads of the last warp, latest instruction first.
    LastToFirst,
}

/// Setting of one run of a kernel.
#[derive(Clone, Debug)]
pub(in crate::emulate) struct Setting {
    pub(in crate::emulate) kernel: usize,
    pub(in crate::emulate) grid: [u32; 3],
    pub(in crate::emulate) block: [u32; 3],
    /// The seed of the schedule.
    pub(in crate::emulate) schedule: u64,
    pub(in crate::emulate) turns: Turns,
    /// Whether an integer division by zero gives the processors' result. Compilers may assume any result.
    pub(in crate::emulate) divides_by_zero: bool,
    /// The most warp steps. A program may exceed this limit if its last new store is within the limit. It then runs
    /// until it stores something new, or until it has stored nothing new for `most_quiet` steps.
    pub(in crate::emulate) most_steps: u64,
    /// The most warp steps in any case.
    pub(in crate::emulate) most_steps_in_all: u64,
    /// A program without a new store for more steps counts as endless.
    pub(in crate::emulate) most_quiet: Option<u64>,
    /// Whether the traffic of memory accesses is recorded.
    pub(in crate::emulate) measures: bool,
    /// Whether the instructions of each warp are recorded, in order. Then no value is undefined, and races stop no
    /// launch.
    pub(in crate::emulate) traces: bool,
    /// The indices of the blocks that run; `None` for all.
    pub(in crate::emulate) blocks: Option<Vec<u32>>,
    /// Whether the results are not wanted any more.
    pub(in crate::emulate) is_unwanted: fn() -> bool,
    /// The bytes of dynamic shared memory, equal for both programs.
    pub(in crate::emulate) shared_bytes: u32,
    /// Values for loads of the first program that replace drawn ones.
    pub(in crate::emulate) wishes: Wishes,
}

/// Results of a launch.
#[derive(Debug, Default)]
pub(in crate::emulate) struct Outcome {
    /// Written words, by address.
    pub(in crate::emulate) written: Vec<Written>,
    /// The last write of each thread to words with racing writes, by thread and address.
    pub(in crate::emulate) apart: Vec<Written>,
    /// Words with undefined bytes, and the origin of these bytes.
    pub(in crate::emulate) undefined: Vec<(Written, String)>,
    /// A sentence on the first two racing writes.
    pub(in crate::emulate) race: Option<String>,
    /// Whether each instruction of each function ran.
    pub(in crate::emulate) covered: Vec<Vec<bool>>,
    /// How often warps issued each instruction of each function.
    pub(in crate::emulate) issued: Vec<Vec<u64>>,
    /// The traffic of each instruction, if recorded.
    pub(in crate::emulate) traffic: Vec<Vec<Traffic>>,
    /// The trace of each warp, if recorded.
    pub(in crate::emulate) traces: Vec<WarpTrace>,
    /// Outcomes of each instruction's predicate, as a guard or for a selection: bits of [`crate::emulate::ways`].
    pub(in crate::emulate) ways: Vec<Vec<u8>>,
    /// How often each hashed instruction ran.
    pub(in crate::emulate) hashed: Vec<u64>,
    /// Warp instructions.
    pub(in crate::emulate) instructions: u64,
    /// Warp steps: a matrix product counts as all its products. Limits use this count.
    pub(in crate::emulate) steps: u64,
    /// Thread instructions.
    pub(in crate::emulate) thread_steps: u64,
    /// Loads and stores of warps in which a thread accesses local memory.
    pub(in crate::emulate) local: u64,
    /// The same for shared memory.
    pub(in crate::emulate) shared: u64,
    /// Whether a thread read a value that depends on the order of threads.
    pub(in crate::emulate) depends_on_order: bool,
}

impl Outcome {
    /// Returns the number of written words.
    pub(in crate::emulate) fn num_written(&self) -> usize {
        self.written.len() + self.apart.len()
    }
}

/// The effect of an event on waiting threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wake {
    pub(super) warp: usize,
    pub(super) lanes: u32,
    /// Their result: frame, row and value.
    pub(super) result: Option<(u32, u32, u64)>,
    /// The joined clocks of the threads for which they waited.
    pub(super) clocks: [u32; 32],
}

/// The clocks that an atomic operation at a place passes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub(super) blocks: Vec<u64>,
    pub(super) block: u32,
    pub(super) clocks: [u32; 32],
}

/// The state shared by all threads.
#[derive(Debug)]
pub(super) struct World<'p, 'i> {
    pub(super) program: &'p Program,
    pub(super) setting: &'p Setting,
    pub(super) global: Global<'i>,
    /// The blocks, by index. Blocks that are not running have no memory.
    pub(super) blocks: Vec<Block>,
    pub(super) wakes: Vec<Wake>,
    pub(super) locations: FxHashMap<u64, Location>,
    pub(super) outcome: Outcome,
    /// Kinds of the values that registers carry from shared or local memory, by function and class.
    pub(super) carried: FxHashMap<(usize, CarriedKind), Kind>,
    /// The special registers that are not modelled.
    pub(super) specials: Vec<&'static str>,
    /// The size in bytes of each variable, by address; `None` for variables without a declared size.
    sizes: FxHashMap<u64, Option<u64>>,
    random: u64,
    /// The number of changes to shared state, and the step of the last change.
    pub(super) changes: u64,
    last_change: u64,
    /// The step of the last store that changed global or shared memory.
    pub(super) last_store: u64,
}

/// The number of steps without a change after which warp states are checked.
const QUIET: u64 = 4096;

/// The most pages of global memory.
const MOST_PAGES: usize = 16_384;
/// The most words that are kept separately for each writing thread.
const MOST_APART: usize = 1 << 20;

impl<'p, 'i> World<'p, 'i> {
    pub(super) fn new(program: &'p Program, setting: &'p Setting, image: &'i mut Image) -> Self {
        for variable in &program.variables {
            image.set(variable.address, &variable.content);
        }
        let size = |variable: &Variable| variable.bytes.max(variable.content.len() as u64);
        let known = |variable: &Variable| Some(size(variable)).filter(|&bytes| bytes > 0);
        let sizes = program.variables.iter().map(|variable| (variable.address, known(variable))).collect();
        let outcome = Outcome {
            covered: program.functions.iter().map(|function| vec![false; function.insts.len()]).collect(),
            traffic: match setting.measures {
                true => program.functions.iter().map(|one| vec![Traffic::default(); one.insts.len()]).collect(),
                false => Vec::new(),
            },
            issued: program.functions.iter().map(|function| vec![0; function.insts.len()]).collect(),
            ways: program.functions.iter().map(|function| vec![0; function.insts.len()]).collect(),
            hashed: vec![0; program.hashed.len()],
            ..Outcome::default()
        };
        Self {
            program,
            setting,
            global: Global::new(image),
            blocks: Vec::new(),
            wakes: Vec::new(),
            locations: FxHashMap::default(),
            outcome,
            carried: FxHashMap::default(),
            specials: specials(program),
            sizes,
            random: mixed(setting.schedule),
            changes: 0,
            last_change: 0,
            last_store: 0,
        }
    }

    /// Records the traffic of a warp's access, by the warp's index among the running ones, if wanted.
    pub(super) fn record_traffic(&mut self, warp: usize, (function, pc): (usize, u32), lane_accesses: &LaneAccesses) {
        let Some(access) = lane_accesses.traffic() else { return };
        if let Some(traffic) = self.outcome.traffic.get_mut(function) {
            traffic[pc as usize].add(access.traffic);
        }
        if let Some(trace) = self.outcome.traces.get_mut(warp) {
            trace.access(&access);
        }
    }

    /// Records the traffic only in the trace.
    pub(super) fn traced(&mut self, warp: usize, lane_accesses: &LaneAccesses) {
        if let (Some(trace), Some(access)) = (self.outcome.traces.get_mut(warp), lane_accesses.traffic()) {
            trace.access(&access);
        }
    }

    /// Returns the record for an access of `bytes` bytes a lane, if traffic is recorded.
    pub(super) fn lane_accesses(&self, bytes: u32) -> LaneAccesses {
        LaneAccesses::new(bytes, self.setting.measures || self.setting.traces)
    }

    /// Counts a change to shared state: a warp that repeats its states may take another path from here.
    pub(super) fn changed(&mut self) {
        self.changes += 1;
        self.last_change = self.outcome.steps;
    }

    /// Records a store that changes global or shared memory.
    pub(super) fn stored(&mut self) {
        self.changed();
        self.last_store = self.outcome.steps;
    }

    /// Whether shared state has not changed for long.
    pub(super) fn is_quiet(&self) -> bool {
        self.outcome.steps - self.last_change > QUIET
    }

    /// Returns a drawn number below a limit.
    pub(super) fn random(&mut self, limit: usize) -> usize {
        self.random = mixed(self.random);
        (self.random >> 8) as usize % limit.max(1)
    }

    pub(super) fn function(&self, number: usize) -> &'p Function {
        &self.program.functions[number]
    }

    /// Whether `bytes` bytes at an address are in the range of variables but in no variable.
    pub(super) fn is_beyond_variables(&self, address: u64, bytes: u32) -> bool {
        layout::variable_of(address).is_some_and(|start| match self.sizes.get(&start) {
            Some(Some(size)) => address - start + u64::from(bytes) > *size,
            Some(None) => false,
            None => true,
        })
    }

    /// Whether memory has grown too large.
    pub(super) fn is_full(&self) -> bool {
        self.global.num_pages() > MOST_PAGES || self.global.num_apart() > MOST_APART
    }

    /// Returns the origin of an unmodelled special register's value.
    pub(super) fn special(&self, name: &str) -> Origin {
        self.specials
            .iter()
            .position(|&known| known == name)
            .map_or(Origin::default(), |number| Origin::special(number as u32))
    }
}

/// Returns the special registers of a program that are not modelled.
fn specials(program: &Program) -> Vec<&'static str> {
    let mut found = Vec::new();
    for row in program.functions.iter().flat_map(|function| &function.rows) {
        if let Init::Special(Special::Unknown(name)) = row.init
            && !found.contains(&name)
        {
            found.push(name);
        }
    }
    found
}
