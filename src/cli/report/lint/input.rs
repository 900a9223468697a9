//! The lint rules' input for a kernel, from a measurement or from a forecast.

use std::collections::BTreeMap;

use nvptx_ra::error::Error;
use nvptx_ra::lint::Place;
use nvptx_ra::lint::input::{Callee, HOLDERS, LintInput, RegisterHolder};
use nvptx_ra::lint::source::Source;

use super::super::Report;
use super::super::measurement::{Kernel, Measurement, table};
use crate::machine::source_lines;

/// Returns the kernels of a report, with forecast figures.
pub(in super::super) fn of_forecasts(report: &Report) -> Result<Vec<LintInput<'_>>, Error> {
    let sources: BTreeMap<&str, Source> = report.code.iter().map(|code| (code.0.name(), Source::of(code))).collect();
    let input =
        |forecast| LintInput::of_forecast(forecast, report.architecture, &report.input, |name| sources.get(name));
    report.forecasts.iter().map(input).collect()
}

/// Returns the kernels of a cubin, with measured figures. `report` is the forecast of the same kernels.
pub(in super::super) fn of_measurement<'a>(
    measurement: &'a Measurement,
    report: Option<&'a Report>,
) -> Result<Vec<LintInput<'a>>, Error> {
    let forecasts = report.map(of_forecasts).transpose()?.unwrap_or_default();
    let kernels = measurement.kernels.iter().filter(|kernel| kernel.facts.is_kernel);
    Ok(kernels
        .map(|kernel| {
            let forecast = forecasts.iter().find(|input| input.name == kernel.name);
            of_kernel(measurement, kernel, forecast)
        })
        .collect())
}

/// Returns the source line of machine code, or only the measured file if the line is unknown.
pub(in super::super) fn place(measurement: &Measurement, place: Option<source_lines::Place>) -> Place {
    match place {
        Some(place) => Place { file: measurement.file(place).to_owned(), line: place.line },
        None => Place { file: measurement.input.clone(), line: 0 },
    }
}

fn of_kernel<'a>(measurement: &'a Measurement, kernel: &'a Kernel, forecast: Option<&LintInput<'a>>) -> LintInput<'a> {
    let place = |of| place(measurement, of);
    let local = &kernel.local.lines;
    let holders = table::by_line(kernel);
    let holders = holders.iter().filter(|(line, _)| line.is_some()).take(HOLDERS);
    let mut spill_lines: Vec<(source_lines::Place, u32)> = Vec::new();
    for (line, bytes) in kernel.local.spills() {
        match spill_lines.iter_mut().find(|(other, _)| *other == line) {
            Some((_, sum)) => *sum += bytes,
            None => spill_lines.push((line, bytes)),
        }
    }
    let begin = kernel.begin.map(|begin| place(Some(begin)));
    LintInput {
        name: &kernel.name,
        architecture: measurement.architecture,
        begin: begin.or_else(|| forecast.map(|input| input.begin.clone())).unwrap_or_else(|| place(None)),
        is_measured: true,
        launch: Measurement::launch(kernel, kernel.dynamic_shared),
        has_bounds: match forecast {
            Some(input) => input.has_bounds,
            None => kernel.facts.threads.is_some() || kernel.facts.max_registers.is_some(),
        },
        limit: forecast.map_or(kernel.facts.max_registers, |input| input.limit),
        spill_bytes: kernel.spills().least,
        spills: place(local.iter().find(|line| line.marked > 0).or(local.first()).and_then(|line| line.place)),
        spill_lines: spill_lines.into_iter().map(|(line, bytes)| (place(Some(line)), bytes)).collect(),
        peak: place(kernel.peak.point.places.first().copied()),
        holders: holders
            .map(|(line, held)| {
                let place = place(*line);
                let forecast = forecast.and_then(|input| input.holders.iter().find(|other| other.place == place));
                RegisterHolder { held: held.len() as u32, times: forecast.map_or(0, |forecast| forecast.times), place }
            })
            .collect(),
        stack_bytes: kernel.stack_bytes().into(),
        in_memory: forecast.and_then(|input| input.in_memory),
        computed: local.iter().find(|line| line.computed > 0).map(|line| place(line.place)),
        calls: kernel
            .calls
            .iter()
            .map(|call| {
                let callee = call.callee.as_deref().map_or(Callee::Pointer, Callee::named);
                (callee, place(call.point.places.first().copied()))
            })
            .collect(),
        ignored: forecast.map_or(&[], |input| input.ignored),
        register_shortage: forecast.and_then(|input| input.register_shortage.clone()),
        wrong_loops: forecast.map_or_else(Vec::new, |input| input.wrong_loops.clone()),
        ignores_repartition: forecast.is_some_and(|input| input.ignores_repartition),
    }
}
