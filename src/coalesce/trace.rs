//! Output of the option `trace`, which shows the coalescer's decisions.

use std::fmt::Write as _;

use super::candidates::Candidate;
use super::program::Program;
use crate::analysis::LiveRanges;
use crate::config::Trace;
use crate::function::VReg;

/// Prints a round's candidates and live ranges, if the options request them.
pub(super) fn round(program: &mut Program<'_>, candidates: &[Candidate], ranges: &LiveRanges, wanted: &[VReg]) {
    let round = program.report.rounds;
    let mut text = String::new();
    if program.options.trace.contains(Trace::CANDIDATES) {
        for candidate in candidates {
            let Candidate { inst, block, dst, src, frequency, weight, waits } = candidate;
            let _ = writeln!(
                text,
                "round {round}: candidate {inst} in {block}: {dst} = {src}, frequency {frequency}, weight {weight}{}",
                if *waits { ", waits" } else { "" }
            );
        }
    }
    if program.options.trace.contains(Trace::LIVENESS) {
        for &reg in wanted {
            let _ = writeln!(text, "round {round}: {reg} is live in {:?}", ranges.segments(reg));
        }
    }
    program.report.trace.push_str(&text);
}
