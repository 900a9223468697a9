//! The rules of a valid view.
//!
//! They are the rules on which passes rely, and they are no stricter than LLVM's machine verifier. Unreachable blocks,
//! irreducible loops, blocks without a terminator, empty blocks, reads without a definition and a function without
//! blocks are valid.

#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::ops::Range;

use super::{Block, Effects, Function, Inst, LaunchBounds, Operand, OperandFlags, Role, Value};
use crate::error::Error;
use crate::index::{EntityIndex, IndexVec};

/// A violated rule of a view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct ValidationError {
    /// The block, instruction or register.
    pub place: String,
    /// The rule.
    pub reason: String,
}

impl From<ValidationError> for Error {
    fn from(error: ValidationError) -> Self {
        Self::view(error.to_string())
    }
}

impl Function {
    /// Checks every rule. O(size), plus the sorting of each block's successors.
    pub fn validate(&self) -> Result<(), ValidationError> {
        // Later checks rely on the ranges and ids that earlier checks have validated.
        self.validate_tables()?;
        self.validate_kernel()?;
        self.validate_slots()?;
        for block in self.blocks() {
            self.validate_block(block)?;
        }
        for inst in self.insts() {
            self.validate_operands(inst)?;
        }
        let (predecessors, reachable) = (predecessors(self), reachable(self));
        let (mut neighbours, mut named) = (BlockSet::new(self), BlockSet::new(self));
        for block in self.blocks() {
            neighbours.reset(self.succs(block));
            self.validate_order(block, &neighbours)?;
            neighbours.reset(&predecessors[block]);
            for phi in self.block_insts(block).take_while(|&inst| self.role(inst) == Role::Phi) {
                named.reset(&[]);
                self.validate_phi(phi, &neighbours, &mut named)?;
                let missing = |from: &&Block| reachable.contains(**from) && !named.contains(**from);
                if let Some(from) = predecessors[block].iter().find(missing) {
                    return fail(phi, format!("it has no input from the predecessor {from}"));
                }
            }
        }
        Ok(())
    }

    /// Checks the offset tables: ranges are contiguous and end where the data ends.
    fn validate_tables(&self) -> Result<(), ValidationError> {
        let insts = self.num_insts();
        if self.inst_effects.len() != insts || self.inst_space.len() != insts || self.inst_line.len() != insts {
            return fail("function", "its instruction tables differ in length");
        }
        let starts = &self.operand_start;
        if starts.len() != insts + 1 || starts.first() != Some(&0) || !starts.is_sorted() {
            return fail("function", "the operands of its instructions are not contiguous");
        }
        if starts.last().map(|&end| end as usize) != Some(self.operands.len()) {
            return fail("function", "its last operands do not belong to an instruction");
        }
        covers(self.blocks.iter().map(|block| &block.insts), insts, "instructions")?;
        covers(self.blocks.iter().map(|block| &block.succs), self.succs.len(), "successors")?;
        match self.inst_opcode.iter_enumerated().find(|(_, opcode)| opcode.index() >= self.opcodes.len()) {
            Some((inst, opcode)) => fail(inst, format!("{opcode} is not in the function's table")),
            None => Ok(()),
        }
    }

    fn validate_kernel(&self) -> Result<(), ValidationError> {
        let bounds = self.kernel.unwrap_or_default();
        let LaunchBounds { max_threads, required_threads, min_blocks, max_registers } = bounds;
        match [max_threads, required_threads, min_blocks, max_registers].contains(&Some(0)) {
            true => fail("function", "one of its launch bounds is 0"),
            false => Ok(()),
        }
    }

    fn validate_slots(&self) -> Result<(), ValidationError> {
        match self.slots.iter_enumerated().find(|(_, slot)| !slot.align.is_power_of_two()) {
            Some((slot, data)) => fail(slot, format!("its alignment {} is not a power of two", data.align)),
            None => Ok(()),
        }
    }

