//! The module under search: compiled with one variant for each kernel, in process.

use std::path::Path;

use inkwell::context::Context;
use nvptx_ra::error::Error;
use nvptx_ra::ffi::profile;
use nvptx_ra::profile::{Entry, Profile};

use super::variant::Variant;
use crate::codegen::{self, Settings};

/// A module and how it is compiled. Several threads may compile at once.
pub(super) struct Compiler<'a> {
    pub(super) content: &'a [u8],
    pub(super) path: &'a Path,
    pub(super) settings: &'a Settings,
    pub(super) cpu: &'a str,
    /// The functions that the module defines, with the hashes of their code.
    pub(super) functions: Vec<(String, String)>,
}

impl<'a> Compiler<'a> {
    /// Reads the module once, to see what is in it.
    pub(super) fn new(content: &'a [u8], path: &'a Path, settings: &'a Settings, cpu: &'a str) -> Result<Self, Error> {
        let context = Context::create();
        let module = codegen::parse(&context, content, path)?;
        Ok(Self { content, path, settings, cpu, functions: profile::functions(&module) })
    }

    /// The profile that gives kernels their variants. Every other function is left as LLVM makes it: its figures are
    /// part of those of all kernels that call it.
    pub(super) fn profile<'v>(&self, variants: impl Fn(&str) -> Option<&'v Variant>) -> Profile {
        let entry =
            |(name, hash): &(String, String)| -> Entry { variants(name).unwrap_or(&Variant::Stock).entry(name, hash) };
        Profile::new(self.cpu, self.functions.iter().map(entry).collect())
    }

    /// The PTX with the choices of a profile, the same as a later build replays them.
    pub(super) fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error> {
        let context = Context::create();
        let module = codegen::parse(&context, self.content, self.path)?;
        let changed = profile::replay(&module, profile);
        debug_assert!(changed.is_empty(), "the profile was made for this very module");
        self.settings.emit(&module, self.cpu)
    }
}
