//! Compiles LLVM IR to PTX in process, for compiling and tuning.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::ffi::{codegen, views};
use nvptx_ra::function::Function;
use nvptx_ra::target::Classification;

use crate::input;
use crate::ptxas;
use crate::triton;

/// Default optimisation level of every command that compiles LLVM IR: the usual level of performance-critical code.
pub(crate) const DEFAULT_LEVEL: u8 = 3;

// Code generation settings except the processor. This is no documentation comment, because clap would print it in the
// help of every command with these settings.
#[derive(clap::Args, Clone)]
pub(crate) struct Settings {
    /// Features of the processor and the PTX version, e.g. +ptx88. Unless given, the version of Triton's own PTX if
    /// there is one, or the oldest version that supports the processor
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    mattr: String,
    /// Where floating-point operations may be fused. Unless given: fast if LLVM's optimisations run first, as in clang
    /// for CUDA, or if Triton's metadata allow fusion; on otherwise
    #[arg(long, value_enum)]
    fp_contract: Option<FpContract>,
    /// The optimisation level of the code generator; the default is clang's -O3, while llc's is -O2
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = DEFAULT_LEVEL,
        value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
}

// Arguments of a child process for a module from its parent. This is no documentation comment, for the same reason.
#[derive(clap::Args)]
pub(crate) struct ModuleArguments {
    /// The module's name
    pub(crate) name: PathBuf,
    /// The processor
    #[arg(long)]
    pub(crate) cpu: String,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Whether LLVM's optimisations run on a module before code generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Optimise {
    /// If nothing has optimised the module
    Auto,
    /// Always
    Yes,
    /// Never
    No,
}

/// Where floating-point operations may be fused.
#[derive(Clone, Copy, ValueEnum)]
enum FpContract {
    /// Wherever possible
    Fast,
    /// Where the program allows it
    On,
    /// Nowhere
    Off,
}

impl Settings {
    /// Returns settings with only the processor's features and the level.
    pub(crate) fn new(mattr: &str, level: u8) -> Self {
        Self { mattr: mattr.to_owned(), fp_contract: None, level }
    }

    /// Returns the same settings at another level.
    pub(crate) fn at_level(&self, level: u8) -> Self {
        Self { level, ..self.clone() }
    }

    /// Returns the same settings for code of clang's front end, unless the user has set them.
    pub(crate) fn of_front_end(&self) -> Self {
        Self { fp_contract: self.fp_contract.or(Some(FpContract::Fast)), ..self.clone() }
    }

    /// Returns the same settings for a Triton kernel, if it is one, unless the user has set them. `cpu` is the user's
    /// processor: the PTX version of Triton's code may not support it.
    pub(crate) fn of_triton(&self, kernel: Option<&triton::Kernel>, cpu: Option<&str>) -> Self {
        let mut settings = self.clone();
        let Some(kernel) = kernel else { return settings };
        let is_tritons = cpu.is_none_or(|cpu| Some(cpu) == kernel.cpu().as_deref());
        if settings.mattr.is_empty() && is_tritons {
            settings.mattr.extend(kernel.features());
        }
        let contract = |fuses| if fuses { FpContract::Fast } else { FpContract::On };
        settings.fp_contract = settings.fp_contract.or(kernel.fuses.map(contract));
        settings
    }

    fn fp_contract(&self) -> FpContract {
        self.fp_contract.unwrap_or(FpContract::On)
    }

    /// Returns a command's arguments for the same settings.
    pub(crate) fn arguments(&self) -> [String; 3] {
        let contract = match self.fp_contract() {
            FpContract::Fast => "fast",
            FpContract::On => "on",
            FpContract::Off => "off",
        };
        [format!("--mattr={}", self.mattr), format!("--fp-contract={contract}"), format!("-O{}", self.level)]
    }

    /// Returns the features of the processor and the PTX version, in LLVM's form.
    pub(crate) fn features(&self) -> &str {
        &self.mattr
    }

    /// Returns whether LLVM's optimisations run on a module before code generation. Messages call the module `name`.
    pub(crate) fn optimises(&self, module: &Module<'_>, wanted: Optimise, name: &str) -> bool {
        let is_unoptimised = match wanted {
            Optimise::Auto => self.level > 0 && codegen::is_unoptimised(module),
            Optimise::Yes => true,
            Optimise::No => false,
        };
        if is_unoptimised {
            say!("nvptx-ra: {name} is not optimised: LLVM's optimisations run first, as in clang -O{}", self.level);
        }
        is_unoptimised
    }

    /// Warns if an unoptimised module is compiled without LLVM's optimisations, because a real build has other code.
    pub(crate) fn warn_of_unoptimised(&self, module: &Module<'_>, name: &str) {
        if self.level > 0 && codegen::is_unoptimised(module) {
            say!(
                "nvptx-ra: {name} is compiled without optimisations; clang's -O3 without -disable-llvm-passes optimises it"
            );
        }
    }

    /// Describes the clang settings that produce the same code from the source.
    pub(crate) fn like_clang(&self) -> String {
        let features = if self.mattr.is_empty() { "the default" } else { &self.mattr };
        let (level, version) = (self.level, codegen::llvm_version());
        format!(
            "made for clang {version} at -O{level}, with its defaults for vectorising and unrolling; features of the target: \
             {features}"
        )
    }

