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
}

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
    /// What spilling a live range costs where `live_bytes` are live at once. From 0 to the clamp.
    ///
    /// NVIDIA's compiler takes the average of `base^depth` over the blocks; here the depth is averaged, which is the
    /// same where a live range keeps to one depth.
    pub fn cost(&self, usage: &Usage, live_bytes: u32) -> f32 {
        let level = self.cache.iter().filter(|&&bytes| live_bytes > bytes).count();
        let accesses = if self.is_product {
            usage.written * usage.read
        } else {
            (usage.written + usage.read) * usage.words as f32
        };
        let uniform = if usage.is_uniform { self.uniform_factor } else { 1.0 };
        let cost = accesses * self.latency[level] * self.loop_base.powf(usage.loop_depth) * uniform;
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
        assert_eq!(cicc.cost(&USAGE, 0), 2.0 * 3.0 * 4.0 * 2.25);
        assert_eq!(cicc.cost(&USAGE, (64 << 10) + 1), 2.0 * 3.0 * 10.0 * 2.25);
        assert_eq!(cicc.cost(&USAGE, (256 << 10) + 1), 2.0 * 3.0 * 40.0 * 2.25);
        assert_eq!(cicc.cost(&Usage { is_uniform: true, ..USAGE }, 0), 2.0 * 3.0 * 4.0 * 2.25 * 1.5);
        assert_eq!(cicc.cost(&Usage { written: 1e9, ..USAGE }, 0), 1e9);
        assert_eq!(Preset::HW.cost.cost(&USAGE, 0), 10.0);
    }

    /// Costs that overflow are the highest, not the lowest.
    #[test]
    fn overflow_is_dear() {
        let usage = Usage { written: f32::INFINITY, read: 0.0, ..USAGE };
        assert_eq!(Preset::CICC.cost.cost(&usage, 0), 1e9);
    }
}
