//! The passes by name, for the compiler, the command-line tool and the tests.

mod apply_edits;
mod copy_coalescer;
mod cssa;
mod excess;
mod forecast;
mod limits;
mod loop_shape;
mod places;
mod printed_names;
mod ptx;
mod ptx_linked;
mod ptx_profile;
mod regalloc;
mod regalloc_auto;
mod remat;
mod rename;
mod schedule;
mod scope;
mod shared_addresses;
mod simd_video;

pub use forecast::{ModuleOutput, PlacedFinding, run_on_module, summarise_coalesced};
pub use places::{Place, places};
pub use ptx::{PtxOutput, PtxRemark, PtxRun, Step, pipeline, run_on_ptx, spill_warnings};
pub use ptx_linked::{Other, code_hashes, link_on_ptx, replay_linked};
pub use ptx_profile::{functions_of_ptx, replay_on_ptx};
pub use scope::{Census, Scope, is_idle, scope};

use std::sync::Arc;
use std::time::Instant;

use crate::check::{check, slots};
use crate::config::{
    APPLY_EDITS, COPY_COALESCER, CSSA, Config, FORECAST, Injection, LOOP_SHAPE, REGALLOC, REMAT, RENAME, SCHEDULE,
    SHARED_ADDRESSES, SIMD_VIDEO, Trace,
};
use crate::error::{Error, ErrorKind};
use crate::forecast::Summary;
use crate::function::{Edit, EditList, Function, Inst};
use crate::lint::source::Source;
use crate::spill::spiller::CalleeTable;
use crate::stats::Work;
use crate::target::{Classification, with_assembly_loads};

/// Context of a pass, in addition to the function itself.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// The options.
    pub config: Config,
    /// The meaning of the function's opcodes.
    pub classification: Arc<Classification>,
    /// The target architecture, e.g. `sm_90`.
    pub target: String,
    /// Whether the function is in SSA form.
    pub is_ssa: bool,
    /// Whether the code generator does not optimise.
    pub is_o0: bool,
    /// Whether the function is marked `optnone`.
    pub is_optnone: bool,
    /// Whether remarks are collected.
    pub wants_remarks: bool,
    /// Whether findings of lints are collected; only for the forecast.
    pub wants_lints: bool,
    /// Whether the copy coalescer has processed the function; only for the forecast.
    pub is_coalesced: bool,
    /// Shared memory of the module's functions, if all of them are available.
    pub callees: Option<Arc<CalleeTable>>,
}

impl RunContext {
    /// Returns the context for a function that has left SSA form, in an optimising code generator, without remarks.
    pub fn new(config: Config, classification: Arc<Classification>, target: &str) -> Self {
        Self {
            config,
            classification,
            target: target.to_owned(),
            is_ssa: false,
            is_o0: false,
            is_optnone: false,
            wants_remarks: false,
            wants_lints: false,
            is_coalesced: false,
            callees: None,
        }
    }
}

/// Kind of a remark about an opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// The opportunity was taken.
    Passed,
    /// The opportunity was seen and not taken.
    Missed,
    /// Other information.
    Analysis,
}

/// An optimisation remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Its kind.
    pub kind: RemarkKind,
    /// The instruction in the view; `None` for the whole function.
    pub inst: Option<Inst>,
    /// Its stable name, e.g. `CopyRemoved`.
    pub name: &'static str,
    /// The message.
    pub message: String,
}

/// Output of a pass.
#[derive(Clone, Debug)]
pub struct PassOutput {
    /// The edits, [finished](EditList::finish).
    pub edits: EditList,
    /// The remarks.
    pub remarks: Vec<Remark>,
    /// Exceeded limits: warnings, or errors with `strict`.
    pub limits: Vec<Error>,
    /// Output for standard error: of print passes, and traces.
    pub output: String,
    /// The work, for statistics.
    pub stats: Work,
    /// The forecast's summary of the function.
    pub summary: Option<Box<FunctionSummary>>,
}

/// The parts of a function that the forecast keeps.
#[derive(Clone, Debug)]
pub struct FunctionSummary {
    /// The summary.
    pub summary: Summary,
    /// Its [place](Summary::place), an instruction of the view.
    pub place: Option<Inst>,
    /// Facts from the code for lints, if findings are collected.
    pub source: Option<Source>,
}

impl FunctionSummary {
    /// Returns the function's file, if facts for lints are kept.
    fn file(&self) -> Option<&str> {
        self.source.as_ref()?.file.as_deref()
    }
}

impl PassOutput {
    /// Returns the output of a pass that changes nothing in `function`.
    pub fn unchanged(function: &Function) -> Self {
        Self {
            edits: EditList::new(function),
            remarks: Vec::new(),
            limits: Vec::new(),
            output: String::new(),
            stats: Work::default(),
            summary: None,
        }
    }
}