    /// Runs LLVM's optimisations on a module, as clang does at this level.
    pub(crate) fn optimise(&self, module: &Module<'_>, cpu: &str) -> Result<(), Error> {
        codegen::optimise(module, &self.machine(cpu, module)?, self.level);
        Ok(())
    }

    /// Brings a module's functions into the state that a clang plugin sees before the optimisations.
    pub(crate) fn start_optimising(&self, module: &Module<'_>, cpu: &str) -> Result<(), Error> {
        codegen::start_optimising(module, &self.machine(cpu, module)?, self.level);
        Ok(())
    }

    /// Compiles a module to PTX. If the code is optimised, the PTX does not request debugging.
    pub(crate) fn emit(&self, module: &Module<'_>, cpu: &str) -> Result<Vec<u8>, Error> {
        let ptx = self
            .machine(cpu, module)?
            .write_to_memory_buffer(module, FileType::Assembly)
            .map_err(|message| Error::pass(format!("LLVM emits no code: {message}"), "see LLVM's message"))?;
        let mut ptx = ptx.as_slice().to_vec();
        if self.level > 0 {
            ptxas::drop_debug_target(&mut ptx);
        }
        Ok(ptx)
    }

    /// Compiles a module to PTX for the search: LLVM's diagnostics are discarded, and LLVM's fatal errors are returned
    /// instead of ending the process.
    pub(crate) fn emit_quietly(&self, context: &Context, module: &Module<'_>, cpu: &str) -> Result<Vec<u8>, Error> {
        let refused = |message| Error::pass(format!("LLVM emits no code: {message}"), "see LLVM's message");
        codegen::quietly(context, || self.emit(module, cpu)).map_err(refused)?
    }

    /// Returns the functions of a module as the coalescer gets them. LLVM's options must stop code generation after the
    /// coalescer. The module is consumed. Messages call the module `name`.
    pub(crate) fn views(
        &self,
        module: &Module<'_>,
        cpu: &str,
        name: &str,
    ) -> Result<Vec<(Function, Arc<Classification>)>, Error> {
        let machine = self.machine(cpu, module)?;
        let failed = |message| Error::new(ErrorKind::View, message, does_not_compile(name, cpu));
        views::collect(|| codegen::generate(module, &machine).map_err(failed))
    }

    fn machine(&self, cpu: &str, module: &Module<'_>) -> Result<TargetMachine, Error> {
        Target::initialize_nvptx(&InitializationConfig::default());
        let triple = module.get_triple();
        let target = Target::from_triple(&triple)
            .map_err(|message| Error::pass(message.to_string(), "use an LLVM with the NVPTX target"))?;
        let level = match self.level {
            0 => OptimizationLevel::None,
            1 => OptimizationLevel::Less,
            2 => OptimizationLevel::Default,
            _ => OptimizationLevel::Aggressive,
        };
        let machine = target
            .create_target_machine(&triple, cpu, &self.mattr, level, RelocMode::Default, CodeModel::Default)
            .ok_or_else(|| Error::pass("LLVM makes no target machine", "check --cpu and --mattr"))?;
        if module.get_data_layout().as_str().is_empty() {
            module.set_data_layout(&machine.get_target_data().get_data_layout());
        }
        // The PTX gets comments, as from llc by default.
        machine.set_asm_verbosity(true);
        codegen::set_fp_contract(
            &machine,
            match self.fp_contract() {
                FpContract::Fast => codegen::FpContract::Fast,
                FpContract::On => codegen::FpContract::On,
                FpContract::Off => codegen::FpContract::Off,
            },
        );
        Ok(machine)
    }
}

/// If a fatal error occurs in LLVM, ends the process with an error message. An example is code without a matching
/// instruction of the processor. Messages call the input `name`.
pub(crate) fn end_after_fatal_errors(name: &str, cpu: &str) {
    codegen::end_after_fatal_errors(&does_not_compile(name, cpu), ptxas::Folder::remove_all);
}

fn does_not_compile(name: &str, cpu: &str) -> String {
    let processor = if cpu.is_empty() { "LLVM's default processor" } else { cpu };
    format!("{name} does not compile for {processor}; check --cpu, e.g. sm_90a, and --mattr, e.g. +ptx88")
}

/// Parses and verifies a module for a supported triple. A module without a triple is compiled for nvptx64-nvidia-cuda,
/// as llc would with that triple.
pub(crate) fn parse<'c>(context: &'c Context, content: &[u8], path: &Path) -> Result<Module<'c>, Error> {
    // The module gets the same name as in llc, because the name may reach the output.
    let name = if input::is_stream(path) { "<stdin>".into() } else { path.to_string_lossy() };
    let invalid =
        |message: String| Error::new(ErrorKind::View, message, "use LLVM IR of this LLVM version or an older one");
    let module = codegen::parse_ir(context, content, &name).map_err(invalid)?;
    let triple = module.get_triple();
    match triple.as_str().to_string_lossy().as_ref() {
        // Triton's own IR has no triple.
        "" => module.set_triple(&TargetTriple::create("nvptx64-nvidia-cuda")),
        nvptx if nvptx.starts_with("nvptx") => {}
        other => {
            let problem = format!("{name}: the target triple is {other}");
            return Err(Error::new(ErrorKind::View, problem, "use IR for nvptx64-nvidia-cuda"));
        }
    }
    module.verify().map_err(|message| {
        let problem = format!("{name}: not valid: {}", message.to_string().trim());
        Error::new(ErrorKind::View, problem, "report the invalid IR to the tool that made it")
    })?;
    Ok(module)
}
