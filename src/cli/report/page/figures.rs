//! The figures of a kernel, each with an explanation.

use maud::{Markup, html};
use nvptx_ra::forecast::Forecast;
use nvptx_ra::target::machine::{DEFAULT_THREADS, MAX_REGISTERS};

use super::super::Report;
use crate::page::grouped;

/// Formats a list: name, value, and a remark.
pub(super) fn figures(report: &Report, forecast: &Forecast) -> Markup {
    let ptxas_report = report.measured.as_ref().and_then(|measured| measured.get(&forecast.name));
    html! {
        table.figures {
            @for (name, value, remark) in rows(report, forecast) {
                tr { th { (name) } td.number { (value) } td.remark { (remark) } }
            }
            @if let Some(ptxas_report) = ptxas_report {
                @let spilled = ptxas_report.spill_store_bytes + ptxas_report.spill_load_bytes;
                tr {
                    th { "ptxas says" }
                    td.number { (ptxas_report.registers) }
                    td.remark { "registers, and " (grouped(u64::from(spilled))) " bytes of spills" }
                }
            }
        }
        @for ignored in &forecast.ignored { p.note { "ptxas ignores: " (ignored) "." } }
        @if forecast.is_at_least() {
            p.note { "At least: it " (forecast.unknown_callees_text()) "." }
        }
        @if let Some(conflict) = &forecast.link_conflict { p.note { (conflict) "." } }
        @if let Some(cause) = &forecast.in_memory { p.note { "Stack: " (cause) "." } }
    }
}

fn rows(report: &Report, forecast: &Forecast) -> Vec<(&'static str, String, String)> {
    let (least, most) = forecast.bound_signs();
    let of = match forecast.register_limit {
        MAX_REGISTERS => format!("of {MAX_REGISTERS} that a thread can have"),
        register_limit => format!("of {register_limit}, by launch bounds or a limit"),
    };
    let spills = match (forecast.spill_store_bytes, forecast.spill_load_bytes) {
        (0, 0) => "bytes; none expected".to_owned(),
        (stored, loaded) => {
            let (least, most) = forecast.likely_spill_bytes;
            format!("bytes: {stored} stored and {loaded} loaded by a thread; likely {least} to {most} in all")
        }
    };
    let threads = match forecast.threads {
        Some(threads) => (threads.to_string(), "threads, by the kernel's bounds".to_owned()),
        None => (DEFAULT_THREADS.to_string(), "threads, assumed without launch bounds".to_owned()),
    };
    let shared = match forecast.dynamic_shared_bytes {
        0 => "bytes of a block, static".to_owned(),
        bytes => format!("bytes of a block, {} of the launch", grouped(u64::from(bytes))),
    };
    let stack = match forecast.callee_stack_bytes {
        0 => "bytes of a thread, by the code itself".to_owned(),
        bytes => format!("bytes of a thread, by the code itself; {} in its callees", grouped(bytes)),
    };
    let warps = format!("of {} on an SM; limited by {}", report.architecture.max_warps, forecast.occupancy.limits);
    vec![
        ("registers", format!("{least}{}", forecast.registers), of),
        ("likely", forecast.likely_text(), "registers of four of five kernels with this forecast".into()),
        ("spills", format!("{least}{}", grouped(u64::from(forecast.spill_bytes()))), spills),
        ("warps", format!("{most}{}", forecast.occupancy.warps), warps),
        ("block", threads.0, threads.1),
        ("shared memory", grouped(forecast.block_shared_bytes()), shared),
        ("stack", format!("{least}{}", grouped(forecast.stack_bytes + forecast.callee_stack_bytes)), stack),
        ("predicates", forecast.predicates.to_string(), "live at once".into()),
        ("uniform words", forecast.uniform_registers.to_string(), "live at once, the same in a whole warp".into()),
    ]
}
