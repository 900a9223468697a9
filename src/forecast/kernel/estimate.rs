//! The estimate of a kernel: the model's forecast, raised to the lower bounds and rounded to an occupancy step.

use super::call_graph::{CallGraph, FunctionWithCallees};
use super::forecast::{Case, Forecast, launch};
use super::occupancy_first::registers_for_warps;
use super::permutation;
use super::register_floors::{carried, least, most_filled, of_local_arrays};
use super::separate_compilation::LinkConflict;
use super::summary::Summary;
use crate::error::Error;
use crate::forecast::model::likely_interval::{likely_bytes, likely_registers};
use crate::forecast::model::table::Model;
use crate::forecast::model::trees::{ModelCache, ModelOutput};
use crate::function::{Function, LaunchBounds};
use crate::target::Classification;
use crate::target::machine::{
    Architecture, Circumstances, CommandLine, Decider, Entry, MAX_REGISTERS, MIN_REGISTER_LIMIT, RegisterFile,
    RegisterLimit, RegisterShortage,
};

/// Forecasts the kernels of a module, in its order. The functions have left SSA form and are coalesced. O(n log n) in
/// their operands and live ranges.
///
/// # Errors
///
/// For a kernel with contradictory bounds, which ptxas does not assemble.
pub fn forecast<'a>(
    functions: impl IntoIterator<Item = (&'a Function, &'a Classification)>,
    case: &Case,
) -> Result<Vec<Forecast>, Error> {
    let detailed = |(function, classification)| Summary::detailed(function, classification);
    let summaries: Vec<Summary> = functions.into_iter().map(detailed).collect();
    forecast_module(&summaries.iter().collect::<Vec<_>>(), case)
}

/// The same for functions whose opcodes are known only by name.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn forecast_by_name(functions: &[Function], case: &Case) -> Result<Vec<Forecast>, Error> {
    let by_name = |function: &Function| Classification::by_name(function.opcodes());
    let classifications: Vec<Classification> = functions.iter().map(by_name).collect();
    forecast(functions.iter().zip(&classifications), case)
}

/// Forecasts the kernels of a module from the summaries of its functions, in their order. O(functions and calls).
///
/// # Errors
///
/// As [`forecast`].
pub fn forecast_module(functions: &[&Summary], case: &Case) -> Result<Vec<Forecast>, Error> {
    let mut models = ModelCache::new();
    let joined = CallGraph::new(functions).join(functions);
    let any_callee_asks = functions.iter().any(|function| !function.is_kernel() && !function.repartitions.is_empty());
    let any_repartitions = functions.iter().any(|function| !function.repartitions.is_empty());
    let mut forecasts = Vec::with_capacity(functions.len());
    for (function, joined) in functions.iter().zip(joined) {
        if let Some(bounds) = &function.bounds {
            let holder = functions[joined.holder];
            let link_conflict =
                joined.callee.and_then(|callee| LinkConflict::of(bounds, functions[callee], case.architecture));
            let forecast = of_kernel(function, bounds, joined, holder, case, &mut models);
            let mut forecast = forecast.map_err(|error| error.in_function(&function.name))?;
            forecast.link_conflict = link_conflict;
            // A callee may release registers, so no shortage is reported if the kernel has calls and a callee requests
            // or releases registers.
            if !any_callee_asks || function.calls.is_empty() {
                forecast.register_shortage = register_shortage(function, bounds, case)?;
            }
            forecast.is_repartitioned |= any_repartitions && !function.calls.is_empty();
            forecasts.push(forecast);
        }
    }
    Ok(forecasts)
}

