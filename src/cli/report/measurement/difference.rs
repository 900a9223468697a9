//! Compares two builds: which kernels and which source lines grew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use nvptx_ra::error::Error;
use serde_json::{Value, json};

use super::kernel::LineFigures;
use super::{Kernel, Measurement, Place};
use crate::kernel_names;
use crate::report::table::short;

/// Most lines shown for a kernel.
const SHOWN: usize = 20;

/// A figure of the old build and of the new build.
type Pair = (u32, u32);

/// A kernel in both builds.
struct Difference<'a> {
    name: &'a str,
    figures: Vec<(&'static str, Pair)>,
    lines: Vec<LineDifference>,
}

/// A line that differs. Lines are matched by file name and line number. The files that contain the kernel itself match
/// regardless of their names.
struct LineDifference {
    file: String,
    line: u32,
    old: LineFigures,
    new: LineFigures,
}

/// Prints the differences of the kernels in both builds, and the names of all other kernels.
pub(in super::super) fn print(old: &[Measurement], new: &[Measurement], as_json: bool) -> Result<ExitCode, Error> {
    let kernels = |measurements: &'_ [Measurement]| -> Vec<String> {
        measurements.iter().flat_map(|measurement| &measurement.kernels).map(|kernel| kernel.name.clone()).collect()
    };
    let (old_names, new_names) = (kernels(old), kernels(new));
    let only = |these: &[String], others: &[String]| -> Vec<String> {
        these.iter().filter(|name| !others.contains(name)).cloned().collect()
    };
    let (gone, added) = (only(&old_names, &new_names), only(&new_names, &old_names));
    let find = |name: &str| {
        let of_measurement =
            |measurement: &'_ Measurement| measurement.kernels.iter().any(|kernel| kernel.name == name);
        old.iter().find(|measurement| of_measurement(measurement))
    };
    let mut differences = Vec::new();
    for after in new {
        for kernel in &after.kernels {
            // A fat binary may have a kernel for several processors.
            let same = old.iter().find(|measurement| {
                measurement.architecture.name == after.architecture.name
                    && measurement.kernels.iter().any(|of| of.name == kernel.name)
            });
            let Some(before) = same.or_else(|| find(&kernel.name)) else { continue };
            let Some(of) = before.kernels.iter().find(|of| of.name == kernel.name) else { continue };
            differences.push(Difference::of((before, of), (after, kernel)));
        }
    }
    if as_json {
        let kernels: Vec<Value> = differences.iter().map(Difference::json).collect();
        let object = json!({
            "version": nvptx_ra::VERSION, "measured": true, "kernels": kernels, "only_old": gone, "only_new": added,
        });
        return crate::print(format!("{object:#}\n").as_bytes());
    }
    let mut text = String::new();
    differences.iter().for_each(|difference| difference.describe(&mut text));
    for (names, which) in [(gone, "old"), (added, "new")] {
        for name in names {
            let _ = writeln!(text, "{}: only in the {which} build", kernel_names::readable(&name));
        }
    }
    crate::print_text(&text)
}

