//! Which kernels get few registers though they hold many words.
//!
//! Where a kernel says how large its blocks are, and not how many of them an SM is to hold, and does not fit into all
//! registers, ptxas may spill nearly everything instead, and let an SM hold all warps that it can. What decides is not
//! known: trials with straight code put it at 300 to 800 words, by how much there is to do beside. Of the kernels of the
//! corpus that hold more than 255 words in any order and 550 or more varying ones in that of their code, ptxas 13.0.88
//! gives that up for 62 of 103. What is the same in all threads counts among the 255: large kernels keep most of it in
//! ordinary registers. What one instruction writes is in registers all at once, so a kernel whose products of matrices
//! (`wgmma`) write more words than it would have registers does not give them up. Registers that are 32 or 255 have no
//! middle for trees to find, so these kernels are left out of their fit.

use super::forecast::launch;
use crate::forecast::model::features::Features;
use crate::forecast::model::table::Model;
use crate::forecast::model::trees::any_blocks;
use crate::function::LaunchBounds;
use crate::target::machine::{Architecture, MAX_REGISTERS};

/// The registers of a kernel for which ptxas gives up registers for warps: the most with which an SM holds as many
/// blocks as it can. `None` for any other kernel.
pub(in crate::forecast) fn registers_for_warps(
    features: &Features,
    model: &Model,
    bounds: &LaunchBounds,
    architecture: &Architecture,
) -> Option<u32> {
    let gives_up = model.head.gives_up > 0.0
        && any_blocks(bounds)
        && features.get("varying_words") >= model.head.gives_up
        && features.get("reordered_words") > f64::from(MAX_REGISTERS);
    let few = gives_up.then(|| architecture.step_edge(&launch(1, bounds.threads(), 0)));
    few.filter(|&registers| features.get("widest") <= f64::from(registers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::kernel::estimate::tests::case;

    /// Few registers are for kernels that hold more than all of them, many more in the order of the code, and whose
    /// blocks have a size but no number; how few depends on that size. No instruction writes more words than that.
    #[test]
    fn few_registers_for_large_kernels() {
        let model = Model::parse("gives-up 550\ntree 1\n").expect("a table");
        let of_size = |threads| LaunchBounds { required_threads: Some(threads), ..LaunchBounds::default() };
        let registers = |in_order: u32, reordered: u32, bounds: LaunchBounds| {
            let mut features = Features::none();
            features.set("varying_words", in_order.into());
            features.set("reordered_words", reordered.into());
            registers_for_warps(&features, &model, &bounds, case().architecture)
        };
        assert_eq!(
            [32, 128, 768, 1024].map(|threads| registers(550, 256, of_size(threads))),
            [64, 32, 40, 32].map(Some)
        );
        assert_eq!(registers(549, 256, of_size(128)), None);
        assert_eq!(registers(550, 255, of_size(128)), None);
        assert_eq!(registers(550, 256, LaunchBounds::default()), None);
        assert_eq!(registers(550, 256, LaunchBounds { min_blocks: Some(1), ..of_size(128) }), None);
        let of_product = |words: f64| {
            let mut features = Features::none();
            for (name, value) in [("varying_words", 550.0), ("reordered_words", 256.0), ("widest", words)] {
                features.set(name, value);
            }
            registers_for_warps(&features, &model, &of_size(128), case().architecture)
        };
        assert_eq!([4.0, 32.0, 64.0].map(of_product), [Some(32), Some(32), None]);
        let silent = Model::parse("tree 1\n").expect("a table");
        let mut features = Features::none();
        features.set("varying_words", 9_999.0);
        features.set("reordered_words", 9_999.0);
        assert_eq!(registers_for_warps(&features, &silent, &of_size(128), case().architecture), None);
    }
}
