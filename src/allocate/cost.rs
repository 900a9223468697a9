//! Spill cost of a live range: the formula and its coefficients.

/// Coefficients of the spill cost.
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    /// Whether the frequencies of definitions and uses are multiplied, as NVIDIA's compiler is read to do it. Otherwise
    /// the frequencies are added.
    pub is_product: bool,
    /// Cycles of an access to a spilled value in the first, second and third level of memory.
    pub latency: [f32; 3],
    /// Live bytes above which spilled values are in the second level of memory, and in the third.
    pub cache: [u32; 2],
    /// Factor of the cost for each surrounding loop, in addition to the frequency of its blocks.
    pub loop_base: f32,
    /// Factor of the cost of uniform values.
    pub uniform_factor: f32,
    /// Upper bound of the cost of a live range.
    pub clamp: f32,
    /// Cost of a store, in loads.
    pub store_factor: f32,
    /// Cost of an access, in place of the latency, in a file with more live units than registers: ptxas's 3 in place of
    /// 15. `None`: the latency in any case.
    pub high_pressure: Option<f32>,
    /// ptxas's `--register-usage-level`, 0 to 10. Costs are multiplied by a fifth of the level, so level 5 changes
    /// nothing. In ptxas, the multiplier of level 5 is 4.
    pub usage_level: u32,
}

/// Pressure at an access.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accessed {
    /// Bytes that are live at once.
    pub live_bytes: u32,
    /// Whether more units of the live range's file are live at once than the file has.
    pub is_high: bool,
}

/// Multiplier at level 0. It is positive, so that costs keep an order.
const LEVEL_0: f32 = 0.1;

/// Uses of a live range, from which its spill cost is computed.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Writes in one run of the function.
    pub written: f32,
    /// Reads in one run of the function.
    pub read: f32,
    /// Loop depth of the blocks in which it is live, weighted by their frequency.
    pub loop_depth: f32,
    /// 32-bit words that a spill or reload moves.
    pub words: u32,
    /// Whether the value is the same in all threads of a warp.
    pub is_uniform: bool,
}

impl CostModel {
    /// Returns the cost of an access to one word.
    pub fn of_access(&self, Accessed { live_bytes, is_high }: Accessed) -> f32 {
        let level = self.cache.iter().filter(|&&bytes| live_bytes > bytes).count();
        let weight = self.high_pressure.filter(|_| is_high).unwrap_or(self.latency[level]);
        weight * (self.usage_level as f32 / 5.0).max(LEVEL_0)
    }

    /// Returns the spill cost of a live range, from 0 to the clamp.
    ///
    /// NVIDIA's compiler averages `base^depth` over the blocks, but this function averages the depth. The result is the
    /// same if all blocks of a live range have one depth.
    pub fn cost(&self, usage: &Usage, accessed: Accessed) -> f32 {
        let accesses = if self.is_product {
            usage.written * usage.read
        } else {
            (usage.written * self.store_factor + usage.read) * usage.words as f32
        };
        let uniform = if usage.is_uniform { self.uniform_factor } else { 1.0 };
        let cost = accesses * self.of_access(accessed) * self.loop_base.powf(usage.loop_depth) * uniform;
        // Adding 0 turns -0, the sum of no accesses, into 0.
        if cost.is_nan() { self.clamp } else { cost.clamp(0.0, self.clamp) + 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::Preset;

    const USAGE: Usage = Usage { written: 2.0, read: 3.0, loop_depth: 2.0, words: 2, is_uniform: false };

    /// The documented product with its latencies by live bytes and its clamp, and a cost in plain words.
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

    /// The weights of ptxas: a store costs half a load, and the usage level multiplies the cost.
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
