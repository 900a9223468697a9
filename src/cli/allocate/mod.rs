//! `nvptx-ra allocate`: runs allocators on functions, with the hardware's register file.

mod dot;
mod drawing;
mod input;
mod picture;
mod summary;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use input::AllocatorInput;
use nvptx_ra::allocate::briggs::Briggs;
use nvptx_ra::allocate::cleanup::{CodeCosts, check_cleanup, clean, code_costs};
use nvptx_ra::allocate::fatpoint::Fatpoint;
use nvptx_ra::allocate::greedy::Greedy;
use nvptx_ra::allocate::split;
use nvptx_ra::allocate::{AllocationStatistics, Allocator, Costs, Preset, Problem, check_allocation};
use nvptx_ra::config::{Config, Layers};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::function::Function;
use nvptx_ra::target::Classification;
use picture::Picture;
use split::Split;
use summary::Summary;

#[cfg(feature = "llvm")]
use crate::codegen::{DEFAULT_LEVEL, Settings};
use crate::views::Compilation;

/// Allocate hardware registers for functions, and print registers, spills, rounds and time
///
/// Copies are coalesced first. The code itself does not change.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR (.ll, .bc), machine code (.mir), PTX of any compiler, functions in text form (.mfv), or an allocation
    /// problem in text form, recognised by their content; - is standard input. A build without LLVM accepts neither
    /// LLVM IR nor machine code
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The allocators to run
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Engine::Greedy, Engine::Briggs])]
    allocator: Vec<Engine>,
    /// The set of constants: hw has the hardware's documented limits, cicc and ptxas have the constants of NVIDIA's
    /// compilers
    #[arg(long, default_value = "hw")]
    preset: String,
    /// Change a constant of the preset, e.g. loop-base=1.5; docs/allocation.md lists them
    #[arg(long = "set", value_name = "NAME=VALUE")]
    constants: Vec<String>,
    /// The number of general registers, or none for no limit; several, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "REGISTERS", value_parser = register_limit)]
    register_limit: Vec<GivenLimit>,
    /// The earlier name of --register-limit
    #[arg(long = "budget", hide = true, num_args = 0..=1, default_missing_value = "", value_parser = earlier_name)]
    _budget: Option<String>,
    /// The processor, for the allocation and for the compilation of LLVM IR
    #[arg(long, default_value = "sm_90")]
    cpu: String,
    /// The optimisation level for LLVM IR; several, separated by commas, are used one after the other
    #[cfg(feature = "llvm")]
    #[arg(short = 'O', value_name = "LEVEL", value_delimiter = ',', default_values_t = [DEFAULT_LEVEL],
        value_parser = clap::value_parser!(u8).range(0..=3))]
    levels: Vec<u8>,
    /// Do not coalesce copies first
    #[arg(long)]
    no_coalesce: bool,
    /// Do not check the allocations
    #[arg(long)]
    no_check: bool,
    /// Print sums over all functions instead of a table for each function
    #[arg(long, conflicts_with = "print_problem")]
    summary: bool,
    /// Print a line of JSON for each function and allocator
    #[arg(long)]
    json: bool,
    /// Allocate only the function with this name
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Write the interference graph of the first function as Graphviz, with the colours of the first allocator
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Draw the live ranges of the first function as SVG, in the registers of the first allocator
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the allocation problem and do not solve it
    #[arg(long)]
    print_problem: bool,
}

/// An allocator, by its name on the command line.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Priorities, interval trees, eviction
    Greedy,
    /// Chaitin-Briggs: an interference graph, coloured optimistically
    Briggs,
    /// Six lists and a histogram of the register file, as in ptxas
    Fatpoint,
}

/// A number of registers; `None` for no limit.
#[derive(Clone, Copy, Debug)]
struct GivenLimit(Option<u32>);

fn register_limit(text: &str) -> Result<GivenLimit, String> {
    if text == "none" {
        return Ok(GivenLimit(None));
    }
    text.parse().map(|number| GivenLimit(Some(number))).map_err(|_| "a number of registers, or none".into())
}

/// Returns the error for an earlier name of an option.
fn earlier_name(_: &str) -> Result<String, String> {
    Err("renamed; use --register-limit".into())
}

