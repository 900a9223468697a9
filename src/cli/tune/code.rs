//! Where the code under search comes from. The search asks a [`Code`] for its kernels and for the PTX of variants, and knows
//! nothing else of what it is written in.

use std::collections::BTreeMap;
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::profile::{Entry, Profile};
use nvptx_ra::tune::optimisations::Choices;
use nvptx_ra::tune::variant::Variant;

/// What was made of a variant.
pub(super) struct CompiledVariant {
    pub(super) ptx: Vec<u8>,
    /// The CPU time of other processes that made it.
    pub(super) elsewhere: Duration,
}

impl From<Vec<u8>> for CompiledVariant {
    fn from(ptx: Vec<u8>) -> Self {
        Self { ptx, elsewhere: Duration::ZERO }
    }
}

/// Code with kernels, whole or a kernel of it alone. Several threads may compile at once.
pub(super) trait Code: Send + Sync {
    /// The processor.
    fn cpu(&self) -> &str;

    /// The functions that it defines, with the hashes of their code.
    fn functions(&self) -> &[(String, String)];

    /// The kernels by name, each with the threads of a block, where it says how many at most.
    fn kernels(&self) -> Result<BTreeMap<String, Option<u32>>, Error>;

    /// Kernels, each with what it calls and names, as code of their own: one that takes long, or that ptxas refuses, is
    /// no matter to the others.
    fn slices(&self, kernels: &[&str]) -> Result<Vec<Box<dyn Code + '_>>, Error>;

    /// The PTX with the choices of a profile, the same as a later replay makes.
    fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error>;

    /// The PTX of one of many variants of a slice, the same as by [`compile`](Self::compile). `profile_of` gives the
    /// choices of a variant, and `took` is the CPU time of stock.
    fn compile_variant(
        &self,
        variant: &Variant,
        profile_of: &dyn Fn(&Variant) -> Profile,
        took: Duration,
    ) -> Result<CompiledVariant, Error> {
        let _ = took;
        self.compile(&profile_of(variant)).map(CompiledVariant::from)
    }

    /// The CPU time that stock took ahead of [`compile`](Self::compile).
    fn computed_ahead(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether shared memory of a size that only the launch says is used in its PTX, which is given.
    fn sizes_shared_at_launch(&self, ptx: &str) -> bool;

    /// Whether the PTX is of a version in which kernels may ask for spills to shared memory.
    fn knows_smem_spilling(&self) -> bool;

    /// Whether ptxas may be given a kernel under another name, for which it compiles it in another way.
    fn has_other_name(&self, kernel: &str) -> bool {
        let _ = kernel;
        false
    }

    /// What of LLVM's optimisations is among the choices.
    fn choices(&self) -> Choices;

    /// What clang has to do alike, where a profile is replayed ahead of LLVM's optimisations.
    fn made_by(&self) -> Option<String> {
        None
    }

    /// Why no pass can change a kernel's instructions, where that is so.
    fn why_kept(&self, kernel: &str) -> Option<String>;

    /// Other compilers that have code of a slice's kernel, by their numbers from 1 on.
    fn compilers(&self) -> Vec<u8> {
        Vec::new()
    }

    /// The name of another compiler's file.
    fn name_of(&self, compiler: u8) -> Option<&str> {
        let _ = compiler;
        None
    }

    /// What messages call it.
    fn descriptions(&self) -> &'static CodeDescriptions;

    /// The profile that gives functions their variants. Where there is none, a function is left as it is: its figures may
    /// be part of those of several kernels.
    fn profile(&self, variants: &dyn Fn(&str) -> Option<Variant>) -> Profile {
        let entry =
            |(name, hash): &(String, String)| -> Entry { variants(name).unwrap_or(Variant::Stock).entry(name, hash) };
        let profile = Profile::new(self.cpu(), self.functions().iter().map(entry).collect());
        if self.choices() == Choices::All { profile.of_unoptimised() } else { profile }
    }
}

/// What messages call code and what comes of it.
pub(super) struct CodeDescriptions {
    /// Whose doing it is where no pass did anything.
    pub(super) stock: &'static str,
    /// The code that ptxas refuses where it refuses that.
    pub(super) refused: &'static str,
    /// What a kernel is.
    pub(super) kernels: &'static str,
    /// The option that replays a profile.
    pub(super) replayed_by: &'static str,
}
