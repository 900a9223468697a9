//! `nvptx-ra report --sass`: measures the inputs, and prints the results in the forecasts' formats.

use std::path::Path;
use std::process::ExitCode;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::forecast::Forecast;
use nvptx_ra::lint::Finding;
use serde_json::Value;

use super::baseline::Comparison;
use super::lint;
use super::measurement::input::{MACHINE_CODE, of_machine_code, of_ptx};
use super::measurement::{Measurement, difference, json, table};
use super::{Arguments, Report, baseline, compare, page};
use crate::input::{FUNCTIONS, Input};
use crate::{dynamic_shared, kernel_names, of_kernels};

/// A measured input.
pub(super) struct MeasuredInput {
    /// The forecast of the same kernels; `None` for machine code.
    pub(super) report: Option<Report>,
    /// One measurement for each cubin of the file.
    pub(super) measurements: Vec<Measurement>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.diff && arguments.inputs.len() != 2 {
        let problem = format!("--diff: two builds are compared, and {} are given", arguments.inputs.len());
        return Err(Error::new(ErrorKind::Option, problem, "name the old one, then the new one"));
    }
    let mut measured = Vec::new();
    let (mut failed, mut is_blind) = (false, false);
    for path in &arguments.inputs {
        match measure(path, arguments) {
            Ok(of) => measured.push(of),
            Err(error) if arguments.inputs.len() == 1 || arguments.diff => return Err(error),
            Err(error) => {
                say!("{error}");
                failed = true;
            }
        }
    }
    choose_kernels(&mut measured, arguments)?;
    if let (true, [old, new]) = (arguments.diff, &*measured) {
        return difference::print(&old.measurements, &new.measurements, arguments.json);
    }
    let findings = findings(&measured, arguments)?;
    let object = object(&measured, arguments, &findings);
    if arguments.json {
        crate::print(format!("{object:#}\n").as_bytes())?;
    } else if !arguments.lints.replaces_report() {
        print(&measured)?;
    }
    if let (Some(path), [of]) = (&arguments.html, &*measured) {
        crate::output::write(path, page::sass(of).as_bytes())?;
    }
    if let Some(path) = &arguments.baseline {
        let files: Vec<baseline::File> = measurements(&measured).map(|(measurement, _)| file(measurement)).collect();
        let Comparison { growths, is_blind: is_incomparable, before } = baseline::compare(path, &object, &files)?;
        failed |= !growths.is_empty();
        is_blind |= is_incomparable;
        lint::print_growths(&growths, &arguments.lints)?;
        failed |= lint::print(&lint::known::unknown(findings.concat(), &before), &arguments.lints)?;
    } else if arguments.lints.is_on() {
        failed |= lint::print(&findings.concat(), &arguments.lints)?;
    }
    if arguments.fail_on_spill {
        for kernel in measurements(&measured).flat_map(|(measurement, _)| &measurement.kernels) {
            let (spills, name) = (kernel.spills(), kernel_names::readable(&kernel.name));
            failed |= spills.least > 0;
            match spills.known() {
                Some(0) => {}
                Some(bytes) => say!("nvptx-ra: kernel '{name}' spills {bytes} bytes"),
                None if spills.least > 0 => say!("nvptx-ra: kernel '{name}' spills {} bytes or more", spills.least),
                None => {
                    is_blind = true;
                    say!(
                        "nvptx-ra: --fail-on-spill: kernel '{name}': its machine code does not show whether {} bytes of local accesses are spills; give its PTX, or build it with CUDA 12.8 or later",
                        spills.most()
                    );
                }
            }
        }
    }
    Ok(crate::exit_code(failed, is_blind))
}

/// Measures one input.
fn measure(path: &Path, arguments: &Arguments) -> Result<MeasuredInput, Error> {
    let taken: Vec<_> = FUNCTIONS.into_iter().chain(MACHINE_CODE).collect();
    let input = Input::open(path, "report --sass", &taken)?;
    if MACHINE_CODE.contains(&input.kind) {
        return Ok(MeasuredInput {
            report: None,
            measurements: of_machine_code(input, &arguments.kernel, arguments.run)?,
        });
    }
    let report = Report::of(input, arguments, true)?;
    let ptx = compare::ptx(&report, arguments)?;
    let measurement = of_ptx(&ptx, &report.input, &report.cpu, report.calls_outside, &arguments.kernel, arguments.run)?;
    Ok(MeasuredInput { report: Some(report), measurements: vec![measurement] })
}

