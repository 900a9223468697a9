//! Brace patterns: exact sets of opcode names, written short.

/// Whether a pattern stands for a name: `{a,b}` for `a` or `b`, `{,a}` for nothing or `a`. Braces do not nest. A pattern
/// without a closing brace stands for itself.
///
/// A pattern lists names exactly, so that an opcode of another LLVM never matches by resemblance.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((open, close)) = braces(pattern) else { return pattern == name };
    let Some(rest) = name.strip_prefix(&pattern[..open]) else { return false };
    pattern[open + 1..close]
        .split(',')
        .any(|alternative| rest.strip_prefix(alternative).is_some_and(|rest| matches(&pattern[close + 1..], rest)))
}

/// The bytes that names of a pattern begin with, each once.
pub(super) fn first_bytes(pattern: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    match braces(pattern) {
        Some((0, close)) => {
            for alternative in pattern[1..close].split(',') {
                match alternative.bytes().next() {
                    Some(first) => bytes.push(first),
                    None => bytes.extend(first_bytes(&pattern[close + 1..])),
                }
            }
        }
        _ => bytes.extend(pattern.bytes().next()),
    }
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

/// Where the first pair of braces opens and closes.
fn braces(pattern: &str) -> Option<(usize, usize)> {
    let open = pattern.find('{')?;
    Some((open, open + pattern[open..].find('}')?))
}

/// Calls `visit` for every name that a pattern stands for.
#[cfg(test)]
pub(super) fn expand(pattern: &str, visit: &mut impl FnMut(&str)) {
    expand_after(&mut String::with_capacity(pattern.len()), pattern, visit);
}

#[cfg(test)]
fn expand_after(prefix: &mut String, rest: &str, visit: &mut impl FnMut(&str)) {
    let length = prefix.len();
    match braces(rest) {
        None => {
            prefix.push_str(rest);
            visit(prefix);
        }
        Some((open, close)) => {
            prefix.push_str(&rest[..open]);
            let stem = prefix.len();
            for alternative in rest[open + 1..close].split(',') {
                prefix.push_str(alternative);
                expand_after(prefix, &rest[close + 1..], visit);
                prefix.truncate(stem);
            }
        }
    }
    prefix.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(pattern: &str) -> Vec<String> {
        let mut names = Vec::new();
        expand(pattern, &mut |name| names.push(name.to_owned()));
        names
    }

    #[test]
    fn a_plain_name_stands_for_itself() {
        assert_eq!(expanded("COPY"), ["COPY"]);
    }

    #[test]
    fn alternatives_multiply_in_order() {
        assert_eq!(expanded("ADD{16,32}{ri,rr}"), ["ADD16ri", "ADD16rr", "ADD32ri", "ADD32rr"]);
        assert_eq!(expanded("X{,_FTZ}_F"), ["X_F", "X_FTZ_F"]);
    }

    #[test]
    fn a_pattern_matches_what_it_expands_to_and_nothing_else() {
        let names: Vec<String> =
            ["ADD{16,32}{ri,rr}", "X{,_FTZ}_F", "{,A}B{,C}", "COPY"].into_iter().flat_map(expanded).collect();
        for pattern in ["ADD{16,32}{ri,rr}", "X{,_FTZ}_F", "{,A}B{,C}", "COPY", "{A,AB}B"] {
            let own = expanded(pattern);
            let firsts: std::collections::BTreeSet<u8> = own.iter().map(|name| name.as_bytes()[0]).collect();
            assert_eq!(first_bytes(pattern), firsts.into_iter().collect::<Vec<u8>>(), "{pattern}");
            for name in names.iter().map(String::as_str).chain(["", "ADD16", "ABB", "X_F_F"]) {
                assert_eq!(matches(pattern, name), own.iter().any(|own| own == name), "{pattern} and {name}");
            }
        }
    }

    #[test]
    fn an_open_brace_stands_for_itself() {
        assert_eq!(expanded("ADD{16"), ["ADD{16"]);
    }
}
