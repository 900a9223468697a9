//! Formats a prediction as text.

use std::fmt::Write as _;

use nvptx_ra::sass::time::memory::Data;
use nvptx_ra::sass::time::prediction::{Prediction, Source};
use nvptx_ra::sass::time::processor;

use super::KernelPredictions;
use super::code::Code;

/// Formats all kernels.
pub(super) fn of(said: &[KernelPredictions], codes: &[&Code], dearest: usize) -> String {
    let mut text = String::new();
    for said in said {
        _ = writeln!(text, "{}", said.kernel);
        for (one, code) in said.of.iter().zip(codes) {
            match one {
                Ok(prediction) => of_prediction(&mut text, prediction, code, &said.kernel, dearest),
                Err(reason) => _ = writeln!(text, "  {}: no prediction: {reason}", code.name),
            }
        }
        if let (Some(verdict), [first, second]) = (said.verdict(), codes) {
            let percent = (verdict.ratio - 1.0) * 100.0;
            let word = if percent < 0.0 { "less" } else { "more" };
            let is_sure = verdict.is_surely_faster() || verdict.is_surely_slower();
            let sure = if is_sure { "beyond" } else { "within" };
            _ = writeln!(
                text,
                "  {} takes {:.1} % {word} time than {}, {sure} the uncertainty of {:.0} %",
                second.name,
                percent.abs(),
                first.name,
                (verdict.uncertainty - 1.0) * 100.0
            );
        }
    }
    text
}

fn of_prediction(text: &mut String, one: &Prediction, code: &Code, kernel: &str, dearest: usize) {
    let [near, far] = one.cycles;
    _ = writeln!(text, "  {}: {near} cycles with data in L2, {far} with data in DRAM{}", code.name, times(one, code));
    let blocks = match one.blocks {
        Some(blocks) => format!("{blocks} blocks of {} warps", one.warps),
        None => format!("blocks for all SMs, of {} warps each", one.warps),
    };
    _ = writeln!(text, "    {blocks}; an SM holds {} at a time", one.held);
    if !processor::is_known(code.machine.processor) {
        _ = writeln!(
            text,
            "    with sm_90's parameters: they compare two versions of a kernel, but are not times of sm_{}",
            code.machine.processor
        );
    }
    match one.source {
        Source::Run => {}
        Source::Beginning => {
            _ = writeln!(text, "    the launch is too long: the prediction is for its beginning (--steps)")
        }
        Source::Walk => {
            let reason = one.reason.as_deref().unwrap_or_default();
            _ = writeln!(text, "    the launch cannot be run ({reason}): loops are assumed to have eight iterations");
        }
    }
    for (name, data) in [("L2", Data::InL2), ("DRAM", Data::InDram)] {
        _ = write!(text, "    limit with data in {name}: {}", one.limit(data).name());
        if let Some((resource, share)) = one.busiest(data) {
            let share = 100.0 * share;
            _ = write!(text, "; busiest: {}, {share:.0} % of the time", resource.name());
        }
        text.push('\n');
    }
    let change = |cycles: u64| 100.0 * (cycles as f64 / near.max(1) as f64 - 1.0);
    if let Some(cycles) = one.without_local.filter(|_| one.local_bytes > 0) {
        _ = writeln!(text, "    without accesses of local memory: {:+.0} % time", change(cycles));
    }
    if let Some(cycles) = one.with_more {
        _ = writeln!(text, "    with one block more on an SM: {:+.0} % time", change(cycles));
    }
    dear(text, one, code, kernel, dearest);
}

fn times(one: &Prediction, code: &Code) -> String {
    if one.blocks.is_none() || !processor::is_known(code.machine.processor) {
        return String::new();
    }
    let clock = processor::numbers().get("clock_mhz");
    let [near, far] = one.cycles.map(|cycles| cycles as f64 / clock);
    format!(" ({near:.1} and {far:.1} µs at {clock:.0} MHz)")
}

/// Formats the instructions before which warps spend most cycles.
fn dear(text: &mut String, one: &Prediction, code: &Code, kernel: &str, dearest: usize) {
    let number = code.machine.program.function_names().position(|name| name == kernel);
    let number = if one.source == Source::Walk { Some(0) } else { number };
    let instructions = code.machine.code.iter().find(|code| code.name == kernel);
    let (Some(waited), Some(function)) = (number.and_then(|number| one.ran.waited.get(number)), instructions) else {
        return;
    };
    let all: u64 = waited.iter().map(|waited| waited.total()).sum();
    let mut order: Vec<usize> = (0..waited.len()).filter(|&at| waited[at].issued > 0).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(waited[at].total()), at));
    if order.is_empty() || dearest == 0 {
        return;
    }
    _ = writeln!(text, "    share  issued  instruction          waits most for");
    for &at in order.iter().take(dearest) {
        let (waited, instruction) = (&waited[at], &function.instructions[at]);
        _ = writeln!(
            text,
            "    {:>4.1} % {:>7}  {:#06x} {:<14} {}",
            100.0 * waited.total() as f64 / all.max(1) as f64,
            waited.issued,
            instruction.address,
            instruction.mnemonic,
            waited.most().name()
        );
    }
}
