//! Suppresses findings that a baseline already has. A project can then start to use a lint before it has fixed all
//! findings.
//!
//! Findings are matched by lint and kernel, because edits move lines. For each lint and kernel, the number of
//! suppressed findings is the number in the baseline.

use std::collections::BTreeMap;

use nvptx_ra::lint::Finding;
use serde_json::{Value, json};

/// Returns findings for a report's JSON.
pub(in super::super) fn json(findings: &[Finding]) -> Value {
    let one = |finding: &Finding| {
        json!({
            "lint": finding.lint.name(), "kernel": finding.kernel, "file": finding.place.file,
            "line": if finding.place.line == 0 { Value::Null } else { finding.place.line.into() },
            "reason": finding.reason, "remedy": finding.remedy,
        })
    };
    findings.iter().map(one).collect()
}

/// Returns the findings that an earlier report does not have.
pub(in super::super) fn unknown(findings: Vec<Finding>, before: &Value) -> Vec<Finding> {
    let files = before.as_array().map_or(std::slice::from_ref(before), Vec::as_slice);
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    for finding in files.iter().filter_map(|file| file["findings"].as_array()).flatten() {
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        *known.entry((text("lint"), text("kernel"))).or_default() += 1;
    }
    let is_new = |finding: &Finding| match known.get_mut(&(finding.lint.name().to_owned(), finding.kernel.clone())) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    findings.into_iter().filter(is_new).collect()
}

#[cfg(test)]
mod tests {
    use nvptx_ra::lint::{Lint, Place};

    use super::*;

    /// Findings of the baseline are suppressed at any line. Additional findings, and findings in other kernels, are not
    /// suppressed.
    #[test]
    fn known_findings_are_silent() {
        let finding = |kernel: &str, line| Finding {
            lint: Lint::AbiCall,
            kernel: kernel.into(),
            place: Place { file: "k.cu".into(), line },
            reason: String::new(),
            remedy: String::new(),
        };
        let before = json!({ "findings": json(&[finding("a", 3)]) });
        let now = vec![finding("a", 5), finding("a", 9), finding("b", 3)];
        let left = |before: &Value| unknown(now.clone(), before).iter().map(|of| of.place.line).collect::<Vec<_>>();
        assert_eq!(left(&before), [9, 3]);
        assert_eq!(left(&json!([before])), [9, 3]);
        assert_eq!(left(&json!({ "kernels": [] })), [5, 9, 3]);
    }
}
