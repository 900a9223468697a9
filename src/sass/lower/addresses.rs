//! Addresses of memory accesses: sums of registers and an offset.

use super::super::operand::{Address as Place, Extent, Register};
use super::lowerer::Lowerer;
use crate::emulate::program::{Address, Row, Space, ZERO};
use crate::emulate::pure::Pure;
use crate::emulate::types::{Ty, low, signed};

const U32: Ty = Ty::Unsigned(32);
const U64: Ty = Ty::Unsigned(64);

impl Lowerer<'_> {
    /// Returns the address of an operand in a memory space.
    pub(super) fn place(&mut self, place: Place, space: Space) -> Address {
        let base = match space {
            Space::Generic => self.wide_base(place),
            Space::Shared | Space::Local => self.narrow_base(place),
        };
        match space {
            Space::Generic => Address { space, base, offset: place.offset.into() },
            // A sum of 32 bits wraps.
            _ if place.offset < 0 && base != ZERO => {
                let (to, offset) = (self.temporary(32), place.offset);
                let sum = Pure::new(U32, move |[a]: [u64; 1]| [low(a.wrapping_add(offset as u64), 32)]);
                self.emit_pure(sum, &[to], &[base]);
                Address { space, base: to, offset: 0 }
            }
            _ => Address { space, base, offset: place.offset.into() },
        }
    }

    /// Returns a base of 64 bits: two registers, or one register with a uniform pair.
    fn wide_base(&mut self, place: Place) -> Row {
        let of = |number, is_uniform| Register { number, is_uniform };
        let uniform = place.uniform.map(|number| self.pair(of(number, true)));
        let Some(number) = place.base else { return uniform.unwrap_or(ZERO) };
        let (base, ty) = match (place.extent, uniform) {
            (Extent::Wide, _) | (Extent::Plain, None) => (self.pair(of(number, false)), U64),
            (Extent::Unsigned, _) => (self.read_register(of(number, false)), U32),
            (Extent::Plain, Some(_)) => (self.read_register(of(number, false)), Ty::Signed(32)),
        };
        let Some(uniform) = uniform else { return base };
        let to = self.temporary(64);
        let mut sum = Pure::new(U64, move |[a, b]: [u64; 2]| {
            let a = if ty.is_signed() { signed(a, 32) as u64 } else { low(a, ty.bits()) };
            [a.wrapping_add(b)]
        })
        .sources(&[ty, U64]);
        sum.may_be_address = true;
        self.emit_pure(sum, &[to], &[base, uniform]);
        to
    }

    /// Returns a base of 32 bits: a register, optionally scaled, and a uniform register.
    fn narrow_base(&mut self, place: Place) -> Row {
        let of = |number, is_uniform| Register { number, is_uniform };
        let base = place.base.map(|number| self.read_register(of(number, false)));
        let uniform = place.uniform.map(|number| self.read_register(of(number, true)));
        let scale = u64::from(place.scale.max(1));
        match (base, uniform) {
            (None, None) => ZERO,
            (Some(base), None) if scale == 1 => base,
            (None, Some(uniform)) => uniform,
            (Some(base), uniform) => {
                let to = self.temporary(32);
                let sum = Pure::new(U32, move |[a, b]: [u64; 2]| [low(a.wrapping_mul(scale).wrapping_add(b), 32)]);
                self.emit_pure(sum, &[to], &[base, uniform.unwrap_or(ZERO)]);
                to
            }
        }
    }
}
