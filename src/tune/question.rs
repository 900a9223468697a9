//! What a search asks of a kernel's variants, and what it is told.

use super::figures::Figures;
use super::findings::Compared;
use super::variant::Variant;
use crate::config::RegisterNames;

/// What a search wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The fingerprint of the PTX of a variant. Many variants have the same PTX.
    Text(Variant),
    /// What the PTX of a variant costs. It is asked for the first variant with this PTX alone.
    Figures(Variant),
    /// The registers whose values ptxas spills in the PTX of a variant.
    Spilled(Variant),
    /// What comes of a comparison of a variant with stock. No run of ptxas answers it.
    Compared(Variant),
}

/// What is found.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The fingerprint; an error says why there is no PTX.
    Text(Result<String, NoAnswer>),
    /// The figures.
    Figures(Result<Figures, NoAnswer>),
    /// The registers, and what else is known then.
    Spilled(Result<Spilled, NoAnswer>),
    /// What came of it; nothing where it was broken off.
    Compared(Option<Compared>),
}

/// What is known of a variant whose machine code was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Spilled {
    /// The registers whose values ptxas spills, by their names.
    pub registers: RegisterNames,
    /// The fingerprint of its PTX.
    pub text: String,
    /// What it costs, where more than machine code need not be asked.
    pub figures: Option<Figures>,
}

/// Why nothing is known of a PTX file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// It is not taken, or takes too long: so it would be the next time.
    Refused(String),
    /// Nobody could be asked: there was no space, say.
    Failed(String),
    /// The user interrupted the run, so that nothing is known of the variant.
    BrokenOff,
    /// It is still to be asked for: the run stands in the graph.
    Later,
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(problem) | Self::Failed(problem) => f.write_str(problem),
            Self::BrokenOff => f.write_str("it was interrupted"),
            Self::Later => f.write_str("it has not been asked yet"),
        }
    }
}
