//! How often blocks run where every loop is taken to turn a given number of times.
//!
//! ptxas has a knob for it, `RegAllocEstimatedLoopIterations`. LLVM's estimate of a loop without a profile is a guess, too.

use super::{Cfg, Dominators, Loops};
use crate::function::{Block, Function};
use crate::index::IndexVec;

/// The frequencies with `turns` in place of what they say of loops. O(blocks · depth + edges).
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

    /// The guess of ten turns becomes any other number, in a loop in a loop, too; blocks outside keep what they had.
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
