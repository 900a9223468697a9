//! The search for another command: PTX in, PTX out, with a build's own ptxas options.

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

/// A request for a search.
pub(crate) struct Request<'a> {
    /// The PTX.
    pub(crate) content: &'a [u8],
    /// The file's name.
    pub(crate) name: &'a str,
    /// The processor for which ptxas assembles.
    pub(crate) cpu: &'a str,
    pub(crate) ptxas: PathBuf,
    /// The disassembler of the same toolkit. If it is missing, this project's own reader reads the machine code.
    pub(crate) cuobjdump: PathBuf,
    pub(crate) nvdisasm: PathBuf,
    /// How ptxas is called.
    pub(crate) build: Build,
    /// ptxas's output for the unchanged PTX with the build's options.
    pub(crate) stock_output: StockOutput<'a>,
    /// Figures of the kernels from the object's attributes. Spilled bytes are not included.
    pub(crate) measured: &'a PtxasReports,
    /// What a linker sees of the unchanged object, if the output is linked later.
    pub(crate) object: Option<&'a Relocatable>,
    pub(crate) dynamic_shared: Vec<DynamicShared>,
    /// Threads of a block, for kernels that do not state them.
    pub(crate) threads: Option<u32>,
    /// The number of variants of each kernel that ptxas judges, or the cost of the search.
    pub(crate) run_limits: RunLimits,
    /// Which kernels are searched.
    pub(crate) scope: Scope,
    /// Figures that may be worse than stock's.
    pub(crate) allowance: Allowance,
    pub(crate) search_limits: SearchLimits,
    /// The results of kernels that earlier builds have searched, if they are stored.
    pub(crate) lookup: Option<&'a Lookup<'a>>,
    /// Called with the numbers of completed and of all kernels.
    pub(crate) progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Called with messages for users.
    pub(crate) note: &'a (dyn Fn(&str) + Sync),
}

/// The kernels that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Kernels with a stack, which may spill, and kernels below full occupancy.
    All,
    /// Kernels with a stack for which ptxas gives registers up.
    GivenUp,
}

/// Returns the kernels that [`search`] would search, and all other kernels. The selection uses only the PTX and the
/// known figures of stock. No program runs.
pub(crate) fn kernels_to_search(request: &Request<'_>) -> Result<(Vec<String>, Vec<UnchangedKernel>), Error> {
    let start = SelectedKernels::new(request)?;
    Ok((start.wanted, start.unchanged_kernels))
}

/// The kernels with which a search starts.
struct SelectedKernels {
    text: Text,
    /// The kernels with loops that ptxas would unroll if they were turned.
    loops: BTreeSet<String>,
    /// The kernels that are searched.
    wanted: Vec<String>,
    /// All other kernels.
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
    /// `None` if no kernel improves.
    pub(crate) found: Option<Found>,
    /// The kernels that stay unchanged, by name.
    pub(crate) unchanged_kernels: Vec<UnchangedKernel>,
    /// Whether another search would find the same, so that the answer can be stored.
    pub(crate) lasts: bool,
    /// New results for kernels, to be stored by their PTX. They are valid only if the final build has these figures.
    pub(crate) learned: Vec<(KernelInput, KernelResult)>,
    /// The number of kernels with results of earlier searches.
    pub(crate) known: usize,
}

/// The result of a search.
pub(crate) struct Found {
    pub(crate) ptx: Vec<u8>,
    /// The winners, which [`replay_on_ptx`](nvptx_ra::passes::replay_on_ptx) replays.
    pub(crate) profile: String,
    pub(crate) changes: Vec<ChangedKernel>,
    /// ptxas's output for this PTX, if exactly this PTX was judged with the build's options.
    pub(crate) assembled: Option<Assembled>,
}

/// Searches all kernels that spill or whose registers limit their warps, and tries turned loops for all other kernels.
/// At the time limit, or after an interruption, the answer is the best result so far, and another search may find more.
/// A second interruption ends all work.
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
            "{} of {}: results are known from earlier searches",
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

/// The outcome of a search.
struct Outcome {
    ptx: Vec<u8>,
    /// ptxas's output for the PTX.
    assembled: Option<Assembled>,
    profile: Profile,
    changes: Vec<ChangedKernel>,
    unchanged_kernels: Vec<UnchangedKernel>,
    /// Unchanged kernels whose share was too small for any run. The same kernel may get a larger share in another file.
    unpaid: BTreeSet<String>,
    lasts: bool,
}

impl Outcome {
    fn nothing(profile: Profile) -> Self {
        let (changes, unchanged_kernels, unpaid) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { ptx: Vec::new(), assembled: None, profile, changes, unchanged_kernels, unpaid, lasts: true }
    }
}

/// Searches some kernels of a PTX module. `loops` names the kernels with loops that ptxas would unroll if they were
/// turned.
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
    // ptxas has assembled the unchanged PTX already.
    let composed = if tuning.search.kernels.ids().all(is_stock) {
        None
    } else {
        Some(compose(&tuning)?.ok_or_else(|| Error::internal("a run was planned but not executed", None))?)
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

/// Creates the judge, which calls ptxas as the request does. Also returns stock, if its figures can be read from the
/// build's output.
fn asked<'a>(request: &mut Request<'a>) -> Result<(Ptxas, Option<AssembledStock<'a>>), Error> {
    let Request { ptxas, cuobjdump, nvdisasm, object, stock_output, .. } = request;
    let build = std::mem::take(&mut request.build);
    let known = if object.is_some() { None } else { AssembledStock::of(*stock_output, build.is_verbose) };
    let tools = Tools { ptxas: ptxas.clone(), cuobjdump: cuobjdump.clone(), nvdisasm: nvdisasm.clone() };
    let ptxas = Ptxas::within_build(tools, request.cpu, build)?;
    Ok((ptxas.with_figures_of_code(known.is_some()).for_linker(object.is_some()), known))
}

