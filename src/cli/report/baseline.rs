//! Compares a report with a stored baseline, for continuous integration: no kernel may get worse.

use std::path::Path;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::lint::Place;
use serde_json::Value;

use super::measurement::spills::SpillSource;
use crate::kernel_names;

/// The compared figures of a file.
pub(super) struct File<'a> {
    pub(super) input: &'a str,
    pub(super) kernels: Vec<Kernel<'a>>,
}

/// The compared figures of a kernel.
pub(super) struct Kernel<'a> {
    pub(super) name: &'a str,
    pub(super) registers: u32,
    /// The place with the most live registers.
    pub(super) peak: Place,
    pub(super) spill_bytes: u32,
    /// Source of these bytes; `None` for a forecast.
    pub(super) spills_from: Option<SpillSource>,
    /// Bytes of accesses with ptxas's spill marks.
    pub(super) marked_bytes: u32,
    /// The line with most spilled bytes.
    pub(super) spills: Place,
    /// Warps that an SM holds; `None` for a function that is not a kernel.
    pub(super) warps: Option<u32>,
}

/// A figure of a kernel that got worse.
pub(super) struct Growth {
    pub(super) place: Place,
    /// A sentence without a full stop.
    pub(super) text: String,
}

/// Result of a comparison.
pub(super) struct Comparison {
    pub(super) growths: Vec<Growth>,
    /// Whether some kernel's spills cannot be compared.
    pub(super) is_blind: bool,
    /// The baseline's report.
    pub(super) before: Value,
}

/// Compares reports with the baseline, and prints to standard error which figures grew or shrank. A missing baseline is
/// written from the current reports, and the result then has no growths.
pub(super) fn compare(path: &Path, object: &Value, reports: &[File<'_>]) -> Result<Comparison, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            crate::output::write(path, format!("{object:#}\n").as_bytes())?;
            say!("nvptx-ra: {}: written", path.display());
            return Ok(Comparison { growths: Vec::new(), is_blind: false, before: object.clone() });
        }
        Err(error) => return Err(Error::file(path, &error)),
    };
    let broken = || {
        let problem = format!("{}: no report", path.display());
        Error::new(ErrorKind::View, problem, "make it with nvptx-ra report --json, or remove it")
    };
    let before: Value = serde_json::from_str(&text).map_err(|_| broken())?;
    // A baseline for one file is an object without the file's name. A baseline for several files is an array of objects
    // with names.
    let files = before.as_array().map_or(std::slice::from_ref(&before), Vec::as_slice);
    let kernels_of = |report: &File<'_>| {
        let is_it = |of: &&Value| !before.is_array() || of["file"] == report.input;
        files
            .iter()
            .find(is_it)
            .map_or(Ok(&[][..]), |of| of["kernels"].as_array().map(Vec::as_slice).ok_or_else(broken))
    };
    if object.is_array() && !before.is_array() {
        let problem = format!("{}: it is the report of one file, and {} are given", path.display(), reports.len());
        return Err(Error::new(ErrorKind::Option, problem, "keep a file for each of them, or remove it"));
    }
    let mut kernels = Vec::new();
    for report in reports {
        let of_file = kernels_of(report)?;
        kernels.extend(report.kernels.iter().map(|kernel| (of_file, kernel)));
    }
    let (mut growths, mut shrank, mut is_blind, mut sources) = (Vec::new(), false, false, None);
    for (of_file, kernel) in kernels {
        let name = kernel_names::readable(kernel.name);
        let Some(old) = of_file.iter().find(|old| old["name"] == kernel.name) else {
            say!("nvptx-ra: kernel '{name}' is new: {} does not have it", path.display());
            continue;
        };
        let registers = old["registers"].as_u64().ok_or_else(broken)?;
        let mut changes = vec![("registers", registers, kernel.registers, &kernel.peak)];
        let old_spills = old_spills(old);
        match spills(old_spills, kernel) {
            Spills::Same => {}
            Spills::Compared(was, what) => {
                // ptxas's own figures omit a few bytes that ptxas marks. So if one side has marks, the marks of both
                // sides are compared.
                let (was, is) = match (old_spills.and_then(|(from, _)| from), kernel.spills_from) {
                    (Some(SpillSource::Ptxas), Some(SpillSource::Marks)) => {
                        let marked = sum(old, ["marked_spill_store_bytes", "marked_spill_load_bytes"]);
                        (marked.unwrap_or(was), kernel.spill_bytes)
                    }
                    (Some(SpillSource::Marks), Some(SpillSource::Ptxas)) => (was, kernel.marked_bytes),
                    _ => (was, kernel.spill_bytes),
                };
                changes.push((what, was, is, &kernel.spills));
                if let Some((from, _)) = old_spills.filter(|&(from, _)| from != kernel.spills_from) {
                    sources = Some((from, kernel.spills_from));
                }
            }
            Spills::Incomparable => {
                is_blind = true;
                let old = old_spills.map_or("no figures", |(from, _)| words(from));
                say!(
                    "nvptx-ra: kernel '{name}': spills cannot be compared: {} has {old}, and this report has {}; remove it \
                     and run the command again",
                    path.display(),
                    words(kernel.spills_from)
                );
            }
        }
        if let (Some(warps), Some(old)) = (kernel.warps, old["occupancy_warps"].as_u64()) {
            changes.push((WARPS, old, warps, &kernel.peak));
        }
        for (what, old, new, place) in changes {
            let new = u64::from(new);
            let text = |verb| format!("kernel '{name}' {verb}: {old} → {new} {what}");
            let (is_worse, text) = match (what == WARPS, new > old) {
                _ if new == old => continue,
                (false, true) => (true, text("grew")),
                (false, false) => (false, text("shrank")),
                (true, false) => (true, text("lost warps")),
                (true, true) => (false, text("gained warps")),
            };
            say!("nvptx-ra: {text}");
            if is_worse {
                growths.push(Growth { place: place.clone(), text });
            }
            shrank |= !is_worse;
        }
    }
    if let Some((old, new)) = sources {
        let words = [old, new].map(words).join(", and this report from ");
        say!("nvptx-ra: {}: it has spills from {words}; if both have marks, the marks are compared", path.display());
    }
    if shrank && growths.is_empty() && !is_blind {
        say!("nvptx-ra: {}: remove it and run the command again to record the improvement", path.display());
    }
    Ok(Comparison { growths, is_blind, before })
}

