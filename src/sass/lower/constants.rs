//! Words of the constant banks.
//!
//! Bank 0 has the launch values: sizes, windows, parameters. Bank 3 has the program's constant variables, bank 4 has
//! addresses. The other banks have constants of ptxas.

use super::super::cubin::banks::{Word, word};
use super::lowerer::Lowerer;
use super::{Refusal, address_of};
use crate::emulate::layout;
use crate::emulate::program::{Access, Address, Init, Op, Order, Row, Space, Special, ZERO};
use crate::emulate::types::{Kind, Ty};

/// The assumed stack size, in bytes, of a kernel whose stack size is unknown.
const UNKNOWN_STACK: u32 = 1 << 16;

impl Lowerer<'_> {
    /// Returns the row of a word of 32 or 64 bits.
    pub(super) fn bank_word(&mut self, bank: u8, offset: u32, bits: u32) -> Result<Row, Refusal> {
        if let Some(&row) = self.words.get(&(bank, offset, bits)) {
            return Ok(row);
        }
        let row = if bank == 0 { self.given(offset, bits)? } else { self.kept(bank, offset, bits)? };
        self.words.insert((bank, offset, bits), row);
        Ok(row)
    }

    /// Returns the section of a bank.
    pub(super) fn section(&self, bank: u8) -> Option<String> {
        let names = [format!(".nv.constant{bank}.{}", self.code.name), format!(".nv.constant{bank}")];
        names.into_iter().find(|name| self.cubin.sections.contains_key(name))
    }

    /// Returns the offset of a parameter's byte from the first parameter. `None` if the word is no parameter.
    pub(super) fn parameter_at(&self, offset: u32) -> Option<u32> {
        let at = offset.checked_sub(self.kernel.parameters_at)?;
        (at < self.kernel.parameter_bytes).then_some(at)
    }

    /// Returns the row of a launch value.
    fn given(&mut self, offset: u32, bits: u32) -> Result<Row, Refusal> {
        if let Some(at) = self.parameter_at(offset) {
            return self.parameter(at, offset, bits);
        }
        if bits == 64 {
            let parts = vec![self.bank_word(0, offset, 32)?, self.bank_word(0, offset + 4, 32)?];
            let row = self.new_row(Init::Undefined, 64);
            self.prologue.push(Op::Pack { to: row, parts, bits: 32 });
            return Ok(row);
        }
        let half = |address: u64, half: u8| address >> (32 * u32::from(half));
        let stack = if self.kernel.stack == 0 { UNKNOWN_STACK } else { self.kernel.stack.next_multiple_of(16) };
        Ok(match word(self.cubin.processor, offset) {
            Some(Word::BlockSize(axis)) => self.special(Special::Ntid(axis)),
            Some(Word::GridSize(axis)) => self.special(Special::Nctaid(axis)),
            Some(Word::LocalWindow(part)) => self.constant(half(layout::LOCAL, part), 32),
            Some(Word::SharedWindow(part)) => self.constant(half(layout::SHARED, part), 32),
            Some(Word::HasClusters) => ZERO,
            Some(Word::ClusterSize(_) | Word::ClusterBlocks) => self.constant(1, 32),
            Some(Word::ClusterShare(_)) => self.constant(1f32.to_bits().into(), 32),
            Some(Word::NumClusters(axis)) => self.special(Special::Nctaid(axis)),
            Some(Word::Parameters(part)) => self.constant(half(layout::PARAMETERS, part), 32),
            Some(Word::Stack(0)) => self.constant(stack.into(), 32),
            Some(Word::Stack(_) | Word::Descriptor(_)) => ZERO,
            None => return Err(format!("unknown constant at {offset:#x} of bank 0")),
        })
    }

    /// Returns the row of a parameter's word. Both halves of a parameter of 8 bytes are read at once, because it may be
    /// an address.
    fn parameter(&mut self, at: u32, offset: u32, bits: u32) -> Result<Row, Refusal> {
        let start = at & !7;
        let is_whole = |parameter: &&super::super::cubin::attributes::Parameter| {
            u32::from(parameter.offset) == start && parameter.bytes >= 8 && start.is_multiple_of(8)
        };
        let is_wide = self.kernel.parameters.iter().find(is_whole).is_some();
        if bits == 32 && is_wide {
            let whole = self.bank_word(0, offset - (at - start), 64)?;
            let parts = [0, 4].map(|half| (half, self.new_row(Init::Undefined, 32)));
            self.prologue.push(Op::Unpack { parts: parts.map(|part| part.1).to_vec(), from: whole, bits: 32 });
            for (half, row) in parts {
                self.words.insert((0, offset - (at - start) + half, 32), row);
            }
            return Ok(parts[usize::from(at != start)].1);
        }
        if bits == 64 && !at.is_multiple_of(8) {
            return Err(format!("a parameter of 8 bytes at {offset:#x}"));
        }
        let row = self.new_row(Init::Undefined, bits);
        let base = self.constant(layout::PARAMETERS + u64::from(at), 64);
        self.prologue.push(load(row, base, 0, Ty::Unsigned(bits as u8)));
        Ok(row)
    }

    /// Returns the row of a constant from the file.
    fn kept(&mut self, bank: u8, offset: u32, bits: u32) -> Result<Row, Refusal> {
        let missing = || format!("the constant at {offset:#x} of bank {bank} is not in the file");
        let section = self.section(bank).ok_or_else(missing)?;
        let start = u64::from(offset) & !7;
        if let Some((symbol, addend)) = self.cubin.address_at(&section, start) {
            let address = address_of(symbol).wrapping_add(addend as u64);
            return Ok(self.constant(address >> (8 * (u64::from(offset) - start)), bits));
        }
        if let Some((address, distance)) = self.variable_at(&section, offset) {
            let row = self.new_row(Init::Undefined, bits);
            let base = self.constant(address, 64);
            self.prologue.push(load(row, base, distance, Ty::Unsigned(bits as u8)));
            return Ok(row);
        }
        let bytes = &self.cubin.sections.get(&section).ok_or_else(missing)?.bytes;
        let mut word = [0; 8];
        let length = bits as usize / 8;
        word[..length].copy_from_slice(bytes.get(offset as usize..offset as usize + length).ok_or_else(missing)?);
        Ok(self.constant(u64::from_le_bytes(word), bits))
    }

    /// Returns the address of the variable at an offset of a bank, and the addend.
    pub(super) fn variable_at(&self, section: &str, offset: u32) -> Option<(u64, i64)> {
        let offset = u64::from(offset);
        let mut symbols = self.cubin.symbols.iter().filter(|symbol| symbol.section == section && symbol.bytes > 0);
        let found = symbols.find(|symbol| (symbol.offset..symbol.offset + symbol.bytes).contains(&offset))?;
        Some((layout::variable(&found.name), (offset - found.offset) as i64))
    }
}

/// Returns a load of one element.
pub(super) fn load(row: Row, base: Row, offset: i64, ty: Ty) -> Op {
    let address = Address { space: Space::Generic, base, offset };
    let (elements, kinds, carried) = (vec![row], vec![Kind::default()], vec![None]);
    Op::Load(Access { address, ty, elements, kinds, carried, order: Order::Weak })
}
