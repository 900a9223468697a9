//! The page of a measurement: the registers along the machine code next to the source, and the forecast in the same
//! plot.

use maud::{Markup, html};
use nvptx_ra::forecast::Forecast;

use super::super::measurement::spills::SpillSource;
use super::super::measurement::table::reasons;
use super::super::measurement::{Kernel, Measurement};
use super::super::sass::MeasuredInput;
use super::super::table::short;
use super::{machine_pressure, machine_source, occupancy};
use crate::kernel_names;
use crate::page::{ALL_SHOWN, counted, grouped, shell};

/// Returns the page. The same measurement gives the same bytes.
pub(in super::super) fn page(measured: &MeasuredInput) -> String {
    let forecasts = measured.report.as_ref().map_or(&[][..], |report| &report.forecasts);
    let first = measured.measurements.first();
    let processors: Vec<&str> = measured.measurements.iter().map(|measurement| measurement.architecture.name).collect();
    let title = format!("{} on {}", first.map_or("", |measurement| short(&measurement.input)), processors.join(", "));
    let kernels = || {
        measured
            .measurements
            .iter()
            .flat_map(|measurement| measurement.kernels.iter().map(move |kernel| (measurement, kernel)))
    };
    let count = kernels().count();
    let said = html! {
        p {
            "Measurement of ptxas's code for " (counted(count, "kernel")) ": the registers that are live at every machine "
            "instruction, measured with nvdisasm by nvptx-ra " (nvptx_ra::VERSION) "."
            @if !forecasts.is_empty() { " The forecast of the same kernels is beside it." }
        }
    };
    let most = kernels().map(|(_, kernel)| kernel.registers()).max();
    let open = kernels().position(|(_, kernel)| Some(kernel.registers()) == most);
    let rest = html! {
        @for (number, (measurement, kernel)) in kernels().enumerate() {
            @let forecast = forecasts.iter().find(|forecast| forecast.name == kernel.name);
            (one(measurement, kernel, forecast, number, count <= ALL_SHOWN || open == Some(number)))
        }
    };
    shell(&title, &said, &rest)
}

/// Shows a kernel: first figures and occupancy, then the machine code next to the source.
fn one(
    measurement: &Measurement,
    kernel: &Kernel,
    forecast: Option<&Forecast>,
    number: usize,
    is_open: bool,
) -> Markup {
    html! {
        details open[is_open] {
            summary title=(kernel.name) {
                (kernel_names::readable(&kernel.name))
                span.brief {
                    (counted(kernel.registers() as usize, "register")) ", " (kernel.live[0]) " live at most, "
                    (measurement.occupancy(kernel).warps) "/" (measurement.architecture.max_warps) " warps"
                    @if let Some(bytes) = kernel.spills().known().filter(|&bytes| bytes > 0) {
                        ", " (counted(bytes as usize, "byte")) " spilled"
                    }
                }
            }
            div.panels id=(format!("k{number}")) {
                section { h2 { "Measured" } (figures(measurement, kernel, forecast)) }
                section {
                    h2 { "Occupancy" }
                    (occupancy::occupancy(&Measurement::launch(kernel, kernel.dynamic_shared), measurement.architecture))
                }
                section { h2 { "Live registers along the machine code" } (machine_pressure::pressure(measurement, kernel, forecast)) }
                @if measurement.has_lines { section { h2 { "Source" } (machine_source::source(measurement, kernel)) } }
            }
        }
    }
}

/// Formats the measured figures next to the forecast's figures.
fn figures(measurement: &Measurement, kernel: &Kernel, forecast: Option<&Forecast>) -> Markup {
    let occupancy = measurement.occupancy(kernel);
    let number = |number: u32| grouped(u64::from(number));
    let spills = kernel.spills();
    let by = match spills.source {
        SpillSource::Ptxas => "bytes, by ptxas's figures",
        SpillSource::Marks => "bytes, by ptxas's marks",
        SpillSource::FixedPlaces => "bytes at fixed places of the stack, which may be arrays",
    };
    let expected = |of: fn(&Forecast) -> u32| forecast.map_or(String::new(), |forecast| number(of(forecast)));
    let rows = [
        ("registers", number(kernel.registers()), expected(|of| of.registers), "of a thread".to_owned()),
        ("live at most", number(kernel.live[0]), expected(|of| of.peak.words), "general registers".to_owned()),
        (
            "spills",
            spills.known().map_or_else(|| format!("≤ {}", number(spills.most())), number),
            expected(Forecast::spill_bytes),
            by.to_owned(),
        ),
        (
            "local memory",
            number(kernel.local.stored + kernel.local.loaded),
            String::new(),
            format!("bytes: {} stored, {} loaded", number(kernel.local.stored), number(kernel.local.loaded)),
        ),
        ("stack", number(kernel.stack_bytes()), expected(|of| of.stack_bytes as u32), kernel.stack_text()),
        (
            "warps",
            number(occupancy.warps),
            expected(|of| of.occupancy.warps),
            format!("of {} on an SM; limited by {}", measurement.architecture.max_warps, occupancy.limits),
        ),
        ("predicates", number(kernel.live[1]), expected(|of| of.predicates), "live at most".to_owned()),
        (
            "uniform",
            number(kernel.live[2]),
            expected(|of| of.uniform_registers),
            "uniform registers live at most".to_owned(),
        ),
        ("instructions", number(kernel.instructions), String::new(), "NOPs included".to_owned()),
    ];
    html! {
        table.figures {
            @if forecast.is_some() {
                tr { th {} td.remark { "measured" } td.remark { "forecast" } td {} }
            }
            @for (name, value, expected, remark) in rows {
                tr {
                    th { (name) } td.number { (value) }
                    @if forecast.is_some() { td.number.remark { (expected) } }
                    td.remark { (remark) }
                }
            }
        }
        @for reason in reasons(measurement, kernel) { p.note { (reason) "." } }
    }
}
