//! Interactions of instructions with effects: memory, and observers.
//!
//! The model does not use [`Effects::conflict`]; the rule is tested with this model. Memory has a few cells for each
//! place in which a memory space may lie. The generic space lies in all places, and the cluster's shared memory in the
//! block's own and in that of other blocks. An address is a number that selects a place of its space, and a cell there.
//! Therefore accesses of different spaces sometimes overlap.
//!
//! Two observers exist besides the thread itself. The threads of the warp see convergent instructions, in their order.
//! The other threads of the device see ordered instructions: at each, they read all of memory, and then write all of
//! it. Both see an opaque instruction, which acts on memory like an ordered instruction. Both see an instruction that
//! traps, ends a block, belongs to a call or keeps its place; such an instruction sees all effects of the thread so
//! far.

use super::value::mix;
use crate::function::{Effects, MemorySpace};

/// A place of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Global,
    /// The block's own shared memory.
    Shared,
    /// Shared memory of other blocks in the cluster.
    OtherShared,
    Constant,
    Local,
    Tensor,
    Param,
}

const PLACES: [Place; 7] =
    [Place::Global, Place::Shared, Place::OtherShared, Place::Constant, Place::Local, Place::Tensor, Place::Param];

/// Cells of a place: few, so that accesses often overlap.
const CELLS: usize = 2;

/// Returns the places in which a memory space may lie.
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

/// The values that an instruction sees besides its operands: cells, `None` if undefined, and the number and hash of the
/// observers' calls.
pub type Seen = Vec<Option<u64>>;

/// An instruction with effects, as memory and the observers see it.
pub(super) struct Access {
    pub(super) effects: Effects,
    pub(super) space: MemorySpace,
    /// A hash of its opcode.
    pub(super) operation: u64,
    /// A hash of its opcode and its operands; `None` if an operand is undefined.
    pub(super) hash: Option<u64>,
}

/// The state of memory and of the observers.
#[derive(Clone, Debug)]
pub(super) struct World {
    cells: [[Option<u64>; CELLS]; PLACES.len()],
    /// A hash of all instructions that the threads of the warp have seen.
    warp: u64,
    /// A hash of all instructions that the other threads have seen.
    device: u64,
}

impl World {
    /// Creates the state before a run; `seed` determines the contents of memory.
    pub(super) fn new(seed: u64) -> Self {
        let cell = |place: usize, cell: usize| Some(mix(seed, (place * CELLS + cell) as u64));
        Self {
            cells: std::array::from_fn(|place| std::array::from_fn(|number| cell(place, number))),
            warp: mix(seed, 1),
            device: mix(seed, 2),
        }
    }

    /// Executes an access. Returns the values that it saw, and a hash of everything besides its operands on which its
    /// result depends. The hash is `None` if its result is undefined.
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

    /// Returns the cell at an address.
    fn cell(&mut self, space: MemorySpace, address: u64) -> &mut Option<u64> {
        let places = places(space);
        let place = places[(address % places.len() as u64) as usize];
        &mut self.cells[place as usize][(address >> 32) as usize % CELLS]
    }

    /// Makes the places of a space undefined, after a write of an undefined value or to an undefined address.
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

    /// A load sees the store to its address, in every space that contains the address, and no store elsewhere.
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

    /// An ordered instruction sees earlier stores, and later loads see that it has run.
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

    /// A store of an undefined value makes exactly the places of its space undefined.
    #[test]
    fn undefined_stores_lose_their_space() {
        let mut world = World::new(0);
        world.execute(&Access { hash: None, ..access(Effects::WRITE, MemorySpace::Global, 0) });
        assert_eq!(world.execute(&access(Effects::READ, MemorySpace::Global, 9)).1, None);
        assert!(world.execute(&access(Effects::READ, MemorySpace::Local, 9)).1.is_some());
    }
}
