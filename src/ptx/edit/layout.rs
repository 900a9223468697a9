//! Statements in their new order.
//!
//! A block whose instructions stay in order keeps its bytes. New text is inserted between its statements, and removed
//! statements are cut out. A block with another order is rewritten. Its other statements stay at their places among the
//! instructions. Each instruction keeps its source line: a `.loc` is written before an instruction for which a wrong
//! `.loc` would be in effect.

use rustc_hash::FxHashSet;

use super::head::Head;
use super::insertions::{label_text, text_of};
use super::registers::Registers;
use super::slots::Slots;
use super::substitutions::{changed_tokens, label_of};
use super::{Changes, Patch, source};
use crate::function::{Applied, Block, Effects, Function, Inst, Origin, Value};
use crate::index::EntityIndex;
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::lines::{Lines, Place};
use crate::ptx::statement::{Statement, StatementKind};
use crate::ptx::token::{Token, TokenKind};
use crate::ptx::view::View;

pub(super) struct Layout<'l, 'a> {
    file: &'l File<'a>,
    body: &'l Body,
    view: &'l View<'a>,
    applied: &'l Applied,
    registers: &'l Registers,
    slots: &'l Slots,
    changes: &'l Changes,
    lines: Lines,
    /// The `.loc` in effect at the current place.
    current: Option<Statement>,
    /// The places of the `.loc` statements so far.
    seen: FxHashSet<Place>,
    pieces: Vec<(usize, usize, Vec<u8>)>,
    /// The byte ranges of rewritten blocks.
    rewritten: Vec<(usize, usize)>,
}

impl<'l, 'a> Layout<'l, 'a> {
    pub(super) fn new(
        file: &'l File<'a>,
        body: &'l Body,
        view: &'l View<'a>,
        applied: &'l Applied,
        (registers, slots): (&'l Registers, &'l Slots),
        changes: &'l Changes,
    ) -> Self {
        let lines = Lines::new(file, body);
        let current = lines.loc_at(view.block_start[Block(0)]);
        Self {
            file,
            body,
            view,
            applied,
            registers,
            slots,
            changes,
            lines,
            current,
            seen: FxHashSet::default(),
            pieces: Vec::new(),
            rewritten: Vec::new(),
        }
    }

    /// Returns all changes of the function.
    pub(super) fn patch(mut self, head: &Head) -> Result<Patch, String> {
        self.pieces.extend(head.pieces.iter().cloned());
        let declarations = self.registers.declarations() + &self.slots.declarations();
        let open = self.start_of(self.body.statements.start);
        self.insert(open, &declarations);
        let entry = self.start_of(self.view.block_start[Block(0)]);
        let ahead = self.body.ids().take_while(|&id| id < self.view.block_start[Block(0)]);
        for (place, _) in ahead.filter_map(|id| self.lines.places_of(id)) {
            self.seen.insert(place);
        }
        self.insert(entry, &(head.lines.clone() + &self.slots.start()));
        let without_label = if self.num_splits() > 0 { self.without_label() } else { FxHashSet::default() };
        for block in self.view.function.blocks() {
            let says = |function: &Function| function.no_unroll(block);
            if says(&self.view.function) != says(&self.applied.function) {
                // The pragma follows the label of the block. Statements may precede the label, but the block begins
                // with the label.
                self.insert(self.end_of(self.view.block_start[block]), "\n\t.pragma \"nounroll\";");
            }
            self.block(block, if without_label.contains(&block) { label_text(block) } else { String::new() })?;
        }
        self.split_blocks()?;
        for (&token, text) in &self.changes.tokens {
            let start = self.file.text().start(token);
            if !self.is_rewritten(start) {
                self.pieces.push((start, start + self.file.text().of(token).len(), text.clone().into_bytes()));
            }
        }
        self.pieces.sort_by_key(|piece| piece.0);
        let overlaps = self.pieces.windows(2).any(|pair| pair[0].1 > pair[1].0);
        if overlaps { Err("two changes overlap".into()) } else { Ok(Patch { pieces: self.pieces }) }
    }

