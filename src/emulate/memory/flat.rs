//! Shared and local memory. Uninitialised bytes are undefined.

use rustc_hash::FxHashMap;

use super::bytes::{Bytes, bits_of, first_bytes};
use super::origin::Origin;
use crate::emulate::types::Kind;

/// Bytes from offset zero, with a mark for each defined byte, and the kind of the value to which it belongs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::emulate) struct Flat {
    data: Vec<u8>,
    present: Vec<bool>,
    kinds: Vec<Kind>,
    /// Origins of undefined bytes that were written.
    origins: FxHashMap<usize, Origin>,
}

impl Flat {
    /// Reads `bytes` bytes at an offset.
    pub(in crate::emulate) fn read(&self, offset: usize, bytes: usize) -> Bytes {
        if let Some(present) = self.present.get(offset..offset + bytes)
            && !present.contains(&false)
        {
            let mut value = [0; 8];
            value[..bytes].copy_from_slice(&self.data[offset..offset + bytes]);
            return Bytes::whole(u64::from_le_bytes(value));
        }
        let mut all = Bytes::undefined(bytes);
        for (byte, at) in (offset..offset + bytes).enumerate() {
            if self.present.get(at) == Some(&true) {
                all.value |= u64::from(self.data[at]) << (8 * byte);
                all.defined |= 1 << byte;
            } else if let Some(&origin) = self.origins.get(&at) {
                all.origin = all.origin.or(origin);
            }
        }
        all
    }

    /// Returns the common kind of `bytes` bytes at an offset, if there is one.
    pub(in crate::emulate) fn kind(&self, offset: usize, bytes: usize) -> Kind {
        let kinds = self.kinds.get(offset..offset + bytes).unwrap_or_default();
        let first = kinds.first().copied().unwrap_or_default();
        if kinds.iter().all(|&kind| kind == first) { first } else { Kind::default() }
    }

    /// Writes bytes of a kind. Undefined bytes of the value make the written bytes undefined. Returns whether any byte
    /// changes.
    pub(in crate::emulate) fn write(&mut self, offset: usize, bytes: usize, value: Bytes, kind: Kind) -> bool {
        if self.data.len() < offset + bytes {
            let length = (offset + bytes).next_multiple_of(256);
            self.data.resize(length, 0);
            self.present.resize(length, false);
            self.kinds.resize(length, Kind::default());
        }
        let value = Bytes { value: value.value & bits_of(value.defined & first_bytes(bytes)), ..value };
        let old = self.read(offset, bytes);
        self.kinds[offset..offset + bytes].fill(kind);
        self.data[offset..offset + bytes].copy_from_slice(&value.value.to_le_bytes()[..bytes]);
        for (byte, at) in (offset..offset + bytes).enumerate() {
            let is_defined = value.defined >> byte & 1 == 1;
            self.present[at] = is_defined;
            if !is_defined && value.origin.is_known() {
                self.origins.insert(at, value.origin);
            }
        }
        (old.value, old.defined) != (value.value, value.defined | !first_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written bytes are read back, byte by byte. Uninitialised bytes are undefined, also after the end.
    #[test]
    fn bytes() {
        let mut flat = Flat::default();
        let half = Bytes { value: 0x1234, defined: 0xf3, origin: Origin::local(7) };
        assert!(flat.write(252, 4, half, Kind::Integer));
        assert!(!flat.write(252, 4, half, Kind::Integer));
        assert_eq!(flat.read(252, 4), half);
        assert_eq!(flat.read(252, 2), Bytes { value: 0x1234, defined: 0xff, origin: Origin::default() });
        assert_eq!(flat.read(254, 4), Bytes { value: 0, defined: 0xf0, origin: Origin::local(7) });
        assert!(flat.write(254, 2, Bytes::whole(0x5678), Kind::Integer));
        assert_eq!(flat.read(252, 4).known(), Some(0x5678_1234));
        assert_eq!(flat.read(4096, 8), Bytes::undefined(8));
    }
}
