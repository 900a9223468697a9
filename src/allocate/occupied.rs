//! The units of a file that are taken during one live range, as a bit mask.

use super::problem::{ClassData, is_place};

/// A set of units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occupied {
    words: Vec<u64>,
}

impl Occupied {
    /// Frees all units.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    /// Frees all units, and returns the mask with room for `words` words, to be filled.
    pub(crate) fn reset(&mut self, words: usize) -> &mut [u64] {
        self.words.clear();
        self.words.resize(words, 0);
        &mut self.words
    }

    /// Takes `width` units, beginning at `unit`.
    #[inline]
    pub(crate) fn add(&mut self, unit: u32, width: u32) {
        let last = ((unit + width - 1) / 64) as usize;
        if self.words.len() <= last {
            self.words.resize(last + 1, 0);
        }
        for unit in unit..unit + width {
            self.words[unit as usize / 64] |= 1 << (unit % 64);
        }
    }

    /// Whether all units are free.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Returns the taken units, in order.
    pub(crate) fn units(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(at as u32 * 64 + bit)
            })
        })
    }

    #[inline]
    pub(crate) fn is_taken(&self, unit: u32) -> bool {
        self.words.get(unit as usize / 64).is_some_and(|word| word >> (unit % 64) & 1 == 1)
    }

    /// Whether `unit` is a free place for a member of the class, within the register limit if there is one.
    pub(crate) fn is_free(&self, class: &ClassData, unit: u32, register_limit: Option<u32>) -> bool {
        is_place(class, unit, register_limit.unwrap_or(u32::MAX))
            && !(unit..unit + class.width).any(|unit| self.is_taken(unit))
    }

    /// Returns the first free place for a member of the class.
    pub(crate) fn first_free(&self, class: &ClassData, register_limit: Option<u32>) -> Option<u32> {
        let mut unit = 0;
        loop {
            if !is_place(class, unit, register_limit.unwrap_or(u32::MAX)) {
                return None;
            }
            // Continue after the last taken unit of this place.
            match (unit..unit + class.width).rev().find(|&unit| self.is_taken(unit)) {
                None => return Some(unit),
                Some(taken) => unit = self.first_untaken(taken + 1).next_multiple_of(class.align),
            }
        }
    }

    fn first_untaken(&self, from: u32) -> u32 {
        let mut at = from as usize / 64;
        let mut bits = self.words.get(at).map_or(0, |word| word | ((1 << (from % 64)) - 1));
        if bits == 0 && at >= self.words.len() {
            return from;
        }
        while bits == u64::MAX {
            at += 1;
            bits = self.words.get(at).copied().unwrap_or(0);
        }
        at as u32 * 64 + bits.trailing_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::File;
    use super::*;

    /// The first free place equals the result of trying all places.
    #[test]
    fn like_trying_them_all() {
        arbtest::arbtest(|u| {
            let mut occupied = Occupied::default();
            let mut taken = [false; 400];
            for _ in 0..u.int_in_range(0..=40)? {
                let (unit, width) = (u.int_in_range(0..=200)?, u.int_in_range(1..=70)?);
                occupied.add(unit, width);
                taken[unit as usize..(unit + width) as usize].fill(true);
            }
            let (width, align) = (u.int_in_range(1..=8)?, u.int_in_range(1..=8)?);
            let class = ClassData { name: "c".into(), file: File(0), width, align, bytes: 4, promotes_to: None };
            let register_limit = u.int_in_range(1..=300)?;
            let is_free = |unit: u32| !taken[unit as usize..(unit + width) as usize].contains(&true);
            let mut places = (0..300).filter(|unit| unit % align == 0 && is_free(*unit));
            assert_eq!(
                occupied.first_free(&class, Some(register_limit)),
                places.clone().find(|unit| unit + width <= register_limit)
            );
            assert_eq!(occupied.first_free(&class, None), places.find(|unit| occupied.is_free(&class, *unit, None)));
            Ok(())
        });
    }
}
