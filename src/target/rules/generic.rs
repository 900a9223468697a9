//! LLVM's target-independent opcodes, if they occur in NVPTX's machine code, and control flow.

use super::super::info::{CopyFamily, OpcodeInfo, Purity};
use super::{Rule, rule};
use crate::function::Role;

const CALL_SEQUENCE: OpcodeInfo = OpcodeInfo::other(Purity::CallSequence).family(CopyFamily::Abi);
const CALL: OpcodeInfo = OpcodeInfo::other(Purity::Call).family(CopyFamily::Abi);

pub(super) const RULES: &[Rule] = &[
    rule("COPY", OpcodeInfo::same_class(CopyFamily::Copy, None)),
    // Instruction selection replaces this opcode by COPY before machine code exists. The class is an operand.
    rule("COPY_TO_REGCLASS", OpcodeInfo::PURE.family(CopyFamily::CrossClass)),
    rule("PHI", OpcodeInfo::PURE.with_uniform_form().role_of(Role::Phi)),
    rule("IMPLICIT_DEF INIT_UNDEF", OpcodeInfo::PURE.uniform().with_uniform_form().remat(0).role_of(Role::Undef)),
    rule("DBG_{VALUE,VALUE_LIST,INSTR_REF,PHI,LABEL}", OpcodeInfo::other(Purity::Meta).role_of(Role::Debug)),
    rule(
        "CFI_INSTRUCTION {EH,GC,ANNOTATION}_LABEL KILL LIFETIME_{START,END} PSEUDO_PROBE JUMP_TABLE_DEBUG_INFO \
         FAKE_USE",
        OpcodeInfo::other(Purity::Meta),
    ),
    rule("INLINEASM", OpcodeInfo::other(Purity::InlineAsm)),
    // May jump, so the next instruction may not execute.
    rule("INLINEASM_BR", OpcodeInfo::other(Purity::Trap)),
    rule("BUNDLE MEMBARRIER", OpcodeInfo::other(Purity::Opaque)),
    rule("CBranch GOTO Return BRX_{START,ITEM,END}", OpcodeInfo::other(Purity::Terminator)),
    rule("trapinst trapexitinst debugtrapinst EXIT", OpcodeInfo::other(Purity::Trap)),
    rule("CALL{,_UNI}{,_conv}", CALL),
    rule("Callseq_{Start,End} DECLARE_PARAM_{array,scalar} CALL_PROTOTYPE", CALL_SEQUENCE),
];
