//! The block sizes that a kernel's registers and shared memory allow, if its number of threads is unknown. A launch of
//! larger blocks fails even with stock's code. Therefore a variant has to support blocks up to stock's largest block
//! only: its slots serve that many threads, and no launch gets fewer warps.

use crate::target::machine::{Architecture, Launch, MAX_THREADS_PER_BLOCK, SHARED_PER_BLOCK, WARP_SIZE};

/// The most warps of a block.
const MOST: usize = (MAX_THREADS_PER_BLOCK / WARP_SIZE) as usize;

/// Sizes of static shared arrays are multiples of this.
const STEP: u32 = 16;

/// Warps that an SM holds with blocks of 1 warp, of 2 warps, and so on. 0 if no block of that size can be launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockSizes([u8; MOST]);

impl BlockSizes {
    /// Computes the block sizes of a kernel from its resources.
    pub fn new(architecture: &Architecture, launch: &Launch) -> Self {
        let held = |at| architecture.occupancy(&of_warps(launch, at as u32 + 1)).warps;
        Self(std::array::from_fn(|at| u8::try_from(held(at)).unwrap_or(u8::MAX)))
    }

    /// Limits blocks to `largest` warps, and changes the warps of all launchable sizes by `more`.
    #[cfg(test)]
    pub(super) fn changed(self, largest: u32, more: i8) -> Self {
        let held = |at: usize| self.0[at].max(1).saturating_add_signed(more).max(1);
        Self(std::array::from_fn(|at| if at < largest as usize { held(at) } else { 0 }))
    }

    /// Returns the warps of the largest block. 0 if the block size is known.
    pub fn largest(&self) -> u32 {
        self.0.iter().rposition(|&held| held > 0).map_or(0, |at| at as u32 + 1)
    }

    /// Whether an SM holds no fewer warps than with `stock`, for each block size that stock allows.
    pub fn hold_no_fewer(&self, stock: &Self) -> bool {
        self.0.iter().zip(&stock.0).all(|(held, stock)| held >= stock)
    }

    /// Returns the bytes of static shared memory that can be added to a kernel without a loss of resident blocks, at
    /// every launchable block size.
    pub fn free_shared(&self, architecture: &Architecture, launch: &Launch) -> u32 {
        let free = |warps| architecture.free_shared(&of_warps(launch, warps), STEP, SHARED_PER_BLOCK);
        (1..=self.largest()).map(free).min().unwrap_or(0)
    }
}

fn of_warps(launch: &Launch, warps: u32) -> Launch {
    launch.with_threads(warps * WARP_SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hopper() -> &'static Architecture {
        Architecture::by_name("sm_90").expect("is known")
    }

    /// With 255 registers, a block has at most 256 threads. Eight resident blocks of one warp share 228 KB of shared
    /// memory, and each block reserves 1 KB of it.
    #[test]
    fn what_registers_leave() {
        let sizes = |registers| BlockSizes::new(hopper(), &Launch::new(registers));
        assert_eq!([64, 72, 255].map(|registers| sizes(registers).largest()), [32, 28, 8]);
        assert_eq!(sizes(255).free_shared(hopper(), &Launch::new(255)), 28_160);
        assert!(sizes(128).hold_no_fewer(&sizes(255)) && !sizes(255).hold_no_fewer(&sizes(128)));
        assert_eq!(BlockSizes::default().largest(), 0);
    }

    /// A shared array that keeps all resident blocks of 256 threads may still reduce the resident blocks of smaller
    /// sizes.
    #[test]
    fn an_array_for_the_largest_block() {
        let with = |bytes| Launch { static_shared: bytes, ..Launch::new(255) };
        let stock = BlockSizes::new(hopper(), &with(0));
        let free = stock.free_shared(hopper(), &with(0));
        assert!(BlockSizes::new(hopper(), &with(free)).hold_no_fewer(&stock));
        assert!(!BlockSizes::new(hopper(), &with(free + STEP)).hold_no_fewer(&stock));
        assert_eq!(BlockSizes::new(hopper(), &with(SHARED_PER_BLOCK)).largest(), 8);
    }
}
