//! The record of the best result.

/// Quality of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    /// Nodes that must have a register and have one beyond the register limit.
    pub(super) beyond: u32,
    /// Units in use.
    pub(super) registers: u32,
    /// The most units that are live at once.
    pub(super) pressure: u32,
    /// Cost of the spilled nodes.
    pub(super) cost: f64,
}

impl Score {
    /// Whether this result is better than another result.
    ///
    /// The order is the one that ptxas is read to have. If nothing is spilled, it compares registers, then pressure.
    /// Otherwise, it compares the nodes beyond the register limit, then cost, then pressure, then registers. Less is
    /// better. ptxas also compares density, 128 divided by the registers, which adds nothing to this order.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        let by_count = |score: &Self| (score.registers, score.pressure);
        let by_cost = |score: &Self| (score.beyond, score.cost, score.pressure, score.registers);
        if self.fits() && other.fits() { by_count(self) < by_count(other) } else { by_cost(self) < by_cost(other) }
    }

    /// Whether nothing is spilled and nothing exceeds the register limit.
    pub(super) fn fits(&self) -> bool {
        self.beyond == 0 && self.cost == 0.0
    }
}

/// The best result so far.
#[derive(Debug)]
pub(super) struct Record<T> {
    best: Option<(Score, T)>,
}

impl<T> Record<T> {
    pub(super) fn new() -> Self {
        Self { best: None }
    }

    /// Adds a result, and keeps it if it is better than all results before it.
    pub(super) fn add(&mut self, score: Score, result: T) {
        if self.best.as_ref().is_none_or(|(best, _)| score.is_better_than(best)) {
            self.best = Some((score, result));
        }
    }

    /// Returns the score of the best result.
    pub(super) fn score(&self) -> Option<Score> {
        self.best.as_ref().map(|(score, _)| *score)
    }

    pub(super) fn into_best(self) -> Option<T> {
        self.best.map(|(_, result)| result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of results that fit, the one with fewer registers wins. Of other results, the one with less cost wins. Results
    /// that fit win over the others. The first of equal results stays.
    #[test]
    fn order() {
        let score = |registers, pressure, cost| Score { beyond: 0, registers, pressure, cost };
        let best = |scores: &[Score]| {
            let mut record = Record::new();
            scores.iter().enumerate().for_each(|(number, &score)| record.add(score, number));
            record.into_best()
        };
        assert_eq!(best(&[]), None);
        assert_eq!(best(&[score(9, 5, 0.0), score(8, 7, 0.0), score(8, 6, 0.0), score(8, 6, 0.0)]), Some(2));
        assert_eq!(best(&[score(8, 5, 3.0), score(9, 5, 2.0), score(8, 5, 2.0)]), Some(2));
        assert_eq!(best(&[score(8, 5, 1.0), score(9, 9, 0.0)]), Some(1));
        assert_eq!(best(&[Score { beyond: 1, ..score(1, 1, 1.0) }, score(9, 9, 50.0)]), Some(1));
    }
}
