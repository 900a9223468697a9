//! Whether machine code computes what its PTX says: both run on the CPU, on the same drawn launches.
//!
//! * [`text`]: the PTX with all results that it allows; [`checked`]: a kernel's machine code beside it, and their launches.

mod checked;
mod text;

pub(crate) use checked::{Code, Compared, Counterexample};
pub(crate) use text::Text;

use nvptx_ra::emulate::Launches;
use serde::{Deserialize, Serialize};

use crate::interrupt::is_interrupted;

/// Launches with parameters near the ends of their types, where machine code is compared.
pub(crate) const AT_LIMITS: u32 = 6;

/// The part of all instructions that one launch may have at most, so that others with smaller sizes may follow.
const OF_A_LAUNCH: u64 = 3;

/// What is said of a kernel's machine code beside its PTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Meaning {
    /// Both store the same in so many launches. Of the PTX's statements, so many ran, and there are so many.
    Same { launches: usize, statements: [usize; 2] },
    /// The machine code does something else: where, and what.
    Different(String),
    /// Nothing can be said, for this reason.
    NotComparable(String),
}

impl Meaning {
    /// It in a word.
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

    /// Where it differs, or why nothing can be said; empty where both are the same.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::Same { .. } => "",
            Self::Different(reason) | Self::NotComparable(reason) => reason,
        }
    }
}

/// It in a line.
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

/// Launches of which the PTX and the machine code together run no more than so many instructions of warps.
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

/// Whether options of ptxas leave it to fuse products and sums.
pub(crate) fn fuses<S: AsRef<str>>(options: &[S]) -> bool {
    let words: Vec<&str> = options.iter().flat_map(|word| word.as_ref().split(['=', ' '])).collect();
    !words.windows(2).any(|pair| matches!(pair[0], "-fmad" | "--fmad") && pair[1] == "false")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One equal launch makes a kernel the same, and it is told in a line.
    #[test]
    fn told() {
        let same = Meaning::Same { launches: 1, statements: [3, 4] };
        assert_eq!(same.to_string(), "same in 1 launch, 3 of 4 statements ran");
        let open = Meaning::NotComparable("the machine code: too long".into());
        assert_eq!(open.to_string(), "not comparable: the machine code: too long");
        assert!(!open.is_comparable() && !open.is_different());
    }

    /// The option is found in either spelling.
    #[test]
    fn what_is_fused() {
        assert!(fuses(&["-O3"]) && fuses(&["-fmad=true"]) && fuses::<&str>(&[]));
        assert!(!fuses(&["-O3", "-fmad=false"]) && !fuses(&["--fmad", "false"]) && !fuses(&["-O3 --fmad false"]));
    }
}
