//! Launches of a first program that have run, and whether their results depend on the order of threads.

use super::compare::{Launched, first_difference};
use super::launch::{LaunchSeed, Launches};
use super::machine::{AbandonedLaunch, End, Outcome, Setting, Turns, run};
use super::memory::Image;
use super::program::Program;
use super::tolerance::Equality;
use super::wishes::Wishes;

/// Additional schedules that must give the first program the same results. They run if it reads a value that depends on
/// the order, and if a second program differs.
const ORDERS: [(u64, Turns); 2] = [(1, Turns::Drawn), (4, Turns::Drawn)];
const ORDERS_OF_A_DIFFERENCE: [(u64, Turns); 4] =
    [(2, Turns::Drawn), (3, Turns::Drawn), (5, Turns::FirstToLast), (6, Turns::LastToFirst)];
/// A program counts as endless if, without a new store, it executes this many times the instructions of a program that
/// ends.
const ENDLESS: u64 = 1_000;
/// Endlessness is tested only up to this many times the instruction limit of a launch.
const MOST_TIMES: u64 = 16;
/// Threads that do not reconverge need more instructions than others. The limit grows by this factor.
const PARTED_STEPS: u64 = 4;

/// The remaining warp instructions.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) left: u64,
}

impl Steps {
    /// Runs a launch within the remaining instructions.
    pub(super) fn run(&mut self, program: &Program, setting: &Setting, image: &mut Image) -> Result<Outcome, String> {
        self.ran(program, setting, image).map_err(|stopped| stopped.told())
    }

    /// Runs a launch within the remaining instructions. The error also contains the results up to the stop.
    pub(super) fn ran(
        &mut self,
        program: &Program,
        setting: &Setting,
        image: &mut Image,
    ) -> Result<Outcome, AbandonedLaunch> {
        let setting = Setting { most_steps: setting.most_steps.min(self.left), ..setting.clone() };
        let setting = Setting { most_steps_in_all: self.left, ..setting };
        let ran = run(program, &setting, image);
        self.left = self.left.saturating_sub(outcome_of(&ran).steps);
        ran
    }
}

/// Returns the results of a run, whether it was stopped or not.
pub(super) fn outcome_of(ran: &Result<Outcome, AbandonedLaunch>) -> &Outcome {
    ran.as_ref().unwrap_or_else(|stopped| &stopped.outcome)
}

/// Returns the number of instructions without a new store after which a program counts as endless, if another program
/// ends after `steps` instructions.
pub(super) fn most_quiet(steps: u64, launches: &Launches) -> Option<u64> {
    let most = ENDLESS.saturating_mul(steps.max(launches.least_steps));
    Some(most).filter(|&most| most <= launches.most_steps.saturating_mul(MOST_TIMES))
}

/// A launch of the first program.
#[derive(Debug)]
pub(super) struct PreparedLaunch {
    pub(super) launched: Launched,
    pub(super) ready: Option<Ready>,
    /// The first drawn launch, if none of the drawn launches ended.
    pub(super) unfinished: Option<UnfinishedLaunch>,
}

/// A launch that the first program does not end, or not soon.
#[derive(Debug)]
pub(super) struct UnfinishedLaunch {
    pub(super) image: Image,
    pub(super) setting: Setting,
    pub(super) drawn: LaunchSeed,
    pub(super) stopped: AbandonedLaunch,
}

impl UnfinishedLaunch {
    /// Runs another program on the launch, up to the limit at which endlessness is still decidable.
    pub(super) fn run(
        &self,
        second: &Program,
        kernel: usize,
        launches: &Launches,
        steps: &mut Steps,
    ) -> (Result<Outcome, AbandonedLaunch>, Image) {
        let setting = launches.setting(second, kernel, &LaunchSeed { wishes: Wishes::default(), ..self.drawn }, 0);
        // With more instructions, it could not be decided whether the first program is endless.
        let most_steps = match self.stopped.end {
            End::Endless => launches.most_steps,
            _ => launches.most_steps.saturating_mul(MOST_TIMES) / ENDLESS,
        };
        let Setting { grid, block, .. } = self.setting;
        let mut image = self.image.clone();
        image.begin_second();
        (steps.ran(second, &Setting { grid, block, most_steps, ..setting }, &mut image), image)
    }

