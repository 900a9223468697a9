//! The lints of a report: their selection, their findings, and the output formats.
//!
//! * [`input`]: the rules' input for a kernel;
//! * [`words`]: findings in ptxas's messages;
//! * [`known`]: suppresses findings that a baseline already has;
//! * [`text`], [`sarif`]: output formats.

pub(super) mod input;
pub(super) mod known;
mod sarif;
mod text;
mod words;

use std::collections::BTreeSet;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use nvptx_ra::error::Error;
use nvptx_ra::lint::input::LintInput;
use nvptx_ra::lint::{Finding, Lint, rules};

pub(super) use self::words::of_words;
use super::baseline::Growth;
use crate::kernel_names;

/// Parses a lint's name.
fn lint() -> impl TypedValueParser<Value = Lint> {
    let values = Lint::ALL.map(|lint| PossibleValue::new(lint.name()).help(lint.help()));
    PossibleValuesParser::new(values).try_map(|name| Lint::by_name(&name).ok_or("no lint"))
}

/// Output format of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The report, and the findings as warnings on standard error
    #[default]
    Text,
    /// GitHub's annotations instead of the report
    Github,
    /// SARIF 2.1.0 instead of the report
    Sarif,
}

/// Selection and output of lints.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Also warn about code that costs registers or occupancy, with the line, the reason, and a change that fixes it.
    /// With --sass, more lints apply
    #[arg(long)]
    pub(super) lint: bool,
    /// Exit with 1 if this lint finds something. Implies --lint; repeat for more
    #[arg(long, value_name = "LINT", value_parser = lint())]
    pub(super) deny: Vec<Lint>,
    /// Do not print findings of this lint. Implies --lint; repeat for more
    #[arg(long, value_name = "LINT", value_parser = lint())]
    pub(super) allow: Vec<Lint>,
    /// Output format of findings. Every format but text implies --lint
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with = "json")]
    pub(super) format: Format,
}

impl Options {
    /// Returns whether lints run.
    pub(super) fn is_on(&self) -> bool {
        self.lint || !self.deny.is_empty() || !self.allow.is_empty() || self.format != Format::Text
    }

    /// Returns whether findings replace the report.
    pub(super) fn replaces_report(&self) -> bool {
        self.format != Format::Text
    }
}

/// Returns the lints' findings without those of allowed lints, sorted by place.
pub(super) fn find(inputs: &[LintInput<'_>], others: Vec<Finding>, options: &Options) -> Vec<Finding> {
    let found = inputs.iter().flat_map(|input| rules::findings(input, kernel_names::readable));
    let mut found: Vec<Finding> = found.chain(others).collect();
    let is_asked_for = |lint: Lint| !lint.is_silent() || options.deny.contains(&lint);
    found.retain(|finding| is_asked_for(finding.lint) && !options.allow.contains(&finding.lint));
    found.sort_by(|one, other| {
        let key = |finding: &'_ Finding| (finding.place.clone(), finding.lint, finding.kernel.clone());
        key(one).cmp(&key(other))
    });
    found
}

/// Prints annotations for the figures that grew since a baseline, if annotations are requested.
pub(super) fn print_growths(growths: &[Growth], options: &Options) -> Result<(), Error> {
    match options.format {
        Format::Github => crate::print(text::github_growths(growths).as_bytes()).map(drop),
        Format::Text | Format::Sarif => Ok(()),
    }
}

/// Prints findings. Returns whether a finding's lint is denied.
pub(super) fn print(findings: &[Finding], options: &Options) -> Result<bool, Error> {
    let denied: BTreeSet<Lint> = options.deny.iter().copied().collect();
    match options.format {
        Format::Text => text::warn(findings, &denied),
        Format::Github => crate::print(text::github(findings, &denied).as_bytes()).map(drop)?,
        Format::Sarif => crate::print(format!("{:#}\n", sarif::log(findings, &denied)).as_bytes()).map(drop)?,
    }
    Ok(findings.iter().any(|finding| denied.contains(&finding.lint)))
}
