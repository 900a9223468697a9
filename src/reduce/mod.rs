//! Reduces test cases: makes a PTX module and its launch smaller, as long as a test still passes (Zeller and
//! Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
//!
//! A step is a list of independent edits of the text; [`minimise`] makes as many of them as it can. In the order of the
//! files:
//! * [`candidate`]: a PTX module and its launch; [`minimise`]: the edits of a list that can be made;
//! * [`lines`]: removes unneeded debug information, directives, labels and declarations; [`statements`]: removes
//!   instructions;
//! * [`values`]: replaces instructions by a copy of an operand or a constant; [`branches`]: removes guards of
//!   instructions and branches;
//! * [`moves`]: merges registers;
//! * [`constants`]: makes numbers smaller; [`registers`]: shortens declarations; [`parameters`]: turns parameters into
//!   constants; [`launch`]: reduces blocks, threads and arguments.

mod branches;
mod candidate;
mod constants;
mod launch;
mod lines;
mod minimise;
mod moves;
mod parameters;
mod registers;
mod statements;
#[cfg(test)]
mod tests;
mod values;

pub use candidate::{Candidate, Launch};

use crate::ptx::Module;
use minimise::Edit;

/// A list of edits of a text.
type Step = fn(&Module<'_>) -> Vec<Edit>;

/// The steps, in the order in which they are repeated. The step that removes most comes first.
const STEPS: [(&str, Step); 15] = [
    ("debug information", lines::debug_information),
    ("instructions", statements::deletions),
    ("branches", branches::taken),
    ("guards", branches::unguarded),
    ("constants in place of results", values::constants),
    ("first operands in place of results", values::first_operands),
    ("last operands in place of results", values::last_operands),
    ("labels", lines::labels),
    ("declarations", lines::declarations),
    ("directives", lines::directives),
    ("numbers that become zero", constants::zero),
    ("numbers that become one", constants::one),
    ("numbers that are halved", constants::halved),
    ("registers", registers::shortened),
    ("registers in lists", registers::unnamed),
];

/// Reduces a PTX module and its launch. `test` returns whether a candidate still shows the behaviour in question; the
/// first candidate must show it. A round calls `test` O(statements · log) times, and rounds are repeated until nothing
/// changes.
pub fn reduce(first: Candidate, kernel: &str, test: &mut dyn FnMut(&Candidate) -> bool) -> Candidate {
    let mut best = first;
    if let Some(slice) = best.slice(kernel).filter(|slice| test(slice)) {
        best = slice;
    }
    best = tidied(best, test);
    loop {
        let before = best.clone();
        for (name, step) in STEPS {
            let tried = best.clone();
            let Ok(module) = tried.module() else { return best };
            let text = minimise::minimise(&tried.text, &step(&module), &mut |text| {
                test(&Candidate { text: text.to_owned(), launch: tried.launch.clone() })
            });
            if text != best.text {
                log::debug!("{name}: {} → {} bytes", best.text.len(), text.len());
            }
            best.text = text;
        }
        best = moves::forwarded(best, test);
        best = launch::smaller(best, test);
        best = parameters::known(best, kernel, test);
        if best == before {
            return tidied(best, test);
        }
    }
}

/// Returns the candidate with one statement a line if that passes the test; otherwise, the candidate itself.
fn tidied(candidate: Candidate, test: &mut dyn FnMut(&Candidate) -> bool) -> Candidate {
    let Ok(module) = candidate.module() else { return candidate };
    let tidy = Candidate { text: lines::tidy(&module), launch: candidate.launch.clone() };
    if tidy != candidate && test(&tidy) { tidy } else { candidate }
}
