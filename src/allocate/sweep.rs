//! A sweep over the starts of segments, which finds the live ranges that are live at each definition.
//!
//! Textbooks scan each block backwards from its live-out set. Here, live ranges are already computed, and a sweep over
//! their starts finds the same pairs.

use crate::analysis::Point;

/// A segment as an event of the sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<T> {
    pub(crate) at: Point,
    /// Whether the segment starts with a write. Other segments continue a value through control flow, and come before
    /// writes at the same point.
    pub(crate) is_written: bool,
    pub(crate) end: Point,
    pub(crate) who: T,
}

/// Calls `meets` for each segment that starts with a write, with all other segments that are live at its start.
/// O(segments · log segments + meetings).
pub(crate) fn sweep<T: Copy + Ord>(mut starts: Vec<Start<T>>, mut meets: impl FnMut(&Start<T>, &[Start<T>])) {
    starts.sort_unstable_by_key(|start| (start.at, start.is_written, start.who));
    let mut live: Vec<Start<T>> = Vec::new();
    for comer in starts {
        if comer.is_written {
            live.retain(|other| other.end > comer.at);
            meets(&comer, &live);
        }
        live.push(comer);
    }
}
