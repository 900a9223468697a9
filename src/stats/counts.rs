//! Counts by name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts of events by name, printed in the order of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Counts(BTreeMap<Cow<'static, str>, u64>);

impl Counts {
    /// Adds `by` to the count of `name`.
    pub fn add(&mut self, name: &'static str, by: u64) {
        *self.0.entry(Cow::Borrowed(name)).or_default() += by;
    }

    /// Adds one to the count of a name that is not static.
    pub(super) fn add_owned(&mut self, name: String) {
        *self.0.entry(Cow::Owned(name)).or_default() += 1;
    }

    /// Returns the count of `name`.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Returns the sum over all names.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Whether all counts are 0.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names with their counts, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, &count)| (name.as_ref(), count))
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (name, count) in &other.0 {
            let sum = self.0.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
}

/// Executions by name, from estimated block frequencies, printed in the order of the names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Frequencies(BTreeMap<Cow<'static, str>, f64>);

impl Frequencies {
    /// Adds `by` executions of `name`.
    pub fn add(&mut self, name: &'static str, by: f64) {
        *self.0.entry(Cow::Borrowed(name)).or_default() += by;
    }

    /// Returns the executions of `name`.
    pub fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (name, frequency) in &other.0 {
            *self.0.entry(name.clone()).or_default() += frequency;
        }
    }
}
