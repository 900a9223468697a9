//! Draws valid functions from bytes.
//!
//! Every block may read the registers of its dominators, and the entry first defines a register of each class, so every
//! read has a definition. A lowered function also has variables, registers with many definitions;
//! [`lower`](super::lower) then takes it out of SSA.

use arbitrary::{Result, Unstructured};

use super::draft::{Draft, DraftBlock, DraftInst, DraftPhi, SLOTS, SYMBOLS, opcode};
use super::graph::{by_dominance, predecessors, successors};
use super::lower::lower;
use super::opcodes::{ARITHMETIC, CALL, CONSTANTS, COPIES, EFFECTFUL, PARTS, Template, Use};
use crate::function::{
    Block, Effects, Function, MemorySpace, Operand, OperandFlags, RegClass, Slot, Symbol, VReg, Value,
};
use crate::index::{EntityIndex, IndexVec};

/// Size and properties of a generated function.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most blocks.
    pub max_blocks: usize,
    /// The most draws of instructions for one block; each draw adds one to a handful.
    pub max_insts: usize,
    /// The most variables of each class in a lowered function.
    pub max_variables: usize,
    /// Whether variables have no initial value, so that some paths read an undefined one.
    pub undefined_paths: bool,
    /// Whether most instructions have effects.
    pub effects: bool,
    /// The number of values that are loaded at the start and read before each return.
    pub held: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_blocks: 10, max_insts: 10, max_variables: 2, undefined_paths: false, effects: false, held: 0 }
    }
}

/// Draws a function in SSA form, with PHIs: every register has one definition, which dominates its reads.
pub fn ssa_function(u: &mut Unstructured<'_>, options: &Options) -> Result<Function> {
    Ok(draft(u, &Options { max_variables: 0, ..*options })?.finish())
}

/// Draws a function as PHI elimination and two-address lowering leave it: no PHIs, registers with many definitions,
/// copies everywhere, and tied operands in the same register.
pub fn lowered_function(u: &mut Unstructured<'_>, options: &Options) -> Result<Function> {
    let mut draft = draft(u, options)?;
    lower(&mut draft);
    Ok(draft.finish())
}

/// Draws a function with PHIs and, with some options, variables.
pub(super) fn draft(u: &mut Unstructured<'_>, options: &Options) -> Result<Draft> {
    let succs = successors(u, options.max_blocks)?;
    let blocks = succs.iter().map(|succs| DraftBlock { succs: succs.clone(), ..DraftBlock::default() }).collect();
    let draft = Draft { blocks, classes: IndexVec::new() };
    let mut generator =
        Generator { u, draft, readable: Vec::new(), variables: Vec::new(), effects: options.effects, held: Vec::new() };
    let predecessors = predecessors(&succs);

    let mut at_end: IndexVec<Block, Vec<VReg>> = IndexVec::filled(Vec::new(), succs.len());
    for (block, dominator) in by_dominance(&succs) {
        generator.readable = dominator.map(|dominator| at_end[dominator].clone()).unwrap_or_default();
        if dominator.is_none() {
            generator.entry(block, options)?;
        }
        generator.draft.blocks[block].depth = generator.u.int_in_range(0..=3)?;
        let is_empty = generator.u.int_in_range(0..=3u8)? == 3;
        if !is_empty && !predecessors[block].is_empty() {
            generator.phis(block)?;
        }
        for _ in 0..if is_empty { 0 } else { generator.u.int_in_range(0..=options.max_insts)? } {
            generator.some_insts(block)?;
        }
        generator.observe(block, is_empty)?;
        generator.terminators(block)?;
        at_end[block] = std::mem::take(&mut generator.readable);
    }
    for block in succs.ids() {
        for &from in &predecessors[block] {
            generator.readable.clone_from(&at_end[from]);
            generator.phi_inputs(block, from)?;
        }
    }
    Ok(generator.draft)
}

