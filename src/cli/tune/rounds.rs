//! The rounds of all kernels: several threads compile and judge the variants that the search asks for. A kernel waits
//! only for the kernels from which it learns.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nvptx_ra::config::NamedRegister;
use nvptx_ra::error::Error;
use nvptx_ra::index::IndexVec;
use nvptx_ra::profile::fingerprint;
use nvptx_ra::ptx::Module;
use nvptx_ra::target::machine::RegisterRequests;
use nvptx_ra::tune::axis::Axis;
use nvptx_ra::tune::figures::{Block, Figures};
use nvptx_ra::tune::findings::Compared;
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::objective::Objective;
use nvptx_ra::tune::ptxas_output::{SpilledLoad, Spills};
use nvptx_ra::tune::question::{Answer, NoAnswer, Question, Spilled};
use nvptx_ra::tune::search::{KernelId, Search};
use nvptx_ra::tune::variant::Variant;

use super::judge::Inspection;
use super::stock;
use super::tuning::{Judges, Slice, Tuning};
use super::winners::Comparer;
use super::work_queue::{Clients, serve_clients};
use crate::interrupt::is_interrupted;

/// Searches until the effort is spent, or until the user interrupts. `progress` is called after each round of a kernel.
pub(super) fn run(tuning: &mut Tuning<'_>, comparer: &Comparer<'_>, progress: &(dyn Fn(&Kernel) + Sync)) {
    let Tuning { search, slices, judges, search_limits, .. } = tuning;
    let objective = search.objective;
    let work = |id: KernelId, task| {
        let slice = &slices[id];
        match task {
            Task::Compile(variant) => {
                let ptx = slice.compile_within_limit(&variant);
                Outcome::Compiled(Compiled::new(variant, ptx))
            }
            Task::LookForSpills(variant, block) => {
                Outcome::Spilled(spilled(judges, slice, &variant, block, &objective))
            }
            Task::Compare(variant, block) => Outcome::Compared(Box::new(comparer.compared(id, slice, block, &variant))),
            Task::Judge(text) => Outcome::Judgement(text.figures(judges, slice, &objective)),
        }
    };
    let texts = search.kernels.iter().map(|_| Vec::new()).collect();
    let phases = search.phases();
    let mut rounds = Rounds { search, until: search_limits.until, texts, progress, phase: Vec::new() };
    for phase in phases {
        let phase = rounds.search.begin(&phase);
        rounds.phase.clone_from(&phase);
        serve_clients(search_limits.jobs, phase.len(), &mut rounds, |client, task| work(phase[client], task));
    }
}

/// A worker's task for a kernel.
enum Task {
    Compile(Variant),
    Judge(Box<Text>),
    LookForSpills(Variant, Block),
    Compare(Variant, Block),
}

/// The result of a task.
enum Outcome {
    Compiled(Compiled),
    Judgement(Result<Figures, NoAnswer>),
    Spilled(Result<Spilled, NoAnswer>),
    Compared(Box<Compared>),
}

/// A compiled variant.
struct Compiled {
    variant: Variant,
    /// The fingerprint of its PTX.
    made: Result<(String, Assembly), Error>,
}

/// PTX, and ptxas's limit of CPU time.
struct Assembly {
    ptx: Vec<u8>,
    limit: Duration,
}

impl Compiled {
    fn new(variant: Variant, ptx: Result<(Vec<u8>, Duration), Error>) -> Self {
        let made =
            |(ptx, limit): (Vec<u8>, Duration)| (fingerprint(&String::from_utf8_lossy(&ptx)), Assembly { ptx, limit });
        Self { variant, made: ptx.map(made) }
    }
}

/// The PTX of a kernel that is to be judged.
struct Text {
    assembly: Assembly,
    block: Block,
    stock: Figures,
    /// The figures without turned loops, if its loops are turned.
    as_it_comes: Option<Figures>,
    /// Stock's requests for registers at run time.
    requests: RegisterRequests,
    /// Whether the variant sets `.minnctapersm`. Only a comparison shows whether such a variant terminates.
    says_blocks: bool,
}

impl Text {
    /// Returns the figures from ptxas. If the variant is admissible, the benchmark runs, too.
    fn figures(&self, judges: &Judges<'_>, slice: &Slice<'_>, objective: &Objective) -> Result<Figures, NoAnswer> {
        self.check_requests(slice, objective)?;
        let judged = judges.judge.judge(&self.assembly.ptx, self.assembly.limit, Inspection::OwnReader)?;
        slice.check_object(&judged)?;
        let figures = judged.figures(&slice.kernel, self.block, objective.architecture)?;
        let counted = self.as_it_comes.map_or(figures, |known| figures.with_turned_loops(&known));
        if counted.is_no_worse(&self.stock, objective.allowance) {
            return judges.timed(figures, &slice.kernel, &self.assembly.ptx, self.assembly.limit);
        }
        Ok(figures)
    }
}

impl Text {
    /// Refuses a variant with `setmaxnreg` if a warpgroup may wait for ever under the variant's bounds but not under
    /// stock's. The bounds may come from another compiler, or from a pass that states the block size.
    fn check_requests(&self, slice: &Slice<'_>, objective: &Objective) -> Result<(), NoAnswer> {
        let refused = |error: Error| NoAnswer::Refused(error.problem);
        let requests = stock::register_requests(&self.assembly.ptx, &slice.kernel).map_err(refused)?;
        if self.says_blocks
            || requests.is_none_or(|requests| self.requests.may_become(&requests, objective.architecture))
        {
            return Ok(());
        }
        Err(NoAnswer::Refused("setmaxnreg may wait for ever with the variant's bounds".into()))
    }
}

