//! Makes a better result than ptxas's stock result: replays a cached result, or searches.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nvptx_ra::error::Error;
use nvptx_ra::passes::replay_on_ptx;
use nvptx_ra::profile::{Entry as ProfileEntry, Profile};
use nvptx_ra::spill::spiller::FRAME_LIMIT;
use nvptx_ra::tune::figures::Allowance;
use nvptx_ra::tune::objective::{Effort, RunLimits};
use nvptx_ra::tune::price::Work;
use nvptx_ra::tune::relocatable::Relocatable;

use super::assemble::{Runs, assemble};
use super::entry::{CachedChoice, Entry, digest};
use super::exclusions::{self, Fate};
use super::invocation::Invocation;
use super::launch_note::LaunchNote;
use super::limit::{Limit, memory};
use super::log::Reported;
use super::progress_line::ProgressLine;
use super::settings::Settings;
use super::stock_run::StockResult;
use super::task::Task;
use super::uncached_kernels::{Finished, search_uncached};
use super::{log, messages, profiles};
use crate::dynamic_shared::{Bytes, DynamicShared};
use crate::machine::{cubin, machine_code, relocatable, reported};
use crate::ptxas::{self, PtxasReports};
use crate::ptxas_run::Assembled;
use crate::tune::request::{
    self, Answer, Build, ChangedKernel, Found, Request, Scope, SearchLimits, StockOutput, UnchangedKernel,
};

/// How many variants of a kernel ptxas judges if the caller times several files. One is enough: the first variant has
/// the registers that ptxas gave up.
const RUNS_OF_A_CANDIDATE: usize = 1;

/// A result with better figures from ptxas than the stock result.
#[derive(Clone, Debug)]
pub(super) struct Improved {
    /// The bytes that replace the output file.
    pub(super) cubin: Vec<u8>,
    /// Text for the standard error: figures and warnings about spills of this cubin, and all other messages from the
    /// stock run. Figures are only included if the invocation is verbose.
    pub(super) messages: Vec<u8>,
    /// The profile from which the cubin was made.
    pub(super) profile: String,
}

/// Replays a cached choice.
///
/// Returns an error if ptxas's result has other registers or another stack than the cached result. Different bytes
/// alone are no error: ptxas orders equal stack slots differently from run to run (`chunkwise_fwd_kernel` of fla: five
/// different cubins in six runs). The result omits the kernels and choices that the user excludes. If it omits any, the
/// figures are not compared.
pub(super) fn known(task: &Task<'_>, entry: &Entry, choice: &CachedChoice, runs: Runs) -> Result<Improved, Error> {
    let Task { invocation, input, settings, ptxas, .. } = task;
    let profile = Profile::parse(&choice.profile)?;
    // The profile may come from another machine: its `other-name` entries count only if the user allows it.
    let profile = if settings.allow_uncompared { profile } else { profile.with_own_names() };
    let (profile, is_other) = settings.exclusions.apply(profile);
    let cpu = invocation.processor.as_deref().unwrap_or_default();
    let (output, unfit) = replay_on_ptx(&input.name(), &input.text, &profile, "", cpu)?;
    let Assembled { cubin, messages } = assemble(invocation, ptxas, &output.text, runs)?;
    if !unfit.is_empty() || (!is_other && figures(invocation, &cubin) != choice.figures) {
        return Err(odd("the result differs from the result in the cache"));
    }
    let stock_messages = messages::with_name(&entry.messages, &input.name());
    let messages = messages::merged(&messages, &stock_messages).ok_or_else(|| odd(NEW_WARNING))?;
    Ok(Improved { cubin, messages: messages.into_bytes(), profile: choice.profile.clone() })
}

