//! The worklist: candidates by priority, and a second heap for refused candidates.
//!
//! The two heaps swap roles until a whole pass merges nothing, as in NVIDIA's coalescer. A merge can make it possible
//! to merge a copy that was refused before. For example, a limit may no longer apply, or a definition may be removed.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::candidates::Candidate;
use super::classes::Classes;
use super::program::Program;
use crate::config::Priority;
use crate::function::Inst;
use crate::stats::CopyRefusal;

/// A candidate in the heap; the greatest candidate comes first.
#[derive(Debug)]
struct Entry {
    candidate: Candidate,
    local: bool,
    by: Priority,
    refusal: Option<CopyRefusal>,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.candidate, &other.candidate);
        let priority = match self.by {
            Priority::Register => b.dst.min(b.src).cmp(&a.dst.min(a.src)),
            Priority::Frequency => a.frequency.total_cmp(&b.frequency),
        };
        (self.local.cmp(&other.local))
            .then(priority)
            .then(b.waits.cmp(&a.waits))
            .then(a.weight.total_cmp(&b.weight))
            .then(b.inst.cmp(&a.inst))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// A copy that was refused, but may be retried.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefusedCopy {
    pub(super) candidate: Candidate,
    pub(super) reason: CopyRefusal,
}

/// Merges as many copies as possible. Returns the remaining copies, in layout order.
pub(super) fn drain(program: &mut Program<'_>, classes: &mut Classes, candidates: Vec<Candidate>) -> Vec<RefusedCopy> {
    let by = program.options.priority;
    let mut heap: BinaryHeap<Entry> = candidates
        .into_iter()
        .map(|candidate| {
            let local = classes.is_local(candidate.dst) && classes.is_local(candidate.src);
            Entry { candidate, local, by, refusal: None }
        })
        .collect();
    let mut refused = BinaryHeap::new();
    loop {
        let merges = program.merges;
        while let Some(mut entry) = heap.pop() {
            entry.refusal = classes.try_merge(program, &entry.candidate).err();
            let Candidate { inst, dst, src, .. } = &entry.candidate;
            match entry.refusal {
                None => log::trace!("{inst}: {dst} and {src} are merged"),
                Some(reason) => log::trace!("{inst}: {dst} and {src} are not merged: {}", reason.as_str()),
            }
            if entry.refusal.is_some() {
                refused.push(entry);
            }
        }
        let retry = refused.iter().any(|entry: &Entry| entry.refusal.is_some_and(CopyRefusal::may_pass));
        std::mem::swap(&mut heap, &mut refused);
        if program.merges == merges || !retry {
            break;
        }
    }
    let mut left: Vec<RefusedCopy> = heap
        .into_iter()
        .filter_map(|entry| Some(RefusedCopy { candidate: entry.candidate, reason: entry.refusal? }))
        .collect();
    left.sort_unstable_by_key(|refused| refused.candidate.inst);
    left
}

/// Returns the refused copies that are still copies, with the reasons.
pub(super) fn standing(program: &Program<'_>, refused: &[RefusedCopy]) -> Vec<(Inst, CopyRefusal)> {
    refused
        .iter()
        .map(|refused| (refused.candidate.inst, refused.reason))
        .filter(|&(inst, _)| program.as_copy(inst).is_some())
        .collect()
}
