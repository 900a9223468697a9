//! How it is told what ptxas makes of kernels.

use std::fmt::Write as _;
use std::path::Path;

use nvptx_ra::emulate::Differing;
use serde_json::{Value, json};

use super::Kernel;
use super::assembler::Assembler;
use super::meaning::{Said, Shown};
use crate::input;

/// A line for each kernel and assembler.
pub(super) fn as_text(path: &Path, assemblers: &[Assembler], kernels: &[Kernel]) -> String {
    let mut text = format!("{}\n", input::name(path));
    for kernel in kernels {
        for ((said, instruction), assembler) in kernel.said.iter().zip(&kernel.instructions).zip(assemblers) {
            let what = match said {
                Said::Same([same, all]) => format!("same in {same} of {all} launches"),
                Said::Different(shown) => format!("DIFFERENT {}", difference(shown, instruction.as_deref())),
                Said::NotComparable(reason) => format!("not comparable: {reason}"),
            };
            _ = writeln!(text, "  {}, {}: {what}", kernel.name, assembler.name());
        }
        if let Some(report) = &kernel.report {
            _ = writeln!(text, "  {}: a report is in {}", kernel.name, report.display());
        }
    }
    text
}

/// A difference in a sentence, with the launch that shows it.
pub(super) fn difference(shown: &Shown, instruction: Option<&str>) -> String {
    let Shown { difference, shape, .. } = shown;
    let mut text = String::new();
    match &difference.differing {
        Differing::Stores { address, buffer, stores, places, sources } => {
            _ = match buffer {
                Some((name, offset)) => write!(text, "at {name}{offset:+}"),
                None => write!(text, "at {address:#x}"),
            };
            for (number, which) in ["PTX", "machine code"].into_iter().enumerate() {
                let Some(store) = &stores[number] else {
                    _ = write!(text, "; {which} stores nothing");
                    continue;
                };
                _ = write!(text, "; {which} stores {} by thread {} in {}", store.text(), store.thread, places[number]);
                if let Some(instruction) = instruction.filter(|_| number == 1) {
                    _ = write!(text, " ({instruction})");
                }
                if let Some(source) = &sources[number] {
                    _ = write!(text, " ({source})");
                }
            }
        }
        Differing::End { endless, reason, steps } => {
            let [endless, other] = if *endless == 0 { ["PTX", "machine code"] } else { ["machine code", "PTX"] };
            _ = write!(text, "{endless} does not end: {reason}; {other} ends after {steps} instructions of warps");
        }
    }
    let [grid, block] = shape.map(|sizes| sizes.map(|size| size.to_string()).join(","));
    _ = write!(text, "; --grid {grid} --block {block}");
    for (name, value) in &difference.parameters {
        _ = write!(text, ", {name} = {value:#x}");
    }
    text
}

/// All that is said of a file.
pub(super) fn as_json(path: &Path, assemblers: &[Assembler], kernels: &[Kernel]) -> Value {
    let one = |((said, instruction), assembler): ((&Said, &Option<String>), &Assembler)| {
        let head = json!({ "assembler": assembler.name(), "release": assembler.release() });
        let more = match said {
            Said::Same([same, all]) => json!({ "verdict": "same", "same": same, "launches": all }),
            Said::NotComparable(reason) => json!({ "verdict": "not comparable", "reason": reason }),
            Said::Different(shown) => of_difference(shown, instruction.as_deref()),
        };
        let mut all = head.as_object().cloned().unwrap_or_default();
        all.extend(more.as_object().cloned().unwrap_or_default());
        Value::from(all)
    };
    let kernel = |kernel: &Kernel| {
        let said: Vec<Value> = kernel.said.iter().zip(&kernel.instructions).zip(assemblers).map(one).collect();
        json!({ "kernel": kernel.name, "assemblers": said, "report": kernel.report })
    };
    json!({ "file": input::name(path), "kernels": kernels.iter().map(kernel).collect::<Vec<_>>() })
}

fn of_difference(shown: &Shown, instruction: Option<&str>) -> Value {
    let difference = &shown.difference;
    let store = |number: usize| {
        difference.stores()[number].map(|store| {
            json!({ "value": store.text(), "bits": format!("{:#x}", store.bits), "bytes": store.bytes, "thread": store.thread,
                "line": (number == 0).then_some(store.line), "address": format!("{:#x}", store.address) })
        })
    };
    let parameters: serde_json::Map<String, Value> =
        difference.parameters.iter().map(|(name, value)| (name.clone(), format!("{value:#x}").into())).collect();
    json!({
        "verdict": "different", "reason": self::difference(shown, instruction), "grid": shown.shape[0],
        "block": shown.shape[1], "parameters": parameters, "instruction": instruction, "ptx": store(0), "machine": store(1),
    })
}
