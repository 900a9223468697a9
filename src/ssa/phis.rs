//! The PHIs of a function, their readers, and their inputs.

use super::registers::Register;
use crate::function::{Block, Function, Inst, Operand, Role, VReg, Value};
use crate::index::IndexVec;

/// An input of a PHI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Input {
    /// Index of the operand.
    pub(super) operand: u32,
    /// Predecessor from which the input comes.
    pub(super) from: Block,
    /// The register that is read; `None` if the value is undefined or the operand is no virtual register.
    pub(super) reg: Option<VReg>,
}

/// A PHI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phi {
    pub(super) inst: Inst,
    pub(super) block: Block,
    /// The register that the PHI defines.
    pub(super) result: VReg,
}

impl Phi {
    /// Returns the inputs of the PHI. If a predecessor ends with a switch, LLVM lists it once for each edge, with the
    /// same register.
    pub(super) fn inputs(self, function: &Function) -> impl Iterator<Item = Input> {
        let pairs = function.operands(self.inst)[1..].chunks_exact(2);
        pairs.enumerate().filter_map(|(number, pair)| match pair[1].value {
            Value::Block(from) => Some(Input { operand: 2 * number as u32 + 1, from, reg: pair[0].use_reg() }),
            _ => None,
        })
    }
}

/// Returns the PHIs of a function, in layout order.
pub(super) fn all(function: &Function) -> Vec<Phi> {
    let mut all = Vec::new();
    for block in function.blocks() {
        for inst in function.block_insts(block).take_while(|&inst| function.role(inst) == Role::Phi) {
            if let Some(result) = function.operands(inst).first().and_then(Operand::def) {
                all.push(Phi { inst, block, result });
            }
        }
    }
    all
}

/// The first instruction after the PHIs of a block. Callers visit blocks one after the other, so only the last result
/// is stored.
#[derive(Debug, Default)]
pub(super) struct EndsOfPhis {
    last: Option<(Block, Option<Inst>)>,
}

impl EndsOfPhis {
    /// Returns the first instruction of a block that is no PHI. O(PHIs of the block), or O(1) if the same block is
    /// queried again. Adds the number of visited instructions to `steps`.
    pub(super) fn of(&mut self, function: &Function, block: Block, steps: &mut u64) -> Option<Inst> {
        if let Some((_, end)) = self.last.filter(|&(last, _)| last == block) {
            return end;
        }
        let mut insts = function.block_insts(block);
        let all = insts.len();
        let end = insts.by_ref().find(|&inst| function.role(inst) != Role::Phi);
        *steps += (all - insts.len()) as u64;
        self.last = Some((block, end));
        end
    }
}

/// PHIs in layout order, divided into live and dead ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Phis {
    /// PHIs whose values reach an instruction other than a PHI.
    pub(super) live: Vec<Phi>,
    /// PHIs whose values reach only PHIs, or nothing.
    pub(super) dead: Vec<Phi>,
}

impl Phis {
    /// Divides PHIs by whether their values reach an instruction other than a PHI. O(registers + inputs).
    pub(super) fn new(function: &Function, all: Vec<Phi>, registers: &IndexVec<VReg, Register>) -> Self {
        let mut definition: IndexVec<VReg, Option<Phi>> = IndexVec::filled(None, function.num_regs());
        for &phi in &all {
            definition[phi.result] = Some(phi);
        }
        let mut is_read = IndexVec::filled(false, function.num_regs());
        let mut worklist: Vec<VReg> = all.iter().map(|phi| phi.result).collect();
        worklist.retain(|&reg| registers[reg].is_read_by_code);
        while let Some(reg) = worklist.pop() {
            if !std::mem::replace(&mut is_read[reg], true)
                && let Some(phi) = definition[reg]
            {
                worklist.extend(phi.inputs(function).filter_map(|input| input.reg));
            }
        }
        let (live, dead) = all.into_iter().partition(|phi| is_read[phi.result]);
        Self { live, dead }
    }
}
