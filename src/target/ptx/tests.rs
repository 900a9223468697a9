//! Tests of the table of mnemonics.

use super::super::classify;
use super::{Meaning, Writes, rules, vector_rows};
use crate::function::ptx_opcode::{PtxOpcode, bases_of_addresses, equivalent};
use crate::function::{Effects, MemorySpace, Role};
use crate::target::pattern;
use crate::target::{CopyFamily, Purity, RematCost, TupleKind};

fn meaning(mnemonic: &str) -> Meaning {
    Meaning::of(mnemonic).unwrap_or_else(|| panic!("{mnemonic} is known"))
}

/// No name is in two rules.
#[test]
fn names_stand_once() {
    let mut names = Vec::new();
    for rule in rules::RULES.iter().flat_map(|rules| rules.iter()) {
        rule.names
            .split_ascii_whitespace()
            .for_each(|name| pattern::expand(name, &mut |name| names.push(name.to_owned())));
    }
    names.sort_unstable();
    assert_eq!(names.windows(2).find(|pair| pair[0] == pair[1]), None);
}

/// The longest matching rule counts, modifiers adjust it, and unknown mnemonics are not guessed.
#[test]
fn rules_and_modifiers() {
    assert_eq!(meaning("add.s32").info.remat, Some(RematCost(1)));
    assert_eq!(meaning("add.f32").info.remat, None);
    assert_eq!(meaning("add.cc.u32").info.purity, Purity::Opaque);
    assert_eq!(meaning("mad.lo.cc.u32").info.purity, Purity::Opaque);
    assert_eq!(meaning("madc.hi.u32").info.purity, Purity::Opaque);
    assert_eq!(meaning("barrier.cta.red.popc.aligned.u32").writes, Writes::First);
    assert_eq!(meaning("bar.sync").writes, Writes::Nothing);
    assert_eq!(meaning("cvt.u64.u32").info.family, CopyFamily::CrossClass);
    assert_eq!(meaning("cvt.rn.f32.s32").info.family, CopyFamily::NotCopy);
    assert!(Meaning::of("unheard.of").is_none());
}

/// Effects and memory spaces follow from the mnemonic: weak loads read, volatile loads keep their order, and parameters
/// do not change.
#[test]
fn effects_of_memory() {
    let effects = |mnemonic: &str| meaning(mnemonic).effects(mnemonic);
    assert_eq!(effects("ld.global.b32"), (Effects::READ, MemorySpace::Global));
    assert_eq!(effects("ld.volatile.shared.v2.b32"), (Effects::READ | Effects::ORDERED, MemorySpace::Shared));
    assert_eq!(effects("ld.param.b64").0, Effects::MAY_FAULT);
    assert_eq!(effects("ld.global.nc.b32").0, Effects::MAY_FAULT);
    assert_eq!(effects("st.b32"), (Effects::WRITE, MemorySpace::Generic));
    assert_eq!(effects("atom.shared.add.u32").1, MemorySpace::Shared);
    assert!(effects("atom.add.u32").0.contains(Effects::ORDERED));
    assert_eq!(effects("cp.async.cg.shared.global").1, MemorySpace::Generic);
    assert!(effects("bar.sync").0.contains(Effects::OPAQUE | Effects::CONVERGENT));
    assert!(effects("bra.uni").0.contains(Effects::TERMINATOR));
    assert_eq!(effects("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32").0, Effects::CONVERGENT);
}

/// Special registers that change keep their order. Under a predicate, no instruction is a copy.
#[test]
fn moves() {
    assert_eq!(classify("mov.u32/%clock").purity, Purity::Volatile);
    assert_eq!(classify("mov.u32/%tid.x").family, CopyFamily::SpecialRegister);
    let guarded = classify("@mov.b32/r");
    assert_eq!((guarded.role(), guarded.family, guarded.remat), (Role::Other, CopyFamily::NotCopy, None));
    assert_eq!(classify("@cvta.to.global.u64/r").family, CopyFamily::NotCopy);
}

