//! What costs registers or occupancy and can be mended: a warning with the line, the reason, and the change.
//!
//! * [`subject`]: what the rules are told of a kernel, by a forecast or by a measurement;
//! * [`rules`]: the rules;
//! * [`known`]: what a baseline already has stays silent;
//! * [`text`], [`sarif`]: how findings are printed.

pub(super) mod known;
mod rules;
mod sarif;
pub(super) mod subject;
mod text;

use std::collections::BTreeSet;

use clap::ValueEnum;
use nvptx_ra::error::Error;

pub(super) use self::rules::of_words;
use self::subject::{Place, Subject};

/// The lints, by the names that users write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub(super) enum Lint {
    /// No launch bounds where ptxas's choice depends on them
    NoLaunchBounds,
    /// Launch bounds that ptxas does not follow
    IgnoredBounds,
    /// A limit on registers that makes the kernel spill, while more registers would cost no warp
    NeedlessSpills,
    /// A few registers more than the next step of occupancy allows
    OccupancyStep,
    /// Variables in local memory, and what keeps them there
    LocalArray,
    /// A function or closure that gets the address of a variable, which keeps the variable in local memory
    NotInlined,
    /// Spills where a line's values are live many times over: its loop is unrolled too far
    UnrolledTooFar,
    /// A call of a function that follows the calling convention
    AbiCall,
    /// setmaxnreg that ptxas ignores
    IgnoredSetmaxnreg,
    /// A pragma that ptxas refuses
    RefusedPragma,
}

impl Lint {
    /// Its name.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// What it is about, in a sentence.
    fn help(self) -> String {
        let value = self.to_possible_value();
        value.and_then(|value| value.get_help().map(ToString::to_string)).unwrap_or_default()
    }
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The report, and the findings as warnings on standard error
    #[default]
    Text,
    /// GitHub's annotations, in the place of the report
    Github,
    /// SARIF 2.1.0, in the place of the report
    Sarif,
}

/// Which lints count, and how.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Also warn about what costs registers or occupancy, with the line, the reason, and the change that mends it. With
    /// --sass, more is known
    #[arg(long)]
    pub(super) lint: bool,
    /// Exit with 1 if this lint finds something. Implies --lint; repeat for more
    #[arg(long, value_name = "LINT")]
    pub(super) deny: Vec<Lint>,
    /// Say nothing of what this lint finds. Implies --lint; repeat for more
    #[arg(long, value_name = "LINT")]
    pub(super) allow: Vec<Lint>,
    /// How findings are printed. Each form but text implies --lint
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with = "json")]
    pub(super) format: Format,
}

impl Options {
    /// Whether anything is to be found.
    pub(super) fn is_on(&self) -> bool {
        self.lint || !self.deny.is_empty() || !self.allow.is_empty() || self.format != Format::Text
    }

    /// Whether findings stand in the place of the report.
    pub(super) fn replaces_report(&self) -> bool {
        self.format != Format::Text
    }
}

/// Something that can be mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) lint: Lint,
    /// The kernel; empty where ptxas does not say which.
    pub(super) kernel: String,
    /// The line; the file alone, with 0, where no line is known.
    pub(super) place: Place,
    pub(super) reason: String,
    pub(super) remedy: String,
}

/// What the lints find, those that are allowed left out: sorted by place.
pub(super) fn find(subjects: &[Subject<'_>], others: Vec<Finding>, options: &Options) -> Vec<Finding> {
    if !options.is_on() {
        return Vec::new();
    }
    let mut found: Vec<Finding> = subjects.iter().flat_map(rules::findings).chain(others).collect();
    found.retain(|finding| !options.allow.contains(&finding.lint));
    found.sort_by(|one, other| {
        let key = |finding: &'_ Finding| (finding.place.clone(), finding.lint, finding.kernel.clone());
        key(one).cmp(&key(other))
    });
    found
}

/// Prints findings. Whether one of them is denied.
pub(super) fn print(findings: &[Finding], options: &Options) -> Result<bool, Error> {
    let denied: BTreeSet<Lint> = options.deny.iter().copied().collect();
    match options.format {
        Format::Text => text::warn(findings, &denied),
        Format::Github => crate::print(text::github(findings, &denied).as_bytes()).map(drop)?,
        Format::Sarif => crate::print(format!("{:#}\n", sarif::log(findings, &denied)).as_bytes()).map(drop)?,
    }
    Ok(findings.iter().any(|finding| denied.contains(&finding.lint)))
}
