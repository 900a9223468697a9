//! Formats the report as text: a table, then each kernel's peak with the source lines that hold its registers.

use std::fmt::Write as _;

use nvptx_ra::forecast::{Forecast, LinkConflict};
use nvptx_ra::function::Function;

use super::Report;
use super::lines::{SourceText, by_line, has_lines};
use super::slots::Slots;
use crate::kernel_names;

/// Most lines shown of a peak.
const SHOWN_LINES: usize = 12;

pub(super) fn table(report: &Report) -> String {
    let Report { forecasts, code, architecture, measured, .. } = report;
    let measured = measured.as_ref();
    let mut text = String::new();
    let names: Vec<String> = forecasts.iter().map(|forecast| kernel_names::short(&forecast.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    // Writing to a string cannot fail. The column for slots is omitted if no kernel has slots.
    let slots_title = if report.slots.is_empty() { "" } else { "  slots (bytes)" };
    let _ =
        write!(text, "{:width$}  registers  spills (bytes)  stack  shared{slots_title}  warps  limited by", "kernel");
    let _ = writeln!(text, "{}", if measured.is_some() { "                 ptxas" } else { "" });
    for (forecast, name) in forecasts.iter().zip(&names) {
        let (least, most) = forecast.bound_signs();
        let registers = format!("{least}{}", forecast.registers);
        let spilled = format!("{least}{}", forecast.spill_bytes());
        let stack = format!("{least}{}", forecast.stack_bytes + forecast.callee_stack_bytes);
        let warps = format!("{most}{}/{}", forecast.occupancy.warps, architecture.max_warps);
        let limits = forecast.occupancy.limits.to_string();
        let slots = report.slots.get(&forecast.name);
        let slots = slots.map_or(String::new(), |slots| format!("{} ({})", slots.values, slots.bytes));
        let slots_width = slots_title.len();
        let _ = write!(
            text,
            "{name:width$}  {registers:>9}  {spilled:>14}  {stack:>5}  {:>6}{slots:>slots_width$}  {warps:>5}  {limits}",
            forecast.block_shared_bytes()
        );
        if let Some(ptxas_report) = measured.and_then(|measured| measured.get(&forecast.name)) {
            let spills = ptxas_report.spill_store_bytes + ptxas_report.spill_load_bytes;
            let pad = 25usize.saturating_sub(limits.chars().count());
            let _ = write!(text, "{:pad$}  {} registers, {spills} bytes", "", ptxas_report.registers);
        }
        text.push('\n');
    }
    for forecast in forecasts {
        if let Some(function) = code.functions.iter().find(|function| function.name() == forecast.holder) {
            peak(&mut text, forecast, function, report.slots.get(&forecast.name));
        }
    }
    text
}

/// Formats a kernel's peak: the causes of its register count, and the source lines that hold registers.
fn peak(text: &mut String, forecast: &Forecast, function: &Function, slots: Option<&Slots>) {
    let file = function.file().unwrap_or_default();
    let source = SourceText::of(function);
    let peak = &forecast.peak;
    let place = if peak.line == 0 { String::new() } else { format!(" at {}:{}", short(file), peak.line) };
    let _ = writeln!(text, "\n{}", kernel_names::readable(&forecast.name));
    let (at_least, at_most) = if forecast.is_at_least() { ("at least ", "at most ") } else { ("", "") };
    let _ = write!(text, "  {at_least}{} registers", forecast.registers);
    if forecast.likely_registers.0 < forecast.likely_registers.1 {
        let _ = write!(text, " (likely {})", forecast.likely_text());
    }
    if forecast.spill_bytes() > 0 {
        let (least, most) = forecast.likely_spill_bytes;
        let _ = write!(text, " of {}, spilling (likely {least} to {most} bytes)", forecast.register_limit);
    }
    let _ = match forecast.next_step {
        Some(step) => {
            writeln!(text, "; {at_most}{} warps on an SM, more with at most {step}", forecast.occupancy.warps)
        }
        None => writeln!(text, "; {at_most}{} warps on an SM, not more with fewer registers", forecast.occupancy.warps),
    };
    if let Some(Slots { values, bytes, cache_given_up }) = slots {
        let kib = cache_given_up.div_ceil(1024);
        let _ =
            writeln!(text, "  slots: {values} values, {bytes} bytes of a block; an SM gives up {kib} KB of L1 cache");
    }
    if forecast.is_at_least() {
        let _ = writeln!(text, "  at least: it {}", forecast.unknown_callees_text());
    }
    if let Some(conflict) = &forecast.link_conflict {
        let _ = writeln!(text, "  {}", readable_conflict(conflict));
    }
    if let Some(cause) = &forecast.in_memory {
        let _ = writeln!(text, "  {} bytes of stack: {cause}", forecast.stack_bytes);
    }
    if forecast.callee_stack_bytes > 0 {
        let _ = writeln!(text, "  {} bytes of stack in its callees", forecast.callee_stack_bytes);
    }
    for ignored in &forecast.ignored {
        let _ = writeln!(text, "  ptxas ignores: {ignored}");
    }
    let holder = match forecast.holder == forecast.name {
        true => String::new(),
        false => format!(" in its callee {}", kernel_names::readable(&forecast.holder)),
    };
    let _ = writeln!(
        text,
        "  peak{place}{holder}: {} word{}{}",
        peak.words,
        if peak.words == 1 { "" } else { "s" },
        quoted(&source, peak.line)
    );
    if !has_lines(function) {
        let _ = writeln!(
            text,
            "  compile with -gline-tables-only, -g or nvcc's -lineinfo to see the lines and variables that hold them"
        );
        return;
    }
    let lines = by_line(peak);
    for line in lines.iter().take(SHOWN_LINES) {
        let at = if line.number == 0 { "?".into() } else { line.number.to_string() };
        let names = line.names();
        let names = if names.is_empty() { String::new() } else { format!("  ({})", names.join(", ")) };
        let uniform = if line.is_uniform() { "  uniform" } else { "" };
        let quoted = match line.number {
            0 => "  | no line: the compiler moved or made it".to_owned(),
            number => quoted(&source, number),
        };
        let _ = writeln!(text, "  {:>5} from line {at:>5}{uniform}{names}{quoted}", line.words);
    }
    if lines.len() > SHOWN_LINES {
        let rest: u32 = lines[SHOWN_LINES..].iter().map(|line| line.words).sum();
        let _ = writeln!(text, "  {rest:>5} from {} more lines", lines.len() - SHOWN_LINES);
    }
}

/// Explains why a kernel does not link with a callee, with the callee's source name.
fn readable_conflict(conflict: &LinkConflict) -> String {
    LinkConflict { function: kernel_names::readable(&conflict.function), ..conflict.clone() }.to_string()
}

/// Formats the text of a source line; empty if the file is missing.
fn quoted(source: &SourceText, line: u32) -> String {
    let text = source.line(line).trim();
    if text.is_empty() { String::new() } else { format!("  | {}", text.chars().take(70).collect::<String>()) }
}

/// Returns a path's last part.
pub(super) fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
