//! Pending copies of a thread.

use std::collections::VecDeque;

use super::place::Target;
use crate::emulate::memory::Bytes;

/// A word in transit: destination, number of bytes, and value.
pub(super) type Word = (Target, usize, Bytes);

/// The pending copies of a thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Copies {
    pub(super) open: Vec<Word>,
    pub(super) groups: VecDeque<Vec<Word>>,
}

impl Copies {
    pub(super) fn commit(&mut self) {
        let group = std::mem::take(&mut self.open);
        self.groups.push_back(group);
    }
}