    /// Returns the reason why the first program counts as endless, if another program ends after `ended_after`
    /// instructions. `None` if the first program may end, in this or another order of its threads.
    pub(super) fn reason(
        &self,
        program: &Program,
        ended_after: u64,
        launches: &Launches,
        steps: &mut Steps,
    ) -> Option<String> {
        let most_quiet = most_quiet(ended_after, launches);
        let mut run = |(schedule, turns)| {
            let setting = launches.setting(program, self.setting.kernel, &self.drawn, schedule);
            let mut image = self.image.clone();
            steps.ran(program, &Setting { turns, most_quiet, ..setting }, &mut image)
        };
        let reason = match self.stopped.end {
            End::Endless => self.stopped.reason.clone(),
            _ => match run((0, Turns::Drawn)) {
                Err(AbandonedLaunch { end: End::Endless, reason, .. }) => reason,
                _ => return None,
            },
        };
        let is_so = |(schedule, turns)| match run((schedule, turns)) {
            Ok(_) => false,
            // Other orders that take too long decide nothing.
            Err(stopped) => stopped.end == End::Endless || stopped.end == End::Long && turns != Turns::Drawn,
        };
        ORDERS_OF_A_DIFFERENCE.into_iter().all(is_so).then_some(reason)
    }
}

/// A launch that can be compared.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) image: Image,
    pub(super) outcome: Outcome,
    pub(super) setting: Setting,
    pub(super) drawn: LaunchSeed,
    /// Result of other thread orders; `None` if they have not run yet.
    pub(super) of_orders: Option<Option<String>>,
}

impl Ready {
    /// Returns a reason if the run reads a value that depends on the order of threads, and other orders give other
    /// results.
    pub(super) fn depends(&mut self, program: &Program, launches: &Launches, steps: &mut Steps) -> Option<String> {
        if !self.outcome.depends_on_order {
            return None;
        }
        self.other_orders(program, launches, &ORDERS, steps)
    }

    /// Runs other thread orders and returns a reason if the results depend on them.
    fn other_orders(
        &mut self,
        program: &Program,
        launches: &Launches,
        orders: &[(u64, Turns)],
        steps: &mut Steps,
    ) -> Option<String> {
        orders.iter().find_map(|&(schedule, turns)| {
            let drawn = launches.setting(program, self.setting.kernel, &self.drawn, schedule);
            let longer = if turns == Turns::Drawn { 1 } else { PARTED_STEPS };
            let setting = Setting { turns, most_steps: drawn.most_steps.saturating_mul(longer), ..drawn };
            match steps.ran(program, &setting, &mut self.image) {
                Ok(other) => first_difference(&self.outcome, &other, &mut self.image, equality(launches, false))
                    .map(|_| "the results depend on the order in which threads run".to_owned()),
                // Other orders that take too long decide nothing.
                Err(AbandonedLaunch { end: End::Long, .. }) if turns != Turns::Drawn => None,
                Err(stopped) => Some(stopped.told()),
            }
        })
    }

    /// Returns a reason if the results depend on the order of threads, for launches in which a second program differs.
    /// Tests [`ORDERS_OF_A_DIFFERENCE`].
    pub(super) fn depends_on_order(
        &mut self,
        program: &Program,
        launches: &Launches,
        steps: &mut Steps,
    ) -> Option<String> {
        if self.of_orders.is_none() {
            self.of_orders = Some(self.other_orders(program, launches, &ORDERS_OF_A_DIFFERENCE, steps));
        }
        self.of_orders.clone().flatten()
    }
}

/// Whether more than a tenth of the stored numbers are not finite.
pub(super) fn is_wild([odd, all]: [usize; 2]) -> bool {
    odd * 10 > all
}

/// Returns how closely results must agree. PTX does not define the bits of a NaN result, so machine code may have other
/// bits than the PTX module.
pub(super) fn equality(launches: &Launches, is_assembled: bool) -> Equality {
    match (launches.is_exact, launches.extremes) {
        (_, true) if !is_assembled => Equality::Bits,
        (true, _) | (_, true) => Equality::Exact,
        _ => Equality::Close,
    }
}
