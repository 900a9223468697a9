//! The results of comparisons between stock and the variants of a kernel.

use std::path::PathBuf;

use super::agreement::{Agreement, Difference};
use super::assurance::Assurance;
use super::predicted::Predicted;
use super::variant::Variant;

/// A variant whose results differ from stock's.
#[derive(Clone, Debug)]
pub struct DifferingVariant {
    /// The variant.
    pub variant: Variant,
    /// The place where it differs.
    pub difference: Difference,
    /// The folder with the PTX of both.
    pub folder: Option<PathBuf>,
    /// Whether another variant with the same PTX was refused before.
    pub is_known: bool,
}

/// How much code a comparison executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComparisonCoverage {
    /// Executed statements of stock, and all of its statements.
    pub statements: [usize; 2],
}

impl ComparisonCoverage {
    /// Whether less than a tenth of the statements were executed.
    pub fn is_small(&self) -> bool {
        let [ran, all] = self.statements;
        10 * ran < all
    }
}

/// What stock and a variant executed in the launches that both completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// PTX instructions of warps of stock and of the variant.
    pub instructions: [u64; 2],
    /// The PTX instructions of both that access local memory.
    pub local: [u64; 2],
    /// Machine instructions of warps of both, in the launches that the machine code of both completed. `None` if no
    /// machine code ran.
    pub machine: Option<[u64; 2]>,
}

impl Executed {
    /// Returns the variant's executed instructions as a multiple of stock's: machine instructions if known, else PTX
    /// instructions.
    pub fn ratio(&self) -> f64 {
        let [stock, variant] = self.machine.unwrap_or(self.instructions);
        variant as f64 / stock.max(1) as f64
    }

    /// Whether the variant executes at most 1.1 times stock's instructions.
    pub fn is_no_slower(&self) -> bool {
        let [stock, variant] = self.instructions;
        variant.saturating_mul(10) <= stock.saturating_mul(11)
    }

    /// Whether the variant's machine code executes more than 1.1 times the instructions of stock's.
    pub fn is_slower_machine_code(&self) -> bool {
        self.machine.is_some_and(|[stock, variant]| variant.saturating_mul(10) > stock.saturating_mul(11))
    }

    /// Whether the variant executes no more instructions than stock.
    pub fn is_no_more(&self) -> bool {
        let [stock, variant] = self.instructions;
        variant <= stock
    }

    /// Whether the variant executes at least a third fewer accesses of local memory than stock.
    pub fn spares_local(&self) -> bool {
        let [stock, variant] = self.local;
        stock > 0 && variant.saturating_mul(3) <= stock.saturating_mul(2)
    }
}

/// The result of a comparison of a variant with stock.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The result.
    pub agreement: Agreement,
    /// Whether the comparison failed for a reason that lies in stock, so that no variant can be compared.
    pub is_stocks: bool,
    /// The folder with the PTX of both, if they differ.
    pub folder: Option<PathBuf>,
    /// How much code was executed, if both are the same in all launches.
    pub coverage: Option<ComparisonCoverage>,
    /// What both executed, if both completed a launch.
    pub executed: Option<Executed>,
    /// Predicted times of both, if the model of time covers both.
    pub predicted: Option<Predicted>,
}

impl From<Agreement> for Compared {
    fn from(agreement: Agreement) -> Self {
        Self { agreement, is_stocks: false, folder: None, coverage: None, executed: None, predicted: None }
    }
}

/// A variant that cannot win although no difference from stock is known.
#[derive(Clone, Debug)]
pub struct DisqualifiedVariant {
    /// The variant.
    pub variant: Variant,
    /// Why it could not be compared, if nothing else shows that it computes the same as stock.
    pub uncompared: Option<String>,
    /// Whether the variant may execute more instructions than stock, and no gain was shown that is worth them.
    pub is_costly: bool,
    /// The predicted times, if the variant is predicted to be slower than stock.
    pub slower: Option<Predicted>,
}

impl DisqualifiedVariant {
    /// Returns the reason in words.
    pub fn words(&self) -> String {
        match &self.slower {
            _ if self.is_costly => "may execute more instructions".into(),
            Some(predicted) => format!("predicted {}", predicted.words()),
            None => "could not be compared".into(),
        }
    }
}

