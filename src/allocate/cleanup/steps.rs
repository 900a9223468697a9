//! Steps: the code that an allocation implies, in execution order.

use std::ops::Range;

use super::overlay::Overlay;
use super::places::{Place, Places};
use crate::allocate::allocation::Allocation;
use crate::allocate::links::families;
use crate::allocate::placement::Placement;
use crate::allocate::problem::{Access, AccessKind, CopyInst, LiveRange, Problem, is_place, write_point};
use crate::function::Inst;
use crate::index::IndexVec;

/// One step of the code. Accesses are given by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A part of a split live range starts, because control flow reaches it from another part.
    Link { to: LiveRange, from: LiveRange },
    /// A spilled live range is reloaded.
    Reload { range: LiveRange, access: usize },
    /// An instruction reads a register. The same access does not write the register.
    Read { range: LiveRange, access: usize },
    /// An instruction reads a register that the same access also writes.
    ReadInPlace { range: LiveRange, access: usize },
    /// An instruction writes, and the value is stored if its live range is spilled.
    Write { range: LiveRange, access: usize },
    /// A tuple, or the clobber of a call, overwrites its units.
    Take { range: LiveRange },
    /// After a tuple, the value of a member is in its own place again.
    Resume { range: LiveRange },
}

/// Order of the steps within an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Linked,
    Reloaded,
    WrittenEarly,
    Read,
    Taken,
    ReadLate,
    Written,
    Resumed,
    WrittenLate,
}

/// Steps of a problem's instructions.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    pub(super) problem: &'a Problem,
    pub(super) allocation: &'a Allocation,
    pub(super) places: Places,
    /// By instruction, with one additional entry: the index of its first step.
    firsts: Vec<u32>,
    steps: Vec<Step>,
    /// By live range: whether all its writes must stay. This is so if it is fixed, or a part of a split live range.
    is_kept: IndexVec<LiveRange, bool>,
}

impl<'a> Steps<'a> {
    /// Collects and sorts the steps. O(steps · log steps).
    pub(super) fn new(problem: &'a Problem, allocation: &'a Allocation) -> Self {
        let mut steps: Vec<(Inst, Phase, Step)> = Vec::with_capacity(2 * problem.num_accesses());
        for range in problem.ranges().ids() {
            add_accesses(problem, allocation, range, &mut steps);
        }
        for link in problem.links() {
            steps.push((Inst(link.start.0 / 4), Phase::Linked, Step::Link { to: link.to, from: link.from }));
        }
        // Steps of one instruction and phase stay in the order of live ranges.
        steps.sort_by_key(|&(inst, phase, _)| (inst, phase));
        let num_insts = problem.flow().num_insts();
        let mut firsts = vec![0; num_insts + 1];
        for &(inst, ..) in &steps {
            if let Some(first) = firsts.get_mut(inst.0 as usize + 1) {
                *first += 1;
            }
        }
        for inst in 0..num_insts {
            firsts[inst + 1] += firsts[inst];
        }
        let steps = steps.into_iter().map(|(.., step)| step).collect();
        let mut is_kept: IndexVec<LiveRange, bool> = problem.ranges().iter().map(|data| data.fixed.is_some()).collect();
        for parts in families(problem).filter(|parts| parts.len() > 1) {
            parts.for_each(|part| is_kept[LiveRange(part)] = true);
        }
        Self { problem, allocation, places: Places::new(problem, allocation), firsts, steps, is_kept }
    }

    /// Returns the steps of an instruction.
    pub(super) fn of(&self, inst: Inst) -> &[Step] {
        let Range { start, end } = self.firsts[inst.0 as usize]..self.firsts[inst.0 as usize + 1];
        &self.steps[start as usize..end as usize]
    }

    /// Whether all writes of a live range must stay in the code.
    pub(super) fn is_kept(&self, range: LiveRange) -> bool {
        self.is_kept[range]
    }

