//! Formats the comparison as JSON, with all kernels.

use serde_json::{Value, json};

use super::Report;
use super::build::{Figures, PtxasWarning};
use super::kernel::{Direction, Kernel, Rank, Side};
use super::pair::FilePair;
use crate::meaning::Meaning;

pub(super) fn of(report: &Report) -> Value {
    let files: Vec<Value> = report.files.iter().map(|file| of_file(file, report.tolerance)).collect();
    let ptxas: Vec<Value> =
        report.toolchains.iter().map(|one| json!({ "name": one.name, "path": one.ptxas })).collect();
    json!({
        "version": nvptx_ra::VERSION, "ptxas": ptxas, "tolerance": report.tolerance, "is_worse": report.is_worse(),
        "is_open": report.is_open(), "files": files,
    })
}

fn of_file(file: &FilePair, tolerance: f64) -> Value {
    let kernels: Vec<Value> = file.kernels.iter().map(|kernel| of_kernel(kernel, tolerance)).collect();
    let version = file.version.map(|(major, minor)| format!("{major}.{minor}"));
    json!({ "file": file.file, "ptx_version": version, "failures": file.failures, "unread": file.unread, "kernels": kernels })
}

fn of_kernel(kernel: &Kernel, tolerance: f64) -> Value {
    let rank = match kernel.rank(tolerance) {
        Rank::Meaning => "meaning",
        Rank::Worse => "worse",
        Rank::Better => "better",
        Rank::Other => "other",
        Rank::SameCode => "same code",
    };
    let changes: Vec<Value> = kernel
        .changes(tolerance)
        .into_iter()
        .map(|change| {
            let direction = match change.direction {
                Direction::Worse => "worse",
                Direction::Better => "better",
                Direction::Neither => "neither",
            };
            json!({ "direction": direction, "text": change.text })
        })
        .collect();
    let [old, new] = kernel.sides.each_ref().map(of_side);
    json!({
        "name": kernel.name, "line": kernel.line, "rank": rank, "changes": changes, "old": old, "new": new,
        "time": kernel.time.map(|time| time.json("new")),
    })
}

fn of_side(side: &Side) -> Value {
    let Figures { registers, spilled, stack, warps, instructions, said } = &side.figures;
    let said: Vec<Value> = said
        .iter()
        .map(|(code, PtxasWarning { text, count, is_loss })| {
            json!({ "code": code, "text": text, "count": count, "is_loss": is_loss })
        })
        .collect();
    let statements = match side.meaning {
        Meaning::Same { statements, .. } => Some(statements),
        _ => None,
    };
    let reason = Some(side.meaning.reason()).filter(|reason| !reason.is_empty());
    json!({
        "meaning": side.meaning.word(), "reason": reason, "statements": statements, "registers": registers,
        "spilled_bytes": spilled, "stack_bytes": stack, "warps": warps, "instructions": instructions, "said": said,
    })
}
