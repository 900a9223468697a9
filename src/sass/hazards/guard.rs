//! Conditions under which instructions are done.

use crate::sass::effects::Place;
use crate::sass::operand::Predicate;

/// A predicate that holds, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Guard {
    /// The predicate.
    pub(super) place: Place,
    /// Whether it must not hold.
    pub(super) is_negated: bool,
}

impl Guard {
    pub(super) fn of(predicate: Predicate) -> Option<Self> {
        Some(Self { place: Place::of_predicate(predicate)?, is_negated: predicate.negated })
    }

    /// The opposite condition.
    pub(super) fn opposite(self) -> Self {
        Self { is_negated: !self.is_negated, ..self }
    }

    /// Whether two conditions cannot hold together.
    pub(super) fn exclude(one: Option<Self>, other: Option<Self>) -> bool {
        matches!((one, other), (Some(one), Some(other)) if one.opposite() == other)
    }
}
