//! `nvptx-loop-shape`: swaps the last branches of loops so that ptxas unrolls them, with remarks, statistics and
//! traces.

use std::time::Instant;

use super::{PassOutput, Remark, RemarkKind, RunContext, traced};
use crate::analysis::Unrolling;
use crate::config::{Config, LOOP_SHAPE, LoopShape, Trace};
use crate::error::Error;
use crate::function::{Block, Function};
use crate::loops::{Outcome, shape_loops};

/// Whether the pass does nothing, whatever the function.
pub(super) fn is_idle(config: &Config) -> bool {
    config.loop_shape == LoopShape::Off
}

/// Runs the pass. A function in SSA form is left alone: its blocks are not laid out yet.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if context.is_ssa || is_idle(&context.config) {
        return Ok(PassOutput::unchanged(function));
    }
    let start = Instant::now();
    let Outcome { edits, turned, told, left } =
        shape_loops((function, &context.classification), context.config.loop_shape);
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("loop shape", start);
    let counts = format!("{} loops changed, {} unchanged\n", turned.len(), left.len());
    log::debug!("{LOOP_SHAPE} of '{}': {}", function.name(), counts.trim_end());
    if context.wants_remarks {
        let remark = |kind, block: Block, name, message: String| Remark {
            kind,
            inst: function.block_insts(block).last(),
            name,
            message,
        };
        let of_turned = turned.iter().map(|&(block, unrolling)| {
            let made = match unrolling {
                Unrolling::Whole(turns) => format!("fully into {turns} iterations"),
                Unrolling::Partly(bodies) => format!("{bodies} times"),
            };
            remark(
                RemarkKind::Passed,
                block,
                "LoopTurned",
                format!("the last branch is inverted: ptxas unrolls the loop {made}"),
            )
        });
        let of_left = left.iter().map(|&(block, reason)| {
            let message = format!("the loop keeps its two jumps, which ptxas seldom unrolls: {}", reason.name());
            remark(RemarkKind::Missed, block, "LoopNotTurned", message)
        });
        let of_told = told.iter().map(|&header| {
            let message = "the pragma 'nounroll' is before the loop's label, where ptxas ignores it: it is inserted \
                           after the label, too";
            Remark {
                kind: RemarkKind::Passed,
                inst: function.block_insts(header).next(),
                name: "PragmaObeyed",
                message: message.into(),
            }
        });
        output.remarks = of_turned.chain(of_told).chain(of_left).collect();
    }
    let wanted = context.config.trace;
    let own = if wanted.contains(Trace::LOOP_SHAPE) { &*counts } else { "" };
    output.output = traced(LOOP_SHAPE, function, context, wanted.contains(Trace::VIEW), own, &output.edits);
    Ok(output)
}