/// A pass.
#[derive(Debug)]
pub struct Pass {
    /// Its name in pipelines.
    pub name: &'static str,
    /// Whether it may change the function. Passes that only print also run on excluded functions.
    pub edits: bool,
    run: fn(&Function, &RunContext) -> Result<PassOutput, Error>,
}

/// The name of the pass that prints the view.
pub const PRINT_VIEW: &str = "print<nvptx-ra-view>";

/// All passes.
pub static PASSES: &[Pass] = &[
    Pass { name: CSSA, edits: true, run: cssa::run },
    Pass { name: COPY_COALESCER, edits: true, run: copy_coalescer::run },
    Pass { name: SIMD_VIDEO, edits: true, run: simd_video::run },
    Pass { name: SHARED_ADDRESSES, edits: true, run: shared_addresses::run },
    Pass { name: REMAT, edits: true, run: remat::run },
    Pass { name: SCHEDULE, edits: true, run: schedule::run },
    Pass { name: REGALLOC, edits: true, run: regalloc::run },
    Pass { name: LOOP_SHAPE, edits: true, run: loop_shape::run },
    Pass { name: RENAME, edits: true, run: rename::run },
    Pass { name: FORECAST, edits: false, run: forecast::run },
    Pass { name: APPLY_EDITS, edits: true, run: apply_edits::run },
    Pass { name: PRINT_VIEW, edits: false, run: print_view },
];

/// Runs the pass called `name` on a function.
///
/// A function that is excluded by its attribute or `optnone` stays unchanged, without an error.
pub fn run(name: &str, function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    let pass = PASSES.iter().find(|pass| pass.name == name).ok_or_else(|| unknown(name))?;
    if pass.edits && is_excluded(context) {
        return Ok(PassOutput::unchanged(function));
    }
    // The scheduler may rely on the effects of inline assembly, so the checker gets the same effects.
    let told = (pass.name == SCHEDULE && context.config.assembly_loads)
        .then(|| with_assembly_loads(function, &context.classification));
    let function = told.as_ref().unwrap_or(function);
    let mut output = (pass.run)(function, context)?;
    if context.config.strict && !output.limits.is_empty() {
        return Err(output.limits.swap_remove(0));
    }
    if context.config.verify || context.config.verify_coalescing {
        verify(function, &mut output)?;
    } else if output.edits.edits().iter().any(Edit::is_unbounded_in_llvm) {
        // The shim refuses edits that would make LLVM abort. All other wrong edits are refused here.
        output.edits.apply(function)?;
    }
    if pass.edits {
        inject(context.config.inject)?;
    }
    trace_decisions(name, function, &output);
    Ok(output)
}

/// Logs each remark and each edit of a pass, if logging is enabled.
fn trace_decisions(pass: &str, function: &Function, output: &PassOutput) {
    if !log::log_enabled!(log::Level::Trace) {
        return;
    }
    let name = function.name();
    for Remark { name: title, message, .. } in &output.remarks {
        log::trace!("{pass} of '{name}': {title}: {message}");
    }
    for edit in output.edits.edits() {
        log::trace!("{pass} of '{name}': {}", edit.display(function.opcodes()));
    }
}

/// Proves with the symbolic checker that the edits preserve the function's meaning, and checks stores and reloads with
/// the slot verifier.
fn verify(function: &Function, output: &mut PassOutput) -> Result<(), Error> {
    let start = Instant::now();
    let unproven = check(function, &output.edits).err().unwrap_or_default();
    let at_slots = slots::errors(function, &output.edits);
    output.stats.lap("check", start);
    if unproven.is_empty() && at_slots.is_empty() {
        return Ok(());
    }
    let count = unproven.len() + at_slots.len();
    // The first error of each check.
    let found = [unproven.first().map(ToString::to_string), at_slots.first().map(ToString::to_string)];
    let first = found.into_iter().flatten().collect::<Vec<_>>().join("; at a slot: ");
    Err(Error::new(
        ErrorKind::Verify,
        format!("the checker finds {count} errors, first: {first}"),
        "the function is left as LLVM made it; please report this",
    ))
}

fn unknown(name: &str) -> Error {
    let known: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
    Error::pass(format!("there is no pass '{name}'"), format!("use {}", known.join(" or ")))
}

/// Whether passes with edits leave a function alone.
pub(crate) fn is_excluded(context: &RunContext) -> bool {
    let config = &context.config;
    !config.enabled || (context.is_optnone && !config.optnone)
}

/// Returns an injected error after all work is done, so that tests can prove that a failed pass has no effect.
fn inject(fault: Injection) -> Result<(), Error> {
    match fault {
        Injection::None | Injection::WrongEdits => Ok(()),
        Injection::Error => Err(Error::pass("the option inject=error requests an error", "remove inject=error")),
        Injection::LatePanic => {
            Err(Error::pass("the option inject=late-panic requests an error", "remove inject=late-panic"))
        }
        Injection::Panic => panic!("a panic was asked for by inject=panic"),
    }
}

