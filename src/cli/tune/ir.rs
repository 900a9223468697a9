//! LLVM IR under search, compiled in process, or by servers where that takes long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::profile::{OFF, Profile};
use nvptx_ra::tune::optimisations::{Ahead, Choices, Optimisations};
use nvptx_ra::tune::variant::Variant;

use super::branches::{Branches, Servers, Shared};
use super::code::{Code, CodeDescriptions, CompiledVariant};
use super::compiler::{Compiler, Stage};
use super::ptx;
use super::stock::{STOCK_LIMIT, limit_of_variants};

const DESCRIPTIONS: CodeDescriptions = CodeDescriptions {
    stock: "by LLVM",
    refused: "on the code that LLVM makes without the passes",
    kernels: "kernels have the calling convention ptx_kernel",
    replayed_by: "-nvptx-ra-profile=FILE",
};

/// A module of LLVM IR, whole or a kernel of it.
pub(super) struct Ir<'a> {
    /// Of a kernel, this is what LLVM's optimisations make of it where it chooses nothing ahead of them.
    stock: Front<'a>,
    /// The kernel ahead of LLVM's optimisations, where these are run here.
    source: Option<Compiler<'a>>,
    /// What the optimisations make of the whole module, once its kernels are wanted, and their CPU time.
    optimised: OnceLock<Result<(Compiler<'a>, Duration), Error>>,
    /// The CPU time that they took for the module of a kernel.
    computed_ahead: Duration,
    /// What the optimisations make of it with other choices.
    fronts: Mutex<BTreeMap<Ahead, Arc<LazyFront<'a>>>>,
    servers: &'a Servers,
}

/// A front, once a variant has asked for it.
type LazyFront<'a> = OnceLock<Result<Front<'a>, Error>>;

/// What variants share that LLVM's optimisations are done with.
struct Front<'a> {
    compiler: Compiler<'a>,
    /// The CPU time of the optimisations, where they ran for this front.
    computed: Duration,
    branches: Branches,
}

impl<'a> Front<'a> {
    fn new(compiler: Compiler<'a>, computed: Duration) -> Self {
        Self { compiler, computed, branches: Branches::default() }
    }

    fn compile(
        &self,
        servers: &Servers,
        variant: &Variant,
        profile_of: &dyn Fn(&Variant) -> Profile,
        took: Duration,
    ) -> Result<CompiledVariant, Error> {
        let profile = profile_of(variant);
        // Code that the optimisations took long for may take long, too.
        let expected = took.max(self.computed);
        // Spills to shared memory are asked for in the IR.
        if expected >= servers.least && !variant.spills_to_shared() {
            let of_ir = variant.optimisations().of_ir();
            let shared = || profile_of(&Variant::DEFAULT.optimised(of_ir));
            let front = Shared { compiler: &self.compiler, of_ir, expected, limit: limit_of_variants(took) };
            if let Some(made) = self.branches.compile(servers, front, shared, &profile) {
                return made.map(|made| CompiledVariant { elsewhere: made.elsewhere + self.computed, ..made });
            }
        }
        Ok(CompiledVariant { ptx: self.compiler.compile(&profile)?, elsewhere: self.computed })
    }
}

impl<'a> Ir<'a> {
    pub(super) fn new(compiler: Compiler<'a>, servers: &'a Servers) -> Self {
        Self {
            stock: Front::new(compiler, Duration::ZERO),
            source: None,
            optimised: OnceLock::new(),
            computed_ahead: Duration::ZERO,
            fronts: Mutex::default(),
            servers,
        }
    }

    /// What LLVM's optimisations make of the whole module where nothing is chosen ahead of them, and the CPU time of that.
    fn optimised(&self) -> Result<&(Compiler<'a>, Duration), Error> {
        let whole = &self.stock.compiler;
        let optimise = || whole.optimised(&Profile::new(whole.cpu(), Vec::new()), STOCK_LIMIT);
        self.optimised.get_or_init(optimise).as_ref().map_err(Clone::clone)
    }

