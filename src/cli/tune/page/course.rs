//! The course of the search: the best figures after each variant.

use maud::{Markup, html};
use nvptx_ra::tune::figures::Figures;

use super::{Outcome, Tuned};
use crate::page::chart::{Scale, area, px, ticks};
use crate::page::{grouped, key};

/// The size of the drawing, and of the plot in it, in pixels.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 236.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 620.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 190.0;

/// A figure that is plotted.
struct Measure {
    name: &'static str,
    of: fn(&Figures) -> u32,
}

const SPILLS: Measure = Measure { name: "bytes spilled", of: Figures::spill_bytes };
const WARPS: Measure = Measure { name: "warps on an SM", of: |figures| figures.warps };
const INSTRUCTIONS: Measure = Measure { name: "machine instructions", of: |figures| figures.sass.instructions };

/// Plots the course of one kernel: its spills. If stock spills nothing, the warps are plotted if they increase, else
/// the instructions.
pub(super) fn of_kernel(tuned: &Tuned<'_>, outcome: &Outcome<'_>) -> Markup {
    let stock = &outcome.kernel.stock;
    let measure = match stock.spill_bytes() {
        0 if outcome.figures.warps > stock.warps => WARPS,
        0 => INSTRUCTIONS,
        _ => SPILLS,
    };
    let course = outcome.kernel.course(tuned.objective);
    let heights: Vec<u32> = [stock].into_iter().chain(&course).map(measure.of).collect();
    chart(&heights, measure.name)
}

/// Plots the sum of all courses, as if the kernels were searched at the same pace.
pub(super) fn of_all(tuned: &Tuned<'_>) -> Markup {
    let is_spilling = tuned.kernels.iter().any(|outcome| outcome.kernel.stock.spill_bytes() > 0);
    let measure = if is_spilling { SPILLS } else { INSTRUCTIONS };
    let courses: Vec<Vec<Figures>> =
        tuned.kernels.iter().map(|outcome| outcome.kernel.course(tuned.objective)).collect();
    let length = courses.iter().map(Vec::len).max().unwrap_or(0);
    let at = |step: usize| {
        let of = |(outcome, course): (&Outcome<'_>, &Vec<Figures>)| {
            let reached = course[..step.min(course.len())].last().unwrap_or(&outcome.kernel.stock);
            u64::from((measure.of)(reached))
        };
        let sum: u64 = tuned.kernels.iter().zip(&courses).map(of).sum();
        u32::try_from(sum).unwrap_or(u32::MAX)
    };
    chart(&(0..=length).map(at).collect::<Vec<u32>>(), measure.name)
}

/// Plots a curve. The first value is the figure before the search.
fn chart(heights: &[u32], name: &str) -> Markup {
    let (end, most) = (heights.len() as u32, heights.iter().copied().max().unwrap_or(0));
    let (x, y) = (Scale::new(LEFT, RIGHT, end), Scale::new(BOTTOM, TOP, most));
    let last = heights.last().copied().unwrap_or(0);
    let found = heights.iter().position(|&height| height == last).unwrap_or(0) as u32;
    let place = x.at(f64::from(found) + 0.5);
    let anchor = if place > (LEFT + RIGHT) / 2.0 { "end" } else { "start" };
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("{name}, best so far by variant")) {
            @for tick in ticks(most, 4) {
                line.grid x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                text.end x=(px(LEFT - 8.0)) y=(px(y.at(tick) + 4.0)) { (grouped(u64::from(tick))) }
            }
            path.area d=(area(heights, 1, end, x, y)) {}
            line.axis x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(BOTTOM)) y2=(px(BOTTOM)) {}
            @for tick in ticks(end.saturating_sub(1), 8) {
                text.middle x=(px(x.at(f64::from(tick) + 0.5))) y=(px(BOTTOM + 16.0)) { (tick) }
            }
            line.next x1=(px(place)) x2=(px(place)) y1="22" y2=(px(BOTTOM)) {}
            text.(anchor).next x=(px(place)) y="16" {
                @if found == 0 { "as before: " (grouped(u64::from(last))) }
                @else { (grouped(u64::from(last))) " after variant " (found) }
            }
            text.title.end x=(px(RIGHT)) y=(px(BOTTOM + 36.0)) { "variants tried; 0 is before the search" }
        }
        p.note { (key("area", &format!("the best so far, in {name}"))) }
    }
}
