//! Whether a variant of a kernel computes what stock does: the PTX of both runs on the CPU, on the same few launches.
//!
//! The launches are drawn from a fixed seed. A bound on instructions keeps the cost far below that of the search.

use nvptx_ra::emulate::{Launches, Program, Verdict, compare_programs};
use nvptx_ra::error::Error;
use nvptx_ra::ptx::Module;
use serde_json::{Value, json};

use super::benchmark::quoted;

/// Launches of a kernel.
const LAUNCHES: u32 = 2;

/// The most instructions of warps for each run of ptxas that a search of the kernel may make: so many, and one more for so
/// many bytes of stock's PTX. ptxas takes as long for 10,000 to 50,000 of them.
const STEPS_FOR_EACH_RUN: u64 = 1_500;
const BYTES_FOR_EACH_STEP: u64 = 4;

/// One attempt at a launch may take this part of all instructions.
const SHARE: u64 = 4;

/// How a kernel is launched, and how closely results are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    /// The most threads of a block, where the kernel does not say.
    pub(crate) threads: Option<u32>,
    /// Bytes of shared memory that a launch adds, where that is known.
    pub(crate) dynamic_shared: Option<u32>,
    /// Whether floating-point numbers must agree on every bit.
    pub(crate) is_exact: bool,
    /// How many runs of ptxas the search of the kernel may make.
    pub(crate) runs: usize,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// All that could be compared is the same.
    Same,
    /// Nothing can be said, for a reason.
    NotComparable(String),
    /// The first difference. Stock is the first program, the variant the second.
    Different(String),
}

impl Agreement {
    /// It in a word or two.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::NotComparable(_) => "not comparable",
            Self::Different(_) => "different",
        }
    }

    /// The same, with the reason or the difference.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Same => self.word().into(),
            Self::NotComparable(why) | Self::Different(why) => format!("{}: {why}", self.word()),
        }
    }

    /// It as JSON.
    pub(crate) fn json(&self) -> Value {
        let reason = match self {
            Self::Same => None,
            Self::NotComparable(why) | Self::Different(why) => Some(why),
        };
        json!({ "verdict": self.word(), "reason": reason })
    }
}

/// Compares the PTX of a variant of a kernel with stock's.
pub(crate) fn compare(kernel: &str, [stock, variant]: [&[u8]; 2], terms: Terms) -> Agreement {
    let program = |name, text| Ok::<_, Error>(Program::new(&Module::read(name, text)?));
    let [first, second] = match (program("stock.ptx", stock), program("variant.ptx", variant)) {
        (Ok(first), Ok(second)) => [first, second],
        (Err(error), _) | (_, Err(error)) => return Agreement::NotComparable(error.problem),
    };
    let comparison = compare_programs(&first, &second, kernel, &launches(stock, terms));
    if let Some(difference) = comparison.difference() {
        return Agreement::Different(difference.to_string());
    }
    if comparison.is_same() {
        return Agreement::Same;
    }
    let reason = comparison.launches.iter().find_map(|launched| match &launched.verdict {
        Verdict::NotComparable { program: 0, reason } => Some(reason.clone()),
        Verdict::NotComparable { reason, .. } => Some(format!("the variant: {reason}")),
        _ => None,
    });
    Agreement::NotComparable(reason.unwrap_or_else(|| "nothing ran".into()))
}

/// The launches of a kernel with this PTX.
fn launches(stock: &[u8], terms: Terms) -> Launches {
    let steps = terms.runs as u64 * (STEPS_FOR_EACH_RUN + stock.len() as u64 / BYTES_FOR_EACH_STEP);
    let default = Launches::default();
    Launches {
        count: LAUNCHES,
        threads: terms.threads,
        dynamic_shared: terms.dynamic_shared.unwrap_or(default.dynamic_shared),
        is_exact: terms.is_exact,
        most_steps: (steps / SHARE).min(default.most_steps),
        most_steps_in_all: steps,
        ..default
    }
}

/// The command that shows a difference again, of two files in the folder where it is given.
pub(crate) fn command(kernel: &str, stock: &[u8], terms: Terms) -> String {
    let Launches { count, threads, dynamic_shared, is_exact, most_steps, most_steps_in_all, .. } =
        launches(stock, terms);
    let exact = if is_exact { " --exact" } else { "" };
    let threads = threads.map_or(String::new(), |threads| format!(" --threads {threads}"));
    format!(
        "nvptx-ra compare stock.ptx variant.ptx --kernel {}{exact}{threads} --dynamic-shared {dynamic_shared} \
         --launches {count} --steps {most_steps} --steps-in-all {most_steps_in_all}",
        quoted(kernel)
    )
}
