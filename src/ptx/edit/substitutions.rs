//! Tokens that change.

use rustc_hash::{FxHashMap, FxHashSet};

use super::registers::{Registers, untyped};
use super::{Changes, source};
use crate::function::ptx_opcode::PtxOpcode;
use crate::function::{Applied, Block, Function, Inst, Operand, Origin, VReg, Value};
use crate::index::EntityIndex;
use crate::ptx::file::File;
use crate::ptx::parts::Parts;
use crate::ptx::statement::{Statement, StatementKind};
use crate::ptx::token::Token;
use crate::ptx::view::View;
use crate::ptx::view::names::Names;

/// Returns the label of a block: the existing one, or a new one.
pub(super) fn label_of(file: &File<'_>, view: &View<'_>, block: Block) -> String {
    match view.block_label.get(block).copied().flatten() {
        Some(label) => file.text().str(label).to_owned(),
        None => new_label(block),
    }
}

/// Returns the new label of a block.
pub(super) fn new_label(block: Block) -> String {
    format!("$L__nvptx_ra_{}", block.index())
}

/// A comparison of the edited function with its PTX.
pub(super) struct Substitutions<'s, 'a> {
    file: &'s File<'a>,
    view: &'s View<'a>,
    applied: &'s Applied,
    registers: &'s Registers,
    /// The registers of the edited function that occur in its PTX.
    occurring: FxHashSet<VReg>,
    pub(super) changes: Changes,
}

impl<'s, 'a> Substitutions<'s, 'a> {
    pub(super) fn new(file: &'s File<'a>, view: &'s View<'a>, applied: &'s Applied, registers: &'s Registers) -> Self {
        let function = &applied.function;
        let has_tokens = |inst: Inst, operand: u32| match applied.origin[inst] {
            Origin::Kept(old) | Origin::Clone(old) => !view.tokens_of(old, operand).is_empty(),
            Origin::Inserted(_) => true,
        };
        let mut occurring = FxHashSet::default();
        for inst in function.insts() {
            for (number, operand) in function.operands(inst).iter().enumerate() {
                if let Some(reg) = operand.reg().filter(|_| has_tokens(inst, number as u32)) {
                    occurring.insert(reg);
                }
            }
        }
        Self { file, view, applied, registers, occurring, changes: Changes { tokens: FxHashMap::default() } }
    }

    /// Finds the changed tokens of instructions that stay.
    pub(super) fn find(&mut self) -> Result<(), String> {
        for inst in self.applied.function.insts() {
            let origin = self.applied.origin[inst];
            let Some((old, first, last)) = source(self.view, origin) else { continue };
            let changed = changed_tokens(self.file, self.view, self.applied, self.registers, inst, old)?;
            self.check_ties(inst, old)?;
            for (token, text, reg) in &changed {
                self.check_scope(first, last, reg.map_or(text, |(_, is)| self.registers.name(is)))?;
                if let Some((was, is)) = reg {
                    self.fit_types(*was, *is)?;
                }
                if matches!(origin, Origin::Kept(_))
                    && let Some(other) = self.changes.tokens.insert(*token, text.clone())
                    && other != *text
                {
                    return Err("a list of branch targets would have to differ from branch to branch".into());
                }
            }
        }
        Ok(())
    }

    /// Checks operands that have no tokens of their own. Such an operand must still equal the operand to which it is
    /// tied.
    fn check_ties(&self, inst: Inst, old: Inst) -> Result<(), String> {
        let (was, is) = (self.view.function.operands(old), self.applied.function.operands(inst));
        for (number, (before, after)) in was.iter().zip(is).enumerate() {
            let Some(old_reg) = before.reg() else { continue };
            let is_silent = self.view.tokens_of(old, number as u32).is_empty();
            if !is_silent || before.reg() == after.reg() {
                continue;
            }
            let partner = before.tied.map(usize::from);
            let has_name = partner.is_some_and(|partner| !self.view.tokens_of(old, partner as u32).is_empty());
            let is_one = has_name && partner.is_some_and(|partner| is[partner].reg() == after.reg());
            if !is_one && (has_name || self.occurring.contains(&old_reg)) {
                return Err("an operand that is not written in PTX would have to differ from the tied operand".into());
            }
        }
        let silent_partner = was.iter().zip(is).enumerate().find(|(number, (before, after))| {
            let partner = before.tied.map(usize::from);
            before.is_def()
                && before.reg() != after.reg()
                && partner.is_some_and(|partner| {
                    was[partner].reg() == before.reg()
                        && is[partner].reg() != after.reg()
                        && self.view.tokens_of(old, partner as u32).is_empty()
                        && !self.view.tokens_of(old, *number as u32).is_empty()
                })
        });
        match silent_partner {
            None => Ok(()),
            Some(_) => Err("a register that keeps its old value in part would have to be two registers".into()),
        }
    }

