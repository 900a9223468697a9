//! A scope in braces as one instruction of the view, like inline assembly or a call.
//!
//! Names that the scope declares are local. The instruction reads and writes the function's registers in the scope.

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::Context;
use super::draft::{DraftInst, DraftOperand};
use super::instruction::{empty, instruction};
use super::items::{Item, Items};
use super::names::{NameMeaning, Names};
use crate::function::{Effects, MemorySpace, Operand as ViewOperand, OperandFlags, VReg, Value};
use crate::index::EntityIndex;
use crate::ptx::parts::{Operand, Parts};
use crate::ptx::statement::{Statement, StatementKind};
use crate::ptx::token::{Token, TokenKind};
use crate::target::ptx::{Control, Meaning, Writes};

/// The deepest nesting of scopes in a function with a view.
const DEEPEST: usize = 16;

/// Flag words before an operand of LLVM inline assembly: three kinds with one register, and the mark of a tie.
const WRITTEN: i64 = 10;
const WRITTEN_EARLY: i64 = 11;
const READ: i64 = 9;
const TIED: i64 = 1 << 31;

/// The uses of a function's register in the scope.
#[derive(Debug, Default)]
struct Use {
    /// Tokens that read the incoming value.
    reads: Vec<Token>,
    /// Tokens of the outgoing value.
    writes: Vec<Token>,
    /// The position of the first write, and of the last read of the incoming value.
    first_write: usize,
    last_read: usize,
    /// Whether the incoming value may be the outgoing value.
    keeps_old: bool,
    /// Whether the scope always writes the register.
    is_defined: bool,
}

/// A walk over a scope.
struct Walk<'c, 'f, 'a> {
    context: &'c mut Context<'f, 'a>,
    inner: Vec<(Names<'a>, FxHashSet<&'a str>)>,
    uses: FxHashMap<VReg, Use>,
    /// The registers of the function in the order of their first occurrence.
    order: Vec<VReg>,
    time: usize,
    /// Whether the rest of the scope may execute several times or not at all.
    is_conditional: bool,
    effects: Effects,
    spaces: Vec<MemorySpace>,
    callee: Option<Token>,
    is_call: bool,
}

/// Reads a scope.
///
/// # Errors
/// The reason why the function has no view.
pub(super) fn scope<'a>(context: &mut Context<'_, 'a>, item: &Item) -> Result<DraftInst, String> {
    let labels = labels(context, item);
    let mut walk = Walk {
        context,
        inner: Vec::new(),
        uses: FxHashMap::default(),
        order: Vec::new(),
        time: 0,
        is_conditional: !labels.is_empty(),
        effects: Effects::empty(),
        spaces: Vec::new(),
        callee: None,
        is_call: false,
    };
    for number in item.first.0..=item.last.0 {
        walk.statement(Statement(number), &labels)?;
    }
    walk.finish(item)
}

fn labels<'a>(context: &Context<'_, 'a>, item: &Item) -> FxHashSet<&'a str> {
    let (file, ids) = (context.file, item.first.0..=item.last.0);
    let is_label = |&statement: &Statement| file.statements().kind(statement) == StatementKind::Label;
    // Control does not reach the label of a prototype or of a list.
    let is_place = |statement: &Statement| {
        !matches!(
            file.statements().kind(Statement(statement.0 + 1)),
            StatementKind::CallPrototype | StatementKind::Targets
        )
    };
    ids.map(Statement).filter(is_label).filter(is_place).map(|statement| file.first_word(statement)).collect()
}

impl<'a> Walk<'_, '_, 'a> {
    fn statement(&mut self, statement: Statement, labels: &FxHashSet<&'a str>) -> Result<(), String> {
        let file = self.context.file;
        match file.statements().kind(statement) {
            StatementKind::Open => {
                self.inner.push(Default::default());
                if self.inner.len() > DEEPEST {
                    return Err("scopes are nested too deeply".into());
                }
            }
            StatementKind::Close => _ = self.inner.pop(),
            StatementKind::Variable => self.declaration(statement)?,
            StatementKind::Instruction | StatementKind::Unknown => self.instruction(statement, labels)?,
            _ => {}
        }
        Ok(())
    }

