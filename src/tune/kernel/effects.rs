//! The effects of a change on variants that were tried with and without it.
//!
//! A change without a gain so far seldom improves the next best variant. Of 273 changes that had changed no figure, one
//! improved the next best variant. Of 128 changes that had only made figures worse, four improved it. Of 487 new
//! changes, 39 improved it (docs/notebook/2026-11-28-what-64-runs-find.md).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::tune::figures::Figures;
use crate::tune::objective::Objective;
use crate::tune::variant::Variant;

/// The choices of a variant, one by one.
type Parts = BTreeSet<String>;

/// The figures of variants, by their choices.
pub(super) struct Effects(BTreeMap<Parts, Figures>);

impl Effects {
    /// Collects the judged variants.
    pub(super) fn of<'a>(judged: impl Iterator<Item = (&'a Variant, Figures)>) -> Self {
        Self(judged.map(|(variant, figures)| (parts(variant), figures)).collect())
    }

    /// Whether the difference between `base` and `variant` was tried on at least one variant and improved none.
    /// O(judged variants) lookups.
    pub(super) fn is_in_vain(&self, objective: &Objective, base: &Variant, variant: &Variant) -> bool {
        let (base, variant) = (parts(base), parts(variant));
        let (added, removed) = (&variant - &base, &base - &variant);
        let mut effects = self.0.iter().filter_map(|(without, before)| {
            let is_like_base = removed.is_subset(without) && added.is_disjoint(without);
            let with = is_like_base.then(|| &(without - &removed) | &added)?;
            Some(self.0.get(&with)?.compare(before, &objective.preference))
        });
        effects.next().is_some_and(Ordering::is_ge) && effects.all(Ordering::is_ge)
    }
}

/// Returns the options of a variant. Each word of a list counts as an option. Neighbours of stock use the passes, so
/// stock counts as the default.
fn parts(variant: &Variant) -> Parts {
    let text = if *variant == Variant::Stock { String::new() } else { format!("{variant:#}") };
    let words = |option: &str| match option.split_once('=') {
        Some((name @ ("add-passes" | "skip-passes"), words)) => {
            words.split('+').map(|word| format!("{name}={word}")).collect()
        }
        _ => vec![option.to_owned()],
    };
    text.split(';').filter(|option| !matches!(*option, "" | "default")).flat_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::objective;
    use super::*;
    use crate::tune::figures::tests::figures;
    use crate::tune::optimisations::Optimisations;

    /// A change is in vain if it improved no variant on which it was tried. A new change is not in vain.
    #[test]
    fn changes_in_vain() {
        let late = Variant::ordered("late", 0);
        let hoisted = |variant: &Variant| variant.optimised(Optimisations::HOIST);
        for (hoisted_default, hoisted_late, expected) in
            [(100, None, true), (101, None, true), (99, None, false), (100, Some(79), false), (100, Some(80), true)]
        {
            let mut judged = vec![(Variant::DEFAULT, figures(100, 32, 500)), (late.clone(), figures(80, 32, 500))];
            judged.push((hoisted(&Variant::DEFAULT), figures(hoisted_default, 32, 500)));
            judged.extend(hoisted_late.map(|spills| (hoisted(&late), figures(spills, 32, 500))));
            let effects = Effects::of(judged.iter().map(|(variant, figures)| (variant, *figures)));
            let eager = Variant::ordered("eager", 0);
            assert_eq!(effects.is_in_vain(&objective(0), &eager, &hoisted(&eager)), expected);
            assert_eq!(effects.is_in_vain(&objective(0), &Variant::Stock, &hoisted(&Variant::Stock)), expected);
            assert!(!effects.is_in_vain(&objective(0), &eager, &eager.with_bits("on")), "it is new");
            assert!(
                !effects.is_in_vain(&objective(0), &hoisted(&Variant::DEFAULT), &hoisted(&late)),
                "late made it better"
            );
        }
    }

    /// The reverse of an improvement is in vain.
    #[test]
    fn the_other_way_round() {
        let with = Variant::DEFAULT.optimised(Optimisations::HOIST);
        let judged = [(Variant::DEFAULT, figures(100, 32, 500)), (with.clone(), figures(80, 32, 500))];
        let effects = Effects::of(judged.iter().map(|(variant, figures)| (variant, *figures)));
        let best = with.with_order("late", 0);
        assert!(effects.is_in_vain(&objective(0), &best, &Variant::ordered("late", 0)));
    }
}
