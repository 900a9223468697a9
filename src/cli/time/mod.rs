//! `nvptx-ra time`: predicts a kernel's run time, or which of two versions is faster, without a GPU.
//!
//! * [`launch`]: a launch with real sizes, from a file; [`code`]: the machine code of an input;
//! * [`text`], [`json`]: output formats.

pub(crate) mod code;
mod json;
mod launch;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use nvptx_ra::emulate::{Argument, Launches};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::sass::instruction::BYTES;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::time::prediction::{Prediction, Question, Source, predict};
use nvptx_ra::sass::time::verdict::Verdict;

use self::code::Code;
use crate::machine::cubin::Facts;
use crate::machine::program::Loaded;
use crate::{input, run};

/// Predict how long a kernel takes on a GPU, or which of two versions is faster
///
/// Machine code runs on the CPU, and a model of an SM issues the executed instructions. The model uses the code's stall
/// counts and scoreboards, the widths of units, and the accessed addresses. PTX is assembled first. Without a launch,
/// arguments are drawn, and there are blocks for all SMs. The model has the parameters of an H100 or H200 for every
/// processor.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A cubin, or a file of PTX
    first: PathBuf,
    /// Another version of the same kernel, to compare with the first
    second: Option<PathBuf>,
    /// A kernel; repeat for more. Unless given, all kernels of the first file
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// A file of launches, in the form of tests/bench/gpu: grid, block, and how each buffer is filled
    #[arg(long, value_name = "FILE", conflicts_with_all = ["grid", "block", "arguments"])]
    launch: Option<PathBuf>,
    /// The blocks of the grid; unless given, enough for all SMs
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = run::shape)]
    grid: Option<[u32; 3]>,
    /// The threads of a block; unless given, the number that the kernel declares, or drawn
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = run::shape)]
    block: Option<[u32; 3]>,
    /// The value of the next parameter, in order, as for `run`
    #[arg(long = "arg", value_name = "VALUE", value_parser = run::argument, allow_hyphen_values = true)]
    arguments: Vec<Argument>,
    /// Bytes of dynamic shared memory of the launch
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    dynamic_shared: u32,
    /// The processor for which PTX is assembled
    #[arg(long, default_value = "sm_90")]
    cpu: String,
    /// The seed of memory, parameters and the order of threads
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most warp instructions to execute; unless given, 4,000,000 for a launch with a grid, or else 400,000
    #[arg(long)]
    steps: Option<u64>,
    /// How many of the most expensive instructions to print
    #[arg(long, default_value_t = 10)]
    dearest: usize,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The results for a kernel.
struct KernelPredictions {
    kernel: String,
    /// A prediction for each file, or the reason why there is none.
    of: Vec<Result<Prediction, String>>,
}

impl KernelPredictions {
    fn verdict(&self) -> Option<Verdict> {
        match self.of.as_slice() {
            [Ok(first), Ok(second)] => Some(Verdict::of(first, second)),
            _ => None,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let first = Code::read(&arguments.first, &arguments.cpu)?;
    let second = arguments.second.as_deref().map(|path| Code::read(path, &arguments.cpu)).transpose()?;
    let kernels = run::kernels(&first.machine.program, &arguments.kernels, &arguments.first)?;
    let launches = launch::of(arguments)?;
    let mut said = Vec::new();
    for kernel in kernels {
        let launches = launches.of_kernel(&kernel, &first.machine.program)?;
        let predict = |code: &Code| code.predict(&kernel, &launches, second.is_none());
        let of = std::iter::once(&first).chain(&second).map(predict).collect();
        said.push(KernelPredictions { kernel, of });
    }
    if said.iter().all(|said| said.of.iter().all(Result::is_err)) {
        let reason = said.first().and_then(|said| said.of.first()?.as_ref().err().cloned()).unwrap_or_default();
        let problem = format!("{}: no prediction: {reason}", input::name(&arguments.first));
        return Err(Error::new(ErrorKind::Pass, problem, "see docs/time.md for what is modelled"));
    }
    let codes: Vec<&Code> = std::iter::once(&first).chain(&second).collect();
    if arguments.json {
        return super::print(format!("{:#}\n", json::of(&said, &codes)).as_bytes());
    }
    super::print_text(&text::of(&said, &codes, arguments.dearest))
}

impl Code {
    /// Predicts a kernel's time.
    pub(crate) fn predict(&self, kernel: &str, launches: &Launches, asks_more: bool) -> Result<Prediction, String> {
        let facts = self.facts.get(kernel).cloned().unwrap_or_default();
        let question = question(&self.machine, kernel, &facts, launches);
        predict(&Question { ptx: self.ptx.as_deref(), asks_more, ..question })
    }

    /// Predicts a kernel's time from at most `most_issued` issued instructions, which takes less time.
    pub(crate) fn predict_within(
        &self,
        kernel: &str,
        launches: &Launches,
        most_issued: u64,
    ) -> Result<Prediction, String> {
        let facts = self.facts.get(kernel).cloned().unwrap_or_default();
        let question = question(&self.machine, kernel, &facts, launches);
        predict(&Question { ptx: self.ptx.as_deref(), most_issued: Some(most_issued), ..question })
    }
}

/// Returns the cycles that the warps of an SM spend at each instruction, by address. The cycles include the issue of
/// the instruction and the wait before it. The result is empty without a prediction.
pub(crate) fn waited(code: &Loaded, kernel: &str, facts: &Facts, launches: &Launches) -> Vec<(u32, u64)> {
    let Loaded::Machine(machine) = code else { return Vec::new() };
    let question = question(machine, kernel, facts, launches);
    let Ok(prediction) = predict(&question) else { return Vec::new() };
    let number = match prediction.source {
        Source::Walk => Some(0),
        _ => machine.program.function_names().position(|name| name == kernel),
    };
    let waited = number.and_then(|number| prediction.ran.waited.get(number));
    let waited = waited.into_iter().flatten().zip(0..);
    waited.map(|(waited, at): (_, u32)| (at * BYTES, waited.total())).collect()
}

/// Returns the model's inputs for a kernel. No hypothetical changes are requested.
fn question<'m>(machine: &'m Machine, kernel: &'m str, facts: &Facts, launches: &'m Launches) -> Question<'m> {
    Question {
        machine,
        kernel,
        launches,
        registers: facts.registers.unwrap_or(255),
        shared: facts.shared,
        dynamic_shared: launches.dynamic_shared,
        ptx: None,
        asks_more: false,
        most_issued: None,
    }
}
