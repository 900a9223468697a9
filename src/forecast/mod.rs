//! The forecast: what ptxas will need for a kernel, before it runs.
//!
//! Two parts. The analysis says what the hardware has to hold: the words of registers ([`words`]), how many of them are
//! live at once ([`stretches`]), how many if loads are hoisted ([`hoisting`]) or the order is free ([`reordering`]),
//! and which are the same in all threads of a warp. The model ([`model`]), fitted to what ptxas made of real kernels,
//! says what it usually makes of that: it fills up to a step of the occupancy, unrolls, and keeps more than it needs.

mod behaviour;
mod call_graph;
mod demand;
mod features;
mod hoisting;
mod model;
mod peak;
mod reordering;
mod stretches;
mod words;

use call_graph::CallGraph;
use features::{Analysed, analyse};
pub use features::{Combination, FEATURES, Features};
pub use model::{Model, Values};
pub use peak::{LiveValue, Peak};

use crate::error::Error;
use crate::function::{Function, LaunchBounds, Slot, Symbol, Value};
use crate::target::machine::{Architecture, Launch, MAX_REGISTERS, Occupancy, RegisterFile};

/// What a forecast is for.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The processor.
    pub architecture: &'static Architecture,
    /// A limit on registers beside those of the kernels themselves, as `.maxnreg` sets it.
    pub max_registers: Option<u32>,
}

/// What ptxas is expected to make of a kernel.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// The kernel.
    pub name: String,
    /// General registers of a thread, 1 to 255.
    pub registers: u32,
    /// The kernel calls what is not there to be seen: it may take more.
    pub is_at_least: bool,
    /// Predicates that are live at once, at most those that there are.
    pub predicates: u32,
    /// Words live at once that are the same in all threads of a warp, at most the uniform registers that there are.
    pub uniform_registers: u32,
    /// Bytes that a thread stores to spill slots, in the code.
    pub spill_store_bytes: u32,
    /// Bytes that it loads from them.
    pub spill_load_bytes: u32,
    /// Bytes of stack that the code itself asks for.
    pub stack_bytes: u64,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u64,
    /// The most registers that the kernel may have, by its bounds and the limit.
    pub budget: u32,
    /// Threads of a block, if the kernel says how many.
    pub threads: Option<u32>,
    /// Blocks that an SM must hold, if the kernel asks for that.
    pub min_blocks: Option<u32>,
    /// What an SM holds of it.
    pub occupancy: Occupancy,
    /// The most registers with which an SM holds more warps.
    pub next_step: Option<u32>,
    /// Where the most words are live.
    pub peak: Peak,
    /// What the model was told.
    pub features: Features,
}

impl Forecast {
    /// Bytes that a thread moves to spill slots and from them, in the code.
    pub fn spill_bytes(&self) -> u32 {
        self.spill_store_bytes + self.spill_load_bytes
    }
}

/// Forecasts the kernels of a module, in its order. The functions have left SSA form and are coalesced. O(n log n) in
/// their operands and live ranges.
pub fn forecast(functions: &[Function], case: &Case) -> Result<Vec<Forecast>, Error> {
    let models = (Model::registers()?, Model::spills()?);
    let analysed: Vec<Analysed> =
        functions.iter().map(|function| analyse(function, function.kernel().is_some())).collect();
    let own: Vec<Features> = analysed.iter().map(|analysed| analysed.features.clone()).collect();
    let joined = CallGraph::new(functions).join(&own);
    let mut forecasts = Vec::new();
    for ((function, analysed), (features, is_whole)) in functions.iter().zip(&analysed).zip(joined) {
        if let Some(bounds) = function.kernel() {
            forecasts.push(of_kernel(function, bounds, analysed, features, is_whole, case, models));
        }
    }
    Ok(forecasts)
}

fn of_kernel(
    function: &Function,
    bounds: &LaunchBounds,
    analysed: &Analysed,
    features: Features,
    is_whole: bool,
    case: &Case,
    (registers, spills): (&Model, &Model),
) -> Forecast {
    let threads = bounds.required_threads.or(bounds.max_threads);
    let budget = budget(bounds, case);
    let min_blocks = bounds.min_blocks.unwrap_or(0);
    let wanted = registers.forecast(&registers.values(&features, budget, min_blocks));
    let registers = (wanted.round() as u32).clamp(1, budget);
    // The model's bytes are one more than there are, so that none has a logarithm.
    let spilled = spills.forecast(&spills.values(&features, budget, min_blocks)) - 1.0;
    let spilled = if spilled < LEAST_SPILL { 0.0 } else { spilled };
    let stored = words_up(spilled * spills.share_of_stores);
    let shared_bytes = shared_bytes(function);
    let launch = Launch { threads, static_shared: shared_bytes as u32, ..Launch::new(registers) };
    let architecture = case.architecture;
    let capped = |feature: &str, cap: u32| (features.get(feature) as u32).min(cap);
    Forecast {
        name: function.name().to_owned(),
        registers,
        is_at_least: !is_whole,
        predicates: capped("predicates", architecture.registers(RegisterFile::Predicate)),
        uniform_registers: analysed.uniform_words.min(architecture.uniform_registers),
        spill_store_bytes: stored,
        spill_load_bytes: words_up(spilled - f64::from(stored)),
        stack_bytes: (0..function.num_slots()).map(|slot| function.slot(Slot(slot as u32)).size).sum(),
        shared_bytes,
        budget,
        threads,
        min_blocks: bounds.min_blocks,
        occupancy: architecture.occupancy(&launch),
        next_step: architecture.next_step(&launch),
        peak: Peak::new(function, analysed),
        features,
    }
}

/// Bytes below which a forecast says none, as `make calibrate` does: kernels that do not spill get a few.
const LEAST_SPILL: f64 = 16.0;

/// Bytes of whole words.
fn words_up(bytes: f64) -> u32 {
    (bytes.max(0.0) / 4.0).round() as u32 * 4
}

/// The most registers that a kernel may have. ptxas takes the least of `.maxnreg` and what blocks of that size, that
/// many of them, leave for each thread; bounds that no launch can meet it ignores.
fn budget(bounds: &LaunchBounds, case: &Case) -> u32 {
    let threads = bounds.required_threads.or(bounds.max_threads);
    let for_blocks =
        threads.and_then(|threads| case.architecture.registers_for_blocks(threads, bounds.min_blocks.unwrap_or(1)));
    let limits = [for_blocks, bounds.max_registers, case.max_registers];
    limits.into_iter().flatten().fold(MAX_REGISTERS, u32::min).max(1)
}

/// The shared memory that a function itself names; each variable once, with whatever offset it is named.
fn shared_bytes(function: &Function) -> u64 {
    let mut is_named = vec![false; function.num_symbols()];
    for operand in function.insts().flat_map(|inst| function.operands(inst)) {
        if let Value::Symbol(symbol) = operand.value {
            is_named[symbol.0 as usize] = true;
        }
    }
    let named = (0..).map(Symbol).zip(is_named).filter_map(|(symbol, is_named)| is_named.then_some(symbol));
    let variable = |symbol| function.symbol(symbol).split(['+', ' ']).next().unwrap_or_default();
    let mut variables: Vec<(&str, u64)> =
        named.map(|symbol| (variable(symbol), function.shared_bytes(symbol))).filter(|&(_, bytes)| bytes > 0).collect();
    variables.sort_unstable();
    variables.dedup_by_key(|variable| variable.0);
    variables.iter().map(|variable| variable.1).sum()
}
