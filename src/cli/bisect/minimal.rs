//! Delta debugging (Zeller and Hildebrandt, 2002): finds a subset of parts that still fails, and from which no part can
//! be removed.

/// Finds such a subset. `fails` gets its parts in the order of `all`. It must return true for all parts and false for
/// no parts; neither of these two sets is tested. Other sets may be tested twice.
pub(super) fn minimal<T: Clone, E>(all: &[T], mut fails: impl FnMut(&[T]) -> Result<bool, E>) -> Result<Vec<T>, E> {
    let mut left = all.to_vec();
    // Number of pieces into which the parts are divided.
    let mut pieces = 2;
    while left.len() > 1 {
        let size = left.len().div_ceil(pieces);
        let starts: Vec<usize> = (0..left.len()).step_by(size).collect();
        let mut smaller = None;
        for &start in &starts {
            let piece = left[start..(start + size).min(left.len())].to_vec();
            if fails(&piece)? {
                smaller = Some((piece, 2));
                break;
            }
        }
        // With two pieces, each is the complement of the other.
        if smaller.is_none() && starts.len() > 2 {
            for &start in &starts {
                let others = [&left[..start], &left[(start + size).min(left.len())..]].concat();
                if fails(&others)? {
                    smaller = Some((others, (starts.len() - 1).max(2)));
                    break;
                }
            }
        }
        match smaller {
            Some((parts, next)) => (left, pieces) = (parts, next),
            None if size == 1 => break,
            None => pieces = (2 * starts.len()).min(left.len()),
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use arbtest::arbtest;

    use super::*;

    /// If a failure needs certain parts, the result is exactly these parts. One part of a thousand takes at most twenty
    /// tests.
    #[test]
    fn culprits_are_found() {
        arbtest(|u| {
            let count = u.int_in_range(1..=40)?;
            let all: Vec<usize> = (0..count).collect();
            let mut culprits = vec![u.choose_index(count)?, u.choose_index(count)?, u.choose_index(count)?];
            culprits.truncate(u.int_in_range(1..=3)?);
            culprits.sort_unstable();
            culprits.dedup();
            let fails = |parts: &[usize]| Ok::<_, Infallible>(culprits.iter().all(|culprit| parts.contains(culprit)));
            assert_eq!(minimal(&all, fails), Ok(culprits.clone()));
            Ok(())
        });
        let mut questions = 0;
        let all: Vec<usize> = (0..1000).collect();
        let found = minimal(&all, |parts| {
            questions += 1;
            Ok::<_, Infallible>(parts.contains(&777))
        });
        assert!(found == Ok(vec![777]) && questions <= 20, "{questions}");
    }

    /// For any failure, no part can be removed from the result.
    #[test]
    fn nothing_can_be_left_out() {
        arbtest(|u| {
            let (count, odd) = (u.int_in_range(1..=12)?, u32::arbitrary(u)?);
            let all: Vec<u32> = (0..count).collect();
            let of = |parts: &[u32]| parts.iter().map(|part| 1u32 << part).sum::<u32>();
            // The set of all parts fails, the empty set does not fail, and any other set fails at random.
            let whole = of(&all);
            let fails = |parts: &[u32]| {
                let set = of(parts);
                set == whole || set != 0 && set.wrapping_mul(odd | 1).count_ones() % 2 == 1
            };
            let found = minimal(&all, |parts| Ok::<_, Infallible>(fails(parts))).expect("it cannot fail");
            assert!(fails(&found));
            for at in 0..found.len() {
                let others: Vec<u32> =
                    found.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, part)| *part).collect();
                assert!(!fails(&others), "{found:?} without {at}");
            }
            Ok(())
        });
        use arbitrary::Arbitrary as _;
    }
}
