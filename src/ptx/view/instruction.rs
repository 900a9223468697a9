//! One PTX instruction as an instruction of the view.

use rustc_hash::FxHashMap;

use super::context::Context;
use super::draft::DraftInst;
use super::items::{Item, Items};
use super::names::NameMeaning;
use super::operands::Flattener;
use crate::function::ptx_opcode::Form;
use crate::function::{Block, Effects, MemorySpace, Operand as ViewOperand, Value};
use crate::ptx::parts::{Instruction, Operand, Parts};
use crate::ptx::statement::Statement;
use crate::ptx::token::{Token, TokenKind};
use crate::target::ptx::{Control, Meaning, Writes};

/// The effects of an unknown instruction.
const UNKNOWN: Effects =
    Effects::OPAQUE.union(Effects::TRAP).union(Effects::READ).union(Effects::WRITE).union(Effects::ORDERED);

/// Creates an instruction without operands.
pub(super) fn empty(item: &Item) -> DraftInst {
    DraftInst {
        first: item.first,
        last: item.last,
        block: item.block,
        name: String::new(),
        operands: Vec::new(),
        effects: Effects::empty(),
        space: MemorySpace::Generic,
        line: 0,
        guard: None,
        goes_on: true,
        is_asynchronous: false,
        is_wait: false,
    }
}

/// Reads an item that is one statement.
///
/// # Errors
/// The reason why the function has no view.
pub(super) fn instruction<'a>(
    context: &mut Context<'_, 'a>,
    items: &Items<'a>,
    item: &Item,
) -> Result<DraftInst, String> {
    let mut inst = empty(item);
    let parts = match context.file.parts(item.first) {
        Some(Parts::Instruction(instruction)) => instruction,
        _ => {
            unknown(context, &mut inst, item.first)?;
            return Ok(inst);
        }
    };
    let mnemonic = parts.mnemonic(context.file.text());
    let Some(meaning) = Meaning::of(&mnemonic) else {
        unknown(context, &mut inst, item.first)?;
        return Ok(inst);
    };
    (inst.effects, inst.space) = meaning.effects(&mnemonic);
    (inst.is_asynchronous, inst.is_wait) = (meaning.is_asynchronous, meaning.is_wait);
    inst.goes_on = parts.guard.is_some() || matches!(meaning.control, Control::Next | Control::Call);
    let mut flattener = Flattener { context, inst: &mut inst, form: Form::default(), is_strange: false };
    flatten(&mut flattener, &parts, &mnemonic, &meaning, items)?;
    if flattener.is_strange {
        let mut inst = empty(item);
        unknown(context, &mut inst, item.first)?;
        return Ok(inst);
    }
    finish_effects(context, &mut inst, &parts, &mnemonic);
    Ok(inst)
}

/// Adds the operands, and chooses the opcode.
fn flatten(
    flattener: &mut Flattener<'_, '_, '_>,
    parts: &Instruction,
    mnemonic: &str,
    meaning: &Meaning,
    items: &Items<'_>,
) -> Result<(), String> {
    if parts.guard.is_none() {
        let named = flattener.move_name(mnemonic, &parts.operands);
        if let Some(name) = named.or_else(|| flattener.access_name(mnemonic, &parts.operands)) {
            flattener.inst.name = name;
            return Ok(());
        }
    }
    let special = special_register(flattener, parts, mnemonic);
    if special.is_some() {
        flattener.operand(&parts.operands[0], true);
    } else {
        match meaning.control {
            Control::Next | Control::End => plain(flattener, parts, meaning.writes),
            Control::Branch | Control::IndexedBranch => branch(flattener, parts, items)?,
            Control::Call => call(flattener, parts),
        }
    }
    let form = special.unwrap_or_else(|| flattener.form.letters().to_owned());
    let at = if parts.guard.is_some() { "@" } else { "" };
    let inst = &mut *flattener.inst;
    inst.name = format!("{at}{mnemonic}/{form}");
    inst.keep_old_values_of_parts(&flattener.context.names)?;
    if meaning.writes == Writes::Updates {
        inst.keep_old_values(0)?;
    }
    let Some(guard) = &parts.guard else { return Ok(()) };
    let NameMeaning::Register(reg) = flattener.context.meant(guard.name.word) else {
        return Err("a predicate is no register of the function".into());
    };
    flattener.inst.guard = Some((reg, guard.is_negated));
    flattener.inst.push_named(ViewOperand::read(reg), guard.name.word);
    if guard.is_negated {
        let symbol = flattener.context.symbol("!".to_owned());
        flattener.inst.push(ViewOperand::plain(Value::Symbol(symbol)));
    }
    flattener.inst.keep_old_values(0)
}

