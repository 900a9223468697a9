//! Properties of generated functions: valid, and with many cases that are rare in real code.

use std::collections::BTreeSet;

use arbitrary::{Result, Unstructured};

use super::generate::{Options, lowered_function, ssa_function};
use super::graph::predecessors;
use super::interpret::{Limits, interpret};
use super::trace::check_same_meaning;
use super::value::mix;
use crate::function::{Block, Function, Operand, OperandFlags, Role, VReg, Value};
use crate::index::IndexVec;

/// Returns bytes without a pattern.
fn bytes(seed: u64) -> Vec<u8> {
    (0..4096).map(|index| mix(seed, index) as u8).collect()
}

fn functions(make: fn(&mut Unstructured<'_>, &Options) -> Result<Function>) -> Vec<Function> {
    (0..200).map(|seed| make(&mut Unstructured::new(&bytes(seed)), &Options::default()).unwrap()).collect()
}

fn count(functions: &[Function], has: impl Fn(&Function) -> bool) -> usize {
    functions.iter().filter(|function| has(function)).count()
}

#[test]
fn no_bytes_make_the_smallest_function() {
    let function = ssa_function(&mut Unstructured::new(&[]), &Options::default()).unwrap();
    assert_eq!(function.validate(), Ok(()));
    assert_eq!(function.num_blocks(), 1);
}

#[test]
fn ssa_functions_define_each_register_once() {
    for function in functions(ssa_function) {
        let mut defined = BTreeSet::new();
        let operands = function.insts().flat_map(|inst| function.operands(inst));
        assert!(operands.filter_map(Operand::def).all(|reg| defined.insert(reg)), "{function}");
    }
}

#[test]
fn lowered_functions_have_no_phis_and_equal_tied_registers() {
    for function in functions(lowered_function) {
        for inst in function.insts() {
            assert_ne!(function.role(inst), Role::Phi);
            let operands = function.operands(inst);
            let tied = operands.iter().filter_map(|operand| Some((operand.reg(), operand.tied?)));
            assert!(tied.into_iter().all(|(reg, other)| operands[usize::from(other)].reg() == reg), "{function}");
        }
    }
}

/// Returns the registers with a value on every path to the end of each block; all registers for an unreachable block.
fn defined_at_end(function: &Function) -> IndexVec<Block, BTreeSet<VReg>> {
    let mut at_end: IndexVec<Block, BTreeSet<VReg>> =
        IndexVec::filled(function.regs().collect(), function.num_blocks());
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for block in function.blocks() {
            let mut defined = defined_at_start(function, block, &at_end);
            let operands = function.block_insts(block).flat_map(|inst| function.operands(inst));
            defined.extend(operands.filter_map(Operand::def));
            changed |= defined != at_end[block];
            at_end[block] = defined;
        }
    }
    at_end
}

fn defined_at_start(function: &Function, block: Block, at_end: &IndexVec<Block, BTreeSet<VReg>>) -> BTreeSet<VReg> {
    let predecessors = function.blocks().filter(|&from| function.succs(from).contains(&block));
    let defined = predecessors.map(|from| at_end[from].clone()).reduce(|one, other| &one & &other);
    match defined {
        Some(defined) => defined,
        None if block == Block(0) => BTreeSet::new(),
        None => function.regs().collect(),
    }
}

#[test]
fn every_read_of_a_lowered_function_finds_a_definition_on_every_path() {
    for function in functions(lowered_function) {
        let at_end = defined_at_end(&function);
        for block in function.blocks() {
            let mut defined = defined_at_start(&function, block, &at_end);
            for inst in function.block_insts(block) {
                let operands = function.operands(inst);
                let mut reads = operands.iter().filter_map(Operand::use_reg);
                assert!(reads.all(|reg| defined.contains(&reg)), "{inst} of\n{function}");
                defined.extend(operands.iter().filter_map(Operand::def));
            }
        }
    }
}

