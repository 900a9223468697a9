//! Draws the live words along the code, and the live ranges of the peak's values.

use maud::{Markup, html};
use nvptx_ra::forecast::{Curve, Forecast};
use nvptx_ra::function::{Block, Function};
use nvptx_ra::target::machine::MAX_REGISTERS;

use super::super::lines::{Line, has_lines};
use crate::page::chart::{Scale, area, px, ticks};
use crate::page::{counted, grouped, key, most_of};

/// Width of the drawing and of its plot, in pixels.
const WIDTH: f64 = 640.0;
const RIGHT: f64 = 630.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 204.0;
/// Height of the row for one loop depth, and of the row for a source line.
const LOOP: f64 = 8.0;
const ROW: f64 = 17.0;
/// Most loop depths and source lines shown.
const DEPTHS: u32 = 4;
const ROWS: usize = 24;
/// Left edge of the plot without a column for the names of variables, the same with this column, and the number of
/// letters that fit into the column.
const LEFT: f64 = 92.0;
const LEFT_OF_NAMES: f64 = 168.0;
const LETTERS: usize = 10;

/// The drawing, which grows downwards.
struct Drawing<'a> {
    forecast: &'a Forecast,
    function: &'a Function,
    left: f64,
    x: Scale,
    /// Number of instructions.
    end: u32,
}

/// Draws the curve with its peak, loops and blocks. Below the curve, draws a row for each source line that holds words
/// at the peak. If no line is known, draws a row for each value.
pub(super) fn pressure(forecast: &Forecast, function: &Function, lines: &[Line<'_>]) -> Markup {
    let has_lines = has_lines(function);
    let values: Vec<Line<'_>>;
    let lines = if has_lines {
        lines
    } else {
        values = forecast.peak.live.iter().map(|value| Line::new(vec![value])).collect();
        &values
    };
    let end = function.num_insts() as u32;
    let left = if lines.iter().all(|line| line.names().is_empty()) { LEFT } else { LEFT_OF_NAMES };
    let drawing = Drawing { forecast, function, left, x: Scale::new(left, RIGHT, end), end };
    let depths = function.blocks().map(|block| function.loop_depth(block)).max().unwrap_or(0).min(DEPTHS);
    let axis = BOTTOM + 12.0 + LOOP * f64::from(depths) + 18.0;
    let first_row = axis + 40.0;
    let rows = &lines[..lines.len().min(ROWS)];
    let height = first_row + ROW * rows.len() as f64 + 8.0;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="live words along the code" {
            (drawing.curve())
            (drawing.loops(depths))
            (drawing.axis(axis))
            text.title x="0" y=(px(first_row - 8.0)) {
                "live at the peak, by " @if has_lines { "source line" } @else { "register of PTX" }
            }
            text.end.small x="34" y=(px(first_row + 6.0)) { "words" }
            text.end.small x="76" y=(px(first_row + 6.0)) { @if has_lines { "line" } @else { "register" } }
            @for (number, line) in rows.iter().enumerate() {
                (drawing.row(line, first_row + 10.0 + ROW * number as f64))
            }
            (drawing.peak(first_row + 10.0 + ROW * rows.len() as f64))
        }
        (legend(forecast, lines))
        @if !has_lines {
            p.note { "Compile with " code { "-gline-tables-only" } " or " code { "-g" } " to see lines and variables." }
        }
    }
}

