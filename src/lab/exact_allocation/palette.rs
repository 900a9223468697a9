//! What exact colouring is given.

use super::items::Items;
use crate::allocate::ClassTable;

/// What there is to colour, and with what.
pub(super) struct Palette<'a> {
    pub(super) items: &'a Items,
    pub(super) classes: &'a ClassTable,
    pub(super) register_limit: u32,
    /// How many of those that may exceed the register limit do.
    pub(super) allowed: usize,
}
