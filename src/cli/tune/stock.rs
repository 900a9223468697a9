//! Stock, from which the search of each kernel starts: LLVM's own code or the given PTX, without the passes.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::profile::fingerprint;
use nvptx_ra::ptx::Module;
use nvptx_ra::target::machine::{Architecture, DEFAULT_THREADS, MAX_THREADS_PER_BLOCK, REGISTERS, RegisterRequests};
use nvptx_ra::tune::figures::{Block, launch};
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::objective::Objective;
use nvptx_ra::tune::optimisations::Choices;
use nvptx_ra::tune::question::NoAnswer;
use nvptx_ra::tune::relocatable::Relocatable;

use super::code::Code;
use super::cpu_time;
use super::judge::Inspection;
use super::tuning::{Judges, Slice};
use super::work_queue::in_parallel;
use crate::dynamic_shared::{self, DynamicShared};
use crate::kernel_names;
use crate::of_kernels;
use crate::threads::{Count, Threads};

/// The instruction that moves registers between warpgroups.
const SETMAXNREG: &[u8] = b"setmaxnreg";

/// The limit of a variant's CPU time in ptxas and LLVM, as a multiple of stock's.
const TIMES_STOCK: u32 = 4;

/// The CPU time that is always allowed for a variant.
const LEAST_LIMIT: Duration = Duration::from_secs(20);

/// The CPU time that is always allowed for a variant if effort limits the search.
const LEAST_LIMIT_OF_A_SHARE: Duration = Duration::from_secs(1);

/// The limit of CPU time for stock.
pub(super) const STOCK_LIMIT: Duration = Duration::from_secs(3600);

/// Returns the limit of CPU time for variants, from stock's CPU time.
pub(super) fn limit_of_variants(stock: Duration) -> Duration {
    (stock * TIMES_STOCK).max(LEAST_LIMIT)
}

/// The conditions under which kernels are judged.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'a> {
    pub(super) judges: Judges<'a>,
    pub(super) objective: &'a Objective,
    /// The user's threads of a block, for kernels that do not state them.
    pub(super) threads: &'a [Threads],
    pub(super) dynamic_shared: &'a [DynamicShared],
    /// The number of threads.
    pub(super) jobs: usize,
    /// Whether effort limits the search.
    pub(super) has_share: bool,
}

/// The kernels that are searched.
pub(super) enum KernelSelection<'a> {
    /// Kernels whose names contain one of the parts. Without parts, all kernels.
    Parts(&'a [String]),
    /// Kernels with these names.
    Named(&'a [String]),
}

impl KernelSelection<'_> {
    fn check(&self, kernels: &[&str], input: &str) -> Result<(), Error> {
        match self {
            Self::Parts(parts) => kernel_names::check_wanted(parts, kernels.iter().copied(), input),
            Self::Named(_) => Ok(()),
        }
    }

    /// Checks that the user's options about launches apply to kernels of this file. The settings of a build may apply
    /// to kernels of other files only.
    fn check_launches(&self, conditions: &Conditions<'_>, kernels: &[&str], input: &str) -> Result<(), Error> {
        match self {
            Self::Parts(_) => {
                let kernels = kernels.iter().copied();
                of_kernels::check("--dynamic-shared", conditions.dynamic_shared, kernels.clone(), input)?;
                of_kernels::check("--threads", conditions.threads, kernels, input)
            }
            Self::Named(_) => Ok(()),
        }
    }

    /// Collects the sizes of dynamic shared memory: the user's, and those in Triton's metadata beside the file.
    fn dynamic_shared(&self, options: &[DynamicShared], path: &Path) -> Vec<DynamicShared> {
        match self {
            Self::Parts(_) => dynamic_shared::all_said(path, options),
            Self::Named(_) => options.to_vec(),
        }
    }

    fn has(&self, kernel: &str) -> bool {
        match self {
            Self::Parts(parts) => kernel_names::is_wanted(parts, kernel),
            Self::Named(names) => names.iter().any(|name| name == kernel),
        }
    }
}

/// The start of a search.
pub(super) struct Stock<'a> {
    pub(super) kernels: Vec<Kernel>,
    /// The code of each kernel.
    pub(super) slices: Vec<Slice<'a>>,
    /// Messages for users about the kernels, one a line.
    pub(super) notes: Vec<String>,
    /// Whether a kernel is missing because it is judged later.
    pub(super) waits: bool,
}