/// Searches for a better result. `None` and errors leave the stock result in place; the log has the reason.
///
/// The stock result is already in place. Nothing here touches the output file or writes to the standard streams.
pub(super) fn improve(task: &Task<'_>, stock_result: &StockResult) -> Result<Option<Improved>, Error> {
    let Task { invocation, input, settings, ptxas, profile: given, place, .. } = task;
    let start = Instant::now();
    let messages_on_text = String::from_utf8_lossy(&stock_result.messages).into_owned();
    let (measured, object) = read(task, stock_result)?;
    let note = |line: &str| settings.note(line);
    for (name, ptxas_report) in
        measured.iter().filter(|(_, ptxas_report)| u64::from(ptxas_report.stack_bytes) > FRAME_LIMIT)
    {
        let name = crate::kernel_names::readable(name);
        note(&format!(
            "{name}: a thread has {} bytes of local memory, more than a frame's limit of {FRAME_LIMIT}",
            ptxas_report.stack_bytes
        ));
    }
    let line = ProgressLine::start(&input.name(), task.start, &settings.log);
    let progress = |done, of| line.set(done, of);
    let request = || {
        let request = request(task, stock_result, &measured, &messages_on_text, start, &note);
        Request { object: object.as_ref(), progress: &progress, ..request }
    };
    // If options select kernels, the variants were judged without these options. So the PTX is assembled again.
    let has_same_options = invocation.options == invocation.options_of_one_kernel;
    let finish = |found: &Found| -> Finished {
        let assembled = found.assembled.clone().filter(|_| has_same_options);
        let assembled = assembled.map_or_else(|| assemble(invocation, ptxas, &found.ptx, Runs::Several), Ok)?;
        let Assembled { cubin: code, messages } = assembled;
        let checked = check_object(object.as_ref(), &code);
        let after = || self::measured(&code).unwrap_or_default();
        let checked = checked.and_then(|()| check(&measured, &after(), &found.changes));
        let merged = || messages::merged(&messages, &messages_on_text).ok_or_else(|| odd(NEW_WARNING));
        Ok(checked.and_then(|()| merged()).map(|messages| (code, messages)))
    };
    let (answer, finished) = match &given {
        Some(profile) => {
            let answer = request::replay(request(), profile)?;
            let finished = answer.found.as_ref().map(finish);
            (answer, finished)
        }
        None => search_uncached(task, &request, &finish)?,
    };
    let Answer { found, unchanged_kernels, lasts, known: count, .. } = answer;
    unchanged_kernels.iter().for_each(|kernel| note(&line_of(kernel)));
    let kept = |choice: Option<CachedChoice>| Entry {
        messages: messages::without_name(&messages_on_text, &input.name()),
        choice,
        file: input.name(),
        processor: invocation.processor.clone().unwrap_or_default(),
        milliseconds: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        left: unchanged_kernels.clone(),
        known: count,
    };
    let keep = |entry: Entry| {
        let place = place.as_ref().filter(|_| lasts);
        if let Some(Err(error)) = place.map(|place| place.put(&entry, given.as_deref())) {
            settings.note(&error.to_string());
        }
    };
    let Some((found, finished)) = found.zip(finished) else {
        keep(kept(None));
        return Ok(None);
    };
    // This error would occur in the next search, too, so the entry is stored without a choice.
    let (code, messages) = finished?.inspect_err(|_| keep(kept(None)))?;
    let Found { profile, changes, .. } = found;
    if let Some(folder) = settings.profiles.as_deref().filter(|_| given.is_none()) {
        profiles::write(folder, &profiles::name(invocation, input), &profile)?;
    }
    let choice = CachedChoice { profile, figures: figures(invocation, &code), changes };
    let entry = kept(Some(choice.clone()));
    keep(entry.clone());
    say(task, &choice);
    if settings.exclusions.is_empty() {
        return Ok(Some(Improved { cubin: code, messages: messages.into_bytes(), profile: choice.profile }));
    }
    if is_left_out(task, &choice) { Ok(None) } else { known(task, &entry, &choice, Runs::Several).map(Some) }
}

/// Returns the search's limits: the number of runs that the user sets, or else a multiple of ptxas's work on the PTX.
fn run_limits(settings: &Settings, stock_result: &StockResult, kernels: usize, is_candidate: bool) -> RunLimits {
    if is_candidate {
        return RunLimits::of_runs(RUNS_OF_A_CANDIDATE);
    }
    if let Some(runs) = settings.runs {
        return RunLimits::of_runs(runs as usize);
    }
    let file = work_of(&stock_result.cubin);
    // A module with one kernel is not assembled again: the judged cubin is delivered.
    RunLimits::of_effort(Effort { times: settings.effort, file: Some(file), assembles_again: kernels > 1 })
}

/// Estimates ptxas's work on a PTX module from the resulting cubin.
pub(super) fn work_of(cubin: &[u8]) -> Work {
    let code = machine_code::read(cubin).unwrap_or_default();
    Work::of_run(code.values().map(|sass| (sass.instructions, sass.stack_traffic > 0)))
}

