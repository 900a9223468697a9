//! Tests of the text form. A printed function parses to itself, and an invalid text is rejected with a line and a
//! remedy.

use std::sync::Arc;

use crate::function::{
    Block, Effects, Function, FunctionBuilder, LaunchBounds, MemorySpace, OpcodeTable, Operand, OperandFlags, RegClass,
    Role, Symbol, Value,
};

/// Every construct of the text form, as printed.
const EVERYTHING: &str = include_str!("everything.mfv");

fn error_of(text: &str) -> String {
    Function::parse(text).expect_err("a wrong text").to_string()
}

/// Returns a text with `line` in a function of one block, three registers, a slot and a symbol.
fn with_line(line: &str) -> String {
    format!(
        "mfv 1\nfunction \"f\"\nopcode ADD\nopcode COPY copy\nregs %0 B32 B32 B64\nslot0 size 8 align 8\n@0 = \"s\"\n\
         bb0: frequency 1.0 depth 0\n{line}\nend\n"
    )
}

#[test]
fn a_canonical_text_prints_back_byte_for_byte() {
    let function = Function::parse(EVERYTHING).unwrap();
    assert_eq!(function.to_string(), EVERYTHING);
    assert_eq!(function.validate(), Ok(()));
}

#[test]
fn a_parsed_function_has_what_the_text_says() {
    let function = Function::parse(EVERYTHING).unwrap();
    assert_eq!(function.name(), "k\"\\\n\u{1}é");
    assert_eq!(
        function.kernel(),
        Some(&LaunchBounds {
            max_threads: Some(256),
            required_threads: Some(128),
            min_blocks: Some(2),
            max_registers: Some(64),
        })
    );
    assert_eq!(function.file(), Some("/a \"b\"/k.cu"));
    assert_eq!([0, 1, 2].map(|symbol| function.shared_bytes(Symbol(symbol))), [0, 0, 4096]);
    assert_eq!(function.num_blocks(), 4);
    assert_eq!(function.succs(Block(0)), [Block(1), Block(2)]);
    assert_eq!(function.frequency(Block(1)).to_bits(), 0.1f64.to_bits());
    assert_eq!(function.loop_depth(Block(1)), 2);
    let load = function.block_insts(Block(0)).find(|&inst| function.memory_space(inst) == MemorySpace::Global).unwrap();
    assert_eq!(function.effects(load), Effects::READ | Effects::ORDERED);
    assert_eq!(function.line(load), 12);
    assert_eq!(function.operands(load)[0], Operand::write(crate::function::VReg(0)));
}

/// Each line about the function is optional, and so is each launch bound. A view without launch bounds is not a kernel.
#[test]
fn what_is_not_known_of_a_function_is_left_out() {
    for head in ["", "kernel\n", "kernel reqntid 32 maxnreg 255\n", "file \"k.cu\"\n", "kernel minctasm 1\nfile \"\"\n"]
    {
        let text = format!("mfv 1\nfunction \"f\"\n{head}@0 = \"s\"\nend\n");
        let function = Function::parse(&text).unwrap();
        assert_eq!(function.to_string(), text);
        assert_eq!(function.kernel().is_some(), head.starts_with("kernel"));
        assert_eq!(function.file().is_some(), head.contains("file"));
    }
}

#[test]
fn comments_blank_lines_and_blanks_do_not_matter() {
    let plain = with_line("  %0 = ADD %1, 5 :: read line 3");
    let adorned = with_line("\n ; a comment\n\t%0=ADD %1 ,5::read line 3# another\r\n");
    assert_eq!(Function::parse(&adorned).unwrap().to_string(), Function::parse(&plain).unwrap().to_string());
}

#[test]
fn frequencies_keep_every_bit() {
    for frequency in [0.0, -0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, 1.0 / 3.0, 123_456_789.123_456_78] {
        let mut builder = FunctionBuilder::new("f", Arc::default());
        builder.block(&[], frequency, 0);
        let parsed = Function::parse(&builder.finish().to_string()).unwrap();
        assert_eq!(parsed.frequency(Block(0)).to_bits(), frequency.to_bits());
    }
}

