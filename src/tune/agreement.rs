//! Whether a variant of a kernel computes what stock does.

use serde_json::{Value, json};

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// All that could be compared is the same.
    Same,
    /// Nothing can be said, for a reason.
    NotComparable(String),
    /// They differ.
    Different(Difference),
    /// Nobody has compared them, as the user wants it.
    NotCompared,
}

/// A difference between a variant and stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first place where they differ. Stock is the first program, the variant the second.
    pub place: String,
    /// The command that shows it again, of `stock.ptx` and `variant.ptx` in the folder where it is given.
    pub command: String,
}

impl Agreement {
    /// It in a word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::NotComparable(_) => "not comparable",
            Self::Different(_) => "different",
            Self::NotCompared => "not compared",
        }
    }

    /// Why nothing can be said, or where they differ.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Same | Self::NotCompared => None,
            Self::NotComparable(reason) => Some(reason),
            Self::Different(difference) => Some(&difference.place),
        }
    }

    /// It in a word, and the reason.
    pub fn sentence(&self) -> String {
        self.reason().map_or_else(|| self.word().into(), |reason| format!("{}: {reason}", self.word()))
    }

    /// It as JSON.
    pub fn json(&self) -> Value {
        json!({ "verdict": self.word(), "reason": self.reason() })
    }
}
