//! Checks whether machine code computes what its PTX specifies: both run on the CPU, on the same drawn launches.
//!
//! * [`text`]: the PTX with all results that it allows; [`checked`]: compares a kernel's machine code with it.

mod checked;
mod text;

pub(crate) use checked::{Code, Compared, Counterexample};
pub(crate) use text::Text;

use nvptx_ra::emulate::Launches;
use serde::{Deserialize, Serialize};

use crate::interrupt::is_interrupted;

/// Number of launches with parameters near the limits of their types, for comparisons of machine code.
pub(crate) const AT_LIMITS: u32 = 6;

/// One launch may execute at most all instructions divided by this number, so that launches with smaller sizes may
/// follow.
const OF_A_LAUNCH: u64 = 3;

/// Result of comparing a kernel's machine code with its PTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Meaning {
    /// Both store the same values in `launches` launches. `statements` are the executed statements of the PTX, and all
    /// its statements.
    Same { launches: usize, statements: [usize; 2] },
    /// The machine code computes something else: where, and what.
    Different(String),
    /// No comparison is possible, for this reason.
    NotComparable(String),
}

impl Meaning {
    /// Returns the result in a word.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Same { .. } => "same",
            Self::Different(_) => "different",
            Self::NotComparable(_) => "not comparable",
        }
    }

    pub(crate) fn is_different(&self) -> bool {
        matches!(self, Self::Different(_))
    }

    pub(crate) fn is_comparable(&self) -> bool {
        !matches!(self, Self::NotComparable(_))
    }

    /// Returns the difference, or the reason why there is no comparison; empty if both are the same.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::Same { .. } => "",
            Self::Different(reason) | Self::NotComparable(reason) => reason,
        }
    }
}

/// Formats the result in a line.
impl std::fmt::Display for Meaning {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Same { launches, statements: [ran, all] } => {
                let s = if *launches == 1 { "" } else { "es" };
                write!(formatter, "same in {launches} launch{s}, {ran} of {all} statements ran")
            }
            Self::Different(reason) | Self::NotComparable(reason) => write!(formatter, "{}: {reason}", self.word()),
        }
    }
}

/// Returns launches in which the PTX and the machine code together execute at most `steps` warp instructions.
pub(crate) fn launches(steps: u64) -> Launches {
    let default = Launches::default();
    Launches {
        limits: AT_LIMITS,
        most_steps: (steps / OF_A_LAUNCH).min(default.most_steps),
        most_steps_in_all: steps,
        is_unwanted: is_interrupted,
        ..default
    }
}

/// Returns whether ptxas's options allow the fusion of products and sums.
pub(crate) fn fuses<S: AsRef<str>>(options: &[S]) -> bool {
    let words: Vec<&str> = options.iter().flat_map(|word| word.as_ref().split(['=', ' '])).collect();
    !words.windows(2).any(|pair| matches!(pair[0], "-fmad" | "--fmad") && pair[1] == "false")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One equal launch suffices for the result "same", and the result is formatted in a line.
    #[test]
    fn told() {
        let same = Meaning::Same { launches: 1, statements: [3, 4] };
        assert_eq!(same.to_string(), "same in 1 launch, 3 of 4 statements ran");
        let open = Meaning::NotComparable("the machine code: too long".into());
        assert_eq!(open.to_string(), "not comparable: the machine code: too long");
        assert!(!open.is_comparable() && !open.is_different());
    }

    /// Both spellings of the option are recognised.
    #[test]
    fn what_is_fused() {
        assert!(fuses(&["-O3"]) && fuses(&["-fmad=true"]) && fuses::<&str>(&[]));
        assert!(!fuses(&["-O3", "-fmad=false"]) && !fuses(&["--fmad", "false"]) && !fuses(&["-O3 --fmad false"]));
    }
}
