//! Interference: the number of places that neighbours may take away from a node, counted without a graph.
//!
//! For each class and each moment, prefix sums count the segments that have started and the segments that have ended
//! before the moment. A segment meets the segments that have started before its end and have not ended at its start. A
//! neighbour that meets the node twice counts twice.

use crate::allocate::availability::Timeline;
use crate::allocate::problem::{Class, LiveRange, Problem};
use crate::analysis::Segment;
use crate::index::EntityIndex;

use super::nodes::Nodes;

/// Counts of segments over time.
#[derive(Debug)]
pub(super) struct Interference<'a> {
    problem: &'a Problem,
    timeline: &'a Timeline,
    /// The classes of the file. For each, the number of segments that have started before each moment, and the number
    /// of segments that have ended.
    classes: Vec<(Class, Vec<u32>, Vec<u32>)>,
}

impl<'a> Interference<'a> {
    /// Counts the segments of each class. O(classes · (moments + segments)).
    pub(super) fn new(problem: &'a Problem, timeline: &'a Timeline) -> Self {
        let mut of_class: Vec<Option<usize>> = vec![None; problem.classes().len()];
        let mut classes: Vec<(Class, Vec<u32>, Vec<u32>)> = Vec::new();
        for range in problem.ranges().ids() {
            let class = problem.ranges()[range].class;
            let at = *of_class[class.index()].get_or_insert_with(|| {
                classes.push((class, vec![0; timeline.len() + 2], vec![0; timeline.len() + 2]));
                classes.len() - 1
            });
            let (_, starts, ends) = &mut classes[at];
            for segment in problem.segments(range) {
                let moments = timeline.moments(segment);
                starts[moments.start + 1] += 1;
                ends[moments.end + 1] += 1;
            }
        }
        for (_, starts, ends) in &mut classes {
            add_up(starts);
            add_up(ends);
        }
        Self { problem, timeline, classes }
    }

    /// Returns the number of places that a node's neighbours can take away from it. A neighbour counts as often as it
    /// meets the node.
    pub(super) fn of(&self, nodes: &Nodes<'_>, node: LiveRange) -> u64 {
        let own = self.problem.ranges()[node].class;
        let table = self.problem.classes();
        let segments = nodes.segments(node);
        let met: u64 = self
            .classes
            .iter()
            .map(|(class, starts, ends)| {
                let met: u64 = segments.iter().map(|segment| self.meets(segment, starts, ends)).sum();
                met * u64::from(table.taken(own, *class))
            })
            .sum();
        // Each segment of the node has counted itself, which is subtracted.
        met.saturating_sub(segments.len() as u64 * u64::from(table.taken(own, own)))
    }

    fn meets(&self, segment: &Segment, starts: &[u32], ends: &[u32]) -> u64 {
        let moments = self.timeline.moments(segment);
        u64::from(starts[moments.end].saturating_sub(ends[moments.start + 1]))
    }
}

fn add_up(counts: &mut [u32]) {
    let mut total = 0;
    for count in counts {
        total += *count;
        *count = total;
    }
}
