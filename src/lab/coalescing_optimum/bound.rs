//! A lower bound on the cost of a problem: conflicts that copies connect, packed so that no copy is counted twice.
//!
//! Of the copies along a path between two nodes in conflict at least one is lost. Of the copies that join one node to
//! nodes which all conflict with each other, at most one is saved. The weights of a copy may be shared out among
//! several such structures, so the sum over all of them is a bound. Copies that several sources save are left out,
//! which can only lower it.

use std::collections::VecDeque;

use super::problem::{Node, Problem};
use crate::index::IndexVec;

/// What is left of a weight that rounding alone has left.
const EPSILON: f64 = 1e-9;

struct Packing<'a> {
    problem: &'a Problem,
    /// By node: the other end and the number of the move.
    edges: IndexVec<Node, Vec<(Node, usize)>>,
    /// By move: the weight not yet used.
    left: Vec<f64>,
    bound: f64,
}

/// The bound, without what the problem has cost already.
pub(super) fn lower_bound(problem: &Problem) -> f64 {
    let mut edges = IndexVec::filled(Vec::new(), problem.len());
    for (number, copy) in problem.moves.iter().enumerate() {
        if let [source] = copy.sources[..] {
            edges[copy.target].push((source, number));
            edges[source].push((copy.target, number));
        }
    }
    let left = problem.moves.iter().map(|copy| copy.weight).collect();
    let mut packing = Packing { problem, edges, left, bound: 0.0 };
    packing.pack_stars();
    packing.pack_paths();
    packing.bound
}

impl Packing<'_> {
    /// Around each node, the widest first: groups of neighbours that conflict with each other.
    fn pack_stars(&mut self) {
        let mut centres: Vec<Node> = self.edges.ids().filter(|&node| self.edges[node].len() > 1).collect();
        centres.sort_by_key(|&node| (std::cmp::Reverse(self.edges[node].len()), node));
        for centre in centres {
            let mut rays: Vec<(Node, usize)> = self.edges[centre].clone();
            rays.sort_by(|a, b| self.left[b.1].total_cmp(&self.left[a.1]).then(a.cmp(b)));
            while let Some(&first) = rays.first() {
                let mut group = vec![first];
                for &ray in &rays[1..] {
                    if group.iter().all(|member| self.problem.conflict(member.0, ray.0)) {
                        group.push(ray);
                    }
                }
                rays.retain(|ray| !group.contains(ray));
                self.use_star(&group);
            }
        }
    }

    /// Only one copy of the group is saved, the heaviest at best. Beyond the second's weight that one stays free.
    fn use_star(&mut self, group: &[(Node, usize)]) {
        let Some(&[heaviest, second]) = group.first_chunk() else { return };
        let second = self.left[second.1];
        self.left[heaviest.1] -= second;
        for &(_, number) in &group[1..] {
            self.bound += self.left[number];
            self.left[number] = 0.0;
        }
    }

    /// Paths between nodes in conflict, short ones first: they use up the least.
    fn pack_paths(&mut self) {
        for longest in [2, 3, 4, 5, usize::MAX] {
            for start in self.edges.ids() {
                while let Some(path) = self.path_to_conflict(start, longest) {
                    let least = path.iter().map(|&number| self.left[number]).fold(f64::INFINITY, f64::min);
                    self.bound += least;
                    path.iter().for_each(|&number| self.left[number] -= least);
                }
            }
        }
    }

    /// A shortest path from a node to one in conflict with it, at most so long, as the numbers of its moves.
    fn path_to_conflict(&self, start: Node, longest: usize) -> Option<Vec<usize>> {
        let mut reached: IndexVec<Node, Option<(Node, usize)>> = IndexVec::filled(None, self.edges.len());
        let mut queue = VecDeque::from([(start, 0)]);
        while let Some((node, length)) = queue.pop_front() {
            if length >= longest {
                return None;
            }
            for &(next, number) in &self.edges[node] {
                if self.left[number] <= EPSILON || next == start || reached[next].is_some() {
                    continue;
                }
                reached[next] = Some((node, number));
                if self.problem.conflict(start, next) {
                    let step = |&at: &Node| reached[at].map(|(before, _)| before);
                    let walk = std::iter::successors(Some(next), step);
                    return Some(walk.filter_map(|at| reached[at].map(|(_, number)| number)).collect());
                }
                queue.push_back((next, length + 1));
            }
        }
        None
    }
}
