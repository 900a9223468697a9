//! What a search for another command comes to: the kernels that got better and those that stay as they are, with what they cost.

use nvptx_ra::tune::evidence::Real;
use nvptx_ra::tune::figures::Figures;

use crate::page::counted;
use crate::ptxas_run::Assembled;

/// The answer to a request.
pub(crate) struct Answer {
    /// `None` where nothing gets better.
    pub(crate) found: Option<Found>,
    /// The kernels that stay as they are, in the order of their names.
    pub(crate) left: Vec<Left>,
    /// Whether the next search would find the same.
    pub(crate) lasts: bool,
}

/// A kernel that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Left {
    pub(crate) kernel: String,
    /// Why, as a line of a log says it.
    pub(crate) reason: String,
    /// Whether it was searched.
    pub(crate) is_searched: bool,
    /// What it costs, where a search has measured that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Cost>,
}

impl Left {
    pub(super) fn unsearched(kernel: &str, reason: &str) -> Self {
        Self { kernel: kernel.into(), reason: format!("nothing to search: {reason}"), is_searched: false, cost: None }
    }
}

/// What a search found.
pub(crate) struct Found {
    pub(crate) ptx: Vec<u8>,
    /// The choices, which [`replay_on_ptx`](nvptx_ra::passes::replay_on_ptx) makes again.
    pub(crate) profile: String,
    pub(crate) changes: Vec<Change>,
    /// What ptxas makes of the PTX, where it has been asked with a build's own options.
    pub(crate) assembled: Option<Assembled>,
}

/// A kernel that is better than it was.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Change {
    pub(crate) kernel: String,
    pub(crate) choice: String,
    /// Whether it computes what it did, as far as the CPU can tell; empty where that was not asked.
    pub(crate) agreement: String,
    /// What shows that it does; empty where an earlier version has not said it.
    #[serde(default)]
    pub(crate) assurance: String,
    pub(crate) before: Cost,
    pub(crate) after: Cost,
    /// What spills half as much or less and holds fewer warps, where that is all that speaks against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) with_fewer_warps: Option<Offer>,
}

/// What a kernel would cost in another way.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Offer {
    #[serde(flatten)]
    pub(crate) cost: Cost,
    /// The way, in words, where the user may go it without a search.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) by: String,
}

/// What a kernel costs, as ptxas and the machine code tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Cost {
    pub(crate) spill_store_bytes: u32,
    pub(crate) spill_load_bytes: u32,
    pub(crate) registers: u32,
    /// Warps that an SM holds at once; 0 where nobody knows what is linked to it, or where no block fits.
    pub(crate) warps: u32,
    pub(crate) instructions: u32,
}

impl From<&Figures> for Cost {
    fn from(figures: &Figures) -> Self {
        let Real { spill_store_bytes, spill_load_bytes, registers, .. } = figures.real;
        let warps = if figures.counts_instructions_alone { 0 } else { figures.warps };
        let instructions = figures.sass.instructions;
        Self { spill_store_bytes, spill_load_bytes, registers, warps, instructions }
    }
}

/// What fewer warps would save, behind all else that a line says of a kernel.
pub(crate) fn offer(with_fewer_warps: Option<&Offer>) -> String {
    let offer = with_fewer_warps.map(|Offer { cost, by }| {
        let bytes = cost.spill_store_bytes + cost.spill_load_bytes;
        let warps = counted(cost.warps as usize, "warp");
        format!("; with {warps} it would spill {bytes} bytes{by}: nvptx-ra tune --allow-occupancy-loss takes that")
    });
    offer.unwrap_or_default()
}
