//! A mnemonic, split at its dots.

use super::number::Rounding;
use super::types::Ty;

/// A mnemonic and its modifiers.
#[derive(Clone, Debug)]
pub(super) struct Mnemonic<'a> {
    /// The first word.
    pub(super) word: &'a str,
    /// The modifiers, without their dots.
    pub(super) modifiers: Vec<&'a str>,
}

impl<'a> Mnemonic<'a> {
    #[cfg(test)]
    pub(super) fn new(text: &'a str) -> Self {
        let mut words = text.split('.');
        Self { word: words.next().unwrap_or_default(), modifiers: words.collect() }
    }

    pub(super) fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// Returns the first modifier that is in a list.
    pub(super) fn one_of(&self, modifiers: &[&str]) -> Option<&'a str> {
        self.modifiers.iter().copied().find(|modifier| modifiers.contains(modifier))
    }

    /// Returns the types among the modifiers, in order.
    pub(super) fn types(&self) -> Vec<Ty> {
        self.modifiers.iter().filter_map(|modifier| Ty::of(modifier)).collect()
    }

    /// Returns the only type, or the last of several.
    pub(super) fn ty(&self) -> Option<Ty> {
        self.modifiers.iter().rev().find_map(|modifier| Ty::of(modifier))
    }

    /// Returns the rounding; to the nearest without a modifier.
    pub(super) fn rounding(&self) -> Rounding {
        self.modifiers.iter().find_map(|modifier| Rounding::of(modifier)).unwrap_or(Rounding::Nearest)
    }

    /// Whether all modifiers are types or in the list.
    pub(super) fn only(&self, known: &[&str]) -> bool {
        self.modifiers.iter().all(|modifier| Ty::of(modifier).is_some() || known.contains(modifier))
    }
}
