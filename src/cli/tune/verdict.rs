//! Reports on kernels for a build: the figures before and after, or why a kernel stays unchanged.

use nvptx_ra::tune::figures::Figures;
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::objective::Objective;
use nvptx_ra::tune::ptxas_output::PtxasReport;

use super::print::by_blocks;
use crate::page::counted;

/// A kernel that stays unchanged.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct UnchangedKernel {
    pub(crate) kernel: String,
    /// The reason, for a line of a log.
    pub(crate) reason: String,
    /// Whether it was searched.
    pub(crate) is_searched: bool,
    /// Its figures, if a search has measured them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<KernelCost>,
}

impl UnchangedKernel {
    pub(super) fn unsearched(kernel: &str, reason: &str) -> Self {
        Self { kernel: kernel.into(), reason: format!("nothing to search: {reason}"), is_searched: false, cost: None }
    }
}

/// An improved kernel.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ChangedKernel {
    pub(crate) kernel: String,
    #[serde(deserialize_with = "nvptx_ra::config::read_options")]
    pub(crate) choice: String,
    /// The result of the comparison on the CPU. Empty if the kernel was not compared.
    pub(crate) agreement: String,
    /// The evidence that it computes the same. Empty in reports of earlier versions.
    #[serde(default)]
    pub(crate) assurance: String,
    pub(crate) before: KernelCost,
    pub(crate) after: KernelCost,
    /// A variant that spills at most half as much and is excluded only by its warps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) with_fewer_warps: Option<OccupancyTradeoff>,
}

/// The figures of a kernel with another variant.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct OccupancyTradeoff {
    #[serde(flatten)]
    pub(crate) cost: KernelCost,
    /// The note for a variant that sets `.minnctapersm`, which the user can set without a search. Empty for other
    /// variants.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) by: String,
}

/// The figures of a kernel, from ptxas and the machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct KernelCost {
    pub(crate) spill_store_bytes: u32,
    pub(crate) spill_load_bytes: u32,
    pub(crate) registers: u32,
    /// Resident warps of an SM. 0 if they are unknown because the code is linked later, or if no block fits.
    pub(crate) warps: u32,
    pub(crate) instructions: u32,
}

impl From<&Figures> for KernelCost {
    fn from(figures: &Figures) -> Self {
        let PtxasReport { spill_store_bytes, spill_load_bytes, registers, .. } = figures.ptxas_report;
        let warps = if figures.counts_instructions_alone { 0 } else { figures.warps };
        let instructions = figures.sass.instructions;
        Self { spill_store_bytes, spill_load_bytes, registers, warps, instructions }
    }
}

/// Returns the variant that spills at most half as much as the best and would be admissible if fewer warps were
/// allowed.
pub(super) fn with_fewer_warps(kernel: &Kernel, objective: &Objective) -> Option<OccupancyTradeoff> {
    let (_, variant, least) = kernel.half_the_spills_for_warps(objective)?;
    Some(OccupancyTradeoff { cost: KernelCost::from(&least), by: by_blocks(&variant).to_owned() })
}

/// Returns the note on what fewer warps would save, for the end of a kernel's line.
pub(crate) fn offer(with_fewer_warps: Option<&OccupancyTradeoff>) -> String {
    let offer = with_fewer_warps.map(|OccupancyTradeoff { cost, by }| {
        let bytes = cost.spill_store_bytes + cost.spill_load_bytes;
        let warps = counted(cost.warps as usize, "warp");
        format!("; with {warps} it would spill {bytes} bytes{by}: nvptx-ra tune --allow-occupancy-loss allows it")
    });
    offer.unwrap_or_default()
}

/// Returns the report for a kernel that was searched and stays unchanged.
pub(super) fn unchanged_kernel(kernel: &Kernel, objective: &Objective) -> UnchangedKernel {
    let cost = KernelCost::from(&kernel.stock);
    let KernelCost { warps, instructions, .. } = cost;
    let bytes = kernel.stock.spill_bytes();
    let rest = if warps == 0 { counted(instructions as usize, "instruction") } else { counted(warps as usize, "warp") };
    let variants = counted(kernel.tried.len(), "variant");
    let unknown = kernel.block.dynamic_shared.is_none();
    let shared = if unknown { ", if launches add no shared memory; NVPTX_RA_DYNAMIC_SHARED sets the size" } else { "" };
    let offer = offer(with_fewer_warps(kernel, objective).as_ref());
    let slower = kernel.findings.first_slower();
    let slower = slower.map_or(String::new(), |(_, predicted)| {
        format!("; the best variant by these figures is predicted {}", predicted.words())
    });
    if kernel.is_unpaid() {
        let reason = "no run is worth its cost within the effort of the build; NVPTX_RA_EFFORT sets the effort";
        return UnchangedKernel { cost: Some(cost), ..UnchangedKernel::unsearched(&kernel.name, reason) };
    }
    let reason = if kernel.is_for_loops_alone {
        format!("no better with its loops in the form that ptxas unrolls, and nothing else to search: {rest}{slower}")
    } else {
        format!("no better after {variants}: {bytes} bytes spilled, {rest}{shared}{slower}{offer}")
    };
    UnchangedKernel { kernel: kernel.name.clone(), reason, is_searched: true, cost: Some(cost) }
}

#[cfg(test)]
mod tests {
    use nvptx_ra::target::machine::Architecture;
    use nvptx_ra::tune::figures::{Allowance, Block};
    use nvptx_ra::tune::optimisations::Choices;
    use nvptx_ra::tune::price::Work;
    use nvptx_ra::tune::ptxas_output::Sass;

    use super::*;

    /// If a kernel's share pays for no run, the report states this, and the kernel does not count as searched.
    #[test]
    fn no_share() {
        let architecture = Architecture::by_name("sm_90").expect("it is known");
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        let stock = Figures::new(PtxasReport::default(), Sass::default(), architecture, block);
        let objective = Objective::new(architecture, Allowance::default());
        let left = |work: Option<Work>| {
            let mut kernel = Kernel::new("k", "0", block, stock, "stock".into(), Choices::Nothing);
            work.into_iter().for_each(|work| kernel.give_work([work; 2], 1.0));
            unchanged_kernel(&kernel, &objective)
        };
        let unaffordable = left(Some(Work::default()));
        assert!(!unaffordable.is_searched && unaffordable.reason.contains("NVPTX_RA_EFFORT"), "{unaffordable:?}");
        assert!(left(None).is_searched);
    }
}