    fn declaration(&mut self, statement: Statement) -> Result<(), String> {
        let file = self.context.file;
        let text = file.text();
        let Some(Parts::Declaration(declaration)) = file.parts(statement) else {
            return Err("a declaration in a scope is not understood".into());
        };
        let Some((names, others)) = self.inner.last_mut() else { return Ok(()) };
        if text.of(declaration.space) == b".reg" {
            let strange = |()| "a declaration of registers in a scope is not understood".to_owned();
            return names.declare(file, &declaration).map_err(strange);
        }
        let declared = declaration.declarators.iter().filter_map(|declarator| declarator.name);
        others.extend(declared.map(|name| text.str(name)));
        Ok(())
    }

    fn is_inner(&self, word: &str) -> bool {
        self.inner.iter().any(|(names, others)| others.contains(word) || names.declaration(word).is_some())
    }

    /// Returns the function's register for a token.
    fn register(&mut self, token: Token) -> Option<VReg> {
        if self.is_inner(self.context.file.text().str(token)) {
            return None;
        }
        match self.context.meant(token) {
            NameMeaning::Register(reg) => Some(reg),
            _ => None,
        }
    }

    fn use_of(&mut self, reg: VReg) -> &mut Use {
        if !self.uses.contains_key(&reg) {
            self.order.push(reg);
        }
        self.uses.entry(reg).or_default()
    }

    fn read(&mut self, token: Token) {
        let Some(reg) = self.register(token) else { return };
        let time = self.time;
        let one = self.use_of(reg);
        if one.is_defined || one.keeps_old {
            one.writes.push(token);
            if !one.is_defined {
                one.last_read = time;
            }
        } else {
            one.reads.push(token);
            one.last_read = time;
        }
    }

    fn write(&mut self, token: Token, is_partial: bool) {
        let Some(reg) = self.register(token) else { return };
        let is_partial = is_partial || self.is_conditional;
        let time = self.time;
        let one = self.use_of(reg);
        if one.writes.is_empty() {
            one.first_write = time;
        }
        if !one.is_defined && is_partial {
            one.keeps_old = true;
        }
        one.is_defined |= !is_partial;
        one.writes.push(token);
    }

    fn instruction(&mut self, statement: Statement, labels: &FxHashSet<&'a str>) -> Result<(), String> {
        self.time += 1;
        let file = self.context.file;
        let text = file.text();
        let parts = match file.parts(statement) {
            Some(Parts::Instruction(parts)) => Some(parts),
            _ => None,
        };
        let mnemonic = parts.as_ref().map(|parts| parts.mnemonic(text)).unwrap_or_default();
        let (Some(parts), Some(meaning)) = (&parts, Meaning::of(&mnemonic)) else {
            self.effects |= Effects::OPAQUE | Effects::TRAP;
            let (first, end) = (file.statements().first(statement), file.statements().end(text, statement));
            for token in (first.0..end.0).map(Token).filter(|&token| text.kind(token) == TokenKind::Word) {
                self.read(token);
                self.write(token, true);
            }
            return Ok(());
        };
        if meaning.is_asynchronous || meaning.is_wait {
            return Err("a scope has asynchronous instructions whose registers it keeps".into());
        }
        let (effects, space) = meaning.effects(&mnemonic);
        self.effects |= effects - Effects::TERMINATOR;
        if effects.intersects(Effects::READ | Effects::WRITE) {
            self.spaces.push(space);
        }
        match meaning.control {
            Control::Branch => match parts.operands.last() {
                Some(Operand::Name(name)) if labels.contains(text.str(name.word)) => {}
                _ => return Err("control leaves a scope".into()),
            },
            Control::IndexedBranch => return Err("a scope has an indexed branch".into()),
            Control::End => self.effects |= Effects::OPAQUE | Effects::TRAP,
            Control::Call => self.call(parts.operands.as_slice()),
            Control::Next => {}
        }
        if let Some(guard) = &parts.guard {
            self.read(guard.name.word);
        }
        self.operands(&parts.operands, meaning.writes, parts.guard.is_some());
        Ok(())
    }

    fn call(&mut self, operands: &[Operand]) {
        self.is_call = true;
        let callee = operands.iter().find_map(|operand| match operand {
            Operand::Name(name) => Some(name.word),
            _ => None,
        });
        self.callee = callee;
    }

