//! Compares the analyses with their oracles on random functions.

use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use nvptx_ra::function::{
    Block, Effects, Function, FunctionBuilder, Opcode, OpcodeTable, Operand, OperandFlags, RegClass, Role, VReg, Value,
};
use nvptx_ra::fuzzing::control_flow::check_control_flow;
use nvptx_ra::fuzzing::interval_tree::check_interval_tree;
use nvptx_ra::fuzzing::liveness::check_live_ranges;

struct Opcodes {
    table: Arc<OpcodeTable>,
    op: Opcode,
    phi: Opcode,
    debug: Opcode,
}

impl Opcodes {
    fn new() -> Self {
        let mut table = OpcodeTable::new();
        let op = table.intern("op", Role::Other);
        let phi = table.intern("PHI", Role::Phi);
        let debug = table.intern("DBG_VALUE", Role::Debug);
        Self { table: Arc::new(table), op, phi, debug }
    }
}

/// Draws an arbitrary graph. It may have irreducible cycles, unreachable and empty blocks, edges to the entry, and
/// reads of registers that are never written.
fn random_function(u: &mut Unstructured<'_>, max_blocks: u32) -> Result<Function> {
    let opcodes = Opcodes::new();
    let mut builder = FunctionBuilder::new("random", opcodes.table.clone());
    let regs: Vec<VReg> = (0..u.int_in_range(1..=3)?).map(|_| builder.reg(RegClass::B32)).collect();
    let num_blocks = u.int_in_range(0..=max_blocks)?;
    let mut succs: Vec<Vec<Block>> = Vec::new();
    for block in 0..num_blocks {
        let mut list = Vec::new();
        if block + 1 < num_blocks && u.ratio(3, 4)? {
            list.push(Block(block + 1));
        }
        for _ in 0..u.int_in_range(0..=2)? {
            list.push(Block(u.int_in_range(0..=num_blocks - 1)?));
        }
        list.sort_unstable();
        list.dedup();
        succs.push(list);
    }
    for block in 0..num_blocks {
        builder.block(&succs[block as usize], 1.0, 0);
        let preds: Vec<Block> =
            (0..num_blocks).map(Block).filter(|&pred| succs[pred.0 as usize].contains(&Block(block))).collect();
        for _ in 0..u.int_in_range(0..=1)? {
            let mut operands = vec![Operand::write(*u.choose(&regs)?)];
            for &pred in &preds {
                operands.extend([random_read(u, &regs)?, Operand::plain(Value::Block(pred))]);
            }
            builder.inst(opcodes.phi, &operands, Effects::empty());
        }
        for _ in 0..u.int_in_range(0..=3)? {
            random_inst(u, &mut builder, &opcodes, &regs)?;
        }
    }
    Ok(builder.finish())
}

fn random_inst(
    u: &mut Unstructured<'_>,
    builder: &mut FunctionBuilder,
    opcodes: &Opcodes,
    regs: &[VReg],
) -> Result<()> {
    if u.ratio(1, 8)? {
        builder.inst(opcodes.debug, &[Operand::read(*u.choose(regs)?)], Effects::META);
        return Ok(());
    }
    let mut operands = Vec::new();
    for _ in 0..u.int_in_range(0..=2)? {
        let mut def = Operand::write(*u.choose(regs)?);
        if u.ratio(1, 6)? {
            def.flags |= OperandFlags::EARLY_CLOBBER;
        }
        operands.push(def);
    }
    for _ in 0..u.int_in_range(0..=2)? {
        operands.push(random_read(u, regs)?);
    }
    builder.inst(opcodes.op, &operands, Effects::empty());
    Ok(())
}

fn random_read(u: &mut Unstructured<'_>, regs: &[VReg]) -> Result<Operand> {
    let mut read = Operand::read(*u.choose(regs)?);
    if u.ratio(1, 8)? {
        read.flags |= OperandFlags::UNDEF;
    }
    Ok(read)
}

/// Prints a function on a few lines for the message of a failure.
fn outline(function: &Function) -> String {
    let mut text = String::new();
    for block in function.blocks() {
        text += &format!("{block} -> {:?}\n", function.succs(block));
        for inst in function.block_insts(block) {
            let name = function.opcodes().name(function.opcode(inst));
            let operands: Vec<String> = function
                .operands(inst)
                .iter()
                .map(|operand| format!("{:?} {:?}", operand.value, operand.flags))
                .collect();
            text += &format!("  {inst} {name} {}\n", operands.join(", "));
        }
    }
    text
}

/// On any function, live ranges and their values equal the result of iterated data flow.
#[test]
fn live_ranges_agree_with_data_flow() {
    arbtest(|u| {
        let function = random_function(u, 10)?;
        if let Err(reason) = check_live_ranges(&function) {
            panic!("{reason}\n{}", outline(&function));
        }
        Ok(())
    })
    .budget_ms(2_000);
}

/// On any graph, dominators and loops satisfy their definitions.
#[test]
fn control_flow_agrees_with_its_definition() {
    arbtest(|u| {
        let function = random_function(u, 12)?;
        check_control_flow(&function).unwrap_or_else(|reason| panic!("{reason}\n{}", outline(&function)));
        Ok(())
    })
    .budget_ms(1_000);
}

/// The interval tree gives the same answers as an unsorted list.
#[test]
fn interval_tree_agrees_with_a_list() {
    arbtest(check_interval_tree).budget_ms(1_000);
}
