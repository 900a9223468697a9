//! What shows that a variant computes what stock does.

use super::agreement::Agreement;
use super::variant::Variant;

/// What shows that a variant that wins computes what stock does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assurance {
    /// The checker proves what the passes do, and nothing else that the variant chooses bears on the meaning.
    Proved,
    /// It ran on the CPU as stock does.
    Run,
    /// It could not be compared, and LLVM's optimisations or another compiler had a part in it.
    Neither,
}

impl Assurance {
    /// That of a variant that was compiled with the checker, by what its comparison came to.
    pub fn of(variant: &Variant, agreement: &Agreement) -> Self {
        match agreement {
            _ if variant.is_proved() => Self::Proved,
            Agreement::Same => Self::Run,
            Agreement::NotComparable(_) | Agreement::NotCompared | Agreement::Different(_) => Self::Neither,
        }
    }

    /// It in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Run => "run",
            Self::Neither => "neither",
        }
    }

    /// It, and whether what is proved has run as well.
    pub fn words(self, agreement: &Agreement) -> &'static str {
        match (self, agreement) {
            (Self::Proved, Agreement::Same) => "proved, run",
            _ => self.word(),
        }
    }
}
