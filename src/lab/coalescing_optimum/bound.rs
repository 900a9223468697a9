//! A lower bound on the cost of a problem. It packs structures in which copies must be lost, without counting a copy
//! twice.
//!
//! There are two kinds of structures. Along a path of copies between two nodes in conflict, at least one copy is lost.
//! Of the copies that join one node to a group of nodes that all conflict with each other, at most one is saved. The
//! weight of a copy may be divided among several structures, so the sum of their losses is a bound. Copies with several
//! sources are left out, which can only lower the bound.

use std::collections::VecDeque;

use super::problem::{Node, Problem};
use crate::index::IndexVec;

/// Weights up to this value are rounding errors.
const EPSILON: f64 = 1e-9;

struct Packing<'a> {
    problem: &'a Problem,
    /// By node: for each of its moves, the node at the other end and the number of the move.
    edges: IndexVec<Node, Vec<(Node, usize)>>,
    /// By move: the weight that no structure uses yet.
    left: Vec<f64>,
    bound: f64,
}

/// Computes the bound on the cost of the undecided copies, without `Problem::cost`.
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
    /// Packs stars: groups of neighbours of one node that conflict with each other. The node with the most copies comes
    /// first.
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

    /// At best, the heaviest copy of the group is saved, and all others are lost. The heaviest copy keeps its weight
    /// beyond the weight of the second copy.
    fn use_star(&mut self, group: &[(Node, usize)]) {
        let Some(&[heaviest, second]) = group.first_chunk() else { return };
        let second = self.left[second.1];
        self.left[heaviest.1] -= second;
        for &(_, number) in &group[1..] {
            self.bound += self.left[number];
            self.left[number] = 0.0;
        }
    }

    /// Packs paths between nodes in conflict. Short paths come first, because they use the least weight.
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

    /// Finds a shortest path from a node to a node that conflicts with it, of at most `longest` moves. Returns the
    /// numbers of the path's moves.
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
