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

/// What ran in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Instructions of warps of stock and of the variant.
    pub steps: [u64; 2],
    /// Statements of stock that ran, and all of them.
    pub statements: [usize; 2],
}

impl Reach {
    /// How many hundredths more instructions the variant runs than stock; nothing up to ten.
    pub fn hundredths_more(&self) -> Option<u64> {
        let [stock, variant] = self.steps;
        let more = variant.saturating_sub(stock).saturating_mul(100).checked_div(stock)?;
        (more > 10).then_some(more)
    }

    /// Whether less than a tenth of the statements ran.
    pub fn is_small(&self) -> bool {
        let [ran, all] = self.statements;
        10 * ran < all
    }
}

/// What a comparison of a variant with stock came to.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What it found.
    pub agreement: Agreement,
    /// The folder with the PTX of both, where they differ.
    pub folder: Option<PathBuf>,
    /// What ran, where both are the same in all launches.
    pub reach: Option<Reach>,
}

impl From<Agreement> for Compared {
    fn from(agreement: Agreement) -> Self {
        Self { agreement, folder: None, reach: None }
    }
}

/// What comparisons say of the variants of a kernel.
#[derive(Debug, Default)]
pub struct Findings {
    /// What was refused, the best first.
    pub refused: Vec<Refused>,
    /// What is said of the variant that wins; nothing of stock, and nothing where none was compared.
    pub winner: Option<Agreement>,
    /// What ran when the winner was compared, if it is the same in all launches.
    pub reach: Option<Reach>,
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
        let Compared { agreement, folder, reach } = compared;
        match agreement {
            Agreement::Different(difference) => {
                self.refused.push(Refused { variant, difference, folder, is_known: false });
            }
            agreement => {
                self.winner = Some(agreement);
                self.reach = reach;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More instructions are told from eleven hundredths on, and a comparison of less than a tenth of the statements is small.
    #[test]
    fn reach() {
        let more = |steps| Reach { steps, statements: [1, 1] }.hundredths_more();
        assert_eq!([more([100, 111]), more([100, 110]), more([100, 90]), more([0, 9])], [Some(11), None, None, None]);
        let is_small = |statements| Reach { steps: [1, 1], statements }.is_small();
        assert!(is_small([9, 91]) && !is_small([9, 90]) && !is_small([0, 0]));
    }
}