fn of_kernel(
    function: &Summary,
    bounds: &LaunchBounds,
    FunctionWithCallees { features, unknown_calls, callee_stack, .. }: FunctionWithCallees,
    holder: &Summary,
    case: &Case,
    models: &mut ModelCache,
) -> Result<Forecast, Error> {
    let threads = bounds.threads();
    let limit = register_limit(bounds, case)?;
    let allowed = limit.registers;
    let ModelOutput { registers: wanted, spilled } = models.forecast(&features, allowed, bounds);
    let (model, sizes) = (Model::registers(bounds), Model::spill_sizes());
    let held = carried(&features, case.architecture);
    let permuted = permutation::words(&features, case.architecture);
    let arrays = of_local_arrays(&features, bounds, allowed);
    let wanted = wanted.max(arrays.map_or(1.0, |arrays| arrays.0));
    let wanted = wanted.max(least(&features, model)).max(held).max(permutation::registers(permuted));
    let given_up = registers_for_warps(&features, model, bounds, case.architecture);
    let needed = given_up.unwrap_or_else(|| taken(wanted, model, bounds, case.architecture)).min(allowed);
    let (registers, likely_registers) = match (registers_at_entry(function, &limit, case.architecture), given_up) {
        (Some(entry), _) => (entry, (entry, entry)),
        (None, Some(_)) => (needed, (needed, allowed)),
        (None, None) => {
            let (fewest, most) = likely_registers(needed, model, allowed);
            let most = arrays.map_or(most, |arrays| most.max(arrays.1)).max(most_filled(&features).min(allowed));
            (needed, (fewest, most))
        }
    };
    let spilled =
        spilled.max(BYTES_OF_SPILLED_WORD * (held - f64::from(allowed))).max(permutation::spilled(permuted, allowed));
    let stored = words_up(spilled * sizes.head.share_of_stores);
    let loaded = words_up(spilled - f64::from(stored));
    let launch = launch(registers, threads, function.shared_bytes);
    let architecture = case.architecture;
    let capped = |feature: &str, cap: u32| (features.get(feature) as u32).min(cap);
    Ok(Forecast {
        name: function.name.clone(),
        registers,
        likely_registers,
        unknown_calls,
        link_conflict: None,
        predicates: capped("predicates", architecture.registers(RegisterFile::Predicate)),
        uniform_registers: function.uniform_words.min(architecture.uniform_registers),
        spill_store_bytes: stored,
        spill_load_bytes: loaded,
        likely_spill_bytes: likely_bytes(stored + loaded, sizes),
        stack_bytes: function.stack.bytes,
        stack_store_bytes: function.stack.stored,
        stack_load_bytes: function.stack.loaded,
        in_memory: function.in_memory.as_deref().cloned(),
        callee_stack_bytes: callee_stack,
        shared_bytes: function.shared_bytes,
        dynamic_shared_bytes: 0,
        register_limit: allowed,
        is_repartitioned: !function.repartitions.is_empty(),
        repartitions_itself: !function.repartitions.is_empty(),
        register_shortage: None,
        ignored: limit.ignored,
        threads,
        min_blocks: bounds.min_blocks,
        max_registers: bounds.max_registers,
        limited_to: None,
        occupancy: architecture.occupancy(&launch),
        next_step: architecture.next_step(&launch),
        holder: holder.name.clone(),
        curve: holder.pressure.curve.clone(),
        peak: holder.pressure.peak.clone(),
        features,
    })
}

/// Returns the expected registers of a kernel that wants `wanted` registers. ptxas reduces them to an occupancy step
/// that is near enough. The step depends on the registers and, if known, on the size of a block. Elsewhere ptxas mostly
/// takes even numbers, because pairs are aligned.
pub(super) fn taken(wanted: f64, model: &Model, bounds: &LaunchBounds, architecture: &Architecture) -> u32 {
    let threads = bounds.threads();
    let step_below = |registers| architecture.next_step(&launch(registers, threads, 0));
    let (nearest, multiple) = (wanted.round(), model.head.multiple.max(1.0));
    let multiple = (wanted / multiple).round() * multiple;
    match step_below(nearest as u32) {
        Some(step) if nearest - f64::from(step) <= model.step_reach(bounds) => step,
        below if below == step_below(multiple as u32) => multiple as u32,
        _ => nearest as u32,
    }
}

/// Bytes that a spilled loop-carried word moves at least: one store and one load.
const BYTES_OF_SPILLED_WORD: f64 = 8.0;

/// Rounds bytes to whole words.
fn words_up(bytes: f64) -> u32 {
    (bytes.max(0.0) / 4.0).round() as u32 * 4
}

