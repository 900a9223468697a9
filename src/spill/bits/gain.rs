//! Instructions that [bits](super) save, compared with the way in which ptxas stores the predicates that exceed a
//! thread's seven.
//!
//! ptxas 13.0.88 stores each additional predicate in a general register. `P2R` moves it there after each definition,
//! `ISETP` restores it before a read, and a constant takes a `PLOP3` before the `P2R`. A bit takes `SEL` and `LOP3`
//! after a definition, and `LOP3` before a read. A definition by a comparison therefore costs one instruction more as a
//! bit, and a read costs the same. Constants make the difference: for bits, ptxas merges all consecutive constants into
//! one `LOP3`, however many bits they set or clear. If a block has no more constants than a thread has predicates, bits
//! save nothing: ptxas turns the branches around the constants into guards.

use std::iter::Sum;
use std::ops::Add;

use super::Facts;
use crate::analysis::Occurrence;
use crate::function::{Inst, Operand, Role, VReg, Value};
use crate::target::machine::PREDICATES;

/// Instructions in which ptxas sets a predicate to a constant, if the block sets more constants than a thread has
/// predicates.
const OF_A_CONSTANT: f64 = 2.0;

/// Instructions in which ptxas sets a predicate to a constant, if the block sets few constants: mostly, the branch
/// around the constants becomes the guard of a comparison.
const OF_A_CONSTANT_OF_FEW: f64 = 1.0;

/// Additional instructions for a comparison whose result becomes a bit, compared with ptxas's own way.
const OF_A_COMPARISON: f64 = 1.0;

/// Instructions that bits save; negative if bits take more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gain {
    /// Static count.
    instructions: f64,
    /// Weighted by block frequency.
    executed: f64,
}

impl Gain {
    /// Whether the code gets shorter and does not execute more instructions.
    pub(super) fn pays(self) -> bool {
        self.instructions > 0.0 && self.executed >= 0.0
    }
}

impl Add for Gain {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { instructions: self.instructions + other.instructions, executed: self.executed + other.executed }
    }
}

impl Sum for Gain {
    fn sum<I: Iterator<Item = Self>>(gains: I) -> Self {
        gains.fold(Self::default(), Self::add)
    }
}

/// How an instruction accesses a predicate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Constant(bool),
    Definition,
    Read,
}

/// Computes the gain of each predicate if all of the predicates become bits of a word. O(n log n) in their accesses.
pub(super) fn gains(facts: &Facts<'_>, regs: &[VReg]) -> Vec<Gain> {
    let mut gains = vec![Gain::default(); regs.len()];
    let of = |&(number, reg): &(usize, VReg)| {
        let accesses = facts.occurrences.of(reg).iter().filter(|access| access.is_def() || access.is_use());
        accesses.map(move |access| (access.inst, number, kind(facts, access))).collect::<Vec<_>>()
    };
    let numbered = regs.iter().copied().enumerate();
    let mut accesses: Vec<(Inst, usize, Access)> = numbered.flat_map(|numbered| of(&numbered)).collect();
    accesses.sort_by_key(|&(inst, number, _)| (inst, number));
    let block = |inst| facts.function.block_of(inst);
    let is_row = |one: &(Inst, usize, Access), other: &(Inst, usize, Access)| {
        matches!(one.2, Access::Constant(_)) && one.2 == other.2 && block(one.0) == block(other.0)
    };
    for row in accesses.chunk_by(is_row) {
        let gain = match (row[0].2, row.len()) {
            (Access::Read, _) => continue,
            (Access::Definition, _) => -OF_A_COMPARISON,
            (Access::Constant(_), constants) if constants > PREDICATES as usize => {
                OF_A_CONSTANT - 1.0 / constants as f64
            }
            (Access::Constant(_), _) => OF_A_CONSTANT_OF_FEW - 1.0,
        };
        for &(inst, number, _) in row {
            let executed = gain * facts.frequencies[block(inst)];
            gains[number] = gains[number] + Gain { instructions: gain, executed };
        }
    }
    gains
}

fn kind(facts: &Facts<'_>, access: &Occurrence) -> Access {
    let function = facts.function;
    match (access.is_def(), function.role(access.inst), function.operands(access.inst)) {
        (false, ..) => Access::Read,
        (true, Role::Constant, &[_, Operand { value: Value::Immediate(value), .. }]) => Access::Constant(value != 0),
        _ => Access::Definition,
    }
}
