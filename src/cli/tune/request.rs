//! The search as another command asks for it: PTX in, PTX out, with a build's own options of ptxas.

mod listener;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nvptx_ra::error::Error;
use nvptx_ra::passes::replay_on_ptx;
use nvptx_ra::profile::Profile;
use nvptx_ra::target::machine::{Architecture, Launch};
use nvptx_ra::tune::agreement::Agreement;
use nvptx_ra::tune::assurance::Assurance;
use nvptx_ra::tune::figures::{Allowance, Block, Figures, launch, preference};
use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::kernel::{GIVEN_UP, Kernel, given_up};
use nvptx_ra::tune::objective::{Objective, RunLimits};
use nvptx_ra::tune::ptxas_output::PtxasReport;
use nvptx_ra::tune::relocatable::{Function, Relocatable};
use nvptx_ra::tune::variant::Variant;

use self::listener::Log;
use super::assembled_stock::AssembledStock;
pub(crate) use super::assembled_stock::StockOutput;
use super::code::Code as _;
use super::compose::compose;
use super::driver::{self, Plan, SearchResult};
pub(crate) use super::judge::ptxas::Build;
use super::judge::ptxas::{Ptxas, Tools};
use super::judge::{Inspection, Judge as _};
use super::kernel_results::{CachedResults, KernelInput, KernelResult, Launches, Lookup};
use super::stock::{self, Conditions, KernelSelection};
use super::text::{REPLAYED_BY, Text};
pub(crate) use super::tuning::SearchLimits;
use super::tuning::{Judges, checked};
pub(crate) use super::verdict::{ChangedKernel, KernelCost, UnchangedKernel, offer};
use super::verdict::{unchanged_kernel, with_fewer_warps};
use super::winners::DifferenceFolder;
use crate::dynamic_shared::{self, DynamicShared};
use crate::interrupt::is_interrupted;
use crate::page::counted;
use crate::ptxas::PtxasReports;
use crate::ptxas_run::Assembled;
use crate::threads::{Count, Threads};

/// What is asked.
pub(crate) struct Request<'a> {
    /// The PTX.
    pub(crate) content: &'a [u8],
    /// Its file's name.
    pub(crate) name: &'a str,
    /// The processor that ptxas assembles for.
    pub(crate) cpu: &'a str,
    pub(crate) ptxas: PathBuf,
    /// Another program of the same toolkit; where it is not there, machine code is read without it.
    pub(crate) cuobjdump: PathBuf,
    pub(crate) nvdisasm: PathBuf,
    /// How ptxas is asked.
    pub(crate) build: Build,
    /// What ptxas made of the PTX as it is, asked so.
    pub(crate) stock_output: StockOutput<'a>,
    /// What its attributes say of the kernels. Bytes spilled are not among it.
    pub(crate) measured: &'a PtxasReports,
    /// What a linker sees of it, where it is linked later.
    pub(crate) object: Option<&'a Relocatable>,
    pub(crate) dynamic_shared: Vec<DynamicShared>,
    /// Threads of a block of the kernels that do not say.
    pub(crate) threads: Option<u32>,
    /// How many variants of each kernel ptxas judges, or what the search may cost.
    pub(crate) run_limits: RunLimits,
    /// Which kernels are searched.
    pub(crate) scope: Scope,
    /// What may be worse than in the text as it is.
    pub(crate) allowance: Allowance,
    pub(crate) search_limits: SearchLimits,
    /// Has the answers of kernels whose texts earlier builds have searched, where somebody keeps these.
    pub(crate) lookup: Option<&'a Lookup<'a>>,
    /// Is told how many of how many kernels are done.
    pub(crate) progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Takes what users should know.
    pub(crate) note: &'a (dyn Fn(&str) + Sync),
}

/// Which kernels of a text are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those with a stack, where spills may be, and those that lack warps.
    All,
    /// Those with a stack for which ptxas gives registers up.
    GivenUp,
}

/// The kernels that [`search`] would look at, by the text and what is known of it as it is, and all others. No program runs.
pub(crate) fn kernels_to_search(request: &Request<'_>) -> Result<(Vec<String>, Vec<UnchangedKernel>), Error> {
    let start = SelectedKernels::new(request)?;
    Ok((start.wanted, start.unchanged_kernels))
}

