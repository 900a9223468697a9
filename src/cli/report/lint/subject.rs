//! What the rules are told of a kernel. A forecast and a measurement tell it in the same words.

use nvptx_ra::error::Error;
use nvptx_ra::forecast::{Forecast, InMemory};
use nvptx_ra::function::{Function, Inst};
use nvptx_ra::target::machine::{Architecture, CommandLine, Ignored, Launch, MAX_REGISTERS};

use super::super::Report;
use super::super::lines::by_line;
use super::super::truth::{Kernel, Truth, table};
use crate::machine::source_lines;

/// A line of a file; 0 where only the file is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Place {
    pub(in super::super) file: String,
    pub(in super::super) line: u32,
}

/// A line that holds registers where most are live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) place: Place,
    /// How many registers.
    pub(super) held: u32,
    /// How often it stands in one block; 0 where only machine code is known.
    pub(super) times: u32,
}

/// A kernel.
pub(in super::super) struct Subject<'a> {
    pub(super) name: &'a str,
    pub(super) architecture: &'static Architecture,
    /// Where it begins.
    pub(super) begin: Place,
    /// Whether its registers are measured.
    pub(super) is_measured: bool,
    pub(super) launch: Launch,
    /// Whether it says how large its blocks are, or how many registers it may have.
    pub(super) has_bounds: bool,
    /// The most registers that it may have by these; `None` where nothing limits it.
    pub(super) limit: Option<u32>,
    /// Bytes of spills, where somebody says how many.
    pub(super) spill_bytes: u32,
    /// Where spills cost most.
    pub(super) spills: Place,
    /// Where most registers are live, and the lines that hold most of them there.
    pub(super) peak: Place,
    pub(super) holders: Vec<Holder>,
    pub(super) stack_bytes: u64,
    /// What keeps a variable in memory, where its code is there.
    pub(super) in_memory: Option<&'a InMemory>,
    /// A line that accesses local memory at a computed address.
    pub(super) computed: Option<Place>,
    /// Calls of functions.
    pub(super) calls: Vec<(Option<String>, Place)>,
    pub(super) ignored: &'a [Ignored],
    /// `setmaxnreg` does nothing in it.
    pub(super) ignores_repartition: bool,
}

impl Subject<'_> {
    /// Whether `setmaxnreg` does nothing in it.
    pub(in super::super) fn ignores_repartition(&self) -> bool {
        self.ignores_repartition
    }
}

/// How many of the lines that hold the registers of a peak are named.
const HOLDERS: usize = 3;

/// The kernels of a report, as they are forecast.
pub(in super::super) fn of_forecasts(report: &Report) -> Result<Vec<Subject<'_>>, Error> {
    report.forecasts.iter().map(|forecast| of_forecast(report, forecast)).collect()
}

fn of_forecast<'a>(report: &'a Report, forecast: &'a Forecast) -> Result<Subject<'a>, Error> {
    let function = report.code.find(&forecast.name).map(|(function, _)| function);
    let holder = report.code.find(&forecast.holder).map(|(function, _)| function);
    let file =
        |function: Option<&Function>| function.and_then(Function::file).unwrap_or(report.input.as_str()).to_owned();
    let place = |function: Option<&Function>, line: u32| Place { file: file(function), line };
    let first = function.into_iter().flat_map(|function| function.insts().map(|inst| function.line(inst)));
    let begin = place(function, first.filter(|&line| line != 0).min().unwrap_or(0));
    let peak = place(holder, forecast.peak.line);
    let lines = by_line(&forecast.peak);
    let holders = lines.iter().filter(|line| line.number != 0).take(HOLDERS);
    Ok(Subject {
        name: &forecast.name,
        architecture: report.architecture,
        begin,
        is_measured: false,
        launch: forecast.launch(),
        has_bounds: forecast.threads.is_some() || forecast.max_registers.is_some(),
        limit: Some(forecast.budget).filter(|&budget| budget < MAX_REGISTERS),
        spill_bytes: forecast.spill_bytes(),
        spills: peak.clone(),
        holders: holders
            .map(|line| Holder {
                place: place(holder, line.number),
                held: line.words,
                times: holder.map_or(0, |function| times(function, line.number)),
            })
            .collect(),
        peak,
        stack_bytes: forecast.stack_bytes,
        in_memory: forecast.in_memory.as_ref(),
        computed: None,
        calls: Vec::new(),
        ignored: &forecast.ignored,
        ignores_repartition: forecast.is_repartitioned && !is_known_at_entry(report.architecture, function)?,
    })
}

