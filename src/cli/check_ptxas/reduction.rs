//! A difference made smaller: the text and the launch that still show it, by the same assembler, and not by those that were
//! right.

use std::path::{Path, PathBuf};

use nvptx_ra::emulate::{Argument, Differing, Launches};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::reduce::{Candidate, Launch, reduce};

use super::Kernel;
use super::assembler::Assembler;
use super::meaning::{Code, Said, Shown, Text};
use super::report::{self, Report};

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
}

impl Question<'_> {
    /// What is said of a candidate with an assembler; `None` where the candidate is no program.
    fn said(&self, candidate: &Candidate, assembler: &Assembler) -> Option<Said> {
        let text = Text::read("reduced.ptx", candidate.text.as_bytes()).ok()?;
        if !text.program.unread().is_empty() {
            return None;
        }
        let cubin = assembler.assemble(candidate.text.as_bytes(), &text.cpu).ok()?.ok()?;
        let code = Code::read(cubin, !assembler.fuses_nothing()).ok()?;
        let sets = text.alone(&Launches { most_steps: self.most_steps, ..launches(&candidate.launch, self.extremes) });
        text.checked(self.kernel, &sets).compare(&code).ok()
    }

    /// Whether a candidate still shows it.
    fn is_shown(&self, candidate: &Candidate) -> bool {
        let is_wrong = matches!(self.said(candidate, self.wrong), Some(Said::Different(shown))
            if matches!(shown.difference.differing, Differing::Stores { .. }) == self.is_of_values);
        is_wrong && self.right.iter().all(|right| matches!(self.said(candidate, right), Some(Said::Same(_))))
    }
}

/// One launch.
pub(super) fn launches(launch: &Launch, extremes: bool) -> Launches {
    let argument = |bytes: &Option<Vec<u8>>| bytes.clone().map_or(Argument::Drawn, Argument::Bytes);
    Launches {
        count: 1,
        more: 0,
        seed: launch.seed,
        grid: Some(launch.grid),
        block: Some(launch.block),
        arguments: launch.arguments.iter().map(argument).collect(),
        extremes,
        ..Launches::default()
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
    let different = kernel.said.iter().zip(assemblers).find_map(|(said, assembler)| match said {
        Said::Different(shown) => Some((shown, assembler)),
        _ => None,
    });
    let Some((shown, wrong)) = different else { return Ok(None) };
    let mut question = Question {
        kernel: &kernel.name,
        wrong,
        is_of_values: matches!(shown.difference.differing, Differing::Stores { .. }),
        extremes: shown.launches.extremes,
        most_steps: shown.launches.most_steps,
        right: Vec::new(),
    };
    let source = String::from_utf8_lossy(bytes).into_owned();
    let Some(first) = alone(&source, text, shown, &question) else {
        let problem = format!("kernel {}: the difference does not show in a launch that stands alone", kernel.name);
        return Err(Error::new(ErrorKind::Pass, problem, "try another --seed, or report the text as it is"));
    };
    if let Some(Said::Different(shown)) = question.said(&first, wrong) {
        question.most_steps = (MORE_STEPS * shown.steps).max(LEAST_STEPS);
    }
    let less = LESS.into_iter().filter(|_| wrong.optimises()).map(|level| wrong.with(level));
    let others = assemblers.iter().filter(|other| *other != wrong).cloned().chain(less);
    question.right = others.filter(|other| matches!(question.said(&first, other), Some(Said::Same(_)))).collect();
    log::info!("kernel {}: {} instructions, to be made smaller", kernel.name, first.instructions());
    let small = reduce(first.clone(), &kernel.name, &mut |candidate| question.is_shown(candidate));
    let Some(Said::Different(shown)) = question.said(&small, wrong) else {
        let problem = format!("kernel {}: the smaller text does not show the difference", kernel.name);
        return Err(Error::new(ErrorKind::Internal, problem, "report the text as it is"));
    };
    let further = question.right.iter().filter(|right| !assemblers.contains(right));
    let others = assemblers.iter().filter(|other| *other != wrong).chain(further);
    let report = Report {
        kernel: &kernel.name,
        original: &source,
        before: first.instructions(),
        small: &small,
        shown: &shown,
        wrong,
        others: others.map(|other| (other.name(), word(question.said(&small, other)))).collect(),
        extremes: question.extremes,
    };
    report::write(&report, &folder.join(report::folder_name(&kernel.name))).map(Some)
}

fn word(said: Option<Said>) -> String {
    match said {
        Some(Said::Same(_)) => "right".into(),
        Some(Said::Different(_)) => "wrong".into(),
        Some(Said::NotComparable(reason)) => format!("not comparable: {reason}"),
        None => "does not assemble it".into(),
    }
}

/// The text with a launch of its own that shows the difference.
fn alone(source: &str, text: &Text, shown: &Shown, question: &Question<'_>) -> Option<Candidate> {
    let parameters = text.program.parameter_sizes(question.kernel)?;
    let arguments: Vec<Option<Vec<u8>>> = parameters
        .iter()
        .zip(&shown.difference.parameters)
        .map(|(&bytes, (_, value))| value.to_le_bytes().get(..bytes).map(<[u8]>::to_vec))
        .collect();
    let [grid, block] = shown.shape;
    (0..SEEDS).find_map(|further| {
        let seed = shown.launches.seed + further;
        let launch = Launch { grid, block, arguments: arguments.clone(), seed };
        let candidate = Candidate { text: source.to_owned(), launch };
        question.is_shown(&candidate).then_some(candidate)
    })
}