/// Where a search starts.
struct SelectedKernels {
    text: Text,
    /// The kernels with loops that ptxas would unroll in another form.
    loops: BTreeSet<String>,
    /// The kernels that are searched.
    wanted: Vec<String>,
    /// All others.
    unchanged_kernels: Vec<UnchangedKernel>,
}

impl SelectedKernels {
    fn new(request: &Request<'_>) -> Result<Self, Error> {
        let architecture = Architecture::by_name(request.cpu)?;
        let text = Text::new(request.content.to_vec(), request.name, request.cpu)?;
        let text = text.for_linker(request.object.is_some()).with_other_names(request.allowance.uncompared);
        let loops = if request.scope == Scope::All { text.with_loops_to_turn()? } else { BTreeSet::new() };
        let (wanted, unchanged_kernels) = promising(&text, request, architecture, &loops)?;
        Ok(Self { text, loops, wanted, unchanged_kernels })
    }
}

/// The answer to a request.
pub(crate) struct Answer {
    /// `None` where nothing gets better.
    pub(crate) found: Option<Found>,
    /// The kernels that stay as they are, in the order of their names.
    pub(crate) unchanged_kernels: Vec<UnchangedKernel>,
    /// Whether the next search would find the same.
    pub(crate) lasts: bool,
    /// What is known from now on of kernels by their texts, if the result is what is promised here.
    pub(crate) learned: Vec<(KernelInput, KernelResult)>,
    /// How many kernels earlier searches have answered.
    pub(crate) known: usize,
}

/// What a search found.
pub(crate) struct Found {
    pub(crate) ptx: Vec<u8>,
    /// The choices, which [`replay_on_ptx`](nvptx_ra::passes::replay_on_ptx) makes again.
    pub(crate) profile: String,
    pub(crate) changes: Vec<ChangedKernel>,
    /// What ptxas made of the PTX, if that very text was judged with the options of the build.
    pub(crate) assembled: Option<Assembled>,
}

/// Searches all kernels that spill, or lack warps for want of registers, and tries the ends of loops of all others. Where the time is over, or the user interrupts, before all
/// runs are done, the answer is the best that was found so far, and does not last. A second interruption ends all work.
pub(crate) fn search(request: Request<'_>) -> Result<Answer, Error> {
    let SelectedKernels { text, loops, wanted, mut unchanged_kernels } = SelectedKernels::new(&request)?;
    if wanted.is_empty() && unchanged_kernels.is_empty() {
        (request.note)("nothing to search: no kernel");
    }
    let launches = Launches { threads: request.threads, dynamic_shared: &request.dynamic_shared };
    let known = match request.lookup {
        Some(lookup) if !wanted.is_empty() => CachedResults::of(&text, &wanted, &launches, request.measured, lookup)?,
        _ => CachedResults::nothing(wanted),
    };
    let (count, answered) = (known.count(), known.answered());
    let kernels = known.unknown.len() + count;
    if count > 0 {
        (request.note)(&format!(
            "{} of {}: the texts are known from earlier searches",
            count,
            counted(kernels, "kernel")
        ));
    }
    let tell = request.progress;
    let progress = |done: usize| tell(count + done, kernels);
    progress(0);
    let searched = if known.unknown.is_empty() {
        Outcome::nothing(text.profile(&|_| None))
    } else {
        outcome(&text, request, (&known.unknown, &loops), &progress)?
    };
    let profile = known.join(&searched.profile);
    let ptx = if !known.changes.is_empty() { text.compile(&checked(profile.clone()))? } else { searched.ptx };
    let mut changes: Vec<ChangedKernel> = searched.changes.iter().chain(&known.changes).cloned().collect();
    changes.sort_by_key(|change| text.functions().iter().position(|(name, _)| *name == change.kernel));
    unchanged_kernels.extend(searched.unchanged_kernels.iter().chain(&known.unchanged_kernels).cloned());
    unchanged_kernels.sort_by(|one, other| one.kernel.cmp(&other.kernel));
    let assembled = searched.assembled.filter(|_| known.changes.is_empty());
    let lasting: Vec<UnchangedKernel> = searched
        .unchanged_kernels
        .iter()
        .filter(|unchanged_kernels| !searched.unpaid.contains(&unchanged_kernels.kernel))
        .cloned()
        .collect();
    let learned = known.learned(&profile, &searched.changes, &lasting);
    let lasts = searched.lasts && !is_interrupted();
    let is_better = !changes.is_empty() && !is_interrupted();
    let found = |profile| Found { ptx, profile, changes, assembled };
    let found = is_better.then(|| profile.print(REPLAYED_BY, &[]).map(found));
    Ok(Answer { found: found.transpose()?, unchanged_kernels, lasts, learned, known: answered })
}

