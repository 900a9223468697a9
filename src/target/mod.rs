//! What is known of the target: opcodes, register classes.
//!
//! [`classify`] says what an opcode is by its name alone; a [`Classification`] joins that to LLVM's descriptors and
//! flags for all opcodes of a subtarget, and says what an instruction does.

mod classes;
mod classification;
mod flags;
mod info;
mod pattern;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use classification::Classification;
pub use flags::{DescFlags, InstFlags};
pub use info::{CopyFamily, CopyOperands, OpcodeInfo, Purity, RematCost, Uniformity};

/// The patterns of all rules.
static PATTERNS: LazyLock<Vec<(&'static str, &'static OpcodeInfo)>> = LazyLock::new(|| {
    let split = |rule: &'static rules::Rule| rule.names.split_ascii_whitespace().map(move |name| (name, &rule.info));
    rules::RULES.into_iter().flatten().flat_map(split).collect()
});

/// What the opcode of that name is. A search through all patterns: callers that ask for one name often keep the answer.
///
/// Names that LLVM 22 does not have are [`OpcodeInfo::UNKNOWN`], never guessed. So are its records without a name,
/// `anonymous_N` (shuffles, matrix instructions, some fences): but for the fences all of them are of the whole warp,
/// though LLVM leaves that out for some, so they count as convergent.
pub fn classify(name: &str) -> OpcodeInfo {
    if let Some((_, info)) = PATTERNS.iter().find(|(pattern, _)| pattern::matches(pattern, name)) {
        return **info;
    }
    if is_anonymous(name) { OpcodeInfo::UNKNOWN.collective() } else { OpcodeInfo::UNKNOWN }
}

/// Whether TableGen made the name for a record that has none.
fn is_anonymous(name: &str) -> bool {
    name.strip_prefix("anonymous_").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
