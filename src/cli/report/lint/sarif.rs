//! Formats findings as SARIF 2.1.0, the format of code scanners.

use std::collections::BTreeSet;

use nvptx_ra::lint::{Finding, Lint};
use serde_json::{Value, json};

use crate::github::relative;
use crate::kernel_names;

/// Returns the log of one run.
pub(super) fn log(findings: &[Finding], denied: &BTreeSet<Lint>) -> Value {
    let rule = |lint: &Lint| {
        let level = if denied.contains(lint) { "error" } else { "warning" };
        json!({
            "id": lint.name(), "shortDescription": { "text": lint.help() },
            "defaultConfiguration": { "level": level },
        })
    };
    let rules: Vec<Value> = Lint::ALL.iter().map(rule).collect();
    let results: Vec<Value> = findings.iter().map(|finding| result(finding, denied)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "nvptx-ra", "version": nvptx_ra::VERSION, "rules": rules } },
            "results": results,
        }],
    })
}

fn result(finding: &Finding, denied: &BTreeSet<Lint>) -> Value {
    let level = if denied.contains(&finding.lint) { "error" } else { "warning" };
    let mut physical = json!({ "artifactLocation": { "uri": uri(&relative(&finding.place.file)) } });
    if finding.place.line != 0 {
        physical["region"] = json!({ "startLine": finding.place.line });
    }
    let mut location = json!({ "physicalLocation": physical });
    if !finding.kernel.is_empty() {
        let name = kernel_names::readable(&finding.kernel);
        location["logicalLocations"] = json!([{ "name": name, "decoratedName": finding.kernel, "kind": "function" }]);
    }
    json!({
        "ruleId": finding.lint.name(), "level": level, "message": { "text": finding.message(kernel_names::readable) },
        "locations": [location],
    })
}

/// Returns a path as a URI reference: reserved characters are percent-encoded.
fn uri(path: &str) -> String {
    let mut text = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for &byte in path.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => text.push(byte.into()),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use nvptx_ra::lint::Place;

    use super::*;

    /// The rule of each result is among the tool's rules. A result has a location only if the location is known. A path
    /// is a URI reference.
    #[test]
    fn results() {
        let finding = |line| Finding {
            lint: Lint::LocalArray,
            kernel: if line == 0 { String::new() } else { "k".into() },
            place: Place { file: "/a b/k:1.cu".into(), line },
            reason: "why".into(),
            remedy: "what to do".into(),
        };
        let log = log(&[finding(3), finding(0)], &BTreeSet::new());
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("an array");
        assert_eq!(rules.len(), Lint::ALL.len());
        assert!(rules.iter().all(|rule| rule["shortDescription"]["text"].as_str().is_some_and(|text| text.len() > 9)));
        assert!(rules.iter().any(|rule| rule["id"] == run["results"][0]["ruleId"]));
        let place = |number: usize| &run["results"][number]["locations"][0]["physicalLocation"];
        assert_eq!(place(0)["artifactLocation"]["uri"], "file:///a%20b/k%3A1.cu");
        assert_eq!((place(0)["region"]["startLine"].as_u64(), place(1)["region"].is_null()), (Some(3), true));
    }
}
