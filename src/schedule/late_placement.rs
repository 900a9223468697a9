//! Orders on demand: nodes that may wait are placed when a reader first demands them.

use super::Order;
use super::region::{Kind, Region};
use crate::analysis::Node;
use crate::index::IndexVec;

/// An order that places every node without effects as late as its first reader allows.
pub(super) struct Late;

impl Order for Late {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        on_demand(region, |node| region.kinds[node] != Kind::Effect, |_| {})
    }
}

/// An order that places loads as late as their first reader, or the first store that must follow them, allows. The
/// other nodes stay in the order of the code.
pub(super) struct LoadsLate;

impl Order for LoadsLate {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        on_demand(region, |node| region.kinds[node] == Kind::Load, |_| {})
    }
}

/// An order that computes first the operand whose computation takes the most registers (Sethi and Ullman 1970), as if
/// the dependences were trees.
pub(super) struct SethiUllman;

impl Order for SethiUllman {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        on_demand(region, |node| region.kinds[node] != Kind::Effect, by_need(region))
    }
}

/// Returns a function that sorts nodes by the number of registers that computing them takes, the highest first.
pub(super) fn by_need(region: &Region<'_>) -> impl Fn(&mut [Node]) + use<> {
    let needs = needs(region);
    move |nodes| nodes.sort_by_key(|&node| std::cmp::Reverse(needs[node]))
}

/// Returns how many words of registers the computation of each node takes, if the node were the root of a tree. O(n log
/// n) in the operands.
pub(super) fn needs(region: &Region<'_>) -> IndexVec<Node, u32> {
    let mut needs = IndexVec::filled(0, region.kinds.len());
    for node in region.nodes() {
        let inputs = region.reads.of(node).iter().map(|&value| region.values[value]);
        let mut inputs: Vec<(u32, u32)> =
            inputs.map(|value| (value.definition.map_or(0, |from| needs[from]), value.words)).collect();
        // The operand whose computation takes the most words beyond its result comes first, because these words are
        // free afterwards.
        inputs.sort_unstable_by_key(|&(need, words)| std::cmp::Reverse(need.saturating_sub(words)));
        let (mut held, mut most) = (0, region.words_written(node));
        for (need, words) in inputs {
            most = most.max(held + need.max(words));
            held += words;
        }
        needs[node] = most;
    }
    needs
}

/// Returns all nodes, each after the nodes on which it depends. Nodes that do not `wait` come in the order of the code.
/// Nodes that `wait` are placed when a later node needs them, or else at the end.
fn on_demand(region: &Region<'_>, waits: impl Fn(Node) -> bool, arrange: impl Fn(&mut [Node])) -> Vec<Node> {
    let mut order = Vec::with_capacity(region.kinds.len());
    let roots = region.nodes().filter(|&node| !waits(node)).chain(region.nodes().filter(|&node| waits(node)));
    ask(region, roots, arrange, |node| order.push(node));
    order
}

/// Places the `roots` in their order, each after the nodes on which it depends, unless they are already placed.
/// `arrange` reorders the nodes on which a node depends, from the order of the code. O(n log n) in the dependences.
pub(super) fn ask(
    region: &Region<'_>,
    roots: impl Iterator<Item = Node>,
    arrange: impl Fn(&mut [Node]),
    mut place: impl FnMut(Node),
) {
    let mut is_asked = IndexVec::filled(false, region.kinds.len());
    // The demanded nodes, each with the nodes that it still has to demand. The next node to demand is the last of them.
    let mut asked: Vec<(Node, Vec<Node>)> = Vec::new();
    for root in roots {
        if !std::mem::replace(&mut is_asked[root], true) {
            asked.push((root, inputs(region, root, &arrange)));
        }
        while let Some((node, inputs_of)) = asked.last_mut() {
            region.step();
            match inputs_of.pop() {
                Some(input) if !std::mem::replace(&mut is_asked[input], true) => {
                    asked.push((input, inputs(region, input, &arrange)));
                }
                Some(_) => {}
                None => {
                    place(*node);
                    asked.pop();
                }
            }
        }
    }
}

/// Returns the nodes on which a node depends, in the reverse of the order in which they are demanded.
fn inputs(region: &Region<'_>, node: Node, arrange: &impl Fn(&mut [Node])) -> Vec<Node> {
    let mut inputs = region.predecessors.of(node).to_vec();
    inputs.sort_unstable();
    inputs.dedup();
    arrange(&mut inputs);
    inputs.reverse();
    inputs
}
