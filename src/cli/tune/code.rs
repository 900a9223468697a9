//! The code under search. The search asks a [`Code`] for its kernels and for the PTX of variants. It does not depend on
//! the language of the code.

use std::collections::BTreeMap;
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::profile::{Entry, Profile};
use nvptx_ra::tune::optimisations::Choices;
use nvptx_ra::tune::variant::Variant;

/// A compiled variant.
pub(super) struct CompiledVariant {
    pub(super) ptx: Vec<u8>,
    /// The CPU time that other processes used to compile it.
    pub(super) elsewhere: Duration,
}

impl From<Vec<u8>> for CompiledVariant {
    fn from(ptx: Vec<u8>) -> Self {
        Self { ptx, elsewhere: Duration::ZERO }
    }
}

/// Code with kernels, a whole module or one kernel of it. Several threads may compile at the same time.
pub(super) trait Code: Send + Sync {
    /// Returns the processor.
    fn cpu(&self) -> &str;

    /// Returns the functions that it defines, with the hashes of their code.
    fn functions(&self) -> &[(String, String)];

    /// Returns the kernels by name, each with the most threads of a block, if the code states them.
    fn kernels(&self) -> Result<BTreeMap<String, Option<u32>>, Error>;

    /// Returns kernels as separate code, each with everything that it uses. A kernel that takes long, or that ptxas
    /// refuses, does not affect the others.
    fn slices(&self, kernels: &[&str]) -> Result<Vec<Box<dyn Code + '_>>, Error>;

    /// Compiles the PTX with the choices of a profile. A later replay gives the same PTX.
    fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error>;

    /// Compiles the PTX of one of many variants of a slice, the same as [`compile`](Self::compile). `profile_of`
    /// returns the choices of a variant, and `took` is the CPU time of stock.
    fn compile_variant(
        &self,
        variant: &Variant,
        profile_of: &dyn Fn(&Variant) -> Profile,
        took: Duration,
    ) -> Result<CompiledVariant, Error> {
        let _ = took;
        self.compile(&profile_of(variant)).map(CompiledVariant::from)
    }

    /// Returns the CPU time that stock took before [`compile`](Self::compile) was called.
    fn computed_ahead(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether the code uses shared memory whose size is known only at launch. `ptx` is the code's PTX.
    fn sizes_shared_at_launch(&self, ptx: &str) -> bool;

    /// Whether the PTX version lets kernels request spills to shared memory.
    fn knows_smem_spilling(&self) -> bool;

    /// Whether the kernel may get another name in ptxas's input. ptxas compiles it differently under that name.
    fn has_other_name(&self, kernel: &str) -> bool {
        let _ = kernel;
        false
    }

    /// Returns the LLVM optimisations that may be chosen.
    fn choices(&self) -> Choices;

    /// Returns the options that clang needs to make the same code, if a profile is replayed before LLVM's
    /// optimisations.
    fn made_by(&self) -> Option<String> {
        None
    }

    /// Returns why no pass can change the instructions of a kernel. `None` if passes can change them.
    fn why_kept(&self, kernel: &str) -> Option<String>;

    /// Returns the other compilers that have code of a slice's kernel, by number from 1 on.
    fn compilers(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Returns the name of another compiler's file.
    fn name_of(&self, compiler: u8) -> Option<&str> {
        let _ = compiler;
        None
    }

    /// Returns the words that describe the code in messages.
    fn descriptions(&self) -> &'static CodeDescriptions;

    /// Returns the profile that gives functions their variants. A function without a variant stays unchanged, because
    /// its figures may be part of the figures of several kernels.
    fn profile(&self, variants: &dyn Fn(&str) -> Option<Variant>) -> Profile {
        let entry =
            |(name, hash): &(String, String)| -> Entry { variants(name).unwrap_or(Variant::Stock).entry(name, hash) };
        let profile = Profile::new(self.cpu(), self.functions().iter().map(entry).collect());
        if self.choices() == Choices::All { profile.of_unoptimised() } else { profile }
    }
}

/// Descriptions of code and its results in messages.
pub(super) struct CodeDescriptions {
    /// What makes the code if no pass changes it: the name of stock in messages.
    pub(super) stock: &'static str,
    /// The words for the code that ptxas refuses if it refuses stock.
    pub(super) refused: &'static str,
    /// The words for what makes a function a kernel.
    pub(super) kernels: &'static str,
    /// The option that replays a profile.
    pub(super) replayed_by: &'static str,
}
