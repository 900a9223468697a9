//! Formats a prediction as JSON.

use nvptx_ra::sass::time::memory::Data;
use nvptx_ra::sass::time::prediction::{Prediction, Source};
use serde_json::{Value, json};

use super::KernelPredictions;
use super::code::Code;

/// Formats an object for each kernel, with a prediction for each file.
pub(super) fn of(said: &[KernelPredictions], codes: &[&Code]) -> Value {
    let kernel = |said: &KernelPredictions| {
        let files = said.of.iter().zip(codes).map(|(one, code)| match one {
            Ok(prediction) => of_prediction(prediction, &code.name),
            Err(reason) => json!({ "file": code.name, "reason": reason }),
        });
        let verdict =
            said.verdict().map(|verdict| json!({ "ratio": verdict.ratio, "uncertainty": verdict.uncertainty }));
        json!({ "kernel": said.kernel, "files": files.collect::<Vec<_>>(), "verdict": verdict })
    };
    json!({ "kernels": said.iter().map(kernel).collect::<Vec<_>>() })
}

fn of_prediction(one: &Prediction, file: &str) -> Value {
    let source = match one.source {
        Source::Run => "run",
        Source::Beginning => "beginning",
        Source::Walk => "walk",
    };
    let of_block = one.cycles_of_block();
    json!({
        "file": file,
        "source": source,
        "reason": one.reason,
        "held": one.held,
        "warps": one.warps,
        "blocks": one.blocks,
        "cycles": { "l2": one.cycles[0], "dram": one.cycles[1] },
        "cycles_of_block": { "l2": of_block[0], "dram": of_block[1] },
        "bound": { "l2": one.bounds[0].largest(), "dram": one.bounds[1].largest() },
        "limit": { "l2": one.limit(Data::InL2).name(), "dram": one.limit(Data::InDram).name() },
        "instructions": one.instructions,
        "local_bytes": one.local_bytes,
        "without_local": one.without_local,
        "with_more": one.with_more,
    })
}
