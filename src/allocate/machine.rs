//! A simulated machine for tests: it runs a function along random paths, on the registers and slots of an allocation.

use std::collections::HashMap;

use arbitrary::{Result, Unstructured};

use super::allocation::Allocation;
use super::cleanup::{CleanupEdit, Overlay};
use super::links::is_dirty;
use super::placement::{Placement, SpillSlot};
use super::problem::{Access, AccessKind, Lane, Link, LiveRange, Problem, clobber_point, read_point, write_point};
use crate::analysis::covering;
use crate::function::{Block, Function, Inst};
use crate::index::EntityIndex;

/// A machine whose registers and slots each hold the number of a value. It also knows the value that each register of
/// the function should have.
struct Machine<'a> {
    function: &'a Function,
    problem: &'a Problem,
    allocation: &'a Allocation,
    overlay: Overlay,
    registers: Vec<Vec<u32>>,
    slots: HashMap<SpillSlot, u32>,
    /// By register of the function, identified by its first part: the value that it should have, and the part that
    /// holds the value.
    wanted: HashMap<LiveRange, (u32, LiveRange)>,
    /// Whether a value with only one write is stored right after the write, and not on its way to spilled parts.
    stores_early: bool,
    next_value: u32,
    stores_saved: u32,
}

impl Machine<'_> {
    fn units(&mut self, range: LiveRange, unit: u32) -> &mut [u32] {
        let class = self.problem.class(range);
        &mut self.registers[class.file.index()][unit as usize..][..class.width as usize]
    }

    /// Returns the register of an access, and its slot if it is spilled.
    fn place(&self, range: LiveRange, number: usize) -> (u32, Option<SpillSlot>) {
        match self.allocation.placements[range] {
            Placement::Register(unit) => (unit, None),
            Placement::Spilled(slot) => (self.allocation.pieces[number].expect("a piece"), Some(slot)),
        }
    }

    fn writes(&self, range: LiveRange) -> Vec<(LiveRange, Access)> {
        let first = self.problem.family(range);
        let parts = self.problem.ranges().ids().filter(|&part| self.problem.family(part) == first);
        let accesses = parts.flat_map(|part| self.problem.accesses(part).iter().map(move |access| (part, *access)));
        accesses.filter(|(_, access)| access.writes()).collect()
    }

    /// Whether a register has only one write, and its value is stored right after the write.
    fn is_stored_where_written(&self, range: LiveRange) -> bool {
        let writes = self.writes(range);
        let [(part, access)] = writes[..] else { return false };
        let is_spilled = matches!(self.allocation.placements[part], Placement::Spilled(_));
        access.kind != AccessKind::Update && (is_spilled || self.stores_early)
    }

    fn slot_of(&self, range: LiveRange) -> Option<SpillSlot> {
        let first = self.problem.family(range);
        self.problem.ranges().ids().filter(|&part| self.problem.family(part) == first).find_map(|part| {
            match self.allocation.placements[part] {
                Placement::Spilled(slot) => Some(slot),
                Placement::Register(_) => None,
            }
        })
    }

    fn run(&mut self, inst: Inst) {
        let problem = self.problem;
        let ranges = problem.ranges().ids();
        let accesses: Vec<(LiveRange, usize, Access)> = ranges
            .flat_map(|range| {
                let numbered = (problem.first_access(range)..).zip(problem.accesses(range));
                numbered.filter(|(_, access)| access.inst == inst).map(move |(number, &access)| (range, number, access))
            })
            .collect();
        for &(range, number, access) in accesses.iter().filter(|(.., access)| access.reads()) {
            let Some(&(_, part)) = self.wanted.get(&problem.family(range)) else { continue };
            assert_eq!(part, range, "no link leads to it, before {access:?}\n{}\n{problem}", self.function);
            let is_reloaded = !self.overlay.is_removed(inst) && self.overlay.read(number).is_none();
            if let ((unit, Some(slot)), true) = (self.place(range, number), is_reloaded) {
                let value = self.slots.get(&slot).copied().unwrap_or(0);
                self.units(range, unit).fill(value);
            }
        }
        let source = |to: LiveRange| {
            problem
                .copies()
                .iter()
                .find(|copy| copy.inst == inst && copy.to == to)
                .map(|copy| problem.family(copy.from))
        };
        let mut written: Vec<(LiveRange, usize, u32)> = Vec::new();
        for &(range, number, access) in accesses.iter().filter(|(.., access)| access.writes()) {
            self.next_value += 1;
            let copied = source(range).map(|from| self.wanted.get(&from).map_or(0, |&(value, _)| value));
            written.push((range, number, copied.unwrap_or(self.next_value)));
            if access.kind == AccessKind::EarlyWrite {
                self.write(range, number, written[written.len() - 1].2);
            }
        }
        self.check_reads(&accesses, |_| true);
        let rows = self.put_together(inst, &accesses);
        self.check_reads(&accesses, |access| access.kind == AccessKind::LateRead);
        let clobber =
            |&range: &LiveRange| problem.segments(range).iter().any(|segment| segment.start == clobber_point(inst));
        for range in problem.ranges().ids().filter(clobber) {
            if let Some(unit) = problem.ranges()[range].fixed {
                self.units(range, unit).fill(u32::MAX);
            }
        }
        for (lane, value) in rows {
            self.go_on(lane, value);
        }
        let lane = |range: LiveRange| problem.lanes_at(inst).iter().find(|lane| lane.writes && lane.member == range);
        for &(range, number, value) in &written {
            match lane(range) {
                Some(lane) => self.fill(lane, value),
                None => self.write(range, number, value),
            }
            self.wanted.insert(problem.family(range), (value, range));
        }
        let taken = |&(range, number, _): &_| Some((range, number, self.value_in(lane(range)?)));
        let taken: Vec<(LiveRange, usize, u32)> = written.iter().filter_map(taken).collect();
        for (range, number, value) in taken {
            self.write(range, number, value);
        }
    }

    fn check_reads(&mut self, accesses: &[(LiveRange, usize, Access)], is_wanted: impl Fn(&Access) -> bool) {
        for &(range, number, access) in accesses.iter().filter(|(.., access)| access.reads() && is_wanted(access)) {
            let Some(&(value, _)) = self.wanted.get(&self.problem.family(range)) else { continue };
            if self.overlay.is_removed(access.inst) {
                continue;
            }
            let (own, _) = self.place(range, number);
            let unit = self.overlay.read(number).unwrap_or(own);
            let found = self.units(range, unit).to_vec();
            let is_there = found.iter().all(|&found| found == value);
            let (function, problem) = (self.function, self.problem);
            assert!(is_there, "{range} has {found:?}, not {value}, at {access:?}\n{function}\n{problem}");
        }
    }

    /// Assembles the tuples that an instruction reads. All members are read before the first lane is written.
    fn put_together(&mut self, inst: Inst, accesses: &[(LiveRange, usize, Access)]) -> Vec<(Lane, u32)> {
        let lanes = self.problem.lanes_at(inst).iter().filter(|lane| !lane.writes);
        let reads = |lane: &Lane| {
            let mut own = accesses.iter().filter(|(range, _, access)| *range == lane.member && access.reads());
            own.next().map(|&(range, number, _)| (range, number))
        };
        let mut rows = Vec::new();
        for &lane in lanes {
            let (range, number) = reads(&lane).expect("a lane is read");
            let (unit, _) = self.place(range, number);
            rows.push((lane, self.units(range, unit)[0]));
        }
        for (lane, _) in &rows {
            let Placement::Register(unit) = self.allocation.placements[lane.tuple] else { panic!("a tuple in memory") };
            self.units(lane.tuple, unit).fill(u32::MAX);
        }
        for (lane, value) in &rows {
            self.fill(lane, *value);
        }
        rows
    }

    fn fill(&mut self, lane: &Lane, value: u32) {
        let Placement::Register(unit) = self.allocation.placements[lane.tuple] else { panic!("a tuple in memory") };
        self.units(lane.member, unit + lane.offset).fill(value);
    }

    /// Writes the value of a member that stays live after a tuple back to its place.
    fn go_on(&mut self, lane: Lane, value: u32) {
        let lives_on = covering(self.problem.segments(lane.member), write_point(lane.inst)).is_some();
        if let (Placement::Register(unit), true) = (self.allocation.placements[lane.member], lives_on) {
            self.units(lane.member, unit).fill(value);
        }
    }

    fn value_in(&self, lane: &Lane) -> u32 {
        let Placement::Register(unit) = self.allocation.placements[lane.tuple] else { panic!("a tuple in memory") };
        self.registers[self.problem.file(lane.tuple).index()][(unit + lane.offset) as usize]
    }

    fn write(&mut self, range: LiveRange, number: usize, value: u32) {
        let (unit, slot) = self.place(range, number);
        let access = self.problem.accesses(range)[number - self.problem.first_access(range)];
        if self.overlay.is_removed(access.inst) {
            return;
        }
        self.units(range, unit).fill(value);
        if self.overlay.is_unstored(number) {
            return;
        }
        if let Some(slot) = slot.or_else(|| self.slot_of(range).filter(|_| self.is_stored_where_written(range))) {
            self.slots.insert(slot, value);
        }
    }

    /// Moves from one block to another. All links of the edge read before the first of them writes.
    fn go(&mut self, to: Block) {
        let insts = self.function.block_range(to);
        if insts.is_empty() {
            return;
        }
        let start = read_point(insts.start);
        let problem = self.problem;
        let mut moved: Vec<(Link, u32)> = Vec::new();
        for &link in problem.links().iter().filter(|link| link.start == start) {
            let Some(&(_, part)) = self.wanted.get(&problem.family(link.to)) else { continue };
            if part == link.from {
                let value = match self.allocation.placements[link.from] {
                    Placement::Register(unit) => self.units(link.from, unit)[0],
                    Placement::Spilled(slot) => self.slots.get(&slot).copied().unwrap_or(0),
                };
                moved.push((link, value));
            }
        }
        for (link, value) in moved {
            self.wanted.entry(problem.family(link.to)).and_modify(|(_, part)| *part = link.to);
            match self.allocation.placements[link.to] {
                Placement::Register(unit) => self.units(link.to, unit).fill(value),
                Placement::Spilled(_) if matches!(self.allocation.placements[link.from], Placement::Spilled(_)) => {}
                Placement::Spilled(slot) => {
                    let is_dirty = is_dirty(problem, link.from, &self.allocation.placements);
                    if is_dirty && !self.is_stored_where_written(link.to) {
                        self.slots.insert(slot, value);
                    } else {
                        self.stores_saved += 1;
                    }
                }
            }
        }
    }
}

/// Runs a function along random paths. Panics if a read does not find the value that was written last. Returns the
/// number of stores that were saved.
pub(super) fn run(
    u: &mut Unstructured<'_>,
    function: &Function,
    problem: &Problem,
    allocation: &Allocation,
    edits: &[CleanupEdit],
) -> Result<u32> {
    let mut machine = Machine {
        function,
        problem,
        allocation,
        overlay: Overlay::new(problem, edits),
        registers: vec![vec![0; 4096]; problem.files().len()],
        slots: HashMap::new(),
        wanted: HashMap::new(),
        stores_early: u.arbitrary()?,
        next_value: 0,
        stores_saved: 0,
    };
    let mut block = Block(0);
    for _ in 0..40 {
        for inst in function.block_insts(block) {
            machine.run(inst);
        }
        let succs = function.succs(block);
        if succs.is_empty() {
            break;
        }
        block = *u.choose(succs)?;
        machine.go(block);
    }
    Ok(machine.stores_saved)
}
