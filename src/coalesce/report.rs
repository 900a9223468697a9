//! Report of the coalescer, for statistics and remarks.

use std::time::Duration;

use crate::function::Inst;
use crate::stats::CopyRefusal;

/// Report of the coalescer for one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of merges of two registers.
    pub merges: usize,
    /// Copies that became constants. Each comes with an instruction of the view that defines the constant.
    pub rematerialised: Vec<(Inst, Inst)>,
    /// Copies, packs and unpacks that were removed, in layout order.
    pub removed: Vec<Inst>,
    /// Copies that remain, in layout order, with the reasons.
    pub refused: Vec<(Inst, CopyRefusal)>,
    /// Number of rounds until nothing changed.
    pub rounds: usize,
    /// Time of the analyses, in all rounds.
    pub analyses: Duration,
    /// Time of all other work.
    pub coalescing: Duration,
    /// Output of the option `trace`: a line for each event.
    pub trace: String,
}
