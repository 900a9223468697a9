//! Searches for launches of a first program that cover what its drawn launches do not.

use super::compare::{Launched, Verdict, odd_stores};
use super::guide::{FinishedLaunch, Guide, LaunchCoverage};
use super::launch::{self, LaunchSeed, Launches};
use super::machine::Setting;
use super::program::Program;
use super::ready::{PreparedLaunch, Ready, Steps, is_wild};
use super::wishes::Wishes;

/// Limits of the search: the launches that may be tried for each launch that may be added, and the instructions, as a
/// multiple of the instructions of the drawn launches.
const SEARCHED: u32 = 10;
const SEARCHED_STEPS: u64 = 3;
/// The least instruction limit of the search, unless `LIMIT_SHARE` gives a smaller limit.
const LEAST_SEARCHED_STEPS: u64 = 200_000;
/// The search takes at most this fraction of the limit for all launches.
const LIMIT_SHARE: u64 = 8;

/// All sizes are drawn in every n-th launch: n, and the most launches of this kind.
const FRESH_EACH: u32 = 3;
const MOST_FRESH: u32 = 24;

/// Coverage so far, and the rest of the limits.
#[derive(Debug)]
pub(super) struct Search {
    guide: Guide,
    coverage: LaunchCoverage,
    left: u32,
    fresh: u32,
    steps_left: u64,
}

impl Search {
    /// Creates a search that continues launches that have run.
    pub(super) fn new(launches: &Launches, runs: &[PreparedLaunch]) -> Self {
        let mut coverage = LaunchCoverage::default();
        let mut steps = 0u64;
        for ready in runs.iter().filter_map(|run| run.ready.as_ref()) {
            coverage.add(&ready.outcome);
            steps += ready.outcome.steps;
        }
        let left = launches.more.saturating_mul(SEARCHED);
        let wanted = LEAST_SEARCHED_STEPS.max(SEARCHED_STEPS.saturating_mul(steps));
        let steps_left = wanted.min(launches.most_steps_in_all / LIMIT_SHARE);
        Self { guide: Guide::default(), coverage, left, fresh: 0, steps_left }
    }

    /// Runs launches until a comparable one covers something new.
    pub(super) fn next(
        &mut self,
        program: &Program,
        launches: &Launches,
        runs: &mut [PreparedLaunch],
        steps: &mut Steps,
    ) -> Option<PreparedLaunch> {
        while self.left > 0 && self.steps_left > 0 && steps.left > 0 {
            self.left -= 1;
            let (kernel, drawn) = self.draw(program, launches, runs)?;
            let setting = launches.setting(program, kernel, &drawn, 0);
            let setting = Setting { most_steps: setting.most_steps.min(self.steps_left), ..setting };
            let mut image = launches.image(program, &setting, &drawn);
            let before = steps.left;
            let outcome = steps.run(program, &setting, &mut image);
            self.steps_left = self.steps_left.saturating_sub(before - steps.left);
            let Ok(outcome) = outcome else { continue };
            if is_wild(odd_stores(&outcome)) || !self.coverage.lacks(&outcome) {
                continue;
            }
            let mut ready = Ready { image, outcome, setting, drawn, of_orders: None };
            if ready.depends(program, launches, steps).is_some() {
                continue;
            }
            self.coverage.add(&ready.outcome);
            let (shape, stores) = ([ready.setting.grid, ready.setting.block], ready.outcome.num_written());
            let launched = Launched { shape, stores, ..Launched::default() };
            return Some(PreparedLaunch { launched, ready: Some(ready), unfinished: None });
        }
        None
    }

    /// Returns the next launch, with the kernel's index: an earlier launch with a change, or from time to time a new
    /// one. `None` if no launch was comparable, or nothing is left to try.
    fn draw(
        &mut self,
        program: &Program,
        launches: &Launches,
        runs: &mut [PreparedLaunch],
    ) -> Option<(usize, LaunchSeed)> {
        let mut ran: Vec<FinishedLaunch<'_>> = Vec::new();
        let mut drawn = Vec::new();
        for run in runs.iter_mut().filter(|run| run.launched.verdict == Verdict::Same) {
            if let Some(ready) = &mut run.ready {
                ran.push(FinishedLaunch { outcome: &ready.outcome, setting: &ready.setting, image: &mut ready.image });
                drawn.push(&ready.drawn);
            }
        }
        let kernel = ran.first()?.setting.kernel;
        let is_fresh = self.left.is_multiple_of(FRESH_EACH) && self.fresh < MOST_FRESH;
        if !is_fresh && let Some((parent, wishes)) = self.guide.next(program, &self.coverage, &mut ran) {
            return Some((kernel, LaunchSeed { wishes, ..*drawn[parent] }));
        }
        if self.fresh == MOST_FRESH {
            return None;
        }
        self.fresh += 1;
        let number = launches.count + launches.limits + self.fresh;
        Some((kernel, LaunchSeed { number, attempt: launch::SEARCHED, wishes: Wishes::default() }))
    }
}
