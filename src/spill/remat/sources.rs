//! What a definition reads, and where a clone of it would read the same.

use crate::analysis::{LiveRanges, Point};
use crate::function::{Function, Inst, Operand, VReg};

/// The registers that an instruction reads.
pub(crate) fn sources(function: &Function, inst: Inst) -> impl Iterator<Item = VReg> {
    function.operands(inst).iter().filter(|operand| !operand.is_def()).filter_map(Operand::reg)
}

/// Whether all that a definition reads still holds the same where a clone would stand, and is live there anyway.
pub(crate) fn has_sources(function: &Function, live: &LiveRanges, definition: Inst, at: Inst) -> bool {
    sources(function, definition).all(|source| {
        let value = |inst| live.value_at(source, Point::early(inst));
        value(at).is_some() && value(at) == value(definition)
    })
}