/// What a search has come to.
struct Outcome {
    ptx: Vec<u8>,
    /// What ptxas made of it.
    assembled: Option<Assembled>,
    profile: Profile,
    changes: Vec<ChangedKernel>,
    unchanged_kernels: Vec<UnchangedKernel>,
    /// Those of the kernels left whose share has paid for no run: in another file it may.
    unpaid: BTreeSet<String>,
    lasts: bool,
}

impl Outcome {
    fn nothing(profile: Profile) -> Self {
        let (changes, unchanged_kernels, unpaid) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { ptx: Vec::new(), assembled: None, profile, changes, unchanged_kernels, unpaid, lasts: true }
    }
}

/// Searches some kernels of a text; beside them, the names of those with loops that ptxas would unroll in another form.
fn outcome(
    text: &Text,
    mut request: Request<'_>,
    (wanted, loops): (&[String], &BTreeSet<String>),
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Outcome, Error> {
    let architecture = Architecture::by_name(request.cpu)?;
    let (ptxas, known) = asked(&mut request)?;
    let stock = known.as_ref();
    let judges = Judges { judge: &ptxas, benchmark: None, ptxas: &ptxas, stock };
    let objective = Objective::new(architecture, request.allowance);
    let dynamic_shared = &*request.dynamic_shared;
    let threads = request.threads.map(|threads| Threads::all(Count(threads)));
    let (threads, jobs) = (threads.as_slice(), request.search_limits.jobs);
    let has_share = request.run_limits.effort.is_some();
    let conditions = Conditions { judges, objective: &objective, threads, dynamic_shared, jobs, has_share };
    let log = Log {
        note: request.note,
        architecture,
        objective: &objective,
        loops,
        unchanged_kernels: Mutex::new(Vec::new()),
        run_limits: request.run_limits,
        progress,
        over: Mutex::new(BTreeSet::new()),
    };
    let plan = Plan {
        code: text,
        path: Path::new(request.name),
        wanted: KernelSelection::Named(wanted),
        conditions,
        run_limits: request.run_limits,
        search_limits: request.search_limits,
        keep: DifferenceFolder::Nowhere,
        compares: true,
        keeps_best: true,
        trials: None,
    };
    let SearchResult { tuning, early_stop, is_void } = driver::search(plan, &log)?;
    let mut unchanged_kernels = log.unchanged_kernels.into_inner().unwrap_or_else(PoisonError::into_inner);
    if is_void {
        return Err(Error::pass("the search was interrupted", "run it again"));
    }
    let is_stock = |id| tuning.search.best(id).0 == Variant::Stock;
    // ptxas has assembled the text as it is.
    let composed = if tuning.search.kernels.ids().all(is_stock) {
        None
    } else {
        Some(compose(&tuning)?.ok_or_else(|| Error::internal("a run was planned and not done", None))?)
    };
    let better = |(kernel, (variant, figures)): (&Kernel, &(Variant, Figures))| {
        let is_better = figures.is_better(&kernel.stock, &objective.preference);
        is_better.then(|| ChangedKernel {
            kernel: kernel.name.clone(),
            choice: variant.to_string(),
            agreement: kernel.findings.winner.as_ref().map(Agreement::sentence).unwrap_or_default(),
            assurance: kernel.findings.assurance_of(variant).map(Assurance::word).unwrap_or_default().into(),
            before: KernelCost::from(&kernel.stock),
            after: KernelCost::from(figures),
            with_fewer_warps: with_fewer_warps(kernel, &objective),
        })
    };
    let chosen = composed.iter().flat_map(|composed| composed.chosen.iter());
    let changes: Vec<ChangedKernel> = tuning.search.kernels.iter().zip(chosen).filter_map(better).collect();
    let stays = |kernel: &&Kernel| changes.iter().all(|change| change.kernel != kernel.name);
    unchanged_kernels
        .extend(tuning.search.kernels.iter().filter(stays).map(|kernel| unchanged_kernel(kernel, &objective)));
    let unpaid = tuning.search.kernels.iter().filter(|kernel| kernel.is_unpaid());
    let unpaid = unpaid.map(|kernel| kernel.name.clone()).collect();
    tuning.search.kernels.iter().filter_map(refused).for_each(|line| (request.note)(&line));
    let lasts = !ptxas.had_trouble() && early_stop.is_none();
    let Some(composed) = composed.filter(|_| !changes.is_empty()) else {
        return Ok(Outcome { unchanged_kernels, unpaid, lasts, ..Outcome::nothing(text.profile(&|_| None)) });
    };
    let assembled = ptxas.made(&composed.ptx);
    Ok(Outcome { ptx: composed.ptx, assembled, profile: composed.profile, changes, unchanged_kernels, unpaid, lasts })
}

/// ptxas as a request asks it, and what is known of stock without it.
fn asked<'a>(request: &mut Request<'a>) -> Result<(Ptxas, Option<AssembledStock<'a>>), Error> {
    let Request { ptxas, cuobjdump, nvdisasm, object, stock_output, .. } = request;
    let build = std::mem::take(&mut request.build);
    let known = if object.is_some() { None } else { AssembledStock::of(*stock_output, build.is_verbose) };
    let tools = Tools { ptxas: ptxas.clone(), cuobjdump: cuobjdump.clone(), nvdisasm: nvdisasm.clone() };
    let ptxas = Ptxas::within_build(tools, request.cpu, build)?;
    Ok((ptxas.with_figures_of_code(known.is_some()).for_linker(object.is_some()), known))
}

