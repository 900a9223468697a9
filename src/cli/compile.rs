//! `nvptx-ra compile`: LLVM IR to PTX in process, the same text that llc prints with the plugin loaded.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use nvptx_ra::config::{self, Origin};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::ffi::codegen;

/// Compile LLVM IR to PTX with the passes active, as llc does with the plugin loaded
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR, as text or bitcode; - is standard input
    input: PathBuf,
    /// Where the PTX goes; - is standard output. Unless given, the input's name with .ptx
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// The processor, e.g. sm_90. Unless given, LLVM's default
    #[arg(long, default_value = "", hide_default_value = true)]
    cpu: String,
    /// Features of the processor and the PTX version, e.g. +ptx88
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    mattr: String,
    /// Where floating-point operations may be fused
    #[arg(long, value_enum, default_value_t = FpContract::On)]
    fp_contract: FpContract,
    /// The optimisation level of the code generator; llc's default
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
    /// An option of the passes; see `nvptx-ra explain --all`
    #[arg(long = "set", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    /// LLVM's own options, behind --, as llc takes them
    #[arg(last = true, value_name = "LLVM_OPTIONS")]
    llvm: Vec<String>,
}

/// Where floating-point operations may be fused.
#[derive(Clone, Copy, ValueEnum)]
enum FpContract {
    /// Wherever that is possible
    Fast,
    /// Where the program allows it
    On,
    /// Nowhere
    Off,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let options = llvm_options(&arguments.options)?;
    let content = read(&arguments.input)?;
    codegen::parse_llvm_options(&[options.as_slice(), arguments.llvm.as_slice()].concat())
        .map_err(|message| Error::new(ErrorKind::Option, message, "`-- -help` lists LLVM's options"))?;
    let context = Context::create();
    let module = parse(&context, &content, &arguments.input)?;
    let machine = machine(arguments, &module)?;
    let ptx = machine
        .write_to_memory_buffer(&module, FileType::Assembly)
        .map_err(|message| Error::pass(format!("LLVM emits no code: {message}"), "see LLVM's message"))?;
    write(arguments, ptx.as_slice())
}

/// The `--set` options as LLVM registers them, each checked first, for a better message than LLVM's.
fn llvm_options(options: &[String]) -> Result<Vec<String>, Error> {
    let mut arguments = Vec::new();
    for option in options {
        let assignments = config::assignments(option, Origin::CommandLine)?;
        arguments.extend(assignments.iter().map(|(spec, value)| format!("-nvptx-ra-{}={value}", spec.name)));
    }
    Ok(arguments)
}

fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    if is_stream(path) {
        let mut content = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut content);
        return read.map(|_| content).map_err(|error| Error::file("standard input".as_ref(), &error));
    }
    fs::read(path).map_err(|error| Error::file(path, &error))
}

/// A module that is right, for a triple that we compile for; without one it is taken for nvptx64-nvidia-cuda, as llc
/// would with that triple.
fn parse<'c>(context: &'c Context, content: &[u8], path: &Path) -> Result<Module<'c>, Error> {
    // As llc names it, because the name may reach the output.
    let name = if is_stream(path) { "<stdin>".into() } else { path.to_string_lossy() };
    let invalid = |message: String| {
        Error::new(ErrorKind::View, message, "the input must be LLVM IR of this LLVM or an older one")
    };
    let module = codegen::parse_ir(context, content, &name).map_err(invalid)?;
    let triple = module.get_triple();
    match triple.as_str().to_string_lossy().as_ref() {
        // Triton's own IR says nothing.
        "" => module.set_triple(&TargetTriple::create("nvptx64-nvidia-cuda")),
        nvptx if nvptx.starts_with("nvptx") => {}
        other => {
            let problem = format!("{name}: the target triple is {other}");
            return Err(Error::new(ErrorKind::View, problem, "use IR for nvptx64-nvidia-cuda"));
        }
    }
    module.verify().map_err(|message| {
        let problem = format!("{name}: not valid: {}", message.to_string().trim());
        Error::new(ErrorKind::View, problem, "the IR breaks LLVM's rules; ask the tool that made it")
    })?;
    Ok(module)
}

fn machine(arguments: &Arguments, module: &Module<'_>) -> Result<TargetMachine, Error> {
    Target::initialize_nvptx(&InitializationConfig::default());
    let triple = module.get_triple();
    let target = Target::from_triple(&triple)
        .map_err(|message| Error::pass(message.to_string(), "use an LLVM with the NVPTX target"))?;
    let level = match arguments.level {
        0 => OptimizationLevel::None,
        1 => OptimizationLevel::Less,
        2 => OptimizationLevel::Default,
        _ => OptimizationLevel::Aggressive,
    };
    let machine = target
        .create_target_machine(&triple, &arguments.cpu, &arguments.mattr, level, RelocMode::Default, CodeModel::Default)
        .ok_or_else(|| Error::pass("LLVM makes no target machine", "check --cpu and --mattr"))?;
    if module.get_data_layout().as_str().is_empty() {
        module.set_data_layout(&machine.get_target_data().get_data_layout());
    }
    // llc comments its output unless told not to.
    machine.set_asm_verbosity(true);
    codegen::set_fp_contract(
        &machine,
        match arguments.fp_contract {
            FpContract::Fast => codegen::FpContract::Fast,
            FpContract::On => codegen::FpContract::On,
            FpContract::Off => codegen::FpContract::Off,
        },
    );
    Ok(machine)
}

fn write(arguments: &Arguments, ptx: &[u8]) -> Result<ExitCode, Error> {
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None if is_stream(&arguments.input) => PathBuf::from("-"),
        None => arguments.input.with_extension("ptx"),
    };
    if is_stream(&output) {
        return super::print(ptx);
    }
    fs::write(&output, ptx).map_err(|error| Error::file(&output, &error))?;
    Ok(ExitCode::SUCCESS)
}