/// Names are split correctly, and vectors are counted in operands of the view.
#[test]
fn names_and_rows() {
    let name = "@ld.global.nc.v4.b32/v4a";
    assert_eq!(PtxOpcode::of(name), Some(PtxOpcode { is_guarded: true, mnemonic: "ld.global.nc.v4.b32", form: "v4a" }));
    assert_eq!(vector_rows(name), Some(vec![(0, 4, TupleKind::Memory)]));
    assert_eq!(vector_rows("st.shared.v2.b32/av2"), Some(vec![(2, 2, TupleKind::Memory)]));
    let rows = vector_rows("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32/v4v4v2v4").expect("it has rows");
    assert_eq!(rows.iter().map(|row| (row.0, row.1)).collect::<Vec<_>>(), [(0, 4), (4, 4), (8, 2), (10, 4)]);
    assert_eq!(vector_rows("ld.param.v4.b32/v4a"), None);
    assert_eq!(bases_of_addresses("stmatrix.sync.aligned.m8n8.x4.shared.b16/av4"), Some(vec![0]));
    assert_eq!(bases_of_addresses("@cp.async.ca.shared.global/aaii"), Some(vec![0, 2]));
    assert_eq!(bases_of_addresses("ld.shared.v2.b32/v2a"), Some(vec![2]));
    assert_eq!(bases_of_addresses("ST_i32"), None);
    assert_eq!(PtxOpcode::of("LD_i32"), None);
}

/// The table and LLVM's classification agree for instructions that both have: effects, cost, uniformity, and the
/// uniform datapath.
#[test]
fn agrees_with_the_table_of_llvm() {
    let (mut compared, mut different) = (0, Vec::new());
    let arithmetic = [
        "add",
        "sub",
        "min",
        "max",
        "div",
        "rem",
        "mul.lo",
        "mul.hi",
        "mul.wide",
        "mad.lo",
        "mad.wide",
        "and",
        "or",
        "xor",
        "not",
        "neg",
        "abs",
        "shl",
        "shr",
        "popc",
        "clz",
        "bfe",
        "prmt",
        "setp.lt",
        "selp",
        "add.rn",
        "mul.rn",
        "fma.rn",
        "div.rn",
        "div.full",
        "rcp.rn",
        "sqrt.rn",
        "cvt.u64",
        "cvt.u32",
        "cvt.s32",
        "cvt.rn.f32",
        "cvt.u16",
        "cvt.f64",
    ];
    let types = ["s16", "u16", "b16", "s32", "u32", "b32", "s64", "u64", "b64", "f32", "f64", "pred"];
    for base in arithmetic {
        for kind in types {
            for form in ["rr", "rri", "rrr", "rir", "rrrr", "rrri", "rrir", "rirr"] {
                let name = format!("{base}.{kind}/{form}");
                let Some(other) = equivalent(&name) else { continue };
                let (own, llvm) = (classify(&name), classify(&other));
                if llvm.purity == Purity::Unknown {
                    continue;
                }
                compared += 1;
                let facts = |info: crate::target::OpcodeInfo| {
                    (info.purity, info.remat, info.uniformity, info.convergent, info.has_uniform_form, info.family)
                };
                if facts(own) != facts(llvm) {
                    different.push(format!("{name} and {other}: {:?} {:?}", facts(own), facts(llvm)));
                }
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(compared > 100, "{compared}");
    assert_eq!(equivalent("mov.u32/%tid.x").as_deref(), Some("INT_PTX_SREG_TID_x"));
    assert_eq!(equivalent("@add.s32/rrr"), None);
    assert_eq!(equivalent("mov.u32/%laneid").as_deref(), Some("SREG_LANEID"));
    assert_eq!(equivalent("cvta.to.shared.u64/rr").as_deref(), Some("cvta_to_shared_64"));
    assert_eq!(equivalent("cvta.shared::cluster.u64/rr"), None);
}

/// Every name of the table occurs in the list of instructions that a test compiles with ptxas.
#[test]
fn names_have_instructions() {
    let list = include_str!("../../../tests/ptx/instructions.txt");
    let mut names: Vec<String> = Vec::new();
    for rule in rules::RULES.iter().flat_map(|rules| rules.iter()) {
        rule.names.split_ascii_whitespace().for_each(|name| pattern::expand(name, &mut |name| names.push(name.into())));
    }
    let mut missing: std::collections::BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let is_instruction = |line: &&str| line.contains(';') && !line.starts_with(['#', '[']);
    for line in list.lines().filter(is_instruction) {
        let bare = if line.starts_with('@') { line.split_once(' ').map_or("", |(_, bare)| bare) } else { line };
        let end = bare.find([' ', ';']).unwrap_or(bare.len());
        pattern::expand(&bare[..end], &mut |mnemonic| {
            let is_prefix = |name: &&String| {
                mnemonic.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if let Some(name) = names.iter().filter(is_prefix).max_by_key(|name| name.len()) {
                missing.remove(name.as_str());
            }
        });
    }
    assert!(missing.is_empty(), "{missing:?}");
}