    /// Checks that a scope does not declare the new name.
    fn check_scope(&self, first: Statement, last: Statement, name: &str) -> Result<(), String> {
        if first == last {
            return Ok(());
        }
        let statements = self.file.statements();
        for statement in (first.index()..=last.index()).map(Statement::new) {
            if statements.kind(statement) != StatementKind::Variable {
                continue;
            }
            let Some(Parts::Declaration(declaration)) = self.file.parts(statement) else { continue };
            let mut names = Names::default();
            let is_register = names.declare(self.file, &declaration).is_ok() && names.declaration(name).is_some();
            let mut declared = declaration.declarators.iter().filter_map(|declarator| declarator.name);
            if is_register || declared.any(|declared| self.file.text().str(declared) == name) {
                return Err(format!("a scope declares its own {name}"));
            }
        }
        Ok(())
    }

    /// Makes a register fit the instructions of the register that it replaces. If the types of both registers differ,
    /// the replacing register becomes untyped.
    fn fit_types(&mut self, was: VReg, is: VReg) -> Result<(), String> {
        if !self.registers.is_old(is) {
            return Ok(());
        }
        let text = self.file.text();
        let type_of = |reg: VReg| {
            let declared = self.view.names.declarations[self.view.names.registers[reg].declaration as usize];
            (declared.type_word, text.str(declared.type_word), declared.class)
        };
        let ((_, old_type, _), (token, new_type, class)) = (type_of(was), type_of(is));
        if old_type != new_type && new_type != untyped(class) {
            self.changes.tokens.insert(token, untyped(class).to_owned());
        }
        Ok(())
    }
}

/// A changed token: its new text and, if it is a register's name, the old and the new register.
pub(super) type Changed = (Token, String, Option<(VReg, VReg)>);

/// Returns the tokens that an edited instruction changes.
pub(super) fn changed_tokens(
    file: &File<'_>,
    view: &View<'_>,
    applied: &Applied,
    registers: &Registers,
    inst: Inst,
    old: Inst,
) -> Result<Vec<Changed>, String> {
    let (was, is) = (view.function.operands(old), applied.function.operands(inst));
    let mut changed = changed_modifiers(file, view, applied, inst, old);
    for (number, (before, after)) in was.iter().zip(is).enumerate() {
        let tokens = view.tokens_of(old, number as u32);
        let new_offset = new_offset(view, old, number as u32 + 1, is);
        let is_same = match (before.reg(), after.reg()) {
            (Some(_), Some(reg)) => tokens.first().is_none_or(|&token| file.text().str(token) == registers.name(reg)),
            _ => before.value == after.value,
        };
        if is_same && new_offset.is_none() {
            continue;
        }
        if let (Value::Immediate(_), Value::Immediate(offset), [first, rest @ ..]) = (before.value, after.value, tokens)
        {
            changed.push((*first, sum_text(offset), None));
            changed.extend(rest.iter().map(|&token| (token, String::new(), None)));
            continue;
        }
        let text = text_of(file, view, after, registers)? + &new_offset.map(sum_text).unwrap_or_default();
        let reg = before.reg().zip(after.reg());
        changed.extend(tokens.iter().map(|&token| (token, text.clone(), reg)));
    }
    Ok(changed)
}

/// Returns the modifiers that a new opcode changes: a comparison becomes its complement.
fn changed_modifiers(file: &File<'_>, view: &View<'_>, applied: &Applied, inst: Inst, old: Inst) -> Vec<Changed> {
    let name = |function: &Function, inst: Inst| function.opcodes().name(function.opcode(inst)).to_owned();
    let (was, is) = (name(&view.function, old), name(&applied.function, inst));
    let (Some(was), Some(is)) = (PtxOpcode::of(&was), PtxOpcode::of(&is)) else { return Vec::new() };
    if was.mnemonic == is.mnemonic {
        return Vec::new();
    }
    let Some(Parts::Instruction(parts)) = file.parts(view.statements[old].0) else { return Vec::new() };
    let words = is.mnemonic.split('.').skip(1).map(|word| format!(".{word}"));
    let modifiers = parts.modifiers.iter().zip(words);
    modifiers
        .filter(|(token, word)| file.text().str(**token) != word)
        .map(|(&token, word)| (token, word, None))
        .collect()
}

/// Returns the value of operand `number` if it is a new offset: the address had no offset after the base.
fn new_offset(view: &View<'_>, old: Inst, number: u32, is: &[Operand]) -> Option<i64> {
    let before = view.function.operands(old).get(number as usize)?;
    match (before.value, is[number as usize].value) {
        (Value::Immediate(was), Value::Immediate(is)) if was != is && view.tokens_of(old, number).is_empty() => {
            Some(is)
        }
        _ => None,
    }
}

/// Returns the offset as it is written after the base of an address.
fn sum_text(offset: i64) -> String {
    if offset == 0 { String::new() } else { format!("+{offset}") }
}

fn text_of(file: &File<'_>, view: &View<'_>, operand: &Operand, registers: &Registers) -> Result<String, String> {
    match operand.value {
        Value::Reg(reg) => Ok(registers.name(reg).to_owned()),
        Value::Immediate(value) => Ok(value.to_string()),
        Value::Block(block) => Ok(label_of(file, view, block)),
        other => Err(format!("an operand would become {other:?}, which cannot be written in PTX")),
    }
}
