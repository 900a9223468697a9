//! Results of the user's own benchmark for a kernel.

/// Results of several runs of a benchmark, in its own unit. Less is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The median.
    pub median: f64,
    /// The distance from the lower to the upper quartile.
    pub spread: f64,
}

impl Timing {
    /// Summarises one or more runs.
    pub fn new(mut runs: Vec<f64>) -> Self {
        runs.sort_by(f64::total_cmp);
        let at = |quarter: usize| runs[(runs.len() - 1) * quarter / 4];
        let median = (runs[(runs.len() - 1) / 2] + runs[runs.len() / 2]) / 2.0;
        // The quartiles are rounded outwards, so that few runs do not look more stable than they are.
        let upper = runs[((runs.len() - 1) * 3).div_ceil(4)];
        Self { median, spread: upper - at(1) }
    }

    /// Whether the difference of the medians is larger than both spreads.
    pub fn is_faster_than(&self, other: &Self) -> bool {
        self.median + self.spread.max(other.spread) < other.median
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a difference beyond both spreads counts as faster. An equal or uncertain result does not.
    #[test]
    fn beyond_the_spread() {
        let stock = Timing::new(vec![10.0, 10.2, 9.9, 10.1, 30.0]);
        assert_eq!(stock.median, 10.1);
        assert!(Timing::new(vec![9.0; 5]).is_faster_than(&stock));
        assert!(!stock.is_faster_than(&stock));
        assert!(!Timing::new(vec![10.0; 5]).is_faster_than(&stock));
        assert!(!Timing::new(vec![9.0, 2.0, 9.0, 20.0, 22.0]).is_faster_than(&stock));
        assert_eq!(Timing::new(vec![4.0, 2.0]), Timing { median: 3.0, spread: 2.0 });
        assert_eq!(Timing::new(vec![4.0]), Timing { median: 4.0, spread: 0.0 });
    }
}
