//! Values and names that options had in earlier versions, and what to write in their place.

use super::table::OptionSpec;

/// An option, the word that it took, and the remedy for who still writes that.
const REMOVED: [(&str, &str, &str); 3] = [
    ("order", "auto", "name an order, as in order=eager; `nvptx-ra tune` finds the best for each kernel"),
    ("budget", "auto", "write regalloc=auto, which sets such limits, too"),
    (
        "skip-passes",
        "auto",
        "name what to leave out, as in skip-passes=loop-reduce; `nvptx-ra tune` finds what pays for each kernel",
    ),
];

/// The earlier name of an option, and the name that it has now.
const RENAMED: [(&str, &str); 3] = [("add", "add-passes"), ("skip", "skip-passes"), ("usedessa", "cssa-interference")];

/// All earlier names, each with the option's name now.
pub(super) fn renamed() -> impl Iterator<Item = (&'static str, &'static str)> {
    RENAMED.into_iter()
}

/// The name that an option has now, by its earlier one; `None` of any other name.
pub(super) fn name_now(earlier: &str) -> Option<&'static str> {
    renamed().find(|(before, _)| *before == earlier).map(|(_, now)| now)
}

/// The first name that an option had.
pub fn first_name(option: &'static str) -> &'static str {
    renamed().find(|(_, now)| *now == option).map_or(option, |(before, _)| before)
}

/// The words of a value, which may be a list.
fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split(['+', ','])
}

fn remedy_for(option: &str, word: &str) -> Option<&'static str> {
    REMOVED.iter().find(|(name, removed, _)| (*name, *removed) == (option, word)).map(|(_, _, remedy)| *remedy)
}

/// What to write in the place of a value that holds a removed word; `None` of any other value.
pub(super) fn remedy(spec: &OptionSpec, value: &str) -> Option<&'static str> {
    words(value).find_map(|word| remedy_for(spec.name, word))
}

/// What is left of a value without its removed words; `None` where that is nothing.
pub(super) fn rest(spec: &OptionSpec, value: &str) -> Option<String> {
    let left: Vec<&str> = words(value).filter(|word| remedy_for(spec.name, word).is_none()).collect();
    (!left.is_empty()).then(|| left.join("+"))
}