/// What is said of a kernel of which variants were refused, where there is most often a reason beside ptxas: what a linker sees of a
/// kernel that is linked later, and another name that stands where nobody can take it back.
fn refused(kernel: &Kernel) -> Option<String> {
    let reason = kernel.first_loss.as_ref().filter(|_| kernel.is_relocatable || kernel.may_have_other_name)?;
    let (name, variants) = (crate::kernel_names::readable(&kernel.name), counted(kernel.lost, "variant"));
    Some(format!("{name}: {variants} refused, the first because {reason}"))
}

/// Makes the choices of a profile again, and asks ptxas of the text as it is and as it is then.
///
/// # Errors
/// A profile for other code, or a kernel that would be worse.
pub(crate) fn replay(mut request: Request<'_>, profile: &str) -> Result<Answer, Error> {
    let architecture = Architecture::by_name(request.cpu)?;
    let text = Text::new(request.content.to_vec(), request.name, request.cpu)?.for_linker(request.object.is_some());
    let kernels = text.kernels()?;
    let blocks: BTreeMap<&String, Block> =
        kernels.iter().map(|(name, &threads)| (name, block(name, threads, &text, &request))).collect();
    let choices = Profile::parse(profile)?;
    let choices = if request.allowance.uncompared { choices } else { choices.with_own_names() };
    let (output, unfit) = replay_on_ptx(request.name, request.content, &choices, "verify", request.cpu)?;
    if let Some(problem) = unfit.warning(["keeps its text", "keep their text"], "remove the profile", "make it again") {
        return Err(Error::pass(problem, "the text is left as it is"));
    }
    let (ptxas, known) = asked(&mut request)?;
    let judged = |ptx: &[u8]| {
        let judged = ptxas.judge(ptx, stock::STOCK_LIMIT, Inspection::Disassembler);
        judged.map_err(|reason| Error::pass(reason.to_string(), "the text is left as it is"))
    };
    let before = known.map_or_else(|| judged(request.content), |known| Ok(known.whole()))?;
    let after = judged(&output.text)?;
    let as_it_comes = choices.with_loops_as_they_come().map(|choices| {
        let (output, _) = replay_on_ptx(request.name, request.content, &choices, "verify", request.cpu)?;
        judged(&output.text)
    });
    let as_it_comes = as_it_comes.transpose()?;
    if let (Some(before), Some(after)) = (&before.object, &after.object) {
        after.check(before).map_err(|problem| Error::pass(problem, "remove the profile"))?;
    }
    let (mut changes, mut unchanged_kernels) = (Vec::new(), Vec::new());
    for (kernel, block) in blocks {
        let of = |judged: &Judgement| judged.figures(kernel, block, architecture).ok();
        let (Some(stock), Some(mut figures)) = (of(&before), of(&after)) else { continue };
        if let Some(as_it_comes) = as_it_comes.as_ref().and_then(of) {
            figures = figures.with_turned_loops(&as_it_comes);
        }
        if !figures.is_no_worse(&stock, request.allowance) {
            return Err(Error::pass("the profile makes it worse", "remove the profile").in_function(kernel));
        }
        if figures.is_better(&stock, &preference(&[])) {
            let choice = choices.entry(kernel).map_or(String::new(), |entry| entry.options.clone());
            let (before, after) = (KernelCost::from(&stock), KernelCost::from(&figures));
            // The checker was on, and PTX has no choices but those of the passes and of ptxas. Another name is beyond it.
            let has_other_name = choices.entry(kernel).is_some_and(|entry| entry.other_name);
            let assurance = if has_other_name { Assurance::Neither } else { Assurance::Proved };
            let (agreement, assurance) = (String::new(), assurance.word().into());
            let (kernel, with_fewer_warps) = (kernel.clone(), None);
            changes.push(ChangedKernel { kernel, choice, agreement, assurance, before, after, with_fewer_warps });
        } else {
            let (kernel, reason) = (kernel.clone(), "no better by the profile of the text".to_owned());
            unchanged_kernels.push(UnchangedKernel {
                kernel,
                reason,
                is_searched: true,
                cost: Some(KernelCost::from(&stock)),
            });
        }
    }
    let assembled = ptxas.made(&output.text);
    let found = Found { ptx: output.text, profile: profile.to_owned(), changes, assembled };
    let found = Some(found).filter(|found| !found.changes.is_empty());
    Ok(Answer { found, unchanged_kernels, lasts: !ptxas.had_trouble(), learned: Vec::new(), known: 0 })
}

