//! A ratchet for continuous integration: no kernel may grow against a file that is kept.

use std::path::Path;

use nvptx_ra::error::{Error, ErrorKind};
use serde_json::Value;

use super::Report;
use crate::kernel_names;

/// Compares with the file, and says what grew and what shrank on standard error. Whether a kernel grew. A file that is
/// not there is made, and nothing grew.
pub(super) fn compare(path: &Path, object: &Value, reports: &[Report]) -> Result<bool, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            crate::output::write(path, format!("{object:#}\n").as_bytes())?;
            say!("nvptx-ra: {}: written", path.display());
            return Ok(false);
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
    let kernels_of = |report: &Report| {
        let is_it = |of: &&Value| !before.is_array() || of["file"] == report.input.as_str();
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
        let before = kernels_of(report)?;
        kernels.extend(report.forecasts.iter().map(|forecast| (before, forecast)));
    }
    for (before, forecast) in kernels {
        let Some(old) = before.iter().find(|kernel| kernel["name"] == forecast.name.as_str()) else { continue };
        let number = |key: &str| old[key].as_u64().ok_or_else(broken);
        let changes = [
            ("registers", number("registers")?, u64::from(forecast.registers)),
            (
                "bytes of spills",
                number("spill_store_bytes")? + number("spill_load_bytes")?,
                u64::from(forecast.spill_bytes()),
            ),
        ];
        for (what, old, new) in changes.into_iter().filter(|&(_, old, new)| old != new) {
            let verb = if new > old { "grew" } else { "shrank" };
            say!("nvptx-ra: kernel '{}' {verb}: {old} → {new} {what}", kernel_names::readable(&forecast.name));
            grew |= new > old;
            shrank |= new < old;
        }
    }
    if shrank && !grew {
        say!("nvptx-ra: {}: remove it and run the command again to record the improvement", path.display());
    }
    Ok(grew)
}
