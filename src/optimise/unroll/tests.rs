use arbitrary::Unstructured;

use super::*;

/// Returns a loop whose iteration has `turn` instructions, without the comparison and the branch at its end.
fn sized(turn: u64) -> Loop {
    Loop { parent: None, count: None, size: Some(turn + END), matrices: 0 }
}

const END: u64 = 2;

fn facts<'a>(nest: &'a [Loop], exits: &'a [u32]) -> Facts<'a> {
    let turns = exits.first().copied().unwrap_or(0);
    Facts {
        nest,
        exits,
        turns,
        end: END,
        walks_stack: true,
        ends_at_lesser: false,
        may_leave_rest: true,
        is_uncontrolled: false,
    }
}

fn cut(nest: &[Loop], exits: &[u32]) -> Mark {
    decide(Unroll::Cut, UnrollMetadata::Unrolling, &facts(nest, exits))
}

/// Only the loops that a choice concerns are examined; the other loops stay.
#[test]
fn reads_what_the_choice_is_about() {
    for choice in [Unroll::Llvm, Unroll::Asked, Unroll::Cut, Unroll::Stack] {
        for asked in [UnrollMetadata::Nothing, UnrollMetadata::Unrolling, UnrollMetadata::Restraint] {
            let expected = match (choice, asked) {
                (Unroll::Asked, UnrollMetadata::Nothing) => Reads::Asked,
                (Unroll::Cut, UnrollMetadata::Unrolling) => Reads::Nest,
                (Unroll::Cut, UnrollMetadata::Nothing) => Reads::Bounds,
                (Unroll::Stack, UnrollMetadata::Nothing) => Reads::Stack,
                _ => Reads::Nothing,
            };
            assert_eq!(reads(choice, asked), expected, "{choice:?} {asked:?}");
            let is_left = decide(choice, asked, &facts(&[sized(2)], &[20_000])) == Mark::Leave;
            let may_stay = [Reads::Nothing, Reads::Stack, Reads::Bounds];
            assert_eq!(is_left, may_stay.contains(&expected), "{choice:?} {asked:?}");
        }
    }
}

/// LLVM decides if it reaches the full trip count itself. Otherwise, the factor is the trip count if that fits NVIDIA's
/// limit, or else a power of two.
#[test]
fn as_many_as_fit() {
    assert_eq!(cut(&[sized(2)], &[8_000]), Mark::Leave);
    assert_eq!(cut(&[sized(2)], &[10_000]), Mark::Count(10_000));
    assert_eq!(cut(&[sized(3)], &[16_384]), Mark::Count(8_192));
    assert_eq!(cut(&[sized(2)], &[20_001]), Mark::Count(4));
    assert_eq!(cut(&[sized(40_000)], &[8]), Mark::Disable);
    // The trip count is unknown.
    assert_eq!(cut(&[Loop { count: Some(100_000), ..sized(2) }], &[]), Mark::Count(2));
    assert_eq!(cut(&[sized(2)], &[]), Mark::Leave);
    // The earliest exit determines the trip count.
    assert_eq!(cut(&[sized(2)], &[0, 20_000, 10_000]), Mark::Count(10_000));
    // LLVM cannot unroll it.
    assert_eq!(cut(&[Loop { size: None, ..sized(2) }], &[10_000]), Mark::Leave);
}

/// The limits are exact: one more instruction does not fit.
#[test]
fn limits() {
    assert_eq!(cut(&[sized(1)], &[16_381]), Mark::Leave);
    assert_eq!(cut(&[sized(1)], &[16_382]), Mark::Count(16_382));
    assert_eq!(cut(&[sized(1)], &[32_766]), Mark::Count(32_766));
    assert_eq!(cut(&[sized(1)], &[32_768]), Mark::Count(16_384));
}

/// A loop with an inner loop is unrolled as requested or not at all. Later growth of the inner loop counts.
#[test]
fn nests() {
    let inner = |count| Loop { parent: Some(0), count, ..sized(10) };
    assert_eq!(cut(&[sized(20), inner(None)], &[1_000]), Mark::Count(1_000));
    assert_eq!(cut(&[sized(20), inner(None)], &[2_000]), Mark::Disable);
    // An iteration has 20 instructions, and the inner loop grows by 3 times 10.
    assert_eq!(cut(&[sized(20), inner(Some(4))], &[655]), Mark::Leave);
    assert_eq!(cut(&[sized(20), inner(Some(4))], &[656]), Mark::Disable);
    // The innermost loop grows by 10. The middle loop, which then has 10 + 10 instructions, is repeated once.
    let nest = [sized(20), Loop { count: Some(2), ..inner(None) }, Loop { parent: Some(1), ..inner(Some(2)) }];
    assert_eq!(facts(&nest, &[]).size_to_come(), 10 + 20);
}

/// Matrix products weigh more than in LLVM's estimate.
#[test]
fn matrices() {
    let of = |matrices| cut(&[Loop { matrices, ..sized(10) }], &[1_024]);
    assert_eq!(of(0), Mark::Leave);
    assert_eq!(of(40), Mark::Count(512));
}