impl Drawing<'_> {
    /// Draws the area, the axis of words, the starts of blocks, and the register limit.
    fn curve(&self) -> Markup {
        let Forecast { curve, peak, register_limit, .. } = self.forecast;
        // A limit far above the curve would flatten the curve.
        let limit = Some(*register_limit).filter(|&most| most < MAX_REGISTERS && most <= 2 * peak.words);
        let most = peak.words.max(limit.unwrap_or(1));
        let y = Scale::new(BOTTOM, TOP, most);
        html! {
            text.title x="0" y="14" { "32-bit words live" }
            @for tick in ticks(most, 5) {
                line.grid x1=(px(self.left)) x2=(px(RIGHT)) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                text.end x=(px(self.left - 8.0)) y=(px(y.at(tick) + 4.0)) { (tick) }
            }
            path.area d=(area(&curve.words, curve.stride, self.end, self.x, y)) {}
            path.blocks d=(self.blocks()) { title { "a tick where a block begins" } }
            @if let Some(limit) = limit {
                line.budget x1=(px(self.left)) x2=(px(RIGHT)) y1=(px(y.at(limit))) y2=(px(y.at(limit))) {}
                text.budget.end x=(px(RIGHT)) y=(px(y.at(limit) - 4.0)) { "may have " (limit) " registers" }
            }
        }
    }

    /// Draws a tick at the start of each block, and at most one for each step of the curve.
    fn blocks(&self) -> String {
        let stride = self.forecast.curve.stride;
        let starts = self.function.blocks().map(|block| self.function.block_range(block).start.0 / stride);
        let mut starts: Vec<u32> = starts.collect();
        starts.dedup();
        starts.iter().map(|start| format!("M{} {BOTTOM}v6", px(self.x.at(start * stride)))).collect()
    }

    /// Draws a row for each depth, the outermost loops first.
    fn loops(&self, depths: u32) -> Markup {
        html! {
            @if depths > 0 {
                text.end.small x=(px(self.left - 8.0)) y=(px(BOTTOM + 20.0)) { "loops" }
            }
            @for depth in 1..=depths {
                @for (start, end) in self.loops_of(depth) {
                    rect.loop x=(px(self.x.at(start))) width=(px(self.x.at(end - start) - self.left))
                        y=(px(BOTTOM + 12.0 + LOOP * f64::from(depth - 1))) height=(px(LOOP - 2.0)) rx="2" {
                        title { "in " (counted(depth as usize, "loop")) ": instructions " (start) " to " (end - 1) }
                    }
                }
            }
        }
    }

    /// Returns the ranges of instructions that have at least this loop depth. Gaps that are shorter than a step of the
    /// curve are filled.
    fn loops_of(&self, depth: u32) -> Vec<(u32, u32)> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        let is_inside = |block: &Block| self.function.loop_depth(*block) >= depth;
        for block in self.function.blocks().filter(is_inside) {
            let range = self.function.block_range(block);
            match found.last_mut() {
                Some(last) if range.start.0 < last.1 + self.forecast.curve.stride => last.1 = last.1.max(range.end.0),
                _ if range.is_empty() => {}
                _ => found.push((range.start.0, range.end.0)),
            }
        }
        found
    }

    fn axis(&self, y: f64) -> Markup {
        html! {
            line.axis x1=(px(self.left)) x2=(px(RIGHT)) y1=(px(BOTTOM)) y2=(px(BOTTOM)) {}
            @for tick in ticks(self.end, 6) {
                text.middle x=(px(self.x.at(tick))) y=(px(y)) { (grouped(u64::from(tick))) }
            }
            text.title.end x=(px(RIGHT)) y=(px(y + 16.0)) { "instruction, in the order of the code" }
        }
    }

    /// Draws a line through the whole drawing, with a label above it.
    fn peak(&self, bottom: f64) -> Markup {
        let peak = &self.forecast.peak;
        let x = self.x.at(f64::from(peak.inst.0) + 0.5);
        let anchor = if x > (self.left + RIGHT) / 2.0 { "end" } else { "start" };
        html! {
            line.peak x1=(px(x)) x2=(px(x)) y1="22" y2=(px(bottom)) {}
            text.(anchor).peak x=(px(x)) y="16" {
                "peak: " (peak.words) " words" @if peak.line != 0 { " at line " (peak.line) }
            }
        }
    }

    /// Returns the line's number, or a value's register if no value has a line.
    fn label(&self, line: &Line<'_>) -> String {
        match line.values.as_slice() {
            _ if line.number != 0 => line.number.to_string(),
            [value] if !has_lines(self.function) => value.holder.to_string(),
            _ => "?".to_owned(),
        }
    }

    /// Draws a source line: its words, number and variables, and the number of its words that are live along the code.
    fn row(&self, line: &Line<'_>, top: f64) -> Markup {
        let Curve { stride, words } = &self.forecast.curve;
        let y = Scale::new(top + ROW - 4.0, top, line.words);
        let names = line.names().join(", ");
        let shape = area(&live(line, *stride, words.len()), *stride, self.end, self.x, y);
        let class = if line.is_uniform() { "uniform" } else { "range" };
        html! {
            text.end x="34" y=(px(top + 11.0)) { (line.words) }
            text.end x="76" y=(px(top + 11.0)) { (self.label(line)) }
            text.code x="86" y=(px(top + 11.0)) { (shortened(&names)) title { (names) } }
            line.grid x1=(px(self.left)) x2=(px(RIGHT)) y1=(px(y.origin)) y2=(px(y.origin)) {}
            path.(class) d=(shape) {
                title {
                    (counted(line.values.len(), "value")) " of " (counted(line.words as usize, "word"))
                    @if !names.is_empty() { ": " (names) }
                }
            }
        }
    }
}

/// Returns how many words of a line's values are live in each step of the curve. O(steps) for each range.
fn live(line: &Line<'_>, stride: u32, steps: usize) -> Vec<u32> {
    let mut live = vec![0; steps];
    for value in &line.values {
        for range in value.ranges.iter().filter(|range| !range.is_empty()) {
            let steps = (range.start.0 / stride) as usize..steps.min(((range.end.0 - 1) / stride) as usize + 1);
            live[steps].iter_mut().for_each(|words| *words += value.words);
        }
    }
    live
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LETTERS {
        return text.to_owned();
    }
    text.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// Draws the legend.
fn legend(forecast: &Forecast, lines: &[Line<'_>]) -> Markup {
    let stride = forecast.curve.stride;
    html! {
        p.note {
            (key("area", &format!("32-bit words live{}", most_of(stride)))) " · "
            (key("loop", "inside a loop, one row for each depth; ticks: blocks begin")) " · "
            (key("range", "how many of a row's words are live, up to all of them")) " · "
            (key("uniform", "the same for uniform values, which are equal in all threads of a warp and fit into uniform registers."))
            @if let Some(rest) = lines.get(ROWS..).filter(|rest| !rest.is_empty()) {
                " Not drawn: " (counted(rest.iter().map(|line| line.words as usize).sum(), "word")) " from "
                (counted(rest.len(), "more row")) "."
            }
        }
        p.note {
            "ptxas is expected to take " (forecast.registers) " registers, which need not be the "
            (forecast.peak.words) " words of the peak: it reorders, unrolls and rematerialises, and keeps uniform words "
            "apart."
        }
    }
}
