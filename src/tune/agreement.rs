//! The result of comparing a variant of a kernel with stock.

use serde_json::{Value, json};

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// All compared results are equal.
    Same,
    /// The comparison was not possible, for a reason.
    NotComparable(String),
    /// The results differ.
    Different(Difference),
    /// The user turned the comparison off.
    NotCompared,
}

/// A difference between a variant and stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first place where stock and the variant differ. Stock is the first program, the variant the second.
    pub place: String,
    /// The command that reproduces the difference, from `stock.ptx` and `variant.ptx` in the folder where it runs.
    pub command: String,
}

impl Agreement {
    /// Returns the result in one or two words.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::NotComparable(_) => "not comparable",
            Self::Different(_) => "different",
            Self::NotCompared => "not compared",
        }
    }

    /// Returns why no comparison was possible, or where the results differ.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Same | Self::NotCompared => None,
            Self::NotComparable(reason) => Some(reason),
            Self::Different(difference) => Some(&difference.place),
        }
    }

    /// Returns the result in a word, with the reason.
    pub fn sentence(&self) -> String {
        self.reason().map_or_else(|| self.word().into(), |reason| format!("{}: {reason}", self.word()))
    }

    /// Returns the result as JSON.
    pub fn json(&self) -> Value {
        json!({ "verdict": self.word(), "reason": self.reason() })
    }
}