    /// Whether a byte belongs to a rewritten block.
    fn is_rewritten(&self, at: usize) -> bool {
        let before = self.rewritten.partition_point(|&(begin, _)| begin <= at);
        before.checked_sub(1).is_some_and(|number| at < self.rewritten[number].1)
    }

    /// Returns the first byte of a statement, including the white space before it.
    fn start_of(&self, statement: Statement) -> usize {
        self.file.text().start(self.file.statements().first(statement))
    }

    fn end_of(&self, statement: Statement) -> usize {
        self.start_of(Statement(statement.0 + 1))
    }

    fn insert(&mut self, at: usize, text: &str) {
        if !text.is_empty() {
            self.pieces.push((at, at, text.as_bytes().to_vec()));
        }
    }

    /// Returns the statements of a block, from its label on. They include the statements after its last instruction.
    fn region(&self, block: Block) -> std::ops::Range<u32> {
        let next = Block(block.0 + 1);
        let end = if next.index() < self.view.function.num_blocks() {
            self.view.block_start[next]
        } else {
            self.body.statements.end
        };
        self.view.block_start[block].0..end.0.max(self.view.block_start[block].0)
    }

    /// Returns the blocks without a label that are targets of inserted branches.
    fn without_label(&self) -> FxHashSet<Block> {
        let function = &self.applied.function;
        let inserted = function.insts().filter(|&inst| matches!(self.applied.origin[inst], Origin::Inserted(_)));
        let named = inserted.flat_map(|inst| function.operands(inst)).filter_map(|operand| match operand.value {
            Value::Block(block) => Some(block),
            _ => None,
        });
        named.filter(|&block| self.view.block_label.get(block).is_some_and(Option::is_none)).collect()
    }

    fn label_of(&self, block: Block) -> String {
        label_of(self.file, self.view, block)
    }

    fn block(&mut self, block: Block, label: String) -> Result<(), String> {
        let after: Vec<Inst> = self.applied.function.block_insts(block).collect();
        let range = self.view.function.block_range(block);
        let mut last = None;
        let is_in_order = after.iter().all(|&inst| match self.applied.origin[inst] {
            Origin::Kept(old) => range.contains(&old) && last.replace(old).is_none_or(|last| last < old),
            _ => true,
        });
        if is_in_order { self.merged(block, &after, &label) } else { self.rewritten(block, &after, &label) }
    }

    /// Writes a block whose instructions stay in order.
    fn merged(&mut self, block: Block, after: &[Inst], label: &str) -> Result<(), String> {
        let region = self.region(block);
        self.insert(self.start_of(Statement(region.start)), label);
        let kept: Vec<Inst> = after
            .iter()
            .filter_map(|&inst| match self.applied.origin[inst] {
                Origin::Kept(old) => Some(old),
                _ => None,
            })
            .collect();
        let mut after = after.iter().copied();
        let mut old = self.view.function.block_range(block).start;
        let end = self.view.function.block_range(block).end;
        let mut at = Statement(region.start);
        // New instructions of a block without instructions follow its labels.
        let mut place = self.start_of(at);
        while at.0 < region.end {
            let is_inst = old < end && self.view.statements[old].0 == at;
            if !is_inst {
                self.pass_loc(at);
                if old == end && self.view.function.block_range(block).is_empty() {
                    place = self.end_of(at);
                }
                at.0 += 1;
                continue;
            }
            let last = self.view.statements[old].1;
            if kept.binary_search(&old).is_ok() {
                for inst in after.by_ref() {
                    if self.applied.origin[inst] == Origin::Kept(old) {
                        break;
                    }
                    let text = self.new_text(inst)?;
                    self.insert(self.start_of(at), &text);
                }
                let loc = self.loc_ahead_of(at);
                self.insert(self.start_of(at), &loc);
            } else {
                self.cut(at, last);
            }
            place = self.end_of(last);
            at = Statement(last.0 + 1);
            old.0 += 1;
            if old == end {
                break;
            }
        }
        let rest: Vec<Inst> = after.collect();
        for inst in rest {
            let text = self.new_text(inst)?;
            self.insert(place, &text);
        }
        (at.0..region.end).map(Statement).for_each(|statement| self.pass_loc(statement));
        Ok(())
    }

