//! Where things are in the generic address space.
//!
//! Addresses of global, constant and kernel parameter memory are generic addresses. Shared and local memory have windows;
//! their own addresses are offsets into these.

use super::types::{hash_of, low};

/// The window of shared memory.
pub(crate) const SHARED: u64 = 1 << 48;
/// The window of a thread's local memory.
pub(crate) const LOCAL: u64 = 1 << 49;
/// The bytes of a window.
pub(crate) const WINDOW: u64 = 1 << 32;
/// The parameters of the kernel.
pub(crate) const PARAMETERS: u64 = 1 << 51;
/// Variables of global and constant memory: where they begin, and the bits of the places that each may have.
const VARIABLES: u64 = 1 << 52;
const NAME_BITS: u32 = 24;
const VARIABLE_BITS: u32 = 26;
/// The first variable in shared memory. On sm_90, the first KiB is the driver's.
pub(crate) const FIRST_SHARED: u32 = 1024;
/// Shared memory comes in pieces of so many bytes.
pub(crate) const SHARED_GRANULARITY: u32 = 128;
/// Where shared memory ends: a block may use 227 KiB, and the first KiB is none of these.
pub(crate) const SHARED_END: u32 = FIRST_SHARED + 232_448;
/// Where buffers of pointer parameters begin.
pub(crate) const BUFFERS: u64 = 1 << 44;
/// Where buffers of pointers that are loaded from memory begin.
pub(crate) const MORE_BUFFERS: u64 = 1 << 45;

/// Boxes of tensors whose maps are not known: where they begin, and the bits of the places that each may have.
const BOXES: u64 = 1 << 53;
const BOX_BITS: u32 = 18;

/// Where a box of a tensor lies, by a hash of all that names it.
pub(crate) fn tensor_box(hash: u64) -> u64 {
    BOXES + (low(hash, NAME_BITS) << BOX_BITS)
}

/// The address of a variable: the same in every program that has the name.
pub(crate) fn variable(name: &str) -> u64 {
    VARIABLES + (low(hash_of(name), NAME_BITS) << VARIABLE_BITS)
}

/// The start of the variable that an address would be in, if it is among those of variables.
pub(crate) fn variable_of(address: u64) -> Option<u64> {
    let is_among = address.wrapping_sub(VARIABLES) < 1 << (NAME_BITS + VARIABLE_BITS);
    is_among.then_some(address >> VARIABLE_BITS << VARIABLE_BITS)
}

/// Whether an address is in a window.
pub(crate) fn in_window(address: u64, window: u64) -> bool {
    address.wrapping_sub(window) < WINDOW
}
