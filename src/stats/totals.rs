//! The sum of many events, and its printed form.

use std::fmt;
use std::io::BufRead;
use std::path::Path;

use serde::Serialize;

use super::{Counts, Event, SpillBytes, Work};
use crate::error::Error;

/// The sum of many events. The order of the events does not matter.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Number of runs of a pass on a function.
    pub runs: u64,
    /// Number of functions that were left unchanged because of an error.
    pub failures: u64,
    /// Number of forecast kernels.
    pub forecasts: u64,
    /// Number of clones of modules that were compiled for the forecast.
    pub clones: u64,
    /// Number of clones that did not compile.
    pub clones_failed: u64,
    /// Number of warnings on clones.
    pub clone_warnings: u64,
    /// Sums over all runs, including the time of the C++ shim.
    #[serde(flatten)]
    pub sum: Work,
    /// The distinct diagnostics with their counts.
    pub errors: Counts,
}

impl Totals {
    /// Adds an event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Run(stats) => {
                self.runs += 1;
                self.sum.merge(&stats.work);
            }
            Event::Shim { time_ns, .. } => self.sum.time_ns.merge(time_ns),
            Event::Forecast(module) => {
                self.forecasts += module.kernels.len() as u64;
                self.sum.time_ns.merge(&module.time_ns);
            }
            Event::Clone { errors, warnings, .. } => {
                self.clones += 1;
                self.clones_failed += u64::from(*errors > 0);
                self.clone_warnings += warnings;
            }
            Event::Failure { message, .. } => {
                self.failures += 1;
                self.errors.add_owned(message.clone());
            }
        }
    }

    /// Sums the events of a file. A line that is not an event causes an error with the line's number.
    pub fn read(path: &Path, reader: impl BufRead) -> Result<Self, Error> {
        let mut totals = Self::default();
        for (index, line) in reader.lines().enumerate() {
            let line = line.map_err(|error| Error::file(path, &error))?;
            let event = serde_json::from_str(&line).map_err(|error| {
                let reason = std::io::Error::new(
                    std::io::ErrorKind::InvalidData,
                    format!("line {}: not a line of statistics: {error}", index + 1),
                );
                Error::file(path, &reason)
            })?;
            totals.add(&event);
        }
        Ok(totals)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = &self.sum;
        writeln!(f, "{:<32}{:>14}", "functions", self.runs)?;
        writeln!(f, "{:<32}{:>14}", "instructions", sum.insts)?;
        writeln!(f, "{:<32}{:>14}", "merges", sum.merges)?;
        writeln!(f, "{:<32}{:>14}", "constants rematerialised", sum.constants_rematerialised)?;
        if sum.values_kept > 0 {
            writeln!(f, "{:<32}{:>14}", "values spilled to shared memory", sum.values_kept)?;
            writeln!(f, "{:<32}{:>14}", "bytes of their slots", sum.slot_bytes)?;
            writeln!(f, "{:<32}{:>14}", "L1 cache lost, at most", sum.cache_given_up)?;
        }
        if self.forecasts > 0 {
            writeln!(f, "{:<32}{:>14}", "kernels forecast", self.forecasts)?;
        }
        if self.clones > 0 {
            writeln!(f, "{:<32}{:>14}", "clones compiled", self.clones)?;
            writeln!(f, "{:<32}{:>14}", "clones that do not compile", self.clones_failed)?;
            writeln!(f, "{:<32}{:>14}", "warnings on clones", self.clone_warnings)?;
        }
        writeln!(f, "{:<32}{:>14}", "errors", self.failures)?;
        if !sum.copies_before.is_empty() || !sum.copies_after.is_empty() {
            writeln!(f, "\n{:<32}{:>14}{:>14}{:>18}{:>18}", "copies", "before", "after", "run before", "run after")?;
            let mut families = sum.copies_before.clone();
            families.merge(&sum.copies_after);
            for (family, _) in families.iter() {
                let (before, after) = (sum.copies_before.get(family), sum.copies_after.get(family));
                let (run, run_after) = (sum.executed_before.get(family), sum.executed_after.get(family));
                writeln!(f, "  {family:<30}{before:>14}{after:>14}{run:>18.1}{run_after:>18.1}")?;
            }
            writeln!(f, "  {:<30}{:>14}{:>14}", "all", sum.copies_before.total(), sum.copies_after.total())?;
        }
        if sum.spills != SpillBytes::default() {
            writeln!(f, "\nspills, bytes\n# {}", sum.spills)?;
        }
        section(f, "copies that stay, by reason", &sum.refusals)?;
        section(f, "edits", &sum.edits)?;
        section(f, "time, ns", &sum.time_ns)?;
        if !self.errors.is_empty() {
            writeln!(f, "\nerrors")?;
        }
        // Messages come last in their lines, because they are long.
        self.errors.iter().try_for_each(|(message, count)| writeln!(f, "{count:>8}  {message}"))
    }
}

fn section(f: &mut fmt::Formatter<'_>, title: &str, counts: &Counts) -> fmt::Result {
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{title}")?;
    for (name, count) in counts.iter() {
        writeln!(f, "  {name:<30}{count:>14}")?;
    }
    Ok(())
}
