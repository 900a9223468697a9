//! What spilling a live range costs: the coefficients of the formula, and the formula.

/// The coefficients of the cost of spilling.
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    /// Frequencies of definitions and uses are multiplied, as NVIDIA's compiler is read to do it; else they are added.
    pub is_product: bool,
    /// Cycles to reach a spilled value in the first, second and third level of memory.
    pub latency: [f32; 3],
    /// Bytes that are live at once, above which values live in the second and in the third level.
    pub cache: [u32; 2],
    /// What each loop around it multiplies the cost by, beyond the frequency of its blocks.
    pub loop_base: f32,
    /// What uniform values cost more.
    pub uniform_factor: f32,
    /// The most that a live range costs.
    pub clamp: f32,
    /// What a store costs in loads.
    pub store_factor: f32,
    /// What an access costs in a file in which more is live at once than it has registers, in place of the latency:
    /// ptxas's 3 in place of 15.
    pub high_pressure: Option<f32>,
    /// ptxas's `--register-usage-level`, 0 to 10: its multiplier of costs is 4 at level 5, and a fifth of that for each.
    pub usage_level: u32,
}

/// Where an access is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accessed {
    /// Bytes that are live at once.
    pub live_bytes: u32,
    /// More is live at once in the file than it has registers.
    pub is_high: bool,
}

/// Of costs at level 0, so that they keep an order.
const LEVEL_0: f32 = 0.1;

/// Where and how often a live range is used, as far as the cost of spilling it asks.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// How often it is written in one run of the function.
    pub written: f32,
    /// How often it is read.
    pub read: f32,
    /// How deep in loops the blocks are that it is live in, weighted by their frequency.
    pub loop_depth: f32,
    /// 32-bit words that spilling or reloading it moves.
    pub words: u32,
    /// It is the same in all threads of a warp.
    pub is_uniform: bool,
}

impl CostModel {
    /// What an access to one word costs.
    pub fn of_access(&self, Accessed { live_bytes, is_high }: Accessed) -> f32 {
        let level = self.cache.iter().filter(|&&bytes| live_bytes > bytes).count();
        let weight = self.high_pressure.filter(|_| is_high).unwrap_or(self.latency[level]);
        weight * (self.usage_level as f32 / 5.0).max(LEVEL_0)
    }

    /// What spilling a live range costs. From 0 to the clamp.
    ///
    /// NVIDIA's compiler takes the average of `base^depth` over the blocks; here the depth is averaged, which is the
    /// same where a live range keeps to one depth.
    pub fn cost(&self, usage: &Usage, accessed: Accessed) -> f32 {
        let accesses = if self.is_product {
            usage.written * usage.read
        } else {
            (usage.written * self.store_factor + usage.read) * usage.words as f32
        };
        let uniform = if usage.is_uniform { self.uniform_factor } else { 1.0 };
        let cost = accesses * self.of_access(accessed) * self.loop_base.powf(usage.loop_depth) * uniform;
        // The sum of nothing is -0.
        if cost.is_nan() { self.clamp } else { cost.clamp(0.0, self.clamp) + 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::Preset;

    const USAGE: Usage = Usage { written: 2.0, read: 3.0, loop_depth: 2.0, words: 2, is_uniform: false };

    /// The documented product, its latencies by what is live, and its clamp; and plain words.
    #[test]
    fn documented_costs() {
        let cicc = &Preset::CICC.cost;
        let live = |live_bytes| Accessed { live_bytes, is_high: false };
        assert_eq!(cicc.cost(&USAGE, live(0)), 2.0 * 3.0 * 4.0 * 2.25);
        assert_eq!(cicc.cost(&USAGE, live((64 << 10) + 1)), 2.0 * 3.0 * 10.0 * 2.25);
        assert_eq!(cicc.cost(&USAGE, live((256 << 10) + 1)), 2.0 * 3.0 * 40.0 * 2.25);
        assert_eq!(cicc.cost(&Usage { is_uniform: true, ..USAGE }, live(0)), 2.0 * 3.0 * 4.0 * 2.25 * 1.5);
        assert_eq!(cicc.cost(&Usage { written: 1e9, ..USAGE }, live(0)), 1e9);
        assert_eq!(Preset::HW.cost.cost(&USAGE, live(0)), 10.0);
    }

    /// Costs that overflow are the highest, not the lowest.
    #[test]
    fn overflow_is_dear() {
        let usage = Usage { written: f32::INFINITY, read: 0.0, ..USAGE };
        assert_eq!(Preset::CICC.cost.cost(&usage, Accessed::default()), 1e9);
    }

    /// ptxas's weights, its store of half a load, and its level of usage.
    #[test]
    fn weights_of_ptxas() {
        let cost = |model: &CostModel, is_high| model.cost(&USAGE, Accessed { live_bytes: 0, is_high });
        let ptxas = &Preset::PTXAS.cost;
        assert_eq!([cost(ptxas, false), cost(ptxas, true)], [(1.0 + 3.0) * 2.0 * 15.0, (1.0 + 3.0) * 2.0 * 3.0]);
        let level = |usage_level| cost(&CostModel { usage_level, ..ptxas.clone() }, false);
        assert_eq!([0, 1, 5, 10].map(level), [12.0, 24.0, 120.0, 240.0]);
        assert_eq!(cost(&Preset::HW.cost, true), cost(&Preset::HW.cost, false));
    }
}
