//! Compares the symbolic checker with an interpreter: edits that the checker accepts behave the same in every run.

use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use nvptx_ra::check::check;
use nvptx_ra::function::{
    Block, Edit, EditList, Effects, Function, FunctionBuilder, Inst, MemorySpace, Opcode, OpcodeTable, Operand,
    Position, RegClass, Role, VReg, Value,
};

use super::explore;
use super::interpreter::{run_after, run_before};

/// Registers 0 to 4 are narrow, 5 and 6 are wide.
const NARROW: u32 = 5;
const WIDE: u32 = 2;

fn narrow(source: &mut Unstructured<'_>) -> Result<VReg> {
    Ok(VReg(source.int_in_range(0..=NARROW - 1)?))
}

fn wide(source: &mut Unstructured<'_>) -> Result<VReg> {
    Ok(VReg(NARROW + source.int_in_range(0..=WIDE - 1)?))
}

/// Draws a register of the same class.
fn similar(source: &mut Unstructured<'_>, reg: VReg) -> Result<VReg> {
    if reg.0 < NARROW { narrow(source) } else { wide(source) }
}

fn opcodes() -> Arc<OpcodeTable> {
    let mut table = OpcodeTable::new();
    let roles = [
        ("COPY", Role::Copy),
        ("CONSTANT", Role::Constant),
        ("PACK", Role::Pack),
        ("UNPACK", Role::Unpack),
        ("LOW", Role::Extract { index: 0, parts: 2 }),
        ("HIGH", Role::Extract { index: 1, parts: 2 }),
        ("UNDEF", Role::Undef),
        ("PHI", Role::Phi),
        ("ADD", Role::Other),
        ("LOAD", Role::Other),
        ("GUARDED", Role::Other),
        ("STORE", Role::Other),
        ("BRANCH", Role::Other),
    ];
    for (name, role) in roles {
        table.intern(name, role);
    }
    Arc::new(table)
}

/// Draws a function of a few blocks. Half of the blocks begin with PHIs.
pub(crate) fn function(source: &mut Unstructured<'_>) -> Result<Function> {
    let table = opcodes();
    let opcode = |name: &str| table.find(name).expect("interned");
    let mut builder = FunctionBuilder::new("random", table.clone());
    (0..NARROW).for_each(|_| _ = builder.reg(RegClass::B32));
    (0..WIDE).for_each(|_| _ = builder.reg(RegClass::B64));
    let num_blocks = source.int_in_range(1..=4u32)?;
    let mut succs: Vec<Vec<Block>> = Vec::new();
    for _ in 0..num_blocks {
        let mut targets = Vec::new();
        for _ in 0..2 {
            let target = Block(source.int_in_range(0..=num_blocks - 1)?);
            if target.0 != 0 && !targets.contains(&target) {
                targets.push(target);
            }
        }
        succs.push(targets);
    }
    for block in (0..num_blocks).map(Block) {
        builder.block(&succs[block.0 as usize], 1.0, 0);
        let preds = (0..num_blocks).filter(|&pred| succs[pred as usize].contains(&block)).map(Block);
        let preds: Vec<Block> = preds.collect();
        for reg in 0..if preds.is_empty() { 0 } else { source.int_in_range(0..=2u32)? } {
            let mut operands = vec![Operand::write(VReg(reg))];
            for &pred in &preds {
                operands.extend([Operand::read(narrow(source)?), Operand::plain(Value::Block(pred))]);
            }
            builder.inst(opcode("PHI"), &operands, Effects::empty());
        }
        if block.0 == 0 {
            define_most(source, &mut builder, &opcode)?;
        }
        for _ in 0..source.int_in_range(0..=7u32)? {
            add_inst(source, &mut builder, &opcode)?;
        }
        let mut operands = vec![Operand::read(narrow(source)?)];
        operands.extend(succs[block.0 as usize].iter().map(|&target| Operand::plain(Value::Block(target))));
        builder.inst(opcode("BRANCH"), &operands, Effects::TERMINATOR);
    }
    Ok(builder.finish())
}

/// Gives most registers distinct values, so that wrong edits change a result.
fn define_most(
    source: &mut Unstructured<'_>,
    builder: &mut FunctionBuilder,
    opcode: &impl Fn(&str) -> Opcode,
) -> Result<()> {
    for reg in (0..NARROW).map(VReg) {
        if source.ratio(7, 8)? {
            let operands = [Operand::write(reg), Operand::immediate(i64::from(reg.0))];
            builder.inst(opcode("CONSTANT"), &operands, Effects::empty());
            let operands = [Operand::write(reg), Operand::read(reg)];
            builder.full_inst(opcode("LOAD"), &operands, Effects::READ, MemorySpace::Global, 0);
        }
    }
    for reg in (NARROW..NARROW + WIDE).map(VReg) {
        let operands = [Operand::write(reg), Operand::read(narrow(source)?), Operand::read(narrow(source)?)];
        builder.inst(opcode("PACK"), &operands, Effects::empty());
    }
    Ok(())
}

