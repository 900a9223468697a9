//! The stack variables of a function that are not promoted.

use crate::forecast::footprint::promotion::Transfer;
use crate::function::{Function, MemorySpace, Slot};

/// Bytes of a function's stack variables that are not promoted to registers, and of their accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::forecast) struct Stack {
    pub(in crate::forecast) bytes: u64,
    /// Bytes that the code stores, each store once, wherever it is.
    pub(in crate::forecast) stored: u64,
    /// Bytes that the code loads.
    pub(in crate::forecast) loaded: u64,
}

impl Stack {
    /// Computes the figures of a function whose variables are in memory. O(instructions) if there are such variables.
    pub(in crate::forecast) fn of(function: &Function) -> Self {
        let mut stack = Self::default();
        if function.num_slots() == 0 {
            return stack;
        }
        stack.bytes = (0..function.num_slots()).map(|slot| function.slot(Slot(slot as u32)).size).sum();
        for transfer in function.insts().filter_map(|inst| Transfer::of(function, inst)) {
            if transfer.space == MemorySpace::Local {
                let bytes = u64::from(transfer.width / 8 * transfer.values);
                *(if transfer.is_store { &mut stack.stored } else { &mut stack.loaded }) += bytes;
            }
        }
        stack
    }
}
