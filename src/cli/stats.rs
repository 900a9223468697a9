//! `nvptx-ra stats`: adds up the statistics that compilers appended to a file.

use std::path::PathBuf;
use std::process::ExitCode;

use nvptx_ra::error::Error;
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::stats::Totals;

use crate::input::{self, Input};

/// Add up the statistics that -nvptx-ra-stats=FILE wrote
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file, one line of JSON per event; - is standard input
    file: PathBuf,
    /// Print the totals as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    // If a line is no event, the error contains the line's number.
    let taken = [InputKind::Json, InputKind::Text];
    let input = Input::open(&arguments.file, "stats", &taken)?;
    let totals = Totals::read(input::name(&arguments.file).as_ref(), input.reader)?;
    let text = if arguments.json {
        let json = serde_json::to_string_pretty(&totals).map_err(|error| Error::internal(error, None))?;
        json + "\n"
    } else {
        totals.to_string()
    };
    super::print_text(&text)
}
