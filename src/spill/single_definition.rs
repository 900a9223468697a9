//! Values with one definition, which can be stored elsewhere and restored before each read.

use crate::analysis::{Dominators, Occurrence, Occurrences};
use crate::function::VReg;

/// Returns the only definition of a register, and its reads in the order of the code.
pub(crate) fn definition_and_reads(occurrences: &Occurrences, reg: VReg) -> Option<(Occurrence, Vec<Occurrence>)> {
    let definition = *occurrences.only_definition(reg)?;
    Some((definition, occurrences.of(reg).iter().filter(|occurrence| !occurrence.is_def()).copied().collect()))
}

/// Whether a definition dominates a read.
pub(crate) fn dominates(dominators: &Dominators, definition: &Occurrence, read: &Occurrence) -> bool {
    match read.block == definition.block {
        true => read.inst > definition.inst,
        false => dominators.strictly_dominates(definition.block, read.block),
    }
}