    /// Reads precede writes.
    fn operands(&mut self, operands: &[Operand], writes: Writes, is_guarded: bool) {
        let is_written = |number: usize, operand: &Operand| match writes {
            Writes::Call => number == 0 && matches!(operand, Operand::List(_)),
            _ => writes.includes(number, matches!(operand, Operand::Address(_))),
        };
        let mut written = Vec::new();
        for (number, operand) in operands.iter().enumerate() {
            let tokens = words(self.context, operand);
            if is_written(number, operand) {
                if writes == Writes::Updates {
                    tokens.iter().for_each(|&(token, _)| self.read(token));
                }
                written.extend(tokens);
            } else {
                tokens.iter().for_each(|&(token, _)| self.read(token));
            }
        }
        for (token, is_part) in written {
            self.write(token, is_guarded || is_part);
        }
    }

    fn finish(mut self, item: &Item) -> Result<DraftInst, String> {
        let mut inst = empty(item);
        let order = std::mem::take(&mut self.order);
        // A register that is written before the last read gets a location of its own (early clobber).
        let last_read = self.uses.values().map(|one| one.last_read).max().unwrap_or_default();
        let mut groups: Vec<(i64, DraftOperand, Option<usize>)> = Vec::new();
        let mut spelled: FxHashMap<Token, usize> = FxHashMap::default();
        // The operands are in the order of the text, independent of register names.
        let mut written: Vec<VReg> = order.iter().copied().filter(|reg| !self.uses[reg].writes.is_empty()).collect();
        written.sort_by_key(|reg| self.uses[reg].writes.first().copied());
        for reg in written {
            let one = &self.uses[&reg];
            let is_early = one.first_write < last_read;
            let is_tied = one.keeps_old || (is_early && !one.reads.is_empty());
            let mut operand = ViewOperand::write(reg);
            let mut tokens = one.writes.clone();
            if is_tied {
                tokens.extend(&one.reads);
            } else if is_early {
                operand.flags |= OperandFlags::EARLY_CLOBBER;
            }
            tokens.iter().for_each(|&token| _ = spelled.insert(token, groups.len()));
            let word = if is_early { WRITTEN_EARLY } else { WRITTEN };
            groups.push((word, DraftOperand { operand, tokens }, None));
        }
        let num_written = groups.len();
        let mut read = order;
        read.sort_by_key(|reg| self.uses[reg].reads.first().or(self.uses[reg].writes.first()).copied());
        for reg in read {
            let one = &self.uses[&reg];
            let is_tied =
                one.keeps_old || (!one.writes.is_empty() && one.first_write < last_read && !one.reads.is_empty());
            if is_tied {
                let def = groups[..num_written].iter().position(|(_, def, _)| def.operand.reg() == Some(reg));
                let word = READ | TIED | (def.unwrap_or_default() as i64) << 16;
                groups.push((word, DraftOperand { operand: ViewOperand::read(reg), tokens: Vec::new() }, def));
            } else if !one.reads.is_empty() {
                one.reads.iter().for_each(|&token| _ = spelled.insert(token, groups.len()));
                groups.push((READ, DraftOperand { operand: ViewOperand::read(reg), tokens: one.reads.clone() }, None));
            }
        }
        let text = self.spell(item, &spelled);
        self.effects_of(&mut inst, item);
        if self.is_call { self.as_call(&mut inst, groups, text) } else { self.as_assembly(&mut inst, groups, text) }?;
        Ok(inst)
    }

    fn effects_of(&self, inst: &mut DraftInst, item: &Item) {
        inst.effects = self.effects;
        // A scope with its own control flow may not terminate, and must not be duplicated.
        if self.is_conditional {
            inst.effects |= Effects::OPAQUE | Effects::TRAP;
        }
        if !inst.effects.is_pure() {
            inst.effects -= Effects::MAY_FAULT;
        }
        inst.space = match self.spaces.split_first() {
            Some((&first, others)) if others.iter().all(|&space| space == first) => first,
            _ => MemorySpace::Generic,
        };
        debug_assert!(inst.first == item.first && inst.last == item.last);
    }

