//! Formats findings as lines: warnings for people, and GitHub's annotations.

use std::collections::BTreeSet;

use nvptx_ra::lint::{Finding, Lint};

use super::super::baseline::Growth;
use crate::github::annotation;
use crate::kernel_names;

/// Prints findings to standard error.
pub(super) fn warn(findings: &[Finding], denied: &BTreeSet<Lint>) {
    for finding in findings {
        let level = if denied.contains(&finding.lint) { "error" } else { "warning" };
        say!(
            "nvptx-ra: {level}: {}{} [{}]",
            place(finding),
            finding.message(kernel_names::readable),
            finding.lint.name()
        );
    }
}

/// Formats annotations of findings.
pub(super) fn github(findings: &[Finding], denied: &BTreeSet<Lint>) -> String {
    let annotate = |finding: &Finding| {
        let level = if denied.contains(&finding.lint) { "error" } else { "warning" };
        annotation(level, &finding.place, finding.lint.name(), &finding.message(kernel_names::readable))
    };
    findings.iter().map(annotate).collect()
}

/// Formats annotations for figures that grew since a baseline.
pub(super) fn github_growths(growths: &[Growth]) -> String {
    growths.iter().map(|growth| annotation("error", &growth.place, "baseline", &growth.text)).collect()
}

fn place(finding: &Finding) -> String {
    match finding.place.line {
        0 => format!("{}: ", finding.place.file),
        line => format!("{}:{line}: ", finding.place.file),
    }
}

#[cfg(test)]
mod tests {
    use nvptx_ra::lint::Place;

    use super::*;

    /// An annotation is one line for any text, and contains its file, line and lint.
    #[test]
    fn annotations() {
        let finding = Finding {
            lint: Lint::OccupancyStep,
            kernel: "k".into(),
            place: Place { file: "a,b.cu".into(), line: 7 },
            reason: "100 %\nof it".into(),
            remedy: "less: more".into(),
        };
        let text = github(&[finding], &BTreeSet::from([Lint::OccupancyStep]));
        let expected =
            "::error file=a%2Cb.cu,line=7,title=nvptx-ra%3A occupancy-step::kernel 'k': 100 %25%0Aof it; less: more\n";
        assert_eq!(text, expected);
        let growth = |line| Growth {
            place: Place { file: "k.cubin".into(), line },
            text: "kernel 'k' grew: 8 → 12 bytes of spills".into(),
        };
        let text = github_growths(&[growth(0), growth(7)]);
        let expected = "::error file=k.cubin,title=nvptx-ra%3A baseline::kernel 'k' grew: 8 → 12 bytes of spills\n\
                        ::error file=k.cubin,line=7,title=nvptx-ra%3A baseline::kernel 'k' grew: 8 → 12 bytes of spills\n";
        assert_eq!(text, expected);
    }
}
