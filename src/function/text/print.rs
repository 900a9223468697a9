//! Prints a view as text.

use std::fmt::{self, Display, Formatter, Write};

use super::words::{self, BOUNDS, EFFECTS, FLAGS, REGS_PER_LINE, ROLES, SPACES};
use crate::function::{
    BitPlace, Block, Function, Inst, MemorySpace, NoUnroll, Operand, Role, SharedPlace, Slot, SlotData, Value,
};
use crate::index::EntityIndex;

impl Display for Function {
    /// Prints the text form of a valid function; see the grammar in `docs/mfv.md`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "mfv {}", words::VERSION)?;
        write!(f, "function ")?;
        quote(f, &self.name)?;
        f.write_char('\n')?;
        print_origin(self, f)?;
        print_opcodes(self, f)?;
        print_regs(self, f)?;
        for index in 0..self.num_slots() {
            let slot = Slot::new(index);
            let SlotData { size, align, name, line, shared, bit } = self.slot(slot);
            write!(f, "{slot} size {size} align {align}")?;
            if let Some(name) = name {
                f.write_char(' ')?;
                quote(f, name)?;
            }
            if *line != 0 {
                write!(f, " line {line}")?;
            }
            if let Some(SharedPlace { offset, row }) = shared {
                write!(f, " shared {offset}")?;
                if u64::from(*row) != *size {
                    write!(f, " row {row}")?;
                }
            }
            if let Some(BitPlace { word, bit }) = bit {
                write!(f, " word {word} bit {bit}")?;
            }
            f.write_char('\n')?;
        }
        for (symbol, data) in self.symbols.iter_enumerated() {
            write!(f, "@{} = ", symbol.0)?;
            quote(f, &data.text)?;
            if data.is_dynamic_shared {
                f.write_str(" shared dynamic")?;
            }
            if data.shared_bytes > 0 {
                write!(f, " shared {}", data.shared_bytes)?;
            }
            f.write_char('\n')?;
        }
        for block in self.blocks() {
            print_block(self, block, f)?;
        }
        writeln!(f, "end")
    }
}

/// Prints the launch bounds and the source file, if they are known.
fn print_origin(function: &Function, f: &mut Formatter<'_>) -> fmt::Result {
    if let Some(mut bounds) = function.kernel().copied() {
        f.write_str("kernel")?;
        for (bound, word) in BOUNDS {
            if let Some(bound) = bound(&mut bounds) {
                write!(f, " {word} {bound}")?;
            }
        }
        f.write_char('\n')?;
    }
    if let Some(file) = function.file() {
        f.write_str("file ")?;
        quote(f, file)?;
        f.write_char('\n')?;
    }
    Ok(())
}

/// Prints the opcodes that are used, by name. A change to an instruction does not affect this order.
fn print_opcodes(function: &Function, f: &mut Formatter<'_>) -> fmt::Result {
    let mut used = vec![false; function.opcodes.len()];
    for &opcode in function.inst_opcode.iter() {
        used[opcode.index()] = true;
    }
    let mut opcodes: Vec<_> = function.opcodes.ids().filter(|opcode| used[opcode.index()]).collect();
    opcodes.sort_by_key(|&opcode| function.opcodes.name(opcode));
    for opcode in opcodes {
        f.write_str("opcode ")?;
        print_opcode_name(f, function.opcodes.name(opcode))?;
        match function.opcodes.role(opcode) {
            Role::Other => {}
            Role::Extract { index, parts } => write!(f, " extract {index} of {parts}")?,
            role => {
                for (_, word) in ROLES.iter().filter(|(known, _)| *known == role) {
                    write!(f, " {word}")?;
                }
            }
        }
        f.write_char('\n')?;
    }
    Ok(())
}

fn print_regs(function: &Function, f: &mut Formatter<'_>) -> fmt::Result {
    for (reg, data) in function.regs.iter_enumerated() {
        if reg.index().is_multiple_of(REGS_PER_LINE) {
            let line_end = if reg.index() == 0 { "" } else { "\n" };
            write!(f, "{line_end}regs {reg}")?;
        }
        write!(f, " {}", data.class.name())?;
        if let Some(name) = &data.name {
            f.write_char(' ')?;
            quote(f, name)?;
        }
    }
    if function.num_regs() > 0 { f.write_char('\n') } else { Ok(()) }
}

