//! The forecast: what ptxas will need for a kernel, before it runs.
//!
//! Two parts. The analysis says what the hardware has to hold: the words of registers ([`words`]), how many of them are
//! live at once ([`stretches`]), how many if loads are hoisted ([`hoisting`]) or the order is free ([`reordering`]),
//! and which are the same in all threads of a warp. The model ([`model`]), fitted to what ptxas made of real kernels,
//! says what it usually makes of that: it fills up to a step of the occupancy, unrolls, and keeps more than it needs.

mod behaviour;
mod call_graph;
mod curve;
mod demand;
mod features;
mod figures;
mod hoisting;
mod limit;
mod model;
mod order;
mod peak;
mod reordering;
mod stretches;
mod summary;
#[allow(dead_code, reason = "the build script reads tables, and tests do")]
mod table;
mod words;

use call_graph::CallGraph;
pub use curve::{Curve, MAX_STEPS};
pub use features::{Combination, FEATURES, Features};
pub use figures::Figure;
pub use model::Values;
pub use order::preferred_order;
pub use peak::{LiveValue, Peak};
use summary::Kernel;
pub use summary::Summary;
pub use table::Model;

use crate::error::Error;
use crate::function::{Function, LaunchBounds};
use crate::target::machine::{
    Architecture, CommandLine, Ignored, Launch, MAX_REGISTERS, MIN_REGISTER_LIMIT, Occupancy, RegisterFile,
};

/// What a forecast is for.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The processor.
    pub architecture: &'static Architecture,
    /// No kernel may have more registers, 24 to 255; smaller limits are taken as 24, as ptxas does. Its `-maxrregcount`
    /// does nothing to kernels with bounds; this holds for all, and raises no kernel's own limit.
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
    /// What the kernel's bounds say and ptxas does not do.
    pub ignored: Vec<Ignored>,
    /// Threads of a block, if the kernel says how many.
    pub threads: Option<u32>,
    /// Blocks that an SM must hold, if the kernel asks for that.
    pub min_blocks: Option<u32>,
    /// The kernel's own limit on registers: `.maxnreg`.
    pub max_registers: Option<u32>,
    /// The limit that the kernel gets because of the forecast: see [`limit`](Self::limit).
    pub limited_to: Option<u32>,
    /// What an SM holds of it.
    pub occupancy: Occupancy,
    /// The most registers with which an SM holds more warps.
    pub next_step: Option<u32>,
    /// How many words are live along the code.
    pub curve: Curve,
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

    /// What an SM is asked to hold: the registers expected, and blocks without dynamic shared memory.
    pub fn launch(&self) -> Launch {
        launch(self.registers, self.threads, self.shared_bytes)
    }
}

fn launch(registers: u32, threads: Option<u32>, shared_bytes: u64) -> Launch {
    Launch { threads, static_shared: shared_bytes as u32, ..Launch::new(registers) }
}

/// Forecasts the kernels of a module, in its order. The functions have left SSA form and are coalesced. O(n log n) in
/// their operands and live ranges.
///
/// # Errors
///
/// For a kernel whose bounds contradict each other, so that ptxas does not assemble it.
pub fn forecast(functions: &[Function], case: &Case) -> Result<Vec<Forecast>, Error> {
    let summaries: Vec<Summary> = functions.iter().map(Summary::new).collect();
    forecast_module(&summaries.iter().collect::<Vec<_>>(), case)
}

/// Forecasts the kernels of a module from the summaries of its functions, in their order. O(functions and calls).
///
/// # Errors
///
/// As [`forecast`].
pub fn forecast_module(functions: &[&Summary], case: &Case) -> Result<Vec<Forecast>, Error> {
    let models = (Model::registers(), Model::spills());
    let joined = CallGraph::new(functions).join(functions);
    let mut forecasts = Vec::new();
    for (function, joined) in functions.iter().zip(joined) {
        if let Some(kernel) = &function.kernel {
            let forecast = of_kernel(function, kernel, joined, case, models);
            forecasts.push(forecast.map_err(|error| error.in_function(&function.name))?);
        }
    }
    Ok(forecasts)
}

fn of_kernel(
    function: &Summary,
    Kernel { bounds, curve, peak }: &Kernel,
    (features, is_whole): (Features, bool),
    case: &Case,
    (registers, spills): (&Model, &Model),
) -> Result<Forecast, Error> {
    let threads = bounds.required_threads.or(bounds.max_threads);
    let (budget, ignored) = budget(bounds, case)?;
    let min_blocks = bounds.min_blocks.unwrap_or(0);
    let wanted = registers.forecast(&registers.values(&features, budget, min_blocks));
    let calls = features.get("internal_calls") + features.get("external_calls") > 0.0;
    let floor = if calls { registers.with_calls } else { 1.0 };
    let registers = (wanted.round().max(floor) as u32).min(budget);
    // The model's bytes are one more than there are, so that none has a logarithm.
    let spilled = spills.forecast(&spills.values(&features, budget, min_blocks)) - 1.0;
    let spilled = if spilled < spills.least { 0.0 } else { spilled };
    let stored = words_up(spilled * spills.share_of_stores);
    let launch = launch(registers, threads, function.shared_bytes);
    let architecture = case.architecture;
    let capped = |feature: &str, cap: u32| (features.get(feature) as u32).min(cap);
    Ok(Forecast {
        name: function.name.clone(),
        registers,
        is_at_least: !is_whole,
        predicates: capped("predicates", architecture.registers(RegisterFile::Predicate)),
        uniform_registers: function.uniform_words.min(architecture.uniform_registers),
        spill_store_bytes: stored,
        spill_load_bytes: words_up(spilled - f64::from(stored)),
        stack_bytes: function.stack_bytes,
        shared_bytes: function.shared_bytes,
        budget,
        ignored,
        threads,
        min_blocks: bounds.min_blocks,
        max_registers: bounds.max_registers,
        limited_to: None,
        occupancy: architecture.occupancy(&launch),
        next_step: architecture.next_step(&launch),
        curve: curve.clone(),
        peak: peak.clone(),
        features,
    })
}

/// Bytes of whole words.
fn words_up(bytes: f64) -> u32 {
    (bytes.max(0.0) / 4.0).round() as u32 * 4
}

/// The most registers that a kernel may have: what its bounds leave it, and the case's limit, as if `.maxnreg` said it
/// and left alone what is smaller.
fn budget(bounds: &LaunchBounds, case: &Case) -> Result<(u32, Vec<Ignored>), Error> {
    let own = case.architecture.register_limit(bounds, &CommandLine::default())?;
    let limit = case.max_registers.map_or(MAX_REGISTERS, |limit| limit.max(MIN_REGISTER_LIMIT));
    Ok((own.registers.min(limit), own.ignored))
}
