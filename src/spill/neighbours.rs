//! Values that move together: slots beside each other, and one access for several of them.
//!
//! Two stores of a block may become one where the later one stands, two loads where the earlier one stands, if no full point
//! lies between and few instructions do. Slots whose values could often be accessed at once lie in one row: the heaviest
//! pairs first, a pair by how often such accesses run. Pairs of pairs are made the same way. What is accessed then with
//! others of its row is one access of 8 or 16 bytes, and never of less than the row has aligned.
//!
//! Invariant: a store stays behind the definition and ahead of all loads, and a load stays behind the store and ahead of its
//! reads. Where a register is live in addition at more than a few instructions, at most `words` words are live with it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::plan::SpilledValue;
use crate::analysis::pressure::Pressure;
use crate::function::{Block, Function};
use crate::index::IndexVec;
use crate::spill::insertion_point::InsertionPoint;

/// The most instructions between accesses that become one.
const NEAR: u32 = 16;

/// A register may be live in addition at so many instructions whatever the pressure: fewer than the access that it saves
/// takes to arrive.
const VERY_NEAR: usize = 4;

/// With how many of the accesses that follow an access is compared.
const MOST_COMPARED: usize = 6;

/// A store of a value, or one of its loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The number of the moved value.
    pub(super) value: usize,
    /// The number of its reload; `None`: the store.
    pub(super) reload: Option<usize>,
}

/// Accesses that are one instruction, in the order of their slots.
pub(super) struct CombinedAccess {
    pub(super) at: InsertionPoint,
    pub(super) parts: Vec<Access>,
}

/// What is known of the accesses of a function.
pub(super) struct Neighbours<'a> {
    pub(super) function: &'a Function,
    pub(super) frequencies: &'a IndexVec<Block, f64>,
    pub(super) values: &'a [SpilledValue],
    pub(super) pressure: &'a mut Pressure,
    /// So many words may be live.
    pub(super) words: u32,
    /// The most bytes of an access.
    pub(super) bytes: u32,
    /// The place of the first store of each value; the only one of a value that is joined with others.
    pub(super) stores: Vec<InsertionPoint>,
}

