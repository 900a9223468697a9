//! Parses a view from text.
//!
//! Memory use is proportional to the text. No number in the text determines a size, because registers, slots and
//! symbols are declared one by one, in the order of their ids.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::ParseError;
use super::cursor::{Cursor, excerpt};
use super::words::{self, BOUNDS, EFFECTS, FLAGS, ROLES, SPACES};
use crate::function::{
    BitPlace, Block, Effects, Function, FunctionBuilder, LaunchBounds, MemorySpace, NoUnroll, OpcodeTable, Operand,
    OperandFlags, RegClass, Role, SharedPlace, Slot, Symbol, VReg, Value,
};

/// Parses a function. `known` opcodes are added to its table.
pub(super) fn parse(text: &str, known: &OpcodeTable) -> Result<Function, ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError { line: 1, reason: "the text is longer than 4 GiB, and ids have 32 bits".into() });
    }
    let mut lines = text.lines().enumerate().map(|(index, line)| Cursor::new(line, index + 1)).filter(|l| !l.at_end());
    let cut_off = || {
        let reason = "the text ends before `end`".into();
        ParseError { line: text.lines().count() + 1, reason }
    };

    let mut line = lines.next().ok_or_else(cut_off)?;
    line.expect("mfv")?;
    let version: u32 = line.number("a version, `1`")?;
    if version != words::VERSION {
        return Err(
            line.error(format!("version {version} is not known; this program reads version {}", words::VERSION))
        );
    }
    line.end()?;
    let mut line = lines.next().ok_or_else(cut_off)?;
    line.expect("function")?;
    let mut parser = Parser::new(&line.string("the function's name in quotes")?);
    line.end()?;

    let mut line = lines.next().ok_or_else(cut_off)?;
    if line.eat_word("kernel") {
        parser.kernel(&mut line)?;
        line.end()?;
        line = lines.next().ok_or_else(cut_off)?;
    }
    if line.eat_word("file") {
        parser.builder.file(&line.string("the path of the source file in quotes")?);
        line.end()?;
        line = lines.next().ok_or_else(cut_off)?;
    }
    while !line.eat_word("end") {
        parser.line(&mut line)?;
        line.end()?;
        line = lines.next().ok_or_else(cut_off)?;
    }
    line.end()?;
    match lines.next() {
        Some(line) => Err(line.error("text after `end`; one file holds one function")),
        None => parser.finish(known),
    }
}

struct Parser {
    opcodes: OpcodeTable,
    builder: FunctionBuilder,
    blocks: u32,
    regs: u32,
    slots: u32,
    symbols: u32,
    /// The highest block that is referenced, and the line of the reference. Blocks may be referenced before they begin.
    last_block_named: Option<(Block, usize)>,
    operands: Vec<Operand>,
}

impl Parser {
    fn new(name: &str) -> Self {
        Self {
            opcodes: OpcodeTable::new(),
            // The table is set when all opcodes are known.
            builder: FunctionBuilder::new(name, Arc::default()),
            blocks: 0,
            regs: 0,
            slots: 0,
            symbols: 0,
            last_block_named: None,
            operands: Vec::new(),
        }
    }

    fn finish(mut self, known: &OpcodeTable) -> Result<Function, ParseError> {
        if let Some((block, line)) = self.last_block_named.filter(|(block, _)| block.0 >= self.blocks) {
            let reason = format!("{block} is referenced, but there are only {} blocks", self.blocks);
            return Err(ParseError { line, reason });
        }
        for opcode in known.ids() {
            self.opcodes.intern(known.name(opcode), known.role(opcode));
        }
        let mut function = self.builder.finish();
        function.opcodes = Arc::new(self.opcodes);
        Ok(function)
    }

    /// Parses the bounds after `kernel`.
    fn kernel(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        let mut bounds = LaunchBounds::default();
        for (bound, word) in BOUNDS {
            if line.eat_word(word) {
                let value: NonZeroU32 = line.number("a number, 1 or more,")?;
                *bound(&mut bounds) = Some(value.get());
            }
        }
        self.builder.kernel(bounds);
        Ok(())
    }

    fn line(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        if line.peek_word().is_some_and(|word| word.starts_with("bb") && words::is_reserved(word)) {
            // In a valid view, no instruction writes to a block, so this line begins a block.
            return self.block(line);
        }
        if self.blocks > 0 {
            return self.instruction(line);
        }
        match line.peek_word() {
            Some("opcode") => self.opcode(line),
            Some("regs") => self.registers(line),
            Some(word) if word.starts_with("slot") => self.slot(line),
            None if line.peek() == b'@' => self.symbol(line),
            _ => Err(line.expected("`opcode`, `regs`, a slot, a symbol, a block or `end`")),
        }
    }