struct Generator<'a, 'u> {
    u: &'a mut Unstructured<'u>,
    draft: Draft,
    /// The registers defined at this point, the latest last.
    readable: Vec<VReg>,
    /// Registers with many definitions.
    variables: Vec<VReg>,
    /// Whether most instructions have effects.
    effects: bool,
    /// Values that are loaded at the start and read before each return.
    held: Vec<VReg>,
}

impl Generator<'_, '_> {
    fn push(&mut self, block: Block, inst: DraftInst) {
        self.draft.blocks[block].body.push(inst);
    }

    /// Adds an instruction of `templates`, with registers that can be read here.
    fn template(&mut self, block: Block, templates: &[Template]) -> Result<()> {
        let template = &templates[self.u.choose_index(templates.len())?];
        let mut uses = Vec::new();
        for &operand in template.uses {
            uses.push(match operand {
                Use::Reg(class) => Operand { flags: self.read_flags()?, ..Operand::read(self.read(class)?) },
                Use::Immediate => Operand::immediate(i64::from(self.u.int_in_range(-99..=99i8)?)),
                Use::Fixed(value) => Operand::immediate(value),
                Use::Float => Operand::plain(Value::Float(self.u.int_in_range(0..=3u64)? << 22)),
                Use::Symbol => Operand::plain(Value::Symbol(Symbol::new(self.u.choose_index(SYMBOLS)?))),
                Use::Slot => Operand::plain(Value::Slot(Slot::new(self.u.choose_index(SLOTS)?))),
            });
        }
        let mut operands: Vec<Operand> = Vec::new();
        for &class in template.defs {
            let reg = self.define(class)?;
            // An instruction defines a register once.
            let is_new = operands.iter().all(|operand| operand.reg() != Some(reg));
            operands.push(Operand::write(if is_new { reg } else { self.fresh(class) }));
        }
        operands.append(&mut uses);
        let line = u32::from(self.u.int_in_range(0..=9u8)?);
        let (effects, space) = (template.effects, template.space);
        self.push(block, DraftInst { opcode: opcode(template.name), operands, effects, space, line });
        Ok(())
    }

    fn read_flags(&mut self) -> Result<OperandFlags> {
        Ok(match self.u.int_in_range(0..=127u8)? {
            126 => OperandFlags::UNDEF,
            // A hint on which no pass may rely.
            120..=125 => OperandFlags::KILL,
            _ => OperandFlags::empty(),
        })
    }

    /// Draws a readable register of the class, often a recent one.
    fn read(&mut self, class: RegClass) -> Result<VReg> {
        let of_class = |&&reg: &&VReg| self.draft.classes[reg] == class;
        let candidates: Vec<VReg> = self.readable.iter().rev().filter(of_class).copied().collect();
        let recent = if self.u.arbitrary()? { candidates.len() } else { candidates.len().min(4) };
        Ok(candidates[self.u.choose_index(recent)?])
    }

    /// Draws a register to define: a new one, or a variable.
    fn define(&mut self, class: RegClass) -> Result<VReg> {
        let of_class = |&&reg: &&VReg| self.draft.classes[reg] == class;
        let variables: Vec<VReg> = self.variables.iter().filter(of_class).copied().collect();
        if !variables.is_empty() && self.u.int_in_range(0..=2u8)? == 2 {
            return Ok(variables[self.u.choose_index(variables.len())?]);
        }
        Ok(self.fresh(class))
    }

    fn fresh(&mut self, class: RegClass) -> VReg {
        let reg = self.draft.reg(class);
        self.readable.push(reg);
        reg
    }

