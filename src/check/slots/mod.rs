//! The verifier of stores and reloads: what is wrong with the slots of an edited function, in words.
//!
//! It shares no code with the symbolic checker and proves less: not what a function computes, but that each slot holds
//! what its reloads ask for. So its findings name the store, the reload and the slot, and say what to do.
//!
//! In the order of the files:
//! * [`finding`]: what can be found, with the place and the remedy;
//! * [`layout`]: where slots lie and how wide the accesses to them are, read off the edits alone;
//! * [`access`]: the stores and reloads of the edited function, none of which may stand in a call sequence, and the
//!   register that a reload stands for;
//! * [`contents`]: what each slot may hold at each block's entry, over all paths forwards; [`undefined`]: the registers that
//!   some path leaves undefined;
//! * [`unread`]: stores whose slot no path reads, backwards.
//!
//! # Contents
//! A slot's content is a set: *unwritten*, where a path leads there without a store; and the values that it may hold. A value
//! is the register that was stored. It is *old* once an instruction of the view writes that register again. Each comes with
//! the registers that may be defined there. The meet is the union, and of more than four values four are kept: three of them
//! are not the value that is asked for, whichever that is. A reload stands for the register that its readers read before the
//! edits. It is right if its slot holds that register on all paths, not old. Where that register is undefined, whatever the
//! slot has is as good, if some path leads to a read of it without a definition at all. The caller of a device function may
//! have defined it. O(instructions + edges · slots), for a set changes five times at most, and once for each register.
//!
//! # Limits
//! What lies between a reload and its readers is left to the symbolic checker. A store of a copy under another register's
//! name is refused, though the symbolic checker may prove it. Edits store and reload without a guard: an instruction of PTX
//! under a guard reads its register's old value, so that the store behind it stores one of both, as the register has it.

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

/// Checks all stores and reloads that edits make. The findings that are [errors](FindingKind::is_error) come first. There is
/// none where the edits do not [apply](EditList::apply) for another reason than their slots.
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

/// The findings that are errors.
pub fn errors(before: &Function, edits: &EditList) -> Vec<Finding> {
    let mut findings = verify(before, edits);
    findings.retain(|finding| finding.kind.is_error());
    findings
}
