//! The report as one JSON object.

use nvptx_ra::forecast::{FEATURES, Forecast, LiveValue};
use serde_json::{Map, Value, json};

use super::Report;

/// Returns the object: the processor, and `kernels` in the module's order.
pub(super) fn object(report: &Report, with_features: bool) -> Value {
    let kernels: Vec<Value> = report
        .forecasts
        .iter()
        .map(|forecast| {
            let mut kernel = kernel(forecast, report.code.cycles(forecast));
            kernel["slots"] = report.slots.get(&forecast.name).map_or(
                Value::Null,
                |slots| json!({ "values": slots.values, "bytes": slots.bytes, "cache_given_up": slots.cache_given_up }),
            );
            if with_features {
                let values = FEATURES.iter().zip(forecast.features.values());
                let features: Map<_, _> =
                    values.map(|(feature, &value)| (feature.name.to_owned(), value.into())).collect();
                kernel["features"] = features.into();
            }
            if let Some(ptxas_report) = report.measured.as_ref().and_then(|measured| measured.get(&forecast.name)) {
                kernel["ptxas"] = json!({
                    "registers": ptxas_report.registers, "spill_store_bytes": ptxas_report.spill_store_bytes,
                    "spill_load_bytes": ptxas_report.spill_load_bytes, "stack_bytes": ptxas_report.stack_bytes,
                });
            }
            kernel
        })
        .collect();
    json!({ "version": nvptx_ra::VERSION, "processor": report.architecture.name, "kernels": kernels })
}

fn kernel(forecast: &Forecast, cycles: Option<f64>) -> Value {
    let peak = &forecast.peak;
    let live = |value: &LiveValue| {
        json!({
            "register": value.holder.to_string(), "name": value.name, "line": line(value.line), "words": value.words,
            "uniform": value.is_uniform,
        })
    };
    json!({
        "name": forecast.name,
        "registers": forecast.registers,
        "likely_registers": forecast.likely_registers,
        "at_least": forecast.is_at_least(),
        "at_least_because": forecast.unknown_calls.iter().map(|call| call.callee.to_string()).collect::<Vec<_>>(),
        "compiled_apart": forecast.link_conflict.as_ref().map(|conflict| {
            json!({
                "function": conflict.function, "words": conflict.words, "registers": conflict.registers,
                "limit": conflict.limit,
            })
        }),
        "predicates": forecast.predicates,
        "uniform_registers": forecast.uniform_registers,
        "spill_store_bytes": forecast.spill_store_bytes,
        "spill_load_bytes": forecast.spill_load_bytes,
        "likely_spill_bytes": forecast.likely_spill_bytes,
        "stack_bytes": forecast.stack_bytes,
        "stack_store_bytes": forecast.stack_store_bytes,
        "stack_load_bytes": forecast.stack_load_bytes,
        "stack_because": forecast.in_memory.as_ref().map(|cause| {
            json!({
                "variable": cause.variable, "declared": line(cause.declared), "line": line(cause.line),
                "text": cause.to_string(),
            })
        }),
        "callee_stack_bytes": forecast.callee_stack_bytes,
        "shared_bytes": forecast.shared_bytes,
        "dynamic_shared_bytes": forecast.dynamic_shared_bytes,
        "estimated_cycles": cycles,
        "threads": forecast.threads,
        "min_blocks": forecast.min_blocks,
        "budget": forecast.register_limit,
        "occupancy_warps": forecast.occupancy.warps,
        "limited_by": forecast.occupancy.limits.to_string(),
        "next_step_registers": forecast.next_step,
        "peak": {
            "function": forecast.holder, "line": line(peak.line), "words": peak.words, "instruction": peak.inst.0,
            "live": peak.live.iter().map(live).collect::<Vec<_>>(),
        },
    })
}

/// Returns a line, or null if it is unknown.
fn line(line: u32) -> Value {
    if line == 0 { Value::Null } else { line.into() }
}
