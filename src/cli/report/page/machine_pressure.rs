//! Draws live registers along the machine code, with the forecast's curve in the same plot.

use maud::{Markup, html};
use nvptx_ra::forecast::Forecast;

use super::super::measurement::kernel::Curve;
use super::super::measurement::table::{by_line, instruction};
use super::super::measurement::{Kernel, Measurement};
use crate::page::chart::{Scale, area, px, ticks};
use crate::page::{grouped, key, most_of};

/// Width of the drawing and of its plot, in pixels.
const WIDTH: f64 = 640.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 630.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 224.0;
/// Height of the row for one loop depth.
const LOOP: f64 = 8.0;
/// Most loop depths and lines shown.
const DEPTHS: u32 = 4;
const ROWS: usize = 24;

/// Draws the curve with its peak, loops and local memory. Below the curve, draws the lines that hold the registers of
/// the peak.
pub(super) fn pressure(measurement: &Measurement, kernel: &Kernel, forecast: Option<&Forecast>) -> Markup {
    let Curve { stride, live, depths, local } = &kernel.curve;
    let (stride, end) = (*stride, kernel.instructions.max(1));
    let x = Scale::new(LEFT, RIGHT, end);
    let expected = forecast.map_or(0, |forecast| forecast.peak.words.max(forecast.registers));
    let most = kernel.registers().max(expected);
    let y = Scale::new(BOTTOM, TOP, most);
    let deepest = depths.iter().copied().max().unwrap_or(0).min(DEPTHS);
    let below = BOTTOM + 22.0 + LOOP * f64::from(deepest);
    let height = below + 40.0;
    let peak = x.at(f64::from(kernel.peak.point.row as u32) + 0.5);
    let anchor = if peak > (LEFT + RIGHT) / 2.0 { "end" } else { "start" };
    let lines = by_line(kernel);
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="live registers along the machine code" {
            @for tick in ticks(most, 5) {
                line.grid x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                text.end x=(px(LEFT - 8.0)) y=(px(y.at(tick) + 4.0)) { (tick) }
            }
            path.area d=(area(live, stride, end, x, y)) {}
            @if let Some(forecast) = forecast {
                @let steps = forecast.curve.words.len() as u32 * forecast.curve.stride;
                path.forecast d=(area(&forecast.curve.words, forecast.curve.stride, steps, Scale::new(LEFT, RIGHT, steps), y)) {}
            }
            (level("budget", &format!("has {} registers", kernel.registers()), y.at(kernel.registers())))
            @for (step, &bytes) in (0..).zip(local).filter(|&(_, &bytes)| bytes > 0) {
                rect.local x=(px(x.at(step * stride))) y=(px(BOTTOM + 3.0)) height="5"
                    width=(px((x.at(stride) - LEFT).max(1.0))) {
                    title { (bytes) " bytes to or from local memory" }
                }
            }
            @for depth in 1..=deepest {
                @for (start, stop) in loops_of(depths, depth) {
                    @let (start, stop) = (start * stride, (stop * stride).min(end));
                    rect.loop x=(px(x.at(start))) width=(px(x.at(stop - start) - LEFT))
                        y=(px(BOTTOM + 12.0 + LOOP * f64::from(depth - 1))) height=(px(LOOP - 2.0)) rx="2" {
                        title { "in " (depth) " loops or more: instructions " (start) " to " (stop) }
                    }
                }
            }
            line.axis x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(BOTTOM)) y2=(px(BOTTOM)) {}
            @for tick in ticks(end, 6) {
                text.middle x=(px(x.at(tick))) y=(px(below + 6.0)) { (grouped(u64::from(tick))) }
            }
            text.title.end x=(px(RIGHT)) y=(px(below + 24.0)) { "machine instruction" }
            line.peak x1=(px(peak)) x2=(px(peak)) y1="22" y2=(px(BOTTOM)) {}
            text.(anchor).peak x=(px(peak)) y="16" {
                "peak: " (kernel.live[0]) " live at " (measurement.at(&kernel.peak.point).split(" in ").next().unwrap_or_default())
            }
        }
        p.note {
            (key("area", &format!("live registers{}", most_of(stride)))) " · "
            (key("loop", "inside a loop, one row for each depth")) " · "
            (key("local", "moves to or from local memory"))
            @if forecast.is_some() {
                " · " (key("forecast", "the forecast's words along the PTX, stretched to the same width"))
            }
        }
        p { "Peak: " code { (instruction(&kernel.peak.point.text)) } " (" (measurement.at(&kernel.peak.point)) ")" }
        table.figures {
            @for (place, held) in lines.iter().take(ROWS) {
                tr {
                    td.number { (held.len()) }
                    td.remark { "from " (place.map_or("no known line".to_owned(), |place| measurement.place(place))) }
                }
            }
            @if lines.len() > ROWS { tr { td {} td.remark { (lines.len() - ROWS) " more lines" } } }
        }
    }
}

/// Draws a labelled line across the plot.
fn level(class: &str, name: &str, y: f64) -> Markup {
    html! {
        line.(class) x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(y)) y2=(px(y)) {}
        text.(class).end x=(px(RIGHT)) y=(px(y - 4.0)) { (name) }
    }
}

/// Returns the ranges of steps that have at least this loop depth.
fn loops_of(depths: &[u32], depth: u32) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for (step, _) in (0..).zip(depths).filter(|&(_, &of)| of >= depth) {
        match found.last_mut() {
            Some(last) if last.1 == step => last.1 += 1,
            _ => found.push((step, step + 1)),
        }
    }
    found
}
