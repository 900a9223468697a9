//! Edits of a view, applied to the text that it was made from.
//!
//! The reference meaning of edits gives the edited view ([`EditList::apply`]); the text follows it: a statement whose
//! instruction stays keeps its bytes but for the names that differ, and what is new is written. Statements that no edit
//! concerns keep every byte.
//!
//! In the order of the files:
//! * [`registers`]: names of new registers, and types that must fit their new uses;
//! * [`substitutions`]: which tokens change, and why some changes cannot be made;
//! * [`insertions`]: the text of copies, constants, branches, stores to slots and loads;
//! * [`slots`]: the text of what accesses slots and of their addresses, which [`spill::lower`](crate::spill::lower) makes;
//! * [`layout`]: statements in their new order, with source lines that stay true;
//! * [`head`]: directives and the limit of registers.

mod head;
mod insertions;
mod layout;
mod registers;
mod slots;
mod substitutions;

use rustc_hash::FxHashMap;

use super::body::Body;
use super::file::File;
use super::statement::Statement;
use super::token::Token;
use super::view::View;
use crate::function::{EditList, Inst, Origin};
use crate::index::EntityIndex;
use head::Head;
pub(super) use head::begin;
use layout::Layout;
use registers::Registers;
use slots::Slots;
use substitutions::Substitutions;

/// Pieces of text that take the place of others: the byte where each begins, the byte behind it, and the new text. Sorted,
/// and apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    pub(super) pieces: Vec<(usize, usize, Vec<u8>)>,
}

impl Patch {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The text with these changes.
    pub fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + self.pieces.iter().map(|piece| piece.2.len()).sum::<usize>());
        let mut at = 0;
        for (begin, end, new) in &self.pieces {
            out.extend_from_slice(&bytes[at..*begin]);
            out.extend_from_slice(new);
            at = *end;
        }
        out.extend_from_slice(&bytes[at..]);
        out
    }

    /// Adds the changes of another function.
    pub fn append(&mut self, other: Self) {
        self.pieces.extend(other.pieces);
    }
}

/// Statement by statement, what changes.
struct Changes {
    /// Tokens that get another text.
    tokens: FxHashMap<Token, String>,
}

/// What edits make of the text of a function.
///
/// # Errors
/// Says why the text cannot follow. Nothing is changed then.
pub(super) fn edit(file: &File<'_>, body: &Body, view: &View<'_>, edits: &EditList) -> Result<Patch, String> {
    if edits.is_empty() {
        return Ok(Patch::default());
    }
    if let Some(reason) = &view.odd {
        return Err(reason.clone());
    }
    let applied = edits.apply(&view.function).map_err(|error| error.to_string())?;
    let mut registers = Registers::new(file, body, view, &applied.function);
    let head = Head::new(file, body, view, edits)?;
    let slots = Slots::new(file, body, view, edits, &mut registers);
    let mut substitutions = Substitutions::new(file, view, &applied, &registers);
    substitutions.find()?;
    let Substitutions { changes, .. } = substitutions;
    Layout::new(file, body, view, &applied, (&registers, &slots), &changes).patch(&head)
}

/// The first and the last statement of an instruction of the edited function, where it comes from the text.
fn source(view: &View<'_>, origin: Origin) -> Option<(Inst, Statement, Statement)> {
    match origin {
        Origin::Kept(inst) | Origin::Clone(inst) => {
            let (first, last) = view.statements[inst];
            Some((inst, first, last))
        }
        Origin::Inserted(_) => None,
    }
}

/// Whether a name is one of the function's own words.
fn begins_any_word(file: &File<'_>, body: &Body, prefix: &str) -> bool {
    let (statements, text) = (file.statements(), file.text());
    let first = statements.first(body.head);
    let end = statements.first(body.statements.end);
    (first.index()..end.index()).map(Token::new).any(|token| text.of(token).starts_with(prefix.as_bytes()))
}
