//! The ids that edits name.

use crate::function::Block;
use crate::index::EntityIndex;

/// What is wrong with an edit.
pub(super) type Reason = String;

/// Whether an edit names the id that its new entity gets.
pub(super) fn next_id<I: EntityIndex + std::fmt::Display>(id: I, next: I) -> Result<(), Reason> {
    if id == next { Ok(()) } else { Err(format!("the next free id is {next}, not {id}")) }
}

/// Whether a block is one of the first `count`.
pub(super) fn known_block(block: Block, count: usize) -> Result<(), Reason> {
    if block.index() < count { Ok(()) } else { Err(format!("there is no block {block}: the function has {count}")) }
}
