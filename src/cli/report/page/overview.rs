//! A summary table of all kernels.

use maud::{Markup, html};
use nvptx_ra::forecast::Forecast;
use nvptx_ra::target::machine::MAX_REGISTERS;

use super::super::Report;
use crate::kernel_names;
use crate::page::{bar, grouped};

/// Formats a row for each kernel, with a link to it.
pub(super) fn overview(report: &Report) -> Markup {
    html! {
        div.overview {
            table {
                thead {
                    tr {
                        th.name { "kernel" }
                        th colspan="2" { "registers" br; small { "of a thread" } }
                        th.number { "spills" br; small { "bytes" } }
                        th.number { "stack" br; small { "bytes" } }
                        th.number { "shared" br; small { "bytes" } }
                        th colspan="2" { "warps" br; small { "on an SM" } }
                        th { "limited by" }
                        @if report.measured.is_some() {
                            th.number { "registers" br; small { "ptxas" } }
                            th.number { "spills" br; small { "ptxas, bytes" } }
                        }
                    }
                }
                tbody {
                    @for (number, forecast) in report.forecasts.iter().enumerate() { (row(report, number, forecast)) }
                }
            }
        }
    }
}

fn row(report: &Report, number: usize, forecast: &Forecast) -> Markup {
    let spilled = u64::from(forecast.spill_bytes());
    let ptxas_report = report.measured.as_ref().and_then(|measured| measured.get(&forecast.name));
    let (least, most) = forecast.bound_signs();
    html! {
        tr {
            td { a href=(format!("#k{number}")) title=(forecast.name) { (kernel_names::short(&forecast.name)) } }
            td.number { (least) (forecast.registers) }
            td { (bar(forecast.registers, MAX_REGISTERS)) }
            td.number.warning[spilled > 0] { (least) (grouped(spilled)) }
            td.number { (least) (grouped(forecast.stack_bytes + forecast.callee_stack_bytes)) }
            td.number { (grouped(forecast.block_shared_bytes())) }
            td.number { (most) (forecast.occupancy.warps) "/" (report.architecture.max_warps) }
            td { (bar(forecast.occupancy.warps, report.architecture.max_warps)) }
            td { (forecast.occupancy.limits) }
            @if report.measured.is_some() {
                td.number { @if let Some(ptxas_report) = ptxas_report { (ptxas_report.registers) } }
                td.number {
                    @if let Some(ptxas_report) = ptxas_report { (grouped(u64::from(ptxas_report.spill_store_bytes + ptxas_report.spill_load_bytes))) }
                }
            }
        }
    }
}
