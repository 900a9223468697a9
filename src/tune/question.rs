//! Questions of a search about a kernel's variants, and their answers.

use super::figures::Figures;
use super::findings::Compared;
use super::variant::Variant;
use crate::config::RegisterNames;

/// A question of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The fingerprint of a variant's PTX. Many variants have the same PTX.
    Text(Variant),
    /// The figures of a variant's PTX. Only the first variant with the same PTX is asked about.
    Figures(Variant),
    /// The registers whose values ptxas spills in the PTX of a variant.
    Spilled(Variant),
    /// The comparison of a variant with stock. It needs no ptxas run.
    Compared(Variant),
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The fingerprint, or why there is no PTX.
    Text(Result<String, NoAnswer>),
    /// The figures.
    Figures(Result<Figures, NoAnswer>),
    /// The registers, and the other results of the same ptxas run.
    Spilled(Result<Spilled, NoAnswer>),
    /// The comparison. `None` if it was interrupted.
    Compared(Option<Compared>),
}

/// What is known of a variant after a search for spilled values in its machine code.
#[derive(Clone, Debug, PartialEq)]
pub struct Spilled {
    /// The registers whose values ptxas spills, by their names.
    pub registers: RegisterNames,
    /// Its figures. `None` if they need more than machine code.
    pub text: String,
    /// Its figures, if machine code is enough to know them.
    pub figures: Option<Figures>,
}

/// Why a PTX file has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// ptxas refuses the file, or takes too long. Another try would give the same.
    Refused(String),
    /// The answer could not be obtained, because the disk was full, for example.
    Failed(String),
    /// The user interrupted the run, so that nothing is known of the variant.
    BrokenOff,
    /// The answer is pending, because the ptxas run waits in a graph of runs.
    Later,
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(problem) | Self::Failed(problem) => f.write_str(problem),
            Self::BrokenOff => f.write_str("the run was interrupted"),
            Self::Later => f.write_str("the run is still pending"),
        }
    }
}
