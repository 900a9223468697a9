//! Registers of loops in which values change places from one iteration to the next.
//!
//! In PTX, such a loop needs one register more than it has values. ptxas 13.0.88 unrolls the loop and copies the values
//! from one set of registers into another at its end. Loops that only permute N values were measured for sm_90, with N
//! from 60 to 1,000, as random permutations, as rotations and as swaps of neighbours. Beside N words and about six
//! other registers, a loop takes 0.6 to 1.1 words for each value that moves. Above 168 registers, where no occupancy
//! step is left to lose, the loop takes more.
//!
//! Values that are the same in all threads move through the uniform registers. If a cycle does not fit into the uniform
//! registers twice, its values stay in ordinary registers: of 60 values in cycles of at most 28, ptxas keeps 58 in
//! uniform registers, and of 60 values in one cycle none. Each word without a register is stored and loaded about three
//! times.

use crate::forecast::model::features::Features;
use crate::target::machine::{Architecture, MAX_REGISTERS};

/// Fewest moved words to which this rule applies. The models cover smaller numbers.
const LEAST_MOVED: f64 = 16.0;
/// Registers beside the values and their copies.
const BESIDE: f64 = 6.0;
/// Words of copies for each word that moves.
const COPIES: f64 = 0.75;
/// Share of the uniform registers that replaces ordinary registers.
const UNIFORM: f64 = 0.65;
/// The last occupancy step but one, and the share of the remaining registers that ptxas takes beyond it.
const LAST_STEP: f64 = 168.0;
const BEYOND_LAST_STEP: f64 = 0.3;
/// Bytes stored and loaded for each word without a register.
const SPILLED: f64 = 22.0;

/// Returns the words that a kernel keeps in registers or spills because its loops permute values; 0 if few words move.
pub(in crate::forecast) fn words(features: &Features, architecture: &Architecture) -> f64 {
    let moved = features.get("moved_words");
    if moved < LEAST_MOVED {
        return 0.0;
    }
    let uniform = features.get("moved_uniform_words").min(f64::from(architecture.uniform_registers));
    features.get("passed_words") + COPIES * moved + BESIDE - UNIFORM * uniform
}

/// Returns the registers that ptxas takes for these words if it may use all registers.
pub(in crate::forecast) fn registers(words: f64) -> f64 {
    let most = f64::from(MAX_REGISTERS);
    if words <= LAST_STEP { words } else { words + BEYOND_LAST_STEP * (most - words).max(0.0) }
}

/// Returns the bytes that are stored and loaded if these words exceed the register limit.
pub(in crate::forecast) fn spilled(words: f64, register_limit: u32) -> f64 {
    SPILLED * (words - f64::from(register_limit)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::kernel::estimate::tests::case;

    fn words_of(passed: f64, moved: f64, uniform: f64) -> f64 {
        let mut features = Features::none();
        for (name, value) in [("passed_words", passed), ("moved_words", moved), ("moved_uniform_words", uniform)] {
            features.set(name, value);
        }
        words(&features, case().architecture)
    }

    /// Copies are added to the carried words. Uniform registers reduce the sum. Nothing is added if few values change
    /// places.
    #[test]
    fn copies_take_registers() {
        assert_eq!(words_of(60.0, 15.0, 0.0), 0.0);
        assert_eq!(words_of(100.0, 100.0, 0.0), 181.0);
        assert!(words_of(100.0, 100.0, 20.0) < 181.0);
        // A processor has no more than this number of uniform registers.
        assert_eq!(words_of(600.0, 600.0, 63.0), words_of(600.0, 600.0, 600.0));
    }

    /// More words never take fewer registers, and never more registers than a thread may have. Words without a register
    /// are spilled.
    #[test]
    fn registers_and_spills_grow() {
        let taken: Vec<f64> = (1..255).map(|words| registers(words.into())).collect();
        assert!(
            taken.is_sorted() && taken.iter().zip(1..).all(|(&taken, words)| taken >= words.into() && taken <= 255.0)
        );
        assert_eq!(registers(300.0), 300.0);
        assert_eq!([200.0, 255.0, 256.0].map(|words| spilled(words, 255)), [0.0, 0.0, SPILLED]);
    }
}
