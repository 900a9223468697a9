//! The program view: one flat, read-only picture of a machine function, and the edits that change it.
//!
//! Ids are dense; instructions are numbered in layout order, block after block, so that the instructions of a block are
//! a range and an instruction's number is its place. Everything a pass may know of a function is here: nothing in the
//! core looks back into LLVM.

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
    /// A basic block; block 0 is the entry.
    Block, "bb"
}
define_index! {
    /// An instruction; its number is its place in the layout.
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
    /// An operand that is only compared: a global, an external symbol, metadata.
    Symbol, "sym"
}

/// The register classes of NVPTX since LLVM 21 (floats live in the integer classes). Classes are disjoint in PTX.
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
    /// Any other class of LLVM: never touched.
    Other = 255,
}

impl RegClass {
    /// All classes that PTX declares, smallest first.
    pub const ALL: [RegClass; 5] = [Self::B1, Self::B16, Self::B32, Self::B64, Self::B128];

    /// Whether its registers are LLVM's alone: no pass merges, copies or renames them.
    pub fn is_left_to_llvm(self) -> bool {
        matches!(self, Self::B128 | Self::Other)
    }

    /// The class with that number, as the enum numbers them.
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

    /// Its name in LLVM and in the text form.
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

    /// How many bits a register of the class holds; 0 where that is unknown.
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
    /// Bytes.
    pub size: u64,
    /// Bytes, a power of two.
    pub align: u64,
    /// The variable that lives there, where LLVM knows it.
    pub name: Option<Box<str>>,
    /// The line of the function's file where the variable is declared; 0 where unknown.
    pub line: u32,
    /// Where it lies, if the slot is in the function's [`SharedArray`]; otherwise it is in local memory or a bit.
    pub shared: Option<SharedPlace>,
    /// Which bit it is, if it is one of a register of 32 bits that holds predicates.
    pub bit: Option<BitPlace>,
}

/// Which bit of which of the registers of 32 bits that hold predicates. These registers are none of the function's: each of its
/// bits is a slot, and nothing else reads or writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BitPlace {
    /// The register's number among them.
    pub word: u32,
    /// From 0 to 31.
    pub bit: u32,
}

impl BitPlace {
    /// A number with this bit alone.
    pub fn mask(self) -> i32 {
        1i32.wrapping_shl(self.bit)
    }
}

/// Where a slot lies in the array in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPlace {
    /// Where thread 0's part lies.
    pub offset: u32,
    /// Bytes from a thread's part to that of the next thread: the slot's size, or 8 or 16 where slots beside each other
    /// share a row.
    pub row: u32,
}

/// An array in shared memory that holds slots of each thread of a block: thread `t` has its part of a slot at the slot's
/// offset plus `t` times the bytes of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedArray {
    /// The most threads of a block.
    pub threads: u32,
    /// Bytes.
    pub bytes: u32,
}

impl SharedArray {
    /// The alignment of an array with nothing behind it.
    pub const ALIGNMENT: u32 = 16;
    /// Dynamic shared memory lies behind the array and keeps this alignment, which descriptors of matrices count on.
    pub const ALIGNMENT_OF_DYNAMIC: u32 = 1024;

    /// The alignment of the array, which its size is a multiple of.
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
    /// Bytes of static shared memory, 0 where it names none.
    pub(crate) shared_bytes: u64,
    /// It names shared memory that the module only declares: the launch says how much.
    pub(crate) is_dynamic_shared: bool,
}

/// A machine function, flat. See the [module](self) documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub(crate) name: String,
    /// Of kernels alone.
    pub(crate) kernel: Option<LaunchBounds>,
    /// The source file, where it is known.
    pub(crate) file: Option<Box<str>>,
    pub(crate) opcodes: Arc<OpcodeTable>,
    pub(crate) blocks: IndexVec<Block, BlockData>,
    pub(crate) succs: Vec<Block>,
    pub(crate) inst_opcode: IndexVec<Inst, Opcode>,
    pub(crate) inst_effects: IndexVec<Inst, Effects>,
    pub(crate) inst_space: IndexVec<Inst, MemorySpace>,
    /// Source line, 0 where unknown.
    pub(crate) inst_line: IndexVec<Inst, u32>,
    /// Operands of instruction `i`: `operand_start[i]..operand_start[i + 1]`; one entry more than instructions.
    pub(crate) operand_start: Vec<u32>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) regs: IndexVec<VReg, RegData>,
    pub(crate) slots: IndexVec<Slot, SlotData>,
    pub(crate) symbols: IndexVec<Symbol, SymbolData>,
}

impl Function {
    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is launched, where it is a kernel; `None` for a function that device code calls.
    pub fn kernel(&self) -> Option<&LaunchBounds> {
        self.kernel.as_ref()
    }

    /// The path of its source file, where LLVM knows that.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The opcodes that its instructions are drawn from.
    pub fn opcodes(&self) -> &Arc<OpcodeTable> {
        &self.opcodes
    }

