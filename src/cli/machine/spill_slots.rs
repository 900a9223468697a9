//! ptxas's spill slots on the stack: its stores and loads of them, and which stores reach a load.
//!
//! nvdisasm prints ptxas's marks of these accesses since CUDA 13.0. Without marks, all accesses at fixed offsets from
//! the stack pointer count. Most accesses of a program's own arrays have computed indices, and a wrongly reported value
//! does no harm.

use std::collections::{BTreeMap, BTreeSet};

use super::control_flow::ControlFlow;
use super::life_ranges::LifeRanges;
use super::listing::register;
use super::local_access::Access;

/// A word that is stored in a stack slot.
pub(super) struct Stored {
    /// The store.
    pub(super) row: usize,
    pub(super) register: usize,
    /// Sum of the executions of its store and of its loads, in a run of the function.
    pub(super) moves: f64,
    /// Its loads, each with its destination register.
    pub(super) loads: Vec<(usize, usize)>,
}

/// The words that a function spills.
#[derive(Default)]
pub(super) struct SpillSlots {
    /// The accesses, in the order of the code.
    rows: Vec<usize>,
    /// In the order of the code.
    pub(super) stored: Vec<Stored>,
    /// By load and register: the numbers of the stores that may reach the load.
    sources: BTreeMap<(usize, usize), Vec<usize>>,
}

impl SpillSlots {
    /// Finds the slots of a function. `times` are the execution frequencies of instructions. O(loads · blocks).
    pub(super) fn of(table: &LifeRanges, flow: &ControlFlow, times: &[f64]) -> Self {
        let accesses = || (0..table.len()).filter_map(|row| Access::of(row, table.text(row)));
        let are_marked = accesses().any(|access| access.is_spill);
        let is_spill = |access: &Access| access.is_spill || !are_marked && access.place.is_some();
        let spills: Vec<Access> = accesses().filter(is_spill).collect();
        let words = |access: &Access| {
            let words = (access.bytes / 4).max(1);
            access.place.into_iter().flat_map(move |place| (0..words).map(move |word| (word, place + 4 * word)))
        };
        let (mut slots, mut by_place): (Self, BTreeMap<u32, Vec<usize>>) = Default::default();
        slots.rows = spills.iter().map(|access| access.row).collect();
        for access in spills.iter().filter(|access| access.is_store) {
            let Some(first) = stored_register(table.text(access.row)) else { continue };
            for (word, place) in words(access) {
                by_place.entry(place).or_default().push(slots.stored.len());
                let (row, register) = (access.row, first + word as usize);
                slots.stored.push(Stored { row, register, moves: times[row], loads: Vec::new() });
            }
        }
        for access in spills.iter().filter(|access| !access.is_store) {
            let Some(first) = loaded_register(table.text(access.row)) else { continue };
            for (word, place) in words(access) {
                let Some(stores) = by_place.get(&place) else { continue };
                let rows: Vec<usize> = stores.iter().map(|&store| slots.stored[store].row).collect();
                let found: Vec<usize> = reaching(flow, &rows, access.row).into_iter().map(|at| stores[at]).collect();
                let load = (access.row, first + word as usize);
                for &store in &found {
                    let stored = &mut slots.stored[store];
                    stored.moves += times[access.row] / found.len() as f64;
                    stored.loads.push(load);
                }
                slots.sources.insert(load, found);
            }
        }
        slots
    }

    /// Returns whether an instruction stores or loads a spilled word.
    pub(super) fn has(&self, row: usize) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// Returns the stores that may reach a load of a register; `None` if the instruction does not load a spilled word.
    pub(super) fn sources(&self, row: usize, register: usize) -> Option<impl Iterator<Item = &Stored>> {
        Some(self.sources.get(&(row, register))?.iter().map(|&store| &self.stored[store]))
    }
}

/// Returns the instructions of `rows` that may be the last executed before `row`. `rows` is in code order. The search
/// follows control flow backwards to the first match on each path.
fn reaching(flow: &ControlFlow, rows: &[usize], row: usize) -> Vec<usize> {
    let mut found = BTreeSet::new();
    let mut is_seen = BTreeSet::new();
    let mut todo = vec![(flow.block(row), row)];
    while let Some((block, end)) = todo.pop() {
        let before = rows.partition_point(|&other| other < end);
        match before.checked_sub(1).filter(|&last| rows[last] >= flow.start(block)) {
            Some(last) => _ = found.insert(last),
            None => {
                let ends = flow.ends_before(block).map(|end| (flow.block(end), end + 1));
                todo.extend(ends.filter(|&(before, _)| is_seen.insert(before)));
            }
        }
    }
    found.into_iter().collect()
}

/// Returns a store's first register: `STL.64 [R1+0x8], R52 (*"SpillRefill"*)`.
fn stored_register(text: &str) -> Option<usize> {
    register(text.split_once("], ")?.1)
}

/// Returns a load's first register: `LDL.64 R52, [R1+0x8] (*"SpillRefill"*)`.
fn loaded_register(text: &str) -> Option<usize> {
    let (before, _) = text.split_once(", [")?;
    register(before.rsplit(' ').next()?)
}
