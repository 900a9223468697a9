//! Shows the source, with each line's figures in the machine code.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::lines::SourceText;
use super::super::measurement::kernel::LineFigures;
use super::super::measurement::{Kernel, Measurement};
use super::super::table::short;
use crate::machine::source_lines::Place;
use crate::page::grouped;

/// Context lines shown around a line with code, and the most lines with code that are shown.
const AROUND: u32 = 1;
const CODE: usize = 200;
/// Most letters shown of a line.
const LETTERS: usize = 160;

/// Shows the lines with code by file, the peak's file first.
pub(super) fn source(measurement: &Measurement, kernel: &Kernel) -> Markup {
    let mut files: BTreeMap<u32, Vec<(u32, LineFigures)>> = BTreeMap::new();
    let mut lines: Vec<_> = kernel.lines.iter().collect();
    // If there are too many lines, the lines with the highest figures are shown.
    lines.sort_by_key(|(place, of)| (std::cmp::Reverse((of.held, of.live, of.instructions)), **place));
    for (place, of) in lines.into_iter().take(CODE) {
        files.entry(place.file).or_default().push((place.line, *of));
    }
    let executed = kernel.executed.as_ref().and_then(|executed| executed.as_ref().ok());
    let peak = kernel.peak.point.places.first();
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(file, _)| (peak.map(|place| place.file) != Some(*file), *file));
    html! {
        @for (file, mut lines) in files {
            @let path = measurement.files.get(file as usize).map_or("", String::as_str);
            @let text = SourceText::of_path(path);
            @let () = lines.sort_unstable_by_key(|&(line, _)| line);
            @let at_peak = peak.filter(|place| place.file == file).map(|place| place.line);
            p.file title=(path) { (short(path)) @if text.len() == 0 { " is missing, so its text is not shown" } }
            @let share = |line| executed.and_then(|executed| executed.share(Place { file, line }));
            div.source { (of_file(&text, &lines, at_peak, share)) }
        }
        p.note {
            "live: the most registers that are live at one of the line's instructions. held: registers that are live at the "
            "peak (▶) and were written in the line. local: bytes to and from local memory. For inlined lines, the "
            "innermost counts."
            @if executed.is_some() {
                " time: the line's share of the cycles that warps spend in a drawn launch, as predicted."
            }
        }
    }
}

/// Shows one file. `share` returns a line's part of the predicted cycles, in per cent.
fn of_file(
    text: &SourceText,
    lines: &[(u32, LineFigures)],
    peak: Option<u32>,
    share: impl Fn(u32) -> Option<f64>,
) -> Markup {
    let around =
        |line: u32| line.saturating_sub(AROUND).max(1)..=(line.saturating_add(AROUND)).min(text.len().max(line));
    let shown: BTreeSet<u32> = match text.len() {
        0 => lines.iter().map(|&(line, _)| line).collect(),
        _ => lines.iter().flat_map(|&(line, _)| around(line)).collect(),
    };
    let mut previous = None;
    let is_timed = lines.iter().any(|&(line, _)| share(line).is_some());
    html! {
        table {
            thead {
                tr {
                    th.number { @if is_timed { "time" } } th.number { "live" } th.number { "held" } th.number { "local" } th.number { "instr." }
                    th.number { "line" } th {}
                }
            }
            tbody {
                @for number in shown {
                    @if previous.replace(number).is_some_and(|previous| previous + 1 != number) {
                        tr.gap { td colspan="7" { "⋯" } }
                    }
                    @let of = lines.iter().find(|&&(line, _)| line == number).map(|(_, of)| *of).unwrap_or_default();
                    tr.peak[peak == Some(number)] {
                        td.number { @if let Some(share) = share(number).filter(|&share| share >= 0.05) { (format!("{share:.1} %")) } }
                        @for figure in [of.live, of.held, of.local_stored + of.local_loaded, of.instructions] {
                            td.number { @if figure > 0 { (grouped(figure.into())) } }
                        }
                        td.number.line { @if peak == Some(number) { "▶ " } (number) }
                        td.code { (text.line(number).chars().take(LETTERS).collect::<String>()) }
                    }
                }
            }
        }
    }
}