fn add_inst(
    source: &mut Unstructured<'_>,
    builder: &mut FunctionBuilder,
    opcode: &impl Fn(&str) -> Opcode,
) -> Result<()> {
    use Operand as O;
    let pure = Effects::empty();
    match source.int_in_range(0..=11u32)? {
        0 | 1 => {
            let dst = narrow(source)?;
            builder.inst(opcode("COPY"), &[O::write(dst), O::read(narrow(source)?)], pure);
        }
        2 => {
            let value = O::immediate(source.int_in_range(0..=1)?);
            builder.inst(opcode("CONSTANT"), &[O::write(narrow(source)?), value], pure);
        }
        3 | 4 => {
            let operands = [O::write(narrow(source)?), O::read(narrow(source)?), O::read(narrow(source)?)];
            builder.inst(opcode("ADD"), &operands, pure);
        }
        5 => {
            let operands = [O::write(narrow(source)?), O::read(narrow(source)?)];
            builder.full_inst(opcode("LOAD"), &operands, Effects::READ, MemorySpace::Global, 0);
        }
        6 => {
            let operands = [O::read(narrow(source)?)];
            builder.full_inst(opcode("STORE"), &operands, Effects::WRITE, MemorySpace::Shared, 0);
        }
        7 => {
            let operands = [O::write(wide(source)?), O::read(narrow(source)?), O::read(narrow(source)?)];
            builder.inst(opcode("PACK"), &operands, pure);
        }
        8 => {
            let low = narrow(source)?;
            let high = VReg((low.0 + 1) % NARROW);
            builder.inst(opcode("UNPACK"), &[O::write(low), O::write(high), O::read(wide(source)?)], pure);
        }
        9 => {
            let name = if source.arbitrary()? { "LOW" } else { "HIGH" };
            builder.inst(opcode(name), &[O::write(narrow(source)?), O::read(wide(source)?)], pure);
        }
        10 => {
            let operands = [O::write(narrow(source)?), O::read(narrow(source)?)];
            builder.full_inst(opcode("GUARDED"), &operands, Effects::MAY_FAULT, MemorySpace::Global, 0);
        }
        _ => {
            builder.inst(opcode("UNDEF"), &[O::write(narrow(source)?)], pure);
        }
    }
    Ok(())
}

fn position(source: &mut Unstructured<'_>, function: &Function) -> Result<Position> {
    let block = Block(source.int_in_range(0..=function.num_blocks() as u32 - 1)?);
    let range = function.block_range(block);
    let before = Inst(source.int_in_range(range.start.0..=range.end.0 - 1)?);
    Ok(Position { block, before: Some(before) })
}

/// Draws a few edits. Most of them change the function's meaning, or cannot be applied.
fn edits(source: &mut Unstructured<'_>, function: &Function) -> Result<EditList> {
    let mut edits = EditList::new(function);
    for _ in 0..source.int_in_range(1..=3u32)? {
        let inst = Inst(source.int_in_range(0..=function.num_insts() as u32 - 1)?);
        let reg = VReg(source.int_in_range(0..=NARROW + WIDE - 1)?);
        match source.int_in_range(0..=9u32)? {
            0 | 1 => edits.push(Edit::Merge { from: reg, into: similar(source, reg)? }),
            2 => edits.push(Edit::Delete { inst }),
            3 => edits.push(Edit::Move { inst, at: position(source, function)? }),
            4 => {
                let operand = source.int_in_range(0..=2u32)?;
                edits.push(Edit::SetRegister { inst, operand, reg });
            }
            5 => {
                edits.insert_copy(position(source, function)?, reg, similar(source, reg)?);
            }
            6 => {
                edits.insert_clone(position(source, function)?, inst, reg);
            }
            7 => {
                let opcode = function.opcodes().find("CONSTANT").expect("interned");
                let value = Value::Immediate(source.int_in_range(0..=1)?);
                edits.insert_constant(position(source, function)?, opcode, reg, value);
            }
            8 => {
                let block = function.block_of(inst);
                if let Some(&to) = function.succs(block).first() {
                    let new = edits.split_edge(block, to);
                    let at = Position { block: new, before: None };
                    edits.insert_copy(at, reg, similar(source, reg)?);
                }
            }
            _ => {
                let slot = edits.create_slot(8, 8);
                edits.insert_spill(position(source, function)?, reg, slot);
                edits.insert_reload(position(source, function)?, similar(source, reg)?, slot);
            }
        }
    }
    edits.finish();
    Ok(edits)
}

/// Edits that the checker accepts change no operand of an instruction with effects. An instruction that may fault runs
/// only with operands with which it also ran before the edits. Each function runs with several seeds.
#[test]
fn accepted_edits_behave_the_same() {
    let [accepted, tried] = explore(
        1_500,
        |&[_, tried]| tried > 100,
        |source, [accepted, tried]| {
            let function = function(source)?;
            let edits = edits(source, &function)?;
            *tried += 1;
            if check(&function, &edits).is_err() {
                return Ok(());
            }
            *accepted += 1;
            let applied = edits.apply(&function).expect("accepted edits fit");
            for seed in 0..4 {
                let before = run_before(&function, seed);
                let after = run_after(&function, &applied, seed, before.visits);
                if let Err(difference) = before.compare(&after) {
                    panic!("{difference} with seed {seed}\n{:?}\n{function}\n{}", edits.edits(), applied.function);
                }
            }
            Ok(())
        },
    );
    // Most drawn edits are wrong. In the first measurement, a fifth of them was right.
    assert!(accepted * 8 > tried, "{accepted} of {tried} accepted: too few to tell anything");
}

/// The interpreter alone distinguishes some edits that the checker must refuse.
#[test]
fn some_refused_edits_behave_differently() {
    let [different] = explore(
        300,
        |&[different]| different > 0,
        |source, [different]| {
            let function = function(source)?;
            let edits = edits(source, &function)?;
            if let Ok(applied) = edits.apply(&function) {
                let before = run_before(&function, 1);
                let after = run_after(&function, &applied, 1, before.visits);
                *different += u32::from(before.compare(&after).is_err());
            }
            Ok(())
        },
    );
    assert!(different > 0);
}
