//! Checks of the ids in edits.

use crate::function::Block;
use crate::index::EntityIndex;

/// The reason for which an edit is rejected.
pub(super) type Reason = String;

/// Checks that the id in an edit is the next free id.
pub(super) fn next_id<I: EntityIndex + std::fmt::Display>(id: I, next: I) -> Result<(), Reason> {
    if id == next { Ok(()) } else { Err(format!("the next free id is {next}, not {id}")) }
}

/// Checks that a block is one of the first `count`.
pub(super) fn known_block(block: Block, count: usize) -> Result<(), Reason> {
    if block.index() < count { Ok(()) } else { Err(format!("there is no block {block}: the function has {count}")) }
}
