//! `nvptx-ra optimum`: computes a lower bound of the copies that functions must keep.

use std::path::PathBuf;
use std::process::ExitCode;

use nvptx_ra::config::Config;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::function::{Function, Role};
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::lab::coalescing_optimum::{Optimum, optimum};
use nvptx_ra::target::Classification;
use serde_json::json;

use crate::functions;
use crate::input::{self, Input};

/// Print a lower bound of the copies that each function must keep, as a line of JSON
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Functions in text form, one after another, as -nvptx-ra-trace=view prints them with -nvptx-ra-rename=off; - is
    /// standard input. Functions with PHIs are skipped
    input: PathBuf,
    /// How many branches the exact search may take for each connected component of the problem
    #[arg(long, default_value_t = 1000)]
    steps: usize,
    /// An option of the coalescer to compare with; see `nvptx-ra explain --all`
    #[arg(long = "set", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let path = &arguments.input;
    let config =
        Config::resolve(&nvptx_ra::config::Layers { parameters: &arguments.options.join(";"), ..Default::default() })?;
    let mut is_empty = true;
    let print = &mut |function: Function| {
        is_empty = false;
        // A trace may also contain a function in SSA form. This form does not have the copies of PHIs yet, so it is
        // skipped.
        if function.insts().any(|inst| function.role(inst) == Role::Phi) {
            return Ok(());
        }
        let found = optimum(&function, &Classification::by_name(function.opcodes()), &config, arguments.steps);
        super::print(line(&function, &found).as_bytes()).map(|_| ())
    };
    let input = Input::open(path, "optimum", &[InputKind::Functions, InputKind::Text])?;
    functions::for_each(path, input.reader, print, &mut |_| {})?;
    if is_empty {
        let problem = format!("{}: no function", input::name(path));
        return Err(Error::new(ErrorKind::View, problem, "see docs/mfv.md for the text form"));
    }
    Ok(ExitCode::SUCCESS)
}

fn line(function: &Function, found: &Optimum) -> String {
    let Optimum { constants, copies, left, best, necessary, by_depth } = found;
    let depths = by_depth.iter().map(|at| json!([at.copies, at.left, at.necessary]));
    let json = json!({
        "function": function.name(),
        "instructions": function.num_insts(),
        "constants": constants,
        "copies": copies.count, "left": left.count, "best": best.count, "necessary": necessary.count,
        "copies_executed": copies.executed, "left_executed": left.executed, "best_executed": best.executed,
        "necessary_executed": necessary.executed,
        "by_depth": depths.collect::<Vec<_>>(),
    });
    json.to_string() + "\n"
}
