//! Copies of a thread that have not arrived.

use std::collections::VecDeque;

use super::place::Target;
use crate::emulate::memory::Bytes;

/// A word on its way: where it goes, how many bytes it has, and its value.
pub(super) type Word = (Target, usize, Bytes);

/// The copies of a thread that have not arrived.
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
