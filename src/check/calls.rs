//! Checks that call sequences stay whole: what stands between two members stood there before.

use super::error::{CheckError, ErrorKind};
use super::pair::Pair;
use crate::function::{Effects, Function, Inst, Role};

/// Checks every block. The order of the members is checked with all other effects. O(size).
pub(super) fn check(pair: &Pair<'_>, errors: &mut Vec<CheckError>) {
    let view = pair.before.function;
    for block in view.blocks() {
        let mut previous: Option<Inst> = None;
        let members = view.block_insts(block).filter(|&inst| view.effects(inst).contains(Effects::CALL_SEQUENCE));
        for member in members {
            // A deleted copy leaves its neighbours adjacent; a member that has moved away is an error already.
            let Some(after) = pair.before.partner[member] else { continue };
            if let Some(first) = previous.replace(member)
                && !opens_sequence(view, member)
                && let Some(first_after) = pair.before.partner[first]
                && pair.after.block_of[first_after] == block
                && pair.after.block_of[after] == block
            {
                check_between(pair, (first, first_after), (member, after), errors);
            }
        }
    }
}

/// Whether a member opens a call sequence: what is put before it is outside, even where another sequence just ended.
pub(super) fn opens_sequence(view: &Function, member: Inst) -> bool {
    view.opcodes().name(view.opcode(member)) == "Callseq_Start"
}

/// Checks what is between two members that followed one another. Unless instructions outside the sequence were between
/// them, nothing may be now.
fn check_between(pair: &Pair<'_>, first: (Inst, Inst), second: (Inst, Inst), errors: &mut Vec<CheckError>) {
    let view = pair.before.function;
    let is_outside = |inst| !view.effects(inst).contains(Effects::CALL_SEQUENCE) && view.role(inst) != Role::Debug;
    if (first.0.0 + 1..second.0.0).map(Inst).any(is_outside) {
        return;
    }
    for after in (first.1.0 + 1..second.1.0).map(Inst) {
        let before = pair.after.partner[after];
        if before.is_none_or(|before| before < first.0 || before > second.0) {
            let reason = format!("it is put between {} and {}, members of one call sequence", first.0, second.0);
            errors.push(CheckError { before, after: Some(after), ..CheckError::new(ErrorKind::CallSequence, reason) });
        }
    }
}
