//! Verdicts on kernels, as text and as JSON.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::Kernel;
use super::assembler::Assembler;
use crate::input;
use crate::meaning::{Compared, Counterexample, Meaning};

/// Formats a line for each kernel and assembler.
pub(super) fn as_text(path: &Path, assemblers: &[Assembler], kernels: &[Kernel]) -> String {
    let mut text = format!("{}\n", input::name(path));
    for kernel in kernels {
        for (compared, assembler) in kernel.compared.iter().zip(assemblers) {
            _ = writeln!(text, "  {}, {}: {}", kernel.name, assembler.name(), compared.meaning);
        }
        match &kernel.report {
            Some(Ok(report)) => _ = writeln!(text, "  {}: a report is in {}", kernel.name, report.display()),
            Some(Err(error)) => _ = writeln!(text, "  {}: no report: {}; {}", kernel.name, error.problem, error.remedy),
            None => {}
        }
    }
    text
}

/// Formats all results for a file.
pub(super) fn as_json(path: &Path, assemblers: &[Assembler], kernels: &[Kernel]) -> Value {
    let one = |(compared, assembler): (&Compared, &Assembler)| {
        let Compared { meaning, counterexample } = compared;
        let mut all = json!({
            "assembler": assembler.name(), "release": assembler.release(), "verdict": meaning.word(),
        });
        if let Meaning::Same { launches, statements } = meaning {
            (all["launches"], all["statements"]) = (json!(launches), json!(statements));
        } else {
            all["reason"] = meaning.reason().into();
        }
        if let Some(counterexample) = counterexample {
            all["shown"] = of_counterexample(counterexample);
        }
        all
    };
    let kernel = |kernel: &Kernel| {
        let said: Vec<Value> = kernel.compared.iter().zip(assemblers).map(one).collect();
        let report = kernel.report.as_ref().and_then(|report| report.as_ref().ok());
        let reason = kernel.report.as_ref().and_then(|report| Some(&report.as_ref().err()?.problem));
        json!({ "kernel": kernel.name, "assemblers": said, "report": report, "no_report": reason })
    };
    json!({ "file": input::name(path), "kernels": kernels.iter().map(kernel).collect::<Vec<_>>() })
}

fn of_counterexample(counterexample: &Counterexample) -> Value {
    let difference = &counterexample.difference;
    let store = |number: usize| {
        difference.stores()[number].map(|store| {
            json!({
                "value": store.text(), "bits": format!("{:#x}", store.bits), "bytes": store.bytes, "thread": store.thread,
                "address": format!("{:#x}", store.address), "line": (number == 0).then_some(store.line),
            })
        })
    };
    let parameters: serde_json::Map<String, Value> =
        difference.parameters.iter().map(|(name, value)| (name.clone(), format!("{value:#x}").into())).collect();
    json!({
        "grid": counterexample.shape[0], "block": counterexample.shape[1], "parameters": parameters, "instruction": counterexample.instruction,
        "ptx": store(0), "machine": store(1),
    })
}
