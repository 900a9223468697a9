//! The module under search, whole or a kernel of it alone, compiled with variants in process.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use inkwell::context::Context;
use nvptx_ra::error::Error;
use nvptx_ra::ffi::codegen::{slice, write_bitcode};
use nvptx_ra::ffi::profile;
use nvptx_ra::profile::Profile;
use nvptx_ra::target::PtxVersion;

use crate::codegen::{self, Settings};

/// A module and how it is compiled. Several threads may compile at once.
pub(super) struct Compiler<'a> {
    content: Cow<'a, [u8]>,
    path: &'a Path,
    settings: &'a Settings,
    cpu: &'a str,
    /// The functions that the module defines, with the hashes of their code.
    pub(super) functions: Vec<(String, String)>,
}

impl<'a> Compiler<'a> {
    /// Reads the module once, to see what is in it.
    pub(super) fn new(content: &'a [u8], path: &'a Path, settings: &'a Settings, cpu: &'a str) -> Result<Self, Error> {
        let context = Context::create();
        let module = codegen::parse(&context, content, path)?;
        Ok(Self { content: content.into(), path, settings, cpu, functions: profile::functions(&module) })
    }

    /// Kernels of the module, each with what it calls and names, as modules of their own: one that takes long, or that
    /// ptxas refuses, is no matter to the others.
    pub(super) fn slices<'k>(&self, kernels: impl Iterator<Item = &'k str>) -> Result<Vec<Self>, Error> {
        let context = Context::create();
        let module = codegen::parse(&context, &self.content, self.path)?;
        let of_kernel = |kernel: &str| {
            let missing = || Error::internal("it is no function of the module", None).in_function(kernel);
            let module = slice(&module, kernel).ok_or_else(missing)?;
            let content = write_bitcode(&module);
            Ok(Self { content: content.into(), functions: profile::functions(&module), ..*self })
        };
        kernels.map(of_kernel).collect()
    }

    /// The processor.
    pub(super) fn cpu(&self) -> &str {
        self.cpu
    }

    /// What the module is.
    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    /// How a server is told to compile it.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let settings = self.settings.arguments().map(OsString::from);
        let cpu = OsString::from(format!("--cpu={}", self.cpu));
        settings.into_iter().chain([cpu, "--".into(), self.path.into()]).collect()
    }

    /// Whether the PTX is of a version in which kernels may ask for spills to shared memory.
    pub(super) fn knows_smem_spilling(&self) -> bool {
        PtxVersion::of_features(self.settings.features()) >= Some(PtxVersion::SMEM_SPILLING)
    }

    /// The PTX with the choices of a profile, the same as a later build replays them.
    pub(super) fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error> {
        let context = Context::create();
        let module = codegen::parse(&context, &self.content, self.path)?;
        let unfit = profile::replay(&module, profile, self.settings.features());
        debug_assert!(unfit.is_empty(), "the profile was made for this very module");
        self.settings.emit_quietly(&context, &module, self.cpu)
    }
}
