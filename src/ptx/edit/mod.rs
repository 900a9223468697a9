//! Edits of a view, applied to the PTX of the function.
//!
//! The reference semantics of edits ([`EditList::apply`]) gives the edited view, and the PTX follows it. A statement
//! whose instruction stays keeps its bytes, except for changed names. New instructions are written. Statements that no
//! edit concerns keep every byte.
//!
//! The files:
//! * [`registers`]: names of new registers, and types that must fit their new uses;
//! * [`substitutions`]: changed tokens, and the reasons why changes are impossible;
//! * [`insertions`]: the PTX of copies, constants, branches, stores to slots and loads;
//! * [`slots`]: the PTX of accesses to slots and of their addresses, which [`spill::lower`](crate::spill::lower)
//!   determines;
//! * [`layout`]: statements in their new order, with correct source lines;
//! * [`head`]: directives and the register limit.

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

/// Replacements in a file: the first byte, the byte after the last, and the new bytes. They are sorted and do not
/// overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    pub(super) pieces: Vec<(usize, usize, Vec<u8>)>,
}

impl Patch {
    /// Whether the patch is empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the bytes with the replacements applied.
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

    /// Adds the replacements of another function.
    pub fn append(&mut self, other: Self) {
        self.pieces.extend(other.pieces);
    }
}

/// The changed tokens of kept statements.
struct Changes {
    /// The new text of each changed token.
    tokens: FxHashMap<Token, String>,
}

/// Returns the patch of a function for a list of edits.
///
/// # Errors
/// The reason why the edits cannot be expressed in PTX. The function is then unchanged.
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

/// Returns the original instruction of an edited instruction, with its first and last statement. `None` if it is
/// inserted.
fn source(view: &View<'_>, origin: Origin) -> Option<(Inst, Statement, Statement)> {
    match origin {
        Origin::Kept(inst) | Origin::Clone(inst) => {
            let (first, last) = view.statements[inst];
            Some((inst, first, last))
        }
        Origin::Inserted(_) => None,
    }
}

/// Whether a word of the function begins with a prefix.
fn begins_any_word(file: &File<'_>, body: &Body, prefix: &str) -> bool {
    let (statements, text) = (file.statements(), file.text());
    let first = statements.first(body.head);
    let end = statements.first(body.statements.end);
    (first.index()..end.index()).map(Token::new).any(|token| text.of(token).starts_with(prefix.as_bytes()))
}
