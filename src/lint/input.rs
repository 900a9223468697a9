//! What the rules are told of a kernel.

use super::Place;
use super::source::Source;
use crate::error::Error;
use crate::forecast::{Forecast, UnknownCall, UnknownCallee, UnpromotedVariable};
use crate::loops::Fault;
use crate::target::SYSTEM_FUNCTIONS;
use crate::target::machine::{Architecture, CommandLine, Ignored, Launch, MAX_REGISTERS, RegisterShortage};

/// A line that holds registers where most are live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterHolder {
    /// The line.
    pub place: Place,
    /// How many registers.
    pub held: u32,
    /// How often it stands in one block, if that is often; 0 where only machine code is known.
    pub times: u32,
}

/// What a call reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function that the file has, and that was not inlined.
    Function(String),
    /// A function that the file has not.
    Elsewhere(String),
    /// A function that CUDA's runtime system has.
    System(String),
    /// A function that calls itself.
    Recursive(String),
    /// Whatever a pointer points to.
    Pointer,
}

impl Callee {
    /// The callee of that name, where the call is known from machine code.
    pub fn named(name: &str) -> Self {
        if SYSTEM_FUNCTIONS.contains(&name) { Self::System(name.to_owned()) } else { Self::Function(name.to_owned()) }
    }

    /// The callee of a call that ptxas cannot inline.
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
    /// The processor.
    pub architecture: &'static Architecture,
    /// Where it begins.
    pub begin: Place,
    /// Whether its registers are measured.
    pub is_measured: bool,
    /// What an SM is asked to hold.
    pub launch: Launch,
    /// Whether it says how large its blocks are, or how many registers it may have.
    pub has_bounds: bool,
    /// The most registers that it may have by these; `None` where nothing limits it.
    pub limit: Option<u32>,
    /// Bytes of spills, where somebody says how many.
    pub spill_bytes: u32,
    /// Where spills cost most.
    pub spills: Place,
    /// The lines that move spilled values, where machine code is known: bytes, the most often run first.
    pub spill_lines: Vec<(Place, u32)>,
    /// Where most registers are live.
    pub peak: Place,
    /// The lines that hold most of them there.
    pub holders: Vec<RegisterHolder>,
    /// Bytes of stack.
    pub stack_bytes: u64,
    /// What keeps a variable in memory, where its code is there.
    pub in_memory: Option<&'a UnpromotedVariable>,
    /// A line that accesses local memory at a computed address.
    pub computed: Option<Place>,
    /// Calls that follow the calling convention.
    pub calls: Vec<(Callee, Place)>,
    /// What its bounds say and ptxas does not do.
    pub ignored: &'a [Ignored],
    /// The loops that ptxas unrolls wrongly for some numbers: where, how, and whether that is likely.
    pub wrong_loops: Vec<(Place, Fault, bool)>,
    /// `setmaxnreg` does nothing in it.
    pub ignores_repartition: bool,
    /// A `setmaxnreg.inc` that waits for ever, and where it stands.
    pub register_shortage: Option<(RegisterShortage, Place)>,
}

/// How many of the lines that hold the registers of a peak are named.
pub const HOLDERS: usize = 3;

impl<'a> LintInput<'a> {
    /// A kernel as it is forecast. `source` knows the functions of the module by their names, and `input` stands for the
    /// files that are not known.
    ///
    /// # Errors
    /// For a kernel whose bounds contradict each other, of which there is no forecast either.
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

/// Whether the bounds say how many registers the kernel is entered with.
fn is_known_at_entry(architecture: &Architecture, kernel: Option<&Source>) -> Result<bool, Error> {
    let Some(bounds) = kernel.and_then(|kernel| kernel.bounds) else { return Ok(true) };
    Ok(architecture.register_limit(&bounds, &CommandLine::default())?.is_known_at_entry())
}
