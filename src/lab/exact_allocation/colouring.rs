//! Exact colouring: places for given items within a register limit, or the proof that no such places exist.
//!
//! Items that are sure to find a place, whatever the others do, are removed first (Chaitin). The remaining items are
//! divided into independent parts. A backtracking search runs on each part, and places the item with the fewest
//! remaining places first. Of interchangeable places that no item has used yet, only one is tried.

use super::backtrack::{Backtrack, Outcome};
use super::items::Item;
use super::palette::Palette;
use crate::allocate::occupied::Occupied;
use crate::index::IndexVec;

/// Result of a colouring.
pub(super) enum Coloring {
    /// A place for each item. Items beyond the register limit also have places.
    Found(Vec<(Item, u32)>),
    /// There is no colouring. Even these items alone have none.
    Impossible(Vec<Item>),
    /// The steps were used up.
    Unknown,
}

impl Palette<'_> {
    /// Finds places for `present` in at most `steps` steps, which are subtracted from `steps`.
    pub(super) fn color(&self, present: &[Item], steps: &mut usize) -> Coloring {
        let items = self.items;
        let mut unit: IndexVec<Item, Option<u32>> = IndexVec::filled(None, items.items.len());
        let mut is_left: IndexVec<Item, bool> = IndexVec::filled(false, items.items.len());
        for &item in present {
            unit[item] = items.items[item].fixed;
            is_left[item] = unit[item].is_none();
        }
        let removed = self.simplify(present, &mut is_left, &unit);
        for part in self.parts(present, &is_left) {
            match Backtrack::new(self, &part, &unit).run(steps) {
                Outcome::Found(units) => {
                    for (&item, found) in part.iter().zip(units) {
                        unit[item] = found;
                    }
                }
                Outcome::Impossible => return Coloring::Impossible(part),
                Outcome::Unknown => return Coloring::Unknown,
            }
        }
        let mut occupied = Occupied::default();
        for &item in removed.iter().rev() {
            unit[item] = self.first_free(item, Some(self.register_limit), &unit, &mut occupied);
        }
        for &item in present {
            if unit[item].is_none() {
                unit[item] = self.first_free(item, None, &unit, &mut occupied);
            }
        }
        Coloring::Found(present.iter().filter_map(|&item| Some((item, unit[item]?))).collect())
    }

    /// Removes items that are sure to find a place. Returns them in the order of removal.
    fn simplify(
        &self,
        present: &[Item],
        is_left: &mut IndexVec<Item, bool>,
        unit: &IndexVec<Item, Option<u32>>,
    ) -> Vec<Item> {
        let items = &self.items.items;
        let mut degree: IndexVec<Item, u32> = IndexVec::filled(0, items.len());
        let taken = |item: Item, other: Item| self.classes.taken(items[item].class, items[other].class);
        for &item in present.iter().filter(|&&item| is_left[item]) {
            let others = self.items.relations(item).iter().map(|&(other, _)| other);
            let others = others.filter(|&other| is_left[other] || unit[other].is_some());
            degree[item] = others.map(|other| taken(item, other)).sum();
        }
        let is_low = |item: Item, degree: u32| degree < self.classes.places(items[item].class, self.register_limit);
        let mut ready: Vec<Item> =
            present.iter().copied().filter(|&item| is_left[item] && is_low(item, degree[item])).collect();
        let mut removed = Vec::new();
        while let Some(item) = ready.pop() {
            if !std::mem::replace(&mut is_left[item], false) {
                continue;
            }
            removed.push(item);
            for &(other, _) in self.items.relations(item) {
                if is_left[other] {
                    degree[other] -= taken(other, item);
                    if is_low(other, degree[other]) {
                        ready.push(other);
                    }
                }
            }
        }
        removed
    }

    /// Divides the remaining items into parts that do not interfere. If some items may exceed the register limit, all
    /// items form one part, because they share the number of allowed items.
    fn parts(&self, present: &[Item], is_left: &IndexVec<Item, bool>) -> Vec<Vec<Item>> {
        if self.allowed > 0 {
            return vec![present.iter().copied().filter(|&item| is_left[item]).collect()];
        }
        let mut is_waiting = is_left.clone();
        let mut parts = Vec::new();
        for &first in present {
            if !std::mem::replace(&mut is_waiting[first], false) {
                continue;
            }
            let mut part = vec![first];
            let mut at = 0;
            while let Some(&item) = part.get(at) {
                at += 1;
                for &(other, _) in self.items.relations(item) {
                    if std::mem::replace(&mut is_waiting[other], false) {
                        part.push(other);
                    }
                }
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// Returns the lowest place that the item's neighbours leave free.
    fn first_free(
        &self,
        item: Item,
        register_limit: Option<u32>,
        unit: &IndexVec<Item, Option<u32>>,
        occupied: &mut Occupied,
    ) -> Option<u32> {
        occupied.clear();
        for &(other, _) in self.items.relations(item) {
            if let Some(unit) = unit[other] {
                occupied.add(unit, self.items.items[other].width);
            }
        }
        occupied.first_free(&self.classes[self.items.items[item].class], register_limit)
    }
}
