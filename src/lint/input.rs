//! Facts about a kernel for the rules.

use super::Place;
use super::source::Source;
use crate::error::Error;
use crate::forecast::{Forecast, UnknownCall, UnknownCallee, UnpromotedVariable};
use crate::loops::Fault;
use crate::target::SYSTEM_FUNCTIONS;
use crate::target::machine::{Architecture, CommandLine, Ignored, Launch, MAX_REGISTERS, RegisterShortage};

/// A source line with registers that are live at the peak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterHolder {
    /// The line.
    pub place: Place,
    /// Number of registers.
    pub held: u32,
    /// How often the line occurs in one block; 0 if that is rare, or if only machine code is known.
    pub times: u32,
}

/// Target of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the file that was not inlined.
    Function(String),
    /// A function that is not in the file.
    Elsewhere(String),
    /// A function of CUDA's runtime system.
    System(String),
    /// A function that calls itself.
    Recursive(String),
    /// Unknown targets of a pointer.
    Pointer,
}

impl Callee {
    /// Returns the callee with a name, for a call that is known from machine code.
    pub fn named(name: &str) -> Self {
        if SYSTEM_FUNCTIONS.contains(&name) { Self::System(name.to_owned()) } else { Self::Function(name.to_owned()) }
    }

    /// Returns the callee of a call that ptxas cannot inline.
    fn unknown(callee: &UnknownCallee) -> Self {
        match callee {
            UnknownCallee::Outside(name) if SYSTEM_FUNCTIONS.contains(&&**name) => Self::System(name.to_string()),
            UnknownCallee::Outside(name) => Self::Elsewhere(name.to_string()),
            UnknownCallee::Recursion(name) => Self::Recursive(name.to_string()),
            UnknownCallee::Pointer | UnknownCallee::Table(_) => Self::Pointer,
        }
    }
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct LintInput<'a> {
    /// Its name.
    pub name: &'a str,
    /// The GPU's architecture.
    pub architecture: &'static Architecture,
    /// Its first line.
    pub begin: Place,
    /// Whether its registers are measured.
    pub is_measured: bool,
    /// The resources of an SM that its launch takes.
    pub launch: Launch,
    /// Whether it has a bound of its block size, or a register limit.
    pub has_bounds: bool,
    /// Register limit by these bounds; `None` if there is none.
    pub limit: Option<u32>,
    /// Bytes of spills, if known.
    pub spill_bytes: u32,
    /// The line with the most expensive spills.
    pub spills: Place,
    /// The lines that store or reload spilled values, with their bytes, if machine code is known; the lines with the
    /// most bytes first.
    pub spill_lines: Vec<(Place, u32)>,
    /// The line at which the most registers are live.
    pub peak: Place,
    /// The lines with most of these registers.
    pub holders: Vec<RegisterHolder>,
    /// Bytes of the stack.
    pub stack_bytes: u64,
    /// A variable that stays in memory, with the cause, if the code of its function is available.
    pub in_memory: Option<&'a UnpromotedVariable>,
    /// A line that accesses local memory at a computed address.
    pub computed: Option<Place>,
    /// Calls for which ptxas follows the calling convention.
    pub calls: Vec<(Callee, Place)>,
    /// Its bounds that ptxas ignores.
    pub ignored: &'a [Ignored],
    /// The loops that ptxas unrolls wrongly for some numbers: the line, the fault, and whether such numbers are likely.
    pub wrong_loops: Vec<(Place, Fault, bool)>,
    /// Whether its `setmaxnreg` has no effect.
    pub ignores_repartition: bool,
    /// A `setmaxnreg.inc` that waits for ever, and its line.
    pub register_shortage: Option<(RegisterShortage, Place)>,
}

/// Number of reported lines with registers that are live at the peak.
pub const HOLDERS: usize = 3;

impl<'a> LintInput<'a> {
    /// Returns the facts from a kernel's forecast. `source` returns the source facts of a function of the module by its
    /// name. `input` replaces unknown file names.
    ///
    /// # Errors
    /// The bounds of the kernel contradict each other, which also prevents a forecast.
    pub fn of_forecast<'s>(
        forecast: &'a Forecast,
        architecture: &'static Architecture,
        input: &str,
        source: impl Fn(&str) -> Option<&'s Source>,
    ) -> Result<Self, Error> {
        let place = |name: &str, line: u32| {
            let file = source(name).and_then(|source| source.file.as_deref()).unwrap_or(input);
            Place { file: file.to_owned(), line }
        };
        let kernel = source(&forecast.name);
        let holder = |line: u32, held: u32| RegisterHolder {
            place: place(&forecast.holder, line),
            held,
            times: source(&forecast.holder).map_or(0, |source| source.times(line)),
        };
        let lines = forecast.peak.by_line().into_iter().filter(|&(line, _, _)| line != 0);
        let call = |call: &UnknownCall| (Callee::unknown(&call.callee), place(&call.caller, call.line));
        let shortage = forecast.register_shortage;
        let is_limited = forecast.limited_to.is_some();
        Ok(Self {
            name: &forecast.name,
            architecture,
            begin: place(&forecast.name, kernel.map_or(0, |kernel| kernel.begin)),
            is_measured: false,
            launch: forecast.launch(),
            has_bounds: forecast.threads.is_some() || forecast.max_registers.is_some() || is_limited,
            limit: Some(forecast.register_limit).filter(|&register_limit| register_limit < MAX_REGISTERS),
            spill_bytes: forecast.spill_bytes(),
            spills: place(&forecast.holder, forecast.peak.line),
            spill_lines: Vec::new(),
            peak: place(&forecast.holder, forecast.peak.line),
            holders: lines.take(HOLDERS).map(|(line, words, _)| holder(line, words)).collect(),
            stack_bytes: forecast.stack_bytes,
            in_memory: forecast.in_memory.as_ref(),
            computed: None,
            calls: forecast.unknown_calls.iter().map(call).collect(),
            ignored: &forecast.ignored,
            register_shortage: shortage.map(|(shortage, line)| (shortage, place(&forecast.name, line))),
            wrong_loops: kernel.map_or_else(Vec::new, |kernel| {
                let loops = kernel.wrong_loops.iter();
                loops.map(|&(line, fault, is_likely)| (place(&forecast.name, line), fault, is_likely)).collect()
            }),
            ignores_repartition: forecast.repartitions_itself && !is_known_at_entry(architecture, kernel)?,
        })
    }
}

/// Whether the bounds determine the number of registers at the kernel's entry.
fn is_known_at_entry(architecture: &Architecture, kernel: Option<&Source>) -> Result<bool, Error> {
    let Some(bounds) = kernel.and_then(|kernel| kernel.bounds) else { return Ok(true) };
    Ok(architecture.register_limit(&bounds, &CommandLine::default())?.is_known_at_entry())
}
