//! Conditions under which instructions execute.

use crate::sass::effects::Place;
use crate::sass::operand::Predicate;

/// A condition: a predicate that is true or false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Guard {
    /// The predicate.
    pub(super) place: Place,
    /// Whether the predicate must be false.
    pub(super) is_negated: bool,
}

impl Guard {
    pub(super) fn of(predicate: Predicate) -> Option<Self> {
        Some(Self { place: Place::of_predicate(predicate)?, is_negated: predicate.negated })
    }

    /// Returns the opposite condition.
    pub(super) fn opposite(self) -> Self {
        Self { is_negated: !self.is_negated, ..self }
    }

    /// Whether two conditions exclude each other.
    pub(super) fn exclude(one: Option<Self>, other: Option<Self>) -> bool {
        matches!((one, other), (Some(one), Some(other)) if one.opposite() == other)
    }
}
