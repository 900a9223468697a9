//! Evict: removes live ranges from a place to make room for a heavier live range.
//!
//! Only lighter items are evicted. So the placed items grow heavier with every eviction, and the process terminates. In
//! addition, the number of evictions of one item is bounded.

use super::Run;
use super::items::Item;

/// A place, and the holders that must leave it.
pub(super) struct Eviction {
    pub(super) unit: u32,
    pub(super) evicted: Vec<Item>,
}

impl Run<'_> {
    /// Returns the place whose heaviest holder is the lightest. Among equal places, the one whose holders weigh least
    /// in sum is returned. `None` if every place has a holder that must stay.
    pub(super) fn cheapest_eviction(&self, item: Item) -> Option<Eviction> {
        let class = self.items.class(item);
        let registers = &self.files[class.file];
        let register_limit = self.problem.files()[class.file].register_limit?;
        let mut best: Option<(f32, f32, Eviction)> = None;
        let mut holders: Vec<Item> = Vec::new();
        for unit in (0..).step_by(class.align as usize).take_while(|unit| unit + class.width <= register_limit) {
            holders.clear();
            let (mut heaviest, mut sum) = (0.0_f32, 0.0_f32);
            let bound = best.as_ref().map_or(f32::INFINITY, |(heaviest, ..)| *heaviest);
            let units = unit..unit + class.width;
            let fits = units.into_iter().all(|unit| {
                registers.holders(unit, self.items.segments(item)).all(|holder| {
                    if !holders.contains(&holder) {
                        holders.push(holder);
                        heaviest = heaviest.max(self.items.weight(holder));
                        sum += self.items.weight(holder);
                    }
                    heaviest <= bound && self.may_evict(item, holder)
                })
            });
            let is_better =
                |(best_heaviest, best_sum, _): &(f32, f32, Eviction)| (heaviest, sum) < (*best_heaviest, *best_sum);
            if fits && best.as_ref().is_none_or(is_better) {
                best = Some((heaviest, sum, Eviction { unit, evicted: holders.clone() }));
            }
        }
        best.map(|(.., eviction)| eviction)
    }

    /// Whether an item may evict a holder. If both must have a register, a wider item may evict a narrower one, because
    /// it has fewer places.
    fn may_evict(&self, item: Item, holder: Item) -> bool {
        let (weight, held) = (self.items.weight(item), self.items.weight(holder));
        if self.items.is_fixed(holder) {
            false
        } else if held.is_infinite() {
            weight.is_infinite() && self.items.class(holder).width < self.items.class(item).width
        } else {
            held < weight && (weight.is_infinite() || self.times_evicted[holder] < self.max_evictions)
        }
    }
}
