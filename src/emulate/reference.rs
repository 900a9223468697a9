//! Launches of a first program that have run, with which second programs are compared.
//!
//! Each launch of the first program runs once, however many programs are compared with it. The drawn launches are
//! followed by those that a [guide](super::guide) finds: each covers a part of the first program that no earlier launch
//! covers.

use super::compare::{
    Comparison, Difference, Differing, Launched, Verdict, buffer_of, first_difference, newly_undefined, odd_stores,
};
use super::launch::{LaunchSeed, Launches, MIXED};
use super::machine::{AbandonedLaunch, End, Setting};
use super::permitted::{Allowed, Doubt, PermittedVerdict};
use super::program::Program;
use super::ready::{PreparedLaunch, Ready, Steps, UnfinishedLaunch, equality, is_wild, most_quiet, outcome_of};
use super::run::{Store, parameters};
use super::search::Search;
use super::tolerance::Equality;
use super::wishes::Wishes;
use crate::ptx::Module;

/// The most draws of a launch until it is comparable and most of its results are finite numbers.
const ATTEMPTS: u32 = 5;
/// The most additional draws if none of these draws was comparable.
const MIXED_ATTEMPTS: u32 = 8;
/// After an attempt that was too long, the instruction limit of later attempts is divided by this number, to find a
/// shorter launch.
const SHORTER: u64 = 4;

/// The instruction limit of launches with parameters at limits is divided by this number.
const AT_LIMITS: u64 = 16;

/// A first program, with the launches of a kernel that have run so far.
#[derive(Debug)]
pub struct Reference<'p> {
    program: &'p Program,
    kernel: String,
    launches: Launches,
    runs: Vec<PreparedLaunch>,
    steps: Steps,
    search: Option<Search>,
}

/// Runs two programs on the same launches of a kernel and compares what they store.
pub fn compare(first: &Module<'_>, second: &Module<'_>, kernel: &str, launches: &Launches) -> Comparison {
    compare_programs(&Program::new(first), &Program::new(second), kernel, launches)
}

/// Compares decoded programs in the same way.
pub fn compare_programs(first: &Program, second: &Program, kernel: &str, launches: &Launches) -> Comparison {
    Reference::new(first, kernel, launches).compare(second)
}

impl<'p> Reference<'p> {
    /// Creates a reference of a program and one of its kernels. Launches run on demand.
    pub fn new(program: &'p Program, kernel: &str, launches: &Launches) -> Self {
        let steps = Steps { left: launches.most_steps_in_all };
        let (kernel, launches) = (kernel.to_owned(), launches.clone());
        Self { program, kernel, launches, runs: Vec::new(), steps, search: None }
    }

    /// Gives the next comparison the whole instruction limit again.
    pub fn renew(&mut self) {
        self.steps.left = self.launches.most_steps_in_all;
    }

    /// Compares a second program with the first, up to the first different launch.
    pub fn compare(&mut self, second: &Program) -> Comparison {
        self.compare_allowing(second, Allowed::default())
    }

    /// Compares a second program with the first if the results of other programs are permitted, too. These programs run
    /// on a launch in which the two differ.
    pub fn compare_allowing(&mut self, second: &Program, allowed: Allowed<'_>) -> Comparison {
        let equality = self.equality(second);
        let is_end = |verdict: &Verdict| matches!(verdict, Verdict::Different(_));
        self.compare_until(second, allowed, equality, is_end)
    }

    /// Compares a second program with the first, always with a tolerance for floating-point numbers: ptxas fuses
    /// products and sums.
    pub fn compare_closely(&mut self, second: &Program) -> Comparison {
        self.compare_until(second, Allowed::default(), Equality::Close, |verdict| {
            matches!(verdict, Verdict::Different(_))
        })
    }

    /// Returns how closely a second program's results must agree.
    fn equality(&self, second: &Program) -> Equality {
        equality(&self.launches, self.program.is_machine_code != second.is_machine_code)
    }

    /// Returns a verdict that distinguishes a second program from the first, if there is one: a difference, or a reason
    /// why only the second cannot be compared, such as a race or an endless loop.
    pub fn told_apart(&mut self, second: &Program) -> Option<Verdict> {
        let tells =
            |verdict: &Verdict| matches!(verdict, Verdict::Different(_) | Verdict::NotComparable { program: 1, .. });
        let equality = self.equality(second);
        let last = self.compare_until(second, Allowed::default(), equality, tells).launches.pop()?.verdict;
        tells(&last).then_some(last)
    }

