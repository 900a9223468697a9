//! Spills that any placement needs. This relaxation counts units and ignores places.
//!
//! At a point, every live range that is live and not spilled takes its width. The piece of a spilled live range that is
//! accessed there takes the same width. If the units do not suffice, live ranges must be spilled. So each point has one
//! demand: a set of members, and the least number of their units that must be spilled. The bound on the cost of all
//! demands is Lagrangian. Each missing unit of a point has a price. A live range is spilled if its spill cost is less
//! than the prices of the units that it frees. Any prices give a bound, and subgradient steps raise the bound.

use super::items::{Item, Items};
use crate::analysis::Point;

/// Members of which `need` units must be spilled.
#[derive(Clone, Debug)]
pub(super) struct SpillRequirement {
    pub(super) members: Vec<(Item, u32)>,
    pub(super) need: u32,
}

/// Items that are live at one point and share no units. Each has its width within the register limit.
struct Clique {
    /// Items that take no units at the point if they are spilled.
    removable: Vec<(Item, u32)>,
    /// Items that may exceed the register limit: live ranges that must have a register, and pieces for accesses.
    may_exceed: Vec<(Item, u32)>,
    /// Units within the register limit that are taken at the point, whatever is spilled.
    staying: u32,
}

impl Clique {
    /// Collects items that are live at a point. No two of them may share a unit, as whole live ranges or as pieces.
    fn new(items: &Items, point: Point, register_limit: u32) -> Self {
        let mut clique = Self { removable: Vec::new(), may_exceed: Vec::new(), staying: 0 };
        let mut forms: Vec<Item> = Vec::new();
        let mut live: Vec<Item> = items.wholes().filter(|&item| items.items[item].is_live_at(point)).collect();
        live.sort_by_key(|&item| (items.items[item].cost.is_some(), std::cmp::Reverse(items.items[item].width)));
        for whole in live {
            let data = &items.items[whole];
            let is_clear = |form: Item| forms.iter().all(|&other| items.are_apart(form, other));
            if !is_clear(whole) {
                continue;
            }
            let piece = data.pieces().find(|&piece| items.items[piece].is_live_at(point) && is_clear(piece));
            // Of a fixed item, only the units within the register limit count.
            let width = data.fixed.map_or(data.width, |unit| register_limit.saturating_sub(unit).min(data.width));
            forms.push(whole);
            forms.extend(piece);
            match (data.cost, piece) {
                (Some(_), None) => clique.removable.push((whole, width)),
                (_, form) => {
                    clique.staying += width;
                    let form = form.unwrap_or(whole);
                    if items.items[form].may_exceed {
                        clique.may_exceed.push((form, width));
                    }
                }
            }
        }
        clique.may_exceed.sort_by_key(|&(item, width)| (std::cmp::Reverse(width), item));
        clique
    }

    /// Returns the least number of items that must exceed the register limit at this point.
    fn excess(&self, register_limit: u32) -> usize {
        let mut over = self.staying.saturating_sub(register_limit);
        let gone = self.may_exceed.iter().take_while(|&&(_, width)| {
            let is_over = over > 0;
            over = over.saturating_sub(width);
            is_over
        });
        gone.count()
    }
}

/// The demands of a file.
pub(super) struct Cover {
    cliques: Vec<Clique>,
    register_limit: u32,
    /// Groups of items that may exceed the register limit. Each has the least number of its items that exceed the limit
    /// in any allocation. No item is in two groups.
    groups: Vec<(Vec<Item>, usize)>,
}

impl Cover {
    /// Collects the demands. O(points · live at once²).
    pub(super) fn new(items: &Items, register_limit: u32) -> Self {
        let mut points: Vec<Point> =
            items.items.iter().flat_map(|item| item.segments.iter().map(|segment| segment.start)).collect();
        points.sort_unstable();
        points.dedup();
        let cliques: Vec<Clique> = points.into_iter().map(|point| Clique::new(items, point, register_limit)).collect();
        let mut by_excess: Vec<(usize, &Clique)> = cliques
            .iter()
            .map(|clique| (clique.excess(register_limit), clique))
            .filter(|&(excess, _)| excess > 0)
            .collect();
        by_excess.sort_by_key(|&(excess, _)| std::cmp::Reverse(excess));
        let mut groups: Vec<(Vec<Item>, usize)> = Vec::new();
        for (excess, clique) in by_excess {
            let group: Vec<Item> = clique.may_exceed.iter().map(|&(item, _)| item).collect();
            if groups.iter().all(|(other, _)| other.iter().all(|item| !group.contains(item))) {
                groups.push((group, excess));
            }
        }
        Self { cliques, register_limit, groups }
    }

    /// Returns the least number of items that must exceed the register limit in the whole file.
    pub(super) fn least_excess(&self) -> usize {
        self.groups.iter().map(|&(_, excess)| excess).sum()
    }

    /// Returns the most units that are taken at one point whatever is spilled.
    pub(super) fn peak(&self) -> u32 {
        self.cliques.iter().map(|clique| clique.staying).max().unwrap_or(0)
    }

    /// Returns the spills that are needed if `allowed` items exceed the register limit. `allowed` is at least the least
    /// number. O(points² · live at once).
    pub(super) fn demands(&self, allowed: usize) -> Vec<SpillRequirement> {
        let free = allowed - self.least_excess();
        let mut demands = Vec::new();
        for clique in &self.cliques {
            let widest = |count: usize, of: Option<&[Item]>| -> u32 {
                let wanted = clique.may_exceed.iter().filter(|(item, _)| of.is_none_or(|of| of.contains(item)));
                wanted.take(count).map(|&(_, width)| width).sum()
            };
            let slack: u32 = self.groups.iter().map(|(group, excess)| widest(*excess, Some(group))).sum();
            let live: u32 = clique.staying + clique.removable.iter().map(|&(_, width)| width).sum::<u32>();
            let need = live.saturating_sub(self.register_limit).saturating_sub(slack + widest(free, None));
            if need > 0 {
                let mut members = clique.removable.clone();
                members.sort_unstable();
                demands.push(SpillRequirement { members, need });
            }
        }
        without_implied(demands)
    }
}

/// Removes demands that another demand implies: one that needs at least as many units, of a subset of the members.
fn without_implied(demands: Vec<SpillRequirement>) -> Vec<SpillRequirement> {
    let implies = |strong: &SpillRequirement, weak: &SpillRequirement| {
        let mut rest = weak.members.iter();
        strong.need >= weak.need
            && strong.members.len() <= weak.members.len()
            && strong.members.iter().all(|member| rest.any(|other| other == member))
    };
    let is_implied = |at: usize| {
        let weak = &demands[at];
        demands.iter().enumerate().any(|(other, strong)| {
            // Of two equal demands, the first stays.
            other != at && implies(strong, weak) && (other < at || !implies(weak, strong))
        })
    };
    let kept: Vec<usize> = (0..demands.len()).filter(|&at| !is_implied(at)).collect();
    kept.into_iter().map(|at| demands[at].clone()).collect()
}
