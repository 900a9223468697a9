//! The contents of a body: instructions and scopes, in blocks.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::function::{Block, NoUnroll};
use crate::index::EntityIndex;
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::no_unroll::stops_unrolling;
use crate::ptx::parts::{Operand, Parts};
use crate::ptx::statement::{Statement, StatementKind};
use crate::ptx::token::Token;

/// One instruction of the view: a PTX instruction, or a scope with all its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) struct Item {
    /// The first statement.
    pub(in crate::ptx) first: Statement,
    /// The last statement: the first statement itself, or the closing brace of the scope.
    pub(in crate::ptx) last: Statement,
    pub(in crate::ptx) block: Block,
}

/// The items of a body, and its control flow.
#[derive(Debug, Default)]
pub(in crate::ptx) struct Items<'a> {
    pub(in crate::ptx) items: Vec<Item>,
    pub(in crate::ptx) num_blocks: usize,
    /// The first statement of each block: its label, or its first instruction.
    pub(in crate::ptx) starts: Vec<Statement>,
    /// The label of each block that is a branch target.
    pub(in crate::ptx) block_labels: Vec<Option<Token>>,
    /// The unrolling pragma of each block. The pragma of the function's head is not included.
    pub(in crate::ptx) no_unroll: Vec<NoUnroll>,
    /// The blocks of labels that are branch targets.
    pub(in crate::ptx) labels: FxHashMap<&'a str, Block>,
    /// The labels of each list of branch targets, by the list's own label.
    pub(in crate::ptx) lists: FxHashMap<&'a str, Vec<Token>>,
    /// The declarations of the function itself.
    pub(in crate::ptx) declarations: Vec<Statement>,
    /// The reason why the function cannot be edited.
    pub(in crate::ptx) odd: Option<String>,
}

/// Whether the instruction with a first word ends a block.
fn is_terminator(word: &str) -> bool {
    matches!(word, "bra" | "brx" | "ret" | "exit")
}

/// Returns the labels that are branch targets, of single branches and of lists.
fn targets<'a>(file: &File<'a>, body: &Body) -> FxHashSet<&'a str> {
    let text = file.text();
    let mut targets = FxHashSet::default();
    for statement in body.ids() {
        let is_branch = match file.statements().kind(statement) {
            StatementKind::Instruction => file.first_word(statement) == "bra",
            StatementKind::Targets => true,
            _ => false,
        };
        if !is_branch {
            continue;
        }
        match file.parts(statement) {
            Some(Parts::Instruction(instruction)) => {
                if let Some(Operand::Name(name)) = instruction.operands.last() {
                    targets.insert(text.str(name.word));
                }
            }
            Some(Parts::Values(values)) => targets.extend(values.values.iter().map(|&(_, word)| text.str(word))),
            _ => {}
        }
    }
    targets
}

impl<'a> Items<'a> {
    fn begin_block(&mut self, at: Statement, label: Option<Token>) {
        self.num_blocks += 1;
        self.starts.push(at);
        self.block_labels.push(label);
        self.no_unroll.push(NoUnroll::Absent);
    }

    /// Records a `.pragma "nounroll"` in the last block.
    fn stop_unrolling(&mut self) {
        if let Some(last) = self.no_unroll.last_mut() {
            *last = NoUnroll::Here;
        }
    }

    /// Finds the items of a body. O(statements).
    ///
    /// # Errors
    /// The reason why the body has no view.
    pub(in crate::ptx) fn new(file: &File<'a>, body: &Body) -> Result<Self, String> {
        let targets = targets(file, body);
        let (statements, text) = (file.statements(), file.text());
        let is_entry = |id: &Statement| {
            let kind = statements.kind(*id);
            use StatementKind::{Instruction, Label, Open, Unknown};
            matches!(kind, Label | Instruction | Open | Unknown)
        };
        let entry = body.ids().find(is_entry).unwrap_or(body.statements.end);
        let (starts, block_labels, no_unroll) = (vec![entry], vec![None], vec![NoUnroll::Absent]);
        let mut items = Self { num_blocks: 1, starts, block_labels, no_unroll, ..Self::default() };
        // Whether the last item ends its block, and whether the block has a label but no item.
        let (mut has_ended, mut is_fresh) = (false, false);
        let mut pending: Option<&'a str> = None;
        // Whether a pragma precedes the next instruction.
        let mut is_ahead = false;
        let mut at = body.statements.start;
        while at < body.statements.end {
            let kind = statements.kind(at);
            let mut last = at;
            match kind {
                StatementKind::Label => {
                    let Some(Parts::Label(label)) = file.parts(at) else {
                        return Err("a label cannot be parsed".into());
                    };
                    let (word, label) = (label, text.str(label));
                    pending = Some(label);
                    if targets.contains(label) {
                        if !is_fresh {
                            items.begin_block(at, Some(word));
                            if is_ahead {
                                items.no_unroll[items.num_blocks - 1] = NoUnroll::Ahead;
                            }
                        }
                        (has_ended, is_fresh) = (false, true);
                        items.labels.insert(label, Block::new(items.num_blocks - 1));
                    }
                }
                StatementKind::Targets => {
                    if let (Some(label), Some(Parts::Values(values))) = (pending.take(), file.parts(at)) {
                        items.lists.insert(label, values.values.iter().map(|&(_, word)| word).collect());
                    }
                }
                StatementKind::Pragma if stops_unrolling(file, at) => {
                    is_ahead = true;
                    if !has_ended {
                        items.stop_unrolling();
                    }
                }
                StatementKind::Variable => {
                    if !items.items.is_empty() && file.first_word(at) == ".reg" {
                        items.odd.get_or_insert_with(|| "registers are declared between instructions".into());
                    }
                    if file.first_word(at) == ".param" {
                        items.odd.get_or_insert_with(|| "parameters of a call are outside of a scope".into());
                    }
                    items.declarations.push(at);
                }
                StatementKind::Instruction | StatementKind::Unknown | StatementKind::Open => {
                    if kind == StatementKind::Open {
                        last = closing(file, body, at);
                    }
                    let ends = kind == StatementKind::Instruction && is_terminator(file.first_word(at));
                    if has_ended && !ends {
                        items.begin_block(at, None);
                    }
                    let within = (at.0..=last.0).map(Statement);
                    if kind == StatementKind::Open && within.into_iter().any(|inner| stops_unrolling(file, inner)) {
                        items.stop_unrolling();
                    }
                    (has_ended, is_fresh, is_ahead) = (ends, false, false);
                    items.items.push(Item { first: at, last, block: Block::new(items.num_blocks - 1) });
                }
                _ => {}
            }
            at = Statement(last.0 + 1);
        }
        if has_ended {
            // Control never reaches the end of the body, unless the last instruction has a false predicate.
            let last = items.items.last().map(|item| item.first);
            let is_guarded = last.is_some_and(|last| text.is(text.skip_trivia(statements.first(last)), b'@'));
            if is_guarded {
                items.begin_block(body.statements.end, None);
            }
        }
        Ok(items)
    }
}

/// Returns the statement that closes a scope.
fn closing(file: &File<'_>, body: &Body, open: Statement) -> Statement {
    let mut depth = 0usize;
    let mut at = open;
    while at < body.statements.end {
        match file.statements().kind(at) {
            StatementKind::Open => depth += 1,
            StatementKind::Close => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at.0 += 1;
    }
    Statement(body.statements.end.0 - 1)
}
