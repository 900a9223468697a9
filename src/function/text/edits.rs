//! The text form of edits, which traces print and `nvptx-apply-edits` reads.
//!
//! Ids are read literally, and only the syntax is checked. The callers that apply edits check whether the edits fit a
//! function, and their tests need edits that do not fit.

use std::fmt::{self, Display, Formatter, Write};

use super::ParseError;
use super::cursor::{Cursor, excerpt};
use super::parse::{class_of, constant, opcode_name};
use super::print::{print_opcode_name, print_value, quote};
use crate::function::{
    BitPlace, Block, Edit, EditList, Function, Inst, Opcode, OpcodeTable, Position, RegClass, SharedArray, Slot, VReg,
    Value,
};

/// Parses the edits to `function` from a text that may also have edits to other functions. `None` if the text has none
/// for `function`.
pub(super) fn parse(text: &str, function: &Function) -> Result<Option<EditList>, ParseError> {
    let mut found = None;
    let mut section: Option<(String, EditList)> = None;
    let mut number = 0;
    for (index, line) in text.lines().enumerate() {
        number = index + 1;
        let mut line = Cursor::new(line, number);
        if line.at_end() {
            continue;
        }
        section = match section {
            None => {
                line.expect("function")?;
                let name = line.string("the function's name in quotes")?;
                Some((name.into_owned(), EditList::new(function)))
            }
            Some((name, list)) if line.eat_word("end") => {
                if name == function.name() && found.replace(list).is_some() {
                    return Err(line.error(format!("{} already has edits", excerpt(&name))));
                }
                None
            }
            Some((name, mut list)) => {
                list.push(edit(&mut line, function.opcodes())?);
                Some((name, list))
            }
        };
        line.end()?;
    }
    match section {
        None => Ok(found),
        Some(_) => Err(ParseError { line: number + 1, reason: "the text ends before `end`".into() }),
    }
}

fn edit(line: &mut Cursor<'_>, opcodes: &OpcodeTable) -> Result<Edit, ParseError> {
    let kind = line.token();
    Ok(match kind {
        "create-register" => Edit::CreateRegister { reg: reg(line)?, class: class(line)? },
        "create-slot" => {
            Edit::CreateSlot { slot: slot(line)?, size: labelled(line, "size")?, align: labelled(line, "align")? }
        }
        "create-shared-array" => Edit::CreateSharedArray(SharedArray {
            threads: labelled(line, "threads")?,
            bytes: labelled(line, "bytes")?,
        }),
        "create-shared-slot" => {
            let (slot, size, offset) = (slot(line)?, labelled(line, "size")?, labelled(line, "offset")?);
            let row = if line.at_end() { size } else { labelled(line, "row")? };
            Edit::CreateSharedSlot { slot, size, offset, row }
        }
        "create-bit-slot" => {
            let (slot, word) = (slot(line)?, labelled(line, "word")?);
            Edit::CreateBitSlot { slot, place: BitPlace { word, bit: labelled(line, "bit")? } }
        }
        "split-edge" => Edit::SplitEdge {
            block: block(line)?,
            from: line.expect("from").and_then(|()| block(line))?,
            to: line.expect("to").and_then(|()| block(line))?,
        },
        "insert-copy" => Edit::InsertCopy { inst: inst(line)?, at: place(line)?, dst: reg(line)?, src: reg(line)? },
        "insert-constant" => Edit::InsertConstant {
            inst: inst(line)?,
            at: place(line)?,
            dst: reg(line)?,
            opcode: opcode(line, opcodes)?,
            value: constant(line)?,
        },
        "insert-clone" => Edit::InsertClone { inst: inst(line)?, at: place(line)?, dst: reg(line)?, of: inst(line)? },
        "insert-spill" => Edit::InsertSpill { inst: inst(line)?, at: place(line)?, reg: reg(line)?, slot: slot(line)? },
        "insert-reload" => {
            Edit::InsertReload { inst: inst(line)?, at: place(line)?, reg: reg(line)?, slot: slot(line)? }
        }
        "insert-wide-spill" => Edit::InsertWideSpill { inst: inst(line)?, at: place(line)?, parts: parts(line)? },
        "insert-wide-reload" => Edit::InsertWideReload { inst: inst(line)?, at: place(line)?, parts: parts(line)? },
        "move" => Edit::Move { inst: inst(line)?, at: place(line)? },
        "permute" => {
            let block = block(line)?;
            let mut order = Vec::new();
            while !line.at_end() {
                order.push(inst(line)?);
            }
            Edit::Permute { block, order }
        }
        "set-register" => Edit::SetRegister { inst: inst(line)?, operand: labelled(line, "operand")?, reg: reg(line)? },
        "set-immediate" => Edit::SetImmediate {
            inst: inst(line)?,
            operand: labelled(line, "operand")?,
            opcode: opcode(line, opcodes)?,
            value: line.number("a number of 64 bits")?,
        },
        "set-address" => Edit::SetAddress {
            inst: inst(line)?,
            operand: labelled(line, "operand")?,
            base: reg(line)?,
            offset: line.number("a number of 64 bits")?,
        },
        "set-assembly" => Edit::SetAssembly {
            inst: inst(line)?,
            text: line.string("the text of the assembly in quotes")?.into_owned(),
        },
        "turn-branch" => {
            Edit::TurnBranch { block: block(line)?, comparison: line.expect("comparison").and_then(|()| inst(line))? }
        }
        "insert-pragma" => Edit::InsertPragma { block: block(line)? },
        "set-debug-value" => {
            let inst = inst(line)?;
            let value = if line.eat("$noreg") {
                Value::NoReg
            } else if line.peek() == b'%' {
                Value::Reg(reg(line)?)
            } else {
                Value::Immediate(line.number("a number of 64 bits")?)
            };
            Edit::SetDebugValue { inst, value }
        }
        "merge" => Edit::Merge { from: reg(line)?, into: line.expect("into").and_then(|()| reg(line))? },
        "delete" => Edit::Delete { inst: inst(line)? },
        "insert-directive" => Edit::InsertDirective { text: line.string("a PTX directive in quotes")?.into_owned() },
        "set-attribute" => Edit::SetAttribute {
            key: line.string("the attribute's name in quotes")?.into_owned(),
            value: line.string("the attribute's value in quotes")?.into_owned(),
        },
        _ => return Err(line.error(format!("`{}` is not an edit; docs/mfv.md lists the edits", excerpt(kind)))),
    })
}

