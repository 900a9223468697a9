//! Checks that call sequences stay whole: no new instruction is between two members.

use super::error::{CheckError, ErrorKind};
use super::pair::Pair;
use crate::function::{Effects, Function, Inst, Role};

/// Checks every block. The order of the members is checked together with all other effects. O(size).
pub(super) fn check(pair: &Pair<'_>, errors: &mut Vec<CheckError>) {
    let view = pair.before.function;
    for block in view.blocks() {
        let mut previous: Option<Inst> = None;
        let members = view.block_insts(block).filter(|&inst| view.effects(inst).contains(Effects::CALL_SEQUENCE));
        for member in members {
            // The neighbours of a deleted copy become adjacent. A member in another block is reported elsewhere.
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

/// Whether a member opens a call sequence. Instructions inserted before this member are outside the sequence, even
/// directly after the end of another sequence.
pub(super) fn opens_sequence(view: &Function, member: Inst) -> bool {
    view.opcodes().name(view.opcode(member)) == "Callseq_Start"
}

/// Checks the instructions between two consecutive members. If only members were between them in the view, no other
/// instruction may be between them after the edits.
fn check_between(pair: &Pair<'_>, first: (Inst, Inst), second: (Inst, Inst), errors: &mut Vec<CheckError>) {
    let view = pair.before.function;
    let is_outside = |inst| !view.effects(inst).contains(Effects::CALL_SEQUENCE) && view.role(inst) != Role::Debug;
    if (first.0.0 + 1..second.0.0).map(Inst).any(is_outside) {
        return;
    }
    for after in (first.1.0 + 1..second.1.0).map(Inst) {
        let before = pair.after.partner[after];
        if before.is_none_or(|before| before < first.0 || before > second.0) {
            let reason =
                format!("the instruction is between {} and {}, members of one call sequence", first.0, second.0);
            errors.push(CheckError { before, after: Some(after), ..CheckError::new(ErrorKind::CallSequence, reason) });
        }
    }
}
