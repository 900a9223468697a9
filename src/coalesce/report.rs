//! What the coalescer tells of its work: for statistics and remarks.

use std::time::Duration;

use crate::function::Inst;
use crate::stats::CopyRefusal;

/// The coalescer's account of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Merges of two registers.
    pub merges: usize,
    /// Copies that became constants, and an instruction of the view that defines the constant.
    pub rematerialised: Vec<(Inst, Inst)>,
    /// Copies, packs and unpacks that went, in layout order.
    pub removed: Vec<Inst>,
    /// Copies that stay, in layout order, and why.
    pub refused: Vec<(Inst, CopyRefusal)>,
    /// Rounds until nothing changed.
    pub rounds: usize,
    /// The time that the analyses took, in all rounds.
    pub analyses: Duration,
    /// The time that everything else took.
    pub coalescing: Duration,
    /// What the option `trace` asks for: a line for each thing.
    pub trace: String,
}
