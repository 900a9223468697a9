//! PTX programs: straight code, forward branches, counted loops, and definitions under predicates.

use std::fmt::Write as _;

use arbitrary::{Result, Unstructured};

use super::shared::{REGISTERS, Shared};

/// The number of predicates.
const PREDICATES: usize = 3;

/// The share of statements on shared memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    Nothing,
    Half,
    Most,
}

struct Program<'u, 'b> {
    u: &'u mut Unstructured<'b>,
    text: String,
    registers: usize,
    labels: usize,
    /// Nesting depth of branches and loops; at the limit, no nested branches or loops are drawn.
    depth: usize,
    share: Share,
    shared: Shared,
}

/// Draws a kernel that loads, computes and stores.
pub(super) fn program(u: &mut Unstructured<'_>) -> Result<String> {
    let share = if u.ratio(1, 4)? { Share::Half } else { Share::Nothing };
    program_with(u, share)
}

/// Draws a kernel of accesses to shared memory, with branches and loops around them.
pub(super) fn tile(u: &mut Unstructured<'_>) -> Result<String> {
    program_with(u, Share::Most)
}

fn program_with(u: &mut Unstructured<'_>, share: Share) -> Result<String> {
    let registers = if u.ratio(1, 2)? { u.int_in_range(20..=50)? } else { u.int_in_range(4..=14)? };
    let mut text = ".version 8.7\n.target sm_90\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 k_param_0,\n\
        \t.param .u32 k_param_1\n)\n.reqntid 32, 1, 1\n{\n"
        .to_owned();
    let _ = writeln!(text, "\t.reg .pred \t%p<{PREDICATES}>;\n\t.reg .b32 \t%r<{registers}>;\n\t.reg .b64 \t%rd<2>;");
    let _ = writeln!(text, "\t.reg .b32 \t%i<{REGISTERS}>;\n\t.reg .b64 \t%id<{REGISTERS}>;\n");
    text += "\tld.param.b64 \t%rd1, [k_param_0];\n";
    let mut program = Program { u, text, registers, labels: 0, depth: 0, share, shared: Shared::default() };
    for predicate in 0..PREDICATES {
        let (number, against) = (program.u.int_in_range(0..=3)?, program.u.int_in_range(0..=3)?);
        let _ = writeln!(program.text, "\tmov.b32 \t%r0, {number};\n\tsetp.eq.s32 \t%p{predicate}, %r0, {against};");
    }
    for register in 0..registers {
        program.first_definition(register)?;
    }
    let count = program.u.int_in_range(4..=40)?;
    program.statements(count)?;
    for register in 0..registers {
        let _ = writeln!(program.text, "\tst.global.b32 \t[%rd1+{}], %r{register};", 4096 + 4 * register);
    }
    program.text += "\tret;\n}\n";
    Ok(program.text)
}

impl Program<'_, '_> {
    fn register(&mut self) -> Result<usize> {
        self.u.choose_index(self.registers)
    }

    fn first_definition(&mut self, register: usize) -> Result<()> {
        let (first, second) = (self.u.int_in_range(-99..=99)?, self.u.int_in_range(-99..=99)?);
        let predicate = self.u.choose_index(PREDICATES)?;
        let line = match self.u.int_in_range(0..=4u8)? {
            0 => format!(
                "\t@%p{predicate} mov.b32 \t%r{register}, {first};\n\t@!%p{predicate} mov.b32 \t%r{register}, {second};"
            ),
            1 => format!("\tld.global.b32 \t%r{register}, [%rd1+{}];", 4 * register),
            2 => format!("\tld.param.b32 \t%r{register}, [k_param_1];"),
            _ => format!("\tmov.b32 \t%r{register}, {first};"),
        };
        self.text += &line;
        self.text.push('\n');
        Ok(())
    }

    fn statements(&mut self, count: usize) -> Result<()> {
        let mut left = count;
        while left > 0 {
            left -= 1;
            let kinds = match self.share {
                Share::Nothing => 19,
                Share::Half => 39,
                Share::Most => 250,
            };
            match self.u.int_in_range(0..=kinds)? {
                0 if left > 3 && self.depth < 3 => {
                    let inside = self.u.int_in_range(1..=left / 2)?;
                    left -= inside;
                    self.branch(inside)?;
                }
                1 if left > 3 && self.depth < 2 => {
                    let inside = self.u.int_in_range(1..=left / 2)?;
                    left -= inside;
                    self.counted_loop(inside)?;
                }
                2 => self.scope()?,
                20.. => {
                    let register = self.register()?;
                    self.shared.statement(self.u, register, &mut self.text)?;
                }
                3 => {
                    // The complement of a predicate defines the same register.
                    let (to, predicate) = (self.register()?, self.u.choose_index(PREDICATES)?);
                    let (one, other) = (self.register()?, self.register()?);
                    let _ = writeln!(self.text, "\t@%p{predicate} mov.b32 \t%r{to}, %r{one};");
                    if self.u.arbitrary()? {
                        self.instruction()?;
                    }
                    let _ = writeln!(self.text, "\t@!%p{predicate} mov.b32 \t%r{to}, %r{other};");
                }
                _ => self.instruction()?,
            }
        }
        Ok(())
    }

