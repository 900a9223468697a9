//! Whether machine code computes what its PTX says: both run on the CPU, on the same drawn launches.

use nvptx_ra::emulate::{Comparison, Launches, Program, Verdict, compare_programs};
use nvptx_ra::sass::hazards::Finding;
use nvptx_ra::sass::machine::Machine;
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

    /// What other launches say of the same code, too: nothing of them differs.
    fn and(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Same { launches, statements: [ran, all] }, Self::Same { launches: more, statements }) => {
                Self::Same { launches: launches + more, statements: [ran.max(statements[0]), all.max(statements[1])] }
            }
            (Self::NotComparable(_), same @ Self::Same { .. }) => same.clone(),
            (said, _) => said,
        }
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

/// Launches of which the PTX and the machine code together run no more than so many instructions of warps: of one block, and
/// of several. Each of both may run half of the instructions. Blocks of many kernels race with each other on drawn
/// arguments.
pub(crate) fn launches(steps: u64) -> [Launches; 2] {
    let default = Launches::default();
    let drawn = Launches {
        limits: AT_LIMITS,
        most_steps: (steps / OF_A_LAUNCH).min(default.most_steps),
        most_steps_in_all: steps / 2,
        is_unwanted: is_interrupted,
        ..default
    };
    [Launches { grid: Some([1, 1, 1]), ..drawn.clone() }, drawn]
}

/// Compares a kernel's machine code with the PTX that it was made of. Gives the launches that show a difference, too.
pub(crate) fn of<'l>(
    ptx: &Program,
    code: &Machine,
    kernel: &str,
    launches: &'l [Launches; 2],
) -> (Meaning, Option<&'l Launches>) {
    if let Some(hazard) = code.hazards(kernel).iter().find(|hazard| hazard.is_certain()) {
        return (of_hazard(hazard), launches.first());
    }
    let mut said: Option<Meaning> = None;
    for launches in launches {
        let meaning = of_comparison(&compare_programs(ptx, &code.program, kernel, launches));
        if meaning.is_different() {
            return (meaning, Some(launches));
        }
        said = Some(said.map_or_else(|| meaning.clone(), |said| said.and(&meaning)));
    }
    (said.unwrap_or_else(|| Meaning::NotComparable(NOTHING.into())), None)
}

/// Why nothing can be said where no launch ran.
const NOTHING: &str = "no launch ran";

/// Code that does not wait for what it needs computes what the interpreter, which waits, cannot see.
fn of_hazard(hazard: &Finding) -> Meaning {
    Meaning::Different(format!("the machine code does not wait: {hazard}"))
}

/// What a comparison of PTX with machine code comes to.
pub(crate) fn of_comparison(comparison: &Comparison) -> Meaning {
    if let Some(difference) = comparison.difference() {
        return Meaning::Different(named(&difference.to_string()));
    }
    if comparison.is_same() {
        let statements = comparison.sides[0].coverage.statements;
        return Meaning::Same { launches: comparison.equal(), statements };
    }
    let reason = comparison.launches.iter().find_map(|launched| match &launched.verdict {
        Verdict::NotComparable { program, reason } => Some(format!("{}: {}", SIDES[*program % 2], named(reason))),
        _ => None,
    });
    Meaning::NotComparable(reason.unwrap_or_else(|| NOTHING.into()))
}

/// The two sides, as they are called in a comparison and as people call them here.
const PROGRAMS: [&str; 2] = ["the first program", "the second program"];
const SIDES: [&str; 2] = ["the PTX", "the machine code"];

fn named(text: &str) -> String {
    PROGRAMS.iter().zip(SIDES).fold(text.to_owned(), |text, (program, side)| text.replace(program, side))
}

#[cfg(test)]
mod tests {
    use nvptx_ra::emulate::{Launched, Side};

    use super::*;

    fn comparison(verdicts: Vec<Verdict>) -> Comparison {
        let launched = |verdict| Launched { verdict, ..Launched::default() };
        let mut side = Side::default();
        side.coverage.statements = [3, 4];
        let launches = verdicts.into_iter().map(launched).collect();
        Comparison { launches, sides: [side, Side::default()], ..Comparison::default() }
    }

    fn impossible(program: usize, reason: &str) -> Verdict {
        Verdict::NotComparable { program, reason: reason.into() }
    }

    /// One equal launch makes a kernel the same, whatever cannot be said of others; without one, the first reason is told
    /// with the side that it is about.
    #[test]
    fn verdicts() {
        let of = |verdicts| of_comparison(&comparison(verdicts));
        let same = of(vec![impossible(0, "a race"), Verdict::Same]);
        assert_eq!(same, Meaning::Same { launches: 1, statements: [3, 4] });
        assert_eq!(same.to_string(), "same in 1 launch, 3 of 4 statements ran");
        let open = of(vec![impossible(1, "too long"), impossible(0, "a race")]);
        assert_eq!(open.to_string(), "not comparable: the machine code: too long");
        assert!(!open.is_comparable() && !open.is_different());
        assert_eq!(of(Vec::new()), Meaning::NotComparable("no launch ran".into()));
    }

    /// Launches that say something count, and the statements of those that reached most.
    #[test]
    fn more_launches() {
        let same = |launches, ran| Meaning::Same { launches, statements: [ran, 9] };
        let open = Meaning::NotComparable("a race".into());
        assert_eq!(same(2, 5).and(&same(3, 7)), same(5, 7));
        assert_eq!(same(2, 5).and(&same(3, 4)), same(5, 5));
        assert_eq!((open.clone().and(&same(1, 3)), same(1, 3).and(&open)), (same(1, 3), same(1, 3)));
        assert_eq!(open.clone().and(&Meaning::NotComparable("too long".into())), open);
    }

    /// Texts name the PTX and the machine code instead of a first and a second program.
    #[test]
    fn sides() {
        let text = "at p+4; the first program stores 1 by thread 0 in line 9; the second program stores nothing";
        let expected = "at p+4; the PTX stores 1 by thread 0 in line 9; the machine code stores nothing";
        assert_eq!(named(text), expected);
    }
}
