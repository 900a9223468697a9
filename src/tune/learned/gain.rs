//! The gain of a variant over stock, from its figures: a fraction of stock's time, from 0 to 1.
//!
//! A search has no GPU times, and the model of time takes longer than ptxas. Therefore a formula replaces the model.
//! Its three weights were fitted to the predicted times of recorded variants (docs/notebook).

/// The inputs of the formula.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// The cost of spills, in bytes weighted by the enclosing loops.
    pub spill_cost: f64,
    /// Resident warps of an SM. 0 if unknown.
    pub warps: f64,
    /// Machine instructions.
    pub instructions: f64,
}

/// The bytes of spills that weigh as much as one instruction.
const BYTES_OF_AN_INSTRUCTION: f64 = 8.0;

/// The exponents of the three factors of the time: spills for each instruction, instructions, and warps.
const OF_SPILLS: f64 = 0.8;
const OF_INSTRUCTIONS: f64 = 0.8;
const OF_WARPS: f64 = 0.2;

/// Returns the fraction of stock's time that a variant saves. 0 if it saves nothing.
pub fn gain(stock: &Counts, variant: &Counts) -> f64 {
    let spills = |of: &Counts| 1.0 + of.spill_cost / (BYTES_OF_AN_INSTRUCTION * of.instructions.max(1.0));
    let of_spills = OF_SPILLS * (spills(variant) / spills(stock)).ln();
    let of_instructions = OF_INSTRUCTIONS * (variant.instructions.max(1.0) / stock.instructions.max(1.0)).ln();
    let of_warps = OF_WARPS * (stock.warps.max(1.0) / variant.warps.max(1.0)).ln();
    (1.0 - (of_spills + of_instructions + of_warps).exp()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOCK: Counts = Counts { spill_cost: 1600.0, warps: 8.0, instructions: 1000.0 };

    /// Fewer spills, more warps and fewer instructions are each a gain. Equal or worse figures gain nothing.
    #[test]
    fn signs() {
        let of = |change: &dyn Fn(&mut Counts)| {
            let mut variant = STOCK;
            change(&mut variant);
            gain(&STOCK, &variant)
        };
        assert_eq!(of(&|_| ()), 0.0);
        let gains = [
            of(&|counts| counts.spill_cost = 0.0),
            of(&|counts| counts.warps = 16.0),
            of(&|counts| counts.instructions = 900.0),
        ];
        assert!(gains.iter().all(|gain| (0.01..0.5).contains(gain)), "{gains:?}");
        assert_eq!(of(&|counts| counts.spill_cost = 3200.0), 0.0);
    }
}
