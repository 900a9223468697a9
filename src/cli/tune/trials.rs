//! All trials of a search, as JSON, one kernel a line: what the order of recipes is learned from.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::recipe::Recipe;
use serde_json::{Value, json};

use super::tuning::Tuning;
use super::winners::Comparer;

const PREDICTED: usize = 4;

fn figures(of: &Figures) -> Value {
    json!({
        "registers": of.real.registers, "stores": of.real.spill_store_bytes, "loads": of.real.spill_load_bytes,
        "stack": of.real.stack_bytes, "shared": of.real.shared_bytes, "warps": of.warps, "largest": of.blocks.largest(),
        "instructions": of.sass.instructions, "local": of.sass.local, "work": of.sass.work,
        "stack_traffic": of.sass.stack_traffic, "shared_traffic": of.sass.shared_traffic, "advice": of.real.advice,
        "cost": of.spill_cost(), "rolled": of.rolled(),
    })
}

pub(super) fn write(path: &Path, tuning: &Tuning<'_>, comparer: &Comparer<'_>, name: String) {
    let recipes = Recipe::all();
    let search = &tuning.search;
    for id in search.kernels.ids() {
        let kernel = &search.kernels[id];
        let may_win = kernel.may_win_now(&search.aim);
        let mut tried: Vec<Value> = Vec::new();
        let mut better: Vec<(usize, Figures)> = Vec::new();
        for (at, tried_one) in kernel.tried.iter().enumerate() {
            let wins = tried_one.figures.is_some_and(|figures| may_win(&tried_one.variant, &figures));
            if let Some(figures) = tried_one.figures.filter(|_| wins) {
                if better.iter().all(|(_, other)| *other != figures) {
                    better.push((at, figures));
                }
            }
            let recipe = kernel.outcomes().filter(|(_, variant, _)| **variant == tried_one.variant);
            let recipes: Vec<String> = recipe.map(|(number, _, _)| recipes[number].name()).collect();
            tried.push(json!({
                "choice": tried_one.variant.to_string(), "recipes": recipes, "better": wins, "text": tried_one.text(),
                "figures": tried_one.figures.as_ref().map(figures),
            }));
        }
        better.sort_by(|one, other| one.1.compare(&other.1, &search.aim.preference));
        for (at, _) in better.iter().take(PREDICTED) {
            let variant = &kernel.tried[*at].variant;
            if let Some(predicted) = comparer.predicted_beside(id, &tuning.slices[id], kernel.block, variant) {
                tried[*at]["ratio"] = json!(predicted.ratio);
                tried[*at]["source"] = json!(format!("{:?}", predicted.source));
            }
        }
        let line = json!({
            "file": name, "kernel": kernel.name, "threads": kernel.block.threads, "dynamic": kernel.block.dynamic_shared,
            "loops_alone": kernel.is_for_loops_alone, "runs": kernel.runs(),
            "stock": figures(&kernel.stock), "tried": tried,
        });
        let file = OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}
