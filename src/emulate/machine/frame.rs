//! A function that threads of a warp execute, with registers whose bytes are defined or undefined.

use crate::emulate::memory::{Bytes, Origin, first_bytes};
use crate::emulate::program::Row;
use crate::emulate::pure::Lanes;
use crate::emulate::types::low;

/// A function that threads of a warp execute.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) function: usize,
    pub(super) values: Vec<Lanes>,
    /// The lanes in which all bytes of a row are defined.
    pub(super) defined: Vec<u32>,
    /// The defined bytes in the other lanes of a row. `None` means that no byte is.
    pub(super) parts: Vec<Option<Box<[u8; 32]>>>,
    /// Origins of the undefined bytes of a row.
    pub(super) origins: Vec<Origin>,
    /// The frame and instruction to return to.
    pub(super) caller: Option<(u32, u32)>,
    pub(super) depth: u32,
    /// Base of the frame in local memory, and the first free byte after it.
    pub(super) base: [u32; 32],
    pub(super) top: [u32; 32],
    /// The lanes in this function or in a function that it called.
    pub(super) lanes: u32,
}

impl Frame {
    /// Whether all bytes of a row are defined in all lanes of a mask.
    pub(super) fn is_defined(&self, row: Row, lanes: u32) -> bool {
        lanes & !self.defined[row.0 as usize] == 0
    }

    pub(super) fn value(&self, row: Row, lane: usize) -> u64 {
        self.values[row.0 as usize][lane]
    }

    /// Returns the value of a row with `bits` bits in a lane, with the defined bytes.
    pub(super) fn bytes(&self, row: Row, bits: u32, lane: usize) -> Bytes {
        let number = row.0 as usize;
        let value = Bytes::whole(self.values[number][lane]);
        if self.defined[number] >> lane & 1 == 1 {
            return value;
        }
        let beyond = !first_bytes(bits.div_ceil(8) as usize);
        let defined = self.parts[number].as_ref().map_or(0, |parts| parts[lane]) | beyond;
        Bytes { defined, origin: self.origins[number], ..value }
    }

    /// Sets a row of a lane.
    pub(super) fn set_bytes(&mut self, row: Row, bits: u32, lane: usize, value: Bytes) {
        let number = row.0 as usize;
        self.values[number][lane] = low(value.value, bits);
        let own = 1 << lane;
        let defined = value.defined | !first_bytes(bits.div_ceil(8) as usize);
        if defined == u8::MAX {
            self.defined[number] |= own;
            return;
        }
        self.defined[number] &= !own;
        self.origins[number] = value.origin;
        self.parts[number].get_or_insert_with(|| Box::new([0; 32]))[lane] = value.defined;
    }

    /// Sets a row of a lane; `None` makes it undefined.
    pub(super) fn set(&mut self, row: Row, bits: u32, lane: usize, value: Option<u64>) {
        self.set_bytes(row, bits, lane, value.map_or(Bytes::undefined(8), Bytes::whole));
    }

    /// Sets a row in the lanes of a mask. Lanes outside `defined` become undefined.
    pub(super) fn set_lanes(&mut self, row: Row, bits: u32, lanes: u32, values: &Lanes, defined: u32) {
        let number = row.0 as usize;
        let mask = low(u64::MAX, bits);
        let to = &mut self.values[number];
        if lanes == u32::MAX {
            for (to, value) in to.iter_mut().zip(values) {
                *to = value & mask;
            }
        } else {
            for (lane, (to, value)) in to.iter_mut().zip(values).enumerate() {
                if lanes >> lane & 1 == 1 {
                    *to = value & mask;
                }
            }
        }
        self.defined[number] = self.defined[number] & !lanes | lanes & defined;
        if lanes & !defined != 0
            && let Some(parts) = &mut self.parts[number]
        {
            let lost = parts.iter_mut().enumerate().filter(|(lane, _)| lanes >> lane & 1 == 1);
            lost.for_each(|(_, bytes)| *bytes = 0);
        }
    }

    /// Sets the origin of a row's undefined bytes.
    pub(super) fn set_origin(&mut self, row: Row, origin: Origin) {
        if origin.is_known() {
            self.origins[row.0 as usize] = origin;
        }
    }

    /// Returns the lanes of a mask in which a row is not zero.
    pub(super) fn nonzero(&self, row: Row) -> u32 {
        let values = &self.values[row.0 as usize];
        values.iter().enumerate().fold(0, |mask, (lane, &value)| mask | u32::from(value != 0) << lane)
    }
}