/// Returns the message for a kernel with refused variants. `None` unless the kernel is linked later or may have another
/// name. For such kernels, the usual reason is not ptxas, but a change that a linker would see, or a name that cannot
/// be undone.
fn refused(kernel: &Kernel) -> Option<String> {
    let reason = kernel.first_loss.as_ref().filter(|_| kernel.is_relocatable || kernel.may_have_other_name)?;
    let (name, variants) = (crate::kernel_names::readable(&kernel.name), counted(kernel.lost, "variant"));
    Some(format!("{name}: {variants} refused, the first because {reason}"))
}

/// Replays a profile, and judges the PTX before and after.
///
/// # Errors
/// The profile is for other code, or a kernel would get worse.
pub(crate) fn replay(mut request: Request<'_>, profile: &str) -> Result<Answer, Error> {
    let architecture = Architecture::by_name(request.cpu)?;
    let text = Text::new(request.content.to_vec(), request.name, request.cpu)?.for_linker(request.object.is_some());
    let kernels = text.kernels()?;
    let blocks: BTreeMap<&String, Block> =
        kernels.iter().map(|(name, &threads)| (name, block(name, threads, &text, &request))).collect();
    let choices = Profile::parse(profile)?;
    let choices = if request.allowance.uncompared { choices } else { choices.with_own_names() };
    let (output, unfit) = replay_on_ptx(request.name, request.content, &choices, "verify", request.cpu)?;
    if let Some(problem) = unfit.warning(["stays unchanged", "stay unchanged"], "remove the profile", "search again") {
        return Err(Error::pass(problem, "the PTX stays unchanged"));
    }
    let (ptxas, known) = asked(&mut request)?;
    let judged = |ptx: &[u8]| {
        let judged = ptxas.judge(ptx, stock::STOCK_LIMIT, Inspection::Disassembler);
        judged.map_err(|reason| Error::pass(reason.to_string(), "the PTX stays unchanged"))
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
            return Err(Error::pass("the profile makes the kernel worse", "remove the profile").in_function(kernel));
        }
        if figures.is_better(&stock, &preference(&[])) {
            let choice = choices.entry(kernel).map_or(String::new(), |entry| entry.options.clone());
            let (before, after) = (KernelCost::from(&stock), KernelCost::from(&figures));
            // The checker was on, and the choices for PTX are choices of the passes and of ptxas only. The checker does
            // not cover another name.
            let has_other_name = choices.entry(kernel).is_some_and(|entry| entry.other_name);
            let assurance = if has_other_name { Assurance::Neither } else { Assurance::Proved };
            let (agreement, assurance) = (String::new(), assurance.word().into());
            let (kernel, with_fewer_warps) = (kernel.clone(), None);
            changes.push(ChangedKernel { kernel, choice, agreement, assurance, before, after, with_fewer_warps });
        } else {
            let (kernel, reason) = (kernel.clone(), "no better with the stored profile".to_owned());
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

/// Returns what is known of a kernel's launch.
fn block(name: &str, threads: Option<u32>, text: &Text, request: &Request<'_>) -> Block {
    let said = dynamic_shared::bytes_of(&request.dynamic_shared, name);
    Block::new(threads, request.threads, said, text.sizes_shared_at_launch)
}

/// Returns the names of the kernels that a search may improve, and all other kernels with the reason.
fn promising(
    text: &Text,
    request: &Request<'_>,
    architecture: &Architecture,
    loops: &BTreeSet<String>,
) -> Result<(Vec<String>, Vec<UnchangedKernel>), Error> {
    let (mut wanted, mut unchanged_kernels) = (Vec::new(), Vec::new());
    for (name, threads) in text.kernels()? {
        let Some(ptxas_report) = request.measured.get(&name) else {
            unchanged_kernels.push(UnchangedKernel::unsearched(&name, "not assembled"));
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
            Scope::GivenUp => {
                Some("for a candidate, only kernels for which ptxas gives registers up are searched".into())
            }
        };
        match why_not {
            None => wanted.push(name),
            Some(reason) => unchanged_kernels.push(UnchangedKernel::unsearched(&name, &reason)),
        }
    }
    Ok((wanted, unchanged_kernels))
}

/// Returns the reason why a search has nothing to gain for a kernel.
fn nothing_lost(warps: u32, most: u32) -> String {
    if warps == 0 {
        "nothing spills, and no block fits on an SM with the shared memory of its launch".to_owned()
    } else if warps == most {
        format!("nothing spills, and occupancy is full: {warps} warps")
    } else {
        format!("nothing spills, and occupancy is not limited by registers: {warps} of {most} warps")
    }
}

/// Whether an SM's warps are known for a kernel. They are unknown for a function, and for a kernel that calls functions
/// of other files.
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
