//! The files of a recorded launch, for tests/bench/gpu/run.py.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use nvptx_ra::emulate::{Buffer, Kind, Record, Values};
use nvptx_ra::error::Error;
use serde_json::{Value, json};

use crate::output;

/// Writes launch.json, before.bin and after.bin. Both binary files contain the contents of the buffers, one after the
/// other.
pub(crate) fn write(kernel: &str, record: &Record, folder: &Path) -> Result<(), Error> {
    let all = |of: fn(&Buffer) -> &Vec<u8>| record.buffers.iter().flat_map(of).copied().collect::<Vec<u8>>();
    let files = [
        ("before.bin", all(|buffer| &buffer.before)),
        ("after.bin", all(|buffer| &buffer.after)),
        ("launch.json", format!("{:#}\n", as_json(kernel, record)).into_bytes()),
    ];
    fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
    files.iter().try_for_each(|(name, content)| output::write(&folder.join(name), content))
}

fn as_json(kernel: &str, record: &Record) -> Value {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            _ = write!(text, "{byte:02x}");
            text
        })
    };
    let parameters: Vec<Value> = record
        .parameters
        .iter()
        .map(|one| json!({ "name": one.name, "bytes": hex(&one.bytes), "pointers": one.pointers }))
        .collect();
    let buffer = |buffer: &Buffer| {
        let stored: Vec<Value> = buffer.stored.iter().map(|run| json!([run.offset, run.count, type_of(run)])).collect();
        json!({ "start": buffer.start, "bytes": buffer.before.len(), "stored": stored })
    };
    json!({
        "kernel": kernel, "grid": record.shape[0], "block": record.shape[1], "parameters": parameters,
        "buffers": record.buffers.iter().map(buffer).collect::<Vec<_>>(),
        "steps": record.side.steps, "statements": record.side.coverage.statements,
    })
}

/// Returns the PTX name of a value's type.
fn type_of(values: &Values) -> &'static str {
    match (values.kind, values.bytes) {
        (Kind::F64, 8) => "f64",
        (Kind::F32, 4) => "f32",
        (Kind::F16, 2) => "f16",
        (Kind::BF16, 2) => "bf16",
        (_, 1) => "u8",
        (_, 2) => "u16",
        (_, 4) => "u32",
        _ => "u64",
    }
}