/// How a kernel is launched, as far as that is known.
fn block(name: &str, threads: Option<u32>, text: &Text, request: &Request<'_>) -> Block {
    let said = dynamic_shared::bytes_of(&request.dynamic_shared, name);
    Block::new(threads, request.threads, said, text.sizes_shared_at_launch)
}

/// The kernels that a search may make better, and all others, in the order of their names.
fn promising(
    text: &Text,
    request: &Request<'_>,
    architecture: &Architecture,
    loops: &BTreeSet<String>,
) -> Result<(Vec<String>, Vec<UnchangedKernel>), Error> {
    let (mut wanted, mut unchanged_kernels) = (Vec::new(), Vec::new());
    for (name, threads) in text.kernels()? {
        let Some(ptxas_report) = request.measured.get(&name) else {
            unchanged_kernels.push(UnchangedKernel::unsearched(&name, "it is not assembled"));
            continue;
        };
        let block = block(&name, threads, text, request);
        let has_stack = ptxas_report.total_stack_bytes > 0;
        let lacks = || may_win_warps(&name, request.object) && lacks_warps(ptxas_report, block, architecture);
        let why_not = match request.scope {
            Scope::All if has_stack || lacks() || loops.contains(&name) => None,
            Scope::All => {
                Some(nothing_lost(architecture.occupancy(&launch(ptxas_report, block)).warps, architecture.max_warps))
            }
            Scope::GivenUp if has_stack && given_up(ptxas_report, block, architecture) >= GIVEN_UP => None,
            Scope::GivenUp => Some("a candidate, and ptxas gives no registers up".into()),
        };
        match why_not {
            None => wanted.push(name),
            Some(reason) => unchanged_kernels.push(UnchangedKernel::unsearched(&name, &reason)),
        }
    }
    Ok((wanted, unchanged_kernels))
}

/// What is said of a kernel that loses nothing by its registers.
fn nothing_lost(warps: u32, most: u32) -> String {
    if warps == 0 {
        "nothing spills, and no block fits on an SM with the shared memory of its launch".to_owned()
    } else if warps == most {
        format!("nothing spills, and occupancy is full: {warps} warps")
    } else {
        format!("nothing spills, and occupancy is not limited by registers: {warps} of {most} warps")
    }
}

/// Whether warps count for a kernel: those of a function, or of a kernel that calls functions of other files, nobody knows.
fn may_win_warps(name: &str, object: Option<&Relocatable>) -> bool {
    let counts = |function: &Function| function.is_kernel && !function.calls_elsewhere;
    object.is_none_or(|object| object.functions.get(name).is_some_and(counts))
}

/// Whether an SM would hold more warps if the kernel had fewer registers.
fn lacks_warps(ptxas_report: &PtxasReport, block: Block, architecture: &Architecture) -> bool {
    let launch = launch(ptxas_report, block);
    let with_few = Launch { registers: 1, ..launch };
    architecture.occupancy(&launch).warps < architecture.occupancy(&with_few).warps
}
