//! Spill guidance: chooses nodes that give up their registers, so that no more units are live at any point than there
//! are registers.
//!
//! ptxas walks the instructions with a queue of candidates for each class ([`super::queue`]). A second walk follows the
//! queue, or replaces it. It goes from the fattest point, at which the most units are live, to the next fattest. At
//! each point, it considers the candidates that are live there but not accessed there. It spills the candidate with the
//! least cost for the fat moments that it relieves. Each access of a spilled node keeps a register. In the end, spilled
//! nodes that fit after all get their registers back, the most expensive first.

use crate::allocate::availability::{Timeline, nodes_of};
use crate::allocate::indexed_heap::Ordered;
use crate::allocate::problem::LiveRange;
use crate::analysis::{Grouping, Segment};
use crate::define_index;
use crate::index::EntityIndex;

use super::context::Context;
use super::pressure::Pressure;
use super::queue::from_queue;

define_index! {
    /// A node of a segment tree over the moments.
    Stretch, "stretch"
}

/// Nodes that may be spilled, and the times at which they are live.
struct Candidates {
    leaves: usize,
    /// By stretch: the nodes that are live throughout it.
    live_in: Grouping<Stretch, LiveRange>,
    /// By node: its cost for each unit and each moment with too many live units. Infinite for a node that is no
    /// candidate.
    score: Vec<f32>,
}

/// Chooses nodes to spill. Afterwards at most `target` units are live at each moment, as far as this is possible.
pub(super) fn guide(context: &Context<'_>, target: u32) -> Vec<LiveRange> {
    let register_limit = context.register_limit.unwrap_or(u32::MAX);
    let mut pressure = Pressure::new(context.problem, &context.timeline, register_limit);
    if pressure.fattest().1 <= i64::from(target) {
        return Vec::new();
    }
    let mut spilled: Vec<LiveRange> = Vec::new();
    let mut is_spilled = vec![false; context.problem.ranges().len()];
    if context.knobs.guidance_queues {
        from_queue(context, &mut pressure, target, |pressure, node| {
            is_spilled[node.index()] = true;
            spilled.push(node);
            change(context, pressure, node, -1);
        });
    }
    let candidates = Candidates::new(context, &pressure, target);
    let mut hopeless = Vec::new();
    loop {
        let (moment, live) = pressure.fattest();
        if live <= i64::from(target) {
            break;
        }
        let here = candidates.live_at(moment).filter(|node| !is_spilled[node.index()]);
        let here =
            here.filter(|&node| !pieces(context, node).any(|piece| context.timeline.moments(&piece).contains(&moment)));
        match here.min_by_key(|node| (Ordered::new(candidates.score[node.index()]), *node)) {
            Some(node) => {
                is_spilled[node.index()] = true;
                spilled.push(node);
                change(context, &mut pressure, node, -1);
            }
            None => {
                pressure.ignore(moment);
                hopeless.push(moment);
            }
        }
    }
    // The ignored moments count again, so that no node that relieves one of them gets its register back.
    hopeless.into_iter().for_each(|moment| pressure.mind(moment));
    spilled.sort_by(|&a, &b| context.nodes.cost(b).total_cmp(&context.nodes.cost(a)).then(a.cmp(&b)));
    spilled.retain(|&node| !comes_back(context, &mut pressure, node, target));
    spilled
}

/// With sign -1, removes a node's segments from the pressure and adds its accesses. With sign 1, does the reverse.
fn change(context: &Context<'_>, pressure: &mut Pressure<'_>, node: LiveRange, sign: i64) {
    let width = sign * i64::from(context.nodes.class(node).width);
    context.nodes.segments(node).iter().for_each(|segment| pressure.add(segment, width));
    pieces(context, node).for_each(|piece| pressure.add(&piece, -width));
}

/// Gives a node its register back if the target allows it. Returns whether the node has its register back.
fn comes_back(context: &Context<'_>, pressure: &mut Pressure<'_>, node: LiveRange, target: u32) -> bool {
    change(context, pressure, node, 1);
    let fits = pressure.max(context.nodes.segments(node)) <= i64::from(target);
    if !fits {
        change(context, pressure, node, -1);
    }
    fits
}

/// Returns the segments in which a spilled node still has a register: its accesses.
fn pieces<'a>(context: &'a Context<'_>, node: LiveRange) -> impl Iterator<Item = Segment> + 'a {
    let leader = std::iter::once(node).filter(move |&node| context.nodes.members(&node).len() == 1);
    let merged = context.nodes.merged_members(node).iter().copied();
    leader.chain(merged).flat_map(|member| context.problem.accesses(member)).map(|access| access.segment())
}

impl Candidates {
    fn new(context: &Context<'_>, pressure: &Pressure<'_>, target: u32) -> Self {
        let timeline: &Timeline = &context.timeline;
        let fat = pressure.moments_above(i64::from(target));
        let count = |segment: &Segment| {
            let moments = timeline.moments(segment);
            u64::from(fat[moments.end] - fat[moments.start])
        };
        let leaves = timeline.len().next_power_of_two();
        let mut score = vec![f32::INFINITY; context.problem.ranges().len()];
        let mut live_in: Vec<(Stretch, LiveRange)> = Vec::new();
        for node in context.nodes.iter().filter(|&node| context.nodes.is_spillable(node)) {
            let covered: u64 = context.nodes.segments(node).iter().map(count).sum();
            let kept: u64 = pieces(context, node).map(|piece| count(&piece)).sum();
            if covered == 0 {
                continue;
            }
            let gain = covered.saturating_sub(kept).max(1) as f32 * context.nodes.class(node).width as f32;
            score[node.index()] = context.nodes.cost(node) / gain;
            for segment in context.nodes.segments(node).iter().filter(|segment| count(segment) > 0) {
                let moments = timeline.moments(segment);
                let stretches = nodes_of((leaves + moments.start, leaves + moments.end));
                live_in.extend(stretches.map(|stretch| (Stretch::new(stretch), node)));
            }
        }
        Self { leaves, live_in: Grouping::new(2 * leaves, live_in.iter().copied()), score }
    }

    /// Returns the nodes that are live at a moment.
    fn live_at(&self, moment: usize) -> impl Iterator<Item = LiveRange> + '_ {
        let mut stretch = self.leaves + moment;
        let above = std::iter::from_fn(move || {
            let here = (stretch > 0).then(|| Stretch::new(stretch));
            stretch /= 2;
            here
        });
        above.flat_map(|stretch| self.live_in.of(stretch).iter().copied())
    }
}
