//! The judges, which return the figures of a PTX file:
//!
//! * [`ptxas`]: ptxas and the disassembler;
//! * [`cached`]: the answers of earlier searches, with another judge for new questions;
//! * [`planned`]: no answers yet; each question becomes a run of a Ninja graph.

pub(super) mod cached;
pub(super) mod planned;
pub(super) mod ptxas;

use std::time::Duration;

use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::question::NoAnswer;

/// A judge of PTX. Several threads may use one judge.
pub(super) trait Judge: Sync {
    /// Returns the figures of the kernels of a file, within a time limit.
    fn judge(&self, ptx: &[u8], limit: Duration, inspection: Inspection) -> Result<Judgement, NoAnswer>;
}

/// How machine code is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inspection {
    /// By the disassembler. The result of this project's own reader is compared with it.
    Disassembler,
    /// By the disassembler if the code uses local memory, otherwise as by `OwnReader`.
    DisassemblerIfStack,
    /// By this project's own reader, if its results have agreed with the disassembler so far.
    OwnReader,
    /// Also finds the values that ptxas spills, by the source lines that the PTX gives its instructions.
    Spills,
}
