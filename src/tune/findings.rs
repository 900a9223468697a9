//! What comparisons with stock say of the variants of a kernel.

use std::path::PathBuf;

use super::agreement::{Agreement, Difference};
use super::variant::Variant;

/// A variant that does not compute what stock does.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The variant.
    pub variant: Variant,
    /// Where it differs.
    pub difference: Difference,
    /// The folder with the PTX of both.
    pub folder: Option<PathBuf>,
    /// Whether another variant with the same PTX was refused before.
    pub is_known: bool,
}

/// What a comparison of a variant with stock came to.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What it found.
    pub agreement: Agreement,
    /// The folder with the PTX of both, where they differ.
    pub folder: Option<PathBuf>,
}

impl From<Agreement> for Compared {
    fn from(agreement: Agreement) -> Self {
        Self { agreement, folder: None }
    }
}

/// What comparisons say of the variants of a kernel.
#[derive(Debug, Default)]
pub struct Findings {
    /// What was refused, the best first.
    pub refused: Vec<Refused>,
    /// What is said of the variant that wins; nothing of stock, and nothing where none was compared.
    pub winner: Option<Agreement>,
}

impl Findings {
    /// What is said of the variant that wins; nothing of stock.
    pub fn said_of(&self, winner: &Variant) -> Option<&Agreement> {
        self.winner.as_ref().filter(|_| *winner != Variant::Stock)
    }

    /// Whether a variant was refused.
    pub fn has_refused(&self, variant: &Variant) -> bool {
        self.refused.iter().any(|refused| refused.variant == *variant)
    }

    /// Notes what a comparison came to: a variant that differs is refused, any other one wins.
    pub(super) fn note(&mut self, variant: Variant, compared: Compared) {
        let Compared { agreement, folder } = compared;
        match agreement {
            Agreement::Different(difference) => {
                self.refused.push(Refused { variant, difference, folder, is_known: false });
            }
            agreement => self.winner = Some(agreement),
        }
    }
}