    /// Rewrites a block with another order.
    fn rewritten(&mut self, block: Block, after: &[Inst], label: &str) -> Result<(), String> {
        let region = self.region(block);
        let (begin, end) = (self.start_of(Statement(region.start)), self.start_of(Statement(region.end)));
        let mut out = label.as_bytes().to_vec();
        let others = self.others(block, &region);
        let num_old = self.view.function.block_insts(block).len();
        let mut others = others.into_iter().peekable();
        for (number, &inst) in after.iter().enumerate() {
            let is_end = self.applied.function.effects(inst).contains(Effects::TERMINATOR);
            while let Some((_, other)) = others.next_if(|&(at, _)| at <= number || (is_end && at < num_old)) {
                out.extend(self.with_changes(other, other));
            }
            match self.applied.origin[inst] {
                Origin::Kept(old) => {
                    let (first, last) = self.view.statements[old];
                    out.extend(self.loc_ahead_of(first).into_bytes());
                    out.extend(self.with_changes(first, last));
                }
                _ => out.extend(self.new_text(inst)?.into_bytes()),
            }
        }
        for (_, other) in others {
            out.extend(self.with_changes(other, other));
        }
        self.pieces.push((begin, end, out));
        self.rewritten.push((begin, end));
        Ok(())
    }

    /// Returns the statements of a block that are not instructions, each with the number of instructions before it.
    /// Source line statements are left out.
    fn others(&self, block: Block, region: &std::ops::Range<u32>) -> Vec<(usize, Statement)> {
        let mut others = Vec::new();
        let insts: Vec<Inst> = self.view.function.block_insts(block).collect();
        let mut number = 0;
        let mut at = region.start;
        while at < region.end {
            if let Some(&inst) = insts.get(number)
                && self.view.statements[inst].0 == Statement(at)
            {
                number += 1;
                at = self.view.statements[inst].1.0 + 1;
                continue;
            }
            if self.file.statements().kind(Statement(at)) != StatementKind::Loc {
                others.push((number, Statement(at)));
            }
            at += 1;
        }
        others
    }

    /// Returns the bytes of statements with their changes.
    fn with_changes(&self, first: Statement, last: Statement) -> Vec<u8> {
        let (text, statements) = (self.file.text(), self.file.statements());
        let mut out = Vec::new();
        for token in (statements.first(first).0..statements.end(text, last).0).map(Token) {
            match self.changes.tokens.get(&token) {
                Some(new) => out.extend_from_slice(new.as_bytes()),
                None => out.extend_from_slice(text.of(token)),
            }
        }
        out
    }

    /// Cuts out the statements of an instruction, and their line if nothing else is on it.
    fn cut(&mut self, first: Statement, last: Statement) {
        let (text, statements) = (self.file.text(), self.file.statements());
        let bytes = text.bytes();
        let begin = self.start_of(first);
        let word = text.start(text.skip_trivia(statements.first(first)));
        let end = self.end_of(last);
        let behind = statements.first(Statement(last.0 + 1));
        let ends_line = behind.index() < text.num_tokens()
            && text.kind(behind) == TokenKind::Trivia
            && text.of(behind).contains(&b'\n');
        let newline = bytes[begin..word].iter().rposition(|&byte| byte == b'\n').filter(|_| ends_line);
        let from = newline.map_or(word, |at| begin + at);
        self.pieces.push((from, end, Vec::new()));
    }

    /// Records a `.loc` that stays, and inserts the missing `.loc` statements of the places that it is inlined at.
    fn pass_loc(&mut self, statement: Statement) {
        if self.file.statements().kind(statement) != StatementKind::Loc {
            return;
        }
        let missing = self.callers_of(statement);
        self.insert(self.start_of(statement), &missing);
        self.current = Some(statement);
        self.seen.extend(self.lines.places_of(statement).map(|places| places.0));
    }

