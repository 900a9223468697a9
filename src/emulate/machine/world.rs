//! What all threads of a launch share.

use rustc_hash::FxHashMap;

use super::block::Block;
use super::trace::WarpTrace;
use super::traffic::{LaneAccesses, Traffic};
use crate::emulate::layout;
use crate::emulate::memory::{Global, Image, Origin, Written};
use crate::emulate::program::{CarriedKind, Function, Init, Program, Special, Variable};
use crate::emulate::types::{Kind, mixed};
use crate::emulate::wishes::Wishes;

/// Which threads run first. In any of these turns, others are let run now and then, so that none waits for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulate) enum Turns {
    /// Those of a drawn warp, and of these the earliest in the text.
    Drawn,
    /// Those of the first warp, and of these the earliest in the text.
    FirstToLast,
    /// Those of the last warp, and of these the latest in the text.
    LastToFirst,
}

/// How a kernel is run.
#[derive(Clone, Debug)]
pub(in crate::emulate) struct Setting {
    pub(in crate::emulate) kernel: usize,
    pub(in crate::emulate) grid: [u32; 3],
    pub(in crate::emulate) block: [u32; 3],
    /// What the schedule is drawn from.
    pub(in crate::emulate) schedule: u64,
    pub(in crate::emulate) turns: Turns,
    /// An integer divided by zero gives what processors give. Compilers may take it for anything.
    pub(in crate::emulate) divides_by_zero: bool,
    /// The most steps of warps. Beyond them, a program whose last new store is not beyond them, too, runs on as long as
    /// it is not decided whether it stores nothing for `most_quiet` steps.
    pub(in crate::emulate) most_steps: u64,
    /// The most steps of warps in any case.
    pub(in crate::emulate) most_steps_in_all: u64,
    /// A program that runs for more steps without a new store does not end.
    pub(in crate::emulate) most_quiet: Option<u64>,
    /// Whether it is noted what accesses of memory move.
    pub(in crate::emulate) measures: bool,
    /// Whether it is noted what each warp does, in order. Then nothing is undefined, and races end no launch.
    pub(in crate::emulate) traces: bool,
    /// The numbers of the blocks that run, where not all do.
    pub(in crate::emulate) blocks: Option<Vec<u32>>,
    /// Whether nobody wants the results any more.
    pub(in crate::emulate) is_unwanted: fn() -> bool,
    /// The first thing that both programs must agree on: the bytes of dynamic shared memory.
    pub(in crate::emulate) shared_bytes: u32,
    /// What loads of the first program find in place of what would be drawn.
    pub(in crate::emulate) wishes: Wishes,
}

/// What became of a launch that ended.
#[derive(Debug, Default)]
pub(in crate::emulate) struct Outcome {
    /// What was written, by address.
    pub(in crate::emulate) written: Vec<Written>,
    /// Of words that threads write in no order, what each thread wrote last, by thread and address.
    pub(in crate::emulate) apart: Vec<Written>,
    /// Words with bytes that hold something undefined, and where that comes from.
    pub(in crate::emulate) undefined: Vec<(Written, String)>,
    /// A sentence on the first two such writes.
    pub(in crate::emulate) race: Option<String>,
    /// Which instructions of each function ran.
    pub(in crate::emulate) covered: Vec<Vec<bool>>,
    /// How often warps issued each instruction, of each function.
    pub(in crate::emulate) issued: Vec<Vec<u64>>,
    /// What accesses of each moved, where that is noted.
    pub(in crate::emulate) traffic: Vec<Vec<Traffic>>,
    /// What each warp did, where that is noted.
    pub(in crate::emulate) traces: Vec<WarpTrace>,
    /// Which ways the predicate of each went that has one, as a guard or to choose: bits of [`crate::emulate::ways`].
    pub(in crate::emulate) ways: Vec<Vec<u8>>,
    /// How often each hashed instruction ran.
    pub(in crate::emulate) hashed: Vec<u64>,
    /// Instructions of warps.
    pub(in crate::emulate) instructions: u64,
    /// The same with a product of matrices as all of its products: what limits count.
    pub(in crate::emulate) steps: u64,
    /// Instructions of threads.
    pub(in crate::emulate) thread_steps: u64,
    /// Loads and stores of warps, each with a thread that accesses local memory.
    pub(in crate::emulate) local: u64,
    /// The same of shared memory.
    pub(in crate::emulate) shared: u64,
    /// A thread read what depends on the order in which threads run.
    pub(in crate::emulate) depends_on_order: bool,
}

impl Outcome {
    /// How many words were written.
    pub(in crate::emulate) fn num_written(&self) -> usize {
        self.written.len() + self.apart.len()
    }
}