    /// Fills the entry block with values for every other block: a register of each class, and the variables.
    fn entry(&mut self, block: Block, options: &Options) -> Result<()> {
        for template in &CONSTANTS[..4] {
            self.template(block, std::slice::from_ref(template))?;
        }
        let (wide, long) = (self.read(RegClass::B64)?, self.fresh(RegClass::B128));
        for number in 0..options.held {
            // The register is not readable elsewhere, so it is neither overwritten nor drawn by chance.
            let reg = self.draft.reg(RegClass::B32);
            let numbers = [0, 1, 4 * number as i64].map(Operand::immediate);
            let operands = [Operand::write(reg), numbers[0], numbers[1], Operand::read(wide), numbers[2]];
            let load = DraftInst::with_effects("LD_i32", operands.to_vec(), Effects::READ);
            self.push(block, DraftInst { space: MemorySpace::Global, ..load });
            self.held.push(reg);
        }
        let operands = vec![Operand::write(long), Operand::read(wide), Operand::read(wide)];
        self.push(block, DraftInst::pure("V2I64toI128", operands));
        for class in RegClass::ALL {
            for _ in 0..self.u.int_in_range(0..=options.max_variables)? {
                let initial = self.read(class)?;
                let variable = self.fresh(class);
                self.variables.push(variable);
                if !options.undefined_paths {
                    self.push(block, DraftInst::copy(variable, initial));
                }
            }
        }
        Ok(())
    }

    fn phis(&mut self, block: Block) -> Result<()> {
        for _ in 0..self.u.int_in_range(0..=3u8)? {
            let class = *self.u.choose(&[RegClass::B32, RegClass::B32, RegClass::B64, RegClass::B1])?;
            let dst = self.fresh(class);
            self.draft.blocks[block].phis.push(DraftPhi { dst, inputs: Vec::new() });
        }
        Ok(())
    }

    /// Draws the inputs of `block`'s PHIs from `from`: preferably PHIs of the same block, so that swapped values and
    /// lost copies occur.
    fn phi_inputs(&mut self, block: Block, from: Block) -> Result<()> {
        let siblings: Vec<VReg> = self.draft.blocks[block].phis.iter().map(|phi| phi.dst).collect();
        for (index, &dst) in siblings.iter().enumerate() {
            let class = self.draft.classes[dst];
            let is_available = |reg: &VReg| self.draft.classes[*reg] == class && self.readable.contains(reg);
            let available: Vec<VReg> = siblings.iter().copied().filter(is_available).collect();
            let value = match !available.is_empty() && self.u.arbitrary()? {
                true => available[self.u.choose_index(available.len())?],
                false => self.read(class)?,
            };
            self.draft.blocks[block].phis[index].inputs.push((value, from));
        }
        Ok(())
    }

    fn some_insts(&mut self, block: Block) -> Result<()> {
        if self.effects && self.u.arbitrary()? {
            return self.template(block, EFFECTFUL);
        }
        match self.u.int_in_range(0..=19u8)? {
            0..=5 => self.template(block, ARITHMETIC),
            6 | 7 => self.template(block, CONSTANTS),
            8..=11 => self.template(block, COPIES),
            12..=14 => self.template(block, PARTS),
            15 | 16 => self.template(block, EFFECTFUL),
            17 => CALL.iter().try_for_each(|template| self.template(block, std::slice::from_ref(template))),
            18 => self.inline_asm(block),
            _ if !self.variables.is_empty() && self.u.arbitrary()? => self.swap(block),
            _ => {
                let reg = self.read(RegClass::B32)?;
                let operands = vec![Operand::read(reg), Operand::plain(Value::NoReg)];
                self.push(block, DraftInst::with_effects("DBG_VALUE", operands, Effects::META));
                Ok(())
            }
        }
    }

