//! The outputs of a search: the code, its profile, a page, and a table or JSON.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nvptx_ra::error::{Error, ErrorKind};

use super::compose::compose;
use super::driver::EarlyStop;
use super::page::{self, Outcome, Tuned};
use super::tuning::Tuning;
use super::winners::DifferenceFolder;
use super::{Arguments, print};
use crate::{input, interrupt, output, triton};

/// The message on Ctrl-C while results are written. Writing takes long if the output is a pipe that nobody reads.
const WHILE_WRITING: &str = "nvptx-ra: interrupted while the results were written; some of them may be missing";

/// Checks all output files before the search, which may take hours.
pub(super) fn check(arguments: &Arguments, output: &Path) -> Result<(), Error> {
    // A call that writes a graph writes no code.
    let code = Some(output).filter(|path| arguments.ninja.is_none() && !input::is_stream(path));
    // The profile refers to the files of --also by their content, so none of them may be overwritten.
    let is_output = |other: &&PathBuf| code.is_some_and(|code| is_same_file(code, other));
    if let Some(other) = arguments.also.iter().find(is_output) {
        let problem = format!("{}: the result would overwrite a file that --also reads", other.display());
        return Err(Error::new(ErrorKind::Option, problem, "name another file with -o"));
    }
    let others = [&arguments.profile, &arguments.html, &arguments.ninja].into_iter().flatten().map(PathBuf::as_path);
    code.into_iter().chain(others).try_for_each(output::check)
}

/// Returns the output file for the PTX. By default, neither an input in PTX nor Triton's PTX file beside an input of
/// Triton is overwritten.
pub(super) fn output_of(arguments: &Arguments, is_ptx: bool) -> PathBuf {
    let extension = if is_ptx || triton::beside(&arguments.input).is_some() { "tuned.ptx" } else { "ptx" };
    output::beside(arguments.output.as_deref(), &arguments.input, extension)
}

/// Whether two paths refer to the same existing file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| path.canonicalize().ok());
    one.is_some() && one == other
}

/// Returns where variants that differ from stock are stored: beside the output code. A call that writes a graph stores
/// none, because the final search finds them again.
pub(super) fn keep(arguments: &Arguments, output: &Path) -> DifferenceFolder {
    match output.parent() {
        _ if arguments.ninja.is_some() => DifferenceFolder::Nowhere,
        Some(folder) if !input::is_stream(output) => DifferenceFolder::In(Path::new(".").join(folder)),
        _ => DifferenceFolder::Privately,
    }
}

/// Combines the winners, and writes the requested outputs. `None` if the user interrupted before anything was written.
pub(super) fn write(
    arguments: &Arguments,
    tuning: &Tuning<'_>,
    output: &Path,
    early_stop: Option<EarlyStop>,
) -> Result<Option<ExitCode>, Error> {
    let Some(composed) = compose(tuning)? else {
        return Err(Error::internal("a run was planned but not executed", None));
    };
    if interrupt::is_interrupted() {
        return Ok(None);
    }
    interrupt::end_anyway(WHILE_WRITING);
    if input::is_stream(output) {
        crate::print(&composed.ptx)?;
    } else {
        output::write(output, &composed.ptx)?;
    }
    if let Some(path) = &arguments.profile {
        let made_by = tuning.code.made_by();
        let notes: Vec<String> = made_by.into_iter().chain(print::notes(tuning, &composed, early_stop)).collect();
        output::write(path, composed.profile.print(tuning.code.descriptions().replayed_by, &notes)?.as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        let input = crate::input::name(&arguments.input);
        let choices = tuning.search.kernels.iter().zip(composed.chosen.iter());
        let outcome = |(kernel, choice): (_, &(_, _))| {
            let (variant, figures) = choice.clone();
            Outcome { kernel, variant, figures }
        };
        let tuned = Tuned {
            input: Path::new(&input).file_name().and_then(|name| name.to_str()).unwrap_or(&input),
            objective: &tuning.search.objective,
            stock: tuning.code.descriptions().stock,
            runs: tuning.judges.ptxas.runs(),
            early_stop,
            kernels: choices.map(outcome).collect(),
        };
        output::write(path, page::page(&tuned).as_bytes())?;
    }
    let text = if arguments.json {
        print::json(tuning, &composed, early_stop.is_some())
    } else {
        print::table(tuning, &composed)
    };
    let code = if input::is_stream(output) {
        say!("{}", text.trim_end_matches('\n'));
        ExitCode::SUCCESS
    } else {
        crate::print_text(&text)?
    };
    if let Some(early_stop) = early_stop {
        say!("nvptx-ra: {}", early_stop.sentence());
    }
    Ok(Some(if early_stop == Some(EarlyStop::Interruption) { interrupt::exit_code() } else { code }))
}
