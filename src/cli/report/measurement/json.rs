//! Formats the measurement as JSON, in the forecast's schema. The field `measured` distinguishes measurements from
//! forecasts.

use nvptx_ra::forecast::Forecast;
use serde_json::{Value, json};

use super::Measurement;
use super::allocation::HighestRegisterReason;
use super::kernel::{Kernel, LiveRegister, Point};
use super::table::{instruction, reasons};
use crate::machine::life_ranges::Kind;

/// Returns the object of one cubin: the processor, and `kernels`.
pub(in super::super) fn object(measurement: &Measurement, forecasts: &[Forecast]) -> Value {
    let of = |kernel: &Kernel| {
        let forecast = forecasts.iter().find(|forecast| forecast.name == kernel.name);
        kernel_object(measurement, kernel, forecast)
    };
    let kernels: Vec<Value> = measurement.kernels.iter().map(of).collect();
    json!({
        "version": nvptx_ra::VERSION, "measured": true, "processor": measurement.architecture.name, "kernels": kernels,
    })
}

fn kernel_object(measurement: &Measurement, kernel: &Kernel, forecast: Option<&Forecast>) -> Value {
    let occupancy = measurement.occupancy(kernel);
    let allocation = &kernel.allocation;
    let own_line = kernel.peak.point.places.first().copied();
    let (local, spills) = (&kernel.local, kernel.spills());
    let lines: Vec<Value> = kernel
        .lines
        .iter()
        .map(|(&place, of)| {
            json!({
                "file": measurement.file(place), "line": place.line, "instructions": of.instructions, "live": of.live,
                "held_at_peak": of.held, "loop_depth": of.depth, "local_store_bytes": of.local_stored,
                "local_load_bytes": of.local_loaded,
            })
        })
        .collect();
    let local_lines: Vec<Value> = local
        .lines
        .iter()
        .map(|line| {
            json!({
                "file": line.place.map(|place| measurement.file(place)), "line": line.place.map(|place| place.line),
                "loop_depth": line.depth, "store_bytes": line.stored, "load_bytes": line.loaded,
                "marked_bytes": line.marked, "computed_address_bytes": line.computed,
            })
        })
        .collect();
    let calls: Vec<Value> = kernel
        .calls
        .iter()
        .map(|call| json!({ "function": call.callee, "loop_depth": call.depth, "at": point(measurement, &call.point) }))
        .collect();
    let mut object = json!({
        "name": kernel.name,
        "measured": true,
        "is_kernel": kernel.facts.is_kernel,
        "registers": kernel.registers(),
        "live_registers": kernel.live[0],
        "disassembler_live_registers": kernel.counted,
        "named_registers": allocation.named,
        "highest_register": allocation.end.checked_sub(1),
        "highest_because": allocation.top.map(|top| json!({
            "width": top.width, "at": kernel.top.as_ref().map(|top| point(measurement, top)),
            "cause": match top.why { HighestRegisterReason::Full => "full", HighestRegisterReason::Alignment => "alignment", HighestRegisterReason::Choice => "choice" },
        })),
        "registers_because": reasons(measurement, kernel),
        "predicates": kernel.live[1],
        "uniform_registers": kernel.live[2],
        "uniform_predicates": kernel.live[3],
        "spill_store_bytes": spills.known().map(|_| spills.stored),
        "spill_load_bytes": spills.known().map(|_| spills.loaded),
        "local_store_bytes": local.stored,
        "local_load_bytes": local.loaded,
        "marked_spill_store_bytes": local.marked_stored,
        "marked_spill_load_bytes": local.marked_loaded,
        "stack_bytes": kernel.stack_bytes(),
        "marked_spill_stack_bytes": local.marked_places,
        "shared_bytes": kernel.facts.shared,
        "dynamic_shared_bytes": kernel.dynamic_shared,
        "instructions": kernel.instructions,
        "threads": kernel.facts.threads,
        "occupancy_warps": occupancy.warps,
        "limited_by": occupancy.limits.to_string(),
        "next_step_registers": measurement.next_step(kernel),
        "peak": {
            "function": kernel.name, "file": own_line.map(|place| measurement.file(place)),
            "line": own_line.map(|place| place.line), "words": kernel.live[0],
            "instruction": kernel.peak.point.row, "at": point(measurement, &kernel.peak.point),
            "loop_depth": kernel.peak.depth,
            "live": kernel.peak.held.iter().map(|held| live(measurement, held)).collect::<Vec<_>>(),
        },
        "lines": lines,
        "local": local_lines,
        "calls": calls,
        "forecast": forecast.map(|forecast| json!({
            "registers": forecast.registers, "spill_store_bytes": forecast.spill_store_bytes,
            "spill_load_bytes": forecast.spill_load_bytes, "words": forecast.peak.words, "line": forecast.peak.line,
        })),
    });
    if let Some(executed) = super::executed::object(measurement, &kernel.executed) {
        object["executed"] = executed;
    }
    object["spills_from"] = spills.source.name().into();
    object["fixed_place_store_bytes"] = local.fixed_stored.into();
    object["fixed_place_load_bytes"] = local.fixed_loaded.into();
    object
}

/// Returns an instruction as JSON: its offset, its text, and its source lines, the innermost inlined function first.
fn point(measurement: &Measurement, point: &Point) -> Value {
    let lines: Vec<Value> =
        point.places.iter().map(|&place| json!({ "file": measurement.file(place), "line": place.line })).collect();
    json!({ "offset": point.offset, "text": instruction(&point.text), "lines": lines })
}

/// Returns a register that is live at the peak, in the schema of the forecast's values.
fn live(measurement: &Measurement, held: &LiveRegister) -> Value {
    let written = held.written.as_ref();
    let place = written.and_then(|point| point.places.first().copied());
    json!({
        "register": format!("{}{}", held.kind.prefix(), held.number), "name": null,
        "file": place.map(|place| measurement.file(place)), "line": place.map(|place| place.line), "words": 1,
        "uniform": held.kind == Kind::Uniform, "written": written.map(|point| point.offset), "writes": held.writes,
    })
}
