//! What instructions with effects see of each other: memory, and those who watch.
//!
//! The model says nothing of [`Effects::conflict`]: it is what that rule is judged by. Memory is a few cells for each
//! place in which a memory space may lie; the generic space lies in all places, and the cluster's shared memory in the
//! block's own and in that of others. An address is a number that chooses a place of its space, and a cell there. So
//! accesses of different spaces sometimes meet and sometimes do not.
//!
//! Two parties watch beside the thread itself. The threads of the warp see convergent instructions, in their order. The
//! other threads of the device see instructions that are ordered: at each, they read all of memory, and then write all
//! of it. What is opaque is seen by both and does as the other threads do. What traps, ends a block, belongs to a call or
//! keeps its place is seen by both, and sees all that the thread has done so far.

use super::value::mix;
use crate::function::{Effects, MemorySpace};

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Global,
    /// The block's own shared memory.
    Shared,
    /// Shared memory of the cluster's other blocks.
    OtherShared,
    Constant,
    Local,
    Tensor,
    Param,
}

const PLACES: [Place; 7] =
    [Place::Global, Place::Shared, Place::OtherShared, Place::Constant, Place::Local, Place::Tensor, Place::Param];

/// Cells of a place: few, so that accesses often meet.
const CELLS: usize = 2;

/// The places in which a memory space may lie.
fn places(space: MemorySpace) -> &'static [Place] {
    match space {
        MemorySpace::Generic => &PLACES,
        MemorySpace::Global => &[Place::Global],
        MemorySpace::Shared => &[Place::Shared],
        MemorySpace::SharedCluster => &[Place::Shared, Place::OtherShared],
        MemorySpace::Constant => &[Place::Constant],
        MemorySpace::Local => &[Place::Local],
        MemorySpace::Tensor => &[Place::Tensor],
        MemorySpace::Param => &[Place::Param],
    }
}

/// What an instruction saw beside its operands: cells, `None` where what they hold is undefined, and how often and by
/// what the watchers were called.
pub type Seen = Vec<Option<u64>>;

/// An instruction with effects, as memory and the watchers know it.
pub(super) struct Access {
    pub(super) effects: Effects,
    pub(super) space: MemorySpace,
    /// A hash of its opcode.
    pub(super) operation: u64,
    /// A hash of its opcode and of what it reads; none where something of that is undefined.
    pub(super) hash: Option<u64>,
}

/// The state of memory, and of those who watch.
#[derive(Clone, Debug)]
pub(super) struct World {
    cells: [[Option<u64>; CELLS]; PLACES.len()],
    /// What the threads of the warp have seen, as a hash.
    warp: u64,
    /// What the other threads have seen, as a hash.
    device: u64,
}

impl World {
    /// The state before a run; `seed` makes what memory holds.
    pub(super) fn new(seed: u64) -> Self {
        let cell = |place: usize, cell: usize| Some(mix(seed, (place * CELLS + cell) as u64));
        Self {
            cells: std::array::from_fn(|place| std::array::from_fn(|number| cell(place, number))),
            warp: mix(seed, 1),
            device: mix(seed, 2),
        }
    }

    /// Executes an access: what it saw, and what its result depends on beside its operands, none where that is
    /// undefined.
    pub(super) fn execute(&mut self, access: &Access) -> (Seen, Option<u64>) {
        let Access { effects, operation, hash, .. } = *access;
        let is_barrier = effects.intersects(Effects::BARRIER);
        let is_ordered = effects.intersects(Effects::ORDERED | Effects::OPAQUE);
        let is_convergent = effects.contains(Effects::CONVERGENT) || is_barrier;
        let mut seen = Seen::new();
        let mut result = Some(operation);
        if effects.contains(Effects::READ) {
            let held = hash.and_then(|address| *self.cell(access.space, address));
            seen.push(held);
            result = held.map(|held| mix(operation, held));
        }
        if effects.contains(Effects::WRITE) {
            match hash {
                Some(address) => *self.cell(access.space, address) = result.map(|result| mix(result, address)),
                None => self.lose(access.space),
            }
        }
        if is_convergent {
            seen.push(Some(self.warp));
            result = result.map(|result| mix(result, self.warp));
            self.warp = mix(self.warp, operation);
        }
        if is_ordered || is_barrier {
            seen.push(Some(self.device));
            seen.extend(self.cells.as_flattened());
            result = result.map(|result| mix(result, self.device));
            self.device = mix(self.device, operation);
        }
        if is_ordered {
            for cell in self.cells.as_flattened_mut() {
                *cell = cell.map(|held| mix(held, operation));
            }
        }
        (seen, result)
    }

    /// The cell at an address.
    fn cell(&mut self, space: MemorySpace, address: u64) -> &mut Option<u64> {
        let places = places(space);
        let place = places[(address % places.len() as u64) as usize];
        &mut self.cells[place as usize][(address >> 32) as usize % CELLS]
    }

    /// Something was written that is undefined, or at an address that is.
    fn lose(&mut self, space: MemorySpace) {
        for &place in places(space) {
            self.cells[place as usize] = [None; CELLS];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(effects: Effects, space: MemorySpace, address: u64) -> Access {
        Access { effects, space, operation: 7, hash: Some(address) }
    }

    /// A load sees what was stored at its address, in every space through which that is reached, and nothing stored
    /// elsewhere.
    #[test]
    fn loads_see_stores() {
        let sees = |stored: MemorySpace, loaded: MemorySpace| {
            (0..64).any(|address| {
                let (mut world, mut untouched) = (World::new(3), World::new(3));
                world.execute(&access(Effects::WRITE, stored, address << 8));
                (0..64).any(|other| {
                    let load = access(Effects::READ, loaded, other);
                    world.execute(&load) != untouched.execute(&load)
                })
            })
        };
        for stored in MemorySpace::ALL {
            for loaded in MemorySpace::ALL {
                assert_eq!(sees(stored, loaded), stored.may_alias(loaded), "{stored:?} and {loaded:?}");
            }
        }
    }

    /// What is ordered sees stores ahead of it, and loads behind it see that it has been.
    #[test]
    fn what_is_ordered_sees_and_is_seen() {
        let ordered = access(Effects::ORDERED, MemorySpace::Generic, 0);
        let store = access(Effects::WRITE, MemorySpace::Local, 5);
        let load = access(Effects::READ, MemorySpace::Local, 5);
        let (mut one, mut other) = (World::new(0), World::new(0));
        one.execute(&store);
        assert_ne!(one.execute(&ordered), other.execute(&ordered));
        let mut third = World::new(0);
        assert_ne!(other.execute(&load), third.execute(&load));
    }

    /// Shuffles see each other and no memory.
    #[test]
    fn what_is_convergent_sees_what_is_convergent() {
        let shuffle = access(Effects::CONVERGENT, MemorySpace::Generic, 0);
        let (mut one, mut other) = (World::new(0), World::new(0));
        one.execute(&access(Effects::WRITE, MemorySpace::Global, 1));
        assert_eq!(one.execute(&shuffle), other.execute(&shuffle));
        assert_ne!(one.execute(&shuffle), World::new(0).execute(&shuffle));
    }

    /// A store of what is undefined makes undefined what its space reaches, and nothing else.
    #[test]
    fn undefined_stores_lose_their_space() {
        let mut world = World::new(0);
        world.execute(&Access { hash: None, ..access(Effects::WRITE, MemorySpace::Global, 0) });
        assert_eq!(world.execute(&access(Effects::READ, MemorySpace::Global, 9)).1, None);
        assert!(world.execute(&access(Effects::READ, MemorySpace::Local, 9)).1.is_some());
    }
}
