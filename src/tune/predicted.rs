//! What a model of time says of a variant beside stock.
//!
//! No processor's model has been validated on a GPU yet, so a prediction is a veto: it keeps variants from winning, and it
//! makes none win.

use serde_json::{Value, json};

/// Where a prediction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A launch that both codes ran to its end.
    Run,
    /// The same, and less than half of stock's code ran.
    Part,
    /// A walk through both codes, in which each loop runs the same number of times.
    Walk,
}

impl Source {
    /// It in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Part => "part",
            Self::Walk => "walk",
        }
    }
}

/// Predicted time of a variant beside stock's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Cycles of an SM for each block of stock, with data in L2 and in DRAM.
    pub stock: [f64; 2],
    /// The same of the variant.
    pub variant: [f64; 2],
    /// The variant's time over stock's.
    pub ratio: f64,
    /// By what factor the ratio may be wrong, two times out of three.
    pub uncertainty: f64,
    /// Where it comes from.
    pub source: Source,
}

/// A difference below this is that of two schedules which wait for the same things.
const NEGLIGIBLE: f64 = 1.01;

impl Predicted {
    /// Whether the variant may not win for it. Codes that ran are held against each other as they are. A walk, or a launch that
    /// reaches little, says little of how often code runs: there the difference has to be beyond the uncertainty, as of a
    /// variant of which the model `is_doubted`. A walk says nothing of turned loops.
    pub fn is_slower(&self, has_turned_loops: bool, is_doubted: bool) -> bool {
        match self.source {
            Source::Walk if has_turned_loops => false,
            Source::Run if !is_doubted => self.ratio > NEGLIGIBLE,
            Source::Run | Source::Part | Source::Walk => self.ratio > self.uncertainty,
        }
    }

    /// The difference in words: `4 % slower`.
    pub fn words(&self) -> String {
        let percent = 100.0 * (self.ratio - 1.0);
        let word = if percent < 0.0 { "faster" } else { "slower" };
        format!("{:.0} % {word}", percent.abs())
    }

    /// It as JSON. `of_variant` is what the variant's cycles are called.
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

    /// A prediction with such a ratio.
    pub(in crate::tune) fn predicted(ratio: f64, uncertainty: f64, source: Source) -> Predicted {
        Predicted { stock: [1000.0; 2], variant: [1000.0 * ratio; 2], ratio, uncertainty, source }
    }

    /// Of runs all but the least difference counts; of walks, and of runs of turned loops, what is beyond the uncertainty.
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