/// Whether edges between reachable blocks remain after intervals have been collapsed: T1 and T2 of Hecht and Ullman,
/// "Flow Graph Reducibility" (1972).
fn has_irreducible_loop(function: &Function) -> bool {
    let mut reached = BTreeSet::new();
    let mut worklist = vec![Block(0)];
    while let Some(block) = worklist.pop() {
        if reached.insert(block) {
            worklist.extend(function.succs(block));
        }
    }
    let edges_of = |&from: &Block| function.succs(from).iter().map(move |&to| (from, to));
    let mut edges: BTreeSet<(Block, Block)> = reached.iter().flat_map(edges_of).collect();
    loop {
        edges.retain(|(from, to)| from != to);
        let predecessors = |block: Block, edges: &BTreeSet<(Block, Block)>| {
            edges.iter().filter(|&&(_, to)| to == block).map(|&(from, _)| from).collect::<Vec<_>>()
        };
        let single = reached.iter().find_map(|&block| match predecessors(block, &edges)[..] {
            [only] => Some((block, only)),
            _ => None,
        });
        let Some((block, into)) = single else { return !edges.is_empty() };
        edges = edges
            .into_iter()
            .filter(|&(_, to)| to != block)
            .map(|(from, to)| (if from == block { into } else { from }, to))
            .collect();
    }
}

#[test]
fn what_is_rare_in_real_code_is_common_in_generated_code() {
    let (ssa, lowered) = (functions(ssa_function), functions(lowered_function));
    let operands = |function: &Function| function.operands.clone();
    let has_opcode = |function: &Function, name: &str| {
        function.insts().any(|inst| function.opcodes().name(function.opcode(inst)) == name)
    };
    let reached = |function: &Function| {
        let succs = function.blocks().map(|block| function.succs(block).to_vec()).collect();
        let predecessors = predecessors(&succs);
        function.blocks().skip(1).all(|block| !predecessors[block].is_empty())
    };
    let is_long = |function: &Function| interpret(function, 0, Limits::default()).events.len() >= 5;
    let defined_often = |function: &Function| {
        let mut seen = BTreeSet::new();
        !operands(function).iter().filter_map(Operand::def).all(|reg| seen.insert(reg))
    };
    let has_flag = |function: &Function, flag| operands(function).iter().any(|operand| operand.flags.contains(flag));
    for (what, found) in [
        ("PHIs", count(&ssa, |f| has_opcode(f, "PHI"))),
        ("copies", count(&lowered, |f| has_opcode(f, "COPY"))),
        ("packs", count(&lowered, |f| has_opcode(f, "V2I32toI64"))),
        ("calls", count(&lowered, |f| has_opcode(f, "CALL"))),
        ("inline assembly", count(&lowered, |f| has_opcode(f, "INLINEASM"))),
        ("debug values", count(&lowered, |f| has_opcode(f, "DBG_VALUE"))),
        ("undefined values", count(&lowered, |f| has_opcode(f, "IMPLICIT_DEF"))),
        ("tied operands", count(&lowered, |f| operands(f).iter().any(|operand| operand.tied.is_some()))),
        ("early definitions", count(&lowered, |f| has_flag(f, OperandFlags::EARLY_CLOBBER))),
        ("dead definitions", count(&lowered, |f| has_flag(f, OperandFlags::DEAD))),
        ("several definitions", count(&lowered, defined_often)),
        ("runs that can be seen", count(&lowered, is_long)),
        ("switches", count(&lowered, |f| has_opcode(f, "BRX_START"))),
        ("unreachable blocks", count(&lowered, |f| !reached(f))),
        ("loops with two entries", count(&lowered, has_irreducible_loop)),
        ("empty blocks", count(&lowered, |f| f.blocks().any(|block| f.block_insts(block).len() == 0))),
    ] {
        assert!(found >= 10, "{what} in {found} of 200 functions");
    }
}

#[test]
fn generated_functions_show_many_wrong_registers() {
    // One read is changed to another register of its class. A change that is never executed, or has no effect, is not
    // noticed.
    let (mut changed, mut seen) = (0, 0);
    for (seed, function) in functions(lowered_function).into_iter().enumerate() {
        let is_read = |operand: &Operand| operand.use_reg().is_some();
        let reads: Vec<usize> = (0..function.operands.len()).filter(|&at| is_read(&function.operands[at])).collect();
        let at = reads[mix(seed as u64, 0) as usize % reads.len()];
        let reg = function.operands[at].reg();
        let other = function
            .regs()
            .find(|&other| Some(other) > reg && reg.map(|r| function.class(r)) == Some(function.class(other)));
        if let Some(other) = other {
            let mut edited = function.clone();
            edited.operands[at].value = Value::Reg(other);
            changed += 1;
            seen += usize::from(check_same_meaning(&function, &edited).is_err());
        }
    }
    assert!(seen * 4 >= changed, "{seen} of {changed}");
}
