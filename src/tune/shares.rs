//! The division of a file's effort among its kernels.
//!
//! All kernels with a possible gain get the same number of runs if the effort suffices for a few runs of each.
//! Otherwise, the kernels with the largest possible gain get the runs. The shares depend on figures alone, and not on
//! what a search finds, so kernels are searched in parallel.

use super::kernel::Kernel;
use super::objective::{Effort, Objective};
use super::price::Work;

/// The fewest runs for which the search of a kernel is worth starting.
const FEWEST_RUNS: f64 = 2.0;

/// Sets the share of each kernel. O(kernels · log kernels).
pub fn allot(effort: &Effort, objective: &Objective, kernels: &mut [Kernel]) {
    let hopes: Vec<f64> = kernels.iter().map(|kernel| kernel.hope(objective)).collect();
    let mut order: Vec<usize> = (0..kernels.len()).collect();
    order.sort_by(|&one, &other| hopes[other].total_cmp(&hopes[one]));
    let [in_times, work] = effort.work(kernels.iter().map(Kernel::run).sum());
    let mut all = Work::default();
    let afforded = order.iter().take_while(|&&kernel| {
        all += kernels[kernel].run();
        all.times(FEWEST_RUNS) <= work
    });
    let afforded: Vec<usize> = afforded.copied().collect();
    let prices: Work = afforded.iter().map(|&kernel| kernels[kernel].run()).sum();
    // A larger effort also tries less likely variants.
    let exactingness = (Effort::TIMES / effort.times).min(1.0);
    kernels.iter_mut().for_each(|kernel| kernel.give_work([Work::default(); 2], exactingness));
    for kernel in afforded {
        let share = kernels[kernel].run().share_of(prices);
        kernels[kernel].give_work([in_times, work].map(|all| all.times(share)), exactingness);
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::{Allowance, Block, tests::figures};
    use super::super::optimisations::Choices;
    use super::*;
    use crate::target::machine::Architecture;

    fn kernels(all: &[(u32, u32)]) -> Vec<Kernel> {
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        let kernel = |&(spills, instructions): &(u32, u32)| {
            Kernel::new("k", "0", block, figures(spills, 32, instructions), "stock".into(), Choices::Nothing)
        };
        all.iter().map(kernel).collect()
    }

    /// The shares sum to at most the effort. If the effort does not suffice for all kernels, those with the largest
    /// possible gain are searched.
    #[test]
    fn sums() {
        let objective = Objective::new(Architecture::by_name("sm_90").expect("it is known"), Allowance::default());
        let mut all = kernels(&[(400, 3000), (0, 300), (100, 900), (0, 90_000)]);
        let file: Work = all.iter().map(Kernel::run).sum();
        for (times, again) in [(1.0, true), (4.0, true), (4.0, false), (40.0, true)] {
            let effort = Effort { times, file: Some(file), assembles_again: again };
            allot(&effort, &objective, &mut all);
            let given: Work = all.iter().map(|kernel| kernel.work().expect("each has a share")).sum();
            assert!(given <= effort.work(file)[1], "{times}");
        }
        let effort = Effort { times: 0.5, file: Some(file), assembles_again: false };
        allot(&effort, &objective, &mut all);
        let served: Vec<bool> = all.iter().map(|kernel| kernel.work() > Some(Work(0))).collect();
        assert!(served.contains(&true) && served.contains(&false), "{served:?}");
        let hope = |wanted: bool| {
            let hopes = all
                .iter()
                .zip(&served)
                .filter(move |(_, served)| **served == wanted)
                .map(|(kernel, _)| kernel.hope(&objective));
            hopes.collect::<Vec<f64>>()
        };
        let least = hope(true).into_iter().fold(f64::MAX, f64::min);
        assert!(hope(false).into_iter().all(|hope| hope <= least));
    }
}
