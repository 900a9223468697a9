//! Input of exact colouring.

use super::items::Items;
use crate::allocate::ClassTable;

/// The items to colour, and the available units.
pub(super) struct Palette<'a> {
    pub(super) items: &'a Items,
    pub(super) classes: &'a ClassTable,
    pub(super) register_limit: u32,
    /// Number of items that may exceed the register limit.
    pub(super) allowed: usize,
}
