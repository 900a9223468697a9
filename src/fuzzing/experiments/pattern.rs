//! Patterns of mnemonics: `{a,b}` is `a` or `b`.

/// Returns all expansions of a pattern.
pub(super) fn expanded(pattern: &str) -> Vec<String> {
    // A brace after a blank is a vector of registers.
    let choice = pattern.match_indices('{').map(|(at, _)| at).find(|&at| !pattern[at + 1..].starts_with('%'));
    let Some(open) = choice else { return vec![pattern.to_owned()] };
    let Some(close) = pattern[open..].find('}').map(|at| open + at) else { return vec![pattern.to_owned()] };
    let tails = expanded(&pattern[close + 1..]);
    let before = &pattern[..open];
    let choices = pattern[open + 1..close].split(',');
    choices.flat_map(|choice| tails.iter().map(move |tail| format!("{before}{choice}{tail}"))).collect()
}
