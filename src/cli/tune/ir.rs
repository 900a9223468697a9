//! LLVM IR under search, compiled in process, or by servers where that takes long.

use std::collections::BTreeMap;
use std::time::Duration;

use nvptx_ra::error::Error;
use nvptx_ra::profile::Profile;
use nvptx_ra::tune::variant::Variant;

use super::branches::{Branches, Servers};
use super::code::{Code, Words};
use super::compiler::Compiler;
use super::ptx;

const WORDS: Words = Words {
    stock: "by LLVM",
    refused: "on the code that LLVM makes without the passes",
    kernels: "kernels have the calling convention ptx_kernel",
    replayed_by: "-nvptx-ra-profile=FILE",
};

/// A module of LLVM IR.
pub(super) struct Ir<'a> {
    compiler: Compiler<'a>,
    servers: &'a Servers,
    branches: Branches,
}

impl<'a> Ir<'a> {
    pub(super) fn new(compiler: Compiler<'a>, servers: &'a Servers) -> Self {
        Self { compiler, servers, branches: Branches::default() }
    }
}

impl Code for Ir<'_> {
    fn cpu(&self) -> &str {
        self.compiler.cpu()
    }

    fn functions(&self) -> &[(String, String)] {
        &self.compiler.functions
    }

    fn kernels(&self) -> Result<BTreeMap<String, Option<u32>>, Error> {
        let whole = self.compile(&self.profile(&|_| None))?;
        Ok(ptx::kernels(&String::from_utf8_lossy(&whole)))
    }

    fn slices(&self, kernels: &[&str]) -> Result<Vec<Box<dyn Code + '_>>, Error> {
        let slices = self.compiler.slices(kernels.iter().copied())?.into_iter();
        Ok(slices.map(|compiler| Box::new(Ir::new(compiler, self.servers)) as Box<dyn Code>).collect())
    }

    fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error> {
        self.compiler.compile(profile)
    }

    fn compile_variant(
        &self,
        variant: &Variant,
        profile_of: &dyn Fn(&Variant) -> Profile,
        took: Duration,
    ) -> Result<Vec<u8>, Error> {
        let profile = profile_of(variant);
        // Spills to shared memory are asked for in the IR.
        if took >= self.servers.least && !variant.spills_to_shared() {
            let of_ir = variant.optimisations().of_ir();
            let shared = || profile_of(&Variant::DEFAULT.optimised(of_ir));
            if let Some(ptx) = self.branches.compile(self.servers, &self.compiler, of_ir, shared, &profile) {
                return Ok(ptx);
            }
        }
        self.compile(&profile)
    }

    fn sizes_shared_at_launch(&self, ptx: &str) -> bool {
        ptx::sizes_shared_at_launch(ptx)
    }

    fn knows_smem_spilling(&self) -> bool {
        self.compiler.knows_smem_spilling()
    }

    fn has_optimisations(&self) -> bool {
        true
    }

    fn why_kept(&self, _kernel: &str) -> Option<String> {
        None
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }
}
