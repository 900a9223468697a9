//! The expected gain of a recipe on a kernel, from recorded kernels that are similar.

use super::experience::{Experience, Recorded};
use super::traits::Traits;

/// The reach of a kernel's influence: the square of the distance at which the influence falls to 1/√e.
const REACH: f64 = 1.5;

/// The difference between a recipe's gains on two kernels, as a fraction of stock's time, at which the weight of one
/// kernel for the other falls to 1/√e.
const AGREEMENT: f64 = 0.03;

/// The least weight of each recorded kernel, so that no expectation depends on one neighbour.
const FLOOR: f64 = 1e-3;

/// The neighbours of a kernel, with weights.
#[derive(Clone, Debug)]
pub struct Neighbours<'e> {
    weighted: Vec<(f64, &'e Recorded)>,
}

impl<'e> Neighbours<'e> {
    /// Computes the neighbours of a kernel without any run yet. O(kernels).
    pub fn new(experience: &'e Experience, traits: &Traits) -> Self {
        let weight = |recorded: &Recorded| FLOOR + (-traits.distance(&recorded.traits) / (2.0 * REACH)).exp();
        Self { weighted: experience.kernels.iter().map(|recorded| (weight(recorded), recorded)).collect() }
    }

    /// Adds the gain of a recipe. Kernels with other gains of this recipe get lower weights. O(kernels).
    pub fn observe(&mut self, recipe: usize, gain: f64) {
        for (weight, recorded) in &mut self.weighted {
            let differs = recorded.gains.get(recipe).copied().flatten().unwrap_or(0.0) - gain;
            *weight *= FLOOR + (-differs * differs / (2.0 * AGREEMENT * AGREEMENT)).exp();
        }
    }

    /// Returns the mean improvement of a recipe beyond a gain of `best`, over the kernels where the recipe has
    /// something to change. O(kernels).
    pub fn improvement(&self, recipe: usize, best: f64) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for (weight, recorded) in &self.weighted {
            if let Some(Some(gain)) = recorded.gains.get(recipe) {
                sum += weight * (gain - best).max(0.0);
                all += weight;
            }
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// Returns the weighted mean of each neighbour's best gain: the most that a search can expect.
    pub fn hope(&self) -> f64 {
        let best = |recorded: &Recorded| recorded.gains.iter().flatten().copied().fold(0.0, f64::max);
        let (sum, all) = self
            .weighted
            .iter()
            .fold((0.0, 0.0), |(sum, all), (weight, recorded)| (sum + weight * best(recorded), all + weight));
        if all > 0.0 { sum / all } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(instructions: u32, gains: &[f64]) -> Recorded {
        let traits = Traits { instructions, ..Traits::default() };
        Recorded { traits, gains: gains.iter().map(|&gain| (gain >= 0.0).then_some(gain)).collect() }
    }

    /// Near kernels count more than distant ones, the result of one recipe predicts the results of other recipes, and a
    /// known gain leaves less to improve.
    #[test]
    fn neighbours() {
        let kernels = vec![
            recorded(100, &[0.2, 0.0, -1.0]),
            recorded(110, &[0.0, 0.3, -1.0]),
            recorded(100_000, &[0.0, 0.0, 0.5]),
        ];
        let experience = Experience { kernels };
        let mut near = Neighbours::new(&experience, &Traits { instructions: 105, ..Traits::default() });
        assert!((0.09..0.11).contains(&near.improvement(0, 0.0)), "{}", near.improvement(0, 0.0));
        assert!(near.improvement(1, 0.0) > near.improvement(0, 0.0));
        assert!(near.improvement(1, 0.25) < 0.05 && near.improvement(1, 0.4) == 0.0);
        assert!((0.24..0.26).contains(&near.hope()), "{}", near.hope());
        near.observe(0, 0.2);
        assert!(near.improvement(1, 0.0) < 0.02, "the second kernel is another one");
        // For a recipe that had nothing to change on the near kernels, only the distant kernel counts.
        assert!(near.improvement(2, 0.0) > 0.4);
        assert_eq!(Neighbours::new(&Experience::default(), &Traits::default()).hope(), 0.0);
    }
}
