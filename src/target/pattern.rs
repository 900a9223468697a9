//! Brace patterns: a short notation for exact sets of opcode names.

/// Whether a pattern matches a name. `{a,b}` matches `a` or `b`, and `{,a}` matches nothing or `a`. Braces do not nest.
/// A pattern without a closing brace matches only itself.
///
/// A pattern lists names exactly, so that an opcode of another LLVM version never matches by similarity.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    matches_bytes(pattern.as_bytes(), name.as_bytes())
}

fn matches_bytes(pattern: &[u8], name: &[u8]) -> bool {
    // Most names differ from a pattern before the first brace, so the common prefix is skipped first.
    let alike = pattern.iter().zip(name).take_while(|(a, b)| a == b && **a != b'{').count();
    let (pattern, name) = (&pattern[alike..], &name[alike..]);
    let Some((0, close)) = braces(pattern) else { return pattern == name };
    let (alternatives, after) = (&pattern[1..close], &pattern[close + 1..]);
    alternatives
        .split(|&byte| byte == b',')
        .any(|alternative| name.strip_prefix(alternative).is_some_and(|rest| matches_bytes(after, rest)))
}

/// Returns the ASCII bytes with which names of a pattern begin, with one bit for each byte.
pub(super) fn first_bytes(pattern: &str) -> u128 {
    first_of(pattern.as_bytes())
}

fn first_of(pattern: &[u8]) -> u128 {
    match (pattern.first(), braces(pattern)) {
        (Some(b'{'), Some((_, close))) => pattern[1..close]
            .split(|&byte| byte == b',')
            .map(
                |alternative| {
                    if alternative.is_empty() { first_of(&pattern[close + 1..]) } else { bit(alternative[0]) }
                },
            )
            .fold(0, |all, bits| all | bits),
        (first, _) => first.map_or(0, |&first| bit(first)),
    }
}

fn bit(byte: u8) -> u128 {
    1u128.checked_shl(byte.into()).unwrap_or_default()
}

/// Returns the positions of the first opening brace and of its closing brace.
fn braces(pattern: &[u8]) -> Option<(usize, usize)> {
    let open = pattern.iter().position(|&byte| byte == b'{')?;
    let length = pattern[open..].iter().position(|&byte| byte == b'}')?;
    Some((open, open + length))
}

/// Calls `visit` for every name that matches a pattern.
pub(super) fn expand(pattern: &str, visit: &mut impl FnMut(&str)) {
    expand_after(&mut String::with_capacity(pattern.len()), pattern, visit);
}

fn expand_after(prefix: &mut String, rest: &str, visit: &mut impl FnMut(&str)) {
    let length = prefix.len();
    match braces(rest.as_bytes()) {
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
            let firsts = own.iter().fold(0, |bits, name| bits | bit(name.as_bytes()[0]));
            assert_eq!(first_bytes(pattern), firsts, "{pattern}");
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
