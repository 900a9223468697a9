//! An oracle for the interval tree: an unsorted list of segments.

use arbitrary::{Result, Unstructured};

use crate::analysis::{IntervalTree, Overlap, Point, Segment, ValueNumber};

/// Executes random insertions, removals and queries, and compares each answer with the answer of the list.
///
/// # Panics
/// If an answer differs.
pub fn check_interval_tree(u: &mut Unstructured<'_>) -> Result<()> {
    let mut tree = IntervalTree::new();
    let mut list: Vec<(Vec<Segment>, u32)> = Vec::new();
    for owner in 0..u.int_in_range(0..=24)? {
        let range = live_range(u)?;
        let expected = overlaps_in_list(&list, &range);
        let found: Vec<Overlap<u32>> = tree.overlaps(&range).collect();
        assert_eq!(found, expected, "overlaps of {range:?}");
        assert_eq!(tree.first_overlap(&range), expected.first().copied());
        if expected.is_empty() {
            tree.insert(&range, owner);
            list.push((range, owner));
        } else if u.ratio(1, 3)? {
            let taken_out = list.swap_remove(u.choose_index(list.len())?).0;
            tree.remove(&taken_out);
        }
        assert_eq!(tree.len(), list.iter().map(|(range, _)| range.len()).sum::<usize>());
        assert_eq!(tree.is_empty(), list.iter().all(|(range, _)| range.is_empty()));
    }
    Ok(())
}

/// Draws sorted, disjoint segments, some of them touching.
fn live_range(u: &mut Unstructured<'_>) -> Result<Vec<Segment>> {
    let mut segments = Vec::new();
    let mut point = 0;
    for value in 0..u.int_in_range(0..=5)? {
        let start = point + u.int_in_range(0..=40)?;
        point = start + u.int_in_range(1..=12)?;
        segments.push(Segment { start: Point(start), end: Point(point), value: ValueNumber(value) });
    }
    Ok(segments)
}

fn overlaps_in_list(list: &[(Vec<Segment>, u32)], range: &[Segment]) -> Vec<Overlap<u32>> {
    let mut overlaps = Vec::new();
    for segment in range {
        for (other, owner) in list {
            overlaps.extend(other.iter().filter_map(|other| {
                let (start, end) = (segment.start.max(other.start), segment.end.min(other.end));
                (start < end).then_some(Overlap { start, end, owner: *owner })
            }));
        }
    }
    overlaps.sort_by_key(|overlap| overlap.start);
    overlaps
}

#[cfg(test)]
mod tests {
    use super::check_interval_tree;

    #[test]
    fn trees_answer_as_vectors_do() {
        arbtest::arbtest(check_interval_tree).budget_ms(1_000);
    }
}
