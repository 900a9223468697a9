//! PTX under search, changed by the passes.

use std::collections::{BTreeMap, BTreeSet};

use nvptx_ra::config::LOOP_SHAPE;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::passes::{PtxRun, functions_of_ptx, pipeline, replay_on_ptx, run_on_ptx};
use nvptx_ra::profile::Profile;
use nvptx_ra::ptx::{Body, Module};
use nvptx_ra::target::PtxVersion;
use nvptx_ra::tune::optimisations::Choices;

use super::code::{Code, CodeDescriptions};

/// The command that replays a profile.
pub(super) const REPLAYED_BY: &str = "nvptx-ra ptx --profile FILE";

const DESCRIPTIONS: CodeDescriptions = CodeDescriptions {
    stock: "as given",
    refused: "on the given kernel",
    kernels: "kernels are .entry",
    replayed_by: REPLAYED_BY,
};

/// The checker is on, because a comparison covers only the code that a few launches reach.
pub(super) const OPTIONS: &str = "verify";

/// A PTX module, or one kernel of it.
pub(super) struct Text {
    /// Its name in messages.
    name: String,
    content: Vec<u8>,
    cpu: String,
    functions: Vec<(String, String)>,
    version: Option<PtxVersion>,
    /// Whether it is linked later. Each of its functions is then searched by itself, like a kernel.
    is_relocatable: bool,
    /// Whether kernels may have other names, because their own names are restored in the machine code before a launch.
    may_have_other_names: bool,
    /// Whether it uses shared memory whose size is known only at launch.
    pub(super) sizes_shared_at_launch: bool,
}

impl Text {
    /// Reads a file for a processor.
    pub(super) fn new(content: Vec<u8>, name: &str, cpu: &str) -> Result<Self, Error> {
        let module = Module::read(name, &content)?;
        if module.is_for_debuggers() {
            let problem =
                format!("{name}: compiled for a debugger (.target …, debug), so ptxas does not optimise the file");
            return Err(Error::new(ErrorKind::View, problem, "compile without -G; -lineinfo keeps the source lines"));
        }
        Ok(Self {
            name: name.to_owned(),
            cpu: cpu.to_owned(),
            functions: functions_of_ptx(&module),
            version: module.version(),
            is_relocatable: false,
            may_have_other_names: false,
            sizes_shared_at_launch: module.sizes_shared_at_launch(),
            content,
        })
    }

    /// Sets whether it is linked later.
    pub(super) fn for_linker(self, is_relocatable: bool) -> Self {
        Self { is_relocatable, ..self }
    }

    /// Sets whether kernels may have other names.
    pub(super) fn with_other_names(self, may_have_other_names: bool) -> Self {
        Self { may_have_other_names, ..self }
    }

    /// Returns the names of functions with loops that ptxas would unroll if they were turned. Runs one pass on the
    /// file.
    pub(super) fn with_loops_to_turn(&self) -> Result<BTreeSet<String>, Error> {
        let steps = pipeline(&format!("{LOOP_SHAPE}<loop-shape=all>"))?;
        let output = run_on_ptx(&self.name, &self.content, &PtxRun { steps, options: "", target: &self.cpu })?;
        let turned = functions_of_ptx(&Module::read(&self.name, &output.text)?);
        let is_turned = |((name, hash), (_, turned)): (&(String, String), &(String, String))| {
            (hash != turned).then(|| name.clone())
        };
        Ok(self.functions.iter().zip(&turned).filter_map(is_turned).collect())
    }

    /// Returns each of the kernels as separate PTX.
    pub(super) fn texts_of(&self, kernels: &[&str]) -> Result<Vec<Vec<u8>>, Error> {
        let missing = |kernel| Error::internal("the file has no function with this name", None).in_function(kernel);
        let slices = self.module()?.slices(kernels);
        kernels.iter().zip(slices).map(|(kernel, slice)| slice.ok_or_else(|| missing(kernel))).collect()
    }

    fn module(&self) -> Result<Module<'_>, Error> {
        Module::read(&self.name, &self.content)
    }
}

impl Code for Text {
    fn cpu(&self) -> &str {
        &self.cpu
    }

    fn functions(&self) -> &[(String, String)] {
        &self.functions
    }

    fn kernels(&self) -> Result<BTreeMap<String, Option<u32>>, Error> {
        let module = self.module()?;
        let kernel = |body: &Body| {
            let bounds = body.launch_bounds(module.file());
            let threads = bounds.and_then(|bounds| bounds.required_threads.or(bounds.max_threads));
            let is_part = bounds.is_some() || self.is_relocatable;
            is_part.then(|| (body.name(module.file()).to_owned(), threads))
        };
        Ok(module.bodies().iter().filter_map(kernel).collect())
    }

    fn slices(&self, kernels: &[&str]) -> Result<Vec<Box<dyn Code + '_>>, Error> {
        let of_kernel = |slice: Vec<u8>| {
            let slice = Self::new(slice, &self.name, &self.cpu)?;
            let slice = slice.for_linker(self.is_relocatable).with_other_names(self.may_have_other_names);
            Ok(Box::new(slice) as Box<dyn Code>)
        };
        self.texts_of(kernels)?.into_iter().map(of_kernel).collect()
    }

    fn compile(&self, profile: &Profile) -> Result<Vec<u8>, Error> {
        let (output, unfit) = replay_on_ptx(&self.name, &self.content, profile, OPTIONS, &self.cpu)?;
        if let Some(kernel) = unfit.limited.first() {
            let problem = "setmaxnreg may wait for ever with this register limit";
            return Err(Error::pass(problem, "choose no maxnreg").in_function(kernel));
        }
        debug_assert!(unfit.is_empty(), "the profile was made for this very text");
        Ok(output.text)
    }

    fn sizes_shared_at_launch(&self, _ptx: &str) -> bool {
        self.sizes_shared_at_launch
    }

    fn knows_smem_spilling(&self) -> bool {
        self.version >= Some(PtxVersion::SMEM_SPILLING)
    }

    fn has_other_name(&self, kernel: &str) -> bool {
        let has = |module: Module<'_>| {
            let body = module.bodies().iter().find(|body| body.name(module.file()) == kernel);
            body.is_some_and(|body| module.other_name(body).is_some())
        };
        self.may_have_other_names && self.module().is_ok_and(has)
    }

    fn choices(&self) -> Choices {
        Choices::Nothing
    }

    fn why_kept(&self, kernel: &str) -> Option<String> {
        let module = self.module().ok()?;
        let body = module.bodies().iter().find(|body| body.name(module.file()) == kernel)?;
        module.why_kept(body)
    }

    fn descriptions(&self) -> &'static CodeDescriptions {
        &DESCRIPTIONS
    }
}
