//! Programs of loops with counters in registers and many forms of exits, most with two jumps.

use std::fmt::Write as _;

use arbitrary::{Result, Unstructured};

/// Registers for computations in bodies: %r2 and up.
const VALUES: usize = 4;

/// Draws a kernel of one to three consecutive loops. Most of them end soon.
pub(super) fn program(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text =
        ".version 8.7\n.target sm_90\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\
        \t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<9>;\n\t.reg .b64 \t%rd<2>;\n\tld.param.b64 \t%rd1, [k_param_0];\n"
            .to_owned();
    for value in 2..2 + VALUES {
        let _ = writeln!(text, "\tld.global.b32 \t%r{value}, [%rd1+{}];", 4 * value);
    }
    for number in 0..u.int_in_range(1..=3)? {
        counted(u, number, &mut text)?;
    }
    for value in 0..2 + VALUES {
        let _ = writeln!(text, "\tst.global.b32 \t[%rd1+{}], %r{value};", 4096 + 4 * value);
    }
    text += "\tret;\n}\n";
    Ok(text)
}

fn counted(u: &mut Unstructured<'_>, number: usize, text: &mut String) -> Result<()> {
    let (start, bound) = (u.int_in_range(-6..=6)?, u.int_in_range(-6..=6)?);
    let step = *u.choose(&[-2, -1, 1, 1, 2])?;
    let _ = writeln!(text, "\tmov.b32 \t%r0, {start};\n\tmov.b32 \t%r1, {bound};\n$L{number}:");
    for _ in 0..u.int_in_range(0..=3)? {
        body(u, text)?;
    }
    let kind = *u.choose(&["eq", "eq", "eq", "ne", "lt", "le", "gt", "ge"])?;
    let typed =
        if matches!(kind, "eq" | "ne") { *u.choose(&["b32", "s32", "u32"])? } else { *u.choose(&["s32", "u32"])? };
    let compared = match u.int_in_range(0..=2u8)? {
        0 => "%r0, %r1".to_owned(),
        1 => "%r1, %r0".to_owned(),
        _ => format!("%r0, {bound}"),
    };
    let predicate = number + 1;
    let (add, compare) =
        (format!("\tadd.s32 \t%r0, %r0, {step};\n"), format!("\tsetp.{kind}.{typed} \t%p{predicate}, {compared};\n"));
    *text += &if u.ratio(1, 8)? { compare + &add } else { add + &compare };
    if u.ratio(1, 4)? {
        body(u, text)?;
    }
    match u.int_in_range(0..=9u8)? {
        0 => *text += &format!("\t@!%p{predicate} bra \t$E{number};\n\tbra.uni \t$L{number};\n"),
        1 => *text += &format!("\t@!%p{predicate} bra \t$L{number};\n"),
        2 => *text += &format!("\t@%p{predicate} bra \t$L{number};\n"),
        3 => {
            // The predicate has another reader.
            let ends = format!("\t@%p{predicate} bra \t$E{number};\n\tbra.uni \t$L{number};\n$E{number}:\n");
            *text += &format!("{ends}\t@%p{predicate} mov.b32 \t%r2, 7;\n");
            return Ok(());
        }
        4 => {
            *text += &format!(
                "\t@%p{predicate} mov.b32 \t%r3, 9;\n\t@%p{predicate} bra \t$E{number};\n\tbra \t$L{number};\n"
            )
        }
        _ => *text += &format!("\t@%p{predicate} bra \t$E{number};\n\tbra.uni \t$L{number};\n"),
    }
    let _ = writeln!(text, "$E{number}:");
    Ok(())
}

fn body(u: &mut Unstructured<'_>, text: &mut String) -> Result<()> {
    let mut value = || -> Result<usize> { Ok(2 + u.choose_index(VALUES)?) };
    let (to, one, other) = (value()?, value()?, value()?);
    *text += &match u.int_in_range(0..=3u8)? {
        0 => format!("\tadd.s32 \t%r{to}, %r{one}, %r{other};\n"),
        1 => format!("\txor.b32 \t%r{to}, %r{one}, %r0;\n"),
        2 => format!("\tld.global.b32 \t%r{to}, [%rd1+{}];\n", 4 * one),
        _ => format!("\tst.global.b32 \t[%rd1+{}], %r{other};\n", 4 * to),
    };
    Ok(())
}