    /// All blocks, in layout order.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + use<> {
        self.blocks.ids()
    }

    /// The number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The number of instructions.
    pub fn num_insts(&self) -> usize {
        self.inst_opcode.len()
    }

    /// The number of virtual registers.
    pub fn num_regs(&self) -> usize {
        self.regs.len()
    }

    /// The number of stack slots.
    pub fn num_slots(&self) -> usize {
        self.slots.len()
    }

    /// The number of symbols.
    pub fn num_symbols(&self) -> usize {
        self.symbols.len()
    }

    /// All virtual registers, in order.
    pub fn regs(&self) -> impl DoubleEndedIterator<Item = VReg> + ExactSizeIterator + use<> {
        self.regs.ids()
    }

    /// All instructions, in layout order.
    pub fn insts(&self) -> impl DoubleEndedIterator<Item = Inst> + ExactSizeIterator + use<> {
        self.inst_opcode.ids()
    }

    /// The instructions of a block, in order.
    #[inline]
    pub fn block_insts(&self, block: Block) -> impl DoubleEndedIterator<Item = Inst> + ExactSizeIterator + use<> {
        let range = self.blocks[block].insts.clone();
        (range.start as usize..range.end as usize).map(Inst::new)
    }

    /// The first instruction of a block and the one after its last.
    #[inline]
    pub fn block_range(&self, block: Block) -> Range<Inst> {
        let range = &self.blocks[block].insts;
        Inst(range.start)..Inst(range.end)
    }

    /// The block that holds an instruction. O(log blocks).
    pub fn block_of(&self, inst: Inst) -> Block {
        let after = self.blocks.as_slice().partition_point(|block| block.insts.start <= inst.0);
        // Empty blocks share their start with the block after them: the last block that starts at or before is right,
        // because an empty one would start after `inst`.
        Block::new(after - 1)
    }

    /// The blocks that may follow a block, in LLVM's order, each once.
    #[inline]
    pub fn succs(&self, block: Block) -> &[Block] {
        let range = &self.blocks[block].succs;
        &self.succs[range.start as usize..range.end as usize]
    }

    /// How often a block runs for one run of the function, as LLVM estimates.
    #[inline]
    pub fn frequency(&self, block: Block) -> f64 {
        self.blocks[block].frequency
    }

    /// How many loops a block is in.
    #[inline]
    pub fn loop_depth(&self, block: Block) -> u32 {
        self.blocks[block].loop_depth
    }

    /// What the source says of the unrolling of loops at a block.
    #[inline]
    pub fn no_unroll(&self, block: Block) -> NoUnroll {
        self.blocks[block].no_unroll
    }

    /// An instruction's opcode.
    #[inline]
    pub fn opcode(&self, inst: Inst) -> Opcode {
        self.inst_opcode[inst]
    }

    /// What an instruction's opcode means.
    #[inline]
    pub fn role(&self, inst: Inst) -> Role {
        self.opcodes.role(self.inst_opcode[inst])
    }

    /// What an instruction does beyond registers.
    #[inline]
    pub fn effects(&self, inst: Inst) -> Effects {
        self.inst_effects[inst]
    }

    /// The memory that an instruction reads or writes.
    #[inline]
    pub fn memory_space(&self, inst: Inst) -> MemorySpace {
        self.inst_space[inst]
    }

    /// The line of an instruction in the function's own [file](Self::file), 0 where unknown: of one that was inlined
    /// from another file, the line of the call.
    #[inline]
    pub fn line(&self, inst: Inst) -> u32 {
        self.inst_line[inst]
    }

    /// An instruction's operands.
    #[inline]
    pub fn operands(&self, inst: Inst) -> &[Operand] {
        &self.operands[self.operand_start[inst.index()] as usize..self.operand_start[inst.index() + 1] as usize]
    }

    /// A register's class.
    #[inline]
    pub fn class(&self, reg: VReg) -> RegClass {
        self.regs[reg].class
    }

    /// A register's name in the source, where LLVM has one.
    pub fn reg_name(&self, reg: VReg) -> Option<&str> {
        self.regs[reg].name.as_deref()
    }

    /// A slot's size and alignment, and the variable in it.
    pub fn slot(&self, slot: Slot) -> &SlotData {
        &self.slots[slot]
    }

    /// The text of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol].text
    }

    /// How many bytes of static shared memory the variable takes that a symbol names; 0 for every other symbol, and for
    /// a variable that the module only declares, as dynamic shared memory.
    ///
    /// Symbols that differ in an offset alone name one variable, and each has all of its bytes. What only called
    /// functions name is no symbol here.
    pub fn shared_bytes(&self, symbol: Symbol) -> u64 {
        self.symbols[symbol].shared_bytes
    }

    /// The value of a predicate that the instruction directly ahead sets to a constant. What a variable is is no instruction.
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

    /// The static shared memory that the function itself names; each variable once, with whatever offset it is named.
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

    /// Whether the function itself names shared memory whose size the launch says.
    pub fn has_dynamic_shared(&self) -> bool {
        self.symbols.iter().any(|data| data.is_dynamic_shared)
    }

    /// Whether there is a PHI: one stands first in its block. O(blocks).
    pub(crate) fn has_phis(&self) -> bool {
        self.blocks().any(|block| self.block_insts(block).next().is_some_and(|inst| self.role(inst) == Role::Phi))
    }

    /// Whether an instruction is a copy between virtual registers of one class: `Some((definition, source))`.
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
