//! Values and names of options in earlier versions, and their replacements.

use super::table::OptionSpec;

/// An option, a removed value, and the remedy.
const REMOVED: [(&str, &str, &str); 3] = [
    ("order", "auto", "name an order, as in order=eager; `nvptx-ra tune` finds the best order for each kernel"),
    ("register-limit", "auto", "use regalloc=auto, which also sets register limits"),
    (
        "skip-passes",
        "auto",
        "name the passes to skip, as in skip-passes=loop-reduce; `nvptx-ra tune` finds the best passes for each kernel",
    ),
];

/// Earlier names of options, and their replacements.
const RENAMED: [(&str, &str); 4] =
    [("add", "add-passes"), ("budget", "register-limit"), ("skip", "skip-passes"), ("usedessa", "cssa-interference")];

/// Yields all earlier names, each with its replacement.
pub(super) fn renamed() -> impl Iterator<Item = (&'static str, &'static str)> {
    RENAMED.into_iter()
}

/// Returns the replacement of an earlier name; `None` for other names.
pub(super) fn name_now(earlier: &str) -> Option<&'static str> {
    renamed().find(|(before, _)| *before == earlier).map(|(_, now)| now)
}

/// Returns the first name that an option had.
pub fn first_name(option: &'static str) -> &'static str {
    renamed().find(|(_, now)| *now == option).map_or(option, |(before, _)| before)
}

/// Splits a value, which may be a list, into words.
fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split(['+', ','])
}

fn remedy_for(option: &str, word: &str) -> Option<&'static str> {
    REMOVED.iter().find(|(name, removed, _)| (*name, *removed) == (option, word)).map(|(_, _, remedy)| *remedy)
}

/// Returns the remedy for a value with a removed word; `None` for other values.
pub(super) fn remedy(spec: &OptionSpec, value: &str) -> Option<&'static str> {
    words(value).find_map(|word| remedy_for(spec.name, word))
}

/// Returns a value without its removed words; `None` if nothing is left.
pub(super) fn rest(spec: &OptionSpec, value: &str) -> Option<String> {
    let left: Vec<&str> = words(value).filter(|word| remedy_for(spec.name, word).is_none()).collect();
    (!left.is_empty()).then(|| left.join("+"))
}
