//! The rounds of a kernel's search. Each round asks for the PTX of a few variants, then for the figures of the PTX that
//! is new.

use super::Kernel;
use super::recipes::Candidate;
use crate::tune::figures::Figures;
use crate::tune::findings::Compared;
use crate::tune::objective::{Objective, RunLimits};
use crate::tune::price::Work;
use crate::tune::question::{Answer, NoAnswer, Question, Spilled};
use crate::tune::recipe::Step;
use crate::tune::variant::Variant;

/// The number of variants that are drawn from the same state of a kernel's search. This constant does not depend on the
/// number of threads, so the number of threads changes no result.
pub(in super::super) const ROUND: usize = 4;

/// The most compiled variants for each judged one. Variants that change nothing are not judged.
pub(in super::super) const COMPILED_FOR_EACH: usize = 6;

/// The most variants of a round if a share of the effort bounds the search.
const ROUND_OF_A_SHARE: u64 = 2;

/// The fraction of a kernel's share that is reserved for the comparison of the winner with stock.
const COMPARED: f64 = 0.3;

/// The least expected improvement that is worth a run, as a fraction of stock's time.
const LEAST_IMPROVEMENT: f64 = 0.0005;

/// The least expected improvement that is worth a run after the multiple of ptxas's time for the file is used up.
const LEAST_IMPROVEMENT_BEYOND: f64 = 0.002;

/// The progress of a kernel's search.
#[derive(Default)]
pub(super) struct Rounds {
    /// The numbers of compiled and judged variants.
    compiled: usize,
    judged: usize,
    /// The effort spent, estimated by rule.
    spent: Work,
    /// The part of the share that lies within the multiple of ptxas's time.
    in_times: Work,
    /// The required gain of a run, as a multiple of the default requirement.
    exactingness: f64,
    /// Whether no recipe is left with an expected gain.
    is_exhausted: bool,
    /// Runs that count as spent because no gain is expected from them.
    spared: usize,
    /// Whether the best variant has been drawn with turned loops, which is the last round.
    has_turned_loops: bool,
    /// Whether answers to this round are pending.
    waits: bool,
    /// The variant that is compared with stock.
    compared: Option<Variant>,
    /// The variants whose machine code is inspected.
    inspected: Vec<Variant>,
    /// The variants of this round whose PTX is asked for.
    drawn: Vec<Variant>,
    /// The variants of this round whose PTX is known.
    attempts: Vec<Attempt>,
}

/// A variant of a round.
struct Attempt {
    variant: Variant,
    /// The fingerprint of its PTX, or why there is none.
    text: Result<String, NoAnswer>,
    /// Whether it is the first variant with this PTX.
    is_new: bool,
}

impl Rounds {
    /// Counts runs as spent.
    pub(super) fn spare(&mut self, runs: usize) {
        self.spared += runs;
    }

    /// Returns how many of `runs` are left.
    fn left_of(&self, runs: usize) -> usize {
        runs.saturating_sub(self.judged + self.spared)
    }
}