/// The results of the comparisons of a kernel's variants.
#[derive(Debug, Default)]
pub struct Findings {
    /// Variants with other results than stock, the best first.
    pub refused: Vec<DifferingVariant>,
    /// Variants that cannot win for other reasons.
    pub disqualified: Vec<DisqualifiedVariant>,
    /// Why stock cannot be compared, and therefore no variant can.
    pub stock_is_uncompared: Option<String>,
    /// The comparison of the winner. `None` for stock, and if no variant was compared.
    pub winner: Option<Agreement>,
    /// How much code the comparison of the winner executed, if the winner is the same in all launches.
    pub coverage: Option<ComparisonCoverage>,
    /// What stock and the winner executed in their comparison.
    pub executed: Option<Executed>,
    /// Predicted times of stock and the winner.
    pub predicted: Option<Predicted>,
    /// Results of comparisons, by PTX.
    pub(super) known: Vec<ComparedText>,
}

/// The result of comparing a PTX module with stock's.
#[derive(Debug)]
pub(super) struct ComparedText {
    /// The fingerprint of the PTX.
    pub(super) text: Option<String>,
    /// Whether floating-point results had to agree in every bit.
    pub(super) is_exact: bool,
    pub(super) compared: Compared,
}

impl Findings {
    /// Returns the comparison of the winner. `None` for stock.
    pub fn said_of(&self, winner: &Variant) -> Option<&Agreement> {
        self.winner.as_ref().filter(|_| *winner != Variant::Stock)
    }

    /// Returns the evidence that the winner computes the same as stock. `None` for stock.
    pub fn assurance_of(&self, winner: &Variant) -> Option<Assurance> {
        self.said_of(winner).map(|agreement| Assurance::of(winner, agreement))
    }

    /// Returns what stock and the winner executed. `None` for stock.
    pub fn executed_of(&self, winner: &Variant) -> Option<Executed> {
        self.executed.filter(|_| self.said_of(winner).is_some())
    }

    /// Returns the predicted times of stock and the winner. `None` for stock.
    pub fn predicted_of(&self, winner: &Variant) -> Option<Predicted> {
        self.predicted.filter(|_| self.said_of(winner).is_some())
    }

    /// Returns the first variant that is excluded because it is predicted to be slower, with the prediction.
    pub fn first_slower(&self) -> Option<(&Variant, Predicted)> {
        self.disqualified.iter().find_map(|disqualified| {
            Some((&disqualified.variant, disqualified.slower.filter(|_| !disqualified.is_costly)?))
        })
    }

    /// Whether a variant was refused for a difference.
    pub fn has_refused(&self, variant: &Variant) -> bool {
        self.refused.iter().any(|refused| refused.variant == *variant)
    }

    /// Stores the result of the winner's comparison.
    pub(super) fn note_winner(&mut self, compared: Compared) {
        let Compared { agreement, coverage, executed, predicted, .. } = compared;
        (self.winner, self.coverage, self.executed) = (Some(agreement), coverage, executed);
        self.predicted = predicted;
    }

    /// Returns why a variant cannot win although no difference is known.
    pub fn disqualification_of(&self, variant: &Variant) -> Option<&DisqualifiedVariant> {
        self.disqualified.iter().find(|disqualified| disqualified.variant == *variant)
    }

    /// Whether a variant cannot win although no difference is known. If `is_allowed`, variants that could not be
    /// compared can win.
    pub(super) fn has_disqualified(&self, variant: &Variant, is_allowed: bool) -> bool {
        let bars = |disqualified: &DisqualifiedVariant| {
            disqualified.is_costly || disqualified.slower.is_some() || disqualified.uncompared.is_some() && !is_allowed
        };
        self.disqualified.iter().any(|disqualified| disqualified.variant == *variant && bars(disqualified))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1.1 times stock's instructions count as no slower. Two thirds of stock's accesses count as fewer. A variant
    /// cannot save accesses if stock has none. A comparison of less than a tenth of the statements is small.
    #[test]
    fn executed() {
        let of = |instructions, local| Executed { instructions, local, machine: None };
        assert!(of([100, 110], [0; 2]).is_no_slower() && !of([100, 111], [0; 2]).is_no_slower());
        assert!(of([100, 100], [0; 2]).is_no_more() && !of([100, 101], [0; 2]).is_no_more());
        assert!(of([1; 2], [30, 20]).spares_local() && !of([1; 2], [30, 21]).spares_local());
        assert!(!of([1; 2], [0, 0]).spares_local());
        let is_small = |statements| ComparisonCoverage { statements }.is_small();
        assert!(is_small([9, 91]) && !is_small([9, 90]) && !is_small([0, 0]));
    }
}
