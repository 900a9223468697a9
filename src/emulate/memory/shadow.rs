//! The last accesses of a word, and whether the next access is ordered after them.
//!
//! Each warp of a block has a clock. For each other warp, it knows a time: accesses of the other warp up to this time
//! are ordered before its own accesses. Barriers, mbarriers and atomic operations pass these times on. Two lanes of a
//! warp are ordered if the warp has synchronised in between. Blocks are ordered once they have met at an atomic
//! operation. Only two reads of a word are remembered. A race with a third read may be missed, but each reported race
//! exists.

/// Time and thread of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Stamp {
    /// Zero without an access.
    pub(in crate::emulate) clock: u32,
    pub(in crate::emulate) block: u32,
    pub(in crate::emulate) warp: u8,
    pub(in crate::emulate) lane: u8,
    /// Whether the access was volatile or atomic.
    pub(in crate::emulate) is_strong: bool,
    /// Mask of the accessed bytes of the word.
    pub(in crate::emulate) bytes: u8,
}

/// Two unordered accesses, of which at least one is a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulate) struct Race {
    /// The earlier access.
    pub(in crate::emulate) with: Stamp,
    /// Whether both are writes and the second follows all reads in between.
    pub(in crate::emulate) is_of_writes: bool,
}

/// The times that a warp knows.
#[derive(Clone, Copy, Debug)]
pub(in crate::emulate) struct View<'a> {
    /// The clocks of the block's warps.
    pub(in crate::emulate) clocks: &'a [u32; 32],
    /// The blocks that this block has met, as bits.
    pub(in crate::emulate) blocks: &'a [u64],
}

impl Stamp {
    fn is_before(&self, now: &Self, view: View<'_>) -> bool {
        if self.clock == 0 || self.bytes & now.bytes == 0 || (self.is_strong && now.is_strong) {
            return true;
        }
        if self.block != now.block {
            return view.blocks.get(self.block as usize / 64).is_some_and(|word| word >> (self.block % 64) & 1 == 1);
        }
        if self.warp == now.warp {
            return self.lane == now.lane || self.clock < now.clock;
        }
        self.clock <= view.clocks[usize::from(self.warp)]
    }
}

/// The last accesses of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::emulate) struct Shadow {
    write: Stamp,
    reads: [Stamp; 2],
}

impl Shadow {
    /// Records a read and returns its race with a write, if any.
    pub(in crate::emulate) fn read(&mut self, now: Stamp, view: View<'_>) -> Option<Race> {
        if !self.write.is_before(&now, view) {
            return Some(Race { with: self.write, is_of_writes: false });
        }
        let is_replaced = |stamp: &Stamp| stamp.clock == 0 || stamp.is_before(&now, view);
        let place = usize::from(!is_replaced(&self.reads[0]));
        self.reads[place] = now;
        None
    }

    /// Records a write and returns its race, if any. A write of the value that the word already has is recorded, but
    /// never races.
    pub(in crate::emulate) fn write(&mut self, now: Stamp, view: View<'_>, is_same: bool) -> Option<Race> {
        if !is_same {
            let before = [(self.reads[0], false), (self.reads[1], false), (self.write, true)];
            if let Some((with, is_of_writes)) = before.into_iter().find(|(stamp, _)| !stamp.is_before(&now, view)) {
                return Some(Race { with, is_of_writes });
            }
        }
        self.add_write(now);
        None
    }

    /// Records a write, whether it races or not.
    pub(in crate::emulate) fn add_write(&mut self, now: Stamp) {
        self.write = Stamp {
            bytes: if self.write.clock == now.clock { self.write.bytes | now.bytes } else { now.bytes },
            ..now
        };
    }

    /// Returns the last write.
    pub(in crate::emulate) fn last_write(&self) -> Stamp {
        self.write
    }
}
