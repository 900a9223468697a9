//! The gain of each axis of the search. An axis is a kind of choice.

use maud::{Markup, html};
use nvptx_ra::tune::axis::Axis;
use nvptx_ra::tune::variant::Variant;

use super::{Outcome, Tuned};
use crate::page::grouped;

/// The gain of an axis.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Tried variants that differ from the default on the axis.
    pub(super) tried: usize,
    /// Kernels with a winner that differs from the default on the axis.
    pub(super) winners: usize,
    /// Kernels whose winner differs on the axis and is better than all variants that do not differ on it.
    pub(super) needed: usize,
    /// Additional bytes that these winners' kernels would spill without a variant that differs on the axis.
    pub(super) bytes: u64,
}

/// Prints a row for each axis that was tried.
pub(super) fn axes(tuned: &Tuned<'_>) -> Markup {
    let shares = Axis::ALL.map(|axis| (axis, share(tuned, axis)));
    html! {
        div.scrolled {
            table.axes {
                thead {
                    tr {
                        th { "axis" }
                        th.number { "variants" br; small { "tried" } }
                        th.number { "winners" br; small { "have it" } }
                        th.number { "kernels" br; small { "need it" } }
                        th.number { "bytes" br; small { "more without" } }
                    }
                }
                tbody {
                    @for (axis, share) in shares.iter().filter(|(_, share)| share.tried > 0) {
                        tr {
                            td { (name(*axis)) }
                            td.number { (share.tried) }
                            td.number { (share.winners) }
                            td.number { (share.needed) }
                            td.number.better[share.bytes > 0] { (grouped(share.bytes)) }
                        }
                    }
                }
            }
        }
        p.note {
            "Winners often combine axes. A kernel needs an axis if the best of its variants without it is worse; the last column "
            "adds up how many more bytes these spill. Variants with the same PTX are judged once."
        }
    }
}

/// Computes the gain of an axis from the tried variants.
pub(super) fn share(tuned: &Tuned<'_>, axis: Axis) -> Share {
    let moves = |variant: &Variant| variant.moves_along(axis);
    let mut share = Share { tried: 0, winners: 0, needed: 0, bytes: 0 };
    for Outcome { kernel, variant, figures } in &tuned.kernels {
        share.tried += kernel.tried.iter().filter(|tried| moves(&tried.variant)).count();
        if moves(variant) {
            share.winners += 1;
            let (_, without) = kernel.best_but_for(tuned.objective, moves);
            share.needed += usize::from(figures.compare(&without, &tuned.objective.preference).is_lt());
            share.bytes += u64::from(without.spill_bytes().saturating_sub(figures.spill_bytes()));
        }
    }
    share
}

fn name(axis: Axis) -> &'static str {
    match axis {
        Axis::Compiler => "another compiler's code",
        Axis::Ahead => "inlining and unrolling",
        Axis::Optimisations => "LLVM's optimisations",
        Axis::Order => "order of instructions",
        Axis::AssemblyLoads => "reordered loads in inline assembly",
        Axis::SimdVideo => "SIMD video instructions",
        Axis::SharedAddresses => "shared addresses",
        Axis::Remat => "rematerialised values",
        Axis::Limit => "register limit",
        Axis::Loops => "loops that ptxas unrolls",
        Axis::Names => "register names and copies",
        Axis::Kept => "values spilled to shared memory",
        Axis::SmemSpilling => "ptxas's spills to shared memory",
        Axis::Blocks => "blocks that setmaxnreg needs",
        Axis::KernelName => "name of the kernel",
    }
}
