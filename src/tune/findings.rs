//! What comparisons with stock say of the variants of a kernel.

use std::path::PathBuf;

use super::agreement::{Agreement, Difference};
use super::assurance::Assurance;
use super::predicted::Predicted;
use super::variant::Variant;

/// A variant that does not compute what stock does.
#[derive(Clone, Debug)]
pub struct DifferingVariant {
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
pub struct ComparisonCoverage {
    /// Statements of stock that ran, and all of them.
    pub statements: [usize; 2],
}

impl ComparisonCoverage {
    /// Whether less than a tenth of the statements ran.
    pub fn is_small(&self) -> bool {
        let [ran, all] = self.statements;
        10 * ran < all
    }
}

/// What stock and a variant executed in the launches that both ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// PTX instructions of warps of stock and of the variant.
    pub instructions: [u64; 2],
    /// Those that access local memory.
    pub local: [u64; 2],
    /// Machine instructions of warps of both, in the launches that the machine code of both ended; none where no machine
    /// code ran.
    pub machine: Option<[u64; 2]>,
}

impl Executed {
    /// How many times as many instructions as stock the variant executes: machine instructions, or else those of PTX.
    pub fn ratio(&self) -> f64 {
        let [stock, variant] = self.machine.unwrap_or(self.instructions);
        variant as f64 / stock.max(1) as f64
    }

    /// Whether the variant executes at most eleven tenths of stock's instructions.
    pub fn is_no_slower(&self) -> bool {
        let [stock, variant] = self.instructions;
        variant.saturating_mul(10) <= stock.saturating_mul(11)
    }

    /// Whether the variant's machine code executes more than eleven tenths of the instructions of stock's.
    pub fn is_slower_machine_code(&self) -> bool {
        self.machine.is_some_and(|[stock, variant]| variant.saturating_mul(10) > stock.saturating_mul(11))
    }

    /// Whether the variant executes no more instructions than stock.
    pub fn is_no_more(&self) -> bool {
        let [stock, variant] = self.instructions;
        variant <= stock
    }

    /// Whether a third of stock's accesses of local memory is gone, or more.
    pub fn spares_local(&self) -> bool {
        let [stock, variant] = self.local;
        stock > 0 && variant.saturating_mul(3) <= stock.saturating_mul(2)
    }
}

/// What a comparison of a variant with stock came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What it found.
    pub agreement: Agreement,
    /// Whether nothing can be said for a reason that is stock's, so that nothing can be said of any variant.
    pub is_stocks: bool,
    /// The folder with the PTX of both, where they differ.
    pub folder: Option<PathBuf>,
    /// What ran, where both are the same in all launches.
    pub coverage: Option<ComparisonCoverage>,
    /// What both executed, where they ended a launch.
    pub executed: Option<Executed>,
    /// How long both take by a model of time, where it says something of both.
    pub predicted: Option<Predicted>,
}

impl From<Agreement> for Compared {
    fn from(agreement: Agreement) -> Self {
        Self { agreement, is_stocks: false, folder: None, coverage: None, executed: None, predicted: None }
    }
}

/// A variant that computes what stock does, as far as is known, and may not win all the same.
#[derive(Clone, Debug)]
pub struct DisqualifiedVariant {
    /// The variant.
    pub variant: Variant,
    /// Why it could not be compared, where nothing else shows that it computes what stock does.
    pub uncompared: Option<String>,
    /// Whether it has not been shown to be worth what it may execute more.
    pub is_costly: bool,
    /// What a model of time says of it, where it is slower than stock by that.
    pub slower: Option<Predicted>,
}

impl DisqualifiedVariant {
    /// Why, in words.
    pub fn words(&self) -> String {
        match &self.slower {
            _ if self.is_costly => "may execute more instructions".into(),
            Some(predicted) => format!("predicted {}", predicted.words()),
            None => "could not be compared".into(),
        }
    }
}

/// What comparisons say of the variants of a kernel.
#[derive(Debug, Default)]
pub struct Findings {
    /// What was refused, the best first.
    pub refused: Vec<DifferingVariant>,
    /// What may not win for other reasons.
    pub disqualified: Vec<DisqualifiedVariant>,
    /// Why nothing can be said of stock, and so of no variant.
    pub stock_is_uncompared: Option<String>,
    /// What is said of the variant that wins; nothing of stock, and nothing where none was compared.
    pub winner: Option<Agreement>,
    /// What ran when the winner was compared, if it is the same in all launches.
    pub coverage: Option<ComparisonCoverage>,
    /// What stock and the winner executed when they were compared.
    pub executed: Option<Executed>,
    /// How long stock and the winner take by a model of time.
    pub predicted: Option<Predicted>,
    /// What came of the comparisons, by PTX.
    pub(super) known: Vec<ComparedText>,
}

/// What came of the comparison of some PTX with stock's.
#[derive(Debug)]
pub(super) struct ComparedText {
    /// The fingerprint of the PTX.
    pub(super) text: Option<String>,
    /// Whether floating-point numbers had to agree on every bit.
    pub(super) is_exact: bool,
    pub(super) compared: Compared,
}

impl Findings {
    /// What is said of the variant that wins; nothing of stock.
    pub fn said_of(&self, winner: &Variant) -> Option<&Agreement> {
        self.winner.as_ref().filter(|_| *winner != Variant::Stock)
    }

    /// What shows that the variant that wins computes what stock does; nothing of stock.
    pub fn assurance_of(&self, winner: &Variant) -> Option<Assurance> {
        self.said_of(winner).map(|agreement| Assurance::of(winner, agreement))
    }

    /// What stock and the variant that wins executed; nothing of stock.
    pub fn executed_of(&self, winner: &Variant) -> Option<Executed> {
        self.executed.filter(|_| self.said_of(winner).is_some())
    }

    /// What a model of time says of the variant that wins beside stock; nothing of stock.
    pub fn predicted_of(&self, winner: &Variant) -> Option<Predicted> {
        self.predicted.filter(|_| self.said_of(winner).is_some())
    }

    /// The first variant that does not win because a model of time says that it is slower, and what the model says.
    pub fn first_slower(&self) -> Option<(&Variant, Predicted)> {
        self.disqualified.iter().find_map(|disqualified| {
            Some((&disqualified.variant, disqualified.slower.filter(|_| !disqualified.is_costly)?))
        })
    }

    /// Whether a variant was refused.
    pub fn has_refused(&self, variant: &Variant) -> bool {
        self.refused.iter().any(|refused| refused.variant == *variant)
    }

    /// Notes what the comparison of the winner came to.
    pub(super) fn note_winner(&mut self, compared: Compared) {
        let Compared { agreement, coverage, executed, predicted, .. } = compared;
        (self.winner, self.coverage, self.executed) = (Some(agreement), coverage, executed);
        self.predicted = predicted;
    }

    /// Why a variant may not win, though nothing says that it differs.
    pub fn disqualification_of(&self, variant: &Variant) -> Option<&DisqualifiedVariant> {
        self.disqualified.iter().find(|disqualified| disqualified.variant == *variant)
    }

    /// Whether a variant may not win, though nothing says that it differs. `is_allowed` says whether what could not be compared may.
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

    /// Eleven tenths of the instructions are no more, two thirds of the accesses are fewer, and where stock has no access a variant
    /// spares no access. A comparison of less than a tenth of the statements is small.
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
