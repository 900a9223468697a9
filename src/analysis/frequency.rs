//! Block frequencies: how many times each block executes in one call of the function.

use super::{Cfg, Dominators, Loops};
use crate::function::{Block, Function};
use crate::index::IndexVec;

/// The trip count that is assumed for a loop without an estimate. NVIDIA's allocator uses the same base for its spill
/// costs.
const TURNS: f64 = 10.0;

/// Returns LLVM's block frequencies. If LLVM made no estimates, because it does not optimise, returns a guess by loop
/// depth.
///
/// O(blocks); a guess also costs the computation of the loops.
pub fn block_frequencies(function: &Function, cfg: &Cfg, dominators: &Dominators) -> IndexVec<Block, f64> {
    let estimates: IndexVec<Block, f64> = function.blocks().map(|block| function.frequency(block)).collect();
    if estimates.iter().any(|&frequency| frequency != 1.0) {
        return estimates;
    }
    let loops = Loops::new(cfg, dominators);
    // The depth is bounded because the frequencies of deeper nests would be meaningless and finally infinite.
    function.blocks().map(|block| TURNS.powi(loops.depth(block).min(30) as i32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::graph;

    /// Without estimates, an inner loop executes a hundred times. With estimates, the estimates are used.
    #[test]
    fn loops_are_guessed_where_nothing_is_estimated() {
        let mut function = graph(&[&[1], &[2], &[2, 3], &[1, 4], &[]]);
        let frequencies = |function: &Function| {
            let cfg = Cfg::new(function);
            block_frequencies(function, &cfg, &Dominators::new(function, &cfg)).as_slice().to_vec()
        };
        assert_eq!(frequencies(&function), [1.0, 10.0, 100.0, 10.0, 1.0]);
        function =
            Function::parse(&function.to_string().replacen("frequency 1.0", "frequency 0.5", 1)).expect("a view");
        assert_eq!(frequencies(&function), [0.5, 1.0, 1.0, 1.0, 1.0]);
    }
}
