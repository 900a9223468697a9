//! Builds a function from a few lines of text, with names for its parts.
//!
//! Each line is an instruction or a block header, for example `bb0 -> bb1 bb2`, `a b = unpack w` and `st a`. Registers
//! are declared by their first use. The first letter determines the class: `p` B1, `h` B16, `w` B64, any other B32.
//! Numbers are immediates.

use std::collections::HashMap;
use std::sync::Arc;

use nvptx_ra::function::{
    Block, Effects, Function, FunctionBuilder, Inst, MemorySpace, Opcode, OpcodeTable, Operand, OperandFlags, Position,
    RegClass, Role, VReg, Value,
};

/// A function with the names of its registers.
pub(crate) struct Program {
    pub(crate) function: Function,
    regs: HashMap<String, VReg>,
}

/// Returns the properties of each opcode of the tests.
fn opcode(name: &str) -> (&str, Role, Effects, MemorySpace) {
    use MemorySpace::{Generic, Global, Shared};
    let none = Effects::empty();
    match name {
        "copy" => ("COPY", Role::Copy, none, Generic),
        "param" => ("MOV_B32_r", Role::Copy, Effects::CALL_SEQUENCE, Generic),
        "imm" => ("MOV_B32_i", Role::Constant, none, Generic),
        "depot" => ("MOV_DEPOT_ADDR", Role::Constant, none, Generic),
        "pack" => ("V2I32toI64", Role::Pack, none, Generic),
        "unpack" => ("I64toV2I32", Role::Unpack, none, Generic),
        "low" => ("I64toI32L", Role::Extract { index: 0, parts: 2 }, none, Generic),
        "high" => ("I64toI32H", Role::Extract { index: 1, parts: 2 }, none, Generic),
        "undef" => ("IMPLICIT_DEF", Role::Undef, none, Generic),
        "phi" => ("PHI", Role::Phi, none, Generic),
        "dbg" => ("DBG_VALUE", Role::Debug, Effects::META, Generic),
        "ld" => ("LD_i32", Role::Other, Effects::READ, Global),
        "ldnc" => ("LD_GLOBAL_NC_i32", Role::Other, Effects::MAY_FAULT, Global),
        "st" => ("ST_i32", Role::Other, Effects::WRITE, Global),
        "lds" => ("LDS", Role::Other, Effects::READ, Shared),
        "sts" => ("STS", Role::Other, Effects::WRITE, Shared),
        "atom" => ("ATOM", Role::Other, Effects::READ.union(Effects::WRITE).union(Effects::ORDERED), Global),
        "bar" => ("BARRIER", Role::Other, Effects::CONVERGENT.union(Effects::ORDERED), Generic),
        "shfl" => ("SHFL", Role::Other, Effects::CONVERGENT, Generic),
        "asm" => ("INLINEASM", Role::Other, Effects::OPAQUE, Generic),
        "trap" => ("TRAP", Role::Other, Effects::TRAP, Generic),
        "start" => ("Callseq_Start", Role::Other, Effects::CALL_SEQUENCE, Generic),
        "call" => ("CALL", Role::Other, Effects::CALL_SEQUENCE.union(Effects::OPAQUE), Generic),
        "argument" => ("ST_PARAM", Role::Other, Effects::CALL_SEQUENCE.union(Effects::WRITE), Generic),
        "result" => ("LD_PARAM", Role::Other, Effects::CALL_SEQUENCE.union(Effects::READ), Generic),
        "end" => ("Callseq_End", Role::Other, Effects::CALL_SEQUENCE, Generic),
        "goto" => ("GOTO", Role::Other, Effects::TERMINATOR, Generic),
        "br" => ("CBranch", Role::Other, Effects::TERMINATOR, Generic),
        "ret" => ("Return", Role::Other, Effects::TERMINATOR, Generic),
        "add" => ("ADD32rr", Role::Other, none, Generic),
        "addi" => ("ADD32ri", Role::Other, none, Generic),
        other => (other, Role::Other, none, Generic),
    }
}

fn class(name: &str) -> RegClass {
    match name.as_bytes().first() {
        Some(b'p') => RegClass::B1,
        Some(b'h') => RegClass::B16,
        Some(b'w') => RegClass::B64,
        _ => RegClass::B32,
    }
}

fn block(name: &str) -> Option<Block> {
    name.strip_prefix("bb")?.parse().ok().map(Block)
}

