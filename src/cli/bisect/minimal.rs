//! Delta debugging (Zeller and Hildebrandt, 2002): of some parts with which something fails, a part of these with which it
//! still fails, and of which none can be left out.

/// `fails` is asked of parts in their order, and never twice of the same. It fails with all of them, and not without any.
pub(super) fn minimal<T: Clone, E>(all: &[T], mut fails: impl FnMut(&[T]) -> Result<bool, E>) -> Result<Vec<T>, E> {
    let mut left = all.to_vec();
    // In so many pieces.
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
        // Of two pieces each is what the other one leaves.
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

    /// What fails where all of some parts are there is found exactly; one of a thousand in twenty questions.
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

    /// Whatever fails, nothing can be left out of what is found.
    #[test]
    fn nothing_can_be_left_out() {
        arbtest(|u| {
            let (count, odd) = (u.int_in_range(1..=12)?, u32::arbitrary(u)?);
            let all: Vec<u32> = (0..count).collect();
            let of = |parts: &[u32]| parts.iter().map(|part| 1u32 << part).sum::<u32>();
            // All of them fail, none at all does not, and any other set by chance.
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