/// Judges the wanted kernels without the passes, each by itself. `path` is the module's, for messages. A kernel that
/// ptxas or the benchmark refuses is reported and left out, so that the others can still be tuned.
pub(super) fn kernels<'a>(
    code: &'a dyn Code,
    path: &Path,
    wanted: &KernelSelection<'_>,
    conditions: Conditions<'_>,
) -> Result<Stock<'a>, Error> {
    let in_code = code.kernels()?;
    let functions = code.functions().iter().map(|(name, _)| name.as_str());
    let mut names: Vec<&str> = functions.filter(|&name| in_code.contains_key(name)).collect();
    if names.is_empty() {
        let problem = format!("{}: no kernel", path.display());
        return Err(Error::new(ErrorKind::View, problem, code.descriptions().kernels));
    }
    let input = path.to_string_lossy();
    wanted.check(&names, &input)?;
    let owners = FunctionOwners::new(code, &names)?;
    names.retain(|name| wanted.has(name));
    wanted.check_launches(&conditions, &names, &input)?;
    let said = wanted.dynamic_shared(conditions.dynamic_shared, path);
    let conditions = Conditions { dynamic_shared: &said, ..conditions };
    let slices = code.slices(&names)?;
    let slices: Vec<(&str, Box<dyn Code + 'a>)> = names.into_iter().zip(slices).collect();
    let note = |(name, slice): &(&str, Box<dyn Code>)| {
        let (kernel, reason) = (kernel_names::readable(name), slice.why_kept(name)?);
        Some(format!("nvptx-ra: kernel '{kernel}' keeps its instructions: {reason}"))
    };
    let mut notes: Vec<String> = slices.iter().filter_map(note).collect();
    // The own reader is compared with the disassembler on the first kernel, and on kernels with local memory.
    let (first, others) = slices.split_at(1);
    let start = |&(name, ref slice): &(&str, Box<dyn Code>), inspection| {
        conditions.start(name, &**slice, in_code[name], inspection)
    };
    let mut judged = in_parallel(1, first, |slice| start(slice, Inspection::Disassembler));
    judged.extend(in_parallel(conditions.jobs, others, |slice| start(slice, Inspection::DisassemblerIfStack)));
    let (mut kernels, mut apart, mut refused, mut waits) = (Vec::new(), Vec::new(), Vec::new(), false);
    for ((name, code), judged) in slices.into_iter().zip(judged) {
        match judged {
            Ok(StockKernel { kernel, object, took, limit }) => {
                let owned = owners.owned(&*code);
                apart.push(Slice { code, kernel: name.to_owned(), owned, object, took, limit });
                kernels.push(kernel);
            }
            Err(None) => waits = true,
            Err(Some(error)) => refused.push(error.in_function(name)),
        }
    }
    if let Some(first) = refused.first().filter(|_| kernels.is_empty() && !waits) {
        return Err(first.clone());
    }
    notes.extend(refused.iter().map(Error::to_string));
    if !waits {
        notes.extend(what_is_odd(&kernels, wanted, conditions.objective.architecture));
    }
    Ok(Stock { kernels, slices: apart, notes, waits })
}

/// Reports the kernels with unknown shared memory, and the kernels that cannot be launched.
fn what_is_odd(kernels: &[Kernel], wanted: &KernelSelection<'_>, architecture: &Architecture) -> Vec<String> {
    let mut notes = Vec::new();
    let unknown = kernels.iter().filter(|kernel| kernel.block.dynamic_shared.is_none()).count();
    // A build has no such option. It reports the unknown size for each kernel instead.
    if unknown > 0 && matches!(wanted, KernelSelection::Parts(_)) {
        notes.push(format!(
            "nvptx-ra: for {unknown} of the kernels, only the launch decides the size of dynamic shared memory. The \
             size counts as zero; set it with --dynamic-shared"
        ));
    }
    let too_large: Vec<&Kernel> = kernels.iter().filter(|kernel| kernel.stock.warps == 0).collect();
    if let [kernel, ..] = too_large[..] {
        let launch = launch(&kernel.stock.ptxas_report, kernel.block);
        notes.push(format!(
            "nvptx-ra: a block of {} of the kernels does not fit on an SM, so their occupancy does not count: a block \
             of '{}' has {} threads of {} registers and {} bytes of shared memory; {} allows {MAX_THREADS_PER_BLOCK} \
             threads, {REGISTERS} registers and {} bytes",
            too_large.len(),
            kernel_names::short(&kernel.name),
            launch.threads.unwrap_or(DEFAULT_THREADS),
            launch.registers,
            u64::from(launch.static_shared) + u64::from(launch.dynamic_shared),
            architecture.name,
            architecture.shared_opt_in()
        ));
    }
    notes
}

/// The functions that several kernels reach.
struct FunctionOwners {
    /// The number of kernels that reach each function that is no kernel.
    reached: BTreeMap<String, usize>,
}

impl FunctionOwners {
    /// Counts the kernels of a module that reach each function, whether the kernels are searched or not. Makes
    /// O(kernels) modules if there are functions that are not kernels.
    fn new(code: &dyn Code, kernels: &[&str]) -> Result<Self, Error> {
        let is_kernel = |name: &str| kernels.contains(&name);
        let callees = code.functions().iter().map(|(name, _)| name).filter(|name| !is_kernel(name));
        let mut reached: BTreeMap<String, usize> = callees.map(|name| (name.clone(), 0)).collect();
        if !reached.is_empty() {
            for slice in code.slices(kernels)? {
                for (name, _) in slice.functions() {
                    reached.entry(name.clone()).and_modify(|kernels| *kernels += 1);
                }
            }
        }
        Ok(Self { reached })
    }

