//! Draws the warps on an SM by the registers of a thread.

use maud::{Markup, html};
use nvptx_ra::target::machine::{Architecture, DEFAULT_THREADS, Launch, MAX_REGISTERS};

use crate::page::chart::{Scale, area, px};

/// Size of the drawing and of its plot, in pixels.
const WIDTH: f64 = 516.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 32.0;
const RIGHT: f64 = 504.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 212.0;
/// Width of an axis label, in pixels.
const LABEL: f64 = 22.0;

/// Draws the occupancy steps, the kernel's position, and the next step.
pub(super) fn occupancy(launch: &Launch, architecture: &Architecture) -> Markup {
    let (now, next_step) = (architecture.occupancy(launch), architecture.next_step(launch));
    let warps = |registers| architecture.occupancy(&launch.with_registers(registers)).warps;
    let heights: Vec<u32> = (0..=MAX_REGISTERS).map(|registers| warps(registers.max(1))).collect();
    let x = Scale::new(LEFT, RIGHT, MAX_REGISTERS + 1);
    let y = Scale::new(BOTTOM, TOP, architecture.max_warps);
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="warps by registers" {
            @for tick in (0..=architecture.max_warps).step_by(architecture.max_warps as usize / 4) {
                line.grid x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                text.end x=(px(LEFT - 8.0)) y=(px(y.at(tick) + 4.0)) { (tick) }
            }
            path.area d=(area(&heights, 1, MAX_REGISTERS + 1, x, y)) {}
            @for edge in edges(&heights, x) {
                text.middle x=(px(x.at(f64::from(edge) + 0.5))) y=(px(BOTTOM + 16.0)) { (edge) }
            }
            text.title x="0" y="14" { "warps on an SM" }
            text.title.end x=(px(RIGHT)) y=(px(BOTTOM + 36.0)) {
                "registers of a thread: the numbers are the ends of the steps"
            }
            @if let Some(step) = next_step { (mark("next", 1, "next step: at most", step, warps(step), x, y)) }
            (mark("here", 0, "here:", launch.registers, now.warps, x, y))
        }
        p.note {
            @match next_step {
                Some(step) => {
                    "With at most " b { (step) } " registers an SM holds " b { (warps(step)) } " warps instead of "
                    (now.warps) ". "
                }
                None => { "Fewer registers do not add warps. " }
            }
            @if launch.threads.is_none() {
                "The kernel does not declare its block size: " (DEFAULT_THREADS) " threads are assumed. "
            }
            @if launch.dynamic_shared == 0 {
                "Dynamic shared memory, which a launch adds, is unknown here."
            }
        }
    }
}

/// Draws a point of the steps. Its label is in row `row` of the upper right corner. This corner is empty, because the
/// steps fall.
fn mark(class: &str, row: u32, name: &str, registers: u32, warps: u32, x: Scale, y: Scale) -> Markup {
    let (left, top) = (x.at(f64::from(registers) + 0.5), y.at(warps));
    let label = TOP + 14.0 + 18.0 * f64::from(row);
    html! {
        line.(class) x1=(px(left)) x2=(px(left)) y1=(px(top)) y2=(px(BOTTOM)) {}
        circle.(class) cx=(px(left)) cy=(px(top)) r="5" {}
        text.end.(class) x=(px(RIGHT - 16.0)) y=(px(label)) {
            (name) " " (registers) " registers, " (warps) " warps"
        }
        circle.(class) cx=(px(RIGHT - 6.0)) cy=(px(label - 4.0)) r="5" {}
    }
}

/// Returns the last register count of each step, the highest first. Steps without enough space for a label are omitted.
fn edges(heights: &[u32], x: Scale) -> Vec<u32> {
    let mut edges: Vec<u32> = Vec::new();
    let last = (0..heights.len()).rev().filter(|&at| heights.get(at + 1) != Some(&heights[at]));
    for edge in last.map(|edge| edge as u32) {
        if edges.last().is_none_or(|&right| x.at(right) - x.at(edge) >= LABEL) {
            edges.push(edge);
        }
    }
    edges
}
