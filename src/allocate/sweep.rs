//! Who is there when somebody is written: one sweep over the starts of segments.
//!
//! The textbook scans each block backwards from what is live out of it. Live ranges are at hand here, and a sweep over
//! their starts meets the same pairs.

use crate::analysis::Point;

/// A segment as the sweep takes it up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<T> {
    pub(crate) at: Point,
    /// Control flow brings the others. They come before what is written at the same point.
    pub(crate) is_written: bool,
    pub(crate) end: Point,
    pub(crate) who: T,
}

/// Calls `meets` for each segment that is written, with all that are there already. O(segments · log segments +
/// meetings).
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