    /// Returns the `.loc` that is needed before an existing instruction.
    fn loc_ahead_of(&mut self, statement: Statement) -> String {
        let wanted = self.lines.loc_at(statement);
        let Some(loc) = wanted.filter(|_| wanted != self.current) else { return String::new() };
        self.current = wanted;
        let text = self.callers_of(loc) + &self.text_of_loc(loc);
        self.seen.extend(self.lines.places_of(loc).map(|places| places.0));
        text
    }

    /// Returns the missing `.loc` statements of the places that a `.loc` is inlined at. ptxas requires these statements
    /// before the `.loc`.
    fn callers_of(&mut self, loc: Statement) -> String {
        let (mut text, mut at) = (String::new(), loc);
        while let Some((_, Some(caller))) = self.lines.places_of(at)
            && self.seen.insert(caller)
            && let Some(first) = self.lines.first_of(caller)
        {
            text = self.text_of_loc(first) + &text;
            at = first;
        }
        text
    }

    fn text_of_loc(&self, loc: Statement) -> String {
        let text = self.file.text();
        let first = text.skip_trivia(self.file.statements().first(loc));
        let bytes = &text.bytes()[text.start(first)..self.end_of(loc)];
        format!("\n\t{}", String::from_utf8_lossy(bytes))
    }

    /// Returns the PTX of a new instruction, with its source line.
    fn new_text(&mut self, inst: Inst) -> Result<String, String> {
        let (function, origin) = (&self.applied.function, self.applied.origin[inst]);
        let Some((old, first, last)) = source(self.view, origin) else {
            let text = text_of(function, inst, self.registers, self.slots, |block| self.label_of(block))?;
            return Ok(format!("\n\t{text}"));
        };
        let changed = changed_tokens(self.file, self.view, self.applied, self.registers, inst, old)?;
        let loc = self.loc_ahead_of(first);
        let (text, statements) = (self.file.text(), self.file.statements());
        let begin = text.skip_trivia(statements.first(first));
        let mut out = Vec::new();
        for token in (begin.0..statements.end(text, last).0).map(Token) {
            match changed.iter().find(|change| change.0 == token) {
                Some((_, new, _)) => out.extend_from_slice(new.as_bytes()),
                None => out.extend_from_slice(text.of(token)),
            }
        }
        Ok(format!("{loc}\n\t{}", String::from_utf8_lossy(&out)))
    }

    fn num_splits(&self) -> usize {
        self.applied.function.num_blocks() - self.view.function.num_blocks()
    }

    /// Adds the blocks on split edges after all other blocks.
    fn split_blocks(&mut self) -> Result<(), String> {
        if self.num_splits() == 0 {
            return Ok(());
        }
        let last = self.view.function.blocks().next_back().unwrap_or(Block(0));
        let insts = self.view.function.block_insts(last);
        let (place, ends) = match insts.last() {
            Some(inst) => {
                let name = self.view.function.opcodes().name(self.view.function.opcode(inst));
                let ends = self.view.function.effects(inst).contains(Effects::TERMINATOR) && !name.starts_with('@');
                (self.end_of(self.view.statements[inst].1), ends)
            }
            None => (self.start_of(self.body.statements.end), false),
        };
        // A rewritten block ends at its last statement of any kind.
        let place = self.rewritten.iter().find(|&&(begin, end)| begin < place && place < end).map_or(place, |it| it.1);
        let mut text = if ends { String::new() } else { "\n\tret;".to_owned() };
        for block in self.applied.function.blocks().skip(self.view.function.num_blocks()) {
            text += &label_text(block);
            let insts: Vec<Inst> = self.applied.function.block_insts(block).collect();
            for inst in insts {
                text += &self.new_text(inst)?;
            }
        }
        self.insert(place, &text);
        Ok(())
    }
}
