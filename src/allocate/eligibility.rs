//! Candidates for spilling: live ranges that pass the floors and gates that ptxas is read to have.
//!
//! Live ranges that are no candidates may still be spilled if no candidate is left, so every register limit that can be
//! met is met.

/// Floors and gates. By default, none of them excludes a live range.
#[derive(Clone, Debug, PartialEq)]
pub struct Eligibility {
    /// Least spill cost of a candidate: ptxas's 0.9.
    pub primary_floor: f32,
    /// Cost that the reads after the last definition of a candidate must exceed: ptxas's 1.0. 0: no such condition.
    pub secondary_floor: f32,
    /// Whether live ranges with spill cost 0 are excluded.
    pub prunes_free: bool,
    /// Number of registers for each live range at or above which a live range is excluded. `None`: no live range is
    /// excluded.
    pub density: Option<u32>,
}

/// Costs of one live range.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangeCosts {
    /// Spill cost.
    pub(super) primary: f32,
    /// Cost of the reads after the last definition.
    pub(super) secondary: f32,
    /// Registers for each live range, at the point at which most live ranges are live together with this one. `None`
    /// without a register limit or if density is not used.
    pub(super) density: Option<u32>,
}

/// Factor that makes the cost of other live ranges exceed the spill cost of every candidate.
const LAST: f32 = 1e12;

impl Eligibility {
    /// Every live range is a candidate.
    pub const ALL: Self = Self { primary_floor: 0.0, secondary_floor: 0.0, prunes_free: false, density: None };

    /// The floors of ptxas. Its limit of registers for each live range is unknown.
    pub const PTXAS: Self = Self { primary_floor: 0.9, secondary_floor: 1.0, prunes_free: true, density: None };

    fn has(&self, costs: &RangeCosts) -> bool {
        let is_thin = self.density.zip(costs.density).is_some_and(|(most, density)| density >= most);
        let is_below = self.secondary_floor > 0.0 && costs.secondary <= self.secondary_floor;
        let is_free = self.prunes_free && costs.primary == 0.0;
        let excluded = [costs.primary < self.primary_floor, is_below, is_free, is_thin];
        !excluded.contains(&true)
    }

    /// Returns the cost by which an allocator decides: the spill cost of a candidate, or a higher cost than any
    /// candidate's.
    pub(super) fn cost(&self, costs: &RangeCosts) -> f32 {
        if self.has(costs) { costs.primary } else { ((costs.primary + 1.0) * LAST).min(f32::MAX / LAST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: RangeCosts = RangeCosts { primary: 0.8, secondary: 0.9, density: Some(4) };

    /// Each floor and gate excludes exactly its own live ranges.
    #[test]
    fn each_excludes() {
        let is_last = |gate: Eligibility, costs: RangeCosts| gate.cost(&costs) > LAST / 2.0;
        let floors =
            |primary_floor, secondary_floor| Eligibility { primary_floor, secondary_floor, ..Eligibility::ALL };
        assert!(!is_last(Eligibility::ALL, SOME));
        assert!(is_last(floors(0.9, 0.0), SOME) && !is_last(floors(0.8, 0.0), SOME));
        assert!(is_last(floors(0.0, 0.9), SOME) && !is_last(floors(0.0, 0.8), SOME));
        let free = RangeCosts { primary: 0.0, secondary: 0.0, ..SOME };
        assert!(
            is_last(Eligibility { prunes_free: true, ..Eligibility::ALL }, free) && !is_last(Eligibility::ALL, free)
        );
        let dense = |most| Eligibility { density: Some(most), ..Eligibility::ALL };
        assert!(is_last(dense(4), SOME) && !is_last(dense(5), SOME));
        assert!(!is_last(dense(4), RangeCosts { density: None, ..SOME }));
    }

    /// Live ranges that are no candidates keep their order, have finite costs, and cost more than every candidate.
    #[test]
    fn order_of_the_last() {
        let gate = Eligibility { primary_floor: f32::MAX, ..Eligibility::ALL };
        let costs = [0.0, 1.0, 1e9].map(|primary| gate.cost(&RangeCosts { primary, ..SOME }));
        assert!(costs.is_sorted() && costs[2].is_finite() && costs[0] > 1e9, "{costs:?}");
        assert!(gate.cost(&RangeCosts { primary: f32::MAX, ..SOME }).is_finite());
    }
}
