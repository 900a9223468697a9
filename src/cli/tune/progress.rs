//! The progress of a search: a bar if standard error is a terminal, otherwise at most one line a second.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::objective::Objective;

use crate::progress_bar::Bar;

/// The progress of a search.
pub(super) struct Progress {
    /// When the command began.
    start: Instant,
    /// When the search of the kernels began.
    search: Instant,
    /// The latest time at which the search ends.
    until: Option<Instant>,
    bar: Option<Bar>,
    state: Mutex<State>,
}

/// The progress of one kernel.
#[derive(Clone, Copy)]
pub(super) struct KernelProgress {
    /// Variants that were judged.
    pub(super) judged: usize,
    /// Whether no more variants follow.
    pub(super) is_over: bool,
    /// The figures of the best variant.
    best: Cost,
}

impl KernelProgress {
    /// Returns the progress of a kernel that has a limit of `runs` judged variants.
    pub(super) fn of(kernel: &Kernel, objective: &Objective, runs: usize) -> Self {
        let best = Cost::of(&kernel.best(objective).1);
        Self { judged: kernel.runs(), is_over: kernel.is_over(runs), best }
    }
}

/// The shown figures of one kernel, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    /// Bytes spilled.
    spilled: u64,
    /// Machine instructions.
    instructions: u64,
}

impl Cost {
    fn of(figures: &Figures) -> Self {
        Self { spilled: figures.spill_bytes().into(), instructions: figures.sass.instructions.into() }
    }

    fn plus(self, other: Self) -> Self {
        Self { spilled: self.spilled + other.spilled, instructions: self.instructions + other.instructions }
    }
}

/// The state of all kernels.
struct State {
    /// The number of variants of each kernel.
    runs: usize,
    /// The progress of each kernel by name, and its figures before the search.
    kernels: BTreeMap<String, (KernelProgress, Cost)>,
    said: Instant,
    /// The number of judged variants in the last message.
    judged: Option<usize>,
}

/// The sums of all kernels.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    /// Kernels whose search is over.
    done: usize,
    judged: usize,
    /// The total number of variants.
    runs: usize,
    stock: Cost,
    best: Cost,
}

impl Progress {
    /// Starts the progress. `start` is when the command began.
    pub(super) fn new<'a>(
        start: Instant,
        until: Option<Instant>,
        kernels: impl Iterator<Item = &'a Kernel>,
        runs: usize,
    ) -> Self {
        let course = |kernel: &Kernel| {
            let stock = Cost::of(&kernel.stock);
            (kernel.name.clone(), (KernelProgress { judged: 0, is_over: false, best: stock }, stock))
        };
        let state = State { runs, kernels: kernels.map(course).collect(), said: start, judged: None };
        let progress = Self { start, search: Instant::now(), until, bar: Bar::new(), state: Mutex::new(state) };
        progress.draw(&progress.lock());
        progress
    }

    /// Adds a round of a kernel.
    pub(super) fn note(&self, kernel: &Kernel, course: KernelProgress) {
        let mut state = self.lock();
        state.kernels.insert(kernel.name.clone(), (course, Cost::of(&kernel.stock)));
        self.draw(&state);
        if self.bar.is_none() && state.said.elapsed() >= Duration::from_secs(1) {
            self.say(&mut state);
        }
    }

    /// Prints how the search ended, and removes the bar.
    pub(super) fn end(mut self) {
        self.bar = None;
        self.say(&mut self.lock());
    }

    fn draw(&self, state: &State) {
        let Some(bar) = &self.bar else { return };
        let (sums, now) = (state.sums(), Instant::now());
        let end = left(&sums, now - self.search).map(|left| now + left);
        let end = end.map(|end| self.until.map_or(end, |until| end.min(until)));
        bar.set(sums.judged as u64, sums.runs as u64, text(&sums, state.kernels.len()), end);
    }

    /// Prints the progress, unless it is unchanged.
    fn say(&self, state: &mut State) {
        let (sums, wanted) = (state.sums(), state.kernels.len() * state.runs);
        if state.judged.replace(sums.judged) == Some(sums.judged) {
            return;
        }
        state.said = Instant::now();
        let (judged, gain, seconds) = (sums.judged, gain(&sums), self.start.elapsed().as_secs());
        say!("nvptx-ra: {judged} of {wanted} variants, {gain}, {seconds} s");
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn sums(&self) -> Sums {
        self.kernels.values().fold(Sums::default(), |sums, (course, stock)| Sums {
            done: sums.done + usize::from(course.is_over),
            judged: sums.judged + course.judged,
            // A search that finds no new variants ends before its effort is spent.
            runs: sums.runs + if course.is_over { course.judged } else { self.runs },
            stock: sums.stock.plus(*stock),
            best: sums.best.plus(course.best),
        })
    }
}

