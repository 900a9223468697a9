//! Barriers of a block: arrivals and waiting warps.

/// A barrier.
#[derive(Clone, Debug, Default)]
struct Barrier {
    arrived: u32,
    waiting: Vec<usize>,
}

/// The barriers of a block.
#[derive(Clone, Debug)]
pub(super) struct Barriers {
    of: Vec<Barrier>,
    /// The warps of the block that have not exited.
    live: u32,
}

impl Barriers {
    pub(super) fn new(warps: u32) -> Self {
        Self { of: vec![Barrier::default(); 16], live: warps }
    }

    /// Records the arrival of a warp, which waits if `waits`. Returns the released warps if all have arrived.
    pub(super) fn arrive(&mut self, number: u8, warp: usize, waits: bool, threads: Option<u32>) -> Vec<usize> {
        let barrier = &mut self.of[usize::from(number) % 16];
        barrier.arrived += 1;
        if waits {
            barrier.waiting.push(warp);
        }
        let needed = threads.map_or(self.live, |threads| threads.div_ceil(32));
        Self::released(barrier, needed)
    }

    /// Records the exit of a warp. Other warps do not wait for it. Returns the released warps.
    pub(super) fn end(&mut self) -> Vec<usize> {
        self.live = self.live.saturating_sub(1);
        let live = self.live;
        self.of.iter_mut().flat_map(|barrier| Self::released(barrier, live)).collect()
    }

    fn released(barrier: &mut Barrier, needed: u32) -> Vec<usize> {
        if barrier.arrived == 0 || barrier.arrived < needed {
            return Vec::new();
        }
        barrier.arrived = 0;
        std::mem::take(&mut barrier.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last warp of a block releases all. After an exit, fewer arrivals are enough. A warp that only arrives does
    /// not wait.
    #[test]
    fn all_come() {
        let mut barriers = Barriers::new(3);
        assert!(barriers.arrive(0, 0, true, None).is_empty() && barriers.arrive(0, 1, true, None).is_empty());
        assert_eq!(barriers.arrive(0, 2, true, None), [0, 1, 2]);
        assert!(barriers.arrive(1, 0, true, None).is_empty() && barriers.end().is_empty());
        assert_eq!(barriers.arrive(1, 2, true, None), [0, 2]);
        assert!(barriers.arrive(2, 0, false, Some(64)).is_empty());
        assert_eq!(barriers.arrive(2, 1, true, Some(64)), [1]);
    }
}
