//! Reduces a difference: finds smaller PTX, and a launch, for which the same assembler is still wrong and the other
//! assemblers are still right.

use std::path::{Path, PathBuf};

use nvptx_ra::emulate::{Differing, Launches, Program, record};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::reduce::{Candidate, Launch, reduce};
use nvptx_ra::sass::meaning::Approximation;

use super::Kernel;
use super::assembler::Assembler;
use super::reduced_launch::launches;
use super::report::{self, Report};
use crate::machine::program::{self, Loaded};
use crate::meaning::{Code, Compared, Counterexample, Meaning, Text};

/// Most seeds that are tried until one shows the difference again. A self-contained launch has newly drawn memory, so a
/// seed may not show it.
const SEEDS: u64 = 16;
/// Bounds of the warp instructions that a candidate may execute: at least the first number, and the second number times
/// the instructions of the first candidate.
const LEAST_STEPS: u64 = 1 << 12;
const MORE_STEPS: u64 = 2;
/// Options for lower optimisation levels. If ptxas is right with such an option, it must stay right.
const LESS: [&str; 3] = ["-O0", "-O1", "-O2"];

/// The conditions for a candidate.
struct Question<'a> {
    kernel: &'a str,
    wrong: &'a Assembler,
    /// Whether the difference is in values. Otherwise, one of the two runs does not end.
    is_of_values: bool,
    extremes: bool,
    most_steps: u64,
    right: Vec<Assembler>,
    /// Whether the launch can be recorded for a GPU: it stores no undefined values, and only accesses buffers.
    /// Candidates must keep this.
    is_recorded: bool,
    /// Whether every register is set before it is read. Candidates must keep this.
    is_set: bool,
}

impl Question<'_> {
    /// Compares a candidate with an assembler's code; `None` if the candidate is not a valid program, or if its code
    /// cannot be compared.
    fn compared(&self, candidate: &Candidate, assembler: &Assembler) -> Option<Compared> {
        let text = Text::read("reduced.ptx", candidate.text.as_bytes()).ok()?;
        if !text.program.unread().is_empty() {
            return None;
        }
        let cubin = assembler.assemble(candidate.text.as_bytes(), &text.cpu).ok()?.ok()?;
        let loaded = program::program(&cubin, "reduced.cubin", Approximation::Exact).ok()?;
        let Loaded::Machine(machine) = &loaded else { return None };
        let launches = Launches { most_steps: self.most_steps, ..launches(&candidate.launch, self.extremes) };
        let code = Code { machine, cubin: &cubin, fuses: assembler.fuses() };
        text.alone(self.kernel, &launches).compare(code).ok()
    }

    /// Returns the candidate's difference; `None` if it has no difference of the same kind.
    fn counterexample(&self, candidate: &Candidate) -> Option<Box<Counterexample>> {
        let counterexample = self.compared(candidate, self.wrong)?.counterexample?;
        let is_of_values = matches!(counterexample.difference.differing, Differing::Stores { .. });
        (is_of_values == self.is_of_values).then_some(counterexample)
    }

    fn is_right(&self, candidate: &Candidate, assembler: &Assembler) -> bool {
        matches!(self.compared(candidate, assembler), Some(Compared { meaning: Meaning::Same { .. }, .. }))
    }

    /// Returns whether a candidate's launch can be recorded.
    fn can_be_recorded(&self, candidate: &Candidate) -> bool {
        let launches = Launches { most_steps: self.most_steps, ..launches(&candidate.launch, self.extremes) };
        candidate.module().is_ok_and(|module| record(&Program::new(&module), self.kernel, &launches).is_ok())
    }

    /// Returns whether a candidate meets all conditions.
    fn is_shown(&self, candidate: &Candidate) -> bool {
        !(self.is_set && candidate.has_unset_registers())
            && self.counterexample(candidate).is_some()
            && (!self.is_recorded || self.can_be_recorded(candidate))
            && self.right.iter().all(|right| self.is_right(candidate, right))
    }
}

