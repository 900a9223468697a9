//! Greedy: live ranges take places one after the other, and make room by eviction.
//!
//! The design is that of LLVM's greedy allocator (Stoklund Olesen, "Greedy register allocation in LLVM 3.0", 2011). A
//! priority queue supplies live ranges, the widest first. Each takes a place that is free for all of its life
//! ([`assign`]). If no such place exists, the live range evicts lighter ones ([`evict`]), which return to the queue. If
//! it cannot evict any, it is spilled, and a short live range for each of its uses and definitions joins the queue. A
//! segment tree over time finds free places. An interval tree for each unit finds its holders.

mod assign;
mod evict;
mod items;
mod queue;
#[cfg(test)]
mod tests;

use std::time::Instant;

use super::Allocator;
use super::allocation::{Allocation, AllocationStatistics};
use super::occupied::Occupied;
use super::placement::{Placement, SpillSlot};
use super::problem::{File, LiveRange, Problem, ProblemError};
use super::registers::Registers;
use crate::index::{EntityIndex, IndexVec};
use items::{Item, Items};
use queue::Queue;

/// The greedy allocator.
#[derive(Clone, Debug)]
pub struct Greedy {
    /// The most evictions of one live range. After that, the live range keeps its place until it is spilled.
    pub max_evictions: u32,
}

impl Default for Greedy {
    fn default() -> Self {
        Self { max_evictions: 16 }
    }
}

impl Allocator for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    /// O(n log n) in the segments while places are free. An eviction looks at every place of the file.
    fn allocate(&self, problem: &Problem) -> Result<Allocation, ProblemError> {
        problem.validate()?;
        let start = Instant::now();
        let mut greedy = Run::new(problem, self.max_evictions);
        greedy.statistics.lap("build", start.elapsed());
        let start = Instant::now();
        while let Some(item) = greedy.queue.pop() {
            if greedy.unit[item].is_none() {
                greedy.place(item);
            }
        }
        greedy.statistics.lap("assign", start.elapsed());
        Ok(greedy.finish())
    }
}

struct Run<'a> {
    problem: &'a Problem,
    items: Items<'a>,
    files: IndexVec<File, Registers<Item>>,
    queue: Queue,
    unit: IndexVec<Item, Option<u32>>,
    times_evicted: IndexVec<Item, u32>,
    slots: IndexVec<LiveRange, Option<SpillSlot>>,
    num_slots: u32,
    max_evictions: u32,
    statistics: AllocationStatistics,
}

impl<'a> Run<'a> {
    fn new(problem: &'a Problem, max_evictions: u32) -> Self {
        let items = Items::new(problem);
        let files = assign::files(problem);
        let count = problem.ranges().len();
        let mut this = Self {
            problem,
            items,
            files,
            queue: Queue::default(),
            unit: IndexVec::filled(None, count),
            times_evicted: IndexVec::filled(0, count),
            slots: IndexVec::filled(None, count),
            num_slots: 0,
            max_evictions,
            statistics: AllocationStatistics { rounds: 1, ..AllocationStatistics::default() },
        };
        for (range, data) in problem.ranges().iter_enumerated() {
            let item = Item::whole(range);
            match data.fixed {
                _ if problem.segments(range).is_empty() => this.unit[item] = Some(data.fixed.unwrap_or(0)),
                Some(unit) => this.occupy(item, unit),
                None => this.enqueue(item),
            }
        }
        this
    }

    /// Adds an item to the queue. The widest items come first: they are hardest to place, and narrower items fit
    /// between them.
    ///
    /// With a register limit, the longest of equally wide items come first, for the same reason. Without a register
    /// limit, equally wide items come in the order of their starts. If no live range has a hole, only the items that
    /// are live at the first point of a new item can then be in its way. So no more units are used than are live at
    /// once.
    fn enqueue(&mut self, item: Item) {
        let class = self.items.class(item);
        let of_equals = match self.problem.files()[class.file].register_limit {
            Some(_) => self.items.length(item),
            None => u32::MAX - self.items.start(item).0,
        };
        self.queue.push((class.width, of_equals), item);
    }