#[test]
fn opcodes_with_any_name_read_back() {
    let names =
        ["def", "bb7", "slot0", "float", "end", "", "a b", "ü", "1x", "regs", "\"", "x:", "PHI", "tied", "line"];
    let mut table = OpcodeTable::new();
    let opcodes = names.map(|name| table.intern(name, Role::Other));
    let mut builder = FunctionBuilder::new("f", Arc::new(table));
    builder.block(&[], 1.0, 0);
    let reg = builder.reg(RegClass::B32);
    for opcode in opcodes {
        builder.inst(opcode, &[], Effects::empty());
        builder.inst(opcode, &[Operand::write(reg), Operand::read(reg)], Effects::WRITE);
    }
    let text = builder.finish().to_string();
    assert_eq!(Function::parse(&text).unwrap().to_string(), text);
}

#[test]
fn known_opcodes_join_the_table_and_the_text_has_the_last_word() {
    let mut known = OpcodeTable::new();
    known.intern("MOV_B32_i", Role::Constant);
    known.intern("ADD", Role::Pack);
    let function = Function::parse_with(&with_line("%0 = ADD %1"), &known).unwrap();
    let role_of = |name| function.opcodes().find(name).map(|opcode| function.opcodes().role(opcode));
    assert_eq!(role_of("MOV_B32_i"), Some(Role::Constant));
    assert_eq!(role_of("ADD"), Some(Role::Other));
}

#[test]
fn every_prefix_of_a_text_is_refused() {
    let whole = EVERYTHING.trim_end();
    for (end, _) in whole.char_indices() {
        assert!(Function::parse(&whole[..end]).is_err(), "{}", &whole[..end]);
    }
    assert!(Function::parse(whole).is_ok());
}

#[test]
fn no_single_byte_changed_makes_the_parser_panic() {
    for at in 0..EVERYTHING.len() {
        for byte in [b'0', b'9', b'%', b'"', b'\\', b' ', b'\n', b':', b'-', b'{', 0xff] {
            let mut bytes = EVERYTHING.as_bytes().to_vec();
            bytes[at] = byte;
            if let Ok(function) = Function::parse(&String::from_utf8_lossy(&bytes)) {
                // A text that parses is printed as a text that parses to the same function.
                let text = function.to_string();
                assert_eq!(Function::parse(&text).unwrap().to_string(), text);
                let _ = function.validate();
            }
        }
    }
}

#[test]
fn errors_name_the_line_and_what_is_expected() {
    for (line, message) in [
        ("%3 = ADD %0", "line 9: %3 is not declared; declare it before the first block (3 are declared, from %0 on)"),
        ("%0 = ADD @1", "line 9: @1 is not declared; declare it before the first block (1 are declared, from @0 on)"),
        (
            "%0 = ADD slot1",
            "line 9: slot1 is not declared; declare it before the first block (1 are declared, from slot0 on)",
        ),
        ("%0 = ADD bb1", "line 9: bb1 is referenced, but there are only 1 blocks"),
        ("%0 = SUB %1", "line 9: the opcode SUB is not declared; add `opcode NAME ROLE`"),
        ("%0 = end", "line 9: `end` is a reserved word; put an opcode of that name in quotes"),
        ("%0 = ADD 9223372036854775808", "line 9: found `9223372036854775808` where a number of 64 bits is expected"),
        ("%0 = ADD %4294967296", "line 9: found `%4294967296` where a register, `%N` is expected"),
        ("%0 = ADD %1 tied 2", "line 9: tied to operand 2 of 2; they are numbered from 0"),
        ("%0 = ADD %1 tied 65536", "line 9: found `65536` where the number of an operand, 0 to 65535 is expected"),
        ("%0 = ADD float 1.5", "line 9: found `1.5` where the bits of a number, `0x…` is expected"),
        ("%0 = ADD %1,", "line 9: the line ends where an operand is expected"),
        ("%0 ADD", "line 9: found `ADD` where `=` is expected"),
        ("%0 = ADD %1 %2", "line 9: found `%2` where the end of the line is expected"),
        ("ADD %1 :: reads", "line 9: found `reads` where an effect, a memory space or `line N` is expected"),
        ("regs %3 B32", "line 9: the opcode regs is not declared; add `opcode NAME ROLE`"),
        ("bb0: frequency 1.0 depth 0", "line 9: bb0 is declared twice; the next is bb1"),
        ("bb2: frequency 1.0 depth 0", "line 9: bb2 is out of order; the next is bb1"),
        ("bb1: frequency 1e999 depth 0", "line 9: the frequency is too large or not a number; use a finite number"),
        ("bb1: frequency NaN depth 0", "line 9: the frequency is too large or not a number; use a finite number"),
        ("bb1: frequency 1.0 depth -1", "line 9: found `-1` where a loop depth, a small number is expected"),
        ("bb1: frequency 1.0 depth 0 ->", "line 9: the line ends where a block, `bbN` is expected"),
        ("\"ADD", "line 9: a string is not closed: `\"` is missing"),
        ("\"\\u{110000}\"", "line 9: a wrong escape: `\\u{…}` takes the hexadecimal number of a character"),
        ("\"\\x\"", "line 9: a wrong escape: `\\\"`, `\\\\`, `\\n` and `\\u{…}` are known"),
        ("end\nend", "line 10: text after `end`; one file holds one function"),
    ] {
        assert_eq!(error_of(&with_line(line)), message, "{line}");
    }
}

