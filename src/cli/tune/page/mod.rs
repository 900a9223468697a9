//! The HTML page of a search: each kernel before and after, the gain of each axis, and the course of the search.

mod axes;
mod course;
mod kernel;
mod overview;
#[cfg(test)]
mod tests;

use maud::html;

use nvptx_ra::tune::agreement::Agreement;
use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::findings::Executed;
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::objective::Objective;
use nvptx_ra::tune::predicted::Predicted;
use nvptx_ra::tune::variant::Variant;

use super::driver::EarlyStop;
use crate::page::{ALL_SHOWN, counted, grouped, shell};

/// The contents of a page.
pub(super) struct Tuned<'a> {
    /// The name of the input.
    pub(super) input: &'a str,
    pub(super) objective: &'a Objective,
    /// The description of stock.
    pub(super) stock: &'static str,
    /// The number of ptxas runs.
    pub(super) runs: usize,
    /// Why the search ended early, if it did.
    pub(super) early_stop: Option<EarlyStop>,
    pub(super) kernels: Vec<Outcome<'a>>,
}

/// A kernel with its final variant.
#[derive(Clone)]
pub(super) struct Outcome<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) variant: Variant,
    pub(super) figures: Figures,
}

impl Outcome<'_> {
    /// Returns the comparison of the final variant with stock.
    fn agreement(&self) -> Option<&Agreement> {
        self.kernel.findings.said_of(&self.variant)
    }

    /// Returns the evidence that the final variant computes the same as stock.
    fn assurance(&self) -> &'static str {
        let assurance = self.kernel.findings.assurance_of(&self.variant);
        assurance.zip(self.agreement()).map_or("", |(assurance, agreement)| assurance.words(agreement))
    }

    /// Returns what the final variant and stock executed.
    fn executed(&self) -> Option<Executed> {
        self.kernel.findings.executed_of(&self.variant)
    }

    /// Returns the predicted times of the final variant and stock.
    fn predicted(&self) -> Option<Predicted> {
        self.kernel.findings.predicted_of(&self.variant)
    }

    /// Returns the saved bytes of spills.
    fn saved(&self) -> u32 {
        self.kernel.stock.spill_bytes().saturating_sub(self.figures.spill_bytes())
    }
}

/// Prints the page. The same search gives the same bytes.
pub(super) fn page(tuned: &Tuned<'_>) -> String {
    let title = format!("{} tuned for {}", tuned.input, tuned.objective.architecture.name);
    let sum = |of: fn(&Outcome<'_>) -> u32| tuned.kernels.iter().map(|outcome| u64::from(of(outcome))).sum::<u64>();
    let (before, after) = (sum(|of| of.kernel.stock.spill_bytes()), sum(|of| of.figures.spill_bytes()));
    let said = html! {
        p {
            "What a search by nvptx-ra " (nvptx_ra::VERSION) " made of " (counted(tuned.kernels.len(), "kernel")) ", with "
            (counted(tuned.runs, "run")) " of ptxas: " b { (change(before, after)) }
            " bytes spilled. Before is the code " (tuned.stock) "; after is no worse in bytes spilled, warps and instructions, unless an "
            "option allowed it."
            @if let Some(early_stop) = tuned.early_stop { " " b { (early_stop.sentence()) "." } }
        }
    };
    // The details of the kernel with the largest gain are open.
    let most = (0..tuned.kernels.len()).max_by_key(|&number| (tuned.kernels[number].saved(), usize::MAX - number));
    let rest = html! {
        @if tuned.kernels.len() > 1 {
            (overview::overview(tuned))
            div.panels {
                section { h2 { "Course of the search" } (course::of_all(tuned)) }
                section { h2 { "What each axis won" } (axes::axes(tuned)) }
            }
        } @else {
            div.panels.single { section { h2 { "What each axis won" } (axes::axes(tuned)) } }
        }
        @for (number, outcome) in tuned.kernels.iter().enumerate() {
            (kernel::kernel(tuned, outcome, number, tuned.kernels.len() <= ALL_SHOWN || most == Some(number)))
        }
    };
    shell(&title, &said, &rest)
}

/// Prints the values before and after, with an arrow if they differ.
fn change<T: Into<u64>>(before: T, after: T) -> String {
    let [from, to] = [before, after].map(|number| grouped(number.into()));
    if from == to { from } else { format!("{from} → {to}") }
}