    fn occupy(&mut self, item: Item, unit: u32) {
        let class = self.items.class(item);
        self.files[class.file].occupy(self.items.segments(item), unit..unit + class.width, item);
        self.unit[item] = Some(unit);
    }

    fn vacate(&mut self, item: Item) {
        if let Some(unit) = self.unit[item].take() {
            let class = self.items.class(item);
            self.files[class.file].vacate(self.items.segments(item), unit..unit + class.width);
        }
    }

    /// Finds a place for an item, or spills it.
    fn place(&mut self, item: Item) {
        let class = self.items.class(item);
        let register_limit = self.problem.files()[class.file].register_limit;
        let hints = self.items.places(item, &self.unit);
        if hints.is_empty()
            && let Some(row) = self.row(item)
        {
            return self.occupy_row(&row);
        }
        if let Some(unit) = self.files[class.file].free_place(class, self.items.segments(item), register_limit, &hints)
        {
            return self.occupy(item, unit);
        }
        if let Some(eviction) = self.cheapest_eviction(item) {
            for &evicted in &eviction.evicted {
                self.vacate(evicted);
                self.times_evicted[evicted] += 1;
                self.enqueue(evicted);
            }
            self.statistics.evictions += eviction.evicted.len() as u64;
            return self.occupy(item, eviction.unit);
        }
        match self.items.spillable(item) {
            Some(range) => self.spill(range),
            None => {
                let unit = self.files[class.file].place_beyond(class, self.items.segments(item));
                self.occupy(item, unit);
            }
        }
    }

    /// Returns places for all members of an item's row, if no member has a place yet.
    fn row(&mut self, item: Item) -> Option<Vec<(LiveRange, u32)>> {
        let Self { items, files, unit, problem, .. } = self;
        let (partners, range) = (items.partners(item)?, LiveRange(item.0));
        let file = problem.file(range);
        let limit = problem.files()[file].register_limit.unwrap_or(u32::MAX);
        let registers = &mut files[file];
        let occupied = |of: LiveRange, out: &mut Occupied| out.clone_from(registers.occupied(problem.segments(of)));
        partners.row(range, limit, |other| unit[Item::whole(other)], occupied)
    }

    /// Places a row before other items are in its way. The place of a member may already be taken by another member
    /// that is the same live range or is live at once. Such a member is placed later, when it leaves the queue.
    fn occupy_row(&mut self, row: &[(LiveRange, u32)]) {
        for &(range, unit) in row {
            let (item, class) = (Item::whole(range), self.problem.class(range));
            let occupied = self.files[class.file].occupied(self.problem.segments(range));
            if self.unit[item].is_none() && occupied.is_free(class, unit, None) {
                self.occupy(item, unit);
            }
        }
    }

    fn spill(&mut self, range: LiveRange) {
        self.slots[range] = Some(SpillSlot::new(self.num_slots as usize));
        self.num_slots += 1;
        for piece in self.items.split_into_pieces(range) {
            self.unit.push(None);
            self.times_evicted.push(0);
            self.enqueue(piece);
        }
    }

    fn finish(self) -> Allocation {
        let mut allocation = Allocation { statistics: self.statistics, ..Allocation::blank(self.problem) };
        for (range, &slot) in self.slots.iter_enumerated() {
            match slot {
                Some(slot) => allocation.spill(range, slot),
                None => {
                    let unit = self.unit[Item::whole(range)].unwrap_or(0);
                    allocation.placements[range] = Placement::Register(unit);
                }
            }
        }
        for (piece, number) in self.items.pieces() {
            allocation.pieces[number] = self.unit[piece];
        }
        if !self.problem.links().is_empty() {
            allocation.number_slots(self.problem);
        }
        allocation
    }
}
