//! The function that is being decoded: its rows, its operations and its labels.

use rustc_hash::FxHashMap;

use super::globals::Globals;
use super::scopes::{Scopes, rows_of};
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{Init, Inst, Op, Row, RowInfo, SINK, Special, ZERO};
use crate::emulate::pure::{MOST_SOURCES, find};
use crate::emulate::types::Ty;
use crate::ptx::{Text, Values};

/// The reason why an instruction cannot be decoded.
pub(super) type Refusal = String;

/// The decoder of one function.
pub(super) struct Decoder<'a, 'm> {
    pub(super) text: &'m Text<'a>,
    pub(super) globals: &'m mut Globals<'a>,
    pub(super) function_names: Vec<&'a str>,
    pub(super) scopes: Scopes<'a>,
    pub(super) insts: Vec<Inst>,
    pub(super) rows: Vec<RowInfo>,
    pub(super) hashed: &'m mut Vec<String>,
    /// The carry flag of the condition code.
    pub(super) carry: Option<Row>,
    pub(super) inits: FxHashMap<(u64, u64), Row>,
    /// The instruction after each label.
    pub(super) labels: Vec<Option<u32>>,
    /// Labels of target lists.
    pub(super) lists: FxHashMap<&'a str, Values>,
    pub(super) frame_bytes: u32,
    pub(super) guard: Option<(Row, bool)>,
    pub(super) line: u32,
    pub(super) is_first: bool,
    pub(super) begins_block: bool,
    pub(super) offset_of_line: usize,
}

impl Decoder<'_, '_> {
    /// Allocates bytes in the frame and returns their offset.
    pub(super) fn frame(&mut self, bytes: u32, alignment: u32) -> u32 {
        let offset = self.frame_bytes.next_multiple_of(alignment.max(1));
        self.frame_bytes = offset + bytes;
        offset
    }

    pub(super) fn new_register(&mut self, ty: Ty) -> Row {
        let row = Row(self.rows.len() as u32);
        for _ in 0..rows_of(ty) {
            self.rows.push(RowInfo { bits: ty.bits().min(64), init: Init::Undefined });
        }
        row
    }

    /// Adds a register without a name in the PTX file.
    pub(super) fn temporary(&mut self, ty: Ty) -> Row {
        self.new_register(ty)
    }

    /// Returns the row that has this value when the function is entered.
    pub(super) fn row_of(&mut self, init: Init, bits: u32) -> Row {
        let key = match init {
            Init::Constant(value) => (0, value),
            Init::Frame(offset) => (1, offset.into()),
            // Functions have few of these rows, so a linear search is enough.
            Init::Special(special) => {
                let position = self.rows.iter().position(|row| row.init == Init::Special(special));
                if let Some(number) = position {
                    return Row(number as u32);
                }
                (2, self.rows.len() as u64)
            }
            Init::Undefined | Init::Leftover { .. } => (3, 0),
        };
        let next = Row(self.rows.len() as u32);
        let row = *self.inits.entry(key).or_insert(next);
        if row == next {
            self.rows.push(RowInfo { bits, init });
        }
        row
    }

    pub(super) fn constant(&mut self, value: u64, bits: u32) -> Row {
        if value == 0 { ZERO } else { self.row_of(Init::Constant(value), bits.max(1)) }
    }

    pub(super) fn special(&mut self, special: Special, bits: u32) -> Row {
        self.row_of(Init::Special(special), bits)
    }

    /// Appends an operation of the current statement.
    pub(super) fn emit(&mut self, op: Op) {
        let is_end = matches!(op, Op::Branch { .. } | Op::IndexedBranch { .. } | Op::Return | Op::Exit | Op::Trap);
        let is_leader = std::mem::replace(&mut self.begins_block, is_end);
        let is_first = std::mem::take(&mut self.is_first);
        self.insts.push(Inst { op, guard: self.guard, line: self.line, is_first, is_leader, is_uniform: false });
    }

    /// Appends the operation of a pure mnemonic.
    pub(super) fn emit_pure(&mut self, mnemonic: &str, to: &[Row], from: &[Row]) -> Result<(), Refusal> {
        let mut words = mnemonic.split('.');
        let parts = Mnemonic { word: words.next().unwrap_or_default(), modifiers: words.collect() };
        let pure = find(&parts).ok_or_else(|| format!("{mnemonic} is unknown"))?;
        let mut rows = [ZERO; MOST_SOURCES];
        rows[..from.len()].copy_from_slice(from);
        let mut results = [SINK; 2];
        results[..to.len()].copy_from_slice(to);
        self.emit(Op::Pure { pure, to: results, from: rows });
        Ok(())
    }

    pub(super) fn unknown(&mut self, what: &str) {
        self.emit(Op::Unknown(what.into()));
    }

    /// Returns the number of a label. `finish` replaces it by an instruction.
    pub(super) fn target(&self, name: &str) -> Result<u32, Refusal> {
        self.scopes.label(name).map(|label| label as u32).ok_or_else(|| format!("the label {name} is unknown"))
    }

    /// Returns the labels of a target list.
    pub(super) fn targets(&self, name: &str) -> Result<Vec<u32>, Refusal> {
        let values = self.lists.get(name).ok_or_else(|| format!("the list {name} is unknown"))?;
        values.values.iter().map(|&(_, label)| self.target(self.text.str(label))).collect()
    }
}
