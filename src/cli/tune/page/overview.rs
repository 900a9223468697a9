//! All kernels before and after.

use maud::{Markup, html};

use super::{Outcome, Tuned, change};
use crate::kernel_names;
use crate::page::bar;

/// Prints a row for each kernel, with a link to it. Bars show the remaining part of the spilled bytes.
pub(super) fn overview(tuned: &Tuned<'_>) -> Markup {
    let is_spilling = tuned.kernels.iter().any(|outcome| outcome.kernel.stock.spill_bytes() > 0);
    let is_timed = tuned.kernels.iter().any(|outcome| outcome.figures.timing.is_some());
    html! {
        div.overview {
            table {
                thead {
                    tr {
                        th.name { "kernel" }
                        th.number { "spills" br; small { "bytes" } }
                        th { @if is_spilling { "left" } }
                        th.number { "warps" br; small { "on an SM" } }
                        th.number { "local memory" br; small { "accesses" } }
                        th.number { "instructions" }
                        @if is_timed { th.number { "benchmark" br; small { "median" } } }
                        th.number { "executed" br; small { "× before" } }
                        th.number { "predicted" br; small { "× before" } }
                        th { "assurance" }
                        th { "choice" }
                    }
                }
                tbody { @for (number, outcome) in tuned.kernels.iter().enumerate() { (row(outcome, number, is_timed)) } }
            }
        }
    }
}

fn row(outcome: &Outcome<'_>, number: usize, is_timed: bool) -> Markup {
    let Outcome { kernel, variant, figures } = outcome;
    let stock = &kernel.stock;
    html! {
        tr {
            td { a href=(format!("#k{number}")) title=(kernel.name) { (kernel_names::short(&kernel.name)) } }
            td.number.better[outcome.saved() > 0] { (change(stock.spill_bytes(), figures.spill_bytes())) }
            td { @if stock.spill_bytes() > 0 { (bar(figures.spill_bytes(), stock.spill_bytes())) } }
            td.number.better[figures.warps > stock.warps] { (change(stock.warps, figures.warps)) }
            td.number { (change(stock.sass.local, figures.sass.local)) }
            td.number { (change(stock.sass.instructions, figures.sass.instructions)) }
            @if is_timed {
                td.number {
                    @if let (Some(before), Some(after)) = (stock.timing, figures.timing) {
                        (before.median) " → " (after.median)
                    }
                }
            }
            td.number { @if let Some(executed) = outcome.executed() { (format!("{:.2}", executed.ratio())) } }
            td.number { @if let Some(predicted) = outcome.predicted() { (format!("{:.2}", predicted.ratio)) } }
            td { (outcome.assurance()) }
            td.code { (variant) }
        }
    }
}
