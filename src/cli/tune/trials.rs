//! All trials of a search, as one line of JSON for each kernel: the data from which the order of recipes is learned.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use nvptx_ra::error::Error;
use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::kernel::{Kernel, TriedVariant};
use nvptx_ra::tune::recipe::Recipe;
use nvptx_ra::tune::search::KernelId;
use serde_json::{Value, json};

use super::tuning::Tuning;
use super::winners::Comparer;

/// The number of best variants whose time is predicted.
const PREDICTED: usize = 4;

/// Appends the trials of all kernels to a file.
pub(super) fn write(path: &Path, tuning: &Tuning<'_>, comparer: &Comparer<'_>) -> Result<(), Error> {
    let problem = |error| Error::file(path, &error);
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(problem)?;
    for id in tuning.search.kernels.ids() {
        // Each line is written by one call, so that lines of several processes do not mix.
        file.write_all(format!("{}\n", of_kernel(id, tuning, comparer)).as_bytes()).map_err(problem)?;
    }
    Ok(())
}

fn of_kernel(id: KernelId, tuning: &Tuning<'_>, comparer: &Comparer<'_>) -> Value {
    let (search, objective) = (&tuning.search, &tuning.search.objective);
    let kernel = &search.kernels[id];
    let wins = kernel.winners(objective);
    let predicted = |tried: &TriedVariant| {
        let is_one = wins.iter().take(PREDICTED).any(|winner| *winner == tried.variant);
        is_one.then(|| comparer.predicted_beside(id, &tuning.slices[id], kernel.block, &tried.variant)).flatten()
    };
    let tried = |tried: &TriedVariant| {
        let predicted = predicted(tried).map(|predicted| json!([predicted.ratio, predicted.source.word()]));
        json!({
            "choice": tried.variant.to_string(),
            "recipes": recipes(kernel, tried),
            "wins": wins.contains(&tried.variant),
            "text": tried.text(),
            "figures": tried.figures.as_ref().map(figures),
            "predicted": predicted,
        })
    };
    let traits = kernel.traits(objective).numbers();
    json!({
        "kernel": kernel.name, "traits": traits, "stock": figures(&kernel.stock),
        "tried": kernel.tried.iter().map(tried).collect::<Vec<Value>>(),
    })
}

/// Returns the names of the recipes that have made a variant. A variant that spills the values of an inspection belongs
/// to the inspection's recipe.
fn recipes(kernel: &Kernel, tried: &TriedVariant) -> Vec<String> {
    let all = Recipe::all();
    let of_inspection = kernel.inspection_of(&tried.variant).into_iter();
    kernel.recipes_of(&tried.variant).chain(of_inspection).map(|number| all[number].name()).collect()
}

fn figures(of: &Figures) -> Value {
    json!({
        "registers": of.ptxas_report.registers, "spilled": of.spill_bytes(), "cost": of.spill_cost(), "warps": of.warps,
        "instructions": of.instructions(), "local": of.sass.local,
    })
}