/// If all threads of a warp must take part, no remainder is left.
#[test]
fn no_rest_among_threads_that_take_part() {
    let decide = |turns, count| {
        let nest = [Loop { count, ..sized(2) }];
        let exits = [turns];
        decide(Unroll::Cut, UnrollMetadata::Unrolling, &Facts { may_leave_rest: false, ..facts(&nest, &exits) })
    };
    assert_eq!(decide(20_001, None), Mark::Disable);
    assert_eq!(decide(20_000, Some(10_012)), Mark::Count(4));
    assert_eq!(decide(0, Some(10_000)), Mark::Disable);
}

/// A loop over an array is fully unrolled, if LLVM can unroll it.
#[test]
fn over_the_stack() {
    let nest = [sized(38)];
    let decide = |facts| decide(Unroll::Stack, UnrollMetadata::Nothing, &facts);
    let facts = facts(&nest, &[400]);
    assert_eq!(decide(facts), Mark::Full);
    assert_eq!(decide(Facts { turns: 409, ..facts }), Mark::Full);
    assert_eq!(decide(Facts { turns: 410, ..facts }), Mark::Leave);
    assert_eq!(decide(Facts { turns: 1, ..facts }), Mark::Leave);
    assert_eq!(decide(Facts { walks_stack: false, ..facts }), Mark::Leave);
    assert_eq!(decide(Facts { is_uncontrolled: true, ..facts }), Mark::Leave);
    assert_eq!(decide(Facts { nest: &[Loop { size: None, ..nest[0] }], ..facts }), Mark::Leave);
}

/// A short loop that ends at the lesser of two bounds is unrolled by four, if LLVM can unroll it with a remainder.
#[test]
fn to_the_lesser_bound() {
    let of = |facts| decide(Unroll::Cut, UnrollMetadata::Nothing, &facts);
    let (nest, longer) = ([sized(74)], [sized(75)]);
    let facts = Facts { ends_at_lesser: true, ..facts(&nest, &[]) };
    assert_eq!(of(facts), Mark::Count(4));
    assert_eq!(of(Facts { ends_at_lesser: false, ..facts }), Mark::Leave);
    assert_eq!(of(Facts { may_leave_rest: false, ..facts }), Mark::Leave);
    assert_eq!(of(Facts { nest: &longer, ..facts }), Mark::Leave);
    assert_eq!(of(Facts { nest: &[Loop { size: None, ..nest[0] }], ..facts }), Mark::Leave);
}

fn nest(u: &mut Unstructured<'_>) -> arbitrary::Result<Vec<Loop>> {
    let mut nest = Vec::new();
    for index in 0..u.int_in_range(1..=4)? {
        nest.push(Loop {
            parent: if index == 0 { None } else { Some(u.int_in_range(0..=index - 1)?) },
            count: if u.arbitrary()? { Some(u.int_in_range(0..=70_000)?) } else { None },
            size: if u.ratio(7, 8)? { Some(u.int_in_range(END + 1..=200)?) } else { None },
            matrices: if u.arbitrary()? { 0 } else { u.int_in_range(0..=100)? },
        });
    }
    Ok(nest)
}

/// A factor is at most the request and the trip count, and the unrolled loop fits. If no remainder may be left, the
/// factor divides the trip count. Only a loop that LLVM can unroll gets a factor.
#[test]
fn counts_are_within_bounds() {
    arbtest::arbtest(|u| {
        let nest = nest(u)?;
        let exits: Vec<u32> =
            (0..u.int_in_range(0..=3)?).map(|_| u.int_in_range(0..=70_000)).collect::<arbitrary::Result<_>>()?;
        let facts = Facts { may_leave_rest: u.arbitrary()?, ..facts(&nest, &exits) };
        let Mark::Count(count) = decide(Unroll::Cut, UnrollMetadata::Unrolling, &facts) else { return Ok(()) };
        let turns = exits.iter().copied().filter(|&turns| turns > 0).min();
        let turn = nest[0].size.expect("LLVM can unroll it") - END;
        assert!(count >= 2);
        assert!(nest[0].count.is_none_or(|asked| count <= asked) && turns.is_none_or(|turns| count <= turns));
        assert!(u64::from(count) * turn + END <= MOST_OF_NVIDIA);
        if !facts.may_leave_rest {
            assert!(turns.is_some_and(|turns| turns.is_multiple_of(count)));
        }
        let is_as_asked = nest[0].count.unwrap_or(u32::MAX).min(turns.unwrap_or(u32::MAX)) == count;
        assert!(is_as_asked || count.is_power_of_two());
        assert!(is_as_asked || nest.len() == 1 || !facts.may_leave_rest);
        Ok(())
    });
}

/// A loop is fully unrolled only if all its iterations fit LLVM's size.
#[test]
fn whole_loops_fit() {
    arbtest::arbtest(|u| {
        let nest = nest(u)?;
        let exits = [u.int_in_range(0..=20_000)?];
        if decide(Unroll::Stack, UnrollMetadata::Nothing, &facts(&nest, &exits)) == Mark::Full {
            assert!(nest[0].size.expect("LLVM can unroll it") * u64::from(exits[0]) <= MOST_OF_LLVM);
        }
        Ok(())
    });
}
