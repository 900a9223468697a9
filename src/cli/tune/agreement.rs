//! Comparison of a variant with stock: the PTX of both runs on the CPU, with the same few launches.
//!
//! The launches are drawn from a fixed seed. A bound on instructions keeps the cost far below the cost of the search.

use nvptx_ra::emulate::{Comparison, Launches, Program, Reference, Verdict};
use nvptx_ra::error::Error;
use nvptx_ra::ptx::Module;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::tune::agreement::{Agreement, Difference};
use nvptx_ra::tune::findings::{Compared, ComparisonCoverage, Executed};
use nvptx_ra::tune::price::Work;

use crate::compare;
use crate::interrupt::is_interrupted;

/// The most warp instructions of a comparison for each ptxas run that a search of the kernel may make: a constant, and
/// a number for each byte of stock's PTX. ptxas also takes longer for larger kernels.
const STEPS_FOR_EACH_RUN: u64 = 6_000;
const STEPS_FOR_EACH_BYTE: u64 = 2;

/// The interpreter's time for a warp instruction, and the number of times that each instruction is interpreted at most.
/// Stock and the variant each run as PTX and as machine code.
pub(crate) const MICROSECONDS_OF_A_STEP: u64 = 4;
const RUNS_OF_A_STEP: u64 = 4;

/// The most additional launches that follow each launch.
const MORE: u32 = 2;

/// The limit of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ComparisonBound {
    /// The limit for a search with this many ptxas runs.
    Runs(usize),
    /// An amount of work.
    Work(Work),
}

impl Default for ComparisonBound {
    fn default() -> Self {
        Self::Runs(0)
    }
}

/// How a kernel is launched, and how exactly results are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ComparisonSettings {
    /// The most threads of a block, if the kernel does not state them.
    pub(crate) threads: Option<u32>,
    /// Bytes of shared memory that a launch adds, if known.
    pub(crate) dynamic_shared: Option<u32>,
    /// Whether floating-point results must agree in every bit.
    pub(crate) is_exact: bool,
    /// The limit.
    pub(crate) bound: ComparisonBound,
}

/// Compares the PTX of a variant of a kernel with stock's PTX, and then the machine code, if both have it. If both
/// compute the same in all launches, the result includes how much code was executed. If both completed a launch, it
/// includes what both executed.
///
/// The machine code runs on the launches of the PTX, with the rest of their instruction limit. ptxas may fuse different
/// products and sums in the two programs. Therefore numbers may differ within a tolerance. A difference counts only if
/// stock's machine code computes the same as stock's PTX.
pub(super) fn compare(
    kernel: &str,
    [stock, variant]: [&[u8]; 2],
    machine: Option<[&Machine; 2]>,
    settings: ComparisonSettings,
) -> Compared {
    let program = |name, text| Ok::<_, Error>(Program::new(&Module::read(name, text)?));
    let [first, second] = match (program("stock.ptx", stock), program("variant.ptx", variant)) {
        (Ok(first), Ok(second)) => [first, second],
        (Err(error), _) => return of_stock(error),
        (_, Err(error)) => return Agreement::NotComparable(error.problem).into(),
    };
    let mut reasons = Vec::new();
    let (mut is_same, mut ends_any) = (false, false);
    let (mut coverage, mut executed) = (ComparisonCoverage::default(), Executed::default());
    for launches in launches(stock.len(), settings) {
        let mut reference = Reference::new(&first, kernel, &launches);
        let comparison = reference.compare(&second);
        if let Some(difference) = comparison.difference() {
            return different(difference.to_string(), kernel, &launches);
        }
        is_same |= comparison.is_same();
        for (which, side) in comparison.executed.iter().flatten().enumerate() {
            ends_any = true;
            executed.instructions[which] += side.instructions;
            executed.local[which] += side.local;
        }
        let statements = comparison.sides[0].coverage.statements;
        coverage.statements = coverage.statements.max(statements);
        for launched in &comparison.launches {
            match &launched.verdict {
                Verdict::NotComparable { program: 0, reason } => reasons.push((true, reason.clone())),
                Verdict::NotComparable { reason, .. } if is_fault(reason) => {
                    return different(format!("the second program alone: {reason}"), kernel, &launches);
                }
                Verdict::NotComparable { reason, .. } => reasons.push((false, format!("the variant: {reason}"))),
                _ => {}
            }
        }
        if let Some([stock, variant]) = machine {
            let of_variant = reference.compare_closely(&variant.program);
            let of_stock = reference.compare_closely(&stock.program);
            if let (Some(difference), None) = (of_variant.difference(), of_stock.difference()) {
                return different_code(difference.to_string(), kernel, &launches);
            }
            let counts = [stock.counts(kernel, &of_stock.ended[1]), variant.counts(kernel, &of_variant.ended[1])];
            let ended = |comparison: &Comparison| {
                comparison.launches.iter().map(|one| one.verdict == Verdict::Same).collect::<Vec<_>>()
            };
            if let [Some(of_stocks), Some(of_variants)] = counts
                && ended(&of_stock) == ended(&of_variant)
                && of_stock.equal() > 0
            {
                let all = executed.machine.get_or_insert_default();
                all[0] += of_stocks.issued();
                all[1] += of_variants.issued();
            }
        }
    }
    // If stock completes no launch, no variant can be compared.
    let is_stocks = !ends_any && reasons.iter().all(|(is_stocks, _)| *is_stocks);
    let is_whole = reasons.is_empty();
    let agreement = match reasons.into_iter().next() {
        Some((_, reason)) if !is_same => Agreement::NotComparable(reason),
        _ => Agreement::Same,
    };
    let (executed, coverage) = (ends_any.then_some(executed), is_whole.then_some(coverage));
    Compared { agreement, is_stocks, folder: None, coverage, executed, predicted: None }
}