impl Kernel {
    /// Returns the next questions, all at once, if `runs` variants may be judged. No questions if the search is over or
    /// answers are pending. Without answers in between, the next call returns the same questions.
    pub(in super::super) fn ask(&mut self, objective: &Objective, runs: usize) -> Vec<Question> {
        if self.rounds.waits {
            return Vec::new();
        }
        if !self.rounds.attempts.is_empty() {
            let new = self.rounds.attempts.iter().filter(|attempt| attempt.is_new);
            return new.map(|attempt| Question::Figures(attempt.variant.clone())).collect();
        }
        if !self.rounds.inspected.is_empty() {
            return self.rounds.inspected.iter().cloned().map(Question::Spilled).collect();
        }
        if self.rounds.drawn.is_empty() && self.is_spent(runs) && !self.rounds.has_turned_loops {
            self.rounds.has_turned_loops = true;
            let turned = self.best(objective).0.with_turned_loops();
            // A recipe may have proposed this variant already.
            let is_new = !self.proposed.contains(&turned) && self.is_left_out(&turned).is_none();
            self.rounds.drawn.extend(is_new.then_some(turned));
        } else if self.rounds.drawn.is_empty() && !self.is_spent(runs) {
            self.rounds.compared = if self.tries_all { None } else { self.due_comparison(objective) };
            if let Some(variant) = &self.rounds.compared {
                return vec![Question::Compared(variant.clone())];
            }
            self.propose_wide();
            let candidates = self.due_candidates(objective);
            if candidates.is_empty() && self.ends_with_recipes() {
                self.rounds.is_exhausted = true;
                return self.ask(objective, runs);
            }
            self.rounds.inspected = match &candidates[..] {
                [first, ..] if first.step == Step::InspectSpills => {
                    self.give(first);
                    vec![first.variant.clone()]
                }
                [_, ..] => Vec::new(),
                [] => self.to_inspect(objective, 2 * self.rounds.left_of(runs) <= runs),
            };
            self.rounds.inspected.truncate(self.rounds.left_of(runs));
            if !self.rounds.inspected.is_empty() {
                return self.rounds.inspected.iter().cloned().map(Question::Spilled).collect();
            }
            if !candidates.is_empty() {
                let ahead = candidates.iter().take_while(|candidate| candidate.step != Step::InspectSpills);
                let width = self.width(runs);
                for candidate in ahead.take(width) {
                    self.give(candidate);
                    // Two recipes may make the same variant.
                    if !self.proposed.contains(&candidate.variant) {
                        self.proposed.push(candidate.variant.clone());
                        self.rounds.drawn.push(candidate.variant.clone());
                    }
                }
                return self.rounds.drawn.iter().map(|variant| Question::Text(variant.clone())).collect();
            }
            let widths = self.until_next_inspection().into_iter().chain(self.until_first_order());
            // Recipes follow after the queued variants.
            let ahead = self.queue.len() + self.inspections.queue.len();
            let most = if self.by_recipes && ahead > 0 { ahead.min(ROUND) } else { ROUND };
            let width = widths.min().unwrap_or(most).clamp(1, most);
            self.draw(objective, width, runs);
            if self.rounds.drawn.is_empty() {
                // Lessons have saved all remaining runs.
                return self.ask(objective, runs);
            }
        }
        self.rounds.drawn.iter().map(|variant| Question::Text(variant.clone())).collect()
    }

    /// Draws up to `width` variants, as far as runs are left.
    fn draw(&mut self, objective: &Objective, width: usize, runs: usize) {
        while self.rounds.drawn.len() < width.min(self.rounds.left_of(runs)) {
            let variant = self.propose(objective);
            match self.is_left_out(&variant) {
                Some(spares_run) => self.rounds.spare(usize::from(spares_run)),
                None => self.rounds.drawn.push(variant),
            }
        }
    }

