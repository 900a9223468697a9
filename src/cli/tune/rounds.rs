//! The rounds of the search: each gives a kernel a few variants, compiles them, and asks ptxas. Every kernel has rounds
//! of its own, in a module of its own.

use std::time::{Duration, Instant};

use nvptx_ra::error::Error;
use nvptx_ra::profile::fingerprint;

use super::answer::NoAnswer;
use super::benchmark::Benchmark;
use super::code::Code;
use super::figures::{Block, Figures};
use super::judge::{Judge, Look};
use super::search::{Aim, Kernel};
use super::turns::{Party, take_turns};
use super::variant::Variant;
use crate::interrupt::is_interrupted;

/// How many variants of a kernel are drawn from the same state of its search, whatever the number of threads, so that
/// this number changes no result.
const ROUND: usize = 4;

/// How often more variants are compiled than judged, at most: those that change nothing are not judged.
const COMPILED_FOR_EACH: usize = 6;

/// When a search ends.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// Variants of each kernel that are judged.
    pub(super) runs: usize,
    /// The same of a kernel that spills.
    pub(super) runs_for_spills: usize,
    /// Time after which no round starts.
    pub(super) until: Option<Instant>,
    /// Threads.
    pub(super) jobs: usize,
}

/// Takes what became of a kernel in a round: the kernel, how many of its variants were judged so far, and whether it has no
/// further round.
pub(super) type Progress<'a> = dyn Fn(&Kernel, usize, bool) + Sync + 'a;

/// A kernel as a module of its own, without the other kernels.
pub(super) struct Slice<'a> {
    pub(super) code: Box<dyn Code + 'a>,
    /// The functions that this kernel reaches and no other one of the module does, by name, sorted.
    pub(super) owned: Vec<String>,
    /// How long its PTX took.
    pub(super) took: Duration,
    /// How long one run of ptxas may take.
    pub(super) limit: Duration,
    /// Of the code as it is without the passes.
    pub(super) stock: Figures,
}

/// The search and what it works with.
pub(super) struct Search<'a> {
    /// The whole module.
    pub(super) code: &'a dyn Code,
    pub(super) judge: &'a Judge,
    pub(super) benchmark: Option<&'a Benchmark>,
    pub(super) aim: Aim,
    pub(super) kernels: Vec<Kernel>,
    /// Of each kernel.
    pub(super) slices: Vec<Slice<'a>>,
    pub(super) budget: Budget,
}

impl Search<'_> {
    /// Searches until the budget is spent, or until the user interrupts. `progress` is told after each round how many
    /// variants of a kernel were judged, and whether that was its last round.
    pub(super) fn run(&mut self, progress: &Progress<'_>) {
        let (aim, budget) = (self.aim, self.budget);
        let kernels = std::mem::take(&mut self.kernels);
        let budget_of = |kernel: &Kernel| {
            let runs = if kernel.stock.spill_bytes() > 0 { budget.runs_for_spills } else { budget.runs };
            Budget { runs, ..budget }
        };
        let course = |kernel: Kernel| {
            let budget = budget_of(&kernel);
            Course::new(kernel, aim, budget, progress)
        };
        let courses = kernels.into_iter().map(course).collect();
        let this = &*self;
        let courses = take_turns(budget.jobs, courses, |number, task| this.work(&this.slices[number], task));
        self.kernels = courses.into_iter().map(|course| course.kernel).collect();
    }

    fn work(&self, slice: &Slice<'_>, task: Task) -> Outcome {
        match task {
            Task::Compile { kernel, variant } => Outcome::Compiled(slice.compile(&kernel, &variant)),
            Task::Judge { kernel, block, ptx } => Outcome::Judged(self.verdict(slice, &kernel, block, &ptx)),
        }
    }
}

impl Search<'_> {
    /// What ptxas says of a kernel's PTX, and the benchmark of what is admissible.
    fn verdict(&self, slice: &Slice<'_>, kernel: &str, block: Block, ptx: &[u8]) -> Result<Figures, NoAnswer> {
        let judged = self.judge.judge(ptx, slice.limit, Look::Quickly)?;
        let figures = judged.figures(kernel, block, self.aim.architecture)?;
        let benchmark = self.benchmark.filter(|_| figures.is_no_worse(&slice.stock, self.aim.allowance));
        let Some(benchmark) = benchmark else { return Ok(figures) };
        let cubin = self.judge.cubin(ptx, slice.limit)?;
        let timing = benchmark.measure(&cubin, kernel).map_err(NoAnswer::Refused)?;
        Ok(Figures { timing: Some(timing), ..figures })
    }
}

impl Slice<'_> {
    /// The PTX of the kernel's variant.
    pub(super) fn compile(&self, kernel: &str, variant: &Variant) -> Result<Vec<u8>, Error> {
        let profile_of = |variant: &Variant| self.code.profile(&|name| self.variant_of(name, kernel, variant));
        self.code.compile_variant(variant, &profile_of, self.took)
    }

    /// How a function is compiled where the kernel is by that variant: what the kernel alone reaches like the kernel,
    /// because its registers and spills are the kernel's. `None` of what is not its own.
    pub(super) fn variant_of(&self, function: &str, kernel: &str, variant: &Variant) -> Option<Variant> {
        if function == kernel {
            return Some(*variant);
        }
        let is_owned = self.owned.binary_search_by(|owned| owned.as_str().cmp(function)).is_ok();
        is_owned.then(|| variant.of_callee())
    }
}

