//! The classification of every opcode of LLVM 22: against LLVM's own descriptors and mnemonics, and as a golden file.
//!
//! `tests/golden/opcode_descriptors.txt` comes from LLVM (`tests/golden/regenerate.sh`), so that these tests run
//! without it; the same script with `--check` compares the file with the LLVM that is installed.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::*;
use crate::function::{Effects, MemorySpace, Opcode, RegClass, Role};
use crate::index::EntityIndex;

/// A line of the descriptor file.
#[derive(Debug)]
struct Descriptor {
    name: String,
    /// Classes of the definitions; `None` for what is not a register.
    defs: Vec<Option<RegClass>>,
    uses: Vec<Option<RegClass>>,
    flags: DescFlags,
    is_move: bool,
    mnemonic: String,
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn descriptors() -> Vec<Descriptor> {
    let text = std::fs::read_to_string(golden("opcode_descriptors.txt")).expect("the descriptor file is readable");
    text.lines().map(|line| parse(line).unwrap_or_else(|| panic!("not a descriptor: {line}"))).collect()
}

/// Parses `NAME (B32 = B64 _*2) flag flag | mnemonic`.
fn parse(line: &str) -> Option<Descriptor> {
    let (line, mnemonic) = line.split_once(" | ").unwrap_or((line, ""));
    let (name, rest) = line.split_once(" (")?;
    let (operands, flags) = rest.split_once(')')?;
    let (defs, uses) = operands.split_once('=')?;
    let mut descriptor = Descriptor {
        name: name.into(),
        defs: classes(defs)?,
        uses: classes(uses)?,
        flags: DescFlags::empty(),
        is_move: false,
        mnemonic: mnemonic.into(),
    };
    for flag in flags.split_ascii_whitespace() {
        match flag {
            "move-reg" | "move-imm" => descriptor.is_move = true,
            "inline-asm" => descriptor.flags |= DescFlags::INLINE_ASM,
            _ => descriptor.flags |= DescFlags::from_name(&flag.to_ascii_uppercase().replace('-', "_"))?,
        }
    }
    Some(descriptor)
}

fn classes(list: &str) -> Option<Vec<Option<RegClass>>> {
    let mut classes = Vec::new();
    for item in list.split_ascii_whitespace() {
        let (class, count) = item.split_once('*').unwrap_or((item, "1"));
        let class = match class {
            "_" => None,
            _ => Some(RegClass::ALL.into_iter().find(|known| known.name() == class).unwrap_or(RegClass::Other)),
        };
        classes.resize(classes.len() + count.parse::<usize>().ok()?, class);
    }
    Some(classes)
}

fn classification(descriptors: &[Descriptor]) -> Classification {
    Classification::new(descriptors.iter().map(|descriptor| (descriptor.name.as_str(), descriptor.flags)))
}

/// The classification and the opcode of that name, in LLVM 22.
fn opcode_of(name: &str) -> (Classification, Opcode) {
    let classification = classification(&descriptors());
    let opcode = classification.table().find(name).unwrap_or_else(|| panic!("no opcode {name}"));
    (classification, opcode)
}

fn effects_of(name: &str, flags: InstFlags, space: u32) -> (Effects, MemorySpace) {
    let (classification, opcode) = opcode_of(name);
    classification.effects(opcode, flags, space)
}

/// One line of the golden file.
fn describe(classification: &Classification, opcode: Opcode) -> String {
    let info = classification.info(opcode);
    let (effects, _) = classification.effects(opcode, InstFlags::empty(), 0);
    let class = |class: Option<RegClass>| class.map_or("-", RegClass::name);
    let mut line = format!("{} {:?}", classification.table().name(opcode), info.family);
    if info.dst.is_some() || info.src.is_some() {
        write!(line, " {}<-{}", class(info.dst), class(info.src)).expect("a string can be written");
    }
    if info.coalesces {
        line += " coalesces";
    }
    write!(line, " {:?}", info.purity).expect("a string can be written");
    if !effects.is_pure() {
        let names: Vec<_> = effects.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        write!(line, "({})", names.join(",")).expect("a string can be written");
    }
    if let Some(RematCost(cost)) = info.remat {
        write!(line, " remat:{cost}").expect("a string can be written");
    }
    if info.convergent {
        line += " convergent";
    }
    if let Some(space) = info.space {
        write!(line, " {space:?}").expect("a string can be written");
    }
    write!(line, " {:?}", info.uniformity).expect("a string can be written");
    if info.role() != Role::Other {
        write!(line, " {:?}", info.role()).expect("a string can be written");
    }
    line
}

#[test]
fn the_golden_file_shows_the_classification_of_every_opcode() {
    let classification = classification(&descriptors());
    let mut actual = String::new();
    for opcode in classification.table().ids() {
        actual += &describe(&classification, opcode);
        actual.push('\n');
    }
    let path = golden("opcodes.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &actual).expect("the golden file is writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let mut diff = String::new();
    for pair in lines_that_differ(&expected, &actual).take(40) {
        writeln!(diff, "-{}\n+{}", pair.0, pair.1).expect("a string can be written");
    }
    assert!(actual == expected, "{}:\n{diff}UPDATE_EXPECT=1 accepts the new classification", path.display());
}

/// Lines at the same place that differ; opcodes never change their order within one LLVM.
fn lines_that_differ<'a>(left: &'a str, right: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let count = left.lines().count().max(right.lines().count());
    let padded = |text: &'a str| text.lines().chain(std::iter::repeat("")).take(count);
    padded(left).zip(padded(right)).filter(|(left, right)| left != right)
}

#[test]
fn there_are_6625_opcodes_and_each_stands_once() {
    let descriptors = descriptors();
    let names: HashSet<_> = descriptors.iter().map(|descriptor| &descriptor.name).collect();
    assert_eq!((descriptors.len(), names.len()), (6625, 6625));
}

#[test]
fn rules_name_opcodes_of_llvm_22_and_nothing_else() {
    let descriptors = descriptors();
    let names: HashSet<_> = descriptors.iter().map(|descriptor| descriptor.name.as_str()).collect();
    let mut stray: Vec<_> = KNOWN.keys().filter(|name| !names.contains(&***name)).collect();
    stray.sort_unstable();
    assert!(stray.is_empty(), "no opcodes of LLVM 22: {stray:?}");
}

#[test]
fn what_is_opaque_is_generic_or_has_no_name() {
    // Pseudo-instructions that LLVM makes for all targets and that no NVPTX function contains.
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
    for descriptor in descriptors() {
        let name = &descriptor.name;
        let expected = is_anonymous(name)
            || name.starts_with("G_")
            || FOREIGN.iter().any(|foreign| name == foreign || (foreign.ends_with('_') && name.starts_with(foreign)));
        assert_eq!(classify(name).family == CopyFamily::Opaque, expected, "{name}");
    }
}

#[test]
fn no_move_is_unclassified() {
    // Names that contain the letters and are no moves.
    const NOT_MOVES: [&str; 5] = ["COPYSIGN_F32RT", "COPYSIGN_F64RT", "G_FCOPYSIGN", "COPY_LANEMASK", "G_MEMMOVE"];
    for descriptor in descriptors() {
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

/// Whether a name starts like the integers and vectors that pack and unpack: `I64`, `V2I32`.
fn is_vector(name: &str) -> bool {
    let width = |text: &str| text.strip_prefix('I').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    width(name) || name.strip_prefix('V').and_then(|rest| rest.get(1..)).is_some_and(width)
}

#[test]
fn classes_and_operands_of_copies_are_those_of_the_descriptors() {
    for descriptor in descriptors() {
        let info = classify(&descriptor.name);
        let name = &descriptor.name;
        if let Some(dst) = info.dst {
            assert!(!descriptor.defs.is_empty(), "{name} defines nothing");
            assert!(descriptor.defs.iter().all(|&class| class == Some(dst)), "{name} does not define {dst:?}");
        }
        if let Some(src) = info.src {
            assert!(descriptor.uses.iter().flatten().all(|&class| class == src), "{name} does not read {src:?}");
        }
        // The generic pseudo-instructions leave their classes open.
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
    for descriptor in descriptors() {
        let info = classify(&descriptor.name);
        if info.coalesces {
            assert!(info.dst != Some(RegClass::B128) && info.src != Some(RegClass::B128), "{}", descriptor.name);
            let copies = matches!(info.role(), Role::Copy | Role::Pack | Role::Unpack | Role::Extract { .. });
            assert!(copies, "{} has no role", descriptor.name);
        }
    }
}

#[test]
fn nothing_is_called_pure_that_llvm_says_accesses_memory() {
    let accesses = DescFlags::LOAD | DescFlags::STORE | DescFlags::CALL | DescFlags::TERMINATOR;
    for descriptor in descriptors() {
        let purity = classify(&descriptor.name).purity;
        if matches!(purity, Purity::Pure | Purity::ReadsInvariant) {
            assert!(!descriptor.flags.intersects(accesses), "{}", descriptor.name);
        }
    }
}

#[test]
fn side_effects_are_denied_only_where_llvm_lacks_a_pattern() {
    // All that LLVM says has side effects and we say has none, by the beginning of the mnemonic (loads without).
    const DENIED: [&str; 5] = ["cvta.", "ldu.global", "setp.", "suq.", "txq."];
    for descriptor in descriptors() {
        let purity = classify(&descriptor.name).purity;
        if descriptor.flags.contains(DescFlags::SIDE_EFFECTS) && purity.effects().is_pure() {
            let known = DENIED.iter().any(|mnemonic| descriptor.mnemonic.starts_with(mnemonic))
                || descriptor.name.starts_with("LD_GLOBAL_NC_");
            assert!(known, "{}", descriptor.name);
        }
    }
}

#[test]
fn what_llvm_calls_convergent_is_convergent() {
    for descriptor in descriptors() {
        let info = classify(&descriptor.name);
        let known = !matches!(info.purity, Purity::Unknown | Purity::Call);
        if known && descriptor.flags.contains(DescFlags::CONVERGENT) {
            assert!(info.convergent, "{}", descriptor.name);
        }
    }
}

#[test]
fn what_is_rematerialisable_is_pure() {
    let classification = classification(&descriptors());
    for opcode in classification.table().ids() {
        if classification.info(opcode).remat.is_some() {
            let (effects, _) = classification.effects(opcode, InstFlags::empty(), 0);
            assert!(effects.is_pure(), "{}", classification.table().name(opcode));
        }
    }
}

#[test]
fn unknown_names_are_opaque_and_follow_the_descriptor() {
    for name in ["", "ADD128rr", "ADD16", "ADD16rrr", "MOV_B256_r", "cvta_to_tensor", "add16rr", "anonymous_", "COPY "]
    {
        assert_eq!(classify(name).family, CopyFamily::Opaque, "{name}");
        assert_eq!(classify(name).role(), Role::Other, "{name}");
    }
    let claims = [
        (DescFlags::SIDE_EFFECTS, Effects::OPAQUE),
        (DescFlags::LOAD, Effects::READ),
        (DescFlags::STORE, Effects::WRITE),
        (DescFlags::LOAD | DescFlags::STORE, Effects::READ | Effects::WRITE | Effects::ORDERED),
        (DescFlags::CONVERGENT, Effects::CONVERGENT),
        (DescFlags::CALL, Effects::OPAQUE | Effects::CALL_SEQUENCE),
        (DescFlags::TERMINATOR, Effects::TERMINATOR),
        (DescFlags::META, Effects::META),
        (DescFlags::INLINE_ASM, Effects::OPAQUE),
    ];
    for (desc, effects) in claims {
        let classification = Classification::new([("NEW_IN_ANOTHER_LLVM", desc)]);
        assert_eq!(classification.effects(Opcode::new(0), InstFlags::empty(), 0).0, effects, "{desc:?}");
    }
}

#[test]
fn a_name_that_llvm_gives_another_meaning_is_not_called_pure() {
    for desc in [DescFlags::LOAD, DescFlags::STORE, DescFlags::CALL, DescFlags::TERMINATOR] {
        let classification = Classification::new([("ADD32rr", desc)]);
        assert!(!classification.effects(Opcode::new(0), InstFlags::empty(), 0).0.is_pure(), "{desc:?}");
    }
}

#[test]
fn a_name_that_stands_twice_keeps_the_numbers_of_the_others() {
    let names = ["COPY", "COPY", "COPY#1", "PHI"];
    let classification = Classification::new(names.map(|name| (name, DescFlags::empty())));
    assert_eq!(classification.table().len(), 4);
    assert_eq!(classification.table().find("PHI"), Some(Opcode::new(3)));
    assert_eq!(classification.table().role(Opcode::new(1)), Role::Other);
}

#[test]
fn side_effects_that_llvm_invents_are_gone() {
    for name in ["cvta_to_global_64", "cvta_shared", "SETP_f16x2rr", "TXQ_WIDTH_I"] {
        // LLVM says "ordered" of whatever has side effects and no memory operand.
        assert_eq!(effects_of(name, InstFlags::ORDERED, 0).0, Effects::empty(), "{name}");
    }
    let (effects, space) = effects_of("LD_GLOBAL_NC_v4i32", InstFlags::empty(), 1);
    assert_eq!((effects, space), (Effects::empty(), MemorySpace::Global));
}

#[test]
fn loads_take_their_space_and_their_invariance_from_the_instruction() {
    let load = InstFlags::LOAD;
    assert_eq!(effects_of("LD_i32", load, 3), (Effects::READ, MemorySpace::Shared));
    assert_eq!(effects_of("LDV_i32_v4", load, 0), (Effects::READ, MemorySpace::Generic));
    assert_eq!(effects_of("LD_i32", load, 77), (Effects::READ, MemorySpace::Generic));
    assert_eq!(effects_of("LD_i32", load | InstFlags::INVARIANT, 1).0, Effects::empty());
    assert_eq!(effects_of("LD_i32", load, 4).0, Effects::empty());
    assert_eq!(effects_of("LD_i32", load | InstFlags::ORDERED, 1).0, Effects::READ | Effects::ORDERED);
    let volatile = load | InstFlags::INVARIANT | InstFlags::ORDERED;
    assert_eq!(effects_of("LD_i32", volatile, 1).0, Effects::READ | Effects::ORDERED);
    assert_eq!(effects_of("ST_i64", InstFlags::STORE, 5), (Effects::WRITE, MemorySpace::Local));
}

#[test]
fn parameters_of_a_call_stay_in_their_sequence_and_copies_between_them_stay_pure() {
    let flags = InstFlags::LOAD | InstFlags::CALL_SEQUENCE;
    assert_eq!(effects_of("LD_i32", flags, 101), (Effects::READ | Effects::CALL_SEQUENCE, MemorySpace::Param));
    assert_eq!(effects_of("LD_i32", flags | InstFlags::INVARIANT, 101).0, Effects::CALL_SEQUENCE);
    assert!(effects_of("ST_i32", InstFlags::STORE | InstFlags::CALL_SEQUENCE, 101).0.contains(Effects::CALL_SEQUENCE));
    assert_eq!(effects_of("COPY", InstFlags::CALL_SEQUENCE, 0).0, Effects::empty());
    assert_eq!(effects_of("ProxyRegB32", InstFlags::CALL_SEQUENCE, 0).0, Effects::empty());
    let call = effects_of("CALL_UNI_conv", InstFlags::CALL_SEQUENCE | InstFlags::CONVERGENT, 0).0;
    assert_eq!(call, Effects::OPAQUE | Effects::CALL_SEQUENCE | Effects::CONVERGENT);
    for name in ["Callseq_Start", "Callseq_End", "DECLARE_PARAM_array", "DECLARE_PARAM_scalar", "CALL_PROTOTYPE"] {
        assert_eq!(effects_of(name, InstFlags::empty(), 0).0, Effects::CALL_SEQUENCE, "{name}");
    }
}

#[test]
fn inline_assembly_does_what_its_flags_say() {
    assert_eq!(effects_of("INLINEASM", InstFlags::empty(), 0).0, Effects::empty());
    assert_eq!(effects_of("INLINEASM", InstFlags::ASM_EFFECTS, 0).0, Effects::OPAQUE);
    assert_eq!(effects_of("INLINEASM", InstFlags::ASM_MEMORY, 0).0, Effects::READ | Effects::WRITE);
    assert_eq!(effects_of("INLINEASM", InstFlags::CONVERGENT, 0).0, Effects::CONVERGENT);
}

#[test]
fn registers_that_change_by_themselves_are_never_read_again() {
    for name in ["SREG_CLOCK", "SREG_CLOCK64", "SREG_GLOBALTIMER", "SREG_SMID", "SREG_WARPID", "INT_PTX_SREG_PM0"] {
        let (classification, opcode) = opcode_of(name);
        assert_eq!(classification.effects(opcode, InstFlags::empty(), 0).0, Effects::ORDERED, "{name}");
        assert_eq!(classification.remat(opcode, InstFlags::empty(), 0), None, "{name}");
    }
    for name in ["INT_PTX_SREG_TID_x", "INT_PTX_SREG_CTAID_y", "INT_PTX_SREG_NTID_z", "SREG_LANEID", "MOV_SPECIAL"] {
        let (classification, opcode) = opcode_of(name);
        assert_eq!(classification.effects(opcode, InstFlags::empty(), 0).0, Effects::empty(), "{name}");
        assert_eq!(classification.remat(opcode, InstFlags::empty(), 0), Some(RematCost(1)), "{name}");
    }
}

#[test]
fn loads_of_own_parameters_are_rematerialisable_and_other_loads_are_not() {
    let (classification, load) = opcode_of("LD_i32");
    let invariant = InstFlags::LOAD | InstFlags::INVARIANT;
    assert_eq!(classification.remat(load, invariant, 101), Some(RematCost(1)));
    assert_eq!(classification.remat(load, InstFlags::LOAD, 101), None);
    assert_eq!(classification.remat(load, invariant | InstFlags::CALL_SEQUENCE, 101), None);
    assert_eq!(classification.remat(load, invariant, 1), None);
}

#[test]
fn uniformity_starts_at_thread_numbers_and_loads() {
    let (classification, load) = opcode_of("LD_i32");
    let of = |name: &str| classify(name).uniformity;
    assert_eq!(of("INT_PTX_SREG_TID_x"), Uniformity::Divergent);
    assert_eq!(of("SREG_LANEID"), Uniformity::Divergent);
    assert_eq!(of("INT_PTX_ATOM_ADD_32_Gr"), Uniformity::Divergent);
    assert_eq!(of("anonymous_14829"), Uniformity::Divergent);
    assert_eq!(of("INT_PTX_SREG_CTAID_x"), Uniformity::Uniform);
    assert_eq!(of("INT_PTX_SREG_NTID_x"), Uniformity::Uniform);
    assert_eq!(of("MOV_B32_i"), Uniformity::Uniform);
    assert_eq!(of("ADD32rr"), Uniformity::Propagates);
    assert_eq!(of("COPY"), Uniformity::Propagates);
    assert_eq!(classification.uniformity(load, 1, true), Uniformity::Divergent);
    assert_eq!(classification.uniformity(load, 101, true), Uniformity::Propagates);
    assert_eq!(classification.uniformity(load, 101, false), Uniformity::Divergent);
}

#[test]
fn copies_know_their_operands() {
    let operands = |name: &str| classify(name).copy_operands();
    assert_eq!(operands("COPY"), Some(CopyOperands { defs: 0..1, uses: 1..2 }));
    assert_eq!(operands("V4I16toI64"), Some(CopyOperands { defs: 0..1, uses: 1..5 }));
    assert_eq!(operands("I64toV4I16"), Some(CopyOperands { defs: 0..4, uses: 4..5 }));
    assert_eq!(operands("I64toI32H_Sink"), Some(CopyOperands { defs: 0..1, uses: 1..2 }));
    assert_eq!(classify("I64toI32H").role(), Role::Extract { index: 1, parts: 2 });
    assert_eq!(classify("I32toI16L_Sink").role(), Role::Extract { index: 0, parts: 2 });
    assert_eq!(operands("LD_i32"), None);
    assert_eq!(operands("CALL"), None);
}
