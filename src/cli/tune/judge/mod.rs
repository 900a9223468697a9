//! Who says what ptxas makes of a PTX file:
//!
//! * [`ptxas`]: ptxas itself and the disassembler;
//! * [`cached`]: the answers of earlier searches, with another judge behind them;
//! * [`planned`]: nobody yet; what is asked becomes a run of a Ninja graph.

pub(super) mod cached;
pub(super) mod planned;
pub(super) mod ptxas;

use std::time::Duration;

use nvptx_ra::tune::judgement::Judgement;
use nvptx_ra::tune::question::NoAnswer;

/// Tells what ptxas makes of PTX; several threads may ask one.
pub(super) trait Judge: Sync {
    /// What ptxas makes of the kernels of a file, within a time.
    fn judge(&self, ptx: &[u8], limit: Duration, inspection: Inspection) -> Result<Judgement, NoAnswer>;
}

/// How machine code is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inspection {
    /// By the disassembler; what we read ourselves is compared with that.
    Disassembler,
    /// By the disassembler where there is local memory.
    DisassemblerIfStack,
    /// By reading it ourselves, unless that has been wrong before.
    OwnReader,
    /// For the values that ptxas spills, by the source lines that the PTX gives its instructions.
    Spills,
}
