//! The predicted time of a variant, relative to stock's.
//!
//! No processor's model has been validated on a GPU yet. Therefore a prediction is only a veto: it can keep a variant
//! from winning, and cannot make a variant win.

use serde_json::{Value, json};

/// The source of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A launch that both codes completed.
    Run,
    /// A launch that both codes completed and that executed less than half of stock's code.
    Part,
    /// A walk through both codes, in which each loop has the same trip count.
    Walk,
}

impl Source {
    /// Returns the source in one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Part => "part",
            Self::Walk => "walk",
        }
    }
}

/// Predicted times of a variant and stock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Cycles of an SM for each block of stock, with data in L2 and with data in DRAM.
    pub stock: [f64; 2],
    /// The same cycles of the variant.
    pub variant: [f64; 2],
    /// The variant's time as a multiple of stock's.
    pub ratio: f64,
    /// The factor by which the ratio may be wrong. Two of three errors are smaller.
    pub uncertainty: f64,
    /// The source of the prediction.
    pub source: Source,
}

/// Ratios up to this one count as equal. Such a difference exists between two schedules that wait for the same results.
const NEGLIGIBLE: f64 = 1.01;

impl Predicted {
    /// Whether the prediction excludes the variant. A complete run decides by the ratio alone. A walk, or a launch that
    /// reaches little code, shows little about how often code executes. In these cases, and if the model `is_doubted`
    /// for the variant, the ratio has to exceed the uncertainty. A walk never excludes turned loops.
    pub fn is_slower(&self, has_turned_loops: bool, is_doubted: bool) -> bool {
        match self.source {
            Source::Walk if has_turned_loops => false,
            Source::Run if !is_doubted => self.ratio > NEGLIGIBLE,
            Source::Run | Source::Part | Source::Walk => self.ratio > self.uncertainty,
        }
    }

    /// Returns the difference in words: `4 % slower`.
    pub fn words(&self) -> String {
        let percent = 100.0 * (self.ratio - 1.0);
        let word = if percent < 0.0 { "faster" } else { "slower" };
        format!("{:.0} % {word}", percent.abs())
    }

    /// Returns the prediction as JSON. `of_variant` is the key of the variant's cycles.
    pub fn json(&self, of_variant: &str) -> Value {
        let cycles = |[near, far]: [f64; 2]| json!({ "l2": near.round(), "dram": far.round() });
        let thousandths = |number: f64| (number * 1000.0).round() / 1000.0;
        json!({
            "stock": cycles(self.stock),
            of_variant: cycles(self.variant),
            "ratio": thousandths(self.ratio),
            "uncertainty": thousandths(self.uncertainty),
            "source": self.source.word(),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Creates a prediction with a given ratio.
    pub(in crate::tune) fn predicted(ratio: f64, uncertainty: f64, source: Source) -> Predicted {
        Predicted { stock: [1000.0; 2], variant: [1000.0 * ratio; 2], ratio, uncertainty, source }
    }

    /// For runs, every difference counts that is not negligible. For walks, and for runs of doubted variants, only a
    /// difference beyond the uncertainty counts.
    #[test]
    fn slower() {
        let is_slower = |ratio, source, turned| predicted(ratio, 1.2, source).is_slower(turned, turned);
        let of = |ratio| {
            let of = |source| [false, true].map(|turned| is_slower(ratio, source, turned));
            [Source::Run, Source::Part, Source::Walk].map(of)
        };
        assert_eq!(of(1.01), [[false; 2]; 3]);
        assert_eq!(of(1.02), [[true, false], [false; 2], [false; 2]]);
        assert_eq!(of(1.2), [[true, false], [false; 2], [false; 2]]);
        assert_eq!(of(1.21), [[true; 2], [true; 2], [true, false]]);
        assert_eq!(of(0.5), [[false; 2]; 3]);
        let doubted = |ratio| predicted(ratio, 1.2, Source::Run).is_slower(false, true);
        assert_eq!([1.1, 1.21].map(doubted), [false, true]);
    }

    #[test]
    fn in_words() {
        let words = |ratio| predicted(ratio, 1.1, Source::Run).words();
        assert_eq!([words(1.04), words(0.9)], ["4 % slower", "10 % faster"]);
    }
}