fn reg(line: &mut Cursor<'_>) -> Result<VReg, ParseError> {
    line.id("%", "a register, `%N`").map(VReg)
}

fn slot(line: &mut Cursor<'_>) -> Result<Slot, ParseError> {
    line.id("slot", "a slot, `slotN`").map(Slot)
}

/// Parses registers, each with its slot.
fn parts(line: &mut Cursor<'_>) -> Result<Vec<(VReg, Slot)>, ParseError> {
    let mut parts = Vec::new();
    while !line.at_end() {
        parts.push((reg(line)?, slot(line)?));
    }
    Ok(parts)
}

fn block(line: &mut Cursor<'_>) -> Result<Block, ParseError> {
    line.id("bb", "a block, `bbN`").map(Block)
}

fn inst(line: &mut Cursor<'_>) -> Result<Inst, ParseError> {
    line.id("i", "an instruction, `iN`").map(Inst)
}

fn class(line: &mut Cursor<'_>) -> Result<RegClass, ParseError> {
    let class = line.peek_word().and_then(class_of).ok_or_else(|| line.expected("a register class"))?;
    line.word();
    Ok(class)
}

fn opcode(line: &mut Cursor<'_>, opcodes: &OpcodeTable) -> Result<Opcode, ParseError> {
    let name = opcode_name(line)?;
    opcodes.find(&name).ok_or_else(|| line.error(format!("there is no opcode {}", excerpt(&name))))
}

fn labelled<T: std::str::FromStr>(line: &mut Cursor<'_>, label: &str) -> Result<T, ParseError> {
    line.expect(label)?;
    line.number("a number")
}

fn place(line: &mut Cursor<'_>) -> Result<Position, ParseError> {
    line.expect("in")?;
    let block = block(line)?;
    let before = if line.eat_word("before") { Some(inst(line)?) } else { None };
    Ok(Position { block, before })
}

impl Edit {
    /// Returns the edit's line in the text form.
    pub fn display<'a>(&'a self, opcodes: &'a OpcodeTable) -> impl Display + use<'a> {
        Line { edit: self, opcodes }
    }
}

