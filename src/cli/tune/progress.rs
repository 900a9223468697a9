//! What a search says while it runs: a bar where standard error is a terminal, elsewhere lines, at most one a second.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nvptx_ra::tune::aim::Aim;
use nvptx_ra::tune::kernel::Kernel;

use crate::progress_bar::Bar;

/// The progress of a search.
pub(super) struct Progress {
    /// When the command began.
    start: Instant,
    /// When the search of the kernels began.
    search: Instant,
    /// When the search ends at the latest.
    until: Option<Instant>,
    bar: Option<Bar>,
    state: Mutex<State>,
}

/// How far the search of one kernel is.
#[derive(Clone, Copy)]
pub(super) struct Course {
    /// Variants that were judged.
    pub(super) judged: usize,
    /// Whether no more will be.
    pub(super) is_over: bool,
    /// Bytes that the best variant spills.
    pub(super) best: u32,
}

impl Course {
    /// Of a kernel of which so many variants are judged.
    pub(super) fn of(kernel: &Kernel, aim: &Aim, runs: usize) -> Self {
        let best = kernel.best(aim).1.spill_bytes();
        Self { judged: kernel.runs(), is_over: kernel.is_over(runs), best }
    }
}

/// What is known of all kernels.
struct State {
    /// Variants of each kernel that there will be.
    runs: usize,
    /// The courses by the name of the kernel, and the bytes that it spilled before.
    kernels: BTreeMap<String, (Course, u32)>,
    said: Instant,
}

/// The sums of all kernels.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    /// Kernels whose search is over.
    done: usize,
    judged: usize,
    /// Variants that there will be.
    runs: usize,
    stock: u32,
    best: u32,
}

impl Progress {
    /// Begins now. `start` is when the command began.
    pub(super) fn new<'a>(
        start: Instant,
        until: Option<Instant>,
        kernels: impl Iterator<Item = &'a Kernel>,
        runs: usize,
    ) -> Self {
        let course = |kernel: &Kernel| {
            let stock = kernel.stock.spill_bytes();
            (kernel.name.clone(), (Course { judged: 0, is_over: false, best: stock }, stock))
        };
        let state = State { runs, kernels: kernels.map(course).collect(), said: start };
        let progress = Self { start, search: Instant::now(), until, bar: Bar::new(), state: Mutex::new(state) };
        progress.draw(&progress.lock());
        progress
    }

    /// Notes what a kernel's round brought.
    pub(super) fn note(&self, kernel: &Kernel, course: Course) {
        let mut state = self.lock();
        state.kernels.insert(kernel.name.clone(), (course, kernel.stock.spill_bytes()));
        self.draw(&state);
        if self.bar.is_none() && state.said.elapsed() >= Duration::from_secs(1) {
            state.said = Instant::now();
            self.say(&state);
        }
    }

    /// Says how it ended; the bar goes away.
    pub(super) fn end(mut self) {
        self.bar = None;
        self.say(&self.lock());
    }

    fn draw(&self, state: &State) {
        let Some(bar) = &self.bar else { return };
        let (sums, now) = (state.sums(), Instant::now());
        let end = left(&sums, now - self.search).map(|left| now + left);
        let end = end.map(|end| self.until.map_or(end, |until| end.min(until)));
        bar.set(sums.judged as u64, sums.runs as u64, text(&sums, state.kernels.len()), end);
    }

    fn say(&self, state: &State) {
        let Sums { judged, stock, best, .. } = state.sums();
        let (wanted, seconds) = (state.kernels.len() * state.runs, self.start.elapsed().as_secs());
        say!("nvptx-ra: {judged} of {wanted} variants, {stock} → {best} bytes spilled, {seconds} s");
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
            // A search without anything new to try ends before its budget is spent.
            runs: sums.runs + if course.is_over { course.judged } else { self.runs },
            stock: sums.stock + stock,
            best: sums.best + course.best,
        })
    }
}

/// How long the rest takes at the pace so far; `None` where there is none.
fn left(sums: &Sums, spent: Duration) -> Option<Duration> {
    let rest = sums.runs.saturating_sub(sums.judged);
    (sums.judged > 0).then(|| spent.mul_f64(rest as f64 / sums.judged as f64))
}

/// What stands beside the bar.
fn text(sums: &Sums, kernels: usize) -> String {
    let Sums { done, judged, runs, stock, best } = sums;
    format!("{done} of {kernels} kernels, {judged} of {runs} runs, {stock} → {best} bytes spilled")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(courses: &[(usize, bool, u32, u32)]) -> Sums {
        let course = |&(judged, is_over, stock, best): &_| (Course { judged, is_over, best }, stock);
        let kernels = courses.iter().map(course).enumerate().map(|(at, course)| (at.to_string(), course)).collect();
        State { runs: 16, kernels, said: Instant::now() }.sums()
    }

    /// A kernel counts with its whole budget, and one that is over with the runs that it had.
    #[test]
    fn sums_of_kernels() {
        let sums = sums(&[(16, true, 100, 40), (5, true, 0, 0), (4, false, 60, 60), (0, false, 7, 7)]);
        assert_eq!(sums, Sums { done: 2, judged: 25, runs: 16 + 5 + 16 + 16, stock: 167, best: 107 });
        assert_eq!(text(&sums, 4), "2 of 4 kernels, 25 of 53 runs, 167 → 107 bytes spilled");
    }

    /// Each run that is left takes as long as those so far; nothing is known before the first.
    #[test]
    fn time_left() {
        let spent = Duration::from_secs(10);
        assert_eq!(left(&sums(&[(4, false, 0, 0), (0, false, 0, 0)]), spent), Some(Duration::from_secs(70)));
        assert_eq!(left(&sums(&[(4, true, 0, 0)]), spent), Some(Duration::ZERO));
        assert_eq!(left(&sums(&[(0, false, 0, 0)]), spent), None);
    }
}
