//! The smallest text that still shows something: a text of PTX and its launch are made smaller, as long as a test says that
//! what is looked for is still there (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
//!
//! A step is a list of edits of the text, each of which can be made without the others; [`minimise`] makes as many as it can.
//! In the order of the files:
//! * [`candidate`]: a text and its launch; [`minimise`]: which edits of a list hold;
//! * [`lines`]: debug information, directives, labels and declarations that nothing needs; [`statements`]: instructions;
//! * [`values`]: instructions that become a copy of an operand or a constant; [`branches`]: guards and branches;
//! * [`moves`]: registers that become one;
//! * [`constants`]: numbers that become smaller; [`registers`]: fewer declared; [`parameters`]: parameters that become constants; [`launch`]: fewer threads.

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

/// The steps, in the order in which they are tried again and again: what takes away most comes first.
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

/// Makes a text and its launch smaller. `test` says whether a candidate still shows what is looked for: it has to be so of
/// the first one. It is asked O(statements · log) times in each round, and as long as a round makes the text smaller.
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

/// The candidate with each statement on a line of its own, if that shows it, too.
fn tidied(candidate: Candidate, test: &mut dyn FnMut(&Candidate) -> bool) -> Candidate {
    let Ok(module) = candidate.module() else { return candidate };
    let tidy = Candidate { text: lines::tidy(&module), launch: candidate.launch.clone() };
    if tidy != candidate && test(&tidy) { tidy } else { candidate }
}