/// Returns the printed trace of a pass, under a heading: the unchanged function if requested, the pass's own text, and
/// the edits with the option `trace`. Empty if there is nothing to print.
fn traced(
    heading: &str,
    function: &Function,
    context: &RunContext,
    with_view: bool,
    own: &str,
    edits: &EditList,
) -> String {
    let mut text = if with_view { function.to_string() } else { String::new() };
    text.push_str(own);
    if context.config.trace.contains(Trace::EDITS) {
        edits.edits().iter().for_each(|edit| text += &format!("{}\n", edit.display(function.opcodes())));
    }
    if text.is_empty() { text } else { format!("nvptx-ra: {heading} of '{}'\n{text}", function.name()) }
}

fn print_view(function: &Function, _context: &RunContext) -> Result<PassOutput, Error> {
    Ok(PassOutput { output: function.to_string(), ..PassOutput::unchanged(function) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use crate::function::{Block, FunctionBuilder, Position, RegClass, VReg};

    /// The shim registers the passes of this list under the same names, and with the same `edits` flags.
    #[test]
    fn the_shim_knows_the_same_passes() {
        let list = include_str!("../../cpp-shim/Passes.def");
        let rows = list.lines().filter(|line| line.contains("(") && line.contains('"') && !line.starts_with("//"));
        let registered: Vec<(&str, bool)> = rows
            .map(|row| {
                let name = row.split('"').nth(1).expect("a name in quotes");
                (name, row.starts_with("MACHINE_PASS(") && row.contains(", true,"))
            })
            .collect();
        let passes: Vec<(&str, bool)> = PASSES.iter().map(|pass| (pass.name, pass.edits)).collect();
        let printer_of_the_forecast = ("print<nvptx-forecast>", false);
        assert!(registered.contains(&printer_of_the_forecast), "a form of nvptx-forecast that the shim alone has");
        let of_both: Vec<_> = registered.into_iter().filter(|&pass| pass != printer_of_the_forecast).collect();
        assert_eq!(of_both, passes);
    }

    /// Returns a context with these options.
    pub(super) fn context(parameters: &str) -> RunContext {
        let config = Config::resolve(&Layers { parameters, ..Layers::default() }).expect("the options are right");
        RunContext::new(config, Arc::new(Classification::new([])), "sm_90")
    }

    fn empty() -> Function {
        FunctionBuilder::new("k", Arc::default()).finish()
    }

    /// An unknown name is refused, with a list of the known names.
    #[test]
    fn unknown_pass() {
        let error = run("nvptx-nothing", &empty(), &context("")).expect_err("there is no such pass");
        assert!(error.to_string().contains("nvptx-copy-coalescer"), "{error}");
    }

    /// The printing pass prints the text form and changes nothing.
    #[test]
    fn prints_the_view() {
        let function = empty();
        let output = run(PRINT_VIEW, &function, &context("")).expect("printing cannot fail");
        assert_eq!(output.output, function.to_string());
        assert!(output.edits.is_empty());
    }

    /// An error of the slot verifier is an error of the pass, even if the symbolic checker proves the values.
    #[test]
    fn slots_are_verified() {
        let text = "mfv 1\nfunction \"k\"\nopcode LD_i32\nopcode ST_i32\nregs %0 B32\nbb0: frequency 1.0 depth 0\n\
            %0 = LD_i32 0 :: read\nST_i32 %0, 1 :: write\nend\n";
        let function = Function::parse(text).expect("a view");
        let place = Position { block: Block(0), before: Some(Inst(1)) };
        let verified = |align: u64| {
            let mut output = PassOutput::unchanged(&function);
            let edits = &mut output.edits;
            let (slot, again) = (edits.create_slot(4, align), edits.create_register(RegClass::B32));
            edits.insert_spill(place, VReg(0), slot);
            edits.insert_reload(place, again, slot);
            edits.push(Edit::SetRegister { inst: Inst(1), operand: 0, reg: again });
            verify(&function, &mut output).map_err(|error| (error.kind, error.problem))
        };
        assert_eq!(verified(4), Ok(()));
        let (kind, problem) = verified(2).expect_err("the slot is not aligned");
        assert_eq!(kind, ErrorKind::Verify);
        assert!(problem.starts_with("the checker finds 2 errors, first: misaligned slot: %0 and slot0"), "{problem}");
    }

    /// An injected error occurs in passes with edits only.
    #[test]
    fn injected_error() {
        let context = context("inject=error");
        assert!(run(COPY_COALESCER, &empty(), &context).is_err());
        assert!(run(PRINT_VIEW, &empty(), &context).is_ok());
    }
}
