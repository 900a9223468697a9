//! `nvptx-ra compile`: compiles LLVM IR to PTX in process, with the same output as llc with the plugin loaded.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use inkwell::context::Context;
use nvptx_ra::config::{self, Config, Layers, Origin, Warn};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::ffi::codegen as llvm;

use crate::codegen::{self, Optimise, Settings};
use crate::ptx::warn_of_spills;
use crate::{dynamic_shared, input, output, processor, triton};

/// Compile LLVM IR to PTX with the passes active, as llc does with the plugin loaded
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR, as text or bitcode; - is standard input
    input: PathBuf,
    /// The output file; - is standard output. Unless given, the input's name with .ptx, or with .compiled.ptx for
    /// Triton's code
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// The processor, e.g. sm_90. Unless given, the processor in Triton's metadata, or LLVM's default
    #[arg(long, default_value = "", hide_default_value = true)]
    cpu: String,
    #[command(flatten)]
    settings: Settings,
    /// Run LLVM's optimisations first, as clang does; llc never does
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Optimise::No)]
    optimise: Optimise,
    /// An option of the passes; see `nvptx-ra explain --all`
    #[arg(long = "set", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    /// LLVM's own options, after --, as in llc
    #[arg(last = true, value_name = "LLVM_OPTIONS")]
    llvm: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let said = launch_options(&arguments.input, &arguments.options);
    let options = llvm_options(&[said.as_slice(), arguments.options.as_slice()].concat())?;
    let content = input::read(&arguments.input, "compile", &input::IR)?;
    let triton = triton::beside(&arguments.input);
    let of_triton = triton.as_ref().and_then(triton::Kernel::cpu).filter(|_| arguments.cpu.is_empty());
    let cpu = of_triton.unwrap_or_else(|| arguments.cpu.clone());
    processor::check(&cpu)?;
    // Triton's own PTX has the same name with the extension `ptx`.
    let extension = if triton.is_some() { "compiled.ptx" } else { "ptx" };
    let output = output::beside(arguments.output.as_deref(), &arguments.input, extension);
    if !input::is_stream(&output) {
        output::check(&output)?;
    }
    llvm::parse_llvm_options(&[options.as_slice(), arguments.llvm.as_slice()].concat())
        .map_err(|message| Error::new(ErrorKind::Option, message, "`-- -help` lists LLVM's options"))?;
    let context = Context::create();
    let module = codegen::parse(&context, &content, &arguments.input)?;
    let name = input::name(&arguments.input);
    codegen::end_after_fatal_errors(&name, &cpu);
    let mut settings =
        arguments.settings.of_triton(triton.as_ref(), Some(&*arguments.cpu).filter(|cpu| !cpu.is_empty()));
    if settings.optimises(&module, arguments.optimise, &name) {
        settings = settings.of_front_end();
        settings.optimise(&module, &cpu)?;
    }
    let ptx = settings.emit(&module, &cpu)?;
    let all = arguments.options.join(";");
    let config = Config::resolve(&Layers { command_line: &all, ..Layers::default() })?;
    warn_of_spills(&config, &name, &ptx, &cpu)?;
    if input::is_stream(&output) {
        return super::print(&ptx);
    }
    output::write(&output, &ptx)?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the dynamic shared memory from Triton's metadata, unless an option sets it.
fn launch_options(input: &Path, options: &[String]) -> Vec<String> {
    let is_said = options.iter().any(|option| option.starts_with("dynamic-shared"));
    let beside = dynamic_shared::all_said(input, &[]);
    beside.iter().filter(|_| !is_said).map(|said| dynamic_shared::as_option(said.value.0)).collect()
}

/// Returns the `--set` options in LLVM's form. The options are checked first, because LLVM's messages are less clear.
/// The warning about spills is removed, because spills are forecast from the PTX, after all passes.
fn llvm_options(options: &[String]) -> Result<Vec<String>, Error> {
    let mut arguments = Vec::new();
    for option in options {
        let assignments = config::assignments(option, Origin::CommandLine)?;
        let of_llvm = assignments.iter().map(|(spec, value)| match spec.name {
            "warn" => format!(
                "-nvptx-ra-warn={}",
                (Config::resolve_valid(&Layers { command_line: option, ..Layers::default() }).warn - Warn::SPILLS)
                    .words()
            ),
            name => format!("-nvptx-ra-{name}={value}"),
        });
        arguments.extend(of_llvm);
    }
    Ok(arguments)
}
