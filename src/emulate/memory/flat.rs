//! Shared and local memory: what nobody wrote is undefined.

use crate::emulate::types::Kind;

/// Bytes from zero on, with a mark for each that was written, and the kind of value that it is part of.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct Flat {
    data: Vec<u8>,
    present: Vec<bool>,
    kinds: Vec<Kind>,
}

impl Flat {
    /// So many bytes at an offset; `None` where one of them was not written.
    pub(in crate::emulate) fn read(&self, offset: usize, bytes: usize) -> Option<u64> {
        let present = self.present.get(offset..offset + bytes)?;
        if present.contains(&false) {
            return None;
        }
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.data[offset..offset + bytes]);
        Some(u64::from_le_bytes(value))
    }

    /// The kind of so many bytes at an offset, if they have one.
    pub(in crate::emulate) fn kind(&self, offset: usize, bytes: usize) -> Kind {
        let kinds = self.kinds.get(offset..offset + bytes).unwrap_or_default();
        let first = kinds.first().copied().unwrap_or_default();
        if kinds.iter().all(|&kind| kind == first) { first } else { Kind::default() }
    }

    /// Writes bytes of a kind, or forgets them where the value is undefined.
    pub(in crate::emulate) fn write(&mut self, offset: usize, bytes: usize, value: Option<u64>, kind: Kind) {
        if self.data.len() < offset + bytes {
            let length = (offset + bytes).next_multiple_of(256);
            self.data.resize(length, 0);
            self.present.resize(length, false);
            self.kinds.resize(length, Kind::default());
        }
        self.kinds[offset..offset + bytes].fill(kind);
        self.present[offset..offset + bytes].fill(value.is_some());
        self.data[offset..offset + bytes].copy_from_slice(&value.unwrap_or_default().to_le_bytes()[..bytes]);
    }
}
