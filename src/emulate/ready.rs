//! Launches of a first program that have run, and whether their results depend on the order of threads.

use super::compare::{Launched, first_difference};
use super::launch::{Drawn, Launches};
use super::machine::{Outcome, Setting, Stopped, Turns, run};
use super::memory::Image;
use super::program::Program;
use super::tolerance::Equality;

/// Schedules of the first program's threads that must give the same: where it reads what depends on their order, and
/// where a second program gives something else.
const ORDERS: [(u64, Turns); 2] = [(1, Turns::Drawn), (4, Turns::Drawn)];
const ORDERS_OF_A_DIFFERENCE: [(u64, Turns); 4] =
    [(2, Turns::Drawn), (3, Turns::Drawn), (5, Turns::FirstToLast), (6, Turns::LastToFirst)];
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
        self.ran(program, setting, image).map_err(|stopped| stopped.reason)
    }

    /// The same, with what there is to say of a launch that ended early.
    pub(super) fn ran(&mut self, program: &Program, setting: &Setting, image: &mut Image) -> Result<Outcome, Stopped> {
        let setting = Setting { most_steps: setting.most_steps.min(self.left), ..setting.clone() };
        let ran = run(program, &setting, image);
        let steps = ran.as_ref().map_or_else(|stopped| stopped.steps, |outcome| outcome.steps);
        self.left = self.left.saturating_sub(steps);
        ran
    }
}

/// A launch of the first program.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) launched: Launched,
    pub(super) ready: Option<Ready>,
}

/// A launch that can be compared.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) image: Image,
    pub(super) outcome: Outcome,
    pub(super) setting: Setting,
    pub(super) drawn: Drawn,
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
                Ok(other) => first_difference(&self.outcome, &other, &mut self.image, equality(launches))
                    .map(|_| "the results depend on the order in which threads run".to_owned()),
                // An order in which it takes too long says nothing.
                Err(Stopped { is_long: true, .. }) if turns != Turns::Drawn => None,
                Err(stopped) => Some(stopped.reason),
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

/// How closely results have to agree.
pub(super) fn equality(launches: &Launches) -> Equality {
    match (launches.is_exact, launches.extremes) {
        (_, true) => Equality::Bits,
        (true, _) => Equality::Exact,
        _ => Equality::Close,
    }
}