    fn validate_block(&self, block: Block) -> Result<(), ValidationError> {
        let frequency = self.frequency(block);
        if !frequency.is_finite() || frequency < 0.0 {
            return fail(block, format!("its frequency {frequency} is not a finite number that is 0 or more"));
        }
        let mut succs = self.succs(block).to_vec();
        succs.sort_unstable();
        if let Some(unknown) = succs.last().filter(|succ| succ.index() >= self.num_blocks()) {
            return fail(block, format!("its successor {unknown} does not exist"));
        }
        match succs.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => fail(block, format!("its successor {} occurs twice", pair[0])),
            None => Ok(()),
        }
    }

    /// Checks that PHIs come first and terminators last, and that a terminator's targets are successors.
    fn validate_order(&self, block: Block, succs: &BlockSet) -> Result<(), ValidationError> {
        let (mut phis_end, mut terminator) = (false, None);
        for inst in self.block_insts(block) {
            let role = self.role(inst);
            if role == Role::Phi && phis_end {
                return fail(inst, "a PHI follows another instruction");
            }
            phis_end |= role != Role::Phi;
            if self.effects(inst).contains(Effects::TERMINATOR) {
                terminator = Some(inst);
                let mut targets = self.operands(inst).iter().filter_map(|operand| match operand.value {
                    Value::Block(target) => Some(target),
                    _ => None,
                });
                if let Some(target) = targets.find(|&target| !succs.contains(target)) {
                    return fail(inst, format!("it goes to {target}, which is not a successor of {block}"));
                }
            } else if let Some(terminator) = terminator.filter(|_| role != Role::Debug) {
                return fail(inst, format!("it follows the terminator {terminator}"));
            }
        }
        Ok(())
    }

    fn validate_operands(&self, inst: Inst) -> Result<(), ValidationError> {
        if let Role::Extract { index, parts } = self.role(inst)
            && index >= parts
        {
            return fail(inst, format!("it extracts part {index} of {parts}"));
        }
        let operands = self.operands(inst);
        for (index, operand) in operands.iter().enumerate() {
            let broken = self.broken_value(operand).or_else(|| broken_flags(operand).map(str::to_owned));
            if let Some(reason) = broken.or_else(|| broken_tie(operands, index)) {
                return fail(inst, format!("operand {index}: {reason}"));
            }
        }
        Ok(())
    }

    fn broken_value(&self, operand: &Operand) -> Option<String> {
        let is_known = match operand.value {
            Value::Reg(reg) => reg.index() < self.num_regs(),
            Value::Symbol(symbol) => symbol.index() < self.symbols.len(),
            Value::Block(block) => block.index() < self.num_blocks(),
            Value::Slot(slot) => slot.index() < self.num_slots(),
            Value::Physical(_) | Value::NoReg | Value::Immediate(_) | Value::Float(_) => true,
        };
        (!is_known).then(|| format!("{:?} does not exist", operand.value))
    }

    /// Checks that a PHI defines one register and has at most one input for each predecessor. After a switch, a
    /// predecessor may occur once for each edge. The predecessors of the inputs are added to `named`.
    fn validate_phi(&self, phi: Inst, predecessors: &BlockSet, named: &mut BlockSet) -> Result<(), ValidationError> {
        let [def, inputs @ ..] = self.operands(phi) else { return fail(phi, "a PHI without a definition") };
        if def.def().is_none() || !inputs.len().is_multiple_of(2) {
            return fail(phi, "a PHI must be a defined register, then pairs of a register and a block");
        }
        for (number, input) in inputs.chunks_exact(2).enumerate() {
            let (value, Value::Block(from)) = (input[0], input[1].value) else {
                return fail(phi, "a PHI's inputs must be pairs of a register and a block");
            };
            if value.is_def() || !matches!(value.value, Value::Reg(_) | Value::Physical(_) | Value::NoReg) {
                return fail(phi, "a PHI's input is not a register that is read");
            }
            if !predecessors.contains(from) {
                return fail(phi, format!("its input comes from {from}, which is not a predecessor"));
            }
            let is_other = |earlier: &[Operand]| earlier[1].value == input[1].value && earlier[0].value != value.value;
            if !named.insert(from) && inputs.chunks_exact(2).take(number).any(is_other) {
                return fail(phi, format!("it has two different inputs from {from}"));
            }
        }
        Ok(())
    }
}