/// Returns the name of the special register that a `mov` reads.
fn special_register(flattener: &mut Flattener<'_, '_, '_>, parts: &Instruction, mnemonic: &str) -> Option<String> {
    let [_, Operand::Name(name)] = parts.operands.as_slice() else { return None };
    if !mnemonic.starts_with("mov.") || flattener.is_register(name) {
        return None;
    }
    let text = flattener.context.file.text();
    let word = text.str(name.word);
    let part = name.part.map(|part| text.str(part)).unwrap_or_default();
    word.starts_with('%').then(|| format!("{word}{part}"))
}

fn plain(flattener: &mut Flattener<'_, '_, '_>, parts: &Instruction, writes: Writes) {
    for (number, operand) in parts.operands.iter().enumerate() {
        flattener.operand(operand, writes.includes(number, matches!(operand, Operand::Address(_))));
    }
}

fn branch(flattener: &mut Flattener<'_, '_, '_>, parts: &Instruction, items: &Items<'_>) -> Result<(), String> {
    let text = flattener.context.file.text();
    let Some((Operand::Name(target), others)) = parts.operands.split_last() else {
        return Err("a branch has no label".into());
    };
    others.iter().for_each(|operand| flattener.operand(operand, false));
    let label = text.str(target.word);
    let block_of = |labels: &FxHashMap<&str, Block>, label: &str| {
        labels
            .get(label)
            .copied()
            .ok_or_else(|| format!("a branch goes to {label}, which is not a label of the function itself"))
    };
    let targets = match items.lists.get(label) {
        Some(list) => list.clone(),
        None => vec![target.word],
    };
    for target in targets {
        let block = block_of(&items.labels, text.str(target))?;
        flattener.inst.push_named(ViewOperand::plain(Value::Block(block)), target);
        flattener.form.push('l');
    }
    Ok(())
}

/// Adds the operands of a call without a scope: results, the function, arguments, a prototype.
fn call(flattener: &mut Flattener<'_, '_, '_>, parts: &Instruction) {
    for (number, operand) in parts.operands.iter().enumerate() {
        flattener.operand(operand, number == 0 && matches!(operand, Operand::List(_)));
    }
}

/// Adjusts the effects to the operands. A load of the function's own parameter is pure unless the function may write
/// it. A load of a call's result is not pure.
fn finish_effects(context: &Context<'_, '_>, inst: &mut DraftInst, parts: &Instruction, mnemonic: &str) {
    let accesses_parameters = mnemonic.split('.').any(|word| word.starts_with("param"));
    if !accesses_parameters || !mnemonic.starts_with("ld.") {
        return;
    }
    let base = parts.operands.iter().find_map(|operand| match operand {
        Operand::Address(address) => match address.first()? {
            Operand::Name(name) | Operand::Sum { base: name, .. } => Some(name.word),
            _ => None,
        },
        _ => None,
    });
    let Some(base) = base else { return };
    let word = context.file.text().str(base);
    let is_result = !context.parameters.contains(word) && context.names.declaration(word).is_none();
    if context.may_write_parameters && !is_result {
        inst.effects = Effects::READ;
    } else if context.parameters.contains(word) {
        inst.effects -= Effects::MAY_FAULT;
    } else if is_result {
        inst.effects = Effects::READ | Effects::CALL_SEQUENCE;
        inst.space = MemorySpace::Param;
    }
}

/// Adds the operands of an unknown instruction, which may read and write all its registers and all memory.
fn unknown(context: &mut Context<'_, '_>, inst: &mut DraftInst, statement: Statement) -> Result<(), String> {
    let (file, text) = (context.file, context.file.text());
    let word = file.first_word(statement).to_owned();
    (inst.effects, inst.goes_on) = (UNKNOWN, true);
    for number in file.statements().first(statement).0..file.statements().end(text, statement).0 {
        let token = Token(number);
        if text.kind(token) != TokenKind::Word {
            continue;
        }
        if let NameMeaning::Register(reg) = context.meant(token) {
            let named = inst.operands.iter_mut().find(|operand| operand.operand.reg() == Some(reg));
            match named {
                Some(operand) => operand.tokens.push(token),
                None => inst.push_named(ViewOperand::write(reg), token),
            }
        }
    }
    let symbol = context.symbol(String::from_utf8_lossy(file.bytes_of(statement)).trim().to_owned());
    inst.push(ViewOperand::plain(Value::Symbol(symbol)));
    inst.name = format!("{word}/?");
    inst.keep_old_values(0)
}