    fn as_assembly(
        &mut self,
        inst: &mut DraftInst,
        groups: Vec<(i64, DraftOperand, Option<usize>)>,
        text: String,
    ) -> Result<(), String> {
        inst.name = "INLINEASM".into();
        // The symbol lacks the prefix that LLVM prints before a string, so no edit can change it.
        let symbol = self.context.symbol(text);
        inst.push(ViewOperand::plain(Value::Symbol(symbol)));
        inst.push(ViewOperand::immediate(i64::from(!inst.effects.is_pure())));
        // Each operand follows its flag word.
        let place = |group: usize| u16::try_from(3 + 2 * group).map_err(|_| "a scope has too many operands".to_owned());
        for (number, (word, mut operand, tied)) in groups.into_iter().enumerate() {
            inst.push(ViewOperand::immediate(word));
            if let Some(def) = tied {
                operand.operand.tied = Some(place(def)?);
                inst.operands[usize::from(place(def)?)].operand.tied = Some(place(number)?);
            }
            inst.operands.push(operand);
        }
        Ok(())
    }

    fn as_call(
        &mut self,
        inst: &mut DraftInst,
        groups: Vec<(i64, DraftOperand, Option<usize>)>,
        text: String,
    ) -> Result<(), String> {
        inst.name = "call/scope".into();
        inst.effects = Effects::OPAQUE | Effects::TRAP | Effects::CALL_SEQUENCE;
        inst.space = MemorySpace::Generic;
        for (number, (_, mut operand, tied)) in groups.into_iter().enumerate() {
            let at = u16::try_from(number).map_err(|_| "a call has too many operands".to_owned())?;
            if let Some(def) = tied {
                operand.operand.tied = Some(def as u16);
                inst.operands[def].operand.tied = Some(at);
            }
            inst.operands.push(operand);
        }
        if let Some(callee) = self.callee.filter(|&callee| self.register(callee).is_none()) {
            let name = self.context.file.text().str(callee);
            let symbol = self.context.named_symbol(name);
            inst.push(ViewOperand::plain(Value::Symbol(symbol)));
        }
        let symbol = self.context.symbol(text);
        inst.push(ViewOperand::plain(Value::Symbol(symbol)));
        Ok(())
    }

    /// Returns the text of the scope, with `$N` for the operands and without comments.
    fn spell(&self, item: &Item, spelled: &FxHashMap<Token, usize>) -> String {
        let (file, text) = (self.context.file, self.context.file.text());
        let first = text.skip_trivia(file.statements().first(item.first));
        let end = file.statements().end(text, item.last);
        let mut out = String::new();
        for token in (first.index()..end.index()).map(Token::new) {
            match spelled.get(&token) {
                Some(number) => out.push_str(&format!("${number}")),
                None if text.kind(token) == TokenKind::Trivia => out.push(' '),
                None => out.push_str(&String::from_utf8_lossy(text.of(token))),
            }
        }
        out
    }
}

/// Returns the words of an operand that may be registers, and whether each is only a part of one.
fn words(context: &Context<'_, '_>, operand: &Operand) -> Vec<(Token, bool)> {
    let mut found = Vec::new();
    let mut left = vec![operand];
    while let Some(operand) = left.pop() {
        match operand {
            Operand::Name(name) | Operand::Not(name) | Operand::Negative(name) => {
                found.push((name.word, name.part.is_some()));
            }
            Operand::Sum { base: name, .. } | Operand::Element { array: name, .. } => found.push((name.word, false)),
            Operand::Number(_) => {}
            Operand::Pair(pair) => left.extend(pair.iter().rev()),
            Operand::Vector(inside) | Operand::Address(inside) | Operand::List(inside) => {
                left.extend(inside.iter().rev());
            }
            Operand::Expression { first, end } => {
                let tokens = (first.0..end.0).map(Token);
                found.extend(
                    tokens
                        .filter(|&token| context.file.text().kind(token) == TokenKind::Word)
                        .map(|token| (token, false)),
                );
            }
        }
    }
    found
}

/// Reads an item of either kind.
pub(super) fn item<'a>(context: &mut Context<'_, 'a>, items: &Items<'a>, item: &Item) -> Result<DraftInst, String> {
    if item.first == item.last { instruction(context, items, item) } else { scope(context, item) }
}
