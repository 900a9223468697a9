//! Values with one definition: what is written once can be put elsewhere, and be back for each read.

use crate::analysis::{Dominators, Occurrence, Occurrences};
use crate::function::VReg;

/// The one definition of a register, and its reads in the order of the code.
pub(crate) fn definition_and_reads(occurrences: &Occurrences, reg: VReg) -> Option<(Occurrence, Vec<Occurrence>)> {
    let definition = *occurrences.only_definition(reg)?;
    Some((definition, occurrences.of(reg).iter().filter(|occurrence| !occurrence.is_def()).copied().collect()))
}

/// Whether a definition has run whenever a read does.
pub(crate) fn dominates(dominators: &Dominators, definition: &Occurrence, read: &Occurrence) -> bool {
    match read.block == definition.block {
        true => read.inst > definition.inst,
        false => dominators.strictly_dominates(definition.block, read.block),
    }
}