    /// Takes the answers to the last questions, in the order of the questions.
    pub(in super::super) fn tell(&mut self, objective: &Objective, answers: Vec<Answer>) {
        let (mut judged, mut spilled) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer {
                Answer::Text(text) => self.note_text(text),
                Answer::Figures(figures) => judged.push(figures),
                Answer::Spilled(registers) => spilled.push(registers),
                Answer::Compared(compared) => return self.take_compared(objective, compared),
            }
        }
        if !spilled.is_empty() {
            return self.take_spilled(objective, spilled);
        }
        self.rounds.drawn.clear();
        self.rounds.waits = judged.contains(&Err(NoAnswer::Later));
        let is_to_judge = judged.is_empty() && self.rounds.attempts.iter().any(|attempt| attempt.is_new);
        if !is_to_judge && !self.rounds.waits {
            self.end_round(objective, judged);
        }
    }

    /// Takes the result of the requested comparison. An interrupted comparison is ignored.
    fn take_compared(&mut self, objective: &Objective, compared: Option<Compared>) {
        if let (Some(variant), Some(compared)) = (self.rounds.compared.take(), compared) {
            self.note_comparison(objective, variant, compared);
        }
    }

    /// Takes the results of the requested inspections.
    fn take_spilled(&mut self, objective: &Objective, spilled: Vec<Result<Spilled, NoAnswer>>) {
        self.rounds.waits = spilled.contains(&Err(NoAnswer::Later));
        if self.rounds.waits {
            return;
        }
        for (variant, spilled) in std::mem::take(&mut self.rounds.inspected).into_iter().zip(spilled) {
            if spilled != Err(NoAnswer::BrokenOff) {
                self.rounds.judged += 1;
                self.rounds.spent += Work::of_inspection(self.run());
                self.note_spilled(objective, variant, spilled.ok());
            }
        }
    }

    /// Returns the number of variants to draw at once. The number is at most two if a share of the effort bounds the
    /// search, so that the first results guide the next variants.
    fn width(&self, runs: usize) -> usize {
        let left = self.rounds.left_of(runs).max(1);
        let affordable = |work: Work| work.0 / self.run().0.max(1);
        let affordable = self.work_left().map_or(ROUND, |work| affordable(work).clamp(1, ROUND_OF_A_SHARE) as usize);
        affordable.min(left)
    }

    /// Estimates a ptxas run on the kernel.
    pub fn run(&self) -> Work {
        Work::of_run([(self.stock.sass.instructions, self.stock.sass.stack_traffic > 0)])
    }

    /// Returns the next recipes, the largest expected gain first. If a share of the effort bounds the search, recipes
    /// that are not worth their price are left out.
    fn due_candidates(&self, objective: &Objective) -> Vec<Candidate> {
        let is_due = self.by_recipes && self.queue.is_empty() && self.inspections.queue.is_empty();
        if !is_due {
            return Vec::new();
        }
        let left = self.work_left();
        let price = |candidate: &Candidate| {
            if candidate.step == Step::InspectSpills { Work::of_inspection(self.run()) } else { self.run() }
        };
        let is_affordable = |candidate: &Candidate| left.is_none_or(|left| price(candidate) <= left);
        let is_beyond = self.rounds.spent + self.run() > self.work_of_variants(self.rounds.in_times);
        let least = if is_beyond { LEAST_IMPROVEMENT_BEYOND } else { LEAST_IMPROVEMENT };
        let is_worth = |candidate: &Candidate| {
            left.is_none()
                || candidate.improvement >= least * price(candidate).share_of(self.run()) * self.rounds.exactingness
        };
        let mut candidates = self.candidates(objective);
        candidates.retain(|candidate| is_affordable(candidate) && is_worth(candidate));
        candidates
    }

    /// Whether nothing follows after the recipes.
    fn ends_with_recipes(&self) -> bool {
        let is_empty = self.queue.is_empty() && self.inspections.queue.is_empty();
        self.by_recipes && is_empty && (self.tries_all || self.work.is_some())
    }

    /// Returns how many variants of the kernel are judged. The best variant with turned loops is judged in addition, at
    /// the end.
    pub fn share_of(&self, run_limits: &RunLimits) -> usize {
        if self.is_for_loops_alone { 0 } else { run_limits.runs }
    }

    /// Sets the kernel's share of the effort, `work`. `in_times` is the part within the multiple of ptxas's time for
    /// the file. The rest exists only for small files and is spent only on larger expected gains. The last run is
    /// reserved for turned loops, if there are loops to turn.
    ///
    /// A run is worth its price if its expected gain is at least `exactingness` times the default requirement.
    pub fn give_work(&mut self, [in_times, work]: [Work; 2], exactingness: f64) {
        self.work = Some(work);
        self.rounds.exactingness = exactingness;
        self.rounds.in_times = in_times;
        self.rounds.has_turned_loops = !self.has_loops_to_turn || self.run() > work;
    }

    /// Returns the kernel's share. `None` if runs are counted.
    pub fn work(&self) -> Option<Work> {
        self.work
    }

    /// Whether the kernel's share was too small for any run.
    pub fn is_unpaid(&self) -> bool {
        self.work.is_some() && self.tried.is_empty()
    }

    fn work_of_variants(&self, work: Work) -> Work {
        let of_loops = if self.has_loops_to_turn { self.run() } else { Work::default() };
        work.times(1.0 - COMPARED).less(of_loops)
    }

    /// Returns what the comparison of the winner with stock may cost. `None` if runs are counted.
    pub fn work_of_comparison(&self) -> Option<Work> {
        self.work.map(|work| work.times(COMPARED))
    }

    /// Returns the effort that is left for variants. `None` if runs are counted.
    fn work_left(&self) -> Option<Work> {
        self.work.map(|work| self.work_of_variants(work).less(self.rounds.spent))
    }

    /// Whether no further round begins, if `runs` variants may be judged, and one more with turned loops.
    pub fn is_over(&self, runs: usize) -> bool {
        self.is_spent(runs) && self.rounds.has_turned_loops
    }

    fn is_spent(&self, runs: usize) -> bool {
        let has_no_work = self.work_left().is_some_and(|work| self.run() > work);
        let has_no_runs = self.rounds.left_of(runs) == 0 || self.rounds.compiled >= COMPILED_FOR_EACH * runs;
        self.rounds.is_exhausted || has_no_work || has_no_runs
    }

    /// Whether the next question begins a round.
    pub fn is_between_rounds(&self) -> bool {
        self.rounds.drawn.is_empty() && self.rounds.attempts.is_empty()
    }

    /// Whether answers are pending, so that no more questions are asked.
    pub fn waits(&self) -> bool {
        self.rounds.waits
    }

    /// Returns the number of judged variants.
    pub fn runs(&self) -> usize {
        self.rounds.judged
    }

    /// Stores the PTX of the next variant. PTX that is known, or that is already in the round, is not judged.
    fn note_text(&mut self, text: Result<String, NoAnswer>) {
        // Answers beyond the questions are ignored.
        let Some(variant) = self.rounds.drawn.get(self.rounds.attempts.len()).cloned() else { return };
        self.rounds.compiled += 1;
        self.rounds.spent += Work::of_passes(self.run());
        let is_new = text.as_ref().is_ok_and(|text| {
            let mut others = self.rounds.attempts.iter();
            self.known(text).is_none() && others.all(|other| other.text.as_ref() != Ok(text))
        });
        self.rounds.attempts.push(Attempt { variant, text, is_new });
    }

    /// Ends the round. `judged` holds the figures of the new attempts.
    fn end_round(&mut self, objective: &Objective, judged: Vec<Result<Figures, NoAnswer>>) {
        let told = judged.iter().filter(|answer| **answer != Err(NoAnswer::BrokenOff)).count();
        self.rounds.judged += told;
        self.rounds.spent += (0..told).map(|_| self.run()).sum();
        let mut judged = judged.into_iter();
        for Attempt { variant, text, is_new } in std::mem::take(&mut self.rounds.attempts) {
            match (text, if is_new { judged.next() } else { None }) {
                (Ok(_), Some(Err(NoAnswer::BrokenOff))) | (Err(NoAnswer::BrokenOff), _) => {}
                // The run of the first variant with this PTX was interrupted.
                (Ok(text), None) if self.known(&text).is_none() => {}
                (Err(reason), _) => self.lose(variant, None, reason.to_string()),
                (Ok(text), Some(Err(reason))) => self.lose(variant, Some(text), reason.to_string()),
                (Ok(text), figures) => self.record(objective, variant, text, figures.and_then(Result::ok)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{kernel, objective};
    use super::*;
    use crate::tune::figures::tests::figures;

    /// An interrupted run gives no result: its variant, and other variants with the same PTX, count neither as tried
    /// nor as failed.
    #[test]
    fn broken_off_is_not_tried() {
        let mut kernel = kernel();
        let questions = kernel.ask(&objective(0), 4);
        let texts = ["one", "other", "one", "third"].map(|text| Answer::Text(Ok(text.into())));
        kernel.tell(&objective(0), texts.into());
        assert_eq!(kernel.ask(&objective(0), 4).len(), 3);
        let judged = [Err(NoAnswer::BrokenOff), Ok(figures(50, 32, 500)), Err(NoAnswer::Refused("no".into()))];
        kernel.tell(&objective(0), judged.map(Answer::Figures).into());
        let tried: Vec<Question> = kernel.tried.iter().map(|tried| Question::Text(tried.variant.clone())).collect();
        assert_eq!(tried, [questions[1].clone(), questions[3].clone()]);
        assert_eq!((kernel.runs(), kernel.lost, kernel.tried[0].figures), (2, 1, Some(figures(50, 32, 500))));
    }
}
