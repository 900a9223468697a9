//! The program view: a flat, read-only representation of a machine function, and the edits that change it.
//!
//! Ids are dense. Instructions are numbered in layout order, block after block, so that a block's instructions form a
//! range and an instruction's number is its position. The view contains everything that a pass may read of a function;
//! the core does not access LLVM.

mod apply;
pub mod assembly;
mod builder;
mod comparison;
mod debug_value;
mod directives;
mod edit;
mod edit_list;
mod effects;
mod launch;
mod lowered;
mod no_unroll;
mod opcode;
mod operand;
mod parallel_copy;
pub mod ptx_opcode;
pub mod shared_address;
pub mod simd_video;
mod text;
mod two_jumps;
mod validate;

use std::ops::Range;
use std::sync::Arc;

pub use apply::{Applied, ApplyError, Origin};
pub use builder::FunctionBuilder;
pub use comparison::{Comparison, Complement, Sign, complement, is_assembly_of, text_of_complement};
pub use edit::{Edit, Position};
pub use edit_list::EditList;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use effects::Conditions;
pub use effects::{Effects, MemorySpace};
pub use launch::LaunchBounds;
pub use lowered::{AccessRegisters, Insertion, LoweredEdit, MachineOp, MemoryAccess};
pub use no_unroll::NoUnroll;
pub(crate) use opcode::OpcodeFacts;
pub use opcode::{CONSTANTS, Opcode, OpcodeTable, Role};
pub use operand::{Operand, OperandFlags, Value};
pub use parallel_copy::{ParallelCopyError, sequentialize};
pub use text::ParseError;
pub use two_jumps::TwoJumps;
pub(crate) use two_jumps::is_negated;
pub use validate::ValidationError;

use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A basic block. Block 0 is the entry.
    Block, "bb"
}
define_index! {
    /// An instruction. Its number is its position in the layout.
    Inst, "i"
}
define_index! {
    /// A virtual register.
    VReg, "%"
}
define_index! {
    /// A stack slot.
    Slot, "slot"
}
define_index! {
    /// An operand that is only compared: a global, an external symbol or metadata.
    Symbol, "sym"
}

/// The register classes of NVPTX since LLVM 21 (floats are in the integer classes). Classes are disjoint in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RegClass {
    /// Predicates, `.pred`.
    B1 = 0,
    /// `.b16`
    B16 = 1,
    /// `.b32`
    B32 = 2,
    /// `.b64`
    B64 = 3,
    /// `.b128`
    B128 = 4,
    /// Any other class of LLVM; never changed.
    Other = 255,
}

impl RegClass {
    /// All classes that PTX declares, smallest first.
    pub const ALL: [RegClass; 5] = [Self::B1, Self::B16, Self::B32, Self::B64, Self::B128];

    /// Whether the class's registers are left to LLVM: no pass merges, copies or renames them.
    pub fn is_left_to_llvm(self) -> bool {
        matches!(self, Self::B128 | Self::Other)
    }

    /// Returns the class with that number of the enum.
    pub fn from_number(number: u8) -> Self {
        match number {
            0 => Self::B1,
            1 => Self::B16,
            2 => Self::B32,
            3 => Self::B64,
            4 => Self::B128,
            _ => Self::Other,
        }
    }

    /// Returns the class's name in LLVM and in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::B1 => "B1",
            Self::B16 => "B16",
            Self::B32 => "B32",
            Self::B64 => "B64",
            Self::B128 => "B128",
            Self::Other => "other",
        }
    }

    /// Returns the width in bits of a register of the class; 0 if it is unknown.
    pub fn bits(self) -> u32 {
        match self {
            Self::B1 => 1,
            Self::B16 => 16,
            Self::B32 => 32,
            Self::B64 => 64,
            Self::B128 => 128,
            Self::Other => 0,
        }
    }
}

/// A block of the view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockData {
    pub(crate) insts: Range<u32>,
    pub(crate) succs: Range<u32>,
    pub(crate) frequency: f64,
    pub(crate) loop_depth: u32,
    pub(crate) no_unroll: NoUnroll,
}

