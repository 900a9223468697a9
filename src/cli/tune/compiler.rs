//! The module under search, or one kernel of it, whose variants are compiled in process.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use inkwell::context::Context;
use inkwell::module::Module;
use nvptx_ra::error::Error;
use nvptx_ra::ffi::codegen::{quietly, slice, write_bitcode};
use nvptx_ra::ffi::profile;
use nvptx_ra::profile::Profile;
use nvptx_ra::target::PtxVersion;

use super::optimise;
use crate::codegen::{self, Optimise, Settings};
use crate::input;

/// The state of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Optimised code, which goes to code generation as it is. The functions' hashes are hashes of this code.
    Optimised,
    /// Code from a front end. LLVM's optimisations run first. The functions' hashes are hashes of the code before these
    /// optimisations.
    Unoptimised,
    /// Code that LLVM's optimisations in this project have produced. The functions' hashes are hashes of the code
    /// before these optimisations.
    Finished,
}

/// A module, and how it is compiled. Several threads may compile at the same time.
#[derive(Clone)]
pub(super) struct Compiler<'a> {
    content: Cow<'a, [u8]>,
    path: &'a Path,
    settings: Settings,
    cpu: &'a str,
    pub(super) stage: Stage,
    /// The functions that the module defines, with the hashes of their code.
    pub(super) functions: Vec<(String, String)>,
}

impl<'a> Compiler<'a> {
    /// Reads the module once, to find its functions.
    pub(super) fn new(
        content: &'a [u8],
        path: &'a Path,
        settings: &'a Settings,
        cpu: &'a str,
        optimise: Optimise,
    ) -> Result<Self, Error> {
        let context = Context::create();
        let module = codegen::parse(&context, content, path)?;
        let (settings, stage) = if settings.optimises(&module, optimise, &input::name(path)) {
            (settings.of_front_end(), Stage::Unoptimised)
        } else {
            (settings.clone(), Stage::Optimised)
        };
        if stage == Stage::Unoptimised {
            settings.start_optimising(&module, cpu)?;
        }
        Ok(Self { content: content.into(), path, settings, cpu, stage, functions: profile::functions(&module) })
    }

    /// Returns kernels as separate modules, each with everything that it uses. A kernel that takes long, or that ptxas
    /// refuses, does not affect the other kernels.
    pub(super) fn slices<'k>(&self, kernels: impl Iterator<Item = &'k str>) -> Result<Vec<Self>, Error> {
        let context = Context::create();
        let module = codegen::parse(&context, &self.content, self.path)?;
        let of_kernel = |kernel: &str| {
            let missing = || Error::internal("the module has no function with this name", None).in_function(kernel);
            let module = slice(&module, kernel).ok_or_else(missing)?;
            let content = write_bitcode(&module);
            Ok(Self { content: content.into(), functions: self.functions_in(&module), ..self.clone() })
        };
        kernels.map(of_kernel).collect()
    }

    /// Returns the functions of a part of the module. Optimised code is hashed as it is in the part. For other code,
    /// the hashes of the whole module are returned.
    fn functions_in(&self, part: &Module<'_>) -> Vec<(String, String)> {
        let mut functions = profile::functions(part);
        if self.stage != Stage::Optimised {
            let whole: BTreeMap<&String, &String> = self.functions.iter().map(|(name, hash)| (name, hash)).collect();
            for (name, hash) in &mut functions {
                if let Some(&of_whole) = whole.get(name) {
                    hash.clone_from(of_whole);
                }
            }
        }
        functions
    }

    /// Runs LLVM's optimisations on the module, with a profile's choices before them. Returns the result and the CPU
    /// time. Fails if the CPU time exceeds the limit, or if the user interrupts.
    pub(super) fn optimised(&self, profile: &Profile, limit: Duration) -> Result<(Self, Duration), Error> {
        let (content, computed) = optimise::optimised(&self.content, &self.arguments(), profile, limit)?;
        Ok((Self { content: content.into(), stage: Stage::Finished, ..self.clone() }, computed))
    }

    fn optimise(&self, context: &Context, module: &Module<'_>) -> Result<(), Error> {
        let refused =
            |message| Error::pass(format!("LLVM cannot optimise the module: {message}"), "see LLVM's message");
        quietly(context, || self.settings.optimise(module, self.cpu)).map_err(refused)?
    }

    /// Replaces the functions and hashes by those of the code from which this module was made.
    pub(super) fn with_functions_of(self, other: &Self) -> Self {
        Self { functions: other.functions.clone(), ..self }
    }

    /// Returns the processor.
    pub(super) fn cpu(&self) -> &str {
        self.cpu
    }

    /// Returns the module.
    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Returns the arguments with which a server compiles it.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let settings = self.settings.arguments().map(OsString::from);
        let cpu = OsString::from(format!("--cpu={}", self.cpu));
        settings.into_iter().chain([cpu, "--".into(), self.path.into()]).collect()
    }

    /// Returns the options with which clang makes the same code.
    pub(super) fn like_clang(&self) -> String {
        self.settings.like_clang()
    }

    /// Whether the PTX version lets kernels request spills to shared memory.
    pub(super) fn knows_smem_spilling(&self) -> bool {
        PtxVersion::of_features(self.settings.features()) >= Some(PtxVersion::SMEM_SPILLING)
    }

    /// Compiles the PTX with the choices of a profile. A later build that replays the profile gives the same PTX.
    pub(super) fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error> {
        let context = Context::create();
        let module = codegen::parse(&context, &self.content, self.path)?;
        if self.stage == Stage::Optimised {
            let unfit = profile::replay(&module, profile, self.settings.features());
            debug_assert!(unfit.is_empty(), "the profile was made for this very module");
        } else {
            profile::replay_attributes(&module, profile);
            if self.stage == Stage::Unoptimised {
                self.optimise(&context, &module)?;
            }
            profile::insert_directives(&module);
        }
        self.settings.emit_quietly(&context, &module, self.cpu)
    }
}