    /// Adds inline assembly: `"=&r,=r,+r,r"`, or a part of this.
    fn inline_asm(&mut self, block: Block) -> Result<()> {
        let mut operands = vec![Operand::plain(Value::Symbol(Symbol::new(0))), Operand::immediate(1)];
        let (early, result, tied, plain) =
            (self.u.arbitrary()?, self.u.arbitrary()?, self.u.arbitrary()?, self.u.arbitrary()?);
        let (changed, read) = (self.read(RegClass::B32)?, self.read(RegClass::B64)?);
        let early_flags = OperandFlags::DEF | OperandFlags::EARLY_CLOBBER;
        if early {
            operands.push(Operand { flags: early_flags, ..Operand::write(self.fresh(RegClass::B32)) });
        }
        if result {
            operands.push(Operand::write(self.define(RegClass::B64)?));
        }
        if tied {
            let def = operands.len() as u16;
            operands.push(Operand { tied: Some(def + 1), ..Operand::write(self.fresh(RegClass::B32)) });
            operands.push(Operand { tied: Some(def), ..Operand::read(changed) });
        }
        if plain {
            operands.push(Operand::read(read));
        }
        // The assembly text may be known to only load.
        let effects = if self.u.arbitrary()? { Effects::READ } else { Effects::OPAQUE };
        self.push(block, DraftInst::with_effects("INLINEASM", operands, effects));
        Ok(())
    }

    /// Adds inline assembly that reads many readable values, always before a return. The interpreter would not notice
    /// changes of unread values.
    fn observe(&mut self, block: Block, is_empty: bool) -> Result<()> {
        let is_last = self.draft.blocks[block].succs.is_empty();
        if !is_last && (is_empty || self.u.int_in_range(0..=3u8)? < 3) {
            return Ok(());
        }
        let most = if is_last { 16 } else { 4 };
        let mut operands = vec![Operand::plain(Value::Symbol(Symbol::new(1))), Operand::immediate(1)];
        for index in 0..self.readable.len().min(most) {
            let reg = match index < self.variables.len() {
                true => self.variables[index],
                false => self.readable[self.readable.len() - 1 - self.u.choose_index(self.readable.len())?],
            };
            operands.push(Operand::read(reg));
        }
        if is_last {
            operands.extend(self.held.iter().map(|&reg| Operand::read(reg)));
        }
        self.push(block, DraftInst::with_effects("INLINEASM", operands, Effects::OPAQUE));
        Ok(())
    }

    /// Adds `t = a; a = b; b = t` of two variables.
    fn swap(&mut self, block: Block) -> Result<()> {
        let first = self.variables[self.u.choose_index(self.variables.len())?];
        let class = self.draft.classes[first];
        let of_class = |&&reg: &&VReg| self.draft.classes[reg] == class;
        let same: Vec<VReg> = self.variables.iter().filter(of_class).copied().collect();
        let second = same[self.u.choose_index(same.len())?];
        let saved = self.fresh(class);
        for (dst, src) in [(saved, first), (first, second), (second, saved)] {
            self.push(block, DraftInst::copy(dst, src));
        }
        Ok(())
    }

    /// Adds the terminators for the successors. The last branch to the next block is sometimes omitted.
    fn terminators(&mut self, block: Block) -> Result<()> {
        let succs = self.draft.blocks[block].succs.clone();
        let target = |block: Block| Operand::plain(Value::Block(block));
        let mut branches = Vec::new();
        match succs[..] {
            [] => branches.push(("Return", vec![])),
            [last] | [_, last] => {
                if succs.len() == 2 {
                    branches.push(("CBranch", vec![Operand::read(self.read(RegClass::B1)?), target(succs[0])]));
                }
                let is_empty = self.draft.blocks[block].body.is_empty();
                if last.index() != block.index() + 1 || !is_empty && self.u.arbitrary()? {
                    branches.push(("GOTO", vec![target(last)]));
                }
            }
            [ref others @ .., last] => {
                let index = Operand::read(self.read(RegClass::B32)?);
                branches.push(("BRX_START", vec![index, Operand::immediate(0)]));
                branches.extend(others.iter().map(|&succ| ("BRX_ITEM", vec![target(succ)])));
                branches.push(("BRX_END", vec![target(last), index, Operand::immediate(0)]));
            }
        }
        let with_effect = |(name, operands)| DraftInst::with_effects(name, operands, Effects::TERMINATOR);
        self.draft.blocks[block].terminators = branches.into_iter().map(with_effect).collect();
        Ok(())
    }
}