/// How often a line stands in one block: so many of its instructions write registers by the same opcode. More than one
/// such instruction may belong to one place in the source, but many seldom do. O(instructions).
fn times(function: &Function, line: u32) -> u32 {
    let mut most = 0;
    for block in function.blocks() {
        let writes = |inst: &Inst| {
            function.line(*inst) == line && function.operands(*inst).iter().any(|operand| operand.def().is_some())
        };
        let mut opcodes: Vec<_> =
            function.block_insts(block).filter(writes).map(|inst| function.opcode(inst)).collect();
        opcodes.sort_unstable();
        most = opcodes.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap_or(0).max(most);
    }
    most as u32
}

/// Whether the bounds say how many registers the kernel is entered with.
fn is_known_at_entry(architecture: &Architecture, function: Option<&Function>) -> Result<bool, Error> {
    let Some(bounds) = function.and_then(Function::kernel) else { return Ok(true) };
    Ok(architecture.register_limit(bounds, &CommandLine::default())?.is_known_at_entry())
}

/// The kernels of a cubin, as they are measured; `report` is the forecast of the same.
pub(in super::super) fn of_truth<'a>(truth: &'a Truth, report: Option<&'a Report>) -> Result<Vec<Subject<'a>>, Error> {
    let forecasts = report.map(of_forecasts).transpose()?.unwrap_or_default();
    let kernels = truth.kernels.iter().filter(|kernel| kernel.facts.is_kernel);
    Ok(kernels
        .map(|kernel| {
            let forecast = forecasts.iter().find(|subject| subject.name == kernel.name);
            of_kernel(truth, kernel, forecast)
        })
        .collect())
}

fn of_kernel<'a>(truth: &'a Truth, kernel: &'a Kernel, forecast: Option<&Subject<'a>>) -> Subject<'a> {
    let place = |place: Option<source_lines::Place>| match place {
        Some(place) => Place { file: truth.file(place).to_owned(), line: place.line },
        None => Place { file: truth.input.clone(), line: 0 },
    };
    let local = &kernel.local.lines;
    let holders = table::by_line(kernel);
    let holders = holders.iter().filter(|(line, _)| line.is_some()).take(HOLDERS);
    let begin = kernel.begin.map(|begin| place(Some(begin)));
    Subject {
        name: &kernel.name,
        architecture: truth.architecture,
        begin: begin.or_else(|| forecast.map(|subject| subject.begin.clone())).unwrap_or_else(|| place(None)),
        is_measured: true,
        launch: Truth::launch(kernel, kernel.dynamic_shared),
        has_bounds: match forecast {
            Some(subject) => subject.has_bounds,
            None => kernel.facts.threads.is_some() || kernel.facts.max_registers.is_some(),
        },
        limit: forecast.map_or(kernel.facts.max_registers, |subject| subject.limit),
        spill_bytes: kernel.spill_bytes().unwrap_or(kernel.local.marked_stored + kernel.local.marked_loaded),
        spills: place(local.iter().find(|line| line.marked > 0).or(local.first()).and_then(|line| line.place)),
        peak: place(kernel.peak.point.places.first().copied()),
        holders: holders
            .map(|(line, held)| {
                let place = place(*line);
                let forecast = forecast.and_then(|subject| subject.holders.iter().find(|other| other.place == place));
                Holder { held: held.len() as u32, times: forecast.map_or(0, |forecast| forecast.times), place }
            })
            .collect(),
        stack_bytes: kernel.stack_bytes().into(),
        in_memory: forecast.and_then(|subject| subject.in_memory),
        computed: local.iter().find(|line| line.computed > 0).map(|line| place(line.place)),
        calls: kernel
            .calls
            .iter()
            .map(|call| (call.callee.clone(), place(call.point.places.first().copied())))
            .collect(),
        ignored: forecast.map_or(&[], |subject| subject.ignored),
        ignores_repartition: forecast.is_some_and(|subject| subject.ignores_repartition),
    }
}
