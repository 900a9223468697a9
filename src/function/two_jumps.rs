//! Blocks that end in two jumps: a conditional jump, and an unconditional one for the remaining threads.

use super::ptx_opcode::PtxOpcode;
use super::{Block, Effects, Function, Inst, Operand, VReg, Value};

/// A jump under a predicate, directly followed by an unconditional jump at the block's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoJumps {
    /// The conditional jump.
    pub branch: Inst,
    /// The unconditional jump.
    pub jump: Inst,
    /// The predicate.
    pub predicate: VReg,
    /// Whether the conditional jump is taken if the predicate is false.
    pub is_negated: bool,
    /// The target of the conditional jump.
    pub taken: Block,
    /// The target of the unconditional jump.
    pub other: Block,
}

impl TwoJumps {
    /// Returns the two jumps that end a block. `None` if the block ends in another way.
    pub fn of(function: &Function, block: Block) -> Option<Self> {
        let range = function.block_range(block);
        let jump = Inst(range.end.0.checked_sub(1)?);
        let branch = Inst(jump.0.checked_sub(1).filter(|&branch| branch >= range.start.0)?);
        let is_terminator = |inst: Inst| function.effects(inst).contains(Effects::TERMINATOR);
        if !is_terminator(jump) || !is_terminator(branch) || kind(function, jump) != Some(Kind::Jump) {
            return None;
        }
        let Some(Kind::Branch { is_negated }) = kind(function, branch) else { return None };
        let predicate = only(function.operands(branch).iter().filter_map(Operand::read_reg))?;
        Some(Self {
            branch,
            jump,
            predicate,
            is_negated,
            taken: target(function, branch)?,
            other: target(function, jump)?,
        })
    }
}

/// Returns the only target block of a jump.
fn target(function: &Function, inst: Inst) -> Option<Block> {
    only(function.operands(inst).iter().filter_map(|operand| match operand.value {
        Value::Block(block) => Some(block),
        _ => None,
    }))
}

/// Returns the index of the operand that is the target block.
pub(super) fn target_operand(function: &Function, inst: Inst) -> Option<u32> {
    let is_block = |operand: &Operand| matches!(operand.value, Value::Block(_));
    function.operands(inst).iter().position(is_block).map(|number| number as u32)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Jump,
    Branch { is_negated: bool },
}

fn kind(function: &Function, inst: Inst) -> Option<Kind> {
    let name = function.opcodes().name(function.opcode(inst));
    let Some(opcode) = PtxOpcode::of(name) else {
        return match name {
            "GOTO" => Some(Kind::Jump),
            "CBranch" => Some(Kind::Branch { is_negated: false }),
            _ => None,
        };
    };
    match (opcode.mnemonic, opcode.is_guarded) {
        ("bra" | "bra.uni", false) => Some(Kind::Jump),
        ("bra" | "bra.uni", true) => Some(Kind::Branch { is_negated: is_negated(function, inst) }),
        _ => None,
    }
}

/// Whether a PTX instruction executes under the complement of its predicate.
pub(crate) fn is_negated(function: &Function, inst: Inst) -> bool {
    function.operands(inst).iter().any(|operand| match operand.value {
        Value::Symbol(symbol) => function.symbol(symbol) == "!",
        _ => false,
    })
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}