struct Line<'a> {
    edit: &'a Edit,
    opcodes: &'a OpcodeTable,
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.edit.kind())?;
        match *self.edit {
            Edit::CreateRegister { reg, class } => write!(f, "{reg} {}", class.name()),
            Edit::CreateSlot { slot, size, align } => write!(f, "{slot} size {size} align {align}"),
            Edit::CreateSharedArray(SharedArray { threads, bytes }) => write!(f, "threads {threads} bytes {bytes}"),
            Edit::CreateSharedSlot { slot, size, offset, row } => {
                write!(f, "{slot} size {size} offset {offset}")?;
                if row == size { Ok(()) } else { write!(f, " row {row}") }
            }
            Edit::CreateBitSlot { slot, place: BitPlace { word, bit } } => write!(f, "{slot} word {word} bit {bit}"),
            Edit::SplitEdge { block, from, to } => write!(f, "{block} from {from} to {to}"),
            Edit::InsertCopy { inst, at, dst, src } => write!(f, "{inst} {at} {dst} {src}"),
            Edit::InsertConstant { inst, at, opcode, dst, value } => {
                write!(f, "{inst} {at} {dst} ")?;
                print_opcode_name(f, self.opcodes.name(opcode))?;
                f.write_char(' ')?;
                print_value(f, value)
            }
            Edit::InsertClone { inst, at, of, dst } => write!(f, "{inst} {at} {dst} {of}"),
            Edit::InsertSpill { inst, at, reg, slot } | Edit::InsertReload { inst, at, reg, slot } => {
                write!(f, "{inst} {at} {reg} {slot}")
            }
            Edit::InsertWideSpill { inst, at, ref parts } | Edit::InsertWideReload { inst, at, ref parts } => {
                write!(f, "{inst} {at}")?;
                parts.iter().try_for_each(|(reg, slot)| write!(f, " {reg} {slot}"))
            }
            Edit::Move { inst, at } => write!(f, "{inst} {at}"),
            Edit::Permute { block, ref order } => {
                write!(f, "{block}")?;
                order.iter().try_for_each(|inst| write!(f, " {inst}"))
            }
            Edit::SetRegister { inst, operand, reg } => write!(f, "{inst} operand {operand} {reg}"),
            Edit::SetImmediate { inst, operand, opcode, value } => {
                write!(f, "{inst} operand {operand} ")?;
                print_opcode_name(f, self.opcodes.name(opcode))?;
                write!(f, " {value}")
            }
            Edit::SetAddress { inst, operand, base, offset } => write!(f, "{inst} operand {operand} {base} {offset}"),
            Edit::SetAssembly { inst, ref text } => {
                write!(f, "{inst} ")?;
                quote(f, text)
            }
            Edit::TurnBranch { block, comparison } => write!(f, "{block} comparison {comparison}"),
            Edit::InsertPragma { block } => write!(f, "{block}"),
            Edit::SetDebugValue { inst, value: Value::Reg(reg) } => write!(f, "{inst} {reg}"),
            Edit::SetDebugValue { inst, value: Value::Immediate(value) } => write!(f, "{inst} {value}"),
            Edit::SetDebugValue { inst, .. } => write!(f, "{inst} $noreg"),
            Edit::Merge { from, into } => write!(f, "{from} into {into}"),
            Edit::Delete { inst } => write!(f, "{inst}"),
            Edit::InsertDirective { ref text } => quote(f, text),
            Edit::SetAttribute { ref key, ref value } => {
                quote(f, key)?;
                f.write_char(' ')?;
                quote(f, value)
            }
        }
    }
}

