//! Views of PTX functions for passes.
//!
//! The files:
//! * [`items`]: instructions and scopes of a body, and their blocks;
//! * [`names`], [`context`]: registers, symbols and parameters;
//! * [`instruction`], [`operands`], [`moves`]: one instruction, its operands, and LLVM's names of moves and accesses;
//! * [`scope`]: a scope as one instruction;
//! * [`guards`]: definitions under predicates that need no old value;
//! * [`in_flight`]: registers of asynchronous instructions up to a wait;
//! * [`finish`]: blocks, edges and the function itself;
//! * [`webs`]: one register for each web.

mod context;
mod draft;
mod finish;
mod guards;
mod in_flight;
mod instruction;
pub(in crate::ptx) mod items;
mod moves;
pub(in crate::ptx) mod names;
mod operands;
mod scope;
mod webs;

use std::sync::Arc;

pub(in crate::ptx) use context::{Facts, add_shared};

use super::body::Body;
use super::file::File;
use super::parts::Declaration;
use super::statement::Statement;
use super::token::Token;
use crate::function::{Block, Function, FunctionBuilder, Inst, RegClass};
use crate::index::IndexVec;
use crate::target::Classification;
use context::Context;
use items::Items;
use names::Names;

/// A function of the view, and the positions of its parts in the PTX.
#[derive(Debug)]
pub struct View<'a> {
    /// The function.
    pub function: Function,
    /// The classification of its opcodes.
    pub classification: Arc<Classification>,
    /// The reason why it cannot be edited.
    pub odd: Option<String>,
    /// The first and the last statement of each instruction.
    pub(super) statements: IndexVec<Inst, (Statement, Statement)>,
    /// The tokens of operand `i` of the function are `token_start[i]..token_start[i + 1]`.
    pub(super) token_start: Vec<u32>,
    pub(super) tokens: Vec<Token>,
    pub(super) names: Names<'a>,
    /// The first statement of each block.
    pub(super) block_start: IndexVec<Block, Statement>,
    /// The label of each block that is a branch target.
    pub(super) block_label: IndexVec<Block, Option<Token>>,
}

impl View<'_> {
    /// Creates a wrong view, in which definitions under a predicate do not read the old value.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn without_old_values(mut self) -> Self {
        use crate::function::OperandFlags;
        for operand in &mut self.function.operands {
            if operand.flags.contains(OperandFlags::IMPLICIT) && !operand.is_def() {
                operand.flags |= OperandFlags::UNDEF;
            }
        }
        self
    }

    /// Returns the tokens of an operand of an instruction.
    pub(super) fn tokens_of(&self, inst: Inst, operand: u32) -> &[Token] {
        let at = (self.function.operand_start[inst.0 as usize] + operand) as usize;
        &self.tokens[self.token_start[at] as usize..self.token_start[at + 1] as usize]
    }
}

/// Returns the view of a function of a file.
///
/// # Errors
/// The reason why the function has no view.
pub(super) fn view<'a>(file: &File<'a>, body: &Body, facts: &Facts<'a>) -> Result<View<'a>, String> {
    let mut items = Items::new(file, body)?;
    let is_register = |parameter: &Declaration| file.text().of(parameter.space) == b".reg";
    let lists = [&body.parts.parameters, &body.parts.returns];
    if lists.into_iter().flatten().flatten().any(is_register) {
        items.odd.get_or_insert_with(|| "parameters or results are in registers".into());
    }
    let mut builder = FunctionBuilder::new(body.name(file), Arc::default());
    if let Some(bounds) = body.launch_bounds(file) {
        builder.kernel(bounds);
    }
    let mut context = Context::new(file, body, &items.declarations, facts, builder)?;
    let mut insts = Vec::with_capacity(items.items.len());
    for item in &items.items {
        insts.push(scope::item(&mut context, &items, item)?);
    }
    guards::mark_complements(&mut insts);
    guards::mark_constants(&mut insts, |reg| context.names.class(reg) == RegClass::B1);
    finish::finish(context, body, items, insts)
}