    /// Returns an access of a live range, by its number.
    pub(super) fn access(&self, range: LiveRange, access: usize) -> &'a Access {
        &self.problem.accesses(range)[access - self.problem.first_access(range)]
    }

    /// Returns the place that the allocation gives to a live range.
    pub(super) fn home(&self, range: LiveRange) -> Place {
        self.places.home(self.problem, self.allocation, range)
    }

    pub(super) fn is_spilled(&self, range: LiveRange) -> bool {
        matches!(self.allocation.placements[range], Placement::Spilled(_))
    }

    /// Returns the units of an access. These are the units of its live range, or of the access's own register if the
    /// live range is spilled.
    pub(super) fn units(&self, range: LiveRange, access: usize) -> Place {
        match self.allocation.placements[range] {
            Placement::Register(unit) => self.places.unit(self.problem.file(range), unit),
            Placement::Spilled(_) => {
                self.places.unit(self.problem.file(range), self.allocation.pieces[access].unwrap_or(0))
            }
        }
    }

    /// Returns the place that an access reads, with the edits so far.
    pub(super) fn read_place(&self, range: LiveRange, access: usize, overlay: &Overlay) -> Place {
        let unit = overlay.read(access).map(|unit| self.places.unit(self.problem.file(range), unit));
        unit.unwrap_or_else(|| self.units(range, access))
    }

    /// Whether a place is a unit that the class of a live range allows.
    pub(super) fn is_place(&self, range: LiveRange, place: Place) -> bool {
        let unit = self.places.unit_of(self.problem.file(range), place);
        unit.is_some_and(|unit| is_place(self.problem.class(range), unit, u32::MAX))
    }

    /// Whether the code has copies between different places, stores or reloads.
    pub(super) fn has_moves(&self) -> bool {
        let home = |range: LiveRange| self.home(range);
        self.problem.ranges().ids().any(|range| self.is_spilled(range))
            || self.problem.copies().iter().any(|copy| home(copy.to) != home(copy.from))
    }

    pub(super) fn width(&self, range: LiveRange) -> u32 {
        self.problem.class(range).width
    }

    /// Returns the copy that an access writes, and the number of the access that reads the copy's source. Both live
    /// ranges have the same width. `None` if the instruction does more than copy.
    pub(super) fn copy(&self, range: LiveRange, access: usize) -> Option<(&'a CopyInst, usize)> {
        let Access { inst, kind, .. } = *self.access(range, access);
        let [copy] = self.problem.copies_at(write_point(inst)) else { return None };
        let is_alike = self.width(copy.from) == self.width(range) && kind == AccessKind::Write;
        let is_alone = |of: fn(&Step) -> bool| self.of(inst).iter().filter(|step| of(step)).count() == 1;
        let is_all = is_alone(|step| matches!(step, Step::Write { .. }))
            && is_alone(|step| matches!(step, Step::Read { .. } | Step::ReadInPlace { .. }));
        if !is_all || copy.to != range || copy.from == range {
            return None;
        }
        let is_read = |from: &Access| from.inst == inst && from.kind == AccessKind::Read;
        let number = self.problem.accesses(copy.from).iter().position(is_read)?;
        is_alike.then_some((copy, self.problem.first_access(copy.from) + number))
    }

    /// Whether an instruction is a copy from a place to the same place, which needs no code.
    pub(super) fn is_within_place(&self, inst: Inst, overlay: &Overlay) -> bool {
        let is_in_memory = |step: &Step| match *step {
            Step::Reload { access, .. } => overlay.read(access).is_none(),
            Step::Write { range, .. } => self.is_spilled(range),
            _ => false,
        };
        self.moves_nothing(inst, overlay) && !self.of(inst).iter().any(is_in_memory)
    }

    /// Whether an instruction is a copy from a register to the same register, apart from its reloads and stores.
    pub(super) fn moves_nothing(&self, inst: Inst, overlay: &Overlay) -> bool {
        self.of(inst).iter().any(|&step| {
            let Step::Write { range, access } = step else { return false };
            let copied = self.copied_from(range, access, overlay);
            copied.is_some_and(|(_, place)| place == self.units(range, access))
        })
    }

    /// Returns the source of the copy that an access writes, and the place at which it is read.
    pub(super) fn copied_from(&self, range: LiveRange, access: usize, overlay: &Overlay) -> Option<(LiveRange, Place)> {
        let (copy, read) = self.copy(range, access)?;
        Some((copy.from, self.read_place(copy.from, read, overlay)))
    }

    /// Whether an access copies its value into a tuple.
    pub(super) fn is_in_row(&self, range: LiveRange, access: usize) -> bool {
        let Access { inst, kind, .. } = *self.access(range, access);
        let mut lanes = self.problem.lanes_at(inst).iter();
        kind == AccessKind::Read && lanes.any(|lane| lane.member == range && !lane.writes)
    }

    /// Whether an instruction may be removed. This requires that it has no effect except its writes, that none of its
    /// writes must stay, and that it has no tuple.
    pub(super) fn is_removable(&self, inst: Inst) -> bool {
        let is_free = |step: &Step| match *step {
            Step::Write { range, .. } => !self.is_kept(range),
            Step::Take { .. } | Step::Resume { .. } => false,
            _ => true,
        };
        let is_copy = |step: &Step| match *step {
            Step::Write { range, access } => self.copy(range, access).is_some(),
            _ => false,
        };
        let writes = |step: &Step| matches!(step, Step::Write { .. });
        let steps = self.of(inst);
        (self.problem.flow().is_pure(inst) || steps.iter().any(is_copy))
            && steps.iter().any(writes)
            && steps.iter().all(is_free)
    }
}

fn add_accesses(problem: &Problem, allocation: &Allocation, range: LiveRange, steps: &mut Vec<(Inst, Phase, Step)>) {
    let is_spilled = matches!(allocation.placements[range], Placement::Spilled(_));
    for (access, data) in (problem.first_access(range)..).zip(problem.accesses(range)) {
        let inst = data.inst;
        if is_spilled && data.reads() {
            steps.push((inst, Phase::Reloaded, Step::Reload { range, access }));
        }
        let (read, write) = (Step::Read { range, access }, Step::Write { range, access });
        match data.kind {
            AccessKind::Read => steps.push((inst, Phase::Read, read)),
            AccessKind::LateRead => steps.push((inst, Phase::ReadLate, read)),
            AccessKind::Write => steps.push((inst, Phase::Written, write)),
            AccessKind::EarlyWrite => steps.push((inst, Phase::WrittenEarly, write)),
            AccessKind::LateWrite => steps.push((inst, Phase::WrittenLate, write)),
            AccessKind::Update => {
                steps.push((inst, Phase::Read, Step::ReadInPlace { range, access }));
                steps.push((inst, Phase::Written, write));
            }
        }
    }
    if is_spilled {
        return;
    }
    for segment in problem.segments(range) {
        let inst = Inst(segment.start.0 / 4);
        if problem.accesses(range).is_empty() {
            let phase = match segment.start.0 % 4 {
                0 => Phase::WrittenEarly,
                1 => Phase::Taken,
                2 => Phase::Written,
                _ => Phase::WrittenLate,
            };
            steps.push((inst, phase, Step::Take { range }));
        } else if problem.resumes_at(range, segment.start) {
            steps.push((inst, Phase::Resumed, Step::Resume { range }));
        }
    }
}
