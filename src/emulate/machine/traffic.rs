//! Traffic of a warp's accesses: sectors of global and local memory, and passes of shared memory.
//!
//! Global memory moves in sectors of 32 bytes: all sectors that the lanes of a warp touch (CUDA C++ Programming Guide,
//! Device Memory Accesses). Shared memory has 32 banks of 4 bytes. Lanes that touch different words of one bank need
//! separate passes; lanes that touch the same word do not. Wide accesses proceed by halves and quarters of a warp.
//! Local memory interleaves the lanes, so words at the same offset are contiguous.

use rustc_hash::FxHashSet;

use super::place::Target;

/// Bytes of a sector.
const SECTOR: u64 = 32;
/// Number of banks of shared memory, and bytes of each.
const BANKS: usize = 32;
const WORD: u32 = 4;

/// First index of local sectors.
const LOCAL: u64 = u64::MAX / 2;

/// The memory of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessSpace {
    /// Global memory.
    Global,
    /// Local memory.
    Local,
    /// Shared memory.
    Shared,
}

/// The traffic of one access of a warp.
#[derive(Debug)]
pub(super) struct AccessTraffic {
    pub(super) traffic: Traffic,
    pub(super) space: AccessSpace,
    /// The sectors of global and local memory, in order.
    pub(super) sectors: Vec<u64>,
}

/// The traffic of an instruction, over all its executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Executions by warps in which a lane accessed memory.
    pub accesses: u64,
    /// Sectors of 32 bytes in global and local memory.
    pub sectors: u64,
    /// Passes through the banks of shared memory. A conflict-free access of at most 4 bytes a lane has one.
    pub passes: u64,
}

impl Traffic {
    /// Adds the traffic of another run.
    pub(in crate::emulate) fn add(&mut self, other: Self) {
        *self = self.sum(other);
    }

    /// Returns the combined traffic of two instructions.
    pub fn sum(self, other: Self) -> Self {
        Self {
            accesses: self.accesses + other.accesses,
            sectors: self.sectors + other.sectors,
            passes: self.passes + other.passes,
        }
    }
}

/// The places that the lanes of a warp access, with `bytes` bytes each.
#[derive(Debug)]
pub(super) struct LaneAccesses {
    bytes: u32,
    places: Vec<(usize, Target)>,
    is_wanted: bool,
}

impl LaneAccesses {
    pub(super) fn new(bytes: u32, is_wanted: bool) -> Self {
        Self { bytes, places: Vec::new(), is_wanted }
    }

    pub(super) fn add(&mut self, lane: usize, target: Target) {
        if self.is_wanted {
            self.places.push((lane, target));
        }
    }

    /// Returns the traffic of the access; `None` if it is not recorded.
    pub(super) fn traffic(&self) -> Option<AccessTraffic> {
        (!self.places.is_empty()).then(|| self.all())
    }

    fn all(&self) -> AccessTraffic {
        let mut sectors: Vec<u64> = Vec::new();
        let mut shared: Vec<(usize, u32)> = Vec::new();
        for &(lane, target) in &self.places {
            match target {
                Target::Global(at) => {
                    sectors.extend(at / SECTOR..=(at + u64::from(self.bytes) - 1) / SECTOR);
                }
                // The words of the 32 threads are contiguous.
                Target::Local(offset) => {
                    let words = offset / WORD..=(offset + self.bytes - 1) / WORD;
                    let place = |word: u32| (u64::from(word) * 32 + lane as u64) * u64::from(WORD) / SECTOR;
                    sectors.extend(words.map(|word| LOCAL + place(word)));
                }
                Target::Shared(offset) => shared.push((lane, offset)),
            }
        }
        sectors.sort_unstable();
        sectors.dedup();
        let space = match sectors.last() {
            Some(&last) if last >= LOCAL => AccessSpace::Local,
            Some(_) => AccessSpace::Global,
            None => AccessSpace::Shared,
        };
        let traffic = Traffic { accesses: 1, sectors: sectors.len() as u64, passes: passes(&shared, self.bytes) };
        AccessTraffic { traffic, space, sectors }
    }
}

/// Returns the passes for accesses of `bytes` bytes at offsets of shared memory.
fn passes(lanes: &[(usize, u32)], bytes: u32) -> u64 {
    // Lanes that access together: all, halves or quarters.
    let together = 32 / (bytes / WORD).max(1) as usize;
    let mut passes = 0;
    for group in 0..32 / together.max(1) {
        let mut banks: [FxHashSet<u32>; BANKS] = Default::default();
        for &(_, offset) in lanes.iter().filter(|lane| lane.0 / together == group) {
            for word in offset / WORD..=(offset + bytes - 1) / WORD {
                banks[word as usize % BANKS].insert(word);
            }
        }
        passes += banks.iter().map(FxHashSet::len).max().unwrap_or(0) as u64;
    }
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: u32, offset: impl Fn(usize) -> u32) -> u64 {
        passes(&(0..32).map(|lane| (lane, offset(lane))).collect::<Vec<_>>(), bytes)
    }

    /// Contiguous words need one pass, a stride of two words two, and a column of 32 words 32; one word for all lanes
    /// needs one.
    #[test]
    fn conflicts() {
        assert_eq!([1, 2, 3, 32, 33].map(|stride| of(4, |lane| 4 * stride * lane as u32)), [1, 2, 1, 32, 1]);
        assert_eq!(of(4, |_| 128), 1);
        assert_eq!([of(8, |lane| 8 * lane as u32), of(16, |lane| 16 * lane as u32)], [2, 4]);
        assert_eq!(of(1, |lane| lane as u32), 1);
        assert_eq!(passes(&[], 4), 0);
    }

    /// The passes are at least the touched words divided by the banks, and at most one for each lane and word.
    #[test]
    fn bounds() {
        arbtest::arbtest(|u| {
            let bytes = *u.choose(&[1, 4, 8, 16])?;
            let mut lanes = Vec::new();
            for lane in 0..32 {
                if u.arbitrary()? {
                    lanes.push((lane, u.int_in_range(0..=256)? * bytes));
                }
            }
            let words: FxHashSet<u32> =
                lanes.iter().flat_map(|&(_, offset)| offset / 4..=(offset + bytes - 1) / 4).collect();
            let found = passes(&lanes, bytes);
            assert!(found >= words.len().div_ceil(BANKS) as u64, "{lanes:?}");
            assert!(found <= lanes.len() as u64 * u64::from(bytes.div_ceil(4)), "{lanes:?}");
            Ok(())
        });
    }

    /// An access to global memory counts the distinct sectors that its lanes touch; an access to local memory counts
    /// four sectors for each word of all lanes.
    #[test]
    fn sectors() {
        let of = |target: &dyn Fn(usize) -> Target, bytes| {
            let places = (0..32).map(|lane| (lane, target(lane))).collect();
            LaneAccesses { bytes, places, is_wanted: true }.all().traffic.sectors
        };
        assert_eq!(of(&|lane| Target::Global(0x1_0000 + 4 * lane as u64), 4), 4);
        assert_eq!(of(&|lane| Target::Global(0x1_0000 + 128 * lane as u64), 4), 32);
        assert_eq!(of(&|_| Target::Global(0x1_0000), 4), 1);
        assert_eq!(of(&|_| Target::Local(16), 4), 4);
        assert_eq!(of(&|_| Target::Local(16), 16), 16);
    }
}
