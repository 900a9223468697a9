//! `nvptx-copy-coalescer`: the coalescer with its statistics, remarks and traces.

use std::fmt::Write as _;

use super::{PassOutput, Remark, RemarkKind, RunContext, traced};
use crate::coalesce::{Outcome, Report, census, coalesce};
use crate::config::{COPY_COALESCER, Trace};
use crate::error::Error;
use crate::function::{Function, Inst};
use crate::stats::{Work, nanoseconds};

/// Runs the coalescer. A function in SSA form is left alone, because PHI elimination handles its copies.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    let Outcome { edits, report } = coalesce(function, &context.classification, &context.config);
    log::debug!(
        "{COPY_COALESCER} of '{}': {} merges, {} copies removed, {} constants rematerialised, {} copies stay",
        function.name(),
        report.merges,
        report.removed.len(),
        report.rematerialised.len(),
        report.refused.len()
    );
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    if context.config.stats.is_some() {
        output.stats = statistics(function, context, &output, &report);
    }
    if context.wants_remarks {
        output.remarks = remarks(function, context, &report);
    }
    output.output = trace(function, context, &output, &report);
    Ok(output)
}

fn statistics(function: &Function, context: &RunContext, output: &PassOutput, report: &Report) -> Work {
    let mut stats = Work { merges: report.merges as u64, ..Work::default() };
    stats.constants_rematerialised = report.rematerialised.len() as u64;
    for (_, reason) in &report.refused {
        stats.refusals.add(reason.as_str(), 1);
    }
    for (kind, tally) in census(function, &context.classification) {
        stats.copies_before.add(kind.as_str(), tally.count);
        stats.executed_before.add(kind.as_str(), tally.executed);
    }
    // Errors are ignored: the coalescer's own tests prove that its edits can be applied.
    if let Ok(applied) = output.edits.apply(function) {
        for (kind, tally) in census(&applied.function, &context.classification) {
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
        let (merges, constants, rounds) = (report.merges, report.rematerialised.len(), report.rounds);
        let _ = writeln!(text, "{merges} merges, {constants} constants, {rounds} rounds");
    }
    traced("trace", function, context, wanted.contains(Trace::VIEW), &text, &output.edits)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests;
    use super::*;
    use crate::target::Classification;

    /// Two registers that are swapped in a loop, and a register that dies at its copy.
    const SWAP: &str = "mfv 1\nfunction \"k\"\nopcode COPY copy\nopcode LD_i32\nopcode ST_i32\nregs %0 B32 B32 B32 B32\n\
        bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n\
        bb1: frequency 9.0 depth 1 -> bb1 bb2\n  %3 = COPY %0\n  ST_i32 %3, 0 :: write\n  %2 = COPY %0\n  %0 = COPY %1\n\
        %1 = COPY %2\nbb2: frequency 1.0 depth 0\nend\n";

    fn output(parameters: &str, wants_remarks: bool) -> PassOutput {
        let function = Function::parse(SWAP).expect("a view");
        let classification = Classification::by_name(function.opcodes());
        let context =
            RunContext { classification: Arc::new(classification), wants_remarks, ..tests::context(parameters) };
        run(&function, &context).expect("there is nothing to refuse")
    }

    /// Statistics count copies before and after the pass, statically and by frequency.
    #[test]
    fn statistics_count_copies_and_runs() {
        let stats = output("stats=unused", false).stats;
        let (before, after) = (stats.copies_before.get("copy"), stats.copies_after.get("copy"));
        assert_eq!(before, 4);
        assert!(after < before && after > 0, "{after}");
        assert!((stats.executed_before.get("copy") - 36.0).abs() < 1e-9);
        assert!((stats.executed_after.get("copy") - 9.0 * after as f64).abs() < 1e-9);
        assert_eq!(stats.refusals.get("interference"), after);
    }

    /// Every copy has a remark: removed copies, and remaining copies with the reason.
    #[test]
    fn remarks_cover_all_copies() {
        let remarks = output("", true).remarks;
        let count = |kind| remarks.iter().filter(|remark| remark.kind == kind).count();
        assert_eq!(count(RemarkKind::Passed) + count(RemarkKind::Missed), 4);
        let missed = remarks.iter().find(|remark| remark.kind == RemarkKind::Missed).expect("one copy stays");
        assert!(missed.message.starts_with("kept COPY (copy) of %") && missed.message.ends_with(": interference"));
    }

    /// A trace names the function and prints the requested parts; without a request, nothing is printed.
    #[test]
    fn traces_print_what_is_asked_for() {
        assert_eq!(output("", false).output, "");
        let view = Function::parse(SWAP).expect("a view").to_string();
        let text = output("trace=classify+liveness+candidates+coalesce+edits+view", false).output;
        for part in [
            view.as_str(),
            "trace of 'k'",
            "candidate i2 in bb1",
            "%0 is live in",
            "COPY: Some(Copy)",
            "kept i",
            " merges, ",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
