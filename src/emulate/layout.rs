//! Layout of the generic address space.
//!
//! Addresses of global, constant and kernel parameter memory are generic addresses. Shared and local memory have
//! windows; their own addresses are offsets into the windows.

use super::types::{hash_of, low};

/// Start of the window of shared memory.
pub(crate) const SHARED: u64 = 1 << 48;
/// Start of the window of a thread's local memory.
pub(crate) const LOCAL: u64 = 1 << 49;
/// Size of a window in bytes.
pub(crate) const WINDOW: u64 = 1 << 32;
/// Start of the kernel's parameters.
pub(crate) const PARAMETERS: u64 = 1 << 51;
/// Variables of global and constant memory: the start, and the address bits of each variable.
const VARIABLES: u64 = 1 << 52;
const NAME_BITS: u32 = 24;
const VARIABLE_BITS: u32 = 26;
/// The first variable in shared memory. On sm_90, the driver uses the first KiB.
pub(crate) const FIRST_SHARED: u32 = 1024;
/// Allocation unit of shared memory in bytes.
pub(crate) const SHARED_GRANULARITY: u32 = 128;
/// The end of shared memory: a block may use 227 KiB besides the first KiB.
pub(crate) const SHARED_END: u32 = FIRST_SHARED + 232_448;
/// Start of the buffers of pointer parameters.
pub(crate) const BUFFERS: u64 = 1 << 44;
/// Start of the buffers of pointers that are loaded from memory.
pub(crate) const MORE_BUFFERS: u64 = 1 << 45;

/// Boxes of tensors with unknown maps: the start, and the address bits of each box.
const BOXES: u64 = 1 << 53;
const BOX_BITS: u32 = 18;

/// Returns the address of a tensor box, from a hash of its map and coordinates.
pub(crate) fn tensor_box(hash: u64) -> u64 {
    BOXES + (low(hash, NAME_BITS) << BOX_BITS)
}

/// Returns the address of a variable. It is the same in every program with the same name.
pub(crate) fn variable(name: &str) -> u64 {
    VARIABLES + (low(hash_of(name), NAME_BITS) << VARIABLE_BITS)
}

/// Returns the start of the variable slot that contains an address, if the address is in the range of variables.
pub(crate) fn variable_of(address: u64) -> Option<u64> {
    let is_among = address.wrapping_sub(VARIABLES) < 1 << (NAME_BITS + VARIABLE_BITS);
    is_among.then_some(address >> VARIABLE_BITS << VARIABLE_BITS)
}

/// Whether an address is in a window.
pub(crate) fn in_window(address: u64, window: u64) -> bool {
    address.wrapping_sub(window) < WINDOW
}
