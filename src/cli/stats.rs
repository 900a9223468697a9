//! `nvptx-ra stats`: adds up the statistics that compilers appended to a file.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use nvptx_ra::error::Error;
use nvptx_ra::stats::Totals;

/// Add up the statistics that -nvptx-ra-stats=FILE wrote
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file, one line of JSON per event
    file: PathBuf,
    /// Print the totals as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let file = File::open(&arguments.file).map_err(|error| Error::file(&arguments.file, &error))?;
    let totals = Totals::read(&arguments.file, BufReader::new(file))?;
    let text = if arguments.json {
        let json = serde_json::to_string_pretty(&totals).map_err(|error| Error::internal(error, None))?;
        json + "\n"
    } else {
        totals.to_string()
    };
    super::print(text.as_bytes())
}
