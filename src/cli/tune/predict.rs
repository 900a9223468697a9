//! Predicted time of a variant relative to stock's, by a [model of time](nvptx_ra::sass::time).
//!
//! One launch of one or two blocks is enough: the model fills an SM with them.

use nvptx_ra::emulate::{Launches, trace};
use nvptx_ra::sass::time::prediction::{self, Prediction};
use nvptx_ra::sass::time::verdict::Verdict;
use nvptx_ra::tune::predicted::{Predicted, Source};

use super::agreement::{ComparisonBound, ComparisonSettings};
use crate::interrupt::is_interrupted;
use crate::time::code::Code;

/// The most instructions that are issued on an SM for a kernel: a constant, and a number for each byte of stock's PTX.
/// ptxas also takes longer for larger kernels, and a prediction should not take much longer than ptxas.
const ISSUED: u64 = 300_000;
const ISSUED_FOR_EACH_BYTE: u64 = 4;

/// The time that the model takes for an issued instruction, including its part of the trace, for stock and a variant
/// together.
const MICROSECONDS_OF_AN_ISSUE: u64 = 4;

/// The quotient of issued and traced instructions. It is larger than 1 because the traced blocks stand for all blocks
/// on an SM.
const TRACED: u64 = 4;

/// The most launches that are tried until one completes within the limit. If none completes, the prediction is a walk
/// through the code, which is less exact.
const LAUNCHES: u64 = 4;

/// The prediction for stock, and its launches.
pub(crate) struct StockPrediction {
    prediction: Prediction,
    launches: Launches,
    most_issued: u64,
}

/// Predicts stock with this many bytes of PTX. If all launches take too long, the prediction is a walk. `None` if the
/// model does not cover the code.
pub(crate) fn of_stock(
    code: &Code,
    kernel: &str,
    bytes: usize,
    settings: ComparisonSettings,
) -> Option<StockPrediction> {
    let most_issued = match settings.bound {
        ComparisonBound::Runs(_) => ISSUED + ISSUED_FOR_EACH_BYTE * bytes as u64,
        ComparisonBound::Work(work) => work.0 / MICROSECONDS_OF_AN_ISSUE,
    };
    let drawn = |seed| Launches {
        count: 1,
        more: 0,
        seed,
        threads: settings.threads,
        dynamic_shared: settings.dynamic_shared.unwrap_or_default(),
        most_steps: most_issued / TRACED,
        is_unwanted: is_interrupted,
        ..Launches::default()
    };
    let ends = |launches: &Launches| {
        let block = trace(&code.machine.program, code.ptx.as_deref(), kernel, launches, |_, _| vec![0]);
        block.is_ok_and(|block| !block.is_cut)
    };
    let predicted = |launches: Launches| {
        let said = code.predict_within(kernel, &launches, most_issued);
        let said = said.inspect_err(|reason| log::debug!("{kernel}: no prediction: {reason}")).ok();
        said.map(|prediction| StockPrediction { prediction, launches, most_issued })
    };
    (1..=LAUNCHES).map(drawn).filter(ends).find_map(predicted).or_else(|| predicted(drawn(1)))
}

/// Predicts a variant on the same launch as stock. `None` if the predictions are not comparable: two incomplete
/// launches do not execute the same work, and a walk takes other paths than a run.
pub(crate) fn beside(stock: &StockPrediction, variant: &Code, kernel: &str) -> Option<Predicted> {
    let StockPrediction { prediction: stock, launches, most_issued } = stock;
    let variant = &variant.predict_within(kernel, launches, *most_issued).ok()?;
    let source = match (stock.source, variant.source) {
        (prediction::Source::Run, prediction::Source::Run) if reaches_half(stock) => Source::Run,
        (prediction::Source::Run, prediction::Source::Run) => Source::Part,
        (prediction::Source::Walk, prediction::Source::Walk) => Source::Walk,
        _ => return None,
    };
    let Verdict { ratio, uncertainty } = Verdict::of(stock, variant);
    let (stock, variant) = (stock.cycles_of_block(), variant.cycles_of_block());
    Some(Predicted { stock, variant, ratio, uncertainty, source })
}

/// Whether at least half of the instructions of the code were executed. With drawn parameters, a launch may skip most
/// of the code.
fn reaches_half(stock: &Prediction) -> bool {
    let rows = || stock.ran.waited.iter().flatten();
    2 * rows().filter(|row| row.issued > 0).count() >= rows().count()
}
