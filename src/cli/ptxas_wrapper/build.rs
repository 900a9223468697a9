//! One invocation whose kernels may improve: replays a known result of its PTX, or runs ptxas on the stock PTX and then
//! a search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use nvptx_ra::error::Error;
use nvptx_ra::ptx::Module;

use super::assemble::Runs;
use super::entry::Entry;
use super::improve::{Improved, improve, is_left_out, kernels_to_search, known, line_of, say};
use super::invocation::Source;
use super::settings::Log;
use super::stock_run::StockResult;
use super::task::Task;
use super::{check, deliver, profiles, records, stock_run};
use crate::kernel_names::readable;
use crate::ptxas_run::crash;
use crate::{interrupt, output};

/// Delivers ptxas's result, or a better result.
pub(super) fn run(task: &Task<'_>) -> Result<ExitCode, Error> {
    // Parsing the PTX takes time, even if the cache has the result. The PTX is parsed here only for the log.
    if !matches!(task.settings.log, Log::Nowhere) {
        guarded(task, STAYS, || {
            log_unread(task);
            Ok(None::<()>)
        });
    }
    let profile = task.profile.as_deref();
    if profile.is_some_and(profiles::says_nothing) {
        task.settings.note("no variant is better, by the profile of the file");
        return as_it_is(task);
    }
    if !task.may_get_better() && task.settings.record.is_none() {
        task.settings.note(&format!("ptxas runs alone: {}, and the file has no profile", task.settings.why_not()));
        return as_it_is(task);
    }
    let place = task.place.as_ref().filter(|_| task.may_get_better());
    let entry = place.and_then(|place| place.get(profile));
    if let Some(entry) = &entry {
        match &entry.choice {
            None => {
                say_left(task, entry);
                return as_it_is(task);
            }
            Some(choice) if is_left_out(task, choice) => {
                say(task, choice);
                say_left(task, entry);
            }
            Some(choice) => {
                let improved = guarded(task, STAYS, || known(task, entry, choice, Runs::One).map(Some));
                if let Some(improved) = improved.and_then(|improved| put_in_place(task, improved)) {
                    say(task, choice);
                    say_left(task, entry);
                    deliver::say(&[], &improved.messages);
                    check_it(task, &improved.profile, &improved.cubin);
                    return Ok(ExitCode::SUCCESS);
                }
            }
        }
    }
    let stock_result = stock_run::run(task.invocation, task.ptxas)?;
    if !stock_result.status.success() {
        let end =
            crash("ptxas", stock_result.status).unwrap_or_else(|| format!("ptxas ends with {}", stock_result.status));
        task.settings.note(&format!("nothing is searched: {end}"));
    }
    let is_searched = stock_result.status.success()
        && entry.is_none_or(|entry| entry.choice.is_some_and(|choice| !is_left_out(task, &choice)));
    let improved = if !task.may_get_better() {
        record(task, &stock_result);
        None
    } else if is_searched {
        guarded(task, STAYS, || improve(task, &stock_result))
    } else {
        None
    };
    let improved = improved.and_then(|improved| put_in_place(task, improved));
    let messages = improved.as_ref().map_or(&stock_result.messages, |improved| &improved.messages);
    deliver::say(&stock_result.output, messages);
    match &improved {
        Some(improved) => check_it(task, &improved.profile, &improved.cubin),
        None => check_it(task, "", &stock_result.cubin),
    }
    Ok(end(&stock_result))
}

/// Runs ptxas on the stock PTX.
fn as_it_is(task: &Task<'_>) -> Result<ExitCode, Error> {
    let known = if task.settings.check { check::known(task, "") } else { None };
    let is_checked = !task.settings.check || known.is_some();
    // The standard input is already read, so ptxas cannot read it.
    if is_checked && task.input.source != Source::StandardInput {
        known.iter().for_each(|known| check::say(task, known));
        return Err(task.ptxas.become_it(&task.invocation.arguments));
    }
    let stock_result = stock_run::run(task.invocation, task.ptxas)?;
    deliver::say(&stock_result.output, &stock_result.messages);
    check_it(task, "", &stock_result.cubin);
    Ok(end(&stock_result))
}

/// Compares the delivered code with the PTX, if the user requests the comparison. A ptxas that failed has delivered no
/// code.
fn check_it(task: &Task<'_>, made_by: &str, cubin: &[u8]) {
    if task.settings.check && !cubin.is_empty() && !interrupt::is_interrupted() {
        let checked = guarded(task, "not checked", || check::of(task, made_by, cubin));
        checked.iter().for_each(|checked| check::say(task, checked));
    }
}

fn end(stock_result: &StockResult) -> ExitCode {
    if interrupt::was_interrupted() { interrupt::exit_code() } else { deliver::end_as(stock_result.status) }
}

/// Records the PTX for a later search, if the user requests records and the PTX has kernels to search.
fn record(task: &Task<'_>, stock_result: &StockResult) {
    let Some(folder) = task.settings.record.as_deref().filter(|_| stock_result.status.success()) else { return };
    guarded(task, STAYS, || {
        let (kernels, unchanged_kernels) = kernels_to_search(task, stock_result)?;
        unchanged_kernels.iter().for_each(|kernel| task.settings.note(&line_of(kernel)));
        if !kernels.is_empty() {
            let kernels: Vec<String> = kernels.iter().map(|kernel| readable(kernel)).collect();
            match records::write(folder, task) {
                Ok(()) => task.settings.note(&format!("noted for a later search: {}", kernels.join(", "))),
                Err(error) => task.settings.note(&format!("not noted for a later search: {error}")),
            }
        }
        Ok(None::<()>)
    });
}

/// Logs for each kernel that stays stock the reason that the search found. Entries of earlier versions have no reasons.
fn say_left(task: &Task<'_>, entry: &Entry) {
    if entry.choice.is_none() && entry.left.is_empty() {
        task.settings.note("no variant is better, by the cache");
    }
    entry.left.iter().for_each(|left| task.settings.note(&format!("{}; by the cache", line_of(left))));
}

/// Logs the functions that cannot be parsed. If a module cannot be split into functions, nothing is logged here: the
/// search refuses the module and logs the reason.
fn log_unread(task: &Task<'_>) {
    let unread = Module::read(&task.input.name(), &task.input.text).map(|module| module.unread());
    unread.unwrap_or_default().iter().for_each(|unread| task.settings.note(&unread.to_string()));
}

/// Log line for work that failed.
const STAYS: &str = "the unchanged result stays";

/// Runs work that may fail in any way, also by a panic. On failure, logs the reason after `otherwise` and returns
/// `None`.
fn guarded<T>(task: &Task<'_>, otherwise: &str, work: impl FnOnce() -> Result<Option<T>, Error>) -> Option<T> {
    // Only the log reports a panic, because ptxas's standard error belongs to the compiler.
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(work));
    let _ = std::panic::take_hook();
    let problem = match done {
        Ok(Ok(improved)) => return improved,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "internal error; please report this".into(),
    };
    task.settings.note(&format!("{otherwise}: {problem}"));
    None
}

/// Writes a cubin to the invocation's output. Returns the result if this succeeded.
fn put_in_place(task: &Task<'_>, improved: Improved) -> Option<Improved> {
    if interrupt::is_interrupted() {
        return None;
    }
    match output::write(&task.invocation.output, &improved.cubin) {
        Ok(()) => Some(improved),
        Err(error) => {
            task.settings.note(&format!("the unchanged result stays: {error}"));
            None
        }
    }
}
