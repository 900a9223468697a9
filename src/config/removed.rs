//! Values that options had in earlier versions, and what to write in their place.

use super::table::OptionSpec;

/// An option, the word that it took, and the remedy for who still writes that.
const REMOVED: [(&str, &str, &str); 3] = [
    ("order", "auto", "name an order, as in order=eager; `nvptx-ra tune` finds the best for each kernel"),
    ("budget", "auto", "write regalloc=auto, which sets such limits, too"),
    ("skip", "auto", "name what to leave out, as in skip=loop-reduce; `nvptx-ra tune` finds what pays for each kernel"),
];

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