    fn guard(&mut self) -> Result<String> {
        if self.u.ratio(2, 5)? {
            let sign = if self.u.arbitrary()? { "!" } else { "" };
            return Ok(format!("@{sign}%p{} ", self.u.choose_index(PREDICATES)?));
        }
        Ok(String::new())
    }

    fn instruction(&mut self) -> Result<()> {
        let guard = self.guard()?;
        let (to, one, other) = (self.register()?, self.register()?, self.register()?);
        let number: i32 = self.u.int_in_range(-50..=50)?;
        let address = 4 * self.u.int_in_range(0..=7)?;
        let line = match self.u.int_in_range(0..=12u8)? {
            0 => format!("mov.b32 \t%r{to}, {number};"),
            1 | 2 => format!("mov.b32 \t%r{to}, %r{one};"),
            3 => format!("add.s32 \t%r{to}, %r{one}, {number};"),
            4 | 5 => format!("add.s32 \t%r{to}, %r{one}, %r{other};"),
            6 => format!("xor.b32 \t%r{to}, %r{one}, %r{other};"),
            7 => format!("mul.lo.s32 \t%r{to}, %r{one}, %r{other};"),
            8 => {
                let predicate = self.u.choose_index(PREDICATES)?;
                let relation = *self.u.choose(&["eq", "ne", "lt", "ge"])?;
                format!("setp.{relation}.s32 \t%p{predicate}, %r{one}, {number};")
            }
            9 => format!("ld.global.b32 \t%r{to}, [%rd1+{address}];"),
            10 if to != one => format!("ld.global.v2.b32 \t{{%r{to}, %r{one}}}, [%rd1+{}];", address / 8 * 8),
            11 => format!("ld.param.b32 \t%r{to}, [k_param_1];"),
            _ => format!("st.global.b32 \t[%rd1+{address}], %r{one};"),
        };
        let _ = writeln!(self.text, "\t{guard}{line}");
        Ok(())
    }

    /// Adds instructions that a branch skips.
    fn branch(&mut self, count: usize) -> Result<()> {
        let label = self.labels;
        self.labels += 1;
        let sign = if self.u.arbitrary()? { "!" } else { "" };
        let _ = writeln!(self.text, "\t@{sign}%p{} bra \t$L{label};", self.u.choose_index(PREDICATES)?);
        let visible = self.shared.visible();
        self.depth += 1;
        self.statements(count)?;
        self.depth -= 1;
        self.shared.forget(visible);
        let _ = writeln!(self.text, "$L{label}:");
        Ok(())
    }

    /// Adds a loop of a few iterations. Its counter is in memory, so all registers are free.
    fn counted_loop(&mut self, count: usize) -> Result<()> {
        let label = self.labels;
        self.labels += 1;
        let (counter, address) = (self.register()?, 8192 + 4 * label);
        let times = self.u.int_in_range(1..=3)?;
        let _ = writeln!(
            self.text,
            "\tmov.b32 \t%r{counter}, {times};\n\tst.global.b32 \t[%rd1+{address}], %r{counter};\n$L{label}:"
        );
        let visible = self.shared.visible();
        self.depth += 1;
        self.statements(count)?;
        self.depth -= 1;
        self.shared.forget(visible);
        let _ = writeln!(
            self.text,
            "\tld.global.b32 \t%r{counter}, [%rd1+{address}];\n\tadd.s32 \t%r{counter}, %r{counter}, -1;\n\
             \tst.global.b32 \t[%rd1+{address}], %r{counter};\n\tsetp.ne.s32 \t%p0, %r{counter}, 0;\n\t@%p0 bra \t$L{label};"
        );
        Ok(())
    }

    /// Adds a scope with its own register, which may hide a register of the function.
    fn scope(&mut self) -> Result<()> {
        let (to, one, other) = (self.register()?, self.register()?, self.register()?);
        let predicate = self.u.choose_index(PREDICATES)?;
        let own = if self.u.arbitrary()? { "t".to_owned() } else { format!("%r{}", self.register()?) };
        if [to, one, other].iter().any(|register| own == format!("%r{register}")) {
            return Ok(());
        }
        let _ = writeln!(
            self.text,
            "\t{{ .reg .b32 {own};\n\tadd.s32 {own}, %r{one}, 1;\n\t@%p{predicate} mov.b32 %r{to}, {own};\n\
             \txor.b32 %r{other}, %r{to}, {own};\n\t}}"
        );
        Ok(())
    }
}
