//! LLVM IR under search. It is compiled in this process, or by servers if compilation takes long.

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
    refused: "on LLVM's code without the passes",
    kernels: "kernels have the calling convention ptx_kernel",
    replayed_by: "-nvptx-ra-profile=FILE",
};

/// A module of LLVM IR, or one kernel of it.
pub(super) struct Ir<'a> {
    /// The code with the default choices before LLVM's optimisations. For a kernel, the result of the optimisations.
    stock: Front<'a>,
    /// The kernel before LLVM's optimisations. `None` if the optimisations do not run in this project.
    source: Option<Compiler<'a>>,
    /// The optimised whole module and the CPU time of its optimisations, once its kernels are requested.
    optimised: OnceLock<Result<(Compiler<'a>, Duration), Error>>,
    /// The CPU time of the optimisations of the kernel's module.
    computed_ahead: Duration,
    /// The optimised code with other choices.
    fronts: Mutex<BTreeMap<Ahead, Arc<LazyFront<'a>>>>,
    servers: &'a Servers,
}

/// A front that is created when a variant first asks for it.
type LazyFront<'a> = OnceLock<Result<Front<'a>, Error>>;

/// Code after LLVM's optimisations, which several variants share.
struct Front<'a> {
    compiler: Compiler<'a>,
    /// The CPU time of the optimisations, if they ran for this front.
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
        // If the optimisations took long, code generation may take long, too.
        let expected = took.max(self.computed);
        // Options for spills to shared memory change the IR before the point at which a server forks.
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

    /// Optimises the whole module with the default choices before LLVM's optimisations. Returns the result and the CPU
    /// time.
    fn optimised(&self) -> Result<&(Compiler<'a>, Duration), Error> {
        let whole = &self.stock.compiler;
        let optimise = || whole.optimised(&Profile::new(whole.cpu(), Vec::new()), STOCK_LIMIT);
        self.optimised.get_or_init(optimise).as_ref().map_err(Clone::clone)
    }

    /// Compiles a variant with choices before LLVM's optimisations. The optimisations run once for each such choice.
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
            // Only the choices before the optimisations are set here. Other choices are added later. An entry with
            // `off` would stay in the result, so it is removed.
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
        // Separate kernels are taken from the optimised whole module, because inlining may depend on the other kernels.
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