#[test]
fn errors_of_the_header_name_the_line_and_what_is_expected() {
    for (text, message) in [
        ("", "line 1: the text ends before `end`"),
        ("mfv 2\n", "line 1: version 2 is not known; this program reads version 1"),
        ("\u{7f}ELF", "line 1: found `\\u{7f}ELF` where `mfv` is expected"),
        ("mfv 1\nfunction f", "line 2: found `f` where the function's name in quotes is expected"),
        ("mfv 1\nfunction \"f\"\nkernel maxnreg 0", "line 3: found `0` where a number, 1 or more, is expected"),
        (
            "mfv 1\nfunction \"f\"\nkernel maxnreg 9 maxntid 9",
            "line 3: found `maxntid` where the end of the line is expected",
        ),
        (
            "mfv 1\nfunction \"f\"\nfile k.cu",
            "line 3: found `k.cu` where the path of the source file in quotes is expected",
        ),
        ("mfv 1\nfunction \"f\"\n@0 = \"s\" shared -1", "line 3: found `-1` where a number of bytes is expected"),
        ("mfv 1\nfunction \"f\"\nregs %1 B32", "line 3: %1 is out of order; the next is %0"),
        ("mfv 1\nfunction \"f\"\nregs %0 B8", "line 3: found `B8` where a register class is expected"),
        ("mfv 1\nfunction \"f\"\nregs %0 B32\nregs %0 B32", "line 4: %0 is declared twice; the next is %1"),
        ("mfv 1\nfunction \"f\"\nopcode A\nopcode A", "line 4: the opcode A is declared twice; remove one"),
        ("mfv 1\nfunction \"f\"\nopcode A new", "line 3: found `new` where a role is expected"),
        ("mfv 1\nfunction \"f\"\nopcode A extract 2 of 2", "line 3: part 2 of 2 parts; parts are numbered from 0"),
        (
            "mfv 1\nfunction \"f\"\nADD",
            "line 3: found `ADD` where `opcode`, `regs`, a slot, a symbol, a block or `end` is expected",
        ),
    ] {
        assert_eq!(error_of(text), message, "{text}");
    }
}

#[test]
fn an_error_repeats_little_of_a_long_line() {
    assert!(error_of(&with_line(&"x".repeat(1_000_000))).len() < 200);
    assert!(error_of(&with_line(&format!("%{}", "9".repeat(1_000_000)))).len() < 200);
}

#[test]
fn a_line_may_be_long() {
    let line = format!("%0 = ADD {}%1", "%1, ".repeat(250_000));
    let function = Function::parse(&with_line(&line)).unwrap();
    assert_eq!(function.operands.len(), 250_002);
}

#[test]
fn a_function_without_anything_reads_back() {
    let text = FunctionBuilder::new("", Arc::default()).finish().to_string();
    assert_eq!(text, "mfv 1\nfunction \"\"\nend\n");
    assert_eq!(Function::parse(&text).unwrap().to_string(), text);
}

#[test]
fn a_definition_that_is_not_in_front_keeps_its_place() {
    let mut table = OpcodeTable::new();
    let asm = table.intern("INLINEASM", Role::Other);
    let mut builder = FunctionBuilder::new("f", Arc::new(table));
    builder.block(&[], 1.0, 0);
    let reg = builder.reg(RegClass::B32);
    let early =
        Operand { flags: OperandFlags::DEF | OperandFlags::EARLY_CLOBBER, tied: Some(2), ..Operand::write(reg) };
    let read = Operand { tied: Some(1), ..Operand::read(reg) };
    let inst = builder.inst(asm, &[Operand::plain(Value::Immediate(i64::MIN)), early, read], Effects::OPAQUE);
    let function = builder.finish();
    let parsed = Function::parse(&function.to_string()).unwrap();
    assert_eq!(parsed.operands(inst), function.operands(inst));
}
