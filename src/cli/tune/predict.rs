//! How long a variant takes beside stock, by a [model of time](nvptx_ra::sass::time), and what limits stock.
//!
//! One launch of one or two blocks is enough: the model fills an SM with them.

use nvptx_ra::emulate::{Launches, trace};
use nvptx_ra::sass::time::bound::Resource;
use nvptx_ra::sass::time::memory::Data;
use nvptx_ra::sass::time::prediction::{self, Prediction};
use nvptx_ra::sass::time::verdict::Verdict;
use nvptx_ra::tune::predicted::{Cause, Predicted, Source};

use super::agreement::Terms;
use crate::interrupt::is_interrupted;
use crate::time::code::Code;

/// The most instructions that are issued on an SM for a kernel, and so many more for each byte of stock's PTX: ptxas takes
/// longer for larger kernels, too, and a prediction is not to take much longer than ptxas.
const ISSUED: u64 = 300_000;
const ISSUED_FOR_EACH_BYTE: u64 = 4;

/// The share of these that the traces of the warps may have: the blocks that ran stand for all that an SM holds.
const TRACED: u64 = 4;

/// A bandwidth limits stock alone where it takes this share of the predicted time.
const NEARLY_ALL: f64 = 0.9;

/// How many launches are drawn until one ends within these. A walk through the code knows less than any of them.
const LAUNCHES: u64 = 4;

/// What the model says of stock, and how it was asked.
pub(super) struct OfStock {
    prediction: Prediction,
    launches: Launches,
    most_issued: u64,
}

/// What the model says of stock with so many bytes of PTX; nothing where it knows nothing of it, or all launches take too
/// long.
pub(super) fn of_stock(code: &Code, kernel: &str, bytes: usize, terms: Terms) -> Option<OfStock> {
    let most_issued = ISSUED + ISSUED_FOR_EACH_BYTE * bytes as u64;
    let drawn = |seed| Launches {
        count: 1,
        more: 0,
        seed,
        threads: terms.threads,
        dynamic_shared: terms.dynamic_shared.unwrap_or_default(),
        most_steps: most_issued / TRACED,
        is_unwanted: is_interrupted,
        ..Launches::default()
    };
    let ends = |launches: &Launches| {
        let block = trace(&code.machine.program, None, kernel, launches, |_, _| vec![0]);
        block.is_ok_and(|block| !block.is_cut)
    };
    let predicted = |launches: Launches| {
        let said = code.predict_within(kernel, &launches, most_issued);
        let said = said.inspect_err(|reason| log::debug!("{kernel}: no prediction: {reason}")).ok();
        said.map(|prediction| OfStock { prediction, launches, most_issued })
    };
    (1..=LAUNCHES).map(drawn).filter(ends).find_map(predicted).or_else(|| predicted(drawn(1)))
}

/// A variant beside stock, on the same launch. Two beginnings of a launch do not do the same work, and a walk goes other ways
/// than a run: nothing is said of these.
pub(super) fn beside(stock: &OfStock, variant: &Code, kernel: &str) -> Option<Predicted> {
    let OfStock { prediction: stock, launches, most_issued } = stock;
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

/// What limits stock. A walk, or a launch that reaches little, says nothing of it.
pub(super) fn cause(OfStock { prediction: stock, .. }: &OfStock) -> Option<Cause> {
    if stock.source != prediction::Source::Run || !reaches_half(stock) {
        return None;
    }
    let is_bandwidth = |data| matches!(stock.limit(data), Resource::L2 | Resource::Dram);
    let takes_nearly_all = [Data::InL2, Data::InDram]
        .into_iter()
        .all(|data| stock.busiest(data).is_some_and(|(_, share)| share >= NEARLY_ALL));
    Some(match stock.limit(Data::InL2) {
        _ if is_bandwidth(Data::InL2) && is_bandwidth(Data::InDram) => {
            if takes_nearly_all && stock.local_bytes == 0 {
                Cause::Bandwidth
            } else {
                Cause::Latency
            }
        }
        Resource::Latency | Resource::L2 | Resource::Dram => Cause::Latency,
        Resource::Issue | Resource::Unit(_) | Resource::Queue => Cause::Work,
    })
}

/// Whether half of the instructions ran: drawn parameters may leave most of the code out.
fn reaches_half(stock: &Prediction) -> bool {
    let rows = || stock.ran.waited.iter().flatten();
    2 * rows().filter(|row| row.issued > 0).count() >= rows().count()
}