/// Whether an interruption may have ended the run that was to give an answer: then nothing is known of the variant.
fn is_broken_off(answer: &Result<Figures, NoAnswer>) -> bool {
    is_interrupted() && answer.is_err()
}

/// What a worker does for a kernel.
enum Task {
    Compile { kernel: String, variant: Variant },
    Judge { kernel: String, block: Block, ptx: Vec<u8> },
}

/// What came of it.
enum Outcome {
    Compiled(Result<Vec<u8>, Error>),
    Judged(Result<Figures, NoAnswer>),
}

/// A variant of this round.
struct Attempt {
    variant: Variant,
    /// The fingerprint of its PTX; why there is none.
    text: Result<String, String>,
    /// Whether it is the first with this PTX.
    is_new: bool,
}

/// A kernel's way through its rounds. Each has two steps: compiling, and judging what is new.
struct Course<'a> {
    kernel: Kernel,
    aim: Aim,
    budget: Budget,
    progress: &'a Progress<'a>,
    judged: usize,
    /// Whether the answers to this round come later.
    waits: bool,
    compiled: usize,
    /// What is being compiled.
    drawn: Vec<Variant>,
    /// What was compiled and is not recorded yet.
    attempts: Vec<Attempt>,
    /// The PTX of the new ones among them, until it is judged.
    ptx: Vec<Vec<u8>>,
}

impl Party for Course<'_> {
    type Task = Task;
    type Outcome = Outcome;

    fn next(&mut self) -> Vec<Task> {
        let (kernel, block) = (&self.kernel.name, self.kernel.block);
        if !self.ptx.is_empty() {
            let judge = |ptx| Task::Judge { kernel: kernel.clone(), block, ptx };
            return std::mem::take(&mut self.ptx).into_iter().map(judge).collect();
        }
        if self.is_over() {
            return Vec::new();
        }
        let width = ROUND.min(self.budget.runs - self.judged);
        self.drawn = (0..width).map(|_| self.kernel.propose(&self.aim)).collect();
        let compile = |variant: &Variant| Task::Compile { kernel: self.kernel.name.clone(), variant: *variant };
        self.drawn.iter().map(compile).collect()
    }

    fn take(&mut self, outcomes: Vec<Outcome>) {
        let mut judged = Vec::new();
        for outcome in outcomes {
            match outcome {
                Outcome::Compiled(ptx) => self.note_compiled(ptx),
                Outcome::Judged(figures) => judged.push(figures),
            }
        }
        self.drawn.clear();
        self.waits = judged.contains(&Err(NoAnswer::Later));
        if self.ptx.is_empty() && !self.waits {
            self.record(judged);
        }
    }
}

impl<'a> Course<'a> {
    fn new(kernel: Kernel, aim: Aim, budget: Budget, progress: &'a Progress<'a>) -> Self {
        let (drawn, attempts, ptx) = (Vec::new(), Vec::new(), Vec::new());
        Self { kernel, aim, budget, progress, judged: 0, waits: false, compiled: 0, drawn, attempts, ptx }
    }

    fn is_over(&self) -> bool {
        self.waits
            || self.judged >= self.budget.runs
            || self.compiled >= COMPILED_FOR_EACH * self.budget.runs
            || self.budget.until.is_some_and(|until| Instant::now() >= until)
            || is_interrupted()
    }

    /// Notes what was made of the next variant. PTX that is known, or that stands in the round already, is not judged.
    fn note_compiled(&mut self, ptx: Result<Vec<u8>, Error>) {
        self.compiled += 1;
        let variant = self.drawn[self.attempts.len()];
        let text = ptx.as_ref().map(|ptx| fingerprint(&String::from_utf8_lossy(ptx))).map_err(Error::to_string);
        let is_new = text.as_ref().is_ok_and(|text| {
            self.kernel.known(text).is_none() && self.attempts.iter().all(|other| other.text.as_ref() != Ok(text))
        });
        self.attempts.push(Attempt { variant, text, is_new });
        self.ptx.extend(ptx.ok().filter(|_| is_new));
    }

    /// Ends the round. `judged` are the figures of the attempts that are new.
    fn record(&mut self, judged: Vec<Result<Figures, NoAnswer>>) {
        self.judged += judged.iter().filter(|answer| !is_broken_off(answer)).count();
        let mut judged = judged.into_iter();
        for Attempt { variant, text, is_new } in std::mem::take(&mut self.attempts) {
            let answer = if is_new { judged.next() } else { None };
            match (text, answer) {
                (Ok(_), Some(answer)) if is_broken_off(&answer) => {}
                (Ok(text), None) if is_interrupted() && self.kernel.known(&text).is_none() => {}
                (Err(problem), _) => self.kernel.lose(variant, None, problem),
                (Ok(text), Some(Err(reason))) => self.kernel.lose(variant, Some(text), reason.to_string()),
                (Ok(text), figures) => self.kernel.record(&self.aim, variant, text, figures.and_then(Result::ok)),
            }
        }
        (self.progress)(&self.kernel, self.judged, self.is_over());
    }
}