/// Finds the values that ptxas spills in a variant, and returns the names of their registers in PTX.
fn spilled(
    judges: &Judges<'_>,
    slice: &Slice<'_>,
    variant: &Variant,
    block: Block,
    objective: &Objective,
) -> Result<Spilled, NoAnswer> {
    let refused = |error: Error| NoAnswer::Refused(error.problem);
    let (ptx, limit) = slice.compile_within_limit(variant).map_err(refused)?;
    let numbered = Module::read("the variant", &ptx).map_err(refused)?.numbered();
    let mut judged = judges.judge.judge(&numbered.text, limit, Inspection::Spills)?;
    // The judged PTX differs from the variant's PTX only in source lines, so the figures are valid. The benchmark does
    // not run here, so with a benchmark there are no figures.
    let figures = judged.figures(&slice.kernel, block, objective.architecture).ok();
    let figures = figures.filter(|_| judges.benchmark.is_none());
    let Spills { words, fused } = judged.spills.remove(&slice.kernel).unwrap_or_default();
    let mut registers: BTreeMap<&str, (u32, Vec<SpilledLoad>)> = BTreeMap::new();
    for word in words {
        let name = numbered.register(word.line, word.word, word.of);
        if let Some(name) = name.filter(|name| !numbered.is_fused(name, &fused)) {
            let (moves, loads) = registers.entry(numbered.carrier(name)).or_default();
            *moves += word.moves;
            loads.extend(word.loads);
        }
    }
    let register = |(name, (moves, loads)): (&str, (u32, Vec<SpilledLoad>))| NamedRegister {
        name: name.into(),
        moves: Some(moves),
        loads: numbered.loads(name, loads.iter().map(|load| (load.times, &load.readers))),
    };
    let registers = registers.into_iter().map(register).collect();
    let text = fingerprint(&String::from_utf8_lossy(&ptx));
    Ok(Spilled { registers, text, figures })
}

/// The kernels of a search with their rounds.
struct Rounds<'a> {
    search: &'a mut Search,
    until: Option<Instant>,
    /// The PTX of the variants in each kernel's round.
    texts: IndexVec<KernelId, Vec<(Variant, Assembly)>>,
    progress: &'a (dyn Fn(&Kernel) + Sync),
    /// The kernels of the current phase.
    phase: Vec<KernelId>,
}

impl Rounds<'_> {
    /// Whether no further round starts.
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until) || is_interrupted()
    }
}

impl Clients for Rounds<'_> {
    type Task = Task;
    type Outcome = Outcome;

    fn next(&mut self, client: usize) -> Vec<Task> {
        let id = self.phase[client];
        if self.search.kernels[id].is_between_rounds() && self.is_over() {
            return Vec::new();
        }
        let questions = self.search.ask(id);
        let mut texts = std::mem::take(&mut self.texts[id]);
        let Kernel { block, stock, ref register_requests, .. } = self.search.kernels[id];
        let task = |question| match question {
            Question::Text(variant) => Some(Task::Compile(variant)),
            Question::Figures(variant) => {
                let at = texts.iter().position(|(other, _)| *other == variant)?;
                let requests = register_requests.clone().unwrap_or_default();
                let as_it_comes = self.search.kernels[id].as_it_comes(&variant);
                let assembly = texts.swap_remove(at).1;
                let says_blocks = variant.moves_along(Axis::Blocks);
                Some(Task::Judge(Box::new(Text { assembly, block, stock, as_it_comes, requests, says_blocks })))
            }
            Question::Spilled(variant) => Some(Task::LookForSpills(variant, block)),
            Question::Compared(variant) => Some(Task::Compare(variant, block)),
        };
        questions.into_iter().filter_map(task).collect()
    }

    fn take(&mut self, client: usize, outcomes: Vec<Outcome>) {
        let id = self.phase[client];
        let mut answers = Vec::new();
        for outcome in outcomes {
            answers.push(match outcome {
                // The interruption may have caused the error.
                Outcome::Judgement(Err(_)) if is_interrupted() => Answer::Figures(Err(NoAnswer::BrokenOff)),
                Outcome::Judgement(figures) => Answer::Figures(figures),
                Outcome::Spilled(Err(_)) if is_interrupted() => Answer::Spilled(Err(NoAnswer::BrokenOff)),
                Outcome::Spilled(spilled) => Answer::Spilled(spilled),
                // The interruption has ended the comparison early.
                Outcome::Compared(_) if is_interrupted() => Answer::Compared(None),
                Outcome::Compared(compared) => Answer::Compared(Some(*compared)),
                Outcome::Compiled(Compiled { variant, made }) => Answer::Text(match made {
                    Ok((text, assembly)) => {
                        self.texts[id].push((variant, assembly));
                        Ok(text)
                    }
                    Err(_) if is_interrupted() => Err(NoAnswer::BrokenOff),
                    Err(error) => Err(NoAnswer::Refused(error.problem)),
                }),
            });
        }
        self.search.tell(id, answers);
        let kernel = &self.search.kernels[id];
        if kernel.is_between_rounds() {
            (self.progress)(kernel);
        }
    }
}
