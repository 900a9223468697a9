//! The report as a page for a browser.
//!
//! A kernel takes some 15 to 30 kB of a page, and at most about 250 kB for any length of code. Curves have at most
//! [`nvptx_ra::forecast::MAX_STEPS`] steps, and lists and excerpts of source are truncated.

mod figures;
mod machine_pressure;
mod machine_source;
mod occupancy;
mod overview;
mod pressure;
mod sass;
mod source;
#[cfg(test)]
mod tests;

use maud::{Markup, html};
use nvptx_ra::forecast::Forecast;

pub(super) use self::sass::page as sass;
use super::Report;
use super::lines::{by_line, has_lines};
use super::table::short;
use crate::kernel_names;
use crate::page::{ALL_SHOWN, counted, shell};

/// Returns the page. The same report gives the same bytes.
pub(super) fn page(report: &Report) -> String {
    let title = format!("{} on {}", short(&report.input), report.architecture.name);
    let said = html! {
        p {
            "Forecast of ptxas's results for " (counted(report.forecasts.len(), "kernel")) ": registers, "
            "spills, and warps on a multiprocessor (SM). Made by nvptx-ra "
            (nvptx_ra::VERSION) "; ptxas was "
            @if report.measured.is_none() { "not run." } @else { "run, too." }
        }
    };
    let kernels = html! {
        @if report.forecasts.len() > 1 { (overview::overview(report)) }
        @let most = report.forecasts.iter().map(|forecast| forecast.registers).max();
        @let first = report.forecasts.iter().position(|forecast| Some(forecast.registers) == most);
        @for (number, forecast) in report.forecasts.iter().enumerate() {
            @let is_open = report.forecasts.len() <= ALL_SHOWN || first == Some(number);
            (kernel(report, number, forecast, is_open))
        }
    };
    shell(&title, &said, &kernels)
}

/// Shows one kernel: first its figures and its occupancy, then the pressure next to the source.
fn kernel(report: &Report, number: usize, forecast: &Forecast, is_open: bool) -> Markup {
    let function = report.code.functions.iter().find(|function| function.name() == forecast.holder);
    html! {
        details open[is_open] {
            summary title=(forecast.name) {
                (kernel_names::readable(&forecast.name))
                span.brief {
                    (counted(forecast.registers as usize, "register")) ", "
                    (forecast.occupancy.warps) "/" (report.architecture.max_warps) " warps"
                    @if forecast.spill_bytes() > 0 {
                        ", " (counted(forecast.spill_bytes() as usize, "byte")) " spilled"
                    }
                }
            }
            // The id is on an inner element, so that a link to it opens the kernel.
            div.panels id=(format!("k{number}")) {
                section { h2 { "Forecast" } (figures::figures(report, forecast)) }
                section { h2 { "Occupancy" } (occupancy::occupancy(&forecast.launch(), report.architecture)) }
                @if let Some(function) = function {
                    @let lines = by_line(&forecast.peak);
                    section {
                        h2 { "Pressure along the code" }
                        @if forecast.holder != forecast.name {
                            p {
                                "Of " code { (kernel_names::readable(&forecast.holder)) }
                                ", a callee that needs more registers."
                            }
                        }
                        (pressure::pressure(forecast, function, &lines))
                    }
                    @if has_lines(function) {
                        section { h2 { "Source" } (source::source(forecast, function, &lines)) }
                    }
                }
            }
        }
    }
}
