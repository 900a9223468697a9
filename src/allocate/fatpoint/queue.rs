//! The queue of spill guidance: values that were written and wait for their next read, the cheapest first.
//!
//! ptxas is read to walk the instructions with a queue of candidates for each class. A definition puts a value into the
//! queue, and a read removes it. Values that guidance finds in the queue are spilled in the next attempt. Here, files
//! are allocated one by one, so there is one queue at a time. If more units are live than the target allows, the
//! cheapest values of the queue are spilled, even if they relieve no other point. The remaining excess is left to the
//! walk from the fattest point.

use std::collections::BTreeSet;

use crate::allocate::indexed_heap::Ordered;
use crate::allocate::problem::LiveRange;
use crate::index::EntityIndex;

use super::context::Context;
use super::pressure::Pressure;

/// Accesses of a node at a moment. Reads are handled before writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Read,
    Written,
}

/// Walks the moments. Calls `spill` for each chosen node, which removes the node from the pressure. O(accesses · log).
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