    fn opcode(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        line.expect("opcode")?;
        let name = opcode_name(line)?;
        if self.opcodes.find(&name).is_some() {
            return Err(line.error(format!("the opcode {} is declared twice; remove one", excerpt(&name))));
        }
        let role = match line.peek_word() {
            None => Role::Other,
            Some("extract") => {
                line.expect("extract")?;
                let index = line.number("the number of a part, 0 to 255")?;
                line.expect("of")?;
                let parts = line.number("the number of parts, 1 to 255")?;
                if index >= parts {
                    return Err(line.error(format!("part {index} of {parts} parts; parts are numbered from 0")));
                }
                Role::Extract { index, parts }
            }
            Some(word) => {
                let role = words::find(&ROLES, word).ok_or_else(|| line.expected("a role"))?;
                line.word();
                role
            }
        };
        self.opcodes.intern(&name, role);
        Ok(())
    }

    fn registers(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        line.expect("regs")?;
        let first = line.id("%", "a register, `%N`")?;
        in_order(line, '%', first, self.regs)?;
        while !line.at_end() {
            let class = line.peek_word().and_then(class_of).ok_or_else(|| line.expected("a register class"))?;
            line.word();
            if line.peek() == b'"' {
                let name = line.string("a register's name")?;
                self.builder.named_reg(class, Some(&name));
            } else {
                self.builder.reg(class);
            }
            self.regs += 1;
        }
        Ok(())
    }

    fn slot(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        let slot = line.id("slot", "a slot, `slotN`")?;
        in_order(line, "slot", slot, self.slots)?;
        line.expect("size")?;
        let size: u64 = line.number("a number of bytes")?;
        line.expect("align")?;
        let align = line.number("a number of bytes")?;
        let name = if line.peek() == b'"' { Some(line.string("a variable's name")?) } else { None };
        let declared = if line.eat_word("line") { line.number("a line")? } else { 0 };
        let slot = self.builder.named_slot(size, align, name.as_deref(), declared);
        if line.eat_word("shared") {
            let offset = line.number("an offset")?;
            let row = if line.eat_word("row") { line.number("bytes of a row")? } else { size as u32 };
            self.builder.place_in_shared(slot, SharedPlace { offset, row });
        }
        if line.eat_word("word") {
            let word = line.number("a word's number")?;
            line.expect("bit")?;
            self.builder.make_bit(slot, BitPlace { word, bit: line.number("a bit's number")? });
        }
        self.slots += 1;
        Ok(())
    }

    fn symbol(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        let symbol = line.id("@", "a symbol, `@N`")?;
        in_order(line, '@', symbol, self.symbols)?;
        line.expect("=")?;
        let text = line.string("the symbol's text in quotes")?;
        if line.eat_word("shared") {
            match line.eat_word("dynamic") {
                true => self.builder.dynamic_shared_symbol(&text),
                false => self.builder.shared_symbol(&text, line.number("a number of bytes")?),
            };
        } else {
            self.builder.symbol(&text);
        }
        self.symbols += 1;
        Ok(())
    }

    fn block(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        let block = line.id("bb", "a block, `bbN:`")?;
        line.expect(":")?;
        in_order(line, "bb", block, self.blocks)?;
        line.expect("frequency")?;
        let frequency: f64 = line.number("a frequency, such as `1.0`")?;
        if !frequency.is_finite() {
            return Err(line.error("the frequency is too large or not a number; use a finite number"));
        }
        line.expect("depth")?;
        let depth = line.number("a loop depth, a small number")?;
        let no_unroll = match line.eat_word("nounroll") {
            false => NoUnroll::Absent,
            true if line.eat_word("ahead") => NoUnroll::Ahead,
            true if line.eat_word("back") => NoUnroll::Back,
            true => NoUnroll::Here,
        };
        let mut succs = Vec::new();
        if line.eat("->") {
            while succs.is_empty() || !line.at_end() {
                let succ = line.id("bb", "a block, `bbN`")?;
                succs.push(self.name_block(succ, line));
            }
        }
        let block = self.builder.block(&succs, frequency, depth);
        self.builder.no_unroll(block, no_unroll);
        self.blocks += 1;
        Ok(())
    }

    fn instruction(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        let mut operands = std::mem::take(&mut self.operands);
        operands.clear();
        let begins_with_opcode = line.peek() == b'"' || line.peek_word().is_some_and(|word| !words::is_reserved(word));
        if !begins_with_opcode {
            self.operands(line, OperandFlags::DEF, &mut operands)?;
            line.expect("=")?;
        }
        let name = opcode_name(line)?;
        let Some(opcode) = self.opcodes.find(&name) else {
            return Err(line.error(format!("the opcode {} is not declared; add `opcode NAME ROLE`", excerpt(&name))));
        };
        if !line.at_end() && line.peek() != b':' {
            self.operands(line, OperandFlags::empty(), &mut operands)?;
        }
        if let Some(tied) = operands.iter().filter_map(|o| o.tied).find(|&tied| usize::from(tied) >= operands.len()) {
            return Err(line.error(format!("tied to operand {tied} of {}; they are numbered from 0", operands.len())));
        }
        let (effects, space, source_line) = attributes(line)?;
        self.builder.full_inst(opcode, &operands, effects, space, source_line);
        self.operands = operands;
        Ok(())
    }

