//! The instructions that a kernel executes in a drawn launch, by class and by source line, and the kernel's predicted
//! cycles.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nvptx_ra::emulate::{Launches, Traffic, run};
use nvptx_ra::sass::counts::Counts;
use serde_json::{Value, json};

use super::Measurement;
use crate::machine::cubin::Facts;
use crate::machine::program::Loaded;
use crate::machine::source_lines::Place;
use crate::run::counted;
use crate::time;

/// Most lines shown.
const SHOWN: usize = 10;

/// Execution counts of a kernel.
#[derive(Clone, Debug)]
pub(in super::super) struct Executed {
    /// The grid and the block.
    shape: [[u32; 3]; 2],
    counts: Counts,
    /// Warp instructions issued for each line, and the traffic of its accesses.
    lines: BTreeMap<Place, (u64, Traffic)>,
    /// Predicted cycles that warps spend at each line, issuing and waiting.
    cycles: BTreeMap<Place, u64>,
}

impl Executed {
    /// Runs a launch of a kernel. `line` returns the source line of an instruction.
    ///
    /// # Errors
    /// Returns the reason why the launch cannot be run.
    pub(super) fn new(
        code: &Loaded,
        kernel: &str,
        facts: &Facts,
        line: impl Fn(u32) -> Option<Place>,
    ) -> Result<Self, String> {
        let launches = Launches { count: 1, measures: true, ..Launches::default() };
        let stores = run(code.program(), kernel, &launches)?;
        let mut lines: BTreeMap<Place, (u64, Traffic)> = BTreeMap::new();
        for (address, count) in code.count_by_address(kernel, &stores.side) {
            if let Some(place) = line(address).filter(|_| count.issued > 0) {
                let of = lines.entry(place).or_default();
                of.0 += count.issued;
                of.1 = of.1.sum(count.traffic);
            }
        }
        let counts = code.counts(kernel, &stores.side).ok_or("it has no machine code")?;
        Ok(Self { shape: stores.shape, counts, lines, cycles: cycles(code, kernel, facts, line) })
    }

    /// Returns a line's share of all warps' cycles, in per cent; `None` without a prediction.
    pub(in super::super) fn share(&self, place: Place) -> Option<f64> {
        let all: u64 = self.cycles.values().sum();
        let of = self.cycles.get(&place)?;
        Some(100.0 * *of as f64 / all.max(1) as f64)
    }

    /// Returns the lines by number of executed instructions, the largest first.
    fn dearest(&self) -> Vec<(Place, u64, Traffic)> {
        let mut lines: Vec<_> =
            self.lines.iter().map(|(&place, &(issued, traffic))| (place, issued, traffic)).collect();
        lines.sort_by_key(|&(place, issued, _)| (std::cmp::Reverse(issued), place));
        lines
    }
}

/// Predicts the warps' cycles by source line, as far as the launch can be predicted.
fn cycles(code: &Loaded, kernel: &str, facts: &Facts, line: impl Fn(u32) -> Option<Place>) -> BTreeMap<Place, u64> {
    let mut cycles: BTreeMap<Place, u64> = BTreeMap::new();
    let launches = Launches { count: 1, ..Launches::default() };
    for (address, waited) in time::waited(code, kernel, facts, &launches) {
        if let Some(place) = line(address).filter(|_| waited > 0) {
            *cycles.entry(place).or_default() += waited;
        }
    }
    cycles
}

/// Execution counts, or the reason why the kernel was not run; `None` if counts were not requested.
pub(in super::super) type Ran = Option<Result<Executed, String>>;

/// Formats the counts as text.
pub(super) fn describe(text: &mut String, measurement: &Measurement, ran: &Ran) {
    match ran {
        None => {}
        Some(Err(reason)) => _ = writeln!(text, "  it was not run: {reason}"),
        Some(Ok(executed)) => {
            let [grid, block] = executed.shape;
            let counts = counted::in_a_line(&executed.counts);
            let _ = writeln!(text, "  a launch of grid {grid:?}, block {block:?} executes {counts}");
            for (place, issued, traffic) in executed.dearest().into_iter().take(SHOWN) {
                let _ = write!(text, "  {issued:>9} at {}", measurement.place(place));
                let moved = [(traffic.sectors, "sectors"), (traffic.passes, "passes of shared memory")];
                for (count, what) in moved.into_iter().filter(|(count, _)| *count > 0) {
                    let _ = write!(text, ", {count} {what}");
                }
                text.push('\n');
            }
        }
    }
}

/// Returns the counts as JSON; `None` if the kernel was not run.
pub(super) fn object(measurement: &Measurement, ran: &Ran) -> Option<Value> {
    Some(match ran.as_ref()? {
        Err(reason) => json!({ "not_run": reason }),
        Ok(executed) => {
            let lines = executed.dearest().into_iter().map(|(place, issued, traffic)| {
                json!({
                    "file": measurement.file(place), "line": place.line, "issued": issued, "sectors": traffic.sectors,
                    "shared_passes": traffic.passes,
                })
            });
            let [grid, block] = executed.shape;
            json!({
                "grid": grid, "block": block, "machine": counted::as_json(&executed.counts),
                "lines": lines.collect::<Vec<_>>(),
            })
        }
    })
}