fn print_block(function: &Function, block: Block, f: &mut Formatter<'_>) -> fmt::Result {
    // `{:?}` prints the shortest decimal that parses to the same number.
    write!(f, "{block}: frequency {:?} depth {}", function.frequency(block), function.loop_depth(block))?;
    f.write_str(match function.no_unroll(block) {
        NoUnroll::Absent => "",
        NoUnroll::Here => " nounroll",
        NoUnroll::Ahead => " nounroll ahead",
        NoUnroll::Back => " nounroll back",
    })?;
    if !function.succs(block).is_empty() {
        f.write_str(" ->")?;
    }
    for succ in function.succs(block) {
        write!(f, " {succ}")?;
    }
    f.write_char('\n')?;
    function.block_insts(block).try_for_each(|inst| print_inst(function, inst, f))
}

fn print_inst(function: &Function, inst: Inst, f: &mut Formatter<'_>) -> fmt::Result {
    let operands = function.operands(inst);
    let defs = operands.iter().take_while(|operand| operand.is_def()).count();
    f.write_str("  ")?;
    for (index, operand) in operands[..defs].iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        print_operand(f, operand, true)?;
    }
    if defs > 0 {
        f.write_str(" = ")?;
    }
    print_opcode_name(f, function.opcodes.name(function.opcode(inst)))?;
    for (index, operand) in operands[defs..].iter().enumerate() {
        f.write_str(if index == 0 { " " } else { ", " })?;
        print_operand(f, operand, false)?;
    }
    print_attributes(function, inst, f)?;
    f.write_char('\n')
}

fn print_attributes(function: &Function, inst: Inst, f: &mut Formatter<'_>) -> fmt::Result {
    let (effects, space, line) = (function.effects(inst), function.memory_space(inst), function.line(inst));
    if effects.is_empty() && space == MemorySpace::Generic && line == 0 {
        return Ok(());
    }
    f.write_str(" ::")?;
    for (_, word) in EFFECTS.iter().filter(|(effect, _)| effects.contains(*effect)) {
        write!(f, " {word}")?;
    }
    for (_, word) in SPACES.iter().filter(|(known, _)| *known == space) {
        write!(f, " {word}")?;
    }
    if line == 0 { Ok(()) } else { write!(f, " line {line}") }
}

/// Prints an operand. A definition left of `=` is printed without its flag.
fn print_operand(f: &mut Formatter<'_>, operand: &Operand, is_definition: bool) -> fmt::Result {
    for (_, word) in FLAGS.iter().skip(usize::from(is_definition)).filter(|(flag, _)| operand.flags.contains(*flag)) {
        write!(f, "{word} ")?;
    }
    print_value(f, operand.value)?;
    match operand.tied {
        Some(other) => write!(f, " tied {other}"),
        None => Ok(()),
    }
}

pub(super) fn print_value(f: &mut Formatter<'_>, value: Value) -> fmt::Result {
    match value {
        Value::Reg(reg) => write!(f, "{reg}"),
        Value::Physical(number) => write!(f, "${number}"),
        Value::NoReg => f.write_str("$noreg"),
        Value::Immediate(value) => write!(f, "{value}"),
        Value::Float(bits) => write!(f, "float {bits:#x}"),
        Value::Symbol(symbol) => write!(f, "@{}", symbol.0),
        Value::Block(block) => write!(f, "{block}"),
        Value::Slot(slot) => write!(f, "{slot}"),
    }
}

pub(super) fn print_opcode_name(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    if words::is_plain(name) { f.write_str(name) } else { quote(f, name) }
}

/// Prints a string in quotes, on one line.
pub(super) fn quote(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            control if control.is_control() => write!(f, "\\u{{{:x}}}", u32::from(control))?,
            plain => f.write_char(plain)?,
        }
    }
    f.write_char('"')
}