    /// Parses operands, separated by commas. Each operand also gets `flags`.
    fn operands(
        &mut self,
        line: &mut Cursor<'_>,
        flags: OperandFlags,
        operands: &mut Vec<Operand>,
    ) -> Result<(), ParseError> {
        loop {
            let mut operand = self.operand(line)?;
            operand.flags |= flags;
            operands.push(operand);
            if !line.eat(",") {
                return Ok(());
            }
        }
    }

    fn operand(&mut self, line: &mut Cursor<'_>) -> Result<Operand, ParseError> {
        let mut flags = OperandFlags::empty();
        while let Some(flag) = line.peek_word().and_then(|word| words::find(&FLAGS, word)) {
            line.word();
            flags |= flag;
        }
        let value = self.value(line)?;
        let tied = match line.eat_word("tied") {
            true => Some(line.number("the number of an operand, 0 to 65535")?),
            false => None,
        };
        Ok(Operand { value, flags, tied })
    }

    fn value(&mut self, line: &mut Cursor<'_>) -> Result<Value, ParseError> {
        match line.peek() {
            b'%' => {
                let reg = line.id("%", "a register, `%N`")?;
                declared(line, '%', reg, self.regs).map(|()| Value::Reg(VReg(reg)))
            }
            b'@' => {
                let symbol = line.id("@", "a symbol, `@N`")?;
                declared(line, '@', symbol, self.symbols).map(|()| Value::Symbol(Symbol(symbol)))
            }
            b'$' if line.eat("$noreg") => Ok(Value::NoReg),
            b'$' => line.id("$", "a physical register, `$N`").map(Value::Physical),
            b'-' | b'0'..=b'9' => constant(line),
            b's' => {
                let slot = line.id("slot", "an operand")?;
                declared(line, "slot", slot, self.slots).map(|()| Value::Slot(Slot(slot)))
            }
            b'f' if line.peek_word() == Some("float") => constant(line),
            _ => {
                let block = line.id("bb", "an operand")?;
                Ok(Value::Block(self.name_block(block, line)))
            }
        }
    }

    /// Records a reference to a block that may begin later.
    fn name_block(&mut self, block: u32, line: &Cursor<'_>) -> Block {
        let block = Block(block);
        if self.last_block_named.is_none_or(|(last, _)| last < block) {
            self.last_block_named = Some((block, line.number_of_line()));
        }
        block
    }
}

/// Parses the attributes after `::`, if there are any: effects, memory space, source line.
fn attributes(line: &mut Cursor<'_>) -> Result<(Effects, MemorySpace, u32), ParseError> {
    let (mut effects, mut space, mut source_line) = (Effects::empty(), MemorySpace::Generic, 0);
    if line.eat("::") {
        while !line.at_end() {
            let word = line.peek_word().unwrap_or_default();
            let effect = words::find(&EFFECTS, word);
            let known_space = words::find(&SPACES, word);
            if effect.is_none() && known_space.is_none() && word != "line" {
                return Err(line.expected("an effect, a memory space or `line N`"));
            }
            line.word();
            effects |= effect.unwrap_or_default();
            space = known_space.unwrap_or(space);
            if word == "line" {
                source_line = line.number("a line's number")?;
            }
        }
    }
    Ok((effects, space, source_line))
}

pub(super) fn opcode_name<'a>(line: &mut Cursor<'a>) -> Result<std::borrow::Cow<'a, str>, ParseError> {
    match line.peek_word() {
        Some(word) if words::is_reserved(word) => {
            Err(line.error(format!("`{}` is a reserved word; put an opcode of that name in quotes", excerpt(word))))
        }
        Some(word) => {
            line.word();
            Ok(word.into())
        }
        None => line.string("an opcode"),
    }
}

/// Parses an immediate, a float or a symbol. The symbol need not be declared.
pub(super) fn constant(line: &mut Cursor<'_>) -> Result<Value, ParseError> {
    match line.peek() {
        b'-' | b'0'..=b'9' => line.number("a number of 64 bits").map(Value::Immediate),
        b'@' => line.id("@", "a symbol, `@N`").map(|symbol| Value::Symbol(Symbol(symbol))),
        b'f' if line.eat_word("float") => line.hexadecimal("the bits of a number, `0x…`").map(Value::Float),
        _ => Err(line.expected("a constant")),
    }
}

pub(super) fn class_of(word: &str) -> Option<RegClass> {
    RegClass::ALL.into_iter().chain([RegClass::Other]).find(|class| class.name() == word)
}

/// Requires that a declared id is the next free one.
fn in_order(line: &Cursor<'_>, prefix: impl std::fmt::Display, id: u32, next: u32) -> Result<(), ParseError> {
    match id {
        _ if id == next => Ok(()),
        _ if id < next => Err(line.error(format!("{prefix}{id} is declared twice; the next is {prefix}{next}"))),
        _ => Err(line.error(format!("{prefix}{id} is out of order; the next is {prefix}{next}"))),
    }
}

/// Requires that a used id is declared.
fn declared(line: &Cursor<'_>, prefix: impl std::fmt::Display, id: u32, count: u32) -> Result<(), ParseError> {
    if id < count {
        return Ok(());
    }
    Err(line.error(format!(
        "{prefix}{id} is not declared; declare it before the first block ({count} are declared, from {prefix}0 on)"
    )))
}