/// Returns the kernels that a search would consider, and all other kernels. Only the stock result is read.
pub(super) fn kernels_to_search(
    task: &Task<'_>,
    stock_result: &StockResult,
) -> Result<(Vec<String>, Vec<UnchangedKernel>), Error> {
    let (measured, object) = read(task, stock_result)?;
    let note = |line: &str| task.settings.note(line);
    let messages = String::from_utf8_lossy(&stock_result.messages);
    let request = request(task, stock_result, &measured, &messages, Instant::now(), &note);
    request::kernels_to_search(&Request { object: object.as_ref(), ..request })
}

/// Reads the properties of the functions from the stock cubin and, if it is linked later, its interface to the linker.
fn read(task: &Task<'_>, stock_result: &StockResult) -> Result<(PtxasReports, Option<Relocatable>), Error> {
    let unread = || odd("ptxas's machine code for the unchanged PTX cannot be read");
    let measured = measured(&stock_result.cubin).ok_or_else(unread)?;
    let is_relocatable = task.invocation.is_relocatable;
    let object = is_relocatable.then(|| relocatable::read(&stock_result.cubin).ok_or_else(unread)).transpose()?;
    Ok((measured, object))
}

fn request<'a>(
    task: &'a Task<'a>,
    stock_result: &'a StockResult,
    measured: &'a PtxasReports,
    messages: &'a str,
    start: Instant,
    note: &'a (dyn Fn(&str) + Sync),
) -> Request<'a> {
    let Task { invocation, input, settings, ptxas, .. } = *task;
    let (limit, problem) = Limit::of_environment();
    let limit = limit.at_most(memory::runs(stock_result.peak_memory));
    problem.iter().for_each(|problem| settings.note(&problem.to_string()));
    // The limit is used until this process ends.
    let limit: &'static Limit = Box::leak(Box::new(limit));
    // The user's settings come after the notes in the PTX, so that the settings take precedence.
    let noted = LaunchNote::of(&String::from_utf8_lossy(&input.text));
    if let Some(line) = &noted.unknown {
        settings.note(&format!(
            "'{line}' is not 'dynamic-shared BYTES', 'timed' or 'candidate': nvptx-ra may be older than the program that wrote the line"
        ));
    }
    let note_of_text = noted.dynamic_shared.map(|bytes| DynamicShared::all(Bytes(bytes)));
    Request {
        content: &input.text,
        name: "found.ptx",
        cpu: invocation.processor.as_deref().unwrap_or_default(),
        ptxas: ptxas.path.clone(),
        cuobjdump: beside(&ptxas.path, "cuobjdump"),
        nvdisasm: beside(&ptxas.path, "nvdisasm"),
        build: Build {
            options: invocation.options_of_one_kernel.iter().map(OsString::from).collect(),
            is_verbose: invocation.verbose,
            gate: Some(Box::new(move || Box::new(limit.acquire(&crate::interrupt::is_interrupted)))),
        },
        stock_output: StockOutput { cubin: &stock_result.cubin, messages, took: stock_result.took },
        measured,
        object: None,
        dynamic_shared: note_of_text.into_iter().chain(settings.dynamic_shared.iter().cloned()).collect(),
        threads: (!invocation.bounds.threads.is_empty()).then(|| invocation.bounds.threads.iter().product()),
        run_limits: run_limits(settings, stock_result, measured.len(), noted.is_candidate),
        scope: if noted.is_candidate { Scope::GivenUp } else { Scope::All },
        allowance: Allowance {
            uncompared: settings.allow_uncompared,
            ..allowance(noted.is_timed, settings.more_instructions)
        },
        search_limits: SearchLimits::new(start, settings.seconds, None),
        note,
        lookup: None,
        progress: &|_, _| {},
    }
}

/// Returns in which respects a result may be worse than stock: by the user's settings, and by the limits for timed
/// results.
fn allowance(is_timed: bool, more_instructions: u32) -> Allowance {
    let noted = if is_timed { Allowance::TIMED } else { Allowance::default() };
    Allowance { more_instructions: noted.more_instructions.max(more_instructions), ..noted }
}

/// Returns the path of a tool: next to ptxas, or else from PATH and CUDA_PATH. pip's packages for CUDA 12 share no
/// folder.
fn beside(ptxas: &Path, name: &str) -> PathBuf {
    let beside = ptxas.with_file_name(name);
    if beside.is_file() { beside } else { ptxas::tool(name) }
}