impl<'a> Difference<'a> {
    fn of(old: (&Measurement, &Kernel), new: (&Measurement, &'a Kernel)) -> Self {
        // Bytes that may include arrays are labelled as such.
        let are_known = [old.1, new.1].iter().all(|kernel| kernel.spills().known().is_some());
        let spills = if are_known { "bytes of spills" } else { "bytes of local accesses at fixed places" };
        let of_spills = |kernel: &Kernel| {
            if are_known { kernel.spills().most() } else { kernel.local.fixed_stored + kernel.local.fixed_loaded }
        };
        let figures = |(measurement, kernel): (&Measurement, &Kernel)| {
            [
                ("registers", kernel.registers()),
                ("live registers", kernel.live[0]),
                (spills, of_spills(kernel)),
                ("bytes of local accesses", kernel.local.stored + kernel.local.loaded),
                ("bytes of stack", kernel.stack_bytes()),
                ("warps on an SM", measurement.occupancy(kernel).warps),
                ("instructions", kernel.instructions),
            ]
        };
        let pairs = figures(old).into_iter().zip(figures(new)).map(|((what, old), (_, new))| (what, (old, new)));
        Self { name: &new.1.name, figures: pairs.collect(), lines: lines(old, new) }
    }

    fn describe(&self, text: &mut String) {
        let changes: Vec<String> = self
            .figures
            .iter()
            .filter(|(_, (old, new))| old != new)
            .map(|(what, (old, new))| format!("{old} → {new} {what}"))
            .collect();
        // Writing to a string cannot fail.
        let name = kernel_names::readable(self.name);
        if changes.is_empty() && self.lines.is_empty() {
            let _ = writeln!(text, "{name}: no figure and no line differs");
            return;
        }
        let changes = if changes.is_empty() { "the same figures".to_owned() } else { changes.join(", ") };
        let _ = writeln!(text, "{name}: {changes}");
        for line in self.lines.iter().take(SHOWN) {
            let (old, new) = (line.old, line.new);
            let pairs = [
                (old.held, new.held, "registers at the peak"),
                (old.live, new.live, "live at most"),
                (old.local_stored + old.local_loaded, new.local_stored + new.local_loaded, "local bytes"),
                (old.instructions, new.instructions, "instructions"),
            ];
            let changes: Vec<String> = pairs
                .into_iter()
                .filter(|(old, new, _)| old != new)
                .map(|(old, new, what)| format!("{old} → {new} {what}"))
                .collect();
            let _ = writeln!(text, "  {}:{}: {}", short(&line.file), line.line, changes.join(", "));
        }
        if self.lines.len() > SHOWN {
            let _ = writeln!(text, "  {} more lines differ", self.lines.len() - SHOWN);
        }
    }

    fn json(&self) -> Value {
        let figures: serde_json::Map<String, Value> = self
            .figures
            .iter()
            .map(|(what, (old, new))| (what.replace(' ', "_"), json!({ "old": old, "new": new })))
            .collect();
        let figures_of = |of: &LineFigures| {
            json!({
                "held_at_peak": of.held, "live": of.live, "instructions": of.instructions,
                "local_store_bytes": of.local_stored, "local_load_bytes": of.local_loaded,
            })
        };
        let lines: Vec<Value> = self
            .lines
            .iter()
            .map(|line| {
                let (old, new) = (figures_of(&line.old), figures_of(&line.new));
                json!({ "file": line.file, "line": line.line, "old": old, "new": new })
            })
            .collect();
        json!({ "name": self.name, "figures": figures, "lines": lines })
    }
}

/// Returns the lines that differ in registers at the peak, local memory or instructions. They are sorted by the growth
/// of these figures, in this order.
fn lines(old: (&Measurement, &Kernel), new: (&Measurement, &Kernel)) -> Vec<LineDifference> {
    let own = new.1.begin.map_or("", |begin| short(new.0.file(begin)));
    let keys = |(measurement, kernel): (&Measurement, &Kernel)| -> Vec<((String, u32), LineFigures)> {
        let is_own = |place: Place| kernel.begin.is_some_and(|begin| begin.file == place.file);
        let name = |place: Place| if is_own(place) { own } else { short(measurement.file(place)) };
        let key = |place: Place| (name(place).to_owned(), place.line);
        kernel.lines.iter().map(|(&place, &figures)| (key(place), figures)).collect()
    };
    let (old, new) = (keys(old), keys(new));
    let figures = |of: &[((String, u32), LineFigures)], key: &(String, u32)| {
        let found = of.binary_search_by(|(other, _)| other.cmp(key)).ok().and_then(|at| of.get(at));
        found.map_or(LineFigures::default(), |&(_, figures)| figures)
    };
    let sorted = |mut of: Vec<((String, u32), LineFigures)>| {
        of.sort_by(|one, other| one.0.cmp(&other.0));
        of
    };
    let (old, new) = (sorted(old), sorted(new));
    let all: BTreeSet<(String, u32)> = old.iter().chain(&new).map(|(key, _)| key.clone()).collect();
    let mut differ: Vec<LineDifference> = all
        .into_iter()
        .map(|key| LineDifference { old: figures(&old, &key), new: figures(&new, &key), file: key.0, line: key.1 })
        .filter(|line| line.old != line.new)
        .collect();
    let grown = |line: &LineDifference| {
        let of = |figure: fn(&LineFigures) -> u32| i64::from(figure(&line.new)) - i64::from(figure(&line.old));
        [of(|of| of.held), of(|of| of.local_stored + of.local_loaded), of(|of| of.instructions), of(|of| of.live)]
    };
    differ.sort_by_key(|line| std::cmp::Reverse(grown(line)));
    differ
}
