//! Pseudo-random numbers and choices: the same seed gives the same program.

use crate::emulate::types::mixed;

/// A source of numbers.
#[derive(Clone, Debug)]
pub(super) struct Drawn(u64);

impl Drawn {
    pub(super) fn new(seed: u64) -> Self {
        Self(mixed(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// Returns a number below a limit.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 8) as usize % limit.max(1)
    }

    /// Returns a number in an inclusive range.
    pub(super) fn between(&mut self, from: i64, to: i64) -> i64 {
        from + self.below((to - from + 1) as usize) as i64
    }

    /// Returns true in `percent` of a hundred cases.
    pub(super) fn is(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Returns one of several, by weight.
    pub(super) fn weighted<T: Copy>(&mut self, all: &[(u32, T)]) -> T {
        let sum: u32 = all.iter().map(|one| one.0).sum();
        let mut left = self.below(sum as usize) as u32;
        for &(weight, one) in all {
            if left < weight {
                return one;
            }
            left -= weight;
        }
        all[0].1
    }

    /// Returns one expansion of a pattern: `{a,b}` is `a` or `b`, and `#` a byte. A brace before `%` is a vector.
    pub(super) fn pattern(&mut self, pattern: &str) -> String {
        let mut text = String::new();
        let mut rest = pattern;
        while let Some(at) = rest.find(['{', '#']) {
            text += &rest[..at];
            if rest[at..].starts_with('#') {
                text += &format!("0x{:x}", self.next() & 0xff);
                rest = &rest[at + 1..];
                continue;
            }
            let end = rest[at..].find('}').map_or(rest.len(), |end| at + end);
            if rest[at + 1..].starts_with('%') {
                text += &rest[at..=end];
            } else {
                let choices: Vec<&str> = rest[at + 1..end].split(',').collect();
                text += self.one_of(&choices);
            }
            rest = &rest[end + 1..];
        }
        text + rest
    }

    /// Returns an integer with `bits` bits: a small one, one at a limit, a power of two, a neighbour of these, or any
    /// bits.
    pub(super) fn integer(&mut self, bits: u32) -> u64 {
        let all = u64::MAX >> (64 - bits);
        let near = [0, 0, 1, u64::MAX, 2, u64::MAX - 1];
        let value = match self.below(8) {
            0 | 1 => self.next() % 20,
            2 => (self.next() % 20).wrapping_neg(),
            3 => self.next() % 1024,
            4 => (1_u64 << self.below(bits as usize)).wrapping_add(self.one_of(&near)),
            5 => (1_u64 << (bits - 1)).wrapping_add(self.one_of(&near)),
            6 => (u64::MAX << self.below(bits as usize)).wrapping_add(self.one_of(&near)),
            _ => self.next(),
        };
        value & all
    }
}
