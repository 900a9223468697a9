//! A ratchet for continuous integration: no kernel may grow against a file that is kept.

use std::path::Path;

use nvptx_ra::error::{Error, ErrorKind};
use serde_json::Value;

use crate::kernel_names;

/// What is compared of a file.
pub(super) struct File<'a> {
    pub(super) input: &'a str,
    pub(super) kernels: Vec<Kernel<'a>>,
}

/// What is compared of a kernel.
pub(super) struct Kernel<'a> {
    pub(super) name: &'a str,
    pub(super) registers: u32,
    /// Bytes of spills; `None` where nobody says how many.
    pub(super) spill_bytes: Option<u32>,
}

/// Compares with the file, and says what grew and what shrank on standard error. Whether a kernel grew, and the report in
/// the file. A file that is not there is made; nothing grew then, and the report is the one that is made.
pub(super) fn compare(path: &Path, object: &Value, reports: &[File<'_>]) -> Result<(bool, Value), Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            crate::output::write(path, format!("{object:#}\n").as_bytes())?;
            say!("nvptx-ra: {}: written", path.display());
            return Ok((false, object.clone()));
        }
        Err(error) => return Err(Error::file(path, &error)),
    };
    let broken = || {
        let problem = format!("{}: no report", path.display());
        Error::new(ErrorKind::View, problem, "make it by nvptx-ra report --json, or remove it")
    };
    let before: Value = serde_json::from_str(&text).map_err(|_| broken())?;
    // Of one file there is an object that names none, of several an array of those that do.
    let files = before.as_array().map_or(std::slice::from_ref(&before), Vec::as_slice);
    let kernels_of = |report: &File<'_>| {
        let is_it = |of: &&Value| !before.is_array() || of["file"] == report.input;
        files
            .iter()
            .find(is_it)
            .map_or(Ok(&[][..]), |of| of["kernels"].as_array().map(Vec::as_slice).ok_or_else(broken))
    };
    if object.is_array() && !before.is_array() {
        let problem = format!("{}: the report of one file, and {} are given", path.display(), reports.len());
        return Err(Error::new(ErrorKind::Option, problem, "keep a file for each of them, or remove it"));
    }
    let (mut grew, mut shrank) = (false, false);
    let mut kernels = Vec::new();
    for report in reports {
        let of_file = kernels_of(report)?;
        kernels.extend(report.kernels.iter().map(|kernel| (of_file, kernel)));
    }
    for (of_file, kernel) in kernels {
        let Some(old) = of_file.iter().find(|old| old["name"] == kernel.name) else { continue };
        let number = |key: &str| old[key].as_u64().ok_or_else(broken);
        let mut changes = vec![("registers", number("registers")?, u64::from(kernel.registers))];
        if let Some(bytes) = kernel.spill_bytes.filter(|_| !old["spill_store_bytes"].is_null()) {
            let old = number("spill_store_bytes")? + number("spill_load_bytes")?;
            changes.push(("bytes of spills", old, u64::from(bytes)));
        }
        for (what, old, new) in changes.into_iter().filter(|&(_, old, new)| old != new) {
            let verb = if new > old { "grew" } else { "shrank" };
            say!("nvptx-ra: kernel '{}' {verb}: {old} → {new} {what}", kernel_names::readable(kernel.name));
            grew |= new > old;
            shrank |= new < old;
        }
    }
    if shrank && !grew {
        say!("nvptx-ra: {}: remove it and run the command again to record the improvement", path.display());
    }
    Ok((grew, before))
}
