//! The classification of names, compared with LLVM's descriptors and mnemonics.

use std::collections::HashSet;

use super::*;
use crate::function::Role;

#[test]
fn there_are_6625_opcodes_and_each_stands_once() {
    let names: HashSet<_> = DESCRIPTORS.iter().map(|descriptor| &descriptor.name).collect();
    assert_eq!((DESCRIPTORS.len(), names.len()), (6625, 6625));
}

#[test]
fn rules_name_opcodes_of_llvm_22_and_nothing_else() {
    let names: HashSet<_> = DESCRIPTORS.iter().map(|descriptor| descriptor.name.as_str()).collect();
    let mut listed = HashSet::new();
    for rule in rules::RULES.into_iter().flatten() {
        for pattern in rule.names.split_ascii_whitespace() {
            pattern::expand(pattern, &mut |name| {
                assert!(names.contains(name), "{name} is no opcode of LLVM 22");
                assert!(listed.insert(name.to_owned()), "{name} stands in two rules");
            });
        }
    }
}

#[test]
fn what_is_opaque_is_generic_or_has_no_name() {
    // Pseudo-instructions that LLVM defines for all targets, and that no NVPTX function contains.
    const FOREIGN: [&str; 25] = [
        "EXTRACT_SUBREG",
        "INSERT_SUBREG",
        "SUBREG_TO_REG",
        "REG_SEQUENCE",
        "COPY_LANEMASK",
        "ARITH_FENCE",
        "STACKMAP",
        "FENTRY_CALL",
        "PATCHPOINT",
        "LOAD_STACK_GUARD",
        "PREALLOCATED_SETUP",
        "PREALLOCATED_ARG",
        "STATEPOINT",
        "LOCAL_ESCAPE",
        "FAULTING_OP",
        "PATCHABLE_OP",
        "PATCHABLE_FUNCTION_ENTER",
        "PATCHABLE_RET",
        "PATCHABLE_FUNCTION_EXIT",
        "PATCHABLE_TAIL_CALL",
        "PATCHABLE_EVENT_CALL",
        "PATCHABLE_TYPED_EVENT_CALL",
        "ICALL_BRANCH_FUNNEL",
        "RELOC_NONE",
        "CONVERGENCECTRL_",
    ];
    for descriptor in DESCRIPTORS.iter() {
        let name = &descriptor.name;
        let expected = is_anonymous(name)
            || name.starts_with("G_")
            || FOREIGN.iter().any(|foreign| name == foreign || (foreign.ends_with('_') && name.starts_with(foreign)));
        assert_eq!(classify(name).family == CopyFamily::Opaque, expected, "{name}");
    }
}

#[test]
fn no_move_is_unclassified() {
    // Names that contain these letters and are not moves.
    const NOT_MOVES: [&str; 5] = ["COPYSIGN_F32RT", "COPYSIGN_F64RT", "G_FCOPYSIGN", "COPY_LANEMASK", "G_MEMMOVE"];
    for descriptor in DESCRIPTORS.iter() {
        let name = descriptor.name.as_str();
        let converts = name.split_once("to").is_some_and(|(from, to)| is_vector(from) && is_vector(to));
        let named = ["MOV", "mov", "cvta", "Proxy", "COPY"].iter().any(|part| name.contains(part)) || converts;
        let printed = descriptor.mnemonic.starts_with("mov.") || descriptor.mnemonic.contains("; mov.");
        if (named && !NOT_MOVES.contains(&name)) || printed || descriptor.is_move {
            let family = classify(name).family;
            assert!(!matches!(family, CopyFamily::NotCopy | CopyFamily::Opaque), "{name} is a move and {family:?}");
        }
    }
}

/// Whether a name begins like the integers and vectors of packs and unpacks: `I64`, `V2I32`.
fn is_vector(name: &str) -> bool {
    let width = |text: &str| text.strip_prefix('I').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    width(name) || name.strip_prefix('V').and_then(|rest| rest.get(1..)).is_some_and(width)
}

#[test]
fn classes_and_operands_of_copies_are_those_of_the_descriptors() {
    for descriptor in DESCRIPTORS.iter() {
        let info = classify(&descriptor.name);
        let name = &descriptor.name;
        if let Some(dst) = info.dst {
            assert!(!descriptor.defs.is_empty(), "{name} defines nothing");
            assert!(descriptor.defs.iter().all(|&class| class == Some(dst)), "{name} does not define {dst:?}");
        }
        if let Some(src) = info.src {
            assert!(descriptor.uses.iter().flatten().all(|&class| class == src), "{name} does not read {src:?}");
        }
        // The generic pseudo-instructions do not fix their classes.
        if let Some(operands) = info.copy_operands().filter(|_| info.dst.is_some()) {
            let uses = usize::from(operands.uses.end - operands.uses.start);
            assert_eq!(usize::from(operands.defs.end), descriptor.defs.len(), "{name}");
            assert_eq!(usize::from(operands.uses.start), descriptor.defs.len(), "{name}");
            let copied = &descriptor.uses[..uses];
            assert!(info.src.is_none() || copied.iter().all(|&class| class == info.src), "{name}");
        }
    }
}

#[test]
fn what_coalesces_never_touches_128_bits_and_has_a_role() {
    for descriptor in DESCRIPTORS.iter() {
        let info = classify(&descriptor.name);
        if info.coalesces {
            assert!(info.dst != Some(RegClass::B128) && info.src != Some(RegClass::B128), "{}", descriptor.name);
            let copies = matches!(info.role(), Role::Copy | Role::Pack | Role::Unpack | Role::Extract { .. });
            assert!(copies, "{} has no role", descriptor.name);
        }
    }
}

#[test]
fn what_llvm_calls_convergent_is_convergent() {
    for descriptor in DESCRIPTORS.iter() {
        let info = classify(&descriptor.name);
        let known = !matches!(info.purity, Purity::Unknown | Purity::Call);
        if known && descriptor.flags.contains(DescFlags::CONVERGENT) {
            assert!(info.convergent, "{}", descriptor.name);
        }
    }
}
