//! The verifier of stores and reloads: finds and explains errors in the slots of an edited function.
//!
//! The verifier shares no code with the symbolic checker, and proves less. It does not prove what a function computes.
//! It proves that each slot holds the value that its reloads need. Therefore its findings contain the store, the
//! reload, the slot and a remedy.
//!
//! In the order of the files:
//! * [`finding`]: the findings, with the place and the remedy;
//! * [`layout`]: the positions of slots and the widths of accesses, read from the edits alone;
//! * [`access`]: the stores and reloads of the edited function, which must be outside call sequences, and the original
//!   register of each reload;
//! * [`contents`]: the possible contents of each slot at each block's entry, computed forwards over all paths;
//!   [`undefined`]: the registers that are undefined on some path;
//! * [`unread`]: stores to a slot that no path reads afterwards, computed backwards.
//!
//! # Contents
//! The content of a slot is a set. It contains *unwritten*, if some path has no store, and the values that the slot may
//! hold. A value is represented by the register that was stored. A value is *old* after an instruction of the view has
//! written that register again. Each element of the set has the registers that may be defined while the slot holds it.
//! The meet is the union. If there are more than four values, only four are kept. Four are sufficient, because at least
//! three of them are not the needed value. The original register of a reload is the register that its readers read
//! before the edits. A reload is correct if its slot holds that register on all paths, and the value is not old. While
//! the original register is undefined, any content is correct. This applies only to registers that some path reads
//! without a definition; all other registers count as always defined. In a device function, the caller may have defined
//! the register. O(instructions + edges · slots): a set changes at most five times, plus once for each register.
//!
//! # Limits
//! The symbolic checker covers the code between a reload and its readers. A store of a copy under another register's
//! name is refused, although the symbolic checker may prove it. Edits store and reload without a predicate. This is
//! correct for a PTX instruction under a predicate: the instruction reads the old value of its register, so the store
//! after it stores the old or the new value, whichever the register holds.

mod access;
mod contents;
mod finding;
mod layout;
#[cfg(test)]
mod tests;
mod undefined;
mod unread;

pub use finding::{Finding, FindingKind};

use crate::function::{EditList, Function};
use access::Accesses;

/// Checks all stores and reloads that edits insert. Findings that are [errors](FindingKind::is_error) come first.
/// Returns no findings if the edits cannot be [applied](EditList::apply) for reasons other than their slots.
pub fn verify(before: &Function, edits: &EditList) -> Vec<Finding> {
    let mut findings = layout::check(before, edits);
    if findings.is_empty()
        && let Ok(applied) = edits.apply(before)
    {
        let accesses = Accesses::new(before, edits, &applied);
        if !accesses.is_empty() {
            accesses.check_call_sequences(&mut findings);
            contents::check(&accesses, &mut findings);
            unread::check(&accesses, &mut findings);
        }
    }
    findings.sort_by_key(|finding| !finding.kind.is_error());
    findings
}

/// Returns the findings that are errors.
pub fn errors(before: &Function, edits: &EditList) -> Vec<Finding> {
    let mut findings = verify(before, edits);
    findings.retain(|finding| finding.kind.is_error());
    findings
}
