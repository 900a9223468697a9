//! A search of this tool: the core's, with the code of each kernel and those who answer.

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

/// How fast a search goes on, and until when.
#[derive(Clone, Copy)]
pub(crate) struct SearchLimits {
    /// Time after which no round starts.
    pub(super) until: Option<Instant>,
    /// Threads.
    pub(super) jobs: usize,
}

impl SearchLimits {
    /// From a start on for so long, where that is said; as many threads as there are processors, unless that is said. Time that no clock
    /// can tell is no limit.
    pub(crate) fn new(start: Instant, time: Option<Duration>, jobs: Option<usize>) -> Self {
        let processors = || std::thread::available_parallelism().ok().map(Into::into);
        let until = time.and_then(|time| start.checked_add(time));
        Self { until, jobs: jobs.or_else(processors).unwrap_or(1) }
    }

    pub(super) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Those who say what PTX costs.
#[derive(Clone, Copy)]
pub(super) struct Judges<'a> {
    /// Says what ptxas makes of it.
    pub(super) judge: &'a dyn Judge,
    pub(super) benchmark: Option<&'a Benchmark>,
    /// Has the machine code for the benchmark.
    pub(super) ptxas: &'a Ptxas,
    /// Stock, where a build has it already.
    pub(super) stock: Option<&'a AssembledStock<'a>>,
}

impl Judges<'_> {
    /// The figures of a kernel's PTX with what the benchmark says, if there is one.
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

/// The code of a kernel by itself, without the other kernels.
pub(super) struct Slice<'a> {
    pub(super) code: Box<dyn Code + 'a>,
    /// The kernel's name.
    pub(super) kernel: String,
    /// The functions that this kernel reaches and no other one of the module does, by name, sorted.
    pub(super) owned: Vec<String>,
    /// What a linker sees of stock's object, where it is linked later.
    pub(super) object: Option<Relocatable>,
    /// The CPU time of stock's PTX.
    pub(super) took: Duration,
    /// The CPU time that a variant may take, ptxas and LLVM together.
    pub(super) limit: Duration,
}

impl Slice<'_> {
    /// Refuses a variant whose object may not stand in the place of stock's.
    pub(super) fn check_object(&self, judged: &Judgement) -> Result<(), NoAnswer> {
        match (&judged.object, &self.object) {
            (Some(object), Some(stock)) => object.check(stock).map_err(NoAnswer::Refused),
            _ => Ok(()),
        }
    }

    /// The PTX of a variant.
    pub(super) fn compile(&self, variant: &Variant) -> Result<Vec<u8>, Error> {
        self.compile_metered(variant).map(|made| made.ptx)
    }

    /// The PTX of a variant, and the CPU time that is left for ptxas, in whole seconds; an error where none is left.
    pub(super) fn compile_within_limit(&self, variant: &Variant) -> Result<(Vec<u8>, Duration), Error> {
        let start = cpu_time::of_thread();
        let made = self.compile_metered(variant)?;
        let computed = made.elsewhere + cpu_time::of_thread().saturating_sub(start);
        let left = self.limit.saturating_sub(Duration::from_secs(computed.as_secs()));
        if left.is_zero() {
            let problem = format!("LLVM takes more than {} s of CPU time", self.limit.as_secs());
            return Err(Error::pass(problem, "the variant is lost"));
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

    /// The same with the checker, whose errors are errors here.
    pub(super) fn compile_checked(&self, variant: &Variant) -> Result<Vec<u8>, Error> {
        let profile_of = |variant: &Variant| checked(self.code.profile(&|name| self.variant_of(name, variant)));
        self.code.compile_variant(variant, &profile_of, self.took).map(|made| made.ptx)
    }

    /// How a function is compiled where the kernel is by that variant: what the kernel alone reaches like the kernel,
    /// because its registers and spills are the kernel's. `None` of what is not its own.
    pub(super) fn variant_of(&self, function: &str, variant: &Variant) -> Option<Variant> {
        if function == self.kernel {
            return Some(variant.clone());
        }
        let is_owned = self.owned.binary_search_by(|owned| owned.as_str().cmp(function)).is_ok();
        is_owned.then(|| variant.of_callee())
    }
}

/// The same choices with the checker, whose errors are errors, where a pass may change something.
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

/// A search and what it works with.
pub(super) struct Tuning<'a> {
    /// The whole module.
    pub(super) code: &'a dyn Code,
    pub(super) judges: Judges<'a>,
    pub(super) search: Search,
    /// The code of each kernel.
    pub(super) slices: IndexVec<KernelId, Slice<'a>>,
    /// Whether stock of a kernel is judged later, so that the kernel is not among these.
    pub(super) stock_waits: bool,
    pub(super) search_limits: SearchLimits,
}

impl Tuning<'_> {
    /// Whether something that was asked has its answer later.
    pub(super) fn waits(&self) -> bool {
        self.stock_waits || self.search.waits()
    }
}
