//! Parts of charts: scales, paths and ticks.

use std::fmt::Write as _;

/// A linear scale from numbers to pixels.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    /// The pixel of 0.
    pub(crate) origin: f64,
    /// Pixels for 1; negative if numbers grow upwards.
    pub(crate) pixels: f64,
}

impl Scale {
    /// Makes a scale from `origin` for 0 to `end` for `most`, which is at least 1.
    pub(crate) fn new(origin: f64, end: f64, most: u32) -> Self {
        Self { origin, pixels: (end - origin) / f64::from(most.max(1)) }
    }

    /// Returns the pixel of a number.
    pub(crate) fn at(self, number: impl Into<f64>) -> f64 {
        self.origin + number.into() * self.pixels
    }
}

/// Formats a pixel, to a tenth.
pub(crate) fn px(pixel: f64) -> String {
    let text = format!("{pixel:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Returns the area below a curve of steps, each `stride` wide except the last, which ends at `end`. Adjacent steps of
/// equal height are one line.
pub(crate) fn area(heights: &[u32], stride: u32, end: u32, x: Scale, y: Scale) -> String {
    let mut path = format!("M{} {}", px(x.at(0)), px(y.at(0)));
    let mut height = 0;
    for (step, &next) in (0..).zip(heights) {
        if next != height {
            let _ = write!(path, "H{}V{}", px(x.at(step * stride)), px(y.at(next)));
            height = next;
        }
    }
    let _ = write!(path, "H{}V{}Z", px(x.at(end)), px(y.at(0)));
    path
}

/// Returns about `wanted` round numbers from 0 to `most`.
pub(crate) fn ticks(most: u32, wanted: u32) -> Vec<u32> {
    let least = most.div_ceil(wanted.max(1)).max(1);
    let power = 10u32.pow(least.ilog10());
    let step = [1, 2, 5].into_iter().map(|digit| digit * power).find(|&step| step >= least);
    (0..=most).step_by(step.unwrap_or(power.saturating_mul(10)) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::{Scale, area, ticks};

    /// Ticks are round, begin at 0 and do not exceed the end.
    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0, 5), [0]);
        assert_eq!(ticks(3, 5), [0, 1, 2, 3]);
        assert_eq!(ticks(117, 5), [0, 50, 100]);
        assert_eq!(ticks(255, 8), [0, 50, 100, 150, 200, 250]);
    }

    /// An area begins and ends on its base, and equal steps are merged.
    #[test]
    fn areas_are_closed() {
        let (x, y) = (Scale::new(10.0, 20.0, 10), Scale::new(100.0, 0.0, 10));
        assert_eq!(area(&[2, 2, 0, 5], 3, 10, x, y), "M10 100H10V80H16V100H19V50H20V100Z");
        assert_eq!(area(&[], 1, 0, x, y), "M10 100H10V100Z");
    }
}
