//! Block frequencies under an assumed trip count for all loops.
//!
//! ptxas has a knob for this, `RegAllocEstimatedLoopIterations`. LLVM's estimate for a loop without a profile is also a
//! guess.

use super::{Cfg, Dominators, Loops};
use crate::function::{Block, Function};
use crate::index::IndexVec;

/// Returns the frequencies with the trip count of every loop replaced by `turns`. O(blocks · depth + edges).
pub fn with_turns(
    function: &Function,
    (cfg, dominators): (&Cfg, &Dominators),
    frequencies: &IndexVec<Block, f64>,
    turns: u32,
) -> IndexVec<Block, f64> {
    let loops = Loops::new(cfg, dominators);
    let entered = |of| {
        let outside = cfg.preds(loops.header(of)).iter().filter(|&&pred| !loops.contains(of, pred));
        outside.map(|&pred| frequencies[pred] / function.succs(pred).len().max(1) as f64).sum::<f64>()
    };
    let mut scaled = frequencies.clone();
    for block in function.blocks() {
        for of in std::iter::successors(loops.innermost(block), |&inner| loops.parent(inner)) {
            let estimated = (frequencies[loops.header(of)] / entered(of)).max(1.0);
            if estimated.is_finite() {
                scaled[block] *= f64::from(turns) / estimated;
            }
        }
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::block_frequencies;
    use crate::analysis::tests::graph;

    /// The guessed trip count of ten is replaced by any other number, in nested loops too. Blocks outside loops keep
    /// their frequencies.
    #[test]
    fn any_number() {
        let function = graph(&[&[1], &[2], &[2, 3], &[1, 4], &[]]);
        let cfg = Cfg::new(&function);
        let dominators = Dominators::new(&function, &cfg);
        let guessed = block_frequencies(&function, &cfg, &dominators);
        let with = |turns| with_turns(&function, (&cfg, &dominators), &guessed, turns).as_slice().to_vec();
        assert_eq!(with(10), guessed.as_slice());
        assert_eq!(with(3), [1.0, 3.0, 9.0, 3.0, 1.0]);
        assert_eq!(with(1), [1.0; 5]);
    }
}