/// Collects opcodes and registers, which the builder needs before the instructions.
#[derive(Default)]
struct Names {
    regs: HashMap<String, VReg>,
    order: Vec<RegClass>,
}

impl Names {
    /// `name`, `name!` for an early-clobber definition, `name?` for an undefined read.
    fn operand(&mut self, text: &str, def: bool) -> Operand {
        if let Some(block) = block(text) {
            return Operand::plain(Value::Block(block));
        }
        if let Ok(number) = text.parse() {
            return Operand::immediate(number);
        }
        if let Some(number) = text.strip_prefix('$') {
            let flags = if def { OperandFlags::DEF } else { OperandFlags::empty() };
            return Operand { flags, ..Operand::plain(Value::Physical(number.parse().expect("a number after $"))) };
        }
        let name = text.trim_end_matches(['!', '?']);
        let next = VReg(self.order.len() as u32);
        let reg = *self.regs.entry(name.to_owned()).or_insert(next);
        if reg == next {
            self.order.push(class(name));
        }
        let mut operand = if def { Operand::write(reg) } else { Operand::read(reg) };
        operand.flags.set(OperandFlags::EARLY_CLOBBER, text.ends_with('!'));
        operand.flags.set(OperandFlags::UNDEF, text.ends_with('?'));
        operand
    }
}

/// Builds a function from its text.
pub(crate) fn program(text: &str) -> Program {
    let mut table = OpcodeTable::new();
    table.intern("COPY", Role::Copy);
    for (name, role) in [("MOV_B32_i", Role::Constant), ("MOV_B64_i", Role::Constant), ("ADD32ri", Role::Other)] {
        table.intern(name, role);
    }
    let mut names = Names::default();
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (defs, rest) = line.split_once(" = ").unwrap_or(("", line));
        let mut words = rest.split_whitespace();
        let name = words.next().expect("a line has a word");
        if block(name).is_some() {
            let succs = words.filter_map(block).collect();
            lines.push(Line::Block(succs));
            continue;
        }
        let mut operands: Vec<Operand> = defs.split_whitespace().map(|def| names.operand(def, true)).collect();
        operands.extend(words.map(|word| names.operand(word, false)));
        if name == "tied" {
            operands[1].tied = Some(0);
        }
        let (name, role, effects, space) = opcode(name);
        lines.push(Line::Inst(table.intern(name, role), operands, effects, space));
    }
    let mut builder = FunctionBuilder::new("test", Arc::new(table));
    for &class in &names.order {
        builder.reg(class);
    }
    for line in lines {
        match line {
            Line::Block(succs) => {
                builder.block(&succs, 1.0, 0);
            }
            Line::Inst(opcode, operands, effects, space) => {
                builder.full_inst(opcode, &operands, effects, space, 0);
            }
        }
    }
    Program { function: builder.finish(), regs: names.regs }
}

enum Line {
    Block(Vec<Block>),
    Inst(Opcode, Vec<Operand>, Effects, MemorySpace),
}

impl Program {
    /// Returns the register of that name.
    pub(crate) fn reg(&self, name: &str) -> VReg {
        self.regs[name]
    }

    /// Returns the first instruction that defines the register.
    pub(crate) fn def(&self, name: &str) -> Inst {
        self.nth_def(name, 0)
    }

    /// Returns the `n`-th instruction that defines the register, from 0.
    pub(crate) fn nth_def(&self, name: &str, n: usize) -> Inst {
        let reg = self.reg(name);
        let defines = |inst: &Inst| self.function.operands(*inst).iter().any(|operand| operand.def() == Some(reg));
        self.function.insts().filter(defines).nth(n).expect("a definition")
    }

    /// Returns the `n`-th instruction with the opcode, from 0.
    pub(crate) fn nth(&self, name: &str, n: usize) -> Inst {
        let name = opcode(name).0;
        let table = self.function.opcodes();
        let is_it = |inst: &Inst| table.name(self.function.opcode(*inst)) == name;
        self.function.insts().filter(is_it).nth(n).expect("an instruction")
    }

    /// Returns an opcode of the tests.
    pub(crate) fn opcode(&self, name: &str) -> Opcode {
        self.function.opcodes().find(opcode(name).0).expect("an opcode that the text uses")
    }

    /// Returns the position before an instruction.
    pub(crate) fn before(&self, inst: Inst) -> Position {
        Position { block: self.function.block_of(inst), before: Some(inst) }
    }
}

/// Returns the position before a block's terminators.
pub(crate) fn end_of(block: u32) -> Position {
    Position { block: Block(block), before: None }
}