/// Removes the kernels that are not wanted, and sets the launches of the other kernels.
fn choose_kernels(measured: &mut [MeasuredInput], arguments: &Arguments) -> Result<(), Error> {
    let kernels = || measured.iter().flat_map(|of| &of.measurements).flat_map(|measurement| &measurement.kernels);
    let names: Vec<&str> = kernels().map(|kernel| kernel.name.as_str()).collect();
    let inputs: Vec<&str> =
        measured.iter().flat_map(|of| &of.measurements).map(|measurement| measurement.input.as_str()).collect();
    let inputs = inputs.join(", ");
    kernel_names::check_wanted(&arguments.kernel, names.iter().copied(), &inputs)?;
    of_kernels::check("--dynamic-shared", &arguments.dynamic_shared, names.iter().copied(), &inputs)?;
    for (of, path) in measured.iter_mut().zip(&arguments.inputs) {
        let said = dynamic_shared::all_said(path, &arguments.dynamic_shared);
        for measurement in &mut of.measurements {
            measurement.kernels.retain(|kernel| kernel_names::is_wanted(&arguments.kernel, &kernel.name));
            for kernel in &mut measurement.kernels {
                kernel.dynamic_shared = dynamic_shared::bytes_of(&said, &kernel.name).unwrap_or(0);
            }
        }
        if let Some(report) = &mut of.report {
            report.forecasts.retain(|forecast| kernel_names::is_wanted(&arguments.kernel, &forecast.name));
            for forecast in &mut report.forecasts {
                if let Some(bytes) = dynamic_shared::bytes_of(&said, &forecast.name) {
                    forecast.launch_with(bytes, report.architecture);
                }
            }
        }
    }
    Ok(())
}

/// Returns every cubin, with the forecasts of its kernels.
fn measurements(measured: &[MeasuredInput]) -> impl Iterator<Item = (&Measurement, &[Forecast])> {
    measured.iter().flat_map(|of| {
        let forecasts = of.report.as_ref().map_or(&[][..], |report| &report.forecasts);
        of.measurements.iter().map(move |measurement| (measurement, forecasts))
    })
}

/// Returns a cubin's figures for a baseline.
fn file(measurement: &Measurement) -> baseline::File<'_> {
    let kernels = measurement.kernels.iter().map(|kernel| baseline::Kernel {
        name: &kernel.name,
        registers: kernel.registers(),
        peak: lint::input::place(measurement, kernel.peak.point.places.first().copied()),
        spill_bytes: kernel.spills().most(),
        spills_from: Some(kernel.spills().source),
        marked_bytes: kernel.local.marked_stored + kernel.local.marked_loaded,
        spills: lint::input::place(measurement, kernel.local.spills().next().map(|(place, _)| place)),
        warps: kernel.facts.is_kernel.then(|| measurement.occupancy(kernel).warps),
    });
    baseline::File { input: &measurement.input, kernels: kernels.collect() }
}

/// Returns the lints' findings for each cubin.
fn findings(measured: &[MeasuredInput], arguments: &Arguments) -> Result<Vec<Vec<Finding>>, Error> {
    if !arguments.lints.is_on() {
        return Ok(vec![Vec::new(); measurements(measured).count()]);
    }
    let mut findings = Vec::new();
    for of in measured {
        for measurement in &of.measurements {
            let inputs = lint::input::of_measurement(measurement, of.report.as_ref())?;
            let knows_setmaxnreg = inputs.iter().any(|input| input.ignores_repartition);
            let said = lint::of_words(&measurement.words, &measurement.input, knows_setmaxnreg);
            findings.push(lint::find(&inputs, said, &arguments.lints));
        }
    }
    Ok(findings)
}

fn print(measured: &[MeasuredInput]) -> Result<(), Error> {
    let many = measurements(measured).count() > 1;
    let mut text = String::new();
    for (measurement, forecasts) in measurements(measured).filter(|(measurement, _)| !measurement.kernels.is_empty()) {
        if many {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            text += &format!("{gap}{} ({}):\n", measurement.input, measurement.architecture.name);
        }
        text += &table::table(measurement, forecasts);
    }
    crate::print_text(&text).map(drop)
}

/// Returns JSON: an object for one cubin, and an array of objects with file names for several.
fn object(measured: &[MeasuredInput], arguments: &Arguments, findings: &[Vec<Finding>]) -> Value {
    let of_file = |((measurement, forecasts), findings): ((&Measurement, &[Forecast]), &Vec<Finding>)| {
        let mut object = json::object(measurement, forecasts);
        if arguments.lints.is_on() {
            object["findings"] = lint::known::json(findings);
        }
        object["file"] = measurement.input.as_str().into();
        object
    };
    let mut objects = measurements(measured).zip(findings).map(of_file);
    match (objects.next(), objects.next()) {
        (Some(mut only), None) if arguments.inputs.len() == 1 => {
            only.as_object_mut().map(|object| object.remove("file"));
            only
        }
        (first, second) => first.into_iter().chain(second).chain(objects).collect(),
    }
}
