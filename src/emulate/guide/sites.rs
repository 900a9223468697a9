//! Positions where coverage can grow: branches that went one way only, and comparisons for which a relation has not
//! occurred: both sides equal, the left side just above, or just below.

use super::launch_coverage::LaunchCoverage;
use crate::emulate::program::{Callee, Function, Inst, Op, Program, Row};
use crate::emulate::ways::{ABOVE, AT, BELOW, FAILED, HELD, compares};

/// The most instructions that are counted after a branch.
const MOST_BEHIND: usize = 200;

/// An outcome that has not occurred in any launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// A predicate has this value.
    Predicate(Row, bool),
    /// The sides of a comparison have this relation.
    Relation(u8),
}

/// A predicate or a comparison with an outcome that has not occurred.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) function: usize,
    pub(super) inst: u32,
    pub(super) aim: Aim,
    /// The rank: first branches to statements that have not run, then branches with all targets run, then comparisons,
    /// then ends.
    pub(super) rank: u32,
    /// The number of instructions after it that have not run.
    pub(super) behind: usize,
}

impl Site {
    /// Returns the key that identifies the site.
    pub(super) fn key(&self) -> (usize, u32, u8) {
        let bits = match self.aim {
            Aim::Predicate(..) => 0,
            Aim::Relation(bits) => bits,
        };
        (self.function, self.inst, bits)
    }
}

/// Returns all sites: predicates that had one value only, and comparisons that lack a relation.
pub(super) fn sites(program: &Program, coverage: &LaunchCoverage) -> Vec<Site> {
    let mut sites = Vec::new();
    for (number, function) in program.functions.iter().enumerate() {
        let (Some(covered), Some(ways)) = (coverage.covered.get(number), coverage.ways.get(number)) else { continue };
        for (at, inst) in function.insts.iter().enumerate() {
            if let Op::Pure { pure, .. } = &inst.op
                && covered[at]
                && compares(pure)
            {
                let lacking = [AT, ABOVE, BELOW].into_iter().filter(|bit| ways[at] & bit == 0);
                let site =
                    |bit| Site { function: number, inst: at as u32, aim: Aim::Relation(bit), rank: 2, behind: 0 };
                sites.extend(lacking.map(site));
            }
            let lacking = match ways[at] & (HELD | FAILED) {
                HELD => FAILED,
                FAILED => HELD,
                _ => continue,
            };
            let Some((row, is_negated)) = predicate(inst) else { continue };
            let target = match inst.op {
                Op::Branch { target } if lacking == HELD => target as usize,
                Op::Branch { .. } | Op::Exit | Op::Return if lacking == FAILED => at + 1,
                _ => at,
            };
            let is_end = matches!(inst.op, Op::Exit | Op::Return | Op::Trap) && lacking == HELD;
            if ends_in_a_trap(function, target) {
                continue;
            }
            let behind = behind(function, covered, target);
            let is_back = target < at;
            let rank = if is_end { 3 } else { u32::from(behind == 0 && !is_back) };
            let wanted = (lacking == HELD) != is_negated;
            sites.push(Site { function: number, inst: at as u32, aim: Aim::Predicate(row, wanted), rank, behind });
        }
    }
    sites
}

/// Returns the predicate that guards an instruction, or by which it selects.
fn predicate(inst: &Inst) -> Option<(Row, bool)> {
    match (inst.guard, &inst.op) {
        (Some(guard), _) => Some(guard),
        (None, Op::Select { by, .. }) => Some((*by, false)),
        _ => None,
    }
}

/// Whether the code after an instruction only traps, or calls a function without a body, such as `__assertfail`.
fn ends_in_a_trap(function: &Function, from: usize) -> bool {
    for inst in function.insts.iter().skip(from).take(40) {
        match &inst.op {
            Op::Trap | Op::Unknown(_) => return true,
            Op::Call(call) if matches!(&call.callee, Callee::Missing(name) if name != "vprintf") => return true,
            Op::Branch { .. } | Op::IndexedBranch { .. } | Op::Return | Op::Exit => return false,
            _ => {}
        }
    }
    false
}

/// Counts the instructions that have not run and are reachable through such instructions.
fn behind(function: &Function, covered: &[bool], from: usize) -> usize {
    let mut found: Vec<usize> = Vec::new();
    let mut open = vec![from];
    let mut is_known = vec![false; function.insts.len()];
    while let Some(mut at) = open.pop() {
        while at < function.insts.len() && !covered[at] && !is_known[at] && found.len() < MOST_BEHIND {
            is_known[at] = true;
            found.push(at);
            let inst = &function.insts[at];
            match &inst.op {
                Op::Branch { target } => open.push(*target as usize),
                Op::IndexedBranch { targets, .. } => open.extend(targets.iter().map(|&target| target as usize)),
                _ => {}
            }
            let is_end =
                matches!(inst.op, Op::Branch { .. } | Op::IndexedBranch { .. } | Op::Return | Op::Exit | Op::Trap);
            if is_end && inst.guard.is_none() {
                break;
            }
            at += 1;
        }
    }
    found.len()
}
