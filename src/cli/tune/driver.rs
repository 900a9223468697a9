//! A search from stock to the variants that win, for `nvptx-ra tune` and for the program in ptxas's place.
//!
//! Both say what is searched and for how long, and who is told what. All else is the same.

use std::path::Path;

use nvptx_ra::error::Error;
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::objective::RunLimits;
use nvptx_ra::tune::search::Search;
use nvptx_ra::tune::shares;

use super::code::Code;
use super::rounds;
use super::stock::{self, Conditions, KernelSelection, Stock};
use super::trials;
use super::tuning::{SearchLimits, Tuning};
use super::winners::{self, Comparer, DifferenceFolder};
use crate::interrupt;

/// What is searched, and how.
pub(super) struct Plan<'a, 'p> {
    pub(super) code: &'a dyn Code,
    /// Its file, for messages.
    pub(super) path: &'p Path,
    pub(super) wanted: KernelSelection<'p>,
    pub(super) conditions: Conditions<'a>,
    pub(super) run_limits: RunLimits,
    pub(super) search_limits: SearchLimits,
    /// Where variants that differ from stock are kept.
    pub(super) keep: DifferenceFolder,
    /// Whether variants run on the CPU.
    pub(super) compares: bool,
    /// Whether the best so far is wanted of a search that is cut.
    pub(super) keeps_best: bool,
    /// Where all trials are noted, if each recipe is to be tried.
    pub(super) trials: Option<&'p Path>,
}

/// Who is told how a search goes on.
pub(super) trait Listener: Sync {
    /// What users should know.
    fn note(&self, line: &str);

    /// Decides on a kernel of which stock is known: whether it is searched, and how.
    fn admits(&self, kernel: &mut Kernel) -> bool {
        let _ = kernel;
        true
    }

    /// The rounds begin.
    fn begin(&self, search: &Search) {
        let _ = search;
    }

    /// A kernel has had a round.
    fn note_round(&self, kernel: &Kernel) {
        let _ = kernel;
    }

    /// The rounds are over.
    fn end(&self, early_stop: Option<EarlyStop>) {
        let _ = early_stop;
    }
}

/// Why a search ended ahead of its last run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EarlyStop {
    /// The user interrupted, or somebody asked the program to terminate.
    Interruption,
    /// The time was over.
    Time,
}

/// What came of a search.
pub(super) struct SearchResult<'a> {
    pub(super) tuning: Tuning<'a>,
    /// Why it ended early, where the best so far is wanted.
    pub(super) early_stop: Option<EarlyStop>,
    /// Whether it came to no result: it was interrupted for good, or waits for answers.
    pub(super) is_void: bool,
}

/// Searches. Where the time is over, or the user interrupts, the result is the best so far, if that is wanted. A second interruption
/// ends all work.
pub(super) fn search<'a>(plan: Plan<'a, '_>, listener: &dyn Listener) -> Result<SearchResult<'a>, Error> {
    let Plan { code, path, wanted, conditions, run_limits, search_limits, keep, compares, keeps_best, trials } = plan;
    let Stock { kernels, slices, notes, waits } = stock::kernels(code, path, &wanted, conditions)?;
    let admitted = kernels
        .into_iter()
        .zip(slices)
        .filter_map(|(mut kernel, slice)| listener.admits(&mut kernel).then_some((kernel, slice)));
    let (mut kernels, slices): (Vec<_>, Vec<_>) = admitted.unzip();
    run_limits.effort.iter().for_each(|effort| shares::allot(effort, conditions.objective, &mut kernels));
    let search = Search { objective: *conditions.objective, run_limits, kernels: kernels.into() };
    let judges = conditions.judges;
    let mut tuning = Tuning { code, judges, search, slices: slices.into(), stock_waits: waits, search_limits };
    let void = |tuning| Ok(SearchResult { tuning, early_stop: None, is_void: true });
    if interrupt::is_interrupted() {
        return void(tuning);
    }
    notes.iter().for_each(|line| listener.note(line));
    if tuning.waits() {
        return void(tuning);
    }
    let comparer = Comparer::new(&tuning.search, judges, keep, compares);
    for id in tuning.search.kernels.ids() {
        tuning.search.kernels[id].tries_all = trials.is_some();
    }
    listener.begin(&tuning.search);
    rounds::run(&mut tuning, &comparer, &|kernel| listener.note_round(kernel));
    let early_stop = early_stop(&tuning).filter(|_| keeps_best);
    if keeps_best {
        interrupt::tolerate_first();
    }
    if interrupt::is_interrupted() || tuning.waits() {
        return void(tuning);
    }
    listener.end(early_stop);
    if let Some(path) = trials {
        trials::write(path, &tuning, &comparer)?;
    }
    winners::compare(&mut tuning, &comparer);
    winners::warnings(&tuning.search).for_each(|warning| listener.note(&warning));
    let is_void = interrupt::is_interrupted();
    Ok(SearchResult { tuning, early_stop, is_void })
}

/// Why a search has ended ahead of its last run, if it has.
fn early_stop(tuning: &Tuning<'_>) -> Option<EarlyStop> {
    if interrupt::is_interrupted() {
        return Some(EarlyStop::Interruption);
    }
    let Tuning { search, search_limits, .. } = tuning;
    let is_over = search.kernels.iter().all(|kernel| kernel.is_over(kernel.share_of(&search.run_limits)));
    (search_limits.is_over() && !is_over).then_some(EarlyStop::Time)
}