/// Reads the properties of a cubin's functions. A cubin does not contain ptxas's figures for spills, so the spilled
/// bytes are 0.
fn measured(cubin: &[u8]) -> Option<PtxasReports> {
    let facts = cubin::facts(cubin)?.into_iter();
    Some(facts.map(|(name, facts)| (name, reported::by_attributes(&facts))).collect())
}

/// Computes a digest of the functions' properties and, if the cubin is linked later, of its interface to the linker.
fn figures(invocation: &Invocation, cubin: &[u8]) -> String {
    // This spelling is part of cache entries.
    let mut said = format!("{:?}", measured(cubin)).replace("PtxasReport {", "Real {");
    if invocation.is_relocatable {
        _ = write!(said, "{:?}", relocatable::read(cubin));
    }
    digest(said.as_bytes())
}

/// Returns an error unless the final code has the registers, the stack and the shared memory that the search saw.
fn check(before: &PtxasReports, after: &PtxasReports, changes: &[ChangedKernel]) -> Result<(), Error> {
    let changed: BTreeSet<&str> = changes.iter().map(|change| change.kernel.as_str()).collect();
    for (kernel, ptxas_report) in before.iter().filter(|(kernel, _)| !changed.contains(kernel.as_str())) {
        if after.get(kernel) != Some(ptxas_report) {
            return Err(odd("an unchanged kernel has other code"));
        }
    }
    for change in changes {
        let ptxas_report = after.get(&change.kernel);
        if ptxas_report.is_none_or(|ptxas_report| ptxas_report.registers != change.after.registers) {
            return Err(odd("a kernel has other registers than in the search"));
        }
    }
    Ok(())
}

/// Returns an error unless an object for later linking has the stock object's interface and needs no more resources.
fn check_object(stock: Option<&Relocatable>, object: &[u8]) -> Result<(), Error> {
    let Some(stock) = stock else { return Ok(()) };
    let object = relocatable::read(object).ok_or_else(|| odd("the object that ptxas made cannot be read"))?;
    object.check(stock).map_err(|difference| odd(&difference))
}

/// Reason for rejecting a result with additional messages.
const NEW_WARNING: &str = "ptxas has a warning that it does not have for the unchanged PTX";

fn odd(problem: &str) -> Error {
    Error::pass(problem, "the unchanged result stays")
}

/// Returns whether the user excludes the whole choice.
pub(super) fn is_left_out(task: &Task<'_>, choice: &CachedChoice) -> bool {
    let profile = Profile::parse(&choice.profile);
    profile.is_ok_and(|profile| !task.settings.exclusions.apply(profile).0.functions.iter().any(exclusions::changes))
}

/// Logs and reports the gains, and the user's exclusions.
pub(super) fn say(task: &Task<'_>, choice: &CachedChoice) {
    let Task { invocation, input, settings, .. } = task;
    // A profile that cannot be parsed is reported elsewhere.
    let functions = Profile::parse(&choice.profile).map(|profile| profile.functions).unwrap_or_default();
    let is_kernel = |entry: &&ProfileEntry| choice.changes.iter().any(|change| change.kernel == entry.name);
    let is_changed =
        |entry: &&ProfileEntry| exclusions::changes(entry) && settings.exclusions.fate(entry) == Fate::Changed;
    let mut callees: Vec<&ProfileEntry> =
        functions.iter().filter(|entry| !is_kernel(entry)).filter(is_changed).collect();
    let file = input.name();
    let processor = invocation.processor.as_deref().unwrap_or_default();
    for change in &choice.changes {
        let own = functions.iter().find(|entry| entry.name == change.kernel);
        let name = crate::kernel_names::readable(&change.kernel);
        match own.map_or(Fate::Changed, |entry| settings.exclusions.fate(entry)) {
            Fate::Changed => {
                settings.note(&line(change));
                let entries = own.into_iter().chain(std::mem::take(&mut callees)).collect();
                let reported = Reported { change, file: &file, processor, entries };
                settings.report.iter().for_each(|path| log::report(path, &reported));
            }
            Fate::Partly(choices) => {
                settings.note(&format!("{name}: without {}, by {}", choices.join(" "), exclusions::VARIABLE));
            }
            Fate::Unchanged => settings.note(&format!("{name}: unchanged, by {}", exclusions::VARIABLE)),
        }
    }
}