/// One allocator's result for one function.
struct Outcome {
    allocator: &'static str,
    /// Number of live ranges in addition to the given ones: parts of split live ranges.
    parts: u64,
    register_limit: Option<u32>,
    costs: Costs,
    /// Costs of the code's moves before and after clean-up; equal if there is no clean-up.
    code: [CodeCosts; 2],
    statistics: AllocationStatistics,
    time: Duration,
}

impl Arguments {
    /// Returns the compilation options for LLVM IR.
    fn compilation(&self) -> Compilation {
        Compilation {
            #[cfg(feature = "llvm")]
            cpu: self.cpu.clone(),
            #[cfg(feature = "llvm")]
            settings: Settings::new("", DEFAULT_LEVEL),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    #[cfg(feature = "llvm")]
    crate::processor::check(&arguments.cpu)?;
    [&arguments.dot, &arguments.svg].into_iter().flatten().try_for_each(|path| crate::output::check(path))?;
    let preset = preset(arguments)?;
    let register_limits = match arguments.register_limit.as_slice() {
        [] => vec![preset.register_limit],
        given => given.iter().map(|register_limit| register_limit.0).collect(),
    };
    let summary = arguments.summary.then(Summary::default);
    let mut run = Run { arguments, preset, register_limits, is_first: true, summary };
    input::for_each(arguments, &mut |given, level| run.take(given, level))?;
    if let Some(summary) = &run.summary {
        if arguments.json { super::print(summary.json().as_bytes()) } else { super::print_text(&summary.table()) }?;
    }
    if run.is_first { Err(nothing_in(arguments)) } else { Ok(ExitCode::SUCCESS) }
}

/// Returns the chosen preset for the processor, with the given constants.
fn preset(arguments: &Arguments) -> Result<Preset, Error> {
    let mut config = Config::default();
    config.give("preset", &arguments.preset, &format!("--preset {}: ", arguments.preset))?;
    if !arguments.constants.is_empty() {
        config.give("allocator-set", &arguments.constants.join(","), "--set ")?;
    }
    Ok(Preset::of(&config, &arguments.cpu))
}

/// Returns the error for inputs without any function or without the wanted function.
fn nothing_in(arguments: &Arguments) -> Error {
    let inputs: Vec<String> = arguments.inputs.iter().map(|path| crate::input::name(path)).collect();
    let inputs = inputs.join(", ");
    match &arguments.function {
        Some(name) => {
            let problem = format!("--function {name}: not found in {inputs}");
            Error::new(ErrorKind::Option, problem, "leave out --function to see all names")
        }
        None => {
            let remedy = "see docs/mfv.md and docs/allocation.md for the text forms";
            Error::new(ErrorKind::View, format!("{inputs}: no function and no allocation problem"), remedy)
        }
    }
}

/// A run of the command.
struct Run<'a> {
    arguments: &'a Arguments,
    preset: Preset,
    /// Register limits for functions. A problem has its own limit.
    register_limits: Vec<Option<u32>>,
    /// Whether nothing has been allocated yet.
    is_first: bool,
    /// The sums, if they are printed instead of tables.
    summary: Option<Summary>,
}

impl Run<'_> {
    /// Allocates a function at every register limit, or a problem at its own limit. Skips functions that are not
    /// wanted.
    fn take(&mut self, given: AllocatorInput<'_>, level: Option<u8>) -> Result<(), Error> {
        let name = match given {
            AllocatorInput::Problem(problem) => problem.name(),
            AllocatorInput::Function(function, _) => function.name(),
        };
        if self.arguments.function.as_deref().is_some_and(|wanted| wanted != name) {
            return Ok(());
        }
        match given {
            AllocatorInput::Problem(_) if !self.arguments.register_limit.is_empty() => {
                let remedy = "change the `budget` of its files instead";
                Err(Error::new(ErrorKind::Option, "--register-limit: an allocation problem has its own", remedy))
            }
            AllocatorInput::Problem(problem) => {
                let register_limit = problem.files().iter().next().and_then(|file| file.register_limit);
                self.solve(problem, &self.preset_at(register_limit), level)
            }
            AllocatorInput::Function(function, classification) => {
                self.register_limits.clone().into_iter().try_for_each(|register_limit| {
                    let preset = self.preset_at(register_limit);
                    let problem = lower((function, classification), &preset, self.arguments);
                    self.solve(&problem.map_err(|error| error.in_function(name))?, &preset, level)
                })
            }
        }
    }

