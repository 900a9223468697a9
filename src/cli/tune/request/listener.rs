//! Reports of a search to a build.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use nvptx_ra::target::machine::Architecture;
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::objective::{Objective, RunLimits};

use super::lacks_warps;
use crate::tune::driver::{EarlyStop, Listener};
use crate::tune::verdict::UnchangedKernel;

/// The least expected gain for which a kernel is searched with a share of the effort, as a fraction of stock's time.
/// The gain is expected from similar recorded kernels.
const LEAST_HOPE: f64 = 0.003;

/// A listener that writes the progress of a search to a build's log.
pub(super) struct Log<'a> {
    pub(super) note: &'a (dyn Fn(&str) + Sync),
    pub(super) architecture: &'a Architecture,
    pub(super) objective: &'a Objective,
    /// The kernels with loops that ptxas would unroll if they were turned.
    pub(super) loops: &'a BTreeSet<String>,
    /// The kernels for which stock shows that there is nothing to gain.
    pub(super) unchanged_kernels: Mutex<Vec<UnchangedKernel>>,
    pub(super) run_limits: RunLimits,
    /// Called with the number of completed kernels.
    pub(super) progress: &'a (dyn Fn(usize) + Sync),
    /// The completed kernels.
    pub(super) over: Mutex<BTreeSet<String>>,
}

impl Log<'_> {
    fn note_over(&self, kernel: &Kernel) {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if over.insert(kernel.name.clone()) {
            (self.progress)(over.len());
        }
    }
}

impl Listener for Log<'_> {
    fn note(&self, line: &str) {
        (self.note)(line.trim_start_matches("nvptx-ra: "));
    }

    /// Admits kernels that spill or that lack warps because of registers, and kernels with loops to turn. A kernel
    /// whose stack holds only arrays does not spill.
    fn admits(&self, kernel: &mut Kernel) -> bool {
        let lacks = || lacks_warps(&kernel.stock.ptxas_report, kernel.block, self.architecture);
        let lacks_something = kernel.stock.spill_bytes() > 0 || !kernel.stock.counts_instructions_alone && lacks();
        kernel.is_for_loops_alone = !lacks_something;
        kernel.has_loops_to_turn = self.loops.contains(&kernel.name);
        let is_wanted = lacks_something || kernel.has_loops_to_turn;
        let hope = kernel.hope(self.objective);
        let has_hope = self.run_limits.effort.is_none() || hope >= LEAST_HOPE;
        // There are no recorded gains of turned loops, so turned loops are tried in any case.
        kernel.is_for_loops_alone |= kernel.has_loops_to_turn && !has_hope;
        if is_wanted && (has_hope || kernel.has_loops_to_turn) {
            return true;
        }
        let reason = if is_wanted {
            format!("similar recorded kernels gained {:.1} % by all variants", 100.0 * hope)
        } else {
            "the stack holds only arrays, and registers do not limit the warps".into()
        };
        let mut unchanged_kernels = self.unchanged_kernels.lock().unwrap_or_else(PoisonError::into_inner);
        unchanged_kernels.push(UnchangedKernel::unsearched(&kernel.name, &reason));
        self.note_over(kernel);
        false
    }

    fn note_round(&self, kernel: &Kernel) {
        if kernel.is_over(kernel.share_of(&self.run_limits)) {
            self.note_over(kernel);
        }
    }

    fn end(&self, early_stop: Option<EarlyStop>) {
        let reason = match early_stop {
            None => return,
            Some(EarlyStop::Interruption) => "the search was interrupted",
            Some(EarlyStop::Time) => "the search reached its time limit",
        };
        (self.note)(&format!("{reason}: the best result so far is used"));
    }
}
