//! Suggests a known name for a mistyped one.

/// Returns the known name at the least edit distance from `name`, if the distance is small enough for a typing error.
/// The first of equally near names wins.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= allowed)
        .map(|(_, candidate)| candidate)
}

/// Computes Levenshtein's distance, one row of the table at a time: O(|a|·|b|) time, O(|b|) memory.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance counts insertions, deletions and substitutions.
    #[test]
    fn distance_counts_single_edits() {
        for (a, b, expected) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("verify", "verfy", 1)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    /// A mistyped name finds the right name. Any other word finds no name.
    #[test]
    fn nearest_only_where_near() {
        let known = ["before", "after", "instead"];
        assert_eq!(nearest("befor", known.into_iter()), Some("before"));
        assert_eq!(nearest("somewhere", known.into_iter()), None);
        assert_eq!(nearest("", known.into_iter()), None);
    }
}
