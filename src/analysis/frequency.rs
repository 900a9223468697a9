//! How often blocks run in one run of the function.

use super::{Cfg, Dominators, Loops};
use crate::function::{Block, Function};
use crate::index::IndexVec;

/// A loop is taken to turn so often where nothing is known of it: the base of spill costs in NVIDIA's allocator too.
const TURNS: f64 = 10.0;

/// LLVM's estimates; where it made none, because it does not optimise, a guess by loop depth.
///
/// O(blocks), and where it guesses what finding the loops costs.
pub fn block_frequencies(function: &Function, cfg: &Cfg, dominators: &Dominators) -> IndexVec<Block, f64> {
    let estimates: IndexVec<Block, f64> = function.blocks().map(|block| function.frequency(block)).collect();
    if estimates.iter().any(|&frequency| frequency != 1.0) {
        return estimates;
    }
    let loops = Loops::new(cfg, dominators);
    // Beyond any nest that a program has the numbers would say nothing, and in the end be infinite.
    function.blocks().map(|block| TURNS.powi(loops.depth(block).min(30) as i32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::graph;

    /// Without estimates a loop in a loop runs a hundred times; with them, they count.
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
