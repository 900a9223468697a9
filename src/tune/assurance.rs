//! Evidence that a variant computes the same as stock.

use super::agreement::Agreement;
use super::variant::Variant;

/// Evidence that a winner computes the same as stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assurance {
    /// The checker proves the passes' changes, and no other choice of the variant affects results.
    Proved,
    /// The variant ran on the CPU with the same results as stock.
    Run,
    /// The variant could not be compared, and no proof covers it, because its compiler or LLVM's optimisations differ.
    Neither,
}

impl Assurance {
    /// Returns the evidence for a variant that was compiled with the checker, from the result of its comparison.
    pub fn of(variant: &Variant, agreement: &Agreement) -> Self {
        match agreement {
            _ if variant.is_proved() => Self::Proved,
            Agreement::Same => Self::Run,
            Agreement::NotComparable(_) | Agreement::NotCompared | Agreement::Different(_) => Self::Neither,
        }
    }

    /// Returns the evidence in one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Run => "run",
            Self::Neither => "neither",
        }
    }

    /// Returns the evidence, and whether a proved variant has run as well.
    pub fn words(self, agreement: &Agreement) -> &'static str {
        match (self, agreement) {
            (Self::Proved, Agreement::Same) => "proved, run",
            _ => self.word(),
        }
    }
}