    fn compare_until(
        &mut self,
        second: &Program,
        allowed: Allowed<'_>,
        equality: Equality,
        is_end: impl Fn(&Verdict) -> bool,
    ) -> Comparison {
        let mut comparison = Comparison { kernel: self.kernel.clone(), ..Comparison::default() };
        let Launches { count, limits, more, .. } = self.launches;
        let drawn = count.saturating_add(limits);
        for number in 0..drawn.saturating_add(more) {
            // A launch without remaining instructions decides nothing about the programs.
            if number > 0 && self.steps.left == 0 {
                break;
            }
            if self.runs.len() == number as usize {
                let prepared = if number < drawn { Some(self.prepared(number)) } else { self.searched() };
                let Some(prepared) = prepared else { break };
                self.runs.push(prepared);
            }
            let launched = self.launch(second, allowed, number, equality, &mut comparison);
            let is_last = is_end(&launched.verdict);
            comparison.launches.push(launched);
            if is_last {
                break;
            }
        }
        comparison
    }

    fn launch(
        &mut self,
        second: &Program,
        allowed: Allowed<'_>,
        number: u32,
        equality: Equality,
        comparison: &mut Comparison,
    ) -> Launched {
        let place = number as usize;
        let mut launched = self.runs[place].launched.clone();
        let Some(kernel) = second.kernel(&self.kernel) else {
            if self.program.kernel(&self.kernel).is_some() {
                launched.verdict = not_comparable(1, format!("there is no kernel {}", self.kernel));
            }
            return launched;
        };
        let Self { program, launches, runs, steps, .. } = self;
        let (program, launches) = (*program, &*launches);
        let PreparedLaunch { ready, unfinished, .. } = &mut runs[place];
        let Some(ready) = ready else {
            if let Some(unfinished) = unfinished {
                comparison.sides[0].add(program, &unfinished.stopped.outcome);
                let (ran, mut image) = unfinished.run(second, kernel, launches, steps);
                comparison.sides[1].add(second, outcome_of(&ran));
                if let Ok(outcome) = &ran
                    && let Some(reason) = unfinished.reason(program, outcome.steps, launches, steps)
                {
                    let parameters = parameters(program, &unfinished.setting, &mut image);
                    let differing = Differing::End { endless: 0, reason, steps: outcome.steps };
                    launched.verdict =
                        Verdict::Different(Box::new(Difference { launch: number, differing, parameters }));
                }
            }
            return launched;
        };
        comparison.sides[0].add(program, &ready.outcome);
        if launched.verdict != Verdict::Same {
            return launched;
        }
        let setting = launches.setting(second, kernel, &LaunchSeed { wishes: Wishes::default(), ..ready.drawn }, 0);
        let most_quiet = most_quiet(ready.outcome.steps, launches);
        let setting = Setting { grid: ready.setting.grid, block: ready.setting.block, most_quiet, ..setting };
        let mut image = ready.image.clone();
        image.begin_second();
        let ran = steps.ran(second, &setting, &mut image);
        comparison.sides[1].add(second, outcome_of(&ran));
        let differing = match &ran {
            Ok(outcome) => {
                launched.new_reads = image.new_reads();
                let mut found = first_difference(&ready.outcome, outcome, &mut image, equality);
                if found.is_some() && !allowed.is_empty() {
                    let doubt = Doubt { ready, outcome, setting: &setting, equality, kernel };
                    match doubt.permitted_verdict(allowed, steps) {
                        PermittedVerdict::Same => found = None,
                        PermittedVerdict::Open(reason) => {
                            launched.verdict = not_comparable(0, reason);
                            return launched;
                        }
                        PermittedVerdict::Different(address, stores) => found = Some((address, stores)),
                    }
                }
                found.map(|(address, stores)| {
                    let source = |program: &Program, which: usize| program.sources.at(stores[which].as_ref()?.line);
                    let sources = [source(program, 0), source(second, 1)];
                    let place = |program: &Program, which: usize| {
                        stores[which].as_ref().map_or_else(String::new, |store: &Store| program.place(store.line))
                    };
                    let places = [place(program, 0), place(second, 1)];
                    let buffer = buffer_of(&parameters(program, &ready.setting, &mut image), address);
                    Differing::Stores { address, buffer, stores, places, sources }
                })
            }
            Err(AbandonedLaunch { end: End::Endless, reason, .. }) => {
                Some(Differing::End { endless: 1, reason: reason.clone(), steps: ready.outcome.steps })
            }
            Err(stopped) => {
                launched.verdict = not_comparable(1, stopped.told());
                return launched;
            }
        };
        if let Ok(outcome) = &ran {
            let executed = comparison.executed.get_or_insert_default();
            executed.iter_mut().zip([&ready.outcome, outcome]).for_each(|(all, one)| all.add(one));
            comparison.ended[0].add(program, &ready.outcome);
            comparison.ended[1].add(second, outcome);
        }
        if let Some(differing) = differing {
            // A difference counts only if the order of threads does not cause it.
            launched.verdict = match ready.depends_on_order(program, launches, steps) {
                Some(reason) => not_comparable(0, reason),
                None => {
                    let parameters = parameters(program, &ready.setting, &mut image);
                    Verdict::Different(Box::new(Difference { launch: number, differing, parameters }))
                }
            };
        } else if let (None, Some(reason)) = (&ready.outcome.race, outcome_of(&ran).race.clone()) {
            // The final contents of racing words are unknown, so they cannot be compared with those of a program
            // without this race.
            launched.verdict = not_comparable(1, reason);
        } else if let Some(reason) = newly_undefined(&ready.outcome, outcome_of(&ran), second) {
            launched.verdict = not_comparable(1, reason);
        } else if launched.is_wild {
            let reason = "more than a tenth of its stored numbers are NaN or infinite in every draw";
            launched.verdict = not_comparable(0, reason.into());
        }
        launched
    }