const WARPS: &str = "warps on an SM";

/// Result of comparing a kernel's spills with the baseline's spills.
enum Spills {
    /// The spills cannot have grown.
    Same,
    /// The baseline's bytes, and a description of them.
    Compared(u64, &'static str),
    Incomparable,
}

/// Compares spills that may come from different sources. ptxas's figures and its marks are exact. Accesses at fixed
/// offsets from the stack pointer are an upper bound.
fn spills(old: Option<(Option<SpillSource>, u64)>, kernel: &Kernel<'_>) -> Spills {
    const BOUND: Option<SpillSource> = Some(SpillSource::FixedPlaces);
    let is_exact = |from: Option<SpillSource>| from.is_some() && from != BOUND;
    let (from, bytes) = (kernel.spills_from, kernel.spill_bytes);
    match old {
        Some((BOUND, old)) if from == BOUND => Spills::Compared(old, "bytes of local accesses at fixed places"),
        Some((BOUND, old)) if is_exact(from) && u64::from(bytes) > old => Spills::Compared(old, "bytes of spills"),
        Some((before, old)) if before == from || is_exact(before) && is_exact(from) => {
            Spills::Compared(old, "bytes of spills")
        }
        _ if bytes == 0 => Spills::Same,
        _ => Spills::Incomparable,
    }
}

/// Returns a kernel's spills in a report, and their source; `None` if the report has no such figures.
fn old_spills(old: &Value) -> Option<(Option<SpillSource>, u64)> {
    let is_measured = old["measured"] == true;
    let from = match old["spills_from"].as_str() {
        Some(name) => Some(SpillSource::by_name(name)?),
        // Reports of earlier versions have no source.
        None => is_measured.then_some(SpillSource::Ptxas),
    };
    let keys = match from {
        Some(SpillSource::FixedPlaces) => ["fixed_place_store_bytes", "fixed_place_load_bytes"],
        _ => ["spill_store_bytes", "spill_load_bytes"],
    };
    Some((from, sum(old, keys)?))
}

/// Returns the sum of two figures of a kernel; `None` if one is missing.
fn sum(kernel: &Value, keys: [&str; 2]) -> Option<u64> {
    let [one, other] = keys.map(|key| kernel[key].as_u64());
    one?.checked_add(other?)
}

/// Returns a description of a source.
fn words(from: Option<SpillSource>) -> &'static str {
    match from {
        None => "a forecast",
        Some(SpillSource::Ptxas) => "ptxas's own figures",
        Some(SpillSource::Marks) => "ptxas's marks in machine code",
        Some(SpillSource::FixedPlaces) => "local accesses at fixed places, which may be arrays",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Exact figures compare with exact figures, bounds with bounds, and forecasts with forecasts. Other pairs only
    /// compare if the result is certain.
    #[test]
    fn spills_of_several_sources() {
        use SpillSource::{FixedPlaces, Marks, Ptxas};
        let of = |from: Option<SpillSource>, bytes: u32| {
            let place = Place::default();
            let (peak, spills) = (place.clone(), place);
            let marked_bytes = bytes;
            Kernel {
                name: "k",
                registers: 9,
                peak,
                spill_bytes: bytes,
                spills_from: from,
                marked_bytes,
                spills,
                warps: None,
            }
        };
        let compared = |old: Option<(Option<SpillSource>, u64)>, new: &Kernel<'_>| match spills(old, new) {
            Spills::Same => "same",
            Spills::Compared(..) => "compared",
            Spills::Incomparable => "incomparable",
        };
        let exact = |from, bytes| Some((Some(from), bytes));
        for (old, new, expected) in [
            (exact(Ptxas, 8), of(Some(Marks), 12), "compared"),
            (exact(Marks, 8), of(Some(Ptxas), 4), "compared"),
            (exact(FixedPlaces, 8), of(Some(FixedPlaces), 12), "compared"),
            (exact(FixedPlaces, 8), of(Some(Marks), 12), "compared"),
            (exact(FixedPlaces, 8), of(Some(Marks), 4), "incomparable"),
            (exact(FixedPlaces, 8), of(Some(Marks), 0), "same"),
            (exact(Marks, 8), of(Some(FixedPlaces), 4), "incomparable"),
            (Some((None, 8)), of(None, 4), "compared"),
            (Some((None, 8)), of(Some(Ptxas), 4), "incomparable"),
            (None, of(Some(Marks), 4), "incomparable"),
            (None, of(Some(Marks), 0), "same"),
        ] {
            assert_eq!(compared(old, &new), expected, "{old:?} {:?} {}", new.spills_from, new.spill_bytes);
        }
    }

    /// Figures are read by the source that the report states. Reports of earlier versions state no source.
    #[test]
    fn spills_in_reports() {
        let figures = |from: Value, stored: Value| {
            json!({
                "measured": true, "spills_from": from, "spill_store_bytes": stored, "spill_load_bytes": 2,
                "fixed_place_store_bytes": 3, "fixed_place_load_bytes": 4,
            })
        };
        assert_eq!(old_spills(&figures("marks".into(), 1.into())), Some((Some(SpillSource::Marks), 3)));
        assert_eq!(old_spills(&figures("fixed-places".into(), Value::Null)), Some((Some(SpillSource::FixedPlaces), 7)));
        assert_eq!(old_spills(&figures(Value::Null, 1.into())), Some((Some(SpillSource::Ptxas), 3)));
        assert_eq!(old_spills(&figures(Value::Null, Value::Null)), None);
        assert_eq!(old_spills(&figures("something new".into(), 1.into())), None);
        assert_eq!(old_spills(&json!({ "spill_store_bytes": 1, "spill_load_bytes": 2 })), Some((None, 3)));
    }
}