/// Formats a kernel's gain in one line.
pub(super) fn line(change: &ChangedKernel) -> String {
    let ChangedKernel { kernel, choice, before, after, agreement, assurance, with_fewer_warps } = change;
    let mut text = format!("{}: ", crate::kernel_names::readable(kernel));
    if [before, after].iter().any(|cost| cost.spill_store_bytes + cost.spill_load_bytes > 0) {
        _ = write!(text, "{}+{} → ", before.spill_store_bytes, before.spill_load_bytes);
        match (after.spill_store_bytes, after.spill_load_bytes) {
            (0, 0) => text.push('0'),
            (stores, loads) => _ = write!(text, "{stores}+{loads}"),
        }
        text.push_str(" bytes, ");
    }
    _ = write!(text, "{} registers, ", after.registers);
    if before.warps > 0 {
        _ = write!(text, "{} → {} warps, ", before.warps, after.warps);
    }
    _ = write!(text, "{} → {} instructions", before.instructions, after.instructions);
    text = text + ", " + choice;
    if !assurance.is_empty() {
        text = text + "; " + assurance;
    }
    if !agreement.is_empty() {
        text = text + "; run on the CPU: " + agreement;
    }
    text + &request::offer(with_fewer_warps.as_ref())
}

/// Formats the line for a kernel that stays stock.
pub(super) fn line_of(left: &UnchangedKernel) -> String {
    format!("{}: {}", crate::kernel_names::readable(&left.kernel), left.reason)
}

#[cfg(test)]
mod tests {
    use nvptx_ra::tune::ptxas_output::PtxasReport;

    use super::*;
    use crate::tune::verdict::{KernelCost, OccupancyTradeoff};

    fn cost(spill_store_bytes: u32, registers: u32) -> KernelCost {
        KernelCost { spill_store_bytes, spill_load_bytes: 336, registers, warps: 24, instructions: 500 }
    }

    fn change() -> ChangedKernel {
        let after = KernelCost { spill_load_bytes: 0, ..cost(0, 80) };
        ChangedKernel {
            kernel: "k".into(),
            choice: "order=eager".into(),
            agreement: "same".into(),
            assurance: "proved".into(),
            before: cost(232, 72),
            after,
            with_fewer_warps: None,
        }
    }

    /// The larger of two limits applies: the user's limit, and the limit for timed results. The number of warps never
    /// decreases.
    #[test]
    fn more_instructions_are_allowed() {
        let of = |is_timed, more| allowance(is_timed, more).more_instructions;
        assert_eq!([of(false, 0), of(true, 0), of(false, 1), of(true, 1), of(true, 5)], [0, 3, 1, 3, 5]);
        assert!(!allowance(true, 5).fewer_warps);
    }

    /// The line has bytes stored and loaded, registers, warps, instructions and the choice.
    #[test]
    fn lines() {
        let expected = "k: 232+336 → 0 bytes, 80 registers, 24 → 24 warps, 500 → 500 instructions, order=eager; proved; run on the CPU: same";
        assert_eq!(line(&change()), expected);
        let unrolled = ChangedKernel { before: KernelCost { spill_load_bytes: 0, ..cost(0, 72) }, ..change() };
        assert!(line(&unrolled).starts_with("k: 80 registers, 24 → 24 warps, "), "nothing spills");
        let traded = ChangedKernel {
            with_fewer_warps: Some(OccupancyTradeoff {
                cost: KernelCost { warps: 16, ..cost(8, 128) },
                by: String::new(),
            }),
            ..change()
        };
        let offered = "; with 16 warps it would spill 344 bytes: nvptx-ra tune --allow-occupancy-loss allows it";
        assert_eq!(line(&traded), format!("{expected}{offered}"));
    }

    /// Unchanged kernels must stay the same, and changed kernels must have the registers that the search found.
    #[test]
    fn what_is_checked() {
        let ptxas_report = |registers| PtxasReport { registers, ..PtxasReport::default() };
        let of = |k, other| PtxasReports::from([("k".into(), ptxas_report(k)), ("other".into(), ptxas_report(other))]);
        let check = |after| check(&of(72, 9), &after, &[change()]).is_ok();
        assert!(check(of(80, 9)));
        assert!(!check(of(81, 9)) && !check(of(80, 10)) && !check(PtxasReports::new()));
    }
}
