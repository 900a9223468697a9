//! The queue of spill guidance: what has been written and waits for its next read, the cheapest first.
//!
//! ptxas is read to walk the instructions with a queue of candidates for each class: a definition puts a value into it, a
//! read takes it out, and what guidance finds there is spilled in the next attempt. Files are allocated one by one here, so
//! that there is one queue at a time. Where more is live than wanted, the cheapest of the queue go, whatever they make
//! leaner elsewhere. What the queue cannot give is left to the walk from the fattest point.

use std::collections::BTreeSet;

use crate::allocate::indexed_heap::Ordered;
use crate::allocate::problem::LiveRange;
use crate::index::EntityIndex;

use super::context::Context;
use super::pressure::Pressure;

/// What happens to a node at a moment: reads come before writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Read,
    Written,
}

/// Has `spill` take nodes out of the pressure, in the order of the walk. O(accesses · log).
pub(super) fn from_queue<'p>(
    context: &Context<'_>,
    pressure: &mut Pressure<'p>,
    target: u32,
    mut spill: impl FnMut(&mut Pressure<'p>, LiveRange),
) {
    let mut events: Vec<(usize, Event, LiveRange)> = Vec::new();
    for node in context.nodes.iter().filter(|&node| context.nodes.is_spillable(node)) {
        for access in context.nodes.members(&node).iter().flat_map(|&member| context.problem.accesses(member)) {
            let moment = context.timeline.moments(&access.segment()).start;
            if access.reads() {
                events.push((moment, Event::Read, node));
            }
            if access.writes() {
                events.push((moment, Event::Written, node));
            }
        }
    }
    events.sort_unstable();
    let mut is_spilled = vec![false; context.problem.ranges().len()];
    let mut queue: BTreeSet<(Ordered, LiveRange)> = BTreeSet::new();
    let key = |node: LiveRange| (Ordered::new(context.nodes.cost(node)), node);
    for events in events.chunk_by(|a, b| a.0 == b.0) {
        let moment = events[0].0;
        for &(.., node) in events.iter().filter(|event| event.1 == Event::Read) {
            queue.remove(&key(node));
        }
        while pressure.at(moment) > i64::from(target) {
            let Some((_, node)) = queue.pop_first() else { break };
            is_spilled[node.index()] = true;
            spill(pressure, node);
        }
        for &(.., node) in events.iter().filter(|event| event.1 == Event::Written && !is_spilled[event.2.index()]) {
            queue.insert(key(node));
        }
    }
}
