//! What a search has found for a kernel, as the cache keeps it.

use serde::{Deserialize, Serialize};

use crate::ptxas::Real;

/// What ptxas makes of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) real: Real,
    /// Machine instructions, all but NOPs.
    pub(crate) instructions: u32,
    /// What ptxas warns of, a line each.
    pub(crate) warnings: Vec<String>,
}

/// A variant that is better than the unchanged text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choice {
    /// How it is made: the text of a profile.
    pub(crate) profile: String,
    pub(crate) outcome: Outcome,
}

/// The result of a search. Whoever takes it from a cache assembles the choice, and delivers it only if ptxas makes the
/// same of it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) unchanged: Outcome,
    /// `None` if nothing is better than the unchanged text.
    pub(crate) choice: Option<Choice>,
}