/// A stack slot of the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotData {
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// The variable in the slot, if LLVM knows it.
    pub name: Option<Box<str>>,
    /// The line at which the variable is declared in the function's file; 0 if unknown.
    pub line: u32,
    /// The position in the function's [`SharedArray`]. `None` if the slot is in local memory or is a bit.
    pub shared: Option<SharedPlace>,
    /// The bit of a 32-bit register that holds the predicate. `None` if the slot is in memory.
    pub bit: Option<BitPlace>,
}

/// A bit of one of the 32-bit registers that hold predicates. These registers are not registers of the function: each
/// of their bits is a slot, and no other instruction reads or writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BitPlace {
    /// The register's index among the registers that hold predicates.
    pub word: u32,
    /// The bit, from 0 to 31.
    pub bit: u32,
}

impl BitPlace {
    /// Returns a number with only this bit set.
    pub fn mask(self) -> i32 {
        1i32.wrapping_shl(self.bit)
    }
}

/// A slot's position in the shared array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPlace {
    /// The offset of thread 0's part.
    pub offset: u32,
    /// Bytes from one thread's part to the next: the slot's size, or 8 or 16 if adjacent slots share a row.
    pub row: u32,
}

/// An array in shared memory that holds slots of each thread of a block. Thread `t` has its part of a slot at the
/// slot's offset plus `t` times the bytes of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedArray {
    /// The most threads of a block.
    pub threads: u32,
    /// Size in bytes.
    pub bytes: u32,
}

impl SharedArray {
    /// The alignment of an array that is not followed by dynamic shared memory.
    pub const ALIGNMENT: u32 = 16;
    /// The alignment of an array that is followed by dynamic shared memory. Dynamic shared memory keeps this alignment,
    /// on which matrix descriptors rely.
    pub const ALIGNMENT_OF_DYNAMIC: u32 = 1024;

    /// Returns the alignment of the array. The array's size is a multiple of it.
    pub fn alignment(&self) -> u32 {
        let is_large = self.bytes.is_multiple_of(Self::ALIGNMENT_OF_DYNAMIC);
        if is_large { Self::ALIGNMENT_OF_DYNAMIC } else { Self::ALIGNMENT }
    }
}

/// A virtual register of the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegData {
    pub(crate) class: RegClass,
    pub(crate) name: Option<Box<str>>,
}

/// A symbol of the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolData {
    pub(crate) text: Box<str>,
    /// Bytes of static shared memory; 0 if the symbol is not a static shared variable.
    pub(crate) shared_bytes: u64,
    /// Whether the symbol is shared memory that the module only declares. The launch determines its size.
    pub(crate) is_dynamic_shared: bool,
}

/// A machine function in flat form. See the [module](self) documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub(crate) name: String,
    /// The launch bounds of a kernel; `None` for other functions.
    pub(crate) kernel: Option<LaunchBounds>,
    /// The source file; `None` if unknown.
    pub(crate) file: Option<Box<str>>,
    pub(crate) opcodes: Arc<OpcodeTable>,
    pub(crate) blocks: IndexVec<Block, BlockData>,
    pub(crate) succs: Vec<Block>,
    pub(crate) inst_opcode: IndexVec<Inst, Opcode>,
    pub(crate) inst_effects: IndexVec<Inst, Effects>,
    pub(crate) inst_space: IndexVec<Inst, MemorySpace>,
    /// Source lines; 0 if unknown.
    pub(crate) inst_line: IndexVec<Inst, u32>,
    /// The operands of instruction `i` are `operand_start[i]..operand_start[i + 1]`. There is one entry more than
    /// instructions.
    pub(crate) operand_start: Vec<u32>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) regs: IndexVec<VReg, RegData>,
    pub(crate) slots: IndexVec<Slot, SlotData>,
    pub(crate) symbols: IndexVec<Symbol, SymbolData>,
}

impl Function {
    /// Returns the function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the launch bounds of a kernel. `None` for a function that device code calls.
    pub fn kernel(&self) -> Option<&LaunchBounds> {
        self.kernel.as_ref()
    }

