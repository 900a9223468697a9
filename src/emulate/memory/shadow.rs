//! Who accessed a word last, and whether the next access is ordered behind that.
//!
//! Each warp of a block has a clock, and knows up to which time of the other warps it has heard: barriers, mbarriers and
//! atomic operations pass that on. Two lanes of a warp are ordered if the warp has synchronised in between. Blocks are
//! ordered once they have met at an atomic operation. Of the reads of a word, two are remembered: a race with a third
//! may be missed, and none is found that is not there.

/// When and by whom a word was accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Stamp {
    /// Zero where nobody was there yet.
    pub(in crate::emulate) clock: u32,
    pub(in crate::emulate) block: u32,
    pub(in crate::emulate) warp: u8,
    pub(in crate::emulate) lane: u8,
    /// The access was volatile or atomic.
    pub(in crate::emulate) is_strong: bool,
    /// The bytes of the word.
    pub(in crate::emulate) bytes: u8,
}

/// Two accesses of which neither is ordered ahead of the other, one of them a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulate) struct Race {
    /// The one that came first.
    pub(in crate::emulate) with: Stamp,
    /// Both are writes, and nobody has read the word meanwhile whom the second does not follow.
    pub(in crate::emulate) is_of_writes: bool,
}

/// What a warp has heard of.
#[derive(Clone, Copy, Debug)]
pub(in crate::emulate) struct View<'a> {
    /// The clocks of the block's warps.
    pub(in crate::emulate) clocks: &'a [u32; 32],
    /// The blocks that this one has met, as bits.
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
    /// A read; its race with a write, if any.
    pub(in crate::emulate) fn read(&mut self, now: Stamp, view: View<'_>) -> Option<Race> {
        if !self.write.is_before(&now, view) {
            return Some(Race { with: self.write, is_of_writes: false });
        }
        let is_replaced = |stamp: &Stamp| stamp.clock == 0 || stamp.is_before(&now, view);
        let place = usize::from(!is_replaced(&self.reads[0]));
        self.reads[place] = now;
        None
    }

    /// A write; its race, if any. A write of what is there already changes nothing.
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

    /// A write, whether it races or not.
    pub(in crate::emulate) fn add_write(&mut self, now: Stamp) {
        self.write = Stamp {
            bytes: if self.write.clock == now.clock { self.write.bytes | now.bytes } else { now.bytes },
            ..now
        };
    }

    /// The last write.
    pub(in crate::emulate) fn last_write(&self) -> Stamp {
        self.write
    }
}
