//! Accesses to shared memory at addresses that differ by constants, as in a tile.

use std::fmt::Write as _;

use arbitrary::{Result, Unstructured};

/// The number of 32-bit indices, and of addresses, in a program.
pub(super) const REGISTERS: usize = 96;

/// Registers with one definition, which are read only after it.
#[derive(Default)]
pub(super) struct Shared {
    indices: Vec<usize>,
    addresses: Vec<usize>,
    next: usize,
}

impl Shared {
    /// Returns the numbers of readable registers at this point.
    pub(super) fn visible(&self) -> (usize, usize) {
        (self.indices.len(), self.addresses.len())
    }

    /// Removes the registers that were defined after a call of [`Self::visible`], which returned these numbers: they
    /// are inside a branch.
    pub(super) fn forget(&mut self, (indices, addresses): (usize, usize)) {
        self.indices.truncate(indices);
        self.addresses.truncate(addresses);
    }

    /// Draws an index, an address or an access. `register` is the number of a register that the rest of the program
    /// uses.
    pub(super) fn statement(&mut self, u: &mut Unstructured<'_>, register: usize, text: &mut String) -> Result<()> {
        let has_room = self.next + 2 < REGISTERS;
        match u.int_in_range(0..=7u8)? {
            0 if has_room => self.index(u, register, text),
            1..=3 if has_room && !self.indices.is_empty() => self.address(u, text),
            _ if !self.addresses.is_empty() => self.access(u, register, text),
            _ if has_room => self.index(u, register, text),
            _ => Ok(()),
        }
    }

    fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn index(&mut self, u: &mut Unstructured<'_>, register: usize, text: &mut String) -> Result<()> {
        let new = self.fresh();
        let known = if self.indices.is_empty() { None } else { Some(*u.choose(&self.indices)?) };
        let number = *u.choose(&[-64, -8, 1, 8, 32, 64, 1600])?;
        let line = match (u.int_in_range(0..=10u8)?, known) {
            (0, _) | (1..=9, None) => format!("mov.u32 \t%i{new}, %tid.x;"),
            (1, Some(one)) => format!("shl.b32 \t%i{new}, %i{one}, {};", u.int_in_range(0..=6)?),
            (2, Some(one)) => format!("shr.u32 \t%i{new}, %i{one}, {};", u.int_in_range(0..=5)?),
            (3, Some(one)) => format!("shr.s32 \t%i{new}, %i{one}, {};", u.int_in_range(0..=5)?),
            (4, Some(one)) if u.arbitrary()? => format!("or.b32 \t%i{new}, %i{one}, %i{};", u.choose(&self.indices)?),
            (4, Some(one)) => format!("or.b32 \t%i{new}, %i{one}, {};", u.choose(&[1, 32, 64])?),
            (5, Some(one)) => format!("and.b32 \t%i{new}, %i{one}, {};", u.choose(&[7, 31, 1023])?),
            (6, Some(one)) => format!("mad.lo.s32 \t%i{new}, %i{one}, {number}, %i{};", u.choose(&self.indices)?),
            (7, Some(one)) => format!("sub.s32 \t%i{new}, %i{one}, %i{};", u.choose(&self.indices)?),
            (9, Some(one)) => format!("add.s32 \t%i{new}, %i{one}, %i{};", u.choose(&self.indices)?),
            (8, Some(one)) => format!("add.s32 \t%i{new}, %i{one}, {number};"),
            _ => format!("mov.b32 \t%i{new}, %r{register};"),
        };
        let _ = writeln!(text, "\t{line}");
        self.indices.push(new);
        Ok(())
    }

    /// Draws an address: a widened index, with or without a constant added before, and a base.
    fn address(&mut self, u: &mut Unstructured<'_>, text: &mut String) -> Result<()> {
        // Two unrelated indices do not form a tile.
        let newest = *self.indices.last().unwrap_or(&0);
        let mut index = if u.ratio(2, 3)? { newest } else { *u.choose(&self.indices)? };
        if u.ratio(2, 3)? {
            let sum = self.fresh();
            let _ = writeln!(text, "\tadd.s32 \t%i{sum}, %i{index}, {};", u.choose(&[-6240, -32, -1, 1, 32, 1040])?);
            index = sum;
        }
        let new = self.fresh();
        let line = match u.int_in_range(0..=3u8)? {
            0 => format!("mul.wide.s32 \t%id{new}, %i{index}, 4;"),
            1 => format!("cvt.s64.s32 \t%id{new}, %i{index};"),
            2 if !self.addresses.is_empty() => {
                format!("add.s64 \t%id{new}, %id{}, {};", u.choose(&self.addresses)?, u.choose(&[-256, 16, 4096])?)
            }
            _ => format!("mul.wide.u32 \t%id{new}, %i{index}, 4;"),
        };
        let _ = writeln!(text, "\t{line}");
        self.addresses.push(new);
        Ok(())
    }

    fn access(&mut self, u: &mut Unstructured<'_>, register: usize, text: &mut String) -> Result<()> {
        let (address, offset) = (u.choose(&self.addresses)?, 4 * u.int_in_range(-2i32..=8)?);
        let place = if offset == 0 { format!("[%id{address}]") } else { format!("[%id{address}+{offset}]") };
        let _ = match u.arbitrary()? {
            true => writeln!(text, "\tst.shared.b32 \t{place}, %r{register};"),
            false => writeln!(text, "\tld.shared.b32 \t%r{register}, {place};"),
        };
        Ok(())
    }
}