/// Returns the registers with which a kernel with `setmaxnreg` is entered. ptxas reports this number whether or not all
/// are used. `None` if the kernel has no such request, or ptxas ignores the requests.
fn registers_at_entry(function: &Summary, limit: &RegisterLimit, architecture: &Architecture) -> Option<u32> {
    if function.repartitions.is_empty() {
        return None;
    }
    let calls_unknown = function.calls.iter().any(|call| call.callee.name().is_none());
    let circumstances = Circumstances { calls_unknown, ..Circumstances::default() };
    match architecture.registers_at_entry(limit, &function.repartitions, circumstances) {
        Ok(Entry::Registers(registers)) => Some(registers),
        Ok(Entry::Ignored(_)) | Err(_) => None,
    }
}

/// Returns the register request that waits for ever, with its line. `None` unless the kernel gives the size of its
/// blocks and ptxas honours its requests.
fn register_shortage(
    function: &Summary,
    bounds: &LaunchBounds,
    case: &Case,
) -> Result<Option<(RegisterShortage, u32)>, Error> {
    let (Some(threads), limit) = (bounds.threads(), register_limit(bounds, case)?) else { return Ok(None) };
    if registers_at_entry(function, &limit, case.architecture).is_none() {
        return Ok(None);
    }
    let shortage = case.architecture.register_shortage(threads, &limit, &function.repartitions);
    Ok(shortage.map(|shortage| (shortage, function.repartition_lines.get(shortage.request).copied().unwrap_or(0))))
}

/// Returns the kernel's register limit: what its bounds leave, reduced to the case's limit, which acts like `.maxnreg`
/// but never raises a smaller limit.
fn register_limit(bounds: &LaunchBounds, case: &Case) -> Result<RegisterLimit, Error> {
    let own = case.architecture.register_limit(bounds, &CommandLine::default())?;
    let limit = case.max_registers.map_or(MAX_REGISTERS, |limit| limit.max(MIN_REGISTER_LIMIT));
    if limit < own.registers {
        return Ok(RegisterLimit { registers: limit, decider: Decider::MaxRegisters, ..own });
    }
    Ok(own)
}

#[cfg(test)]
pub(in crate::forecast) mod tests {
    use super::*;
    use crate::config::KernelRegisterLimit;
    use crate::fuzzing::{Options, lowered_function};

    pub(in crate::forecast) fn case() -> Case {
        Case { architecture: Architecture::by_name("sm_90a").expect("a processor"), max_registers: None }
    }

    /// A forecast a few registers above an occupancy step becomes the step. Any other forecast becomes the nearest
    /// multiple within its step.
    #[test]
    fn steps() {
        let within = |bounds: LaunchBounds, table: &str, wanted: &[f64]| -> Vec<u32> {
            let model = Model::parse(table).expect("a table");
            wanted.iter().map(|&wanted| taken(wanted, &model, &bounds, case().architecture)).collect()
        };
        let of = |table: &str, wanted: &[f64]| within(LaunchBounds::default(), table, wanted);
        let wanted = [1.0, 31.4, 32.0, 33.0, 35.4, 35.6, 40.0, 43.0, 44.0, 255.0];
        assert_eq!(of("step-reach 3\ntree 1\n", &wanted), [1, 31, 32, 32, 32, 36, 40, 40, 44, 255]);
        let wanted = [20.9, 21.0, 21.1, 31.0, 32.4, 32.6, 34.9, 35.1, 39.0];
        assert_eq!(of("step-reach 1\nmultiple 2\ntree 1\n", &wanted), [20, 22, 22, 32, 32, 32, 34, 36, 40]);
        assert_eq!(of("step-reach 0\nmultiple 3\ntree 1\n", &[32.0, 32.6]), [32, 33]);
        let of_size = LaunchBounds { max_threads: Some(128), ..LaunchBounds::default() };
        let of_blocks = LaunchBounds { min_blocks: Some(2), ..of_size };
        let of = |bounds| within(bounds, "step-reach 1\nstep-reach-with-size 3\ntree 1\n", &[33.0, 35.0, 36.0]);
        assert_eq!([of_size, of_blocks].map(of), [[32, 32, 36], [32, 35, 36]]);
        // An SM holds 32 blocks of 32 threads with up to 64 registers. It holds as many blocks of 256 threads with 64
        // registers as with 56.
        let of_threads = |threads| LaunchBounds { required_threads: Some(threads), ..LaunchBounds::default() };
        let table = "step-reach 1\nstep-reach-with-size 6\nmultiple 2\ntree 1\n";
        assert_eq!(within(of_threads(32), table, &[36.0, 43.0, 68.0, 71.0]), [36, 44, 64, 72]);
        assert_eq!(within(of_threads(256), table, &[43.0, 59.0, 68.0]), [40, 60, 64]);
    }

