//! The obligations of operands: each operand reads the same value as before the edits.

use super::addresses::Proven;
use super::describe::describe;
use super::equality::{Goal, ObligationId, Prover};
use super::error::{CheckError, ErrorKind};
use super::pair::{Pair, Which};
use super::speculation;
use super::terms::Value;
use super::values::reg_location;
use crate::function::{self, Block, Inst, Operand, Role, VReg};

/// The search stops after this many operands that read another value.
pub(super) const MAX_REPORTED: usize = 100;

/// An operand whose value must be proven.
struct Obligation {
    id: ObligationId,
    before: Inst,
    after: Inst,
    operand: u32,
}

/// Checks the operands of all instructions that are still in their block, and the results of instructions that may
/// fault.
pub(super) fn check(pair: &Pair<'_>, addresses: &Proven, errors: &mut Vec<CheckError>) {
    let mut prover = Prover::new(pair);
    let mut obligations = Vec::new();
    for block in pair.after.function.blocks().filter(|&block| pair.is_reachable(block)) {
        for after in pair.after.function.block_insts(block) {
            if let Some(before) = pair.kept_in_place(Which::After, after) {
                oblige(pair, &mut prover, &mut obligations, addresses, (block, before, after));
            }
        }
    }
    let results = speculation::check(pair, &mut prover, errors);
    prover.run(MAX_REPORTED);
    let failures = obligations.iter().filter_map(|obligation| Some((obligation, prover.failure(obligation.id)?)));
    errors.extend(failures.map(|(obligation, goal)| error(pair, &prover, obligation, goal)));
    errors.extend(speculation::failures(pair, &prover, &results));
}

fn oblige(
    pair: &Pair<'_>,
    prover: &mut Prover<'_>,
    obligations: &mut Vec<Obligation>,
    addresses: &Proven,
    (block, before, after): (Block, Inst, Inst),
) {
    let (old, new) = (pair.before.function.operands(before), pair.after.function.operands(after));
    let is_phi = pair.after.function.role(after) == Role::Phi;
    for (number, operand) in (0..).zip(new) {
        let Some(old_reg) = old[number as usize].use_reg() else { continue };
        if addresses.contains(&(after, number)) {
            continue;
        }
        let goal = if is_phi {
            let Some(from) = new.get(number as usize + 1) else { continue };
            phi_goal(pair, prover, operand, from, old_reg)
        } else {
            let after = match operand.value {
                function::Value::Reg(_) => prover.values(Which::After).read(after, number),
                function::Value::Immediate(value) => prover.literal(pair.before.function.class(old_reg), value),
                // A debug value that was removed.
                _ => continue,
            };
            Some(Goal { block, after, before: prover.values(Which::Before).read(before, number) })
        };
        if let Some(goal) = goal
            && !prover.is_evident(goal)
        {
            obligations.push(Obligation { id: prover.oblige(goal), before, after, operand: number });
        }
    }
}

/// Returns the goal of a PHI's input, which is read at the end of the predecessor. `from` is the next operand, which
/// contains that predecessor. `None` if that predecessor is unreachable.
fn phi_goal(pair: &Pair<'_>, prover: &Prover<'_>, input: &Operand, from: &Operand, old_reg: VReg) -> Option<Goal> {
    let function::Value::Block(pred) = from.value else { return None };
    if !pair.is_reachable(pred) {
        return None;
    }
    let after =
        input.use_reg().map_or(Value::Undefined, |reg| prover.values(Which::After).at_end(pred, reg_location(reg)));
    let before = prover.values(Which::Before).at_end(pred, reg_location(old_reg));
    Some(Goal { block: pred, after, before })
}

fn error(pair: &Pair<'_>, prover: &Prover<'_>, obligation: &Obligation, goal: Goal) -> CheckError {
    let &Obligation { before, after, operand, .. } = obligation;
    let is_debug = pair.before.function.role(before) == Role::Debug;
    let kind = if is_debug { ErrorKind::DebugValue } else { ErrorKind::Operand };
    let reg = |function: &function::Function, inst| function.operands(inst)[operand as usize].reg();
    let reason = format!(
        "in {}, {} before is not provably {} now",
        goal.block,
        describe(prover, Which::Before, goal.before),
        describe(prover, Which::After, goal.after)
    );
    CheckError {
        operand: Some(operand),
        read_before: reg(pair.before.function, before),
        read_after: reg(pair.after.function, after),
        ..CheckError::at(kind, before, Some(after), reason)
    }
}