    /// Returns the functions that only the kernel of a slice reaches, sorted.
    fn owned(&self, slice: &dyn Code) -> Vec<String> {
        let is_owned = |name: &&String| self.reached.get(*name) == Some(&1);
        let mut owned: Vec<String> = slice.functions().iter().map(|(name, _)| name).filter(is_owned).cloned().collect();
        owned.sort_unstable();
        owned
    }
}

/// Returns, for each of these kernels, the functions that only this kernel of the module reaches.
pub(super) fn owned(code: &dyn Code, kernels: &[&str]) -> Result<Vec<Vec<String>>, Error> {
    let in_code = code.kernels()?;
    let all: Vec<&str> = in_code.keys().map(String::as_str).collect();
    let owners = FunctionOwners::new(code, &all)?;
    if owners.reached.is_empty() {
        return Ok(vec![Vec::new(); kernels.len()]);
    }
    Ok(code.slices(kernels)?.iter().map(|slice| owners.owned(&**slice)).collect())
}

/// A kernel with its stock.
struct StockKernel {
    kernel: Kernel,
    /// What a linker sees of it, if it is linked later.
    object: Option<Relocatable>,
    /// The CPU time for compiling its PTX.
    took: Duration,
    /// The limit of CPU time for a variant.
    limit: Duration,
}

/// Returns the register requests of a kernel at run time. `None` if there are none.
pub(super) fn register_requests(ptx: &[u8], kernel: &str) -> Result<Option<RegisterRequests>, Error> {
    if ptx.windows(SETMAXNREG.len()).all(|bytes| bytes != SETMAXNREG) {
        return Ok(None);
    }
    let module = Module::read("the kernel", ptx)?;
    let body = module.kernels().find(|body| body.name(module.file()) == kernel);
    Ok(body.and_then(|body| module.register_requests(body)))
}

impl Conditions<'_> {
    /// Returns the stock of a kernel. Fails with `None` if ptxas runs later.
    fn start(
        &self,
        name: &str,
        slice: &dyn Code,
        threads: Option<u32>,
        inspection: Inspection,
    ) -> Result<StockKernel, Option<Error>> {
        let refused = |reason: NoAnswer| {
            let problem = format!("{reason}, {}", slice.descriptions().refused);
            (reason != NoAnswer::Later).then(|| Error::pass(problem, "the kernel stays unchanged"))
        };
        let start = cpu_time::of_thread();
        let ptx = slice.compile(&slice.profile(&|_| None))?;
        let took = cpu_time::of_thread().saturating_sub(start);
        let judged = match self.judges.stock.and_then(|known| known.judged(name)) {
            Some(judged) => judged,
            None => self.judges.judge.judge(&ptx, STOCK_LIMIT, inspection).map_err(refused)?,
        };
        let text = String::from_utf8_lossy(&ptx);
        let sizes_shared_at_launch = slice.sizes_shared_at_launch(&text);
        let said = dynamic_shared::bytes_of(self.dynamic_shared, name);
        let said_threads = of_kernels::last_of(self.threads, name).map(|Count(threads)| threads);
        let block = Block::new(threads, said_threads, said, sizes_shared_at_launch);
        let figures = judged.figures(name, block, self.objective.architecture);
        let figures =
            figures.and_then(|figures| self.judges.timed(figures, name, &ptx, STOCK_LIMIT)).map_err(refused)?;
        let is_relocatable = judged.object.is_some();
        let function = judged.object.as_ref().and_then(|object| object.functions.get(name));
        let alone = function.is_some_and(|function| !function.is_kernel || function.calls_elsewhere);
        let figures = figures.with_arrays(self.objective.allowance).with_instructions_alone(alone);
        let hash = slice.functions().iter().find(|(function, _)| function == name).map_or("", |(_, hash)| hash);
        let mut kernel = Kernel::new(name, hash, block, figures, fingerprint(&text), slice.choices());
        kernel.add_compilers(&slice.compilers());
        kernel.template = kernel_names::template(name);
        kernel.register_requests = register_requests(&ptx, name)?;
        kernel.is_relocatable = is_relocatable;
        kernel.may_be_inspected = !is_relocatable && self.judges.ptxas.looks_for_spills();
        kernel.may_spill_to_shared = !is_relocatable && slice.knows_smem_spilling() && !sizes_shared_at_launch;
        kernel.wants_blocks = !is_relocatable
            && slice.choices() == Choices::Nothing
            && kernel
                .register_requests
                .as_ref()
                .is_some_and(|requests| requests.want_blocks(self.objective.architecture));
        kernel.may_have_other_name = !is_relocatable && slice.has_other_name(name);
        kernel.add_rare_choices();
        let of_stock = slice.computed_ahead() + took + judged.took;
        let limit = if self.has_share {
            (of_stock * TIMES_STOCK).max(LEAST_LIMIT_OF_A_SHARE)
        } else {
            limit_of_variants(of_stock)
        };
        Ok(StockKernel { kernel, object: judged.object, took, limit })
    }
}
