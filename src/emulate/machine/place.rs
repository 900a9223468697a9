//! Memory places of addresses.

use crate::emulate::layout;

/// The memory place of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Global(u64),
    Shared(u32),
    Local(u32),
}

/// The most bytes of a thread's local memory.
pub(super) const MOST_LOCAL: u64 = 1 << 22;

/// Returns the place of a generic address.
pub(super) fn generic(address: u64) -> Target {
    if layout::in_window(address, layout::SHARED) {
        Target::Shared((address - layout::SHARED) as u32)
    } else if layout::in_window(address, layout::LOCAL) {
        Target::Local((address - layout::LOCAL) as u32)
    } else {
        Target::Global(address)
    }
}