/// Returns the result for every variant if stock itself cannot be run.
pub(super) fn of_stock(error: Error) -> Compared {
    Compared { is_stocks: true, ..Agreement::NotComparable(error.problem).into() }
}

/// Returns the result for a variant whose PTX computes the same as stock's and whose machine code does not.
fn different_code(place: String, kernel: &str, launches: &Launches) -> Compared {
    let command = command(kernel, launches).replace(VARIANT, VARIANT_CODE).replace(" --exact", "");
    Agreement::Different(Difference { place: format!("machine code: {place}"), command }).into()
}

/// The files in the folder of a report.
pub(super) const VARIANT: &str = "variant.ptx";
pub(super) const VARIANT_CODE: &str = "variant.cubin";

fn different(place: String, kernel: &str, launches: &Launches) -> Compared {
    Agreement::Different(Difference { place, command: command(kernel, launches) }).into()
}

/// Whether the variant alone stopped because of its own error. Stock completed the same launch, so an undefined value,
/// for example, comes from a slot that was never written. Races and limits may occur by chance and are no errors.
fn is_fault(reason: &str) -> bool {
    reason.contains(" undefined") || reason.starts_with("an access ")
}

/// Returns the launches of a kernel with this many bytes of PTX: one of a single block, which takes few instructions,
/// and one of several blocks. Each launch may execute half of the instructions of the limit. An attempt may execute a
/// sixth of them, so that attempts with smaller sizes can follow.
fn launches(bytes: usize, settings: ComparisonSettings) -> [Launches; 2] {
    let steps = match settings.bound {
        ComparisonBound::Runs(runs) => runs as u64 * (STEPS_FOR_EACH_RUN + STEPS_FOR_EACH_BYTE * bytes as u64),
        ComparisonBound::Work(work) => work.0 / (MICROSECONDS_OF_A_STEP * RUNS_OF_A_STEP),
    };
    let default = Launches::default();
    let launches = Launches {
        count: 1,
        more: MORE,
        threads: settings.threads,
        dynamic_shared: settings.dynamic_shared.unwrap_or(default.dynamic_shared),
        is_exact: settings.is_exact,
        most_steps: (steps / 6).min(default.most_steps),
        most_steps_in_all: steps / 2,
        is_unwanted: is_interrupted,
        ..default
    };
    [Launches { grid: Some([1, 1, 1]), ..launches.clone() }, Launches { seed: 2, ..launches }]
}

fn command(kernel: &str, launches: &Launches) -> String {
    compare::command(["stock.ptx", VARIANT], kernel, launches)
}
