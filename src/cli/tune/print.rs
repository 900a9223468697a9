//! What a search says: progress, a table before and after, or one JSON object.

use std::fmt::Write as _;
use std::time::Instant;

use serde_json::{Value, json};

use super::compose::Composed;
use super::figures::Figures;
use super::rounds::Search;
use crate::report::shown_name;

/// A line on standard error after each round.
pub(super) fn progress(search: &Search<'_>, judged: usize, start: Instant) {
    let stock: u32 = search.kernels.iter().map(|kernel| kernel.stock.spill_bytes()).sum();
    let best: u32 = search.kernels.iter().map(|kernel| kernel.best(&search.aim).1.spill_bytes()).sum();
    let (runs, seconds) = (search.budget.runs, start.elapsed().as_secs());
    eprintln!("nvptx-ra: {judged} of {runs} variants of each kernel, {stock} → {best} bytes spilled, {seconds} s");
}

/// Before and after for each kernel, and in total.
pub(super) fn table(search: &Search<'_>, composed: &Composed) -> String {
    let names: Vec<String> = search.kernels.iter().map(|kernel| shown_name(&kernel.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    // Writing to a string cannot fail.
    let mut text = format!("{:width$}  spills (bytes)        warps  registers     instructions  choice\n", "kernel");
    for ((kernel, name), (variant, figures)) in search.kernels.iter().zip(&names).zip(&composed.chosen) {
        let row = row(&kernel.stock, figures);
        let _ = writeln!(text, "{name:width$}  {row}  {variant}");
    }
    let default = sum(search.kernels.iter().filter_map(|kernel| kernel.default()));
    let (stock, tuned) =
        (sum(search.kernels.iter().map(|kernel| kernel.stock)), sum(composed.chosen.iter().map(|c| c.1)));
    let _ = writeln!(text, "\nbytes spilled: {} by LLVM, {} by default, {} tuned", stock.0, default.0, tuned.0);
    let _ = writeln!(text, "instructions: {} by LLVM, {} by default, {} tuned", stock.1, default.1, tuned.1);
    let gained = |with_limit: bool| {
        let kernels = search.kernels.iter().zip(&composed.chosen);
        kernels.filter(move |(kernel, (variant, figures))| {
            figures.warps > kernel.stock.warps && variant.limits_registers() == with_limit
        })
    };
    let (by_shape, by_limit) = (gained(false).count(), gained(true).count());
    let _ = writeln!(
        text,
        "more warps: {by_shape} kernels, and {by_limit} with .maxnreg; {} runs of ptxas",
        search.judge.runs()
    );
    text
}

fn row(stock: &Figures, tuned: &Figures) -> String {
    let change = |before: u32, after: u32| {
        if before == after { before.to_string() } else { format!("{before} → {after}") }
    };
    format!(
        "{:>16}  {:>9}  {:>9}  {:>15}",
        change(stock.spill_bytes(), tuned.spill_bytes()),
        change(stock.warps, tuned.warps),
        change(stock.real.registers, tuned.real.registers),
        change(stock.sass.instructions, tuned.sass.instructions)
    )
}

/// Bytes spilled and instructions.
fn sum(figures: impl Iterator<Item = Figures>) -> (u32, u32) {
    figures.fold((0, 0), |sum, one| (sum.0 + one.spill_bytes(), sum.1 + one.sass.instructions))
}

/// Everything that was found.
pub(super) fn json(search: &Search<'_>, composed: &Composed) -> String {
    let kernels: Vec<Value> = search
        .kernels
        .iter()
        .zip(&composed.chosen)
        .map(|(kernel, (variant, figures))| {
            let tried: Vec<Value> = kernel
                .tried
                .iter()
                .map(|(variant, figures)| {
                    json!({ "choice": variant.to_string(), "figures": figures.map(|figures| figures.json()) })
                })
                .collect();
            json!({
                "name": kernel.name,
                "hash": kernel.hash,
                "choice": variant.to_string(),
                "stock": kernel.stock.json(),
                "default": kernel.default().map(|figures| figures.json()),
                "tuned": figures.json(),
                "tried": tried,
            })
        })
        .collect();
    let object = json!({ "cpu": composed.profile.cpu, "ptxas_runs": search.judge.runs(), "kernels": kernels });
    format!("{object:#}\n")
}
