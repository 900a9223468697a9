//! Neighbouring values: values with adjacent slots. One instruction can access several of these slots.
//!
//! Two stores of a block may become one at the place of the later store, and two loads may become one at the place of
//! the earlier load. No high-pressure point and only few instructions may lie between the two. Slots of values that
//! could often be accessed together form a row. The weight of a pair of slots is the frequency of such accesses, and
//! the heaviest pairs are formed first. Pairs of pairs are formed in the same way. Accesses to all slots of a row, or
//! to an aligned half of it, become one access of 8 or 16 bytes.
//!
//! Invariant: a store stays after the definition and before all loads, and a load stays after the store and before its
//! reads. If a register becomes live at more than a few additional instructions, at most `words` words are live there,
//! including the register.

use std::collections::BTreeMap;
use std::ops::Range;

use super::plan::SpilledValue;
use crate::analysis::pressure::Pressure;
use crate::function::{Block, Function};
use crate::index::IndexVec;
use crate::spill::insertion_point::InsertionPoint;

/// Most instructions between accesses that become one access.
const NEAR: u32 = 16;

/// Number of additional instructions at which a register may become live whatever the pressure. That takes less time
/// than the latency of the access that is saved.
const VERY_NEAR: usize = 4;

/// Number of the following accesses with which an access is compared.
const MOST_COMPARED: usize = 6;

/// A store of a value, or one of its loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The number of the spilled value.
    pub(super) value: usize,
    /// The number of its reload; `None` for the store.
    pub(super) reload: Option<usize>,
}

/// Accesses that form one instruction, in the order of their slots.
pub(super) struct CombinedAccess {
    pub(super) at: InsertionPoint,
    pub(super) parts: Vec<Access>,
}

/// The accesses of a function, and their limits.
pub(super) struct Neighbours<'a> {
    pub(super) function: &'a Function,
    pub(super) frequencies: &'a IndexVec<Block, f64>,
    pub(super) values: &'a [SpilledValue],
    pub(super) pressure: &'a mut Pressure,
    /// Most words that may be live.
    pub(super) words: u32,
    /// Most bytes of an access.
    pub(super) bytes: u32,
    /// The place of the first store of each value. A value that is joined with others has only this store.
    pub(super) stores: Vec<InsertionPoint>,
}

impl Neighbours<'_> {
    /// Returns the holders that are adjacent in rows of 8 or 16 bytes, and all accesses. At the same place, stores
    /// precede loads. Values that are stored in several places are accessed alone. O(accesses · log accesses).
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

    /// Returns the loads of some values.
    fn loads(&self, values: &[usize]) -> Vec<Access> {
        let of_value = |&value: &usize| {
            let reloads = 0..self.values[value].reloads.len();
            reloads.map(move |reload| Access { value, reload: Some(reload) })
        };
        values.iter().flat_map(of_value).collect()
    }

    /// Returns the holder of a value, which is the number of its slot in the plan; `None` if the value is
    /// rematerialised.
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

    /// Returns the rows: the heaviest pairs of slots, and the heaviest pairs of these pairs.
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

    /// Whether two accesses can become one instruction if their slots are adjacent.
    fn is_alike(&self, one: Access, other: Access) -> bool {
        let place = |access: Access| self.values[access.value].location.space;
        self.bytes_of(one) == self.bytes_of(other) && place(one) == place(other)
    }

    /// Returns the additional instructions at whose reads a register is live if two accesses become one. A store of the
    /// first moves down to `last`, the place of the row's last store. A load of the second moves up to the first load.
    /// `None` if the move is not allowed or exceeds the limit.
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

    /// Combines the accesses of one kind that can move to the same place.
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

    /// Returns accesses that together cover all of `slots`, in the order of the slots: the access `number` and later
    /// ones. Raises the pressure accordingly. `None` if a slot is not covered.
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
        // The accesses must include the access `number` itself, not another access to the same slot.
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