impl Display for Position {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "in {}", self.block)?;
        self.before.map_or(Ok(()), |before| write!(f, " before {before}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{FunctionBuilder, Role};
    use std::sync::Arc;

    /// One edit of each kind, as printed.
    const EVERYTHING: &str = "create-register %4 B64
create-slot slot0 size 8 align 4
create-shared-array threads 256 bytes 3072
create-shared-slot slot1 size 8 offset 1024
create-shared-slot slot2 size 4 offset 3072 row 16
create-bit-slot slot3 word 0 bit 31
split-edge bb3 from bb0 to bb2
insert-copy i9 in bb0 before i3 %1 %2
insert-constant i10 in bb1 %1 MOV_B32_i -7
insert-constant i11 in bb1 %1 MOV_B32_i float 0x3f800000
insert-constant i12 in bb1 %1 \"a b\" @2
insert-clone i13 in bb0 %1 i2
insert-spill i14 in bb0 %1 slot0
insert-reload i15 in bb0 %1 slot0
insert-wide-spill i16 in bb0 before i3 %1 slot0 %2 slot1
insert-wide-reload i17 in bb0 %1 slot0 %2 slot1
move i2 in bb1 before i5
permute bb0 i1 i0 i2
set-register i2 operand 1 %3
set-immediate i2 operand 2 MOV_B32_i -1
set-address i2 operand 1 %3 -8
set-assembly i2 \"ld.shared.b32 $0, [$1+8];\"
turn-branch bb1 comparison i4
set-debug-value i2 %1
set-debug-value i2 $noreg
set-debug-value i2 -5
merge %1 into %2
delete i4
insert-pragma bb1
insert-directive \".pragma \\\"x\\\";\"
set-attribute \"key\" \"value=1\"
";

    fn function() -> Function {
        let mut table = OpcodeTable::new();
        table.intern("MOV_B32_i", Role::Constant);
        table.intern("a b", Role::Constant);
        FunctionBuilder::new("k", Arc::new(table)).finish()
    }

    fn parsed(edits: &str) -> Result<Option<EditList>, ParseError> {
        parse(&format!("function \"k\"\n{edits}end\n"), &function())
    }

    #[test]
    fn each_kind_reads_back() {
        let function = function();
        let list = parsed(EVERYTHING).unwrap().unwrap();
        let printed: String =
            list.edits().iter().map(|edit| format!("{}\n", edit.display(function.opcodes()))).collect();
        assert_eq!(printed, EVERYTHING);
    }

    /// A text for several functions gives each function its own edits, and gives none to a function that it does not
    /// contain.
    #[test]
    fn edits_go_to_their_function() {
        let text = "function \"a\"\ndelete i0\nend\n\n; a comment\nfunction \"k\" # another\nmerge %0 into %1\nend\n";
        let list = parse(text, &function()).unwrap().unwrap();
        assert_eq!(list.edits(), [Edit::Merge { from: VReg(0), into: VReg(1) }]);
        assert_eq!(parse("function \"a\"\nend\n", &function()), Ok(None));
    }

    /// A wrong text is rejected with its line and the expected token.
    #[test]
    fn wrong_texts() {
        for (edits, expected) in [
            ("erase i0\n", "line 2: `erase` is not an edit"),
            ("delete\n", "line 2: the line ends where an instruction, `iN` is expected"),
            ("delete i0 i1\n", "line 2: found `i1` where the end of the line is expected"),
            ("set-immediate i0 operand 1 MOV 0\n", "line 2: there is no opcode MOV"),
            ("create-register %0 B33\n", "line 2: found `B33` where a register class is expected"),
            ("insert-constant i0 in bb0 %0 MOV_B32_i %1\n", "found `%1` where a constant is expected"),
            ("end\nfunction \"k\"\n", "line 4: k already has edits"),
            ("end\nfunction \"l\"\n delete i0\n", ""),
        ] {
            match parsed(edits) {
                Err(error) => assert!(!expected.is_empty() && error.to_string().contains(expected), "{error}"),
                Ok(_) => assert_eq!(expected, "", "{edits}"),
            }
        }
    }

    /// Any text is parsed or rejected, without a panic.
    #[test]
    fn any_text_is_read_or_refused() {
        arbtest::arbtest(|source| {
            let mut text = format!("function \"k\"\n{EVERYTHING}end\n").into_bytes();
            for _ in 0..source.int_in_range(1..=4u8)? {
                let at = source.choose_index(text.len())?;
                let end = text.len().min(at + usize::from(source.int_in_range(0..=3u8)?));
                text.splice(at..end, source.bytes(1)?.iter().copied());
            }
            let _ = parse(&String::from_utf8_lossy(&text), &function());
            Ok(())
        });
    }

    #[test]
    fn a_text_that_was_cut_off() {
        let cut_off = parse("function \"k\"\ndelete i0\n", &function());
        assert_eq!(cut_off.unwrap_err().to_string(), "line 3: the text ends before `end`");
    }
}