/// Reduces the first difference of a kernel and writes a folder for a report. Returns the folder; `None` if there is no
/// difference.
///
/// # Errors
/// The difference does not occur in a self-contained launch, or a file cannot be written.
pub(super) fn reported(
    bytes: &[u8],
    text: &Text,
    kernel: &Kernel,
    assemblers: &[Assembler],
    folder: &Path,
) -> Result<Option<PathBuf>, Error> {
    let different = kernel
        .compared
        .iter()
        .zip(assemblers)
        .find_map(|(compared, wrong)| Some((compared.counterexample.as_ref()?, wrong)));
    let Some((counterexample, wrong)) = different else { return Ok(None) };
    let mut question = Question {
        kernel: &kernel.name,
        wrong,
        is_of_values: matches!(counterexample.difference.differing, Differing::Stores { .. }),
        extremes: counterexample.launches.extremes,
        most_steps: counterexample.launches.most_steps,
        right: Vec::new(),
        is_recorded: false,
        is_set: false,
    };
    let source = String::from_utf8_lossy(bytes).into_owned();
    let Some(first) = alone(&source, text, counterexample, &question) else {
        let problem = "the difference does not occur in a self-contained launch";
        return Err(Error::new(ErrorKind::Pass, problem, "try another --seed, or report the PTX unreduced"));
    };
    // The bound is lowered only if values differ. To detect an endless loop takes many more instructions than a run
    // that ends.
    if let Some(counterexample) = question.counterexample(&first).filter(|_| question.is_of_values) {
        question.most_steps = (MORE_STEPS * counterexample.steps).max(LEAST_STEPS);
    }
    question.is_set = !first.has_unset_registers();
    question.is_recorded = question.can_be_recorded(&first);
    let less = LESS.into_iter().filter(|_| wrong.optimises()).map(|level| wrong.with(level));
    let others = assemblers.iter().filter(|other| *other != wrong).cloned().chain(less);
    question.right = others.filter(|other| question.is_right(&first, other)).collect();
    log::info!("kernel {}: {} instructions, to be reduced", kernel.name, first.instructions());
    let small = reduce(first.clone(), &kernel.name, &mut |candidate| question.is_shown(candidate));
    let Some(counterexample) = question.counterexample(&small) else {
        let problem = "the reduced PTX does not show the difference";
        return Err(Error::new(ErrorKind::Internal, problem, "report the PTX unreduced"));
    };
    let further = question.right.iter().filter(|right| !assemblers.contains(right));
    let others = assemblers.iter().filter(|other| *other != wrong).chain(further);
    let report = Report {
        kernel: &kernel.name,
        original: &source,
        before: first.instructions(),
        small: &small,
        counterexample: &counterexample,
        wrong,
        others: others.map(|other| (other.name(), word(question.compared(&small, other)))).collect(),
        extremes: question.extremes,
    };
    report::write(&report, &folder.join(report::folder_name(&kernel.name))).map(Some)
}

fn word(compared: Option<Compared>) -> String {
    match compared.map(|compared| compared.meaning) {
        Some(Meaning::Same { .. }) => "right".into(),
        Some(Meaning::Different(_)) => "wrong".into(),
        Some(Meaning::NotComparable(reason)) => format!("not comparable: {reason}"),
        None => "does not assemble it".into(),
    }
}

/// Returns the PTX with a self-contained launch that shows the difference.
fn alone(source: &str, text: &Text, counterexample: &Counterexample, question: &Question<'_>) -> Option<Candidate> {
    let parameters = text.program.parameter_sizes(question.kernel)?;
    let arguments: Vec<Option<Vec<u8>>> = parameters
        .iter()
        .zip(&counterexample.difference.parameters)
        .map(|(&bytes, (_, value))| value.to_le_bytes().get(..bytes).map(<[u8]>::to_vec))
        .collect();
    let [grid, block] = counterexample.shape;
    (0..SEEDS).find_map(|further| {
        let seed = counterexample.launches.seed + further;
        let launch = Launch { grid, block, arguments: arguments.clone(), seed };
        let candidate = Candidate { text: source.to_owned(), launch };
        question.is_shown(&candidate).then_some(candidate)
    })
}
