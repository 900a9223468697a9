//! A search in this tool: the search of [`nvptx_ra::tune`], with the code of each kernel and the judges.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nvptx_ra::error::Error;
use nvptx_ra::index::IndexVec;
use nvptx_ra::profile::{Entry, Profile};
use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::question::NoAnswer;
use nvptx_ra::tune::relocatable::Relocatable;
use nvptx_ra::tune::search::{KernelId, Search};
use nvptx_ra::tune::variant::Variant;

use super::assembled_stock::AssembledStock;
use super::benchmark::Benchmark;
use super::code::{Code, CompiledVariant};
use super::cpu_time;
use super::judge::Judge;
use super::judge::ptxas::Ptxas;

/// The limits on the time and on the threads of a search.
#[derive(Clone, Copy)]
pub(crate) struct SearchLimits {
    /// The time after which no round starts.
    pub(super) until: Option<Instant>,
    /// The number of threads.
    pub(super) jobs: usize,
}

impl SearchLimits {
    /// Computes the limits from the start. `time` limits the search. `None` is no limit. `jobs` defaults to the number
    /// of processors. A time that the clock cannot express is no limit.
    pub(crate) fn new(start: Instant, time: Option<Duration>, jobs: Option<usize>) -> Self {
        let processors = || std::thread::available_parallelism().ok().map(Into::into);
        let until = time.and_then(|time| start.checked_add(time));
        Self { until, jobs: jobs.or_else(processors).unwrap_or(1) }
    }

    pub(super) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// The judges of PTX.
#[derive(Clone, Copy)]
pub(super) struct Judges<'a> {
    /// Runs ptxas, or finds its stored results.
    pub(super) judge: &'a dyn Judge,
    pub(super) benchmark: Option<&'a Benchmark>,
    /// Provides the machine code for the benchmark.
    pub(super) ptxas: &'a Ptxas,
    /// Stock, if a build has already assembled it.
    pub(super) stock: Option<&'a AssembledStock<'a>>,
}

impl Judges<'_> {
    /// Returns the figures of a kernel's PTX, with the benchmark's result if there is one.
    pub(super) fn timed(
        &self,
        figures: Figures,
        kernel: &str,
        ptx: &[u8],
        limit: Duration,
    ) -> Result<Figures, NoAnswer> {
        let Some(benchmark) = self.benchmark else { return Ok(figures) };
        let cubin: PathBuf = self.ptxas.cubin(ptx, limit)?;
        let timing = benchmark.measure(&cubin, kernel).map_err(NoAnswer::Refused)?;
        Ok(Figures { timing: Some(timing), ..figures })
    }
}

/// The code of one kernel, without the other kernels.
pub(super) struct Slice<'a> {
    pub(super) code: Box<dyn Code + 'a>,
    /// The kernel's name.
    pub(super) kernel: String,
    /// The functions that only this kernel of the module reaches, by name, sorted.
    pub(super) owned: Vec<String>,
    /// What a linker sees of stock's object, if it is linked later.
    pub(super) object: Option<Relocatable>,
    /// The CPU time of stock's PTX.
    pub(super) took: Duration,
    /// The limit of CPU time for a variant, in ptxas and LLVM together.
    pub(super) limit: Duration,
}

impl Slice<'_> {
    /// Refuses a variant if its object must not replace stock's.
    pub(super) fn check_object(&self, judged: &Judgement) -> Result<(), NoAnswer> {
        match (&judged.object, &self.object) {
            (Some(object), Some(stock)) => object.check(stock).map_err(NoAnswer::Refused),
            _ => Ok(()),
        }
    }

    /// Compiles the PTX of a variant.
    pub(super) fn compile(&self, variant: &Variant) -> Result<Vec<u8>, Error> {
        self.compile_metered(variant).map(|made| made.ptx)
    }

    /// Compiles the PTX of a variant. Returns the PTX, and the CPU time that is left for ptxas, in whole seconds. Fails
    /// if no time is left.
    pub(super) fn compile_within_limit(&self, variant: &Variant) -> Result<(Vec<u8>, Duration), Error> {
        let start = cpu_time::of_thread();
        let made = self.compile_metered(variant)?;
        let computed = made.elsewhere + cpu_time::of_thread().saturating_sub(start);
        let left = self.limit.saturating_sub(Duration::from_secs(computed.as_secs()));
        if left.is_zero() {
            let problem = format!("LLVM takes more than {} s of CPU time", self.limit.as_secs());
            return Err(Error::pass(problem, "the variant is discarded"));
        }
        Ok((made.ptx, left))
    }

    fn compile_metered(&self, variant: &Variant) -> Result<CompiledVariant, Error> {
        let profile_of = |variant: &Variant| self.code.profile(&|name| self.variant_of(name, variant));
        match variant {
            Variant::Stock => self.code.compile(&self.code.profile(&|_| None)).map(CompiledVariant::from),
            _ => self.code.compile_variant(variant, &profile_of, self.took),
        }
    }

    /// Compiles the PTX with the checker. The checker's errors are errors here.
    pub(super) fn compile_checked(&self, variant: &Variant) -> Result<Vec<u8>, Error> {
        let profile_of = |variant: &Variant| checked(self.code.profile(&|name| self.variant_of(name, variant)));
        self.code.compile_variant(variant, &profile_of, self.took).map(|made| made.ptx)
    }

    /// Returns the variant of a function if the kernel has the given variant. Functions that only the kernel reaches
    /// get the kernel's choices, because their registers and spills are part of the kernel's figures. `None` for other
    /// functions.
    pub(super) fn variant_of(&self, function: &str, variant: &Variant) -> Option<Variant> {
        if function == self.kernel {
            return Some(variant.clone());
        }
        let is_owned = self.owned.binary_search_by(|owned| owned.as_str().cmp(function)).is_ok();
        is_owned.then(|| variant.of_callee())
    }
}

/// Adds the checker to all choices that may change something. The checker's errors are then errors.
pub(super) fn checked(profile: Profile) -> Profile {
    let stock = Variant::Stock.entry("", "").options;
    let entry = |entry: &Entry| {
        let options = [entry.options.as_str(), "verify", "strict"].into_iter().filter(|options| !options.is_empty());
        let options = if entry.options == stock { stock.clone() } else { options.collect::<Vec<_>>().join(";") };
        Entry { options, ..entry.clone() }
    };
    let functions = profile.functions.iter().map(entry).collect();
    profile.with_functions(functions)
}

/// A search with its code and judges.
pub(super) struct Tuning<'a> {
    /// The whole module.
    pub(super) code: &'a dyn Code,
    pub(super) judges: Judges<'a>,
    pub(super) search: Search,
    /// The code of each kernel.
    pub(super) slices: IndexVec<KernelId, Slice<'a>>,
    /// Whether a kernel is missing because its stock is judged later.
    pub(super) stock_waits: bool,
    pub(super) search_limits: SearchLimits,
}

impl Tuning<'_> {
    /// Whether an answer is pending.
    pub(super) fn waits(&self) -> bool {
        self.stock_waits || self.search.waits()
    }
}
