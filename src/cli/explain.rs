//! `nvptx-ra explain`: explains an option.

use std::process::ExitCode;

use nvptx_ra::config;
use nvptx_ra::error::Error;

/// Explain an option: effect, type, range, default, and where it may be given
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The option, as a parameter (verify) or as on the command line (-nvptx-ra-verify)
    #[arg(required_unless_present = "all", conflicts_with = "all", allow_hyphen_values = true)]
    option: Option<String>,
    /// All options
    #[arg(long)]
    all: bool,
    /// With --all: also options for developers
    #[arg(long, requires = "all")]
    hidden: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let text = match &arguments.option {
        Some(option) => config::explain(option)?,
        None => config::explain_all(arguments.hidden),
    };
    super::print_text(&text)
}