    /// Returns the path of the function's source file. `None` if LLVM does not know it.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the table of the opcodes that the function's instructions use.
    pub fn opcodes(&self) -> &Arc<OpcodeTable> {
        &self.opcodes
    }

    /// Returns all blocks, in layout order.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + use<> {
        self.blocks.ids()
    }

    /// Returns the number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the number of instructions.
    pub fn num_insts(&self) -> usize {
        self.inst_opcode.len()
    }

    /// Returns the number of virtual registers.
    pub fn num_regs(&self) -> usize {
        self.regs.len()
    }

    /// Returns the number of stack slots.
    pub fn num_slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of symbols.
    pub fn num_symbols(&self) -> usize {
        self.symbols.len()
    }

    /// Returns all virtual registers, in order.
    pub fn regs(&self) -> impl DoubleEndedIterator<Item = VReg> + ExactSizeIterator + use<> {
        self.regs.ids()
    }

    /// Returns all instructions, in layout order.
    pub fn insts(&self) -> impl DoubleEndedIterator<Item = Inst> + ExactSizeIterator + use<> {
        self.inst_opcode.ids()
    }

    /// Returns the instructions of a block, in order.
    #[inline]
    pub fn block_insts(&self, block: Block) -> impl DoubleEndedIterator<Item = Inst> + ExactSizeIterator + use<> {
        let range = self.blocks[block].insts.clone();
        (range.start as usize..range.end as usize).map(Inst::new)
    }

    /// Returns the first instruction of a block and the instruction after its last.
    #[inline]
    pub fn block_range(&self, block: Block) -> Range<Inst> {
        let range = &self.blocks[block].insts;
        Inst(range.start)..Inst(range.end)
    }

    /// Returns the block that contains an instruction. O(log blocks).
    pub fn block_of(&self, inst: Inst) -> Block {
        let after = self.blocks.as_slice().partition_point(|block| block.insts.start <= inst.0);
        // An empty block starts where the next block starts. The last block that starts at or before `inst` is
        // therefore not empty. Empty blocks at the end of the function start after all instructions.
        Block::new(after - 1)
    }

    /// Returns the successors of a block, in LLVM's order, each once.
    #[inline]
    pub fn succs(&self, block: Block) -> &[Block] {
        let range = &self.blocks[block].succs;
        &self.succs[range.start as usize..range.end as usize]
    }

    /// Returns LLVM's estimate of a block's executions in one call of the function.
    #[inline]
    pub fn frequency(&self, block: Block) -> f64 {
        self.blocks[block].frequency
    }

    /// Returns the number of loops around a block.
    #[inline]
    pub fn loop_depth(&self, block: Block) -> u32 {
        self.blocks[block].loop_depth
    }

    /// Returns the unroll pragma at a block.
    #[inline]
    pub fn no_unroll(&self, block: Block) -> NoUnroll {
        self.blocks[block].no_unroll
    }

    /// Returns an instruction's opcode.
    #[inline]
    pub fn opcode(&self, inst: Inst) -> Opcode {
        self.inst_opcode[inst]
    }

    /// Returns the role of an instruction's opcode.
    #[inline]
    pub fn role(&self, inst: Inst) -> Role {
        self.opcodes.role(self.inst_opcode[inst])
    }

    /// Returns an instruction's effects beyond registers.
    #[inline]
    pub fn effects(&self, inst: Inst) -> Effects {
        self.inst_effects[inst]
    }

    /// Returns the memory space that an instruction reads or writes.
    #[inline]
    pub fn memory_space(&self, inst: Inst) -> MemorySpace {
        self.inst_space[inst]
    }

    /// Returns the line of an instruction in the function's own [file](Self::file); 0 if unknown. An instruction
    /// inlined from another file has the line of the call.
    #[inline]
    pub fn line(&self, inst: Inst) -> u32 {
        self.inst_line[inst]
    }

    /// Returns an instruction's operands.
    #[inline]
    pub fn operands(&self, inst: Inst) -> &[Operand] {
        &self.operands[self.operand_start[inst.index()] as usize..self.operand_start[inst.index() + 1] as usize]
    }

    /// Returns a register's class.
    #[inline]
    pub fn class(&self, reg: VReg) -> RegClass {
        self.regs[reg].class
    }

    /// Returns a register's name in the source, if LLVM has one.
    pub fn reg_name(&self, reg: VReg) -> Option<&str> {
        self.regs[reg].name.as_deref()
    }

    /// Returns a slot's size, alignment and variable.
    pub fn slot(&self, slot: Slot) -> &SlotData {
        &self.slots[slot]
    }

    /// Returns the text of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol].text
    }

    /// Returns the bytes of static shared memory that a symbol's variable takes. 0 for all other symbols, and for a
    /// variable that the module only declares, such as dynamic shared memory.
    ///
    /// Symbols that differ only in an offset refer to one variable, and the function returns all bytes of the variable
    /// for each of them. Variables that only called functions use are not symbols here.
    pub fn shared_bytes(&self, symbol: Symbol) -> u64 {
        self.symbols[symbol].shared_bytes
    }

    /// Returns the value of a predicate that the previous instruction sets to a constant. Debug instructions are
    /// skipped.
    pub(crate) fn constant_ahead(&self, inst: Inst, predicate: VReg) -> Option<bool> {
        let mut before = (self.block_range(self.block_of(inst)).start.0..inst.0).rev().map(Inst);
        let ahead = before.find(|&inst| self.role(inst) != Role::Debug)?;
        match (self.role(ahead), self.operands(ahead)) {
            (Role::Constant, &[to, Operand { value: Value::Immediate(value), .. }]) => {
                (to.def() == Some(predicate)).then_some(value != 0)
            }
            _ => None,
        }
    }

    /// Returns the bytes of static shared memory that the function itself references. Each variable counts once,
    /// whatever the offsets.
    pub fn static_shared_bytes(&self) -> u64 {
        if (0..self.num_symbols()).all(|symbol| self.shared_bytes(Symbol(symbol as u32)) == 0) {
            return 0;
        }
        let mut is_named = vec![false; self.num_symbols()];
        for operand in self.insts().flat_map(|inst| self.operands(inst)) {
            if let Value::Symbol(symbol) = operand.value {
                is_named[symbol.0 as usize] = true;
            }
        }
        let named = (0..).map(Symbol).zip(is_named).filter_map(|(symbol, is_named)| is_named.then_some(symbol));
        let variable = |symbol| self.symbol(symbol).split(['+', ' ']).next().unwrap_or_default();
        let mut variables: Vec<(&str, u64)> =
            named.map(|symbol| (variable(symbol), self.shared_bytes(symbol))).filter(|&(_, bytes)| bytes > 0).collect();
        variables.sort_unstable();
        variables.dedup_by_key(|variable| variable.0);
        variables.iter().map(|variable| variable.1).sum()
    }

    /// Whether the function itself references shared memory whose size the launch determines.
    pub fn has_dynamic_shared(&self) -> bool {
        self.symbols.iter().any(|data| data.is_dynamic_shared)
    }

    /// Whether there is a PHI. PHIs come first in their block. O(blocks).
    pub(crate) fn has_phis(&self) -> bool {
        self.blocks().any(|block| self.block_insts(block).next().is_some_and(|inst| self.role(inst) == Role::Phi))
    }

    /// Returns `Some((definition, source))` if an instruction is a copy between virtual registers of one class.
    #[inline]
    pub fn as_copy(&self, inst: Inst) -> Option<(VReg, VReg)> {
        if self.role(inst) != Role::Copy {
            return None;
        }
        match self.operands(inst) {
            [dst, src, ..] if dst.is_def() && !src.is_def() => match (dst.reg(), src.reg()) {
                (Some(dst), Some(src)) if self.class(dst) == self.class(src) => Some((dst, src)),
                _ => None,
            },
            _ => None,
        }
    }
}
