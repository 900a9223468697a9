//! Launches of a first program that have run, and whether their results depend on the order of threads.

use super::compare::{Launched, first_difference};
use super::launch::{LaunchSeed, Launches};
use super::machine::{AbandonedLaunch, End, Outcome, Setting, Turns, run};
use super::memory::Image;
use super::program::Program;
use super::tolerance::Equality;
use super::wishes::Wishes;

/// Schedules of the first program's threads that must give the same: where it reads what depends on their order, and
/// where a second program gives something else.
const ORDERS: [(u64, Turns); 2] = [(1, Turns::Drawn), (4, Turns::Drawn)];
const ORDERS_OF_A_DIFFERENCE: [(u64, Turns); 4] =
    [(2, Turns::Drawn), (3, Turns::Drawn), (5, Turns::FirstToLast), (6, Turns::LastToFirst)];
/// A program does not end that runs so many times as many instructions without a new store as one that ends.
const ENDLESS: u64 = 1_000;
/// That is looked at only where it is no more than so many times the instructions that a launch may run.
const MOST_TIMES: u64 = 16;
/// Threads that do not meet again take more instructions than others: so many times more are allowed.
const PARTED_STEPS: u64 = 4;

/// The instructions of warps that may still run.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) left: u64,
}

impl Steps {
    /// Runs a launch with what is left.
    pub(super) fn run(&mut self, program: &Program, setting: &Setting, image: &mut Image) -> Result<Outcome, String> {
        self.ran(program, setting, image).map_err(|stopped| stopped.told())
    }

    /// The same, with what there is to say of a launch that ended early.
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

/// What ran, however it ended.
pub(super) fn outcome_of(ran: &Result<Outcome, AbandonedLaunch>) -> &Outcome {
    ran.as_ref().unwrap_or_else(|stopped| &stopped.outcome)
}

/// The instructions without a new store beyond which a program does not end, where another one ends after so many.
pub(super) fn most_quiet(steps: u64, launches: &Launches) -> Option<u64> {
    let most = ENDLESS.saturating_mul(steps.max(launches.least_steps));
    Some(most).filter(|&most| most <= launches.most_steps.saturating_mul(MOST_TIMES))
}

/// A launch of the first program.
#[derive(Debug)]
pub(super) struct PreparedLaunch {
    pub(super) launched: Launched,
    pub(super) ready: Option<Ready>,
    /// Where none that was drawn ended: the first of them.
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
    /// Runs another program on the launch, as far as it may run to end.
    pub(super) fn run(
        &self,
        second: &Program,
        kernel: usize,
        launches: &Launches,
        steps: &mut Steps,
    ) -> (Result<Outcome, AbandonedLaunch>, Image) {
        let setting = launches.setting(second, kernel, &LaunchSeed { wishes: Wishes::default(), ..self.drawn }, 0);
        // After more instructions, it could not be told any more whether the first program does not end.
        let most_steps = match self.stopped.end {
            End::Endless => launches.most_steps,
            _ => launches.most_steps.saturating_mul(MOST_TIMES) / ENDLESS,
        };
        let Setting { grid, block, .. } = self.setting;
        let mut image = self.image.clone();
        image.begin_second();
        (steps.ran(second, &Setting { grid, block, most_steps, ..setting }, &mut image), image)
    }

    /// Why the first program does not end, where another one ends after so many instructions. `None` where it may end, in
    /// this order of its threads or in another.
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
            // An order in which it takes too long says nothing.
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
    /// What was said of other orders of threads: `None` where a difference has not asked yet.
    pub(super) of_orders: Option<Option<String>>,
}

impl Ready {
    /// Whether a run that reads what depends on the order of threads gives the same in other orders: a reason if not.
    pub(super) fn depends(&mut self, program: &Program, launches: &Launches, steps: &mut Steps) -> Option<String> {
        if !self.outcome.depends_on_order {
            return None;
        }
        self.other_orders(program, launches, &ORDERS, steps)
    }

    /// What other orders of threads give: why nothing can be said, if the results depend on them.
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
                // An order in which it takes too long says nothing.
                Err(AbandonedLaunch { end: End::Long, .. }) if turns != Turns::Drawn => None,
                Err(stopped) => Some(stopped.told()),
            }
        })
    }

    /// The same for launches of which a second program gave something else.
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

/// Whether more than a tenth of what was stored is no finite number.
pub(super) fn is_wild([odd, all]: [usize; 2]) -> bool {
    odd * 10 > all
}

/// How closely results have to agree. What bits a result has that is no number, PTX does not say: machine code has its own.
pub(super) fn equality(launches: &Launches, is_assembled: bool) -> Equality {
    match (launches.is_exact, launches.extremes) {
        (_, true) if !is_assembled => Equality::Bits,
        (true, _) | (_, true) => Equality::Exact,
        _ => Equality::Close,
    }
}
