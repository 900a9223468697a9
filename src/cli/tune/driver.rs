//! A search from stock to the winners, for `nvptx-ra tune` and for the ptxas wrapper.
//!
//! Callers set the searched code, the limits and the listener. Everything else is the same.

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

/// The code and the settings of a search.
pub(super) struct Plan<'a, 'p> {
    pub(super) code: &'a dyn Code,
    /// The code's file, for messages.
    pub(super) path: &'p Path,
    pub(super) wanted: KernelSelection<'p>,
    pub(super) conditions: Conditions<'a>,
    pub(super) run_limits: RunLimits,
    pub(super) search_limits: SearchLimits,
    /// Where variants that differ from stock are stored.
    pub(super) keep: DifferenceFolder,
    /// Whether variants run on the CPU.
    pub(super) compares: bool,
    /// Whether an interrupted search returns the best results so far.
    pub(super) keeps_best: bool,
    /// The file to which the trials are written. `Some` if every recipe is to be tried.
    pub(super) trials: Option<&'p Path>,
}

/// The receiver of a search's progress.
pub(super) trait Listener: Sync {
    /// Reports a line for users.
    fn note(&self, line: &str);

    /// Decides whether and how a kernel is searched. Called once the kernel's stock is known.
    fn admits(&self, kernel: &mut Kernel) -> bool {
        let _ = kernel;
        true
    }

    /// Reports that the rounds begin.
    fn begin(&self, search: &Search) {
        let _ = search;
    }

    /// Reports a round of a kernel.
    fn note_round(&self, kernel: &Kernel) {
        let _ = kernel;
    }

    /// Reports that the rounds are over.
    fn end(&self, early_stop: Option<EarlyStop>) {
        let _ = early_stop;
    }
}

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EarlyStop {
    /// The user interrupted, or the program received a request to terminate.
    Interruption,
    /// The time limit was reached.
    Time,
}

/// The result of a search.
pub(super) struct SearchResult<'a> {
    pub(super) tuning: Tuning<'a>,
    /// Why the search ended early. `None` if it did not, or if its best results so far are not wanted.
    pub(super) early_stop: Option<EarlyStop>,
    /// Whether there is no result, because an interruption discarded it or because answers are pending.
    pub(super) is_void: bool,
}

/// Runs a search. At the time limit, or after an interruption, it returns the best results so far if they are wanted. A
/// second interruption ends all work.
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

/// Returns why a search has ended early, if it has.
fn early_stop(tuning: &Tuning<'_>) -> Option<EarlyStop> {
    if interrupt::is_interrupted() {
        return Some(EarlyStop::Interruption);
    }
    let Tuning { search, search_limits, .. } = tuning;
    let is_over = search.kernels.iter().all(|kernel| kernel.is_over(kernel.share_of(&search.run_limits)));
    (search_limits.is_over() && !is_over).then_some(EarlyStop::Time)
}
