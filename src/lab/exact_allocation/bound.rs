//! The Lagrangian bound on the cost of the undecided live ranges, and its consequences for single live ranges.

use super::items::Item;
use super::point_cover::SpillRequirement;
use crate::index::{EntityIndex, IndexVec};

/// Decision on a live range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Not decided yet.
    Open,
    /// It keeps its register.
    Kept,
    /// It is spilled.
    Spilled,
}

/// A demand after some of its members are decided.
pub(super) struct Rest {
    /// Index of the demand.
    pub(super) demand: usize,
    pub(super) members: Vec<(Item, u32)>,
    pub(super) need: u32,
}

/// Returns the rest of the demands; `None` if the open live ranges cannot meet a demand.
pub(super) fn rest(demands: &[SpillRequirement], choices: &IndexVec<Item, Choice>) -> Option<Vec<Rest>> {
    let mut rests = Vec::new();
    for (demand, SpillRequirement { members, need }) in demands.iter().enumerate() {
        let spilled = members.iter().filter(|(item, _)| choices[*item] == Choice::Spilled);
        let need = need.saturating_sub(spilled.map(|(_, width)| width).sum());
        if need == 0 {
            continue;
        }
        let open = members.iter().filter(|(item, _)| choices[*item] == Choice::Open);
        // A live range counts with at most the units that are needed.
        let members: Vec<(Item, u32)> = open.map(|&(item, width)| (item, width.min(need))).collect();
        if members.iter().map(|(_, width)| width).sum::<u32>() < need {
            return None;
        }
        rests.push(Rest { demand, members, need });
    }
    Some(rests)
}

/// A bound on the cost of meeting the demands, with its derivation.
pub(super) struct Bound {
    pub(super) cost: f64,
    /// By live range: its reduced cost, which is its spill cost minus the price of the units that it frees. A negative
    /// reduced cost favours spilling. If a decision contradicts the sign, the bound grows by the absolute value.
    pub(super) reduced: IndexVec<Item, f64>,
}

/// Bounds the cost of meeting the rest of the demands. The computation starts from the given prices, and replaces them
/// by the best prices. O(steps · members).
pub(super) fn bound(
    rests: &[Rest],
    costs: &IndexVec<Item, f64>,
    prices: &mut Vec<f64>,
    enough: f64,
    steps: usize,
) -> Bound {
    let mut best = evaluate(rests, costs, prices);
    let mut tried = prices.clone();
    let mut current = Bound { cost: best.cost, reduced: best.reduced.clone() };
    let (mut pace, mut since) = (1.0, 0);
    for _ in 0..steps {
        if best.cost >= enough {
            break;
        }
        let lack = |rest: &Rest| {
            let spilled = rest.members.iter().filter(|(item, _)| current.reduced[*item] < 0.0);
            f64::from(rest.need) - spilled.map(|&(_, width)| f64::from(width)).sum::<f64>()
        };
        let lacks: Vec<f64> = rests.iter().map(lack).collect();
        let norm: f64 = rests
            .iter()
            .zip(&lacks)
            .filter(|(rest, lack)| tried[rest.demand] > 0.0 || **lack > 0.0)
            .map(|(_, lack)| lack * lack)
            .sum();
        if norm == 0.0 {
            break;
        }
        let goal = if enough.is_finite() { enough } else { 2.0 * best.cost + 1.0 };
        let step = pace * (goal - current.cost).max(1e-6) / norm;
        for (rest, lack) in rests.iter().zip(&lacks) {
            tried[rest.demand] = (tried[rest.demand] + step * lack).max(0.0);
        }
        current = evaluate(rests, costs, &tried);
        since += 1;
        if current.cost > best.cost {
            best = Bound { cost: current.cost, reduced: current.reduced.clone() };
            prices.clone_from(&tried);
            since = 0;
        } else if since >= 6 {
            (pace, since) = (pace / 2.0, 0);
        }
    }
    best
}

fn evaluate(rests: &[Rest], costs: &IndexVec<Item, f64>, prices: &[f64]) -> Bound {
    let mut reduced = costs.clone();
    let mut is_member: IndexVec<Item, bool> = IndexVec::filled(false, costs.len());
    let mut cost = 0.0;
    for rest in rests {
        let price = prices[rest.demand];
        cost += price * f64::from(rest.need);
        for &(item, width) in &rest.members {
            reduced[item] -= price * f64::from(width);
            is_member[item] = true;
        }
    }
    cost +=
        (0..costs.len()).map(Item::new).filter(|&item| is_member[item]).map(|item| reduced[item].min(0.0)).sum::<f64>();
    Bound { cost, reduced }
}