    /// Compiles a variant that chooses something ahead of LLVM's optimisations, which run once for each such choice.
    fn compile_ahead(
        &self,
        source: &Compiler<'a>,
        variant: &Variant,
        profile_of: &dyn Fn(&Variant) -> Profile,
        took: Duration,
    ) -> Result<CompiledVariant, Error> {
        let ahead = variant.optimisations().ahead();
        let front = {
            let mut fronts = self.fronts.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(fronts.entry(ahead).or_default())
        };
        let make = || {
            // Only what is chosen ahead: what else is chosen is added to it later, and `off` would stay.
            let mut chosen = profile_of(&Variant::DEFAULT.optimised(Optimisations::ahead_of(ahead)));
            chosen.functions.retain(|entry| entry.options != OFF);
            let (optimised, computed) = source.optimised(&chosen, limit_of_variants(self.computed_ahead + took))?;
            Ok(Front::new(optimised, computed))
        };
        front.get_or_init(make).as_ref().map_err(Clone::clone)?.compile(self.servers, variant, profile_of, took)
    }
}

impl Code for Ir<'_> {
    fn cpu(&self) -> &str {
        self.stock.compiler.cpu()
    }

    fn functions(&self) -> &[(String, String)] {
        &self.stock.compiler.functions
    }

    fn kernels(&self) -> Result<BTreeMap<String, Option<u32>>, Error> {
        let nothing_chosen = self.profile(&|_| None);
        let whole = match self.stock.compiler.stage {
            Stage::Unoptimised => self.optimised()?.0.compile(&nothing_chosen)?,
            Stage::Optimised | Stage::Finished => self.compile(&nothing_chosen)?,
        };
        Ok(ptx::kernels(&String::from_utf8_lossy(&whole)))
    }

    fn slices(&self, kernels: &[&str]) -> Result<Vec<Box<dyn Code + '_>>, Error> {
        let whole = &self.stock.compiler;
        let slices = whole.slices(kernels.iter().copied())?;
        if whole.stage != Stage::Unoptimised {
            let slices = slices.into_iter();
            return Ok(slices.map(|slice| Box::new(Ir::new(slice, self.servers)) as Box<dyn Code>).collect());
        }
        // Kernels by themselves are those of the whole: what is inlined may depend on the other kernels.
        let (optimised, computed_ahead) = self.optimised()?;
        let stock = optimised.slices(kernels.iter().copied())?;
        let pairs = slices.into_iter().zip(stock);
        let of_kernel = pairs.map(|(source, stock)| {
            let stock = stock.with_functions_of(&source);
            let computed_ahead = *computed_ahead;
            Box::new(Ir { source: Some(source), computed_ahead, ..Ir::new(stock, self.servers) }) as Box<dyn Code>
        });
        Ok(of_kernel.collect())
    }

    fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error> {
        self.stock.compiler.compile(profile)
    }

    fn compile_variant(
        &self,
        variant: &Variant,
        profile_of: &dyn Fn(&Variant) -> Profile,
        took: Duration,
    ) -> Result<CompiledVariant, Error> {
        match &self.source {
            Some(source) if variant.optimisations().ahead() != Ahead::STOCK => {
                self.compile_ahead(source, variant, profile_of, took)
            }
            _ => self.stock.compile(self.servers, variant, profile_of, took),
        }
    }

    fn computed_ahead(&self) -> Duration {
        self.computed_ahead
    }

    fn sizes_shared_at_launch(&self, ptx: &str) -> bool {
        ptx::sizes_shared_at_launch(ptx)
    }

    fn knows_smem_spilling(&self) -> bool {
        self.stock.compiler.knows_smem_spilling()
    }

    fn choices(&self) -> Choices {
        let is_unoptimised = self.source.is_some() || self.stock.compiler.stage == Stage::Unoptimised;
        if is_unoptimised { Choices::All } else { Choices::CodeGeneration }
    }

    fn made_by(&self) -> Option<String> {
        (self.choices() == Choices::All).then(|| self.stock.compiler.like_clang())
    }

    fn why_kept(&self, _kernel: &str) -> Option<String> {
        None
    }

    fn descriptions(&self) -> &'static CodeDescriptions {
        &DESCRIPTIONS
    }
}