    fn preset_at(&self, register_limit: Option<u32>) -> Preset {
        // Without a register limit, nothing is spilled. This includes predicates.
        let predicates = self.preset.predicates.filter(|_| register_limit.is_some());
        let preset = Preset { register_limit: None, predicates, ..self.preset.clone() };
        register_limit.map_or(preset.clone(), |registers| preset.with_registers(registers))
    }

    /// Runs the allocators on a problem, and prints or sums their results.
    fn solve(&mut self, problem: &Problem, preset: &Preset, level: Option<u8>) -> Result<(), Error> {
        let arguments = self.arguments;
        let draws = std::mem::replace(&mut self.is_first, false);
        let outcomes = solve(problem, preset, arguments, draws).map_err(|error| error.in_function(problem.name()))?;
        let text = match &mut self.summary {
            _ if arguments.print_problem => problem.to_string(),
            Some(summary) => {
                summary.add(level, problem, &outcomes);
                return Ok(());
            }
            None if arguments.json => table::json(problem, &outcomes),
            None => return super::print_text(&table::table(problem, &outcomes)).map(drop),
        };
        super::print(text.as_bytes()).map(drop)
    }
}

/// Returns the problem of a function, after its copies are coalesced.
fn lower(
    (function, classification): (&Function, &Classification),
    preset: &Preset,
    arguments: &Arguments,
) -> Result<Problem, Error> {
    if arguments.no_coalesce {
        return Problem::from_function(function, classification, preset);
    }
    let config = Config::resolve(&Layers::default())?;
    let coalesced = nvptx_ra::coalesce::coalesce(function, classification, &config).edits.apply(function)?;
    Problem::from_function(&coalesced.function, classification, preset)
}

/// Runs the allocators on a problem. Returns no outcomes if the problem is only printed.
fn solve(problem: &Problem, preset: &Preset, arguments: &Arguments, draws: bool) -> Result<Vec<Outcome>, Error> {
    if arguments.print_problem {
        return Ok(Vec::new());
    }
    let mut outcomes = Vec::new();
    for &engine in &arguments.allocator {
        let start = Instant::now();
        let (name, found) = allocate(engine, problem, preset)?;
        let (allocated, allocation) = (found.problem.as_ref().unwrap_or(problem), found.allocation);
        if let Some(remark) = table::remark(problem, name, &allocation.statistics) {
            say!("{remark}");
        }
        let edits = if preset.cleanup { clean(allocated, &allocation) } else { Vec::new() };
        let time = start.elapsed();
        if !arguments.no_check {
            check_cleanup(allocated, &allocation, &edits).map_err(|error| refused(name, "cleanup", &error))?;
        }
        let code = [&[][..], &edits].map(|edits| code_costs(allocated, &allocation, edits));
        let costs = if arguments.no_check {
            allocation.costs(allocated)
        } else {
            check_allocation(allocated, &allocation).map_err(|error| refused(name, "allocation", &error))?
        };
        if draws && outcomes.is_empty() {
            draw(&Picture { problem: allocated, allocation: &allocation, allocator: name }, arguments)?;
        }
        let statistics = allocation.statistics;
        let parts = (allocated.ranges().len() - problem.ranges().len()) as u64;
        outcomes.push(Outcome {
            allocator: name,
            parts,
            register_limit: preset.register_limit,
            costs,
            code,
            statistics,
            time,
        });
    }
    Ok(outcomes)
}

fn refused(allocator: &str, what: &str, error: &dyn std::error::Error) -> Error {
    let problem = format!("{allocator}: the checker refuses the {what}: {error}");
    Error::new(ErrorKind::Verify, problem, "please report this with the function")
}

fn allocate(engine: Engine, problem: &Problem, preset: &Preset) -> Result<(&'static str, Split), Error> {
    let allocator: &dyn Allocator = match engine {
        Engine::Greedy => &Greedy::default(),
        Engine::Briggs => &Briggs { coalescing: preset.coalescing.clone() },
        Engine::Fatpoint => &Fatpoint { knobs: preset.fatpoint.clone() },
    };
    Ok((allocator.name(), split::allocate(allocator, problem, &preset.splitting)?))
}

/// Writes the requested pictures.
fn draw(picture: &Picture<'_>, arguments: &Arguments) -> Result<(), Error> {
    if let Some(path) = &arguments.dot {
        picture::write(path, &dot::dot(picture))?;
    }
    if let Some(path) = &arguments.svg {
        picture::write(path, &drawing::svg(picture))?;
    }
    Ok(())
}
