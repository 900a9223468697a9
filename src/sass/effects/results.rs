//! The number of an instruction's operands that are results.

use super::{Part, Place};
use crate::sass::instruction::Instruction;
use crate::sass::operand::Operand;

/// Returns the number of leading operands that are results. `None` if the opcode is not known.
pub(super) fn count(instruction: &Instruction) -> Option<usize> {
    let operands = &instruction.operands;
    let predicates =
        |from: usize| operands[from.min(operands.len())..].iter().take_while(|one| is_predicate(one)).count();
    let count = match instruction.word() {
        // Predicates may precede or follow the result.
        "IMNMX" | "UIMNMX" if predicates(0) > 0 => predicates(0) + 1,
        "VIMNMX" if predicates(1) > 1 => 3,
        "IADD" => 1 + predicates(1).min(usize::from(operands.len() > 3 + usize::from(instruction.has("X")))),
        "FADD" | "FFMA" | "FMUL" | "FMNMX" | "FSEL" | "FSET" | "FSWZADD" | "MUFU" | "HADD2" | "HFMA2" | "HMUL2"
        | "HMNMX2" | "HSET2" | "DADD" | "DFMA" | "DMUL" | "BMSK" | "BREV" | "FLO" | "IABS" | "IDP" | "IMNMX"
        | "IMUL" | "LEPC" | "MOV" | "MOVM" | "POPC" | "PRMT" | "SEL" | "SGXT" | "SHF" | "VABSDIFF" | "VABSDIFF4"
        | "VHMNMX" | "VIADD" | "VIADDMNMX" | "VIMNMX" | "VIMNMX3" | "F2F" | "F2FP" | "F2I" | "FRND" | "FCHK"
        | "I2F" | "I2FP" | "I2I" | "I2IP" | "CS2R" | "S2R" | "S2UR" | "P2R" | "R2P" | "B2R" | "LD" | "LDC" | "LDG"
        | "LDL" | "LDS" | "LDSM" | "BMOV" | "BSSY" | "HMMA" | "IMMA" | "DMMA" | "BMMA" | "REDUX" | "GETLMEMBASE"
        | "UBMSK" | "UBREV" | "UFLO" | "UIABS" | "ULDC" | "UMOV" | "UP2UR" | "UR2UP" | "UPOPC" | "UPRMT" | "USEL"
        | "USGXT" | "USHF" | "UF2FP" | "UVIADD" | "UVIMNMX" | "UFADD" | "UFMUL" | "UFFMA" | "UFSEL" | "UFRND"
        | "UI2F" | "UI2FP" | "UF2I" | "LDCU" | "FMNMX3" | "CREDUX" => 1,
        // Carries follow the result.
        "IADD3" | "IMAD" | "LEA" | "UIADD3" | "UIMAD" | "ULEA" => 1 + predicates(1),
        // A predicate precedes the result.
        "LOP3" | "ULOP3" | "SHFL" | "ATOM" | "ATOMG" | "ATOMS" | "MATCH" | "QSPC" | "R2UR" => predicates(0) + 1,
        "FSETP" | "DSETP" | "HSETP2" | "ISETP" | "PLOP3" | "UFSETP" | "UISETP" | "UPLOP3" => 2,
        // An optional register, and a predicate.
        "VOTE" | "VOTEU" => operands.len().saturating_sub(1),
        "ST" | "STG" | "STL" | "STS" | "STSM" | "RED" | "REDG" | "LDGSTS" | "LDGDEPBAR" | "DEPBAR" | "MEMBAR"
        | "ERRBAR" | "CGAERRBAR" | "FENCE" | "CCTL" | "CCTLL" | "CCTLT" | "BAR" | "BRA" | "BRX" | "BRXU" | "JMP"
        | "JMX" | "CALL" | "RET" | "EXIT" | "KILL" | "BPT" | "NOP" | "BSYNC" | "BREAK" | "WARPSYNC" | "YIELD"
        | "NANOSLEEP" | "ENDCOLLECTIVE" | "ACQBULK" | "PREEXIT" | "WARPGROUP" | "PMTRIG" | "SETMAXREG"
        | "USETMAXREG" | "UCGABAR_ARV" | "UCGABAR_WAIT" | "SETCTAID" | "RPCMOV" => 0,
        _ => return None,
    };
    Some(count.min(operands.len()))
}

fn is_predicate(operand: &Operand) -> bool {
    matches!(operand, Operand::Predicate(_))
}

/// Adds effects that do not follow from the operands' usual roles.
pub(super) fn beside_operands(instruction: &Instruction, parts: &mut Vec<Part>) {
    let convergence = |(number, operand): (usize, &Operand)| match operand {
        Operand::Convergence(register) => Some((number as u8, Place::Convergence(*register))),
        _ => None,
    };
    let Some((operand, first)) = instruction.operands.iter().enumerate().find_map(convergence) else { return };
    match instruction.word() {
        // BREAK removes threads from the set in the register.
        "BREAK" => parts.push(Part { operand: Some(operand), is_write: true, first, count: 1 }),
        "BMOV" if instruction.has("CLEAR") && operand > 0 => {
            parts.push(Part { operand: Some(operand), is_write: true, first, count: 1 });
        }
        _ => {}
    }
}

/// Returns the predicates that `PR` stands for, as bits. The last operand is a mask.
pub(super) fn mask(instruction: &Instruction) -> u32 {
    match instruction.operands.last() {
        Some(&Operand::Immediate(mask)) => mask,
        _ => 0x7f,
    }
}
