//! What comparisons with stock say of the variants of a kernel.

use std::path::PathBuf;

use super::agreement::{Agreement, Difference};
use super::variant::Variant;

/// A variant that does not compute what stock does.
pub(super) struct Refused {
    pub(super) variant: Variant,
    /// Where it differs.
    pub(super) difference: Difference,
    /// The folder with the PTX of both.
    pub(super) folder: Option<PathBuf>,
    /// Whether another variant with the same PTX was refused before.
    pub(super) is_known: bool,
}

/// What comparisons say of the variants of a kernel.
#[derive(Default)]
pub(super) struct Findings {
    /// What was refused, the best first.
    pub(super) refused: Vec<Refused>,
    /// What is said of the variant that wins; nothing of stock, and nothing where none was compared.
    pub(super) winner: Option<Agreement>,
}

impl Findings {
    /// What is said of the variant that wins; nothing of stock.
    pub(super) fn said_of(&self, winner: &Variant) -> Option<&Agreement> {
        self.winner.as_ref().filter(|_| *winner != Variant::Stock)
    }

    /// Whether a variant was refused.
    pub(super) fn has_refused(&self, variant: &Variant) -> bool {
        self.refused.iter().any(|refused| refused.variant == *variant)
    }
}
