//! A difference made smaller: the text and the launch that still show it, by the same assembler, and not by those that were
//! right.

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

/// Memory is drawn anew in the launch that stands alone: so many seeds are tried until it shows the difference again.
const SEEDS: u64 = 16;
/// The instructions of warps that a launch of a candidate may run in any case, and how many times those of the first one.
const LEAST_STEPS: u64 = 1 << 12;
const MORE_STEPS: u64 = 2;
/// Options with which ptxas optimises less: where it is right with them, it has to stay so.
const LESS: [&str; 3] = ["-O0", "-O1", "-O2"];

/// What a candidate has to show.
struct Question<'a> {
    kernel: &'a str,
    wrong: &'a Assembler,
    /// Whether the values differ, or one of the two does not end.
    is_of_values: bool,
    extremes: bool,
    most_steps: u64,
    right: Vec<Assembler>,
    /// The launch can be written down for a GPU: it stores nothing undefined, and accesses buffers alone. That stays so.
    is_recorded: bool,
    /// Every register that is read is set. That stays so.
    is_set: bool,
}

impl Question<'_> {
    /// What is said of a candidate with an assembler; `None` where the candidate is no program.
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

    /// The difference that a candidate shows, if it is of the kind that is looked for.
    fn counterexample(&self, candidate: &Candidate) -> Option<Box<Counterexample>> {
        let counterexample = self.compared(candidate, self.wrong)?.counterexample?;
        let is_of_values = matches!(counterexample.difference.differing, Differing::Stores { .. });
        (is_of_values == self.is_of_values).then_some(counterexample)
    }

    fn is_right(&self, candidate: &Candidate, assembler: &Assembler) -> bool {
        matches!(self.compared(candidate, assembler), Some(Compared { meaning: Meaning::Same { .. }, .. }))
    }

    /// Whether the launch of a candidate can be written down.
    fn can_be_recorded(&self, candidate: &Candidate) -> bool {
        let launches = Launches { most_steps: self.most_steps, ..launches(&candidate.launch, self.extremes) };
        candidate.module().is_ok_and(|module| record(&Program::new(&module), self.kernel, &launches).is_ok())
    }

    /// Whether a candidate still shows it.
    fn is_shown(&self, candidate: &Candidate) -> bool {
        !(self.is_set && candidate.has_unset_registers())
            && self.counterexample(candidate).is_some()
            && (!self.is_recorded || self.can_be_recorded(candidate))
            && self.right.iter().all(|right| self.is_right(candidate, right))
    }
}

/// Makes the first difference of a kernel smaller and writes a folder for a report. Returns the folder; none where nothing
/// differs.
///
/// # Errors
/// The difference does not show in a launch that stands alone, or a file cannot be written.
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
        let problem = "the difference does not show in a launch that stands alone";
        return Err(Error::new(ErrorKind::Pass, problem, "try another --seed, or report the text as it is"));
    };
    // Whether code ends is known only after many more instructions than those of code that does.
    if let Some(counterexample) = question.counterexample(&first).filter(|_| question.is_of_values) {
        question.most_steps = (MORE_STEPS * counterexample.steps).max(LEAST_STEPS);
    }
    question.is_set = !first.has_unset_registers();
    question.is_recorded = question.can_be_recorded(&first);
    let less = LESS.into_iter().filter(|_| wrong.optimises()).map(|level| wrong.with(level));
    let others = assemblers.iter().filter(|other| *other != wrong).cloned().chain(less);
    question.right = others.filter(|other| question.is_right(&first, other)).collect();
    log::info!("kernel {}: {} instructions, to be made smaller", kernel.name, first.instructions());
    let small = reduce(first.clone(), &kernel.name, &mut |candidate| question.is_shown(candidate));
    let Some(counterexample) = question.counterexample(&small) else {
        let problem = "the smaller text does not show the difference";
        return Err(Error::new(ErrorKind::Internal, problem, "report the text as it is"));
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

/// The text with a launch of its own that shows the difference.
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
