//! Shows the source, with the words that each line holds at the peak.

use std::collections::BTreeSet;

use maud::{Markup, html};
use nvptx_ra::forecast::Forecast;
use nvptx_ra::function::Function;

use super::super::lines::{Line, SourceText};
use super::super::table::short;
use crate::page::counted;

/// Context lines shown around a line that holds words, and the most lines with words that are shown.
const AROUND: u32 = 2;
const HOLDING: usize = 60;
/// Excerpts with fewer lines than this are shown completely.
const WHOLE: u32 = 60;
/// Most letters shown of a line.
const LETTERS: usize = 160;

/// Shows the lines that hold words, with context lines.
pub(super) fn source(forecast: &Forecast, function: &Function, lines: &[Line<'_>]) -> Markup {
    let text = SourceText::of(function);
    let shown = shown(forecast, function, lines, text.len());
    let most = lines.iter().map(|line| line.words).max().unwrap_or(1);
    let mut previous = None;
    html! {
        p.file title=(function.file().unwrap_or_default()) { (function.file().map_or("unknown file", short)) }
        div.source {
            table {
                thead { tr { th.number { "words" } th {} th.number { "line" } th {} } }
                tbody {
                    @for number in shown {
                        @if previous.replace(number).is_some_and(|previous| previous + 1 != number) {
                            tr.gap { td colspan="4" { "⋯" } }
                        }
                        @let line = lines.iter().find(|line| line.number == number);
                        (row(forecast, line, number, text.line(number), most))
                    }
                }
            }
        }
        (remarks(&text, lines))
    }
}

fn row(forecast: &Forecast, line: Option<&Line<'_>>, number: u32, text: &str, most: u32) -> Markup {
    let words = line.map_or(0, |line| line.words);
    let names = line.map(|line| line.names().join(", ")).unwrap_or_default();
    let is_peak = forecast.peak.line == number;
    html! {
        tr.peak[is_peak] title=[Some(names).filter(|names| !names.is_empty())] {
            td.number { @if words > 0 { (words) } }
            td { @if words > 0 { div.bar { div style=(format!("width:{}%", (words * 100).div_ceil(most))) {} } } }
            td.number.line { @if is_peak { "▶ " } (number) }
            td.code { (text.chars().take(LETTERS).collect::<String>()) }
        }
    }
}

/// Returns the shown lines. If the kernel has few lines, these are all its lines. Otherwise, these are the lines that
/// hold words, with their context. If the source is missing, only the lines that hold words and the peak's line are
/// shown.
fn shown(forecast: &Forecast, function: &Function, lines: &[Line<'_>], len: u32) -> BTreeSet<u32> {
    let holding = lines.iter().take(HOLDING).map(|line| line.number).chain([forecast.peak.line]);
    let holding: BTreeSet<u32> = holding.filter(|&number| number != 0).collect();
    if len == 0 {
        return holding;
    }
    let of_code = function.insts().map(|inst| function.line(inst)).filter(|&line| line != 0);
    let (first, last) = of_code
        .chain(holding.iter().copied())
        .fold((u32::MAX, 0), |(first, last), line| (line.min(first), line.max(last)));
    if last.saturating_sub(first) < WHOLE {
        return (first.saturating_sub(AROUND).max(1)..=last.saturating_add(AROUND).min(len.max(last))).collect();
    }
    let around = |&number: &u32| number.saturating_sub(AROUND).max(1)..=(number + AROUND).min(len.max(number));
    holding.iter().flat_map(around).collect()
}

/// Formats the remarks that belong to no line.
fn remarks(text: &SourceText, lines: &[Line<'_>]) -> Markup {
    let unknown = lines.iter().find(|line| line.number == 0).map_or(0, |line| line.words);
    html! {
        p.note {
            "Words: registers at the peak (▶) that hold values computed in the line. "
            @if unknown > 0 { (counted(unknown as usize, "word")) " come from no known line. " }
            @if text.len() == 0 { "The source file is missing, so its text is not shown." }
        }
    }
}