    /// Forecasts a kernel that takes 96 registers and releases all but 40.
    fn repartitioned(bounds: LaunchBounds, callee: bool) -> Forecast {
        let text = "mfv 1\nfunction \"k\"\nopcode INLINEASM\nopcode CALL\n@0 = \"&setmaxnreg.inc.sync.aligned.u32 96;\"\n\
                    @1 = \"&setmaxnreg.dec.sync.aligned.u32 40;\"\n@2 = \"@k\"\nbb0: frequency 1.0 depth 0\n";
        let asks = format!("{text}  INLINEASM @0, 1\n  INLINEASM @1, 1\nend\n");
        let calls = format!("{text}  CALL @2 :: call_sequence\nend\n");
        let parse = |text: &str| Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let kernel = |text: &str| Function { kernel: Some(bounds), ..parse(text) };
        let functions = if callee {
            let name = calls.replace("function \"k\"", "function \"caller\"");
            vec![kernel(&name), parse(&asks)]
        } else {
            vec![kernel(&asks)]
        };
        forecast_by_name(&functions, &case()).expect("a forecast").swap_remove(0)
    }

    /// A kernel that requests registers is entered with the registers that its bounds leave, or with the registers that
    /// an increase requests. If neither determines a number, ptxas ignores the requests, and the kernel has the
    /// registers that it needs.
    #[test]
    fn registers_that_a_kernel_is_entered_with() {
        let registers = |bounds| repartitioned(bounds, false).registers;
        let threads = LaunchBounds { max_threads: Some(256), ..LaunchBounds::default() };
        assert_eq!(registers(LaunchBounds { min_blocks: Some(1), ..threads }), 96);
        assert_eq!(registers(LaunchBounds { max_registers: Some(64), ..threads }), 64);
        assert!(registers(threads) < 40);
        assert!(registers(LaunchBounds::default()) < 40);
    }

    /// A compiler's summary gives the same figures as a detailed summary of each kernel alone. Models do not use the
    /// features that only reports compute.
    #[test]
    fn figures_need_no_details() {
        let for_reports = ["invariant_words", "inner_invariant_words"];
        for model in Model::all() {
            assert!(!model.features.iter().any(|name| for_reports.contains(&&**name)));
        }
        arbtest::arbtest(|u| {
            let kernel = |function| Function { kernel: Some(LaunchBounds::default()), ..function };
            let [a, b] =
                [lowered_function(u, &Options::default())?, lowered_function(u, &Options::default())?].map(kernel);
            let functions = [a.clone(), b, a];
            let summaries: Vec<Summary> = functions.iter().map(Summary::by_name).collect();
            let small = forecast_module(&summaries.iter().collect::<Vec<_>>(), &case()).expect("forecasts");
            for (function, small) in functions.iter().zip(small) {
                let mut whole =
                    forecast_by_name(std::slice::from_ref(function), &case()).expect("a forecast").swap_remove(0);
                for_reports.iter().for_each(|name| whole.features.set(name, 0.0));
                assert_eq!((whole.figures(), &whole.features), (small.figures(), &small.features), "{function}");
                assert!(small.curve.words.is_empty() && small.peak.live.is_empty());
            }
            Ok(())
        })
        .budget_ms(1_000);
    }

    /// A limit would make ptxas honour requests that it ignores otherwise, so kernels with requests, their own or a
    /// callee's, get no limit.
    #[test]
    fn no_limit_beside_requests() {
        let threads = LaunchBounds { max_threads: Some(256), ..LaunchBounds::default() };
        for callee in [false, true] {
            let forecast = repartitioned(threads, callee);
            assert_eq!((forecast.is_repartitioned, forecast.repartitions_itself), (true, !callee));
            assert_eq!(forecast.limit(KernelRegisterLimit::Most(40)), None);
        }
        let text = "mfv 1\nfunction \"k\"\nbb0: frequency 1.0 depth 0\nend\n";
        let kernel = Function { kernel: Some(threads), ..Function::parse(text).expect("a view") };
        assert!(!forecast_by_name(&[kernel], &case()).expect("a forecast")[0].is_repartitioned);
    }
}
