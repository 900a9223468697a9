//! `nvptx-copy-coalescer`: the coalescer with its statistics, remarks and traces.

use std::fmt::Write as _;

use super::{PassOutput, Remark, RemarkKind, RunContext};
use crate::coalesce::{Outcome, Report, census, coalesce};
use crate::config::Trace;
use crate::error::Error;
use crate::function::{Function, Inst};
use crate::stats::{FunctionStats, nanoseconds};

/// Runs the coalescer. A function in SSA form is left alone: its copies are PHI elimination's business.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    let Outcome { edits, report } = coalesce(function, &context.config);
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    if context.config.stats.is_some() {
        output.stats = statistics(function, &output, &report);
    }
    if context.wants_remarks {
        output.remarks = remarks(function, context, &report);
    }
    output.output = trace(function, context, &output, &report);
    Ok(output)
}

fn statistics(function: &Function, output: &PassOutput, report: &Report) -> FunctionStats {
    let mut stats = FunctionStats { merges: report.merges as u64, ..FunctionStats::default() };
    stats.constants_rematerialised = report.constants as u64;
    for (_, reason) in &report.refused {
        stats.refusals.add(reason.as_str(), 1);
    }
    for (kind, tally) in census(function) {
        stats.copies_before.add(kind.as_str(), tally.count);
        stats.executed_before.add(kind.as_str(), tally.executed);
    }
    // The edits are the coalescer's own; that they fit is what its tests prove.
    if let Ok(applied) = output.edits.apply(function) {
        for (kind, tally) in census(&applied.function) {
            stats.copies_after.add(kind.as_str(), tally.count);
            stats.executed_after.add(kind.as_str(), tally.executed);
        }
    }
    stats.time_ns.add("analyses", nanoseconds(report.analyses));
    stats.time_ns.add("coalesce", nanoseconds(report.coalescing));
    stats
}

fn remarks(function: &Function, context: &RunContext, report: &Report) -> Vec<Remark> {
    let describe = |inst: Inst| {
        let registers: Vec<String> = function
            .operands(inst)
            .iter()
            .filter_map(|operand| operand.reg())
            .map(|reg| function.reg_name(reg).map_or_else(|| reg.to_string(), str::to_owned))
            .collect();
        let family = context.classification.get(function.opcode(inst)).map(|info| format!("{:?}", info.family));
        let name = function.opcodes().name(function.opcode(inst));
        format!("{name} ({}) of {}", family.unwrap_or_default().to_lowercase(), registers.join(", "))
    };
    let removed = report.removed.iter().map(|&inst| Remark {
        kind: RemarkKind::Passed,
        inst: Some(inst),
        name: "CopyRemoved",
        message: format!("removed {}", describe(inst)),
    });
    let kept = report.refused.iter().map(|&(inst, reason)| Remark {
        kind: RemarkKind::Missed,
        inst: Some(inst),
        name: "CopyKept",
        message: format!("kept {}: {}", describe(inst), reason.as_str()),
    });
    removed.chain(kept).collect()
}

fn trace(function: &Function, context: &RunContext, output: &PassOutput, report: &Report) -> String {
    let wanted = context.config.trace;
    let mut text = report.trace.clone();
    if wanted.contains(Trace::CLASSIFY) {
        for inst in function.insts() {
            let name = function.opcodes().name(function.opcode(inst));
            let family = context.classification.get(function.opcode(inst)).map(|info| info.family);
            let _ = writeln!(text, "{inst}: {name}: {family:?}, effects {:?}", function.effects(inst));
        }
    }
    if wanted.contains(Trace::COALESCE) {
        for inst in &report.removed {
            let _ = writeln!(text, "removed {inst}");
        }
        for (inst, reason) in &report.refused {
            let _ = writeln!(text, "kept {inst}: {}", reason.as_str());
        }
        let (merges, constants, rounds) = (report.merges, report.constants, report.rounds);
        let _ = writeln!(text, "{merges} merges, {constants} constants, {rounds} rounds");
    }
    if wanted.contains(Trace::EDITS) {
        for edit in output.edits.edits() {
            let _ = writeln!(text, "{edit:?}");
        }
    }
    if text.is_empty() { text } else { format!("nvptx-ra: trace of '{}'\n{text}", function.name()) }
}
