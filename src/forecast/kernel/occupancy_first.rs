//! Finds the kernels that get few registers although many words are live.
//!
//! A kernel may give the size of its blocks, but not the number of blocks on an SM, and need more than all registers.
//! ptxas may then spill nearly everything in favour of full occupancy. The criterion is not known. In experiments with
//! straight-line code the threshold lies at 300 to 800 words, depending on the other work of the kernel. The corpus has
//! 103 such kernels with more than 255 words in any order and 550 or more varying words in the order of the code; ptxas
//! 13.0.88 reduces the registers of 62. The 255 include words that are the same in all threads, because large kernels
//! keep most of these words in ordinary registers. All results of one instruction are in registers at once. So a kernel
//! whose matrix products (`wgmma`) write more words than the few registers hold keeps all registers. These kernels have
//! 32 or 255 registers, and no number in between for trees to find, so they are left out of the fit.

use super::forecast::launch;
use crate::forecast::model::features::Features;
use crate::forecast::model::table::Model;
use crate::forecast::model::trees::any_blocks;
use crate::function::LaunchBounds;
use crate::target::machine::{Architecture, MAX_REGISTERS};

/// Returns the registers of a kernel for which ptxas trades registers for warps: the most registers at the highest
/// possible number of blocks on an SM. `None` for other kernels.
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

    /// A kernel gets few registers if it has more words than all registers in any order and many more in the order of
    /// the code, and if its bounds give the size but not the number of blocks. The size of a block determines the
    /// number of registers. A kernel with an instruction that writes more words than this number keeps all registers.
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
