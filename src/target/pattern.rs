//! Brace patterns: exact sets of opcode names, written short.

/// Calls `visit` for every name that a pattern stands for, `{a,b}` standing for `a` or `b`, `{,a}` for nothing or `a`.
/// Braces do not nest. A pattern without a closing brace stands for itself.
///
/// A pattern lists names exactly, so that an opcode of another LLVM never matches by resemblance.
pub(super) fn expand(pattern: &str, visit: &mut impl FnMut(&str)) {
    expand_after(&mut String::with_capacity(pattern.len()), pattern, visit);
}

fn expand_after(prefix: &mut String, rest: &str, visit: &mut impl FnMut(&str)) {
    let length = prefix.len();
    let braces = rest.find('{').and_then(|open| Some((open, open + rest[open..].find('}')?)));
    match braces {
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
    fn an_open_brace_stands_for_itself() {
        assert_eq!(expanded("ADD{16"), ["ADD{16"]);
    }
}
