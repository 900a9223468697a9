//! The effects of instructions, by opcode, descriptor and flags.

use super::*;
use crate::function::{Effects, MemorySpace, Opcode, Role};
use crate::index::EntityIndex;

/// Returns the opcode with this name in LLVM 22.
fn opcode_of(name: &str) -> Opcode {
    CLASSIFICATION.table().find(name).unwrap_or_else(|| panic!("no opcode {name}"))
}

fn effects_of(name: &str, flags: InstFlags, space: u32) -> (Effects, MemorySpace) {
    CLASSIFICATION.effects(opcode_of(name), flags, space)
}

#[test]
fn unknown_names_are_opaque_and_follow_the_descriptor() {
    for name in ["", "ADD128rr", "ADD16", "ADD16rrr", "MOV_B256_r", "cvta_to_tensor", "add16rr", "anonymous_", "COPY "]
    {
        assert_eq!(classify(name).family, CopyFamily::Opaque, "{name}");
        assert_eq!(classify(name).role(), Role::Other, "{name}");
    }
    let claims = [
        (DescFlags::SIDE_EFFECTS, Effects::OPAQUE | Effects::TRAP),
        (DescFlags::LOAD, Effects::READ),
        (DescFlags::STORE, Effects::WRITE),
        (DescFlags::LOAD | DescFlags::STORE, Effects::READ | Effects::WRITE | Effects::ORDERED),
        (DescFlags::CONVERGENT, Effects::CONVERGENT),
        (DescFlags::CALL, Effects::OPAQUE | Effects::TRAP | Effects::CALL_SEQUENCE),
        (DescFlags::TERMINATOR, Effects::TERMINATOR),
        (DescFlags::META, Effects::META),
        (DescFlags::INLINE_ASM, Effects::OPAQUE | Effects::TRAP),
        (DescFlags::empty(), Effects::MAY_FAULT),
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
    assert_eq!(classification.table().find("COPY"), Some(Opcode::new(0)));
}

#[test]
fn side_effects_that_llvm_invents_are_gone() {
    for name in ["cvta_to_global_64", "cvta_shared", "SETP_f16x2rr", "TXQ_WIDTH_I"] {
        // LLVM sets "ordered" for every instruction with side effects and without a memory operand.
        assert_eq!(effects_of(name, InstFlags::ORDERED, 0).0, Effects::empty(), "{name}");
    }
    let (effects, space) = effects_of("LD_GLOBAL_NC_v4i32", InstFlags::empty(), 1);
    assert_eq!((effects, space), (Effects::MAY_FAULT, MemorySpace::Global));
}

#[test]
fn loads_take_their_space_and_their_invariance_from_the_instruction() {
    let load = InstFlags::LOAD;
    assert_eq!(effects_of("LD_i32", load, 3), (Effects::READ, MemorySpace::Shared));
    assert_eq!(effects_of("LDV_i32_v4", load, 0), (Effects::READ, MemorySpace::Generic));
    assert_eq!(effects_of("LD_i32", load, 77), (Effects::READ, MemorySpace::Generic));
    assert_eq!(effects_of("LD_i32", load | InstFlags::INVARIANT, 1).0, Effects::MAY_FAULT);
    assert_eq!(effects_of("LD_i32", load, 4).0, Effects::MAY_FAULT);
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
    assert_eq!(call, Effects::OPAQUE | Effects::TRAP | Effects::CALL_SEQUENCE | Effects::CONVERGENT);
    for name in ["Callseq_Start", "Callseq_End", "DECLARE_PARAM_array", "DECLARE_PARAM_scalar", "CALL_PROTOTYPE"] {
        assert_eq!(effects_of(name, InstFlags::empty(), 0).0, Effects::CALL_SEQUENCE, "{name}");
    }
}

#[test]
fn inline_assembly_does_what_its_flags_say() {
    assert_eq!(effects_of("INLINEASM", InstFlags::empty(), 0).0, Effects::MAY_FAULT);
    assert_eq!(effects_of("INLINEASM", InstFlags::ASM_EFFECTS, 0).0, Effects::OPAQUE | Effects::TRAP);
    assert_eq!(effects_of("INLINEASM", InstFlags::ASM_MEMORY, 0).0, Effects::READ | Effects::WRITE);
    assert_eq!(effects_of("INLINEASM", InstFlags::CONVERGENT, 0).0, Effects::CONVERGENT);
}

#[test]
fn registers_that_change_by_themselves_are_never_read_again() {
    for name in ["SREG_CLOCK", "SREG_CLOCK64", "SREG_GLOBALTIMER", "SREG_SMID", "SREG_WARPID", "INT_PTX_SREG_PM0"] {
        let opcode = opcode_of(name);
        assert_eq!(CLASSIFICATION.effects(opcode, InstFlags::empty(), 0).0, Effects::ORDERED, "{name}");
        assert_eq!(CLASSIFICATION.remat(opcode, InstFlags::empty(), 0), None, "{name}");
    }
    for name in ["INT_PTX_SREG_TID_x", "INT_PTX_SREG_CTAID_y", "INT_PTX_SREG_NTID_z", "SREG_LANEID", "MOV_SPECIAL"] {
        let opcode = opcode_of(name);
        assert_eq!(CLASSIFICATION.effects(opcode, InstFlags::empty(), 0).0, Effects::empty(), "{name}");
        assert_eq!(CLASSIFICATION.remat(opcode, InstFlags::empty(), 0), Some(RematCost(1)), "{name}");
    }
}

#[test]
fn loads_of_own_parameters_are_rematerialisable_and_other_loads_are_not() {
    let load = opcode_of("LD_i32");
    let invariant = InstFlags::LOAD | InstFlags::INVARIANT;
    assert_eq!(CLASSIFICATION.remat(load, invariant, 101), Some(RematCost(1)));
    assert_eq!(CLASSIFICATION.remat(load, InstFlags::LOAD, 101), None);
    assert_eq!(CLASSIFICATION.remat(load, invariant | InstFlags::CALL_SEQUENCE, 101), None);
    assert_eq!(CLASSIFICATION.remat(load, invariant, 1), None);
}

#[test]
fn uniformity_starts_at_thread_numbers_and_loads() {
    let load = opcode_of("LD_i32");
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
    assert_eq!(CLASSIFICATION.uniformity(load, 1, true), Uniformity::Divergent);
    assert_eq!(CLASSIFICATION.uniformity(load, 101, true), Uniformity::Propagates);
    assert_eq!(CLASSIFICATION.uniformity(load, 101, false), Uniformity::Divergent);
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

#[test]
fn the_end_of_a_block_is_a_terminator_whatever_else_it_is() {
    assert_eq!(effects_of("GOTO", InstFlags::empty(), 0).0, Effects::TERMINATOR);
    assert!(effects_of("BRX_END", InstFlags::ORDERED, 0).0.contains(Effects::TERMINATOR));
    // LLVM inserts instructions after an `asm goto`, so it is not a terminator.
    assert_eq!(effects_of("INLINEASM_BR", InstFlags::empty(), 0).0, Effects::OPAQUE | Effects::TRAP);
    assert!(!effects_of("trapinst", InstFlags::empty(), 0).0.is_pure());
}

#[test]
fn exchanges_between_threads_are_convergent_and_touch_no_memory() {
    let flags = InstFlags::LOAD | InstFlags::STORE | InstFlags::ORDERED | InstFlags::CONVERGENT;
    assert_eq!(effects_of("VOTE_SYNC_BALLOTr", flags, 0).0, Effects::CONVERGENT);
    assert_eq!(effects_of("BARRIER_CTA_SYNC_ALL_i", flags, 0).0, Effects::CONVERGENT | Effects::OPAQUE);
    // A shuffle has no name, so LLVM's flags for a memory access are used.
    assert!(effects_of("anonymous_14996", flags, 0).0.contains(Effects::CONVERGENT | Effects::READ | Effects::WRITE));
    // A matrix load is executed by a whole warp, although LLVM's descriptor is not convergent.
    assert_eq!(
        effects_of("anonymous_15891", InstFlags::LOAD, 3),
        (Effects::READ | Effects::CONVERGENT, MemorySpace::Shared)
    );
}
