//! `nvptx-cssa`: makes PHI webs conventional, with statistics, remarks and traces.

use std::fmt::Write as _;
use std::time::Instant;

use super::{PassOutput, Remark, RemarkKind, RunContext, traced};
use crate::config::{CSSA, Trace};
use crate::error::Error;
use crate::function::{Function, Inst};
use crate::ssa::{LeftCopies, Outcome, Report, conventional};
use crate::stats::Work;

/// Runs the pass. A function that has left SSA form has no PHIs and is left alone.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    let start = Instant::now();
    let Outcome { edits, report, .. } = conventional(function, &context.config);
    log::debug!(
        "{CSSA} of '{}': {} PHIs: {} never read, {} replaced, {} constants rematerialised, {} copies stay",
        function.name(),
        report.phis,
        report.dead.len(),
        report.replaced.len(),
        report.constants.len(),
        report.copied.len()
    );
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("cssa", start);
    if context.config.stats.is_some() {
        count(&report, &mut output.stats);
    }
    if context.wants_remarks {
        output.remarks = remarks(function, &report);
    }
    output.output = trace(function, context, &output, &report);
    Ok(output)
}

fn count(report: &Report, stats: &mut Work) {
    stats.phis = report.phis as u64;
    stats.constants_rematerialised = report.constants.len() as u64;
    for (_, reason) in &report.copied {
        stats.refusals.add(reason.as_str(), 1);
    }
}

fn remarks(function: &Function, report: &Report) -> Vec<Remark> {
    let remark = |kind, inst, name, message| Remark { kind, inst: Some(inst), name, message };
    let of = |phi: Inst| describe(function, phi);
    let dead = report
        .dead
        .iter()
        .map(|&phi| remark(RemarkKind::Passed, phi, "PhiRemoved", format!("removed {}, which is never read", of(phi))));
    let replaced = report.replaced.iter().map(|&phi| {
        let message = format!("removed {}: another register always holds the same value", of(phi));
        remark(RemarkKind::Passed, phi, "PhiReplaced", message)
    });
    let constants = report.constants.iter().map(|&phi| {
        remark(RemarkKind::Passed, phi, "PhiConstant", format!("rematerialised a constant for {}", of(phi)))
    });
    let copied = report.copied.iter().map(|&(phi, reason)| {
        remark(RemarkKind::Missed, phi, "PhiCopied", format!("a copy stays for {}: {}", of(phi), reason.as_str()))
    });
    let left = report.left.iter().map(|&LeftCopies { phi, register, copies }| {
        let name = function.reg_name(register).map_or_else(|| format!("{register}"), str::to_owned);
        let message = format!(
            "left {copies} copies of {name} to PHI elimination: LLVM's coalescer would take long for this number"
        );
        remark(RemarkKind::Analysis, phi, "PhiCopiesLeft", message)
    });
    dead.chain(replaced).chain(constants).chain(copied).chain(left).collect()
}

/// Describes a PHI by the register that it defines, and the register's name in the source.
fn describe(function: &Function, phi: Inst) -> String {
    let result = function.operands(phi).first().and_then(|operand| operand.reg());
    let name = |reg| function.reg_name(reg).map_or_else(|| format!("{reg}"), str::to_owned);
    format!("the PHI of {}", result.map_or_else(String::new, name))
}

fn trace(function: &Function, context: &RunContext, output: &PassOutput, report: &Report) -> String {
    let config = &context.config;
    let mut text = String::new();
    if config.cssa_verbosity >= 1 {
        let Report { phis, dead, replaced, constants, copied, .. } = report;
        let [dead, replaced, constants, copied] = [dead.len(), replaced.len(), constants.len(), copied.len()];
        let _ = writeln!(text, "{phis} PHIs, {dead} dead, {replaced} replaced, {constants} constants, {copied} copies");
    }
    if config.cssa_verbosity >= 2 {
        for &(phi, reason) in &report.copied {
            let _ = writeln!(text, "copied {phi}, {}: {}", describe(function, phi), reason.as_str());
        }
        for &LeftCopies { register, copies, .. } in &report.left {
            let _ = writeln!(text, "left {copies} copies of {register} to PHI elimination");
        }
    }
    let with_view = config.dump_before_cssa || config.trace.contains(Trace::VIEW);
    traced(CSSA, function, context, with_view, &text, &output.edits)
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    /// A loop whose counter is read after the loop, an unused PHI, and a PHI of a constant that has another reader.
    const LOOP: &str = "mfv 1\nfunction \"k\"\nopcode PHI phi\nopcode MOV_B32_i constant\nopcode ADD\nopcode ST\n\
        opcode BRA\nregs %0 B32 B32 B32 \"i\" B32 B32\n\
        bb0: frequency 1.0 depth 0 -> bb1\n  %0 = MOV_B32_i 1\n\
        bb1: frequency 9.0 depth 1 -> bb2 bb3\n  %2 = PHI %0, bb0, %3, bb2\n  %4 = PHI %0, bb0, %3, bb2\n\
        %3 = ADD %2, %0\n  BRA bb3 :: terminator\n\
        bb2: frequency 8.0 depth 1 -> bb1\n  BRA bb1 :: terminator\n\
        bb3: frequency 1.0 depth 0\n  ST %2, %3 :: write\nend\n";

    fn output(parameters: &str) -> PassOutput {
        let context = RunContext { is_ssa: true, wants_remarks: true, ..tests::context(parameters) };
        run(&Function::parse(LOOP).expect("a view"), &context).expect("there is nothing to refuse")
    }

    /// Statistics and remarks agree for an unused PHI, for a constant, and for a copy with its reason and its variable.
    #[test]
    fn what_is_done_is_told() {
        let output = output("stats=unused;cssa-verbosity=2;dump-before-cssa");
        assert_eq!((output.stats.phis, output.stats.constants_rematerialised), (2, 1));
        assert_eq!(output.stats.refusals.get("interference"), 1);
        let names: Vec<&str> = output.remarks.iter().map(|remark| remark.name).collect();
        assert_eq!(names, ["PhiRemoved", "PhiConstant", "PhiCopied"]);
        assert_eq!(output.remarks[2].message, "a copy stays for the PHI of i: interference");
        for part in [
            "nvptx-cssa of 'k'\nmfv 1",
            "2 PHIs, 1 dead, 0 replaced, 1 constants, 1 copies",
            "copied i1, the PHI of i: ",
        ] {
            assert!(output.output.contains(part), "{part} in {}", output.output);
        }
        assert_eq!(self::output("").output, "");
    }
}