/// What happens to threads that wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wake {
    pub(super) warp: usize,
    pub(super) lanes: u32,
    /// A result for them: the frame, the row and the value.
    pub(super) result: Option<(u32, u32, u64)>,
    /// What those that they waited for have heard of.
    pub(super) clocks: [u32; 32],
}

/// What an atomic operation at a place passes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub(super) blocks: Vec<u64>,
    pub(super) block: u32,
    pub(super) clocks: [u32; 32],
}

/// All that threads share.
#[derive(Debug)]
pub(super) struct World<'p, 'i> {
    pub(super) program: &'p Program,
    pub(super) setting: &'p Setting,
    pub(super) global: Global<'i>,
    /// The blocks, by number; those that do not run have no memory.
    pub(super) blocks: Vec<Block>,
    pub(super) wakes: Vec<Wake>,
    pub(super) locations: FxHashMap<u64, Location>,
    pub(super) outcome: Outcome,
    /// The kinds of what registers carry from shared or local memory, by function and class.
    pub(super) carried: FxHashMap<(usize, CarriedKind), Kind>,
    /// The special registers that are not modelled.
    pub(super) specials: Vec<&'static str>,
    /// The bytes of variables by their addresses; of those that are declared without a size, none.
    sizes: FxHashMap<u64, Option<u64>>,
    random: u64,
    /// How often something changed that threads share, and the step of the last change.
    pub(super) changes: u64,
    last_change: u64,
    /// The step of the last store that changed global or shared memory.
    pub(super) last_store: u64,
}

/// So many steps behind the last change, the states of warps are watched.
const QUIET: u64 = 4096;

/// The most pages of global memory.
const MOST_PAGES: usize = 16_384;
/// The most words that are kept for each of the threads that wrote them.
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

    /// Notes what an access of a warp moved, by the warp's number among those that run, where that is wanted.
    pub(super) fn record_traffic(&mut self, warp: usize, (function, pc): (usize, u32), lane_accesses: &LaneAccesses) {
        let Some(access) = lane_accesses.traffic() else { return };
        if let Some(traffic) = self.outcome.traffic.get_mut(function) {
            traffic[pc as usize].add(access.traffic);
        }
        if let Some(trace) = self.outcome.traces.get_mut(warp) {
            trace.access(&access);
        }
    }

    /// The same where only traces have it.
    pub(super) fn traced(&mut self, warp: usize, lane_accesses: &LaneAccesses) {
        if let (Some(trace), Some(access)) = (self.outcome.traces.get_mut(warp), lane_accesses.traffic()) {
            trace.access(&access);
        }
    }

    /// The places of an access of so many bytes a lane, where it is wanted what accesses move.
    pub(super) fn lane_accesses(&self, bytes: u32) -> LaneAccesses {
        LaneAccesses::new(bytes, self.setting.measures || self.setting.traces)
    }

    /// Something changes that threads share: a warp that repeats what it did may go another way from here on.
    pub(super) fn changed(&mut self) {
        self.changes += 1;
        self.last_change = self.outcome.steps;
    }

    /// A store changes global or shared memory.
    pub(super) fn stored(&mut self) {
        self.changed();
        self.last_store = self.outcome.steps;
    }

    /// Whether nothing changed for long.
    pub(super) fn is_quiet(&self) -> bool {
        self.outcome.steps - self.last_change > QUIET
    }

    /// A drawn number below a limit.
    pub(super) fn random(&mut self, limit: usize) -> usize {
        self.random = mixed(self.random);
        (self.random >> 8) as usize % limit.max(1)
    }

    pub(super) fn function(&self, number: usize) -> &'p Function {
        &self.program.functions[number]
    }

    /// Whether so many bytes at an address are among those of variables and in none of them.
    pub(super) fn is_beyond_variables(&self, address: u64, bytes: u32) -> bool {
        layout::variable_of(address).is_some_and(|start| match self.sizes.get(&start) {
            Some(Some(size)) => address - start + u64::from(bytes) > *size,
            Some(None) => false,
            None => true,
        })
    }

    /// Whether memory grew too large.
    pub(super) fn is_full(&self) -> bool {
        self.global.num_pages() > MOST_PAGES || self.global.num_apart() > MOST_APART
    }

    /// Where the value of a special register comes from that is not modelled.
    pub(super) fn special(&self, name: &str) -> Origin {
        self.specials
            .iter()
            .position(|&known| known == name)
            .map_or(Origin::default(), |number| Origin::special(number as u32))
    }
}

/// The special registers of a program that are not modelled.
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
