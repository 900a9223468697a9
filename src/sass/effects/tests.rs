//! Effects of hand-written instructions.

use std::collections::BTreeMap;

use super::{Effects, Flow, Place};
use crate::sass::instruction::Function;
use crate::sass::text;

/// Builds a function from lines of the disassembler's text, 16 bytes each. A line `L:` defines the label `L`.
pub(crate) fn function(lines: &[&str]) -> Function {
    let mut section = String::from("//--------------------- .text.f ------\n");
    let mut address = 0;
    for line in lines {
        if line.ends_with(':') {
            section.push_str(&format!("{line}\n"));
        } else {
            section.push_str(&format!("        /*{address:04x}*/ {line} ;\n"));
            address += 16;
        }
    }
    let code = vec![0; address];
    let (mut functions, unread) = text::read(&section, &BTreeMap::from([("f".to_owned(), code.as_slice())]));
    assert_eq!(unread, []);
    functions.remove(0)
}

fn effects(line: &str) -> Effects {
    Effects::of(&function(&[line]).instructions[0]).unwrap_or_else(|| panic!("{line} is not known"))
}

/// Prints the reads and writes of an instruction.
fn shown(line: &str) -> String {
    let effects = effects(line);
    let words =
        |places: &mut dyn Iterator<Item = Place>| places.map(|place| place.to_string()).collect::<Vec<_>>().join(" ");
    format!("{} <- {}", words(&mut effects.writes()), words(&mut effects.reads()))
}

/// Each kind of opcode has the right results and sources, with their widths.
#[test]
fn results_and_sources() {
    for (line, expected) in [
        ("IADD3 R8, P1, R8, R9, RZ", "R8 P1 <- R8 R9"),
        ("IADD3.X R8, R9, UR9, RZ, P0, !PT", "R8 <- R9 UR9 P0"),
        ("@!P1 IMAD.WIDE.U32 R2, P0, R5, 0x4, R6", "R2 R3 P0 <- P1 R5 R6 R7"),
        ("IMAD.HI.U32 R18, R17, R21, R20", "R18 <- R17 R21 R20 R21"),
        ("LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT", "P0 <- R2"),
        ("ISETP.GE.AND.EX P0, PT, R47, R49, PT, P1", "P0 <- R47 R49 P1"),
        ("PLOP3.LUT P0, P2, P3, PT, UP1, 0x8, 0x0", "P0 P2 <- P3 UP1"),
        ("DFMA R2, R18, -R4, UR16", "R2 R3 <- R18 R19 R4 R5 UR16 UR17"),
        ("DSETP.MAX.AND P0, P1, R4, R10, PT", "P0 P1 <- R4 R5 R10 R11"),
        ("F2F.F64.F32 R12, R16", "R12 R13 <- R16"),
        ("F2F.F32.F64 R12, R16", "R12 <- R16 R17"),
        ("F2I.F64.TRUNC R5, R4", "R5 <- R4 R5"),
        ("F2I.U64.TRUNC R8, R7", "R8 R9 <- R7"),
        ("I2F.F64.S64 R2, R4", "R2 R3 <- R4 R5"),
        ("I2F.U64.RP R5, R14", "R5 <- R14 R15"),
        ("MUFU.RCP64H R15, R3", "R15 <- R3"),
        ("LDG.E.128 R4, desc[UR14][R66.64+UR8]", "R4 R5 R6 R7 <- UR14 UR15 R66 R67 UR8 UR9"),
        ("STG.E.64 desc[UR4][R6.64+0x10], R2", " <- UR4 UR5 R6 R7 R2 R3"),
        ("STS [R2+UR4], R10", " <- R2 UR4 R10"),
        ("LDSM.16.M88.4 R12, [R38+0x600]", "R12 R13 R14 R15 <- R38"),
        ("ATOM.E.CAST.SPIN.64 PT, R10, [R2], R8, R12", "R10 R11 <- R2 R3 R8 R9 R12 R13"),
        ("ATOMG.E.ADD.STRONG.GPU PT, R2, desc[UR8][R4.64], R7", "R2 <- UR8 UR9 R4 R5 R7"),
        ("REDG.E.ADD.F64.RN.STRONG.GPU desc[UR12][R12.64], R10", " <- UR12 UR13 R12 R13 R10 R11"),
        ("LDGSTS.E.128 [R23+0x4b00], desc[UR22][R28.64], !P6", " <- R23 UR22 UR23 R28 R29 P6"),
        ("LDC.64 R2, c[0x0][R4+0x210]", "R2 R3 <- R4"),
        ("SHFL.DOWN P0, R69, R13, R63, R68", "P0 R69 <- R13 R63 R68"),
        ("VOTE.ANY R14, PT, P0", "R14 <- P0"),
        ("VOTE.ALL P1, P0", "P1 <- P0"),
        ("P2R R17, PR, R3, 0x21", "R17 <- P0 P5 R3"),
        ("R2P PR, R4, 0x6", "P1 P2 <- R4"),
        ("CS2R R86, SRZ", "R86 R87 <- "),
        ("CS2R.32 R4, SR_CLOCKLO", "R4 <- "),
        ("R2UR UR39, R48", "UR39 <- R48"),
        ("HMMA.16816.F32 R72, R28, R20, R76", "R72 R73 R74 R75 <- R28 R29 R30 R31 R20 R21 R76 R77 R78 R79"),
        ("HMMA.16816.F16 R72, R28, R20, RZ", "R72 R73 <- R28 R29 R30 R31 R20 R21"),
        ("IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, RZ", "R4 R5 R6 R7 <- R8 R9 R10 R11 R12 R13"),
        ("BSSY B0, `(f)", "B0 <- "),
        ("BREAK B1", "B1 <- B1"),
        ("RET.REL.NODEC R8 `(f)", " <- R8 R9"),
        ("FADD RZ, R1, RZ", " <- R1"),
    ] {
        assert_eq!(shown(line), expected, "{line}");
    }
}

/// An undescribed opcode has no effects, instead of wrong ones.
#[test]
fn unknown_opcodes() {
    assert_eq!(Effects::of(&function(&["XADD R0, R1, R2"]).instructions[0]), None);
}

/// A conditional branch falls through.
#[test]
fn flow() {
    let function = function(&[
        "L:",
        "BRA `(L)",
        "@P0 BRA `(L)",
        "BRA P0, `(L)",
        "BRA.DIV UR6, `(L)",
        "@!PT BRA `(L)",
        "CALL.REL.NOINC `(L)",
        "EXIT",
        "@P1 EXIT",
        "RET.REL.NODEC R2 `(f)",
        "CALL.ABS.NOINC R2",
        "BRX R2 -0x270",
        "BRA `(g)",
    ]);
    let flows: Vec<Flow> = function.instructions.iter().map(Flow::of).collect();
    let branch = |may_pass| Flow::Branch { target: 0, may_pass };
    assert_eq!(
        flows,
        [
            branch(false),
            branch(true),
            branch(true),
            branch(true),
            Flow::Next,
            Flow::Call { target: Some(0) },
            Flow::Exit { may_pass: false },
            Flow::Exit { may_pass: true },
            Flow::Return { may_pass: false },
            Flow::Call { target: None },
            Flow::Indirect,
            Flow::Leave { may_pass: false },
        ]
    );
}
