//! `nvptx-ra mir`: runs a pipeline of LLVM's new pass manager on a `.mir` file.

use std::ffi::OsString;
use std::process::ExitCode;

use nvptx_ra::error::Error;
use nvptx_ra::ffi::mir_main;

/// Run passes of the new pass manager on machine code (.mir) and print the result
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// As for LLVM's own tools: -passes=PIPELINE IN.mir [-o FILE] [-mcpu=CPU] [-print-pipeline-passes] [-nvptx-ra-…];
    /// -help lists all
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "LLVM_OPTIONS")]
    llvm: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let status = mir_main("nvptx-ra mir", &arguments.llvm);
    Ok(u8::try_from(status).map_or(ExitCode::FAILURE, ExitCode::from))
}
