//! Builds a [`Function`] block by block, for the text form, tests and generators.

use std::sync::Arc;

use super::{
    BitPlace, Block, BlockData, Effects, Function, Inst, LaunchBounds, MemorySpace, NoUnroll, Opcode, OpcodeTable,
    Operand, RegClass, RegData, SharedPlace, Slot, SlotData, Symbol, SymbolData, VReg,
};
use crate::index::{EntityIndex, IndexVec};

/// Builds a [`Function`]. Blocks are filled in layout order: each instruction is added to the last block.
#[derive(Debug)]
pub struct FunctionBuilder {
    function: Function,
    succs: Vec<Vec<Block>>,
}

impl FunctionBuilder {
    /// Returns a builder of an empty function.
    pub fn new(name: &str, opcodes: Arc<OpcodeTable>) -> Self {
        Self {
            function: Function {
                name: name.to_owned(),
                kernel: None,
                file: None,
                opcodes,
                blocks: IndexVec::new(),
                succs: Vec::new(),
                inst_opcode: IndexVec::new(),
                inst_effects: IndexVec::new(),
                inst_space: IndexVec::new(),
                inst_line: IndexVec::new(),
                operand_start: vec![0],
                operands: Vec::new(),
                regs: IndexVec::new(),
                slots: IndexVec::new(),
                symbols: IndexVec::new(),
            },
            succs: Vec::new(),
        }
    }

    /// Makes the function a kernel with these launch bounds.
    pub fn kernel(&mut self, bounds: LaunchBounds) {
        self.function.kernel = Some(bounds);
    }

    /// Sets the source file.
    pub fn file(&mut self, path: &str) {
        self.function.file = Some(path.into());
    }

    /// Declares a virtual register.
    pub fn reg(&mut self, class: RegClass) -> VReg {
        self.named_reg(class, None)
    }

    /// Declares a virtual register with a name.
    pub fn named_reg(&mut self, class: RegClass, name: Option<&str>) -> VReg {
        self.function.regs.push(RegData { class, name: name.map(Into::into) })
    }

    /// Declares a stack slot.
    pub fn slot(&mut self, size: u64, align: u64) -> Slot {
        self.named_slot(size, align, None, 0)
    }

    /// Declares a stack slot with its variable and the line of the variable's declaration; 0 if the line is unknown.
    pub fn named_slot(&mut self, size: u64, align: u64, name: Option<&str>, line: u32) -> Slot {
        self.function.slots.push(SlotData { size, align, name: name.map(Into::into), line, shared: None, bit: None })
    }

    /// Declares a symbol.
    pub fn symbol(&mut self, text: &str) -> Symbol {
        self.shared_symbol(text, 0)
    }

    /// Declares a symbol for a variable of `shared_bytes` bytes in static shared memory.
    pub fn shared_symbol(&mut self, text: &str, shared_bytes: u64) -> Symbol {
        self.function.symbols.push(SymbolData { text: text.into(), shared_bytes, is_dynamic_shared: false })
    }

    /// Declares a symbol for shared memory whose size the launch determines.
    pub fn dynamic_shared_symbol(&mut self, text: &str) -> Symbol {
        self.function.symbols.push(SymbolData { text: text.into(), shared_bytes: 0, is_dynamic_shared: true })
    }

    /// Places a slot in shared memory.
    pub(crate) fn place_in_shared(&mut self, slot: Slot, place: SharedPlace) {
        self.function.slots[slot].shared = Some(place);
    }

    /// Makes a slot one bit of a general register.
    pub(crate) fn make_bit(&mut self, slot: Slot, place: BitPlace) {
        self.function.slots[slot].bit = Some(place);
    }

    /// Begins the next block. Its successors may be blocks that begin later.
    pub fn block(&mut self, succs: &[Block], frequency: f64, loop_depth: u32) -> Block {
        let at = self.function.inst_opcode.len() as u32;
        self.succs.push(succs.to_vec());
        self.function.blocks.push(BlockData {
            insts: at..at,
            succs: 0..0,
            frequency,
            loop_depth,
            no_unroll: NoUnroll::Absent,
        })
    }

    /// Sets the unroll pragma at a block.
    pub fn no_unroll(&mut self, block: Block, no_unroll: NoUnroll) {
        self.function.blocks[block].no_unroll = no_unroll;
    }

    /// Appends an instruction to the last block.
    ///
    /// # Panics
    /// If no block has been begun.
    pub fn inst(&mut self, opcode: Opcode, operands: &[Operand], effects: Effects) -> Inst {
        self.full_inst(opcode, operands, effects, MemorySpace::Generic, 0)
    }

    /// Appends an instruction with its memory space and source line.
    ///
    /// # Panics
    /// If no block has been begun.
    pub fn full_inst(
        &mut self,
        opcode: Opcode,
        operands: &[Operand],
        effects: Effects,
        space: MemorySpace,
        line: u32,
    ) -> Inst {
        let function = &mut self.function;
        assert!(!function.blocks.is_empty(), "an instruction before the first block");
        let inst = function.inst_opcode.push(opcode);
        function.inst_effects.push(effects);
        function.inst_space.push(space);
        function.inst_line.push(line);
        function.operands.extend_from_slice(operands);
        function.operand_start.push(function.operands.len() as u32);
        let last = Block::new(function.blocks.len() - 1);
        function.blocks[last].insts.end = inst.0 + 1;
        inst
    }

    /// Returns the function. The builder does not check the rules of a view; [`Function::validate`] does.
    pub fn finish(self) -> Function {
        let mut function = self.function;
        for (block, succs) in function.blocks.iter_mut().zip(&self.succs) {
            let start = function.succs.len() as u32;
            function.succs.extend_from_slice(succs);
            block.succs = start..function.succs.len() as u32;
        }
        function
    }
}