/// Returns the remaining time, computed from the pace so far. `None` if nothing was judged yet.
fn left(sums: &Sums, spent: Duration) -> Option<Duration> {
    let rest = sums.runs.saturating_sub(sums.judged);
    (sums.judged > 0).then(|| spent.mul_f64(rest as f64 / sums.judged as f64))
}

/// Returns the text beside the bar.
fn text(sums: &Sums, kernels: usize) -> String {
    let Sums { done, judged, runs, .. } = sums;
    format!("{done} of {kernels} kernels, {judged} of {runs} runs, {}", gain(sums))
}

/// Returns the gain of the search so far.
fn gain(Sums { stock, best, .. }: &Sums) -> String {
    let instructions = format!("{} → {} instructions", stock.instructions, best.instructions);
    // If nothing spilled before, nothing spills.
    if stock.spilled == 0 && best.spilled == 0 {
        return instructions;
    }
    format!("{} → {} bytes spilled, {instructions}", stock.spilled, best.spilled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(spilled: u64) -> Cost {
        Cost { spilled, instructions: 500 + spilled / 10 }
    }

    fn sums(courses: &[(usize, bool, u64, u64)]) -> Sums {
        let course =
            |&(judged, is_over, stock, best): &_| (KernelProgress { judged, is_over, best: cost(best) }, cost(stock));
        let kernels = courses.iter().map(course).enumerate().map(|(at, course)| (at.to_string(), course)).collect();
        State { runs: 16, kernels, said: Instant::now(), judged: None }.sums()
    }

    /// A kernel under search counts with its whole effort. A completed kernel counts with its actual runs.
    #[test]
    fn sums_of_kernels() {
        let sums = sums(&[(16, true, 100, 40), (5, true, 0, 0), (4, false, 60, 60), (0, false, 7, 7)]);
        let [stock, best] = [(167, 2016), (107, 2010)].map(|(spilled, instructions)| Cost { spilled, instructions });
        assert_eq!(sums, Sums { done: 2, judged: 25, runs: 16 + 5 + 16 + 16, stock, best });
        assert_eq!(text(&sums, 4), "2 of 4 kernels, 25 of 53 runs, 167 → 107 bytes spilled, 2016 → 2010 instructions");
    }

    /// If nothing spills, only instructions are shown.
    #[test]
    fn nothing_spills() {
        assert_eq!(gain(&sums(&[(4, false, 0, 0), (0, false, 0, 0)])), "1000 → 1000 instructions");
    }

    /// Each remaining run takes as long as the average so far. Before the first run, the time is unknown.
    #[test]
    fn time_left() {
        let spent = Duration::from_secs(10);
        assert_eq!(left(&sums(&[(4, false, 0, 0), (0, false, 0, 0)]), spent), Some(Duration::from_secs(70)));
        assert_eq!(left(&sums(&[(4, true, 0, 0)]), spent), Some(Duration::ZERO));
        assert_eq!(left(&sums(&[(0, false, 0, 0)]), spent), None);
    }
}