    /// Searches for another launch of the first program that covers something new.
    fn searched(&mut self) -> Option<PreparedLaunch> {
        let Self { program, launches, runs, steps, search, .. } = self;
        search.get_or_insert_with(|| Search::new(launches, runs)).next(program, launches, runs, steps)
    }

    /// Runs a launch of the first program.
    fn prepared(&mut self, number: u32) -> PreparedLaunch {
        let Self { program, launches, steps, .. } = self;
        let (program, launches) = (*program, &*launches);
        let mut launched = Launched::default();
        let Some(kernel) = program.kernel(&self.kernel) else {
            launched.verdict = not_comparable(0, format!("there is no kernel {}", self.kernel));
            return PreparedLaunch { launched, ready: None, unfinished: None };
        };
        // The attempt with the fewest non-finite results counts.
        let mut best: Option<([usize; 2], Ready)> = None;
        let mut unfinished = None;
        // Most launches at limits access invalid addresses, or take long.
        let is_at_limits = launches.is_at_limits(number);
        let mut most_steps = launches.most_steps / if is_at_limits { AT_LIMITS } else { 1 };
        for attempt in (0..ATTEMPTS).chain(MIXED..MIXED + MIXED_ATTEMPTS) {
            let is_over = attempt >= MIXED && (best.is_some() || launches.extremes);
            if is_over || attempt > 0 && steps.left == 0 {
                break;
            }
            let drawn = LaunchSeed { number, attempt, wishes: Wishes::default() };
            let setting = Setting { most_steps, ..launches.setting(program, kernel, &drawn, 0) };
            if attempt == 0 {
                launched.shape = [setting.grid, setting.block];
            }
            let mut image = launches.image(program, &setting, &drawn);
            let outcome = match steps.ran(program, &setting, &mut image) {
                Ok(outcome) => outcome,
                Err(stopped) => {
                    let end = stopped.end;
                    // The first reason is reported, because the first launch is the simplest.
                    if attempt == 0 {
                        launched.verdict = not_comparable(0, stopped.told());
                    }
                    if end == End::Long {
                        most_steps = launches.most_steps / SHORTER;
                    }
                    if attempt == 0 && end != End::Unsaid {
                        unfinished = Some(UnfinishedLaunch { image, setting, drawn, stopped });
                    }
                    continue;
                }
            };
            let odd = odd_stores(&outcome);
            if best.as_ref().is_none_or(|best| odd[0] * best.0[1].max(1) < best.0[0] * odd[1].max(1)) {
                best = Some((odd, Ready { image, outcome, setting, drawn, of_orders: None }));
            }
            if !is_wild(odd) || launches.extremes {
                break;
            }
        }
        let Some((odd, mut ready)) = best else { return PreparedLaunch { launched, ready: None, unfinished } };
        launched.is_wild = is_wild(odd) && !launches.extremes;
        launched.shape = [ready.setting.grid, ready.setting.block];
        launched.stores = ready.outcome.num_written();
        launched.verdict = Verdict::Same;
        // The results must not depend on the order of threads.
        if let Some(reason) = ready.depends(program, launches, steps) {
            launched.verdict = not_comparable(0, reason);
        }
        PreparedLaunch { launched, ready: Some(ready), unfinished: None }
    }
}

fn not_comparable(program: usize, reason: String) -> Verdict {
    Verdict::NotComparable { program, reason }
}