/// A set of blocks that is cleared in O(1).
struct BlockSet {
    member_since: IndexVec<Block, u32>,
    now: u32,
}

impl BlockSet {
    fn new(function: &Function) -> Self {
        Self { member_since: IndexVec::filled(0, function.num_blocks()), now: 1 }
    }

    fn reset(&mut self, members: &[Block]) {
        self.now += 1;
        for &block in members {
            self.insert(block);
        }
    }

    /// Adds a block. Returns whether it was not in the set.
    fn insert(&mut self, block: Block) -> bool {
        std::mem::replace(&mut self.member_since[block], self.now) != self.now
    }

    fn contains(&self, block: Block) -> bool {
        self.member_since[block] == self.now
    }
}

/// Returns the predecessors of each block.
fn predecessors(function: &Function) -> IndexVec<Block, Vec<Block>> {
    let mut predecessors = IndexVec::filled(Vec::new(), function.num_blocks());
    for block in function.blocks() {
        for &succ in function.succs(block) {
            predecessors[succ].push(block);
        }
    }
    predecessors
}

/// Returns the blocks that are reachable from the entry.
fn reachable(function: &Function) -> BlockSet {
    let mut reached = BlockSet::new(function);
    let mut worklist = Vec::from_iter(function.blocks().take(1));
    reached.reset(&worklist);
    while let Some(block) = worklist.pop() {
        worklist.extend(function.succs(block).iter().filter(|&&succ| reached.insert(succ)));
    }
    reached
}

fn broken_flags(operand: &Operand) -> Option<&'static str> {
    let flags = operand.flags;
    let is_register = matches!(operand.value, Value::Reg(_) | Value::Physical(_) | Value::NoReg);
    if !is_register && !flags.is_empty() {
        return Some("it has flags, but is not a register");
    }
    if !is_register && operand.tied.is_some() {
        return Some("it is tied, but is not a register");
    }
    if operand.is_def() {
        flags.contains(OperandFlags::KILL).then_some("a definition is marked as the last read")
    } else if flags.intersects(OperandFlags::DEAD | OperandFlags::EARLY_CLOBBER) {
        Some("a read is marked as a dead or early definition")
    } else {
        None
    }
}

/// Returns the violation of a tie. A tie connects a definition and a read. Before two-address lowering, the two may be
/// different registers.
fn broken_tie(operands: &[Operand], index: usize) -> Option<String> {
    let tied = operands[index].tied?;
    let Some(partner) = operands.get(usize::from(tied)) else {
        return Some(format!("it is tied to operand {tied}, which does not exist"));
    };
    if partner.is_def() == operands[index].is_def() {
        return Some(format!("it is tied to operand {tied}, but a tie connects a definition and a read"));
    }
    let returned = partner.tied.is_none_or(|back| usize::from(back) == index);
    (!returned).then(|| format!("it is tied to operand {tied}, which is tied to another"))
}

/// Checks that the ranges are contiguous from 0 to `len`.
fn covers<'a>(ranges: impl Iterator<Item = &'a Range<u32>>, len: usize, what: &str) -> Result<(), ValidationError> {
    let mut at = 0;
    for (index, range) in ranges.enumerate() {
        if range.start != at || range.end < at {
            return fail(Block::new(index), format!("its {what} do not follow those of the previous block"));
        }
        at = range.end;
    }
    if at as usize == len { Ok(()) } else { fail("function", format!("its last {what} do not belong to a block")) }
}

fn fail<T>(place: impl Display, reason: impl Into<String>) -> Result<T, ValidationError> {
    Err(ValidationError { place: place.to_string(), reason: reason.into() })
}
