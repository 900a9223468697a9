//! Findings as lines: warnings for people, and GitHub's annotations.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nvptx_ra::lint::{Finding, Lint};

use crate::kernel_names;

/// Says findings on standard error.
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

/// Annotations: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.
pub(super) fn github(findings: &[Finding], denied: &BTreeSet<Lint>) -> String {
    let mut text = String::new();
    for finding in findings {
        let level = if denied.contains(&finding.lint) { "error" } else { "warning" };
        // Writing to a string cannot fail.
        let _ = write!(text, "::{level} file={}", property(&relative(&finding.place.file)));
        if finding.place.line != 0 {
            let _ = write!(text, ",line={}", finding.place.line);
        }
        let title = format!("nvptx-ra: {}", finding.lint.name());
        let _ = writeln!(text, ",title={}::{}", property(&title), data(&finding.message(kernel_names::readable)));
    }
    text
}

fn place(finding: &Finding) -> String {
    match finding.place.line {
        0 => format!("{}: ", finding.place.file),
        line => format!("{}:{line}: ", finding.place.file),
    }
}

/// A path as it is from the folder where the command runs, if it is below it: so continuous integration knows files.
pub(super) fn relative(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let below = std::path::Path::new(path).strip_prefix(&here).ok();
    below.map_or_else(|| path.to_owned(), |below| below.to_string_lossy().into_owned())
}

/// The text of an annotation.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value among an annotation's properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use nvptx_ra::lint::Place;

    use super::*;

    /// An annotation is one line whatever its texts hold, and names its file, line and lint.
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
    }
}
