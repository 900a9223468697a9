//! `nvptx-ra report`: what ptxas will need for each kernel, and which source lines hold the registers.

mod baseline;
mod compare;
mod json;
mod lines;
mod page;
mod table;
mod verbose;

use std::cell::LazyCell;
use std::path::PathBuf;
use std::process::ExitCode;

use nvptx_ra::coalesce::coalesce;
use nvptx_ra::config::{Config, Layers, Order};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::forecast::{Case, Forecast, forecast, needed};
use nvptx_ra::function::{EditList, Function};
use nvptx_ra::schedule::{estimated_cycles, schedule};
use nvptx_ra::target::machine::Architecture;

use crate::dynamic_shared::{self, DynamicShared};
use crate::kernel_names;
use crate::views::Source;

/// Forecast registers, spills and occupancy of each kernel, and say which lines hold the registers
///
/// ptxas is not run: the forecast is made from what the code needs and from what ptxas made of thousands of kernels.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR (.ll, .bc), machine code (.mir) or functions in text form (.mfv); - is functions on standard input
    input: PathBuf,
    /// The processor
    #[arg(long, default_value = "sm_90")]
    cpu: String,
    /// Features of the processor and the PTX version, e.g. +ptx88
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    mattr: String,
    /// The optimisation level that LLVM IR is compiled with
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
    /// What if no kernel could have more registers than this, whatever its own bounds say? Ptxas's -maxrregcount is not
    /// that: it does nothing to kernels with bounds. Ptxas gives every thread 24 at least
    #[arg(long, visible_alias = "budget", value_name = "N", value_parser = clap::value_parser!(u32).range(24..=255))]
    max_regs: Option<u32>,
    /// What if the instructions of each block were in this order? As the option `order` of the passes names them
    #[arg(long, value_name = "ORDER", value_parser = order)]
    order: Option<Order>,
    /// Only the kernels whose name contains this; repeat for more
    #[arg(long, value_name = "TEXT")]
    kernel: Vec<String>,
    /// Bytes of shared memory that the launch adds, of the kernels whose name contains KERNEL, or of all; repeat for
    /// more, the last that fits a kernel counts
    #[arg(long, value_name = "[KERNEL=]BYTES")]
    dynamic_shared: Vec<DynamicShared>,
    /// One JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Behind the table, what ptxas -v and its statistics would say, in their words
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,
    /// Write a page for a browser, too: pressure along the code, live ranges, occupancy and source of each kernel
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// With --json: what the model was told of each kernel
    #[arg(long, requires = "json")]
    features: bool,
    /// Run ptxas too, and show what it says beside the forecast
    #[arg(long)]
    compare_ptxas: bool,
    /// Compare with a file that --json wrote earlier: exit with 1 where a kernel takes more registers, bytes of spills
    /// or fewer warps, and name it. A file that is not there is written
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Exit with 1 where a kernel is expected to spill
    #[arg(long)]
    fail_on_spill: bool,
    /// Warn of each kernel that is expected to spill, in the words of ptxas's option of that name
    #[arg(long)]
    warn_on_spills: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let architecture = Architecture::by_name(&arguments.cpu)?;
    let functions = functions(arguments)?;
    let mut forecasts = forecast(&functions, &Case { architecture, max_registers: arguments.max_regs })?;
    if forecasts.is_empty() {
        let problem = format!("{}: no kernel", arguments.input.display());
        let remedy = match arguments.input.extension().and_then(|extension| extension.to_str()) {
            Some("cu") => "compile it first: clang++ -x cuda --cuda-device-only -O3 -gline-tables-only -emit-llvm -c",
            _ => "kernels have the calling convention ptx_kernel",
        };
        return Err(Error::new(ErrorKind::View, problem, remedy));
    }
    let input = arguments.input.to_string_lossy();
    kernel_names::check_wanted(&arguments.kernel, forecasts.iter().map(|forecast| forecast.name.as_str()), &input)?;
    forecasts.retain(|forecast| kernel_names::is_wanted(&arguments.kernel, &forecast.name));
    let kernels = forecasts.iter().map(|forecast| forecast.name.as_str());
    dynamic_shared::check(&arguments.dynamic_shared, kernels, &input)?;
    let said = dynamic_shared::all_said(&arguments.input, &arguments.dynamic_shared);
    for forecast in &mut forecasts {
        if let Some(bytes) = dynamic_shared::bytes_of(&said, &forecast.name) {
            forecast.launch_with(bytes, architecture);
        }
    }
    let measured = if arguments.compare_ptxas { Some(compare::measure(arguments, &forecasts)?) } else { None };
    // Only who asks for the object waits for it.
    let object =
        LazyCell::new(|| json::object(&forecasts, &functions, architecture, arguments.features, measured.as_ref()));
    let text = if arguments.json {
        format!("{:#}\n", *object)
    } else {
        let table = table::table(&forecasts, &functions, architecture, measured.as_ref());
        if arguments.verbose { table + &verbose::text(&forecasts, &functions) } else { table }
    };
    super::print(text.as_bytes())?;
    if let Some(path) = &arguments.html {
        let (forecasts, functions, measured) = (&forecasts, &functions, measured.as_ref());
        let page = page::page(&page::Report { input: &input, forecasts, functions, architecture, measured });
        std::fs::write(path, page).map_err(|error| Error::file(path, &error))?;
    }
    let mut failed = false;
    if let Some(path) = &arguments.baseline {
        failed |= baseline::compare(path, &object, &forecasts)?;
    }
    let spilling = || forecasts.iter().filter(|forecast| forecast.spill_bytes() > 0);
    if arguments.warn_on_spills {
        for forecast in spilling() {
            let (stores, loads) = (forecast.spill_store_bytes, forecast.spill_load_bytes);
            say!(
                "nvptx-ra: warning: Registers are spilled to local memory in function '{}', {stores} bytes spill stores, \
                 {loads} bytes spill loads",
                forecast.name
            );
        }
    }
    if arguments.fail_on_spill {
        for forecast in spilling() {
            say!("nvptx-ra: kernel '{}' is expected to spill", kernel_names::readable(&forecast.name));
            failed = true;
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The input, and how it is compiled.
fn source(arguments: &Arguments) -> Source {
    Source {
        path: arguments.input.clone(),
        cpu: arguments.cpu.clone(),
        mattr: arguments.mattr.clone(),
        level: arguments.level,
    }
}

/// An order by its name.
fn order(name: &str) -> Result<Order, Error> {
    let config = Config::resolve(&Layers { parameters: &format!("order={name}"), ..Layers::default() })?;
    if config.order == Order::Auto {
        let problem = "order=auto: it is one of the others for each kernel";
        return Err(Error::new(
            ErrorKind::Option,
            problem,
            "name one of them: the forecast chooses by this very report",
        ));
    }
    Ok(config.order)
}

/// The functions of the input, coalesced and ordered, without accesses that are masked off.
fn functions(arguments: &Arguments) -> Result<Vec<Function>, Error> {
    let config = Config::resolve(&Layers::default())?;
    let order = arguments.order.unwrap_or(config.order);
    let mut functions = Vec::new();
    source(arguments).for_each(&mut |function| {
        let edits = coalesce(&function, &config).edits;
        let coalesced = edited(function, &edits)?;
        let edits = schedule(&coalesced, order, 0).edits;
        functions.push(needed(edited(coalesced, &edits)?));
        Ok(())
    })?;
    Ok(functions)
}

/// Cycles that a warp alone takes for one run of the kernel's own code.
fn cycles(forecast: &Forecast, functions: &[Function]) -> Option<f64> {
    functions.iter().find(|function| function.name() == forecast.name).map(estimated_cycles)
}

/// The function as the edits make it.
fn edited(function: Function, edits: &EditList) -> Result<Function, Error> {
    if edits.is_empty() {
        return Ok(function);
    }
    let applied = edits.apply(&function);
    applied.map(|applied| applied.function).map_err(|error| Error::from(error).in_function(function.name()))
}
