//! A ratchet for continuous integration: no kernel may grow against a file that is kept.

use std::path::Path;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::forecast::Forecast;
use serde_json::Value;

use crate::kernel_names;

/// Compares with the file, and says what grew and what shrank on standard error. Whether a kernel grew. A file that is
/// not there is made, and nothing grew.
pub(super) fn compare(path: &Path, object: &Value, forecasts: &[Forecast]) -> Result<bool, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::write(path, format!("{object:#}\n")).map_err(|error| Error::file(path, &error))?;
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
    let before = before["kernels"].as_array().ok_or_else(broken)?;
    let (mut grew, mut shrank) = (false, false);
    for forecast in forecasts {
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
        say!("nvptx-ra: {}: remove it and run this again to keep what was won", path.display());
    }
    Ok(grew)
}
