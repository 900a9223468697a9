//! Checks that instructions that may fault execute only on paths on which they executed before.
//!
//! A pure instruction that may fault ([`Effects::MAY_FAULT`](crate::function::Effects::MAY_FAULT)) is guarded by a
//! branch, or by an instruction that may end the thread. Wherever the edited function contains the instruction or a
//! clone of it, two conditions must hold:
//! * The view executed the instruction on every path to this place, or executes it later in the same visit of the block
//!   in any case. In another block, the instruction's original block must dominate. In the original block, every
//!   instruction that preceded the instruction and may not return must still precede it.
//! * The instruction reads the same operands. Then its result is the original result of this visit or, in another
//!   block, of the last execution. [`equality`](super::equality) proves this in the same way as operands, with a
//!   location that holds the last result. The proof does not depend on a reader of the result: an address that is not
//!   used may still fault.

use std::collections::BTreeMap;

use super::describe::describe;
use super::equality::{Goal, ObligationId, Prover};
use super::error::{CheckError, ErrorKind};
use super::pair::{Pair, Which};
use super::values::first_definition;
use crate::function::{Block, Inst};
use crate::index::IndexVec;

/// A result that must be proven.
pub(super) struct SameResult {
    id: ObligationId,
    before: Inst,
    after: Inst,
}

/// Checks the positions of instructions that may fault, and adds obligations for their results. O(size), plus O(blocks)
/// for each block that such an instruction leaves.
pub(super) fn check(pair: &Pair<'_>, prover: &mut Prover<'_>, errors: &mut Vec<CheckError>) -> Vec<SameResult> {
    let copies: Vec<(Inst, Inst)> = pair
        .after
        .function
        .insts()
        .filter(|&after| pair.is_reachable(pair.after.block_of[after]))
        .filter_map(|after| Some((pair.guarded_original(after)?, after)))
        .collect();
    if copies.is_empty() {
        return Vec::new();
    }
    let guards = guards(pair);
    let mut around = BTreeMap::new();
    let mut results = Vec::new();
    for (before, after) in copies {
        let home = pair.before.block_of[before];
        let place = pair.after.block_of[after];
        if home == place {
            if let Some(guard) = guards[before].filter(|&guard| guard > after) {
                errors.push(overtakes(pair, before, after, guard));
            }
            if pair.after.partner[after].is_some() {
                // The operands have obligations of their own.
                continue;
            }
        } else if around.entry(home).or_insert_with(|| pair.reachable_around(home))[place] {
            errors.push(escapes(pair, before, after, home, place));
            continue;
        }
        match goal(pair, prover, before, after, home == place) {
            Some(goal) if prover.is_evident(goal) => {}
            Some(goal) => results.push(SameResult { id: prover.oblige(goal), before, after }),
            None => {
                let reason = format!("{} may fault, and has no result that the checker can follow", name(pair, before));
                errors.push(CheckError::at(ErrorKind::Speculated, before, Some(after), reason));
            }
        }
    }
    results
}

/// Returns the errors of results that could not be proven.
pub(super) fn failures(pair: &Pair<'_>, prover: &Prover<'_>, results: &[SameResult]) -> Vec<CheckError> {
    let failed = results.iter().filter_map(|result| Some((result, prover.failure(result.id)?)));
    let error = |(result, goal): (&SameResult, Goal)| {
        let reason = format!(
            "{} may fault, and in {}, {} is not provably {} now",
            name(pair, result.before),
            goal.block,
            describe(prover, Which::Before, goal.before),
            describe(prover, Which::After, goal.after)
        );
        CheckError::at(ErrorKind::Speculated, result.before, Some(result.after), reason)
    };
    failed.map(error).collect()
}

/// Returns the goal that pairs the result of a copy with the original result. `None` if the instruction has no result.
fn goal(pair: &Pair<'_>, prover: &Prover<'_>, before: Inst, after: Inst, is_at_home: bool) -> Option<Goal> {
    let old = first_definition(pair.before.function, before)?;
    let new = first_definition(pair.after.function, after)?;
    let values = prover.values(Which::Before);
    let computed = if is_at_home { values.result(before, old) } else { values.carried(before)? };
    let result = prover.values(Which::After).result(after, new);
    Some(Goal { block: pair.after.block_of[after], after: result, before: computed })
}

/// Returns the last guard of each instruction of the view. Guards are the instructions that preceded it in its block
/// and may not return; the last is determined by the positions in the edited function.
fn guards(pair: &Pair<'_>) -> IndexVec<Inst, Option<Inst>> {
    let view = pair.before.function;
    let mut guards = IndexVec::filled(None, view.num_insts());
    for block in view.blocks() {
        let mut last = None;
        for inst in view.block_insts(block) {
            guards[inst] = last;
            // A deleted instruction, or an instruction in another block, is reported elsewhere.
            let stays = pair.before.partner[inst].filter(|&after| pair.after.block_of[after] == block);
            if view.effects(inst).may_not_return() {
                last = last.max(stays);
            }
        }
    }
    guards
}

fn name<'a>(pair: &Pair<'a>, inst: Inst) -> &'a str {
    let view = pair.before.function;
    view.opcodes().name(view.opcode(inst))
}

fn overtakes(pair: &Pair<'_>, before: Inst, after: Inst, guard: Inst) -> CheckError {
    let (name, guard_name) =
        (name(pair, before), pair.after.function.opcodes().name(pair.after.function.opcode(guard)));
    let reason = format!("{name} may fault and must come after {guard} {guard_name}, which may not return");
    CheckError::at(ErrorKind::Speculated, before, Some(after), reason)
}

fn escapes(pair: &Pair<'_>, before: Inst, after: Inst, home: Block, place: Block) -> CheckError {
    let name = name(pair, before);
    let reason = format!("{name} may fault and is in {place}, which a path reaches without {home}");
    CheckError::at(ErrorKind::Speculated, before, Some(after), reason)
}