impl Neighbours<'_> {
    /// The holders that lie beside each other in rows of 8 or 16 bytes, and all accesses: the stores first, which come first
    /// where both stand at one place. Values that are stored in several places are accessed alone. O(accesses · log accesses).
    pub(super) fn find(mut self) -> (Vec<Vec<usize>>, Vec<CombinedAccess>) {
        let in_memory = (0..self.values.len()).filter(|&value| self.holder(value).is_some());
        let (values, redefined): (Vec<usize>, Vec<usize>) =
            in_memory.partition(|&value| self.values[value].is_stored_once);
        let stores = values.iter().map(|&value| Access { value, reload: None });
        let mut accesses = [stores.collect(), self.loads(&values)];
        for kind in &mut accesses {
            kind.sort_by_key(|&access| self.at(access));
        }
        let rows = self.rows(&accesses);
        let mut row_of: BTreeMap<usize, &Vec<usize>> = BTreeMap::new();
        for row in &rows {
            row_of.extend(row.iter().map(|&holder| (holder, row)));
        }
        let [stores, loads] = accesses.map(|kind| self.join(&kind, &row_of));
        let alone = |at: InsertionPoint, access: Access| CombinedAccess { at, parts: vec![access] };
        let stored = redefined.iter().flat_map(|&value| {
            let places = self.values[value].stores.iter();
            places.map(move |&at| alone(at, Access { value, reload: None }))
        });
        let loaded = self.loads(&redefined).into_iter().map(|load| alone(self.at(load), load));
        let combined = stores.into_iter().chain(stored).chain(loads).chain(loaded).collect();
        (rows, combined)
    }

    /// The loads of some values.
    fn loads(&self, values: &[usize]) -> Vec<Access> {
        let of_value = |&value: &usize| {
            let reloads = 0..self.values[value].reloads.len();
            reloads.map(move |reload| Access { value, reload: Some(reload) })
        };
        values.iter().flat_map(of_value).collect()
    }

    /// The slot of a value, by its number among the holders; `None`: it is computed again.
    fn holder(&self, value: usize) -> Option<usize> {
        self.values[value].location.slot
    }

    fn at(&self, access: Access) -> InsertionPoint {
        match access.reload {
            None => self.stores[access.value],
            Some(reload) => self.values[access.value].reloads[reload].at,
        }
    }

    fn bytes_of(&self, access: Access) -> u32 {
        self.function.class(self.values[access.value].reg).spilled_bytes().unwrap_or(0)
    }

    /// The heaviest pairs of slots, and the heaviest pairs of those.
    fn rows(&self, accesses: &[Vec<Access>; 2]) -> Vec<Vec<usize>> {
        let mut weights: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        let mut bytes: BTreeMap<usize, u32> = BTreeMap::new();
        for kind in accesses {
            for (number, &access) in kind.iter().enumerate() {
                let Some(holder) = self.holder(access.value) else { continue };
                bytes.insert(holder, self.bytes_of(access));
                for &next in kind[number + 1..].iter().take(MOST_COMPARED) {
                    let Some(other) = self.holder(next.value).filter(|&other| other != holder) else { continue };
                    if self.is_alike(access, next) && self.stretch(access, next, self.at(next)).is_some() {
                        let weight = weights.entry((holder.min(other), holder.max(other))).or_default();
                        *weight += self.frequencies[self.at(access).block];
                    }
                }
            }
        }
        let mut rows: Vec<Vec<usize>> = bytes.keys().map(|&holder| vec![holder]).collect();
        for _ in 0..2 {
            let row_of: BTreeMap<usize, usize> =
                rows.iter().enumerate().flat_map(|(row, held)| held.iter().map(move |&holder| (holder, row))).collect();
            let mut pairs: BTreeMap<(usize, usize), f64> = BTreeMap::new();
            for (&(one, other), weight) in &weights {
                let (one, other) = (row_of[&one], row_of[&other]);
                if one != other {
                    *pairs.entry((one.min(other), one.max(other))).or_default() += weight;
                }
            }
            let mut heaviest: Vec<((usize, usize), f64)> = pairs.into_iter().collect();
            heaviest.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
            let mut is_taken = vec![false; rows.len()];
            let all = |row: &[usize]| bytes[&row[0]] * row.len() as u32;
            for ((one, other), _) in heaviest {
                if is_taken[one] || is_taken[other] {
                    continue;
                }
                let both = all(&rows[one]) + all(&rows[other]);
                if rows[one].len() == rows[other].len() && (8..=self.bytes).contains(&both) {
                    (is_taken[one], is_taken[other]) = (true, true);
                    let added = std::mem::take(&mut rows[other]);
                    rows[one].extend(added);
                }
            }
            rows.retain(|row| !row.is_empty());
        }
        rows.retain(|row| row.len() > 1);
        rows
    }

    /// Whether two accesses may be one instruction, if their slots lie beside each other.
    fn is_alike(&self, one: Access, other: Access) -> bool {
        let place = |access: Access| self.values[access.value].location.space;
        self.bytes_of(one) == self.bytes_of(other) && place(one) == place(other)
    }

    /// The instructions at whose reads a register is live in addition, if of two accesses, the second behind the first, the
    /// one moves to the other: a store back to `last`, where the last of the row stands, a load up to the first. `None` where
    /// it may not, or there is no room.
    fn stretch(&self, first: Access, second: Access, last: InsertionPoint) -> Option<Range<u32>> {
        let (from, to) = (self.at(first), self.at(second));
        if from.block != to.block || last.before - from.before > NEAR {
            return None;
        }
        let (moved, stretch) = if first.reload.is_none() {
            let moved = &self.values[first.value];
            let is_ahead = |at: InsertionPoint| at.block == from.block && at.before < last.before;
            if moved.reloads.iter().any(|reload| is_ahead(reload.at)) {
                return None;
            }
            (moved, from.before.max(moved.until)..last.before)
        } else {
            let store = self.stores[second.value];
            if store.block == from.block && store.before > from.before {
                return None;
            }
            (&self.values[second.value], from.before..to.before)
        };
        let has_room = stretch.len() <= VERY_NEAR
            || self.pressure.most_in(&stretch) + self.function.class(moved.reg).words() <= self.words;
        has_room.then_some(stretch)
    }

    /// Joins the accesses of one kind that move to one place.
    fn join(&mut self, kind: &[Access], row_of: &BTreeMap<usize, &Vec<usize>>) -> Vec<CombinedAccess> {
        let mut is_done = vec![false; kind.len()];
        let mut combined = Vec::new();
        for number in 0..kind.len() {
            if is_done[number] {
                continue;
            }
            let access = kind[number];
            let holder = self.holder(access.value);
            let row = holder.and_then(|holder| row_of.get(&holder).copied());
            let together = row.and_then(|row| {
                let half = row.len() / 2;
                let is_first = row[..half].iter().any(|&of| Some(of) == holder);
                let halves = if is_first { &row[..half] } else { &row[half..] };
                let tries = [&row[..], halves].into_iter().filter(|slots| slots.len() > 1);
                tries.into_iter().find_map(|slots| self.together(kind, &is_done, number, slots))
            });
            let numbers = together.unwrap_or_else(|| vec![number]);
            numbers.iter().for_each(|&number| is_done[number] = true);
            let at = numbers.iter().map(|&number| self.at(kind[number]));
            let at = if access.reload.is_none() { at.max() } else { at.min() };
            let parts: Vec<Access> = numbers.iter().map(|&number| kind[number]).collect();
            let at = at.unwrap_or_else(|| self.at(access));
            if access.reload.is_none() {
                parts.iter().for_each(|part| self.stores[part.value] = at);
            }
            combined.push(CombinedAccess { at, parts });
        }
        combined
    }

    /// The accesses behind one that together with it reach all of some slots, in the order of the slots; the pressure rises
    /// by them. `None` where one is missing.
    fn together(&mut self, kind: &[Access], is_done: &[bool], number: usize, slots: &[usize]) -> Option<Vec<usize>> {
        let first = kind[number];
        let begin = self.at(first);
        let near: Vec<usize> = (number..kind.len())
            .take_while(|&next| {
                self.at(kind[next]).block == begin.block && self.at(kind[next]).before - begin.before <= NEAR
            })
            .filter(|&next| !is_done[next])
            .collect();
        let of = |&slot: &usize| near.iter().copied().find(|&next| self.holder(kind[next].value) == Some(slot));
        let numbers: Vec<usize> = slots.iter().map(of).collect::<Option<_>>()?;
        // The access itself is among them, not another one of its slot.
        if !numbers.contains(&number) || !numbers.iter().all(|&other| self.is_alike(first, kind[other])) {
            return None;
        }
        let last = numbers.iter().map(|&number| self.at(kind[number])).max()?;
        let mut added: Vec<(Range<u32>, u32)> = Vec::new();
        for &other in &numbers {
            let stretch = match first.reload {
                None => self.stretch(kind[other], kind[other], last),
                Some(_) => self.stretch(first, kind[other], self.at(kind[other])),
            };
            let Some(stretch) = stretch else {
                added.iter().for_each(|(stretch, words)| self.pressure.take(stretch, *words));
                return None;
            };
            let words = self.function.class(self.values[kind[other].value].reg).words();
            self.pressure.put(&stretch, words);
            added.push((stretch, words));
        }
        Some(numbers)
    }
}
