//! Finds the edits of a list that a test accepts. First all edits are tried at once, then halves of the list, quarters
//! and so on. Accepted edits stay in all later tests.

use std::ops::Range;

/// A range of a text, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) with: String,
}

impl Edit {
    pub(super) fn delete(range: Range<usize>) -> Self {
        Self { range, with: String::new() }
    }
}

/// Applies as many edits as the test accepts, and returns the text. `edits` are in order. An edit that overlaps an
/// earlier one is skipped. O(edits · log) tests.
pub(super) fn minimise(text: &str, edits: &[Edit], test: &mut dyn FnMut(&str) -> bool) -> String {
    let mut own: Vec<&Edit> = Vec::new();
    for edit in edits {
        let is_free = own.last().is_none_or(|last| last.range.end <= edit.range.start);
        if is_free && text.get(edit.range.clone()).is_some_and(|old| old != edit.with) {
            own.push(edit);
        }
    }
    let mut holds = vec![false; own.len()];
    let mut best = text.to_owned();
    let mut size = own.len();
    while size > 0 {
        // From the end, because no other text needs the last text.
        let mut end = own.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let mut tried = holds.clone();
            tried[start..end].fill(true);
            if tried != holds {
                let candidate = edited(text, &own, &tried);
                if test(&candidate) {
                    (holds, best) = (tried, candidate);
                }
            }
            end = start;
        }
        size /= 2;
    }
    best
}

fn edited(text: &str, edits: &[&Edit], holds: &[bool]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits.iter().zip(holds).filter(|(_, holds)| **holds).map(|(edit, _)| edit) {
        out += &text[at..edit.range.start];
        out += &edit.with;
        at = edit.range.end;
    }
    out + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the test judges each edit independently of all others, exactly the accepted edits are made, however many
    /// there are.
    #[test]
    fn all_that_hold() {
        let text: String = (0..64).map(|number| if number % 7 == 3 { 'x' } else { 'a' }).collect();
        let edits: Vec<Edit> = (0..64).map(|at| Edit::delete(at..at + 1)).collect();
        let mut asked = 0;
        let small = minimise(&text, &edits, &mut |text| {
            asked += 1;
            text.matches('x').count() == 9
        });
        assert_eq!(small, "x".repeat(9));
        assert!(asked < 130, "{asked}");
    }

    /// An edit that overlaps an earlier one is skipped, and an edit that changes nothing is not tried.
    #[test]
    fn overlapping() {
        let edits = [Edit::delete(0..2), Edit::delete(1..3), Edit { range: 3..4, with: "d".into() }];
        let mut asked = 0;
        assert_eq!(
            minimise("abcd", &edits, &mut |_| {
                asked += 1;
                true
            }),
            "cd"
        );
        assert_eq!(asked, 1);
    }
}
