//! Backtracking search for the places of items that depend on each other.

use super::items::{Item, Relation};
use super::palette::Palette;
use crate::index::IndexVec;

/// Result of a search.
pub(super) enum Outcome {
    /// The place of each item; `None` for an item beyond the register limit.
    Found(Vec<Option<u32>>),
    /// There is no solution.
    Impossible,
    /// The steps were used up.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Placed(u32),
    Beyond,
}

/// State of the search.
pub(super) struct Backtrack {
    register_limit: u32,
    allowed: usize,
    width: Vec<u32>,
    align: Vec<u32>,
    may_exceed: Vec<bool>,
    neighbours: Vec<Vec<(usize, Relation)>>,
    /// By item: its remaining places, as a mask of units.
    domains: Vec<Vec<u64>>,
    state: Vec<State>,
    /// By unit: the number of items that hold it, including fixed items.
    touched: Vec<u32>,
    /// The largest alignment, if every place is a power-of-two block and blocks are interchangeable. `None` otherwise.
    symmetric_up_to: Option<u32>,
}

impl Backtrack {
    /// Prepares the search for places of `part`. Fixed items keep their places.
    pub(super) fn new(palette: &Palette<'_>, part: &[Item], unit: &IndexVec<Item, Option<u32>>) -> Self {
        let (items, register_limit) = (&palette.items.items, palette.register_limit);
        let neighbours = |&item: &Item| {
            let others = palette.items.relations(item).iter();
            others.filter_map(|&(other, relation)| Some((part.binary_search(&other).ok()?, relation))).collect()
        };
        let is_block = |item: &Item| items[*item].width == items[*item].align && items[*item].align.is_power_of_two();
        let mut this = Self {
            register_limit,
            allowed: palette.allowed,
            width: part.iter().map(|&item| items[item].width).collect(),
            align: part.iter().map(|&item| items[item].align).collect(),
            may_exceed: part.iter().map(|&item| items[item].may_exceed).collect(),
            neighbours: part.iter().map(neighbours).collect(),
            domains: vec![vec![0; (register_limit as usize).div_ceil(64)]; part.len()],
            state: vec![State::Waiting; part.len()],
            touched: vec![0; register_limit as usize],
            symmetric_up_to: part
                .iter()
                .all(is_block)
                .then(|| part.iter().map(|&item| items[item].align).max())
                .flatten(),
        };
        for (at, &item) in part.iter().enumerate() {
            let (width, align) = (this.width[at], this.align[at]);
            for place in (0..).step_by(align as usize).take_while(|place| place + width <= register_limit) {
                this.domains[at][place as usize / 64] |= 1 << (place % 64);
            }
            for &(other, relation) in palette.items.relations(item) {
                if let (Some(unit), Some(_)) = (unit[other], items[other].fixed) {
                    forbid(&mut this.domains[at], width, unit, items[other].width, relation);
                    let end = (unit + items[other].width).min(register_limit);
                    for unit in unit.min(register_limit)..end {
                        this.touched[unit as usize] += 1;
                    }
                }
            }
        }
        this
    }

    /// Runs the search. Its steps are subtracted from `steps`.
    pub(super) fn run(mut self, steps: &mut usize) -> Outcome {
        match self.search(steps) {
            Some(true) => {
                let unit = |state: &State| if let State::Placed(unit) = *state { Some(unit) } else { None };
                Outcome::Found(self.state.iter().map(unit).collect())
            }
            Some(false) => Outcome::Impossible,
            None => Outcome::Unknown,
        }
    }

    /// Searches for places for the waiting items. Returns whether there are such places; `None` if the steps are used
    /// up.
    fn search(&mut self, steps: &mut usize) -> Option<bool> {
        let waiting = (0..self.state.len()).filter(|&at| self.state[at] == State::Waiting);
        let places = |at: usize| self.domains[at].iter().map(|word| word.count_ones()).sum::<u32>();
        let next =
            waiting.min_by_key(|&at| (places(at), std::cmp::Reverse((self.width[at], self.neighbours[at].len()))));
        let Some(item) = next else { return Some(true) };
        *steps = steps.checked_sub(1)?;
        let align = self.align[item];
        for place in (0..self.register_limit).step_by(align as usize) {
            let is_free = self.domains[item][place as usize / 64] >> (place % 64) & 1 == 1;
            if !is_free || self.is_mirrored(place, align) {
                continue;
            }
            let saved = self.put(item, place);
            if self.search(steps)? {
                return Some(true);
            }
            self.take_back(item, place, saved);
        }
        if self.may_exceed[item] && self.allowed > 0 {
            self.allowed -= 1;
            self.state[item] = State::Beyond;
            if self.search(steps)? {
                return Some(true);
            }
            self.state[item] = State::Waiting;
            self.allowed += 1;
        }
        Some(false)
    }

    /// Whether this place is interchangeable with an earlier place.
    fn is_mirrored(&self, place: u32, align: u32) -> bool {
        let Some(largest) = self.symmetric_up_to else { return false };
        let is_untouched = |start: u32, size: u32| {
            start + size <= self.register_limit
                && self.touched[start as usize..(start + size) as usize].iter().all(|&n| n == 0)
        };
        let mut size = align;
        while size <= largest {
            let block = place / size * size;
            if !is_untouched(block, size) {
                return false;
            }
            let is_right = (block / size) % 2 == 1;
            let has_mirror = if size == largest {
                (0..block).step_by(size as usize).any(|other| is_untouched(other, size))
            } else {
                is_right && is_untouched(block - size, size)
            };
            if has_mirror {
                return true;
            }
            size *= 2;
        }
        false
    }

    /// Places an item. Returns the remaining places that its neighbours had before.
    fn put(&mut self, item: usize, place: u32) -> Vec<(usize, Vec<u64>)> {
        self.state[item] = State::Placed(place);
        for unit in place..place + self.width[item] {
            self.touched[unit as usize] += 1;
        }
        let mut saved = Vec::new();
        for &(other, relation) in &self.neighbours[item] {
            if self.state[other] == State::Waiting {
                saved.push((other, self.domains[other].clone()));
                forbid(&mut self.domains[other], self.width[other], place, self.width[item], relation);
            }
        }
        saved
    }

    fn take_back(&mut self, item: usize, place: u32, saved: Vec<(usize, Vec<u64>)>) {
        self.state[item] = State::Waiting;
        for unit in place..place + self.width[item] {
            self.touched[unit as usize] -= 1;
        }
        for (other, domain) in saved {
            self.domains[other] = domain;
        }
    }
}

/// Removes the places of a neighbour of `width` units that conflict with a placed item, which has `taken` units from
/// `unit` on.
fn forbid(domain: &mut [u64], width: u32, unit: u32, taken: u32, relation: Relation) {
    let first = (unit + 1).saturating_sub(width);
    let end = (unit + taken).min(64 * domain.len() as u32);
    for place in first..end {
        if place != unit || relation == Relation::Apart {
            domain[place as usize / 64] &= !(1 << (place % 64));
        }
    }
}
