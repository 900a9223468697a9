//! One kernel: its figures before and after, the course of its search, and the best variants.

use maud::{Markup, html};
use nvptx_ra::tune::agreement::Agreement;
use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::variant::Variant;

use super::{Outcome, Tuned, change, course};
use crate::kernel_names;
use crate::page::counted;

/// The number of listed variants.
const LISTED: usize = 16;

pub(super) fn kernel(tuned: &Tuned<'_>, outcome: &Outcome<'_>, number: usize, is_open: bool) -> Markup {
    let Outcome { kernel, variant, figures } = outcome;
    html! {
        details open[is_open] {
            summary title=(kernel.name) {
                (kernel_names::readable(&kernel.name))
                span.brief {
                    (change(kernel.stock.spill_bytes(), figures.spill_bytes())) " bytes spilled, "
                    (change(kernel.stock.warps, figures.warps)) " warps, "
                    (change(kernel.stock.sass.instructions, figures.sass.instructions)) " instructions"
                }
            }
            div.panels id=(format!("k{number}")) {
                section {
                    h2 { "Before and after" }
                    (before_and_after(&kernel.stock, figures))
                    p { "Choice: " code { (variant) } }
                    @match outcome.agreement() {
                        None => {}
                        Some(Agreement::NotCompared) => { p.note { "Assurance: " (outcome.assurance()) "." } }
                        Some(agreement) => {
                            p.note {
                                "Assurance: " (outcome.assurance()) ". Run on the CPU beside the code " (tuned.stock) ": "
                                (agreement.sentence()) "."
                            }
                        }
                    }
                    @if let Some(executed) = outcome.executed() {
                        @let ([before, after], [local_before, local_after]) = (executed.instructions, executed.local);
                        p.note {
                            "Executed there: " (change(before, after)) " instructions of warps, of which "
                            (change(local_before, local_after)) " access local memory."
                        }
                    }
                    @if let Some(predicted) = outcome.predicted() {
                        p.note { "Predicted " (predicted.words()) ", by a model of time." }
                    }
                    @if let Some((variant, predicted)) = kernel.findings.first_slower() {
                        p.note { code { (variant) } " does not win: predicted " (predicted.words()) "." }
                    }
                    @for refused in &kernel.findings.refused {
                        p.note.warning { code { (refused.variant) } " computes other results: " (refused.difference.place) }
                    }
                }
                section { h2 { "Course of the search" } (course::of_kernel(tuned, outcome)) }
                section.wide { h2 { "Variants" } (variants(tuned, outcome)) }
            }
        }
    }
}

fn before_and_after(before: &Figures, after: &Figures) -> Markup {
    let rows = [
        ("spills", before.spill_bytes(), after.spill_bytes(), "bytes, stored and loaded by a thread, in the code"),
        ("warps", before.warps, after.warps, "on an SM"),
        ("registers", before.ptxas_report.registers, after.ptxas_report.registers, "of a thread"),
        ("local memory", before.sass.local, after.sass.local, "machine instructions that access it"),
        (
            "shared memory",
            before.ptxas_report.shared_bytes,
            after.ptxas_report.shared_bytes,
            "bytes of a block, static",
        ),
        ("instructions", before.sass.instructions, after.sass.instructions, "of the machine, without NOPs"),
    ];
    html! {
        table.figures {
            tr { th {} td.remark { "before" } td.remark { "after" } td {} }
            @for (name, before, after, remark) in rows {
                tr {
                    th { (name) } td.number.remark { (change(before, before)) } td.number { (change(after, after)) }
                    td.remark { (remark) }
                }
            }
            @if let (Some(before), Some(after)) = (before.timing, after.timing) {
                tr {
                    th { "benchmark" } td.number.remark { (before.median) } td.number { (after.median) }
                    td.remark { "median; less is better; half of the runs lie within " (after.spread) }
                }
            }
        }
        @if after.shared_spills > 0 {
            p.note {
                "Slots in shared memory move " (counted(usize::try_from(after.shared_spills).unwrap_or(usize::MAX), "byte"))
                ", times ten for each enclosing loop."
            }
        }
    }
}

/// Lists the tried variants, the best first: admissible variants, then other variants, then variants that ptxas
/// refused.
fn variants(tuned: &Tuned<'_>, outcome: &Outcome<'_>) -> Markup {
    let kernel = outcome.kernel;
    let counts = |figures: &Figures| figures.is_no_worse(&kernel.stock, tuned.objective.allowance);
    let judged = kernel.tried.iter().filter_map(|tried| Some((&tried.variant, tried.figures?)));
    let mut ranked: Vec<(&Variant, Figures)> = judged.collect();
    ranked.sort_by(|(_, one), (_, other)| {
        let by_counting = counts(other).cmp(&counts(one));
        by_counting.then_with(|| one.compare(other, &tuned.objective.preference))
    });
    let not_taken = kernel.tried.len() - ranked.len();
    html! {
        div.scrolled {
            table.variants {
                thead {
                    tr {
                        th.number { "spills" } th.number { "warps" } th.number { "registers" } th.number { "instructions" } th {}
                        th { "choice" }
                    }
                }
                tbody {
                    @for (variant, figures) in ranked.iter().take(LISTED) {
                        tr.best[**variant == outcome.variant].lost[!counts(figures)] {
                            td.number { (change(figures.spill_bytes(), figures.spill_bytes())) }
                            td.number { (figures.warps) }
                            td.number { (figures.ptxas_report.registers) }
                            td.number { (change(figures.sass.instructions, figures.sass.instructions)) }
                            td {
                                @if **variant == outcome.variant { "▶" }
                                @else if kernel.findings.has_refused(variant) { "other results than stock" }
                                @else if let Some(disqualified) = kernel.findings.disqualification_of(variant) { (disqualified.words()) }
                                @else if !counts(figures) { "worse than before" }
                            }
                            td.code { (variant) }
                        }
                    }
                }
            }
        }
        p.note {
            (counted(kernel.tried.len(), "variant")) " tried"
            @if ranked.len() > LISTED { "; the best " (LISTED) " are listed" }
            @if not_taken > 0 { "; ptxas refused " (not_taken) }
            "."
        }
    }
}
