//! The rounds of the search: each gives every kernel a few variants, compiles them together, and asks ptxas.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nvptx_ra::error::Error;

use super::compiler::Compiler;
use super::figures::Figures;
use super::judge::{Judge, Judged};
use super::ptx::{self, Text};
use super::search::{Aim, Kernel};
use super::variant::Variant;

/// How many variants of each kernel are drawn from the same state of the search, whatever the number of threads, so that
/// this number changes no result.
const ROUND: usize = 4;

/// How often more variants are compiled than judged, at most: of a kernel that no variant changes, none is judged.
const COMPILED_FOR_EACH: usize = 6;

/// When a search ends.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// Variants of each kernel that are judged.
    pub(super) runs: usize,
    /// Time after which no round starts.
    pub(super) until: Option<Instant>,
    /// Threads.
    pub(super) jobs: usize,
    /// How long one run of ptxas may take.
    pub(super) limit: Duration,
}

/// The search and what it works with.
pub(super) struct Search<'a> {
    pub(super) compiler: &'a Compiler<'a>,
    pub(super) judge: &'a Judge,
    pub(super) aim: Aim,
    pub(super) kernels: Vec<Kernel>,
    pub(super) budget: Budget,
    /// Variants that ptxas did not take, and why the first was not.
    pub(super) lost: usize,
    pub(super) first_loss: Option<String>,
}

/// One variant for each kernel, and what became of them.
struct Attempt {
    variants: Vec<Variant>,
    ptx: Result<Vec<u8>, Error>,
}

impl Search<'_> {
    /// Searches until the budget is spent. `progress` is told how many variants of each kernel have been judged.
    pub(super) fn run(&mut self, progress: &mut dyn FnMut(&Self, usize)) -> Result<(), Error> {
        let (mut judged, mut compiled) = (0, 0);
        while judged < self.budget.runs && compiled < COMPILED_FOR_EACH * self.budget.runs {
            if self.budget.until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let width = ROUND.min(self.budget.runs - judged);
            judged += self.round(width)?;
            compiled += width;
            progress(self, judged);
        }
        Ok(())
    }

    /// One round. Returns how many files were judged: those in which no kernel is new are not.
    fn round(&mut self, width: usize) -> Result<usize, Error> {
        let aim = self.aim;
        let drawn: Vec<Vec<Variant>> =
            (0..width).map(|_| self.kernels.iter_mut().map(|kernel| kernel.propose(&aim)).collect()).collect();
        let this = &*self;
        let compiled = in_parallel(self.budget.jobs, &drawn, |variants| this.compile(variants));
        let mut attempts = Vec::new();
        for (variants, ptx) in drawn.into_iter().zip(compiled) {
            attempts.push(Attempt { variants, ptx });
        }
        let texts: Vec<Vec<Text>> = attempts.iter().map(|attempt| this.texts(attempt)).collect();
        let news: Vec<bool> = (0..attempts.len()).map(|at| this.is_new(&texts[at], &texts[..at])).collect();
        let wanted: Vec<&Attempt> =
            attempts.iter().zip(&news).filter(|&(_, &is_new)| is_new).map(|(attempt, _)| attempt).collect();
        let verdicts = in_parallel(self.budget.jobs, &wanted, |attempt| match &attempt.ptx {
            Ok(ptx) => this.judge.judge(ptx, this.budget.limit),
            Err(error) => Err(error.to_string()),
        });
        let judged = wanted.len();
        let mut verdicts = verdicts.into_iter();
        for ((attempt, texts), is_new) in attempts.into_iter().zip(texts).zip(news) {
            let verdict = if is_new { verdicts.next() } else { None };
            self.record(attempt.variants, texts, verdict);
        }
        Ok(judged)
    }

    fn compile(&self, variants: &[Variant]) -> Result<Vec<u8>, Error> {
        let of = |name: &str| self.kernels.iter().position(|kernel| kernel.name == name).map(|at| &variants[at]);
        self.compiler.compile(&self.compiler.profile(of))
    }

    /// The text of each kernel. One that has none, because LLVM made no code, is like no other.
    fn texts(&self, attempt: &Attempt) -> Vec<Text> {
        let mut found = match &attempt.ptx {
            Ok(ptx) => ptx::kernels(&String::from_utf8_lossy(ptx)),
            Err(_) => Default::default(),
        };
        let absent = |kernel: &Kernel| Text { fingerprint: format!("none of {}", kernel.name), threads: None };
        self.kernels.iter().map(|kernel| found.remove(&kernel.name).unwrap_or_else(|| absent(kernel))).collect()
    }

    /// Whether some kernel has a text that nobody has judged, and that none of the `earlier` files has.
    fn is_new(&self, texts: &[Text], earlier: &[Vec<Text>]) -> bool {
        let mut kernels = self.kernels.iter().enumerate();
        kernels.any(|(at, kernel)| {
            kernel.known(&texts[at].fingerprint).is_none() && earlier.iter().all(|other| other[at] != texts[at])
        })
    }

    fn record(&mut self, variants: Vec<Variant>, texts: Vec<Text>, verdict: Option<Result<Judged, String>>) {
        let verdict = match verdict {
            Some(Err(problem)) => {
                self.lost += 1;
                self.first_loss.get_or_insert(problem);
                Some(Judged::new())
            }
            Some(Ok(judged)) => Some(judged),
            None => None,
        };
        for ((kernel, variant), text) in self.kernels.iter_mut().zip(variants).zip(texts) {
            let found = verdict.as_ref().and_then(|judged| judged.get(&kernel.name));
            let figures = found.map(|&(real, sass)| Figures::new(real, sass, self.aim.architecture, kernel.threads));
            kernel.record(variant, text.fingerprint, figures);
        }
    }
}

/// What `work` makes of each item, in their order, on so many threads.
fn in_parallel<T: Sync, R: Send>(jobs: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < items.len()) {
                    let result = work(&items[at]);
                    // Nobody panics while holding it.
                    if let Ok(mut results) = results.lock() {
                        results[at] = Some(result);
                    }
                }
            });
        }
    });
    results.into_inner().unwrap_or_default().into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::in_parallel;

    /// Results come in the order of the items, whatever the number of threads.
    #[test]
    fn in_order() {
        let items: Vec<u32> = (0..100).collect();
        for jobs in [0, 1, 3, 200] {
            assert_eq!(
                in_parallel(jobs, &items, |item| item * 2),
                items.iter().map(|item| item * 2).collect::<Vec<_>>()
            );
        }
        assert!(in_parallel(4, &[] as &[u32], |item| *item).is_empty());
    }
}
