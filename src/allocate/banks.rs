//! Register banks: what an instruction reads at once comes from different ones, where that costs nothing.
//!
//! Register `r` is in bank `r` modulo their number. Where an instruction reads more registers of one bank than it has
//! ports, it waits: on Volta and later there are 2 banks with two ports each, so that three sources conflict where all
//! are even or all are odd; on Maxwell and Pascal 4 with one port (Jia et al., "Dissecting the NVIDIA Volta GPU
//! architecture via microbenchmarking", 2018). NVIDIA's cicc is read to know 32 banks.
//!
//! Nobody may need a register more for that. So live ranges are moved when all have places: to one that is free and in
//! use already, and none that would save a copy is given up.

use super::allocation::Allocation;
use super::availability::{Availability, Timeline};
use super::check::check_allocation;
use super::occupied::Occupied;
use super::partners::Partners;
use super::placement::Placement;
use super::problem::{AccessKind, File, LiveRange, Problem};
use crate::analysis::Grouping;
use crate::define_index;
use crate::function::Inst;
use crate::index::IndexVec;

/// The banks of the general registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banks {
    /// How many there are, at least 1.
    pub count: u32,
    /// How many registers of one bank an instruction reads without waiting.
    pub ports: u32,
}

/// Conflicts between the sources of instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BankConflicts {
    /// Registers that instructions in the code wait for.
    pub count: u64,
    /// The same, in one run of the function.
    pub per_run: f64,
}

define_index! {
    /// An instruction that reads enough registers to wait for one.
    Reader, "reader"
}

/// A source: a live range, and the number of its access.
type Source = (LiveRange, usize);

struct ReaderData {
    frequency: f64,
    sources: Vec<Source>,
}

/// The file of general registers is the first one.
const GENERAL: File = File(0);

struct Readers<'a> {
    problem: &'a Problem,
    banks: Banks,
    readers: IndexVec<Reader, ReaderData>,
}

impl<'a> Readers<'a> {
    /// Finds the instructions that read more registers than a bank has ports, of one register each; what is read in a
    /// row comes from there. O(accesses · log accesses).
    fn new(problem: &'a Problem, banks: Banks) -> Self {
        let mut reads: Vec<(Inst, Source, f32)> = Vec::new();
        let Some(file) = problem.files().get(GENERAL) else {
            return Self { problem, banks, readers: IndexVec::new() };
        };
        for range in problem.ranges().ids().filter(|&range| problem.file(range) == GENERAL) {
            if problem.class(range).width != file.units_per_register {
                continue;
            }
            for (number, access) in (problem.first_access(range)..).zip(problem.accesses(range)) {
                let in_row = || problem.lanes_at(access.inst).iter().any(|lane| lane.member == range && !lane.writes);
                if access.reads() && (access.kind == AccessKind::LateRead || !in_row()) {
                    reads.push((access.inst, (range, number), access.frequency));
                }
            }
        }
        reads.sort_unstable_by_key(|&(inst, source, _)| (inst, source));
        let groups = reads.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > banks.ports as usize);
        let reader = |group: &[(Inst, Source, f32)]| ReaderData {
            frequency: f64::from(group[0].2),
            sources: group.iter().map(|&(_, source, _)| source).collect(),
        };
        Self { problem, banks, readers: groups.map(reader).collect() }
    }

    fn bank(&self, unit: u32) -> u32 {
        unit / self.problem.files()[GENERAL].units_per_register % self.banks.count
    }

    /// How many registers an instruction waits for, where its sources are at these units; one that is read twice is
    /// read once.
    fn waits(&self, reader: Reader, unit: impl Fn(Source) -> Option<u32>) -> u32 {
        let mut units: Vec<u32> = self.readers[reader].sources.iter().filter_map(|&source| unit(source)).collect();
        units.sort_unstable();
        units.dedup();
        units.sort_by_key(|&unit| self.bank(unit));
        let in_banks = units.chunk_by(|&a, &b| self.bank(a) == self.bank(b));
        in_banks.map(|units| (units.len() as u32).saturating_sub(self.banks.ports)).sum()
    }
}

/// Where a source is read.
fn unit_of(allocation: &Allocation, (range, number): Source) -> Option<u32> {
    match allocation.placements[range] {
        Placement::Register(unit) => Some(unit),
        Placement::Spilled(_) => allocation.pieces[number],
    }
}

/// The conflicts of an allocation.
pub fn bank_conflicts(problem: &Problem, allocation: &Allocation, banks: Banks) -> BankConflicts {
    let readers = Readers::new(problem, banks);
    let mut conflicts = BankConflicts::default();
    for (reader, data) in readers.readers.iter_enumerated() {
        let waits = readers.waits(reader, |source| unit_of(allocation, source));
        conflicts.count += u64::from(waits);
        conflicts.per_run += data.frequency * f64::from(waits);
    }
    conflicts
}

/// Moves live ranges to banks where fewer wait for them, without a register, a copy or a move more. What is nowhere
/// written may share its place with others: then the checker refuses, and nothing is changed.
///
/// O(sources · (segments · log moments + places)), and once the check.
pub fn spread_over_banks(problem: &Problem, allocation: Allocation, banks: Banks) -> Allocation {
    let readers = Readers::new(problem, banks);
    let waits = |reader: Reader| readers.waits(reader, |source| unit_of(&allocation, source));
    let mut waiting: Vec<Reader> = readers.readers.ids().filter(|&reader| waits(reader) > 0).collect();
    if waiting.is_empty() {
        return allocation;
    }
    let by_frequency = |reader: &Reader| readers.readers[*reader].frequency;
    waiting.sort_by(|a, b| by_frequency(b).total_cmp(&by_frequency(a)).then(a.cmp(b)));
    let mut spread = Spread::new(&readers, allocation.clone());
    for reader in waiting {
        spread.relieve(reader);
    }
    if spread.has_changed && check_allocation(problem, &spread.allocation).is_ok() {
        spread.allocation
    } else {
        allocation
    }
}

struct Spread<'a> {
    readers: &'a Readers<'a>,
    readers_of: Grouping<LiveRange, Reader>,
    partners: Partners<'a>,
    availability: Availability,
    allocation: Allocation,
    /// Units that are used.
    used: u32,
    has_changed: bool,
}

impl<'a> Spread<'a> {
    fn new(readers: &'a Readers<'a>, allocation: Allocation) -> Self {
        let problem = readers.problem;
        let used = allocation.costs_of(problem, |range| problem.file(range) == GENERAL).units[GENERAL.0 as usize];
        let mut availability = Availability::new(Timeline::new(problem), used);
        for range in problem.ranges().ids().filter(|&range| problem.file(range) == GENERAL) {
            let width = problem.class(range).width;
            match allocation.placements[range] {
                Placement::Register(unit) => {
                    (unit..unit + width).for_each(|unit| availability.take(problem.segments(range), unit));
                }
                Placement::Spilled(_) => {
                    for (number, access) in (problem.first_access(range)..).zip(problem.accesses(range)) {
                        let unit = allocation.pieces[number].unwrap_or(0);
                        (unit..unit + width).for_each(|unit| availability.take(&[access.segment()], unit));
                    }
                }
            }
        }
        let mut of: Vec<(LiveRange, Reader)> = Vec::new();
        for (reader, data) in readers.readers.iter_enumerated() {
            of.extend(data.sources.iter().map(|&(range, _)| (range, reader)));
        }
        let readers_of = Grouping::new(problem.ranges().len(), of.iter().copied());
        let partners = Partners::new(problem);
        Self { readers, readers_of, partners, availability, allocation, used, has_changed: false }
    }

    /// Moves the source of an instruction that saves most.
    fn relieve(&mut self, reader: Reader) {
        if self.readers.waits(reader, |source| unit_of(&self.allocation, source)) == 0 {
            return;
        }
        let mut best: Option<(f64, LiveRange, u32)> = None;
        for &(range, _) in &self.readers.readers[reader].sources {
            let Some(unit) = self.movable(range) else { continue };
            let before = self.waits_for(range, unit);
            for place in self.places(range) {
                let saved = before - self.waits_for(range, place);
                if saved > best.map_or(0.0, |(most, ..)| most) {
                    best = Some((saved, range, place));
                }
            }
        }
        let Some((_, range, place)) = best else { return };
        let Some(unit) = self.movable(range) else { return };
        let problem = self.readers.problem;
        for (from, to) in (unit..unit + problem.class(range).width).zip(place..) {
            self.availability.give_back(problem.segments(range), from);
            self.availability.take(problem.segments(range), to);
        }
        self.allocation.placements[range] = Placement::Register(place);
        self.has_changed = true;
    }

    /// Where a live range is that may go elsewhere: it is in a register of its choice, and saves no copy there.
    fn movable(&self, range: LiveRange) -> Option<u32> {
        let Placement::Register(unit) = self.allocation.placements[range] else { return None };
        let register = |other: LiveRange| match self.allocation.placements[other] {
            Placement::Register(unit) => Some(unit),
            Placement::Spilled(_) => None,
        };
        let mut beside = Vec::new();
        self.partners.places(range, register, &mut beside);
        (self.readers.problem.ranges()[range].fixed.is_none() && !beside.contains(&unit)).then_some(unit)
    }

    /// What instructions wait for in one run, with a live range at a place.
    fn waits_for(&self, range: LiveRange, place: u32) -> f64 {
        let unit = |source: Source| if source.0 == range { Some(place) } else { unit_of(&self.allocation, source) };
        let waits =
            |&reader: &Reader| f64::from(self.readers.waits(reader, unit)) * self.readers.readers[reader].frequency;
        self.readers_of.of(range).iter().map(waits).sum()
    }

    /// The first free place of each bank.
    fn places(&self, range: LiveRange) -> Vec<u32> {
        let (problem, mut occupied) = (self.readers.problem, Occupied::default());
        self.availability.occupied(problem.segments(range), &mut occupied);
        let class = problem.class(range);
        let mut is_found = vec![false; self.readers.banks.count as usize];
        let places = (0..self.used).filter(|&unit| occupied.is_free(class, unit, Some(self.used)));
        places.filter(|&unit| !std::mem::replace(&mut is_found[self.readers.bank(unit) as usize], true)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::Allocator;
    use crate::allocate::greedy::Greedy;
    use crate::function::Function;
    use crate::fuzzing::{Options, explore, lowered_function, reached};

    const VOLTA: Banks = Banks { count: 2, ports: 2 };

    /// Three sources of one instruction, with two even registers that are free elsewhere.
    fn problem() -> Problem {
        let text = "allocation 1\nproblem k\nfile R budget 6\nclass A R\n\
            range A cost 9 live 2..13 write 0*1 read 3*7\nrange A cost 9 live 2..13 write 0*1 read 3*7\n\
            range A cost 9 live 2..13 write 0*1 read 3*7\nrange A cost 9 live 14..17 write 3*1 read 4*1\nend\n";
        Problem::parse(text).expect("a problem")
    }

    /// Three registers of one bank conflict, and two do not; one that is read once more is no conflict.
    #[test]
    fn conflicts() {
        let problem = problem();
        let mut allocation = Greedy::default().allocate(&problem).expect("a sound problem");
        let mut conflicts = |units: [u32; 4], banks: Banks| {
            allocation.placements = units.map(Placement::Register).to_vec().into();
            let BankConflicts { count, per_run } = bank_conflicts(&problem, &allocation, banks);
            (count, per_run)
        };
        assert_eq!(conflicts([0, 2, 4, 0], VOLTA), (1, 7.0));
        assert_eq!(conflicts([0, 2, 3, 0], VOLTA), (0, 0.0));
        assert_eq!(conflicts([0, 2, 4, 0], Banks { count: 4, ports: 1 }), (1, 7.0));
        assert_eq!(conflicts([0, 4, 8, 0], Banks { count: 4, ports: 1 }), (2, 14.0));
    }

    /// A conflict goes where a register of another bank is free and in use, and stays where none is.
    #[test]
    fn spread() {
        let problem = problem();
        let mut allocation = Greedy::default().allocate(&problem).expect("a sound problem");
        let mut spread = |units: [u32; 4]| {
            allocation.placements = units.map(Placement::Register).to_vec().into();
            let spread = spread_over_banks(&problem, allocation.clone(), VOLTA);
            bank_conflicts(&problem, &spread, VOLTA).count
        };
        assert_eq!(spread([0, 2, 4, 0]), 0);
        assert_eq!(spread([0, 2, 4, 5]), 0);
    }

    /// Whatever is moved, the checker proves the allocation, it takes no more registers, spills and moves the same and
    /// waits for no more.
    #[test]
    fn nothing_is_lost() {
        let moved = |u: &mut arbitrary::Unstructured<'_>| {
            let function: Function = lowered_function(u, &Options::default())?;
            let preset =
                crate::allocate::Preset { budget: Some(u.int_in_range(4..=16)?), ..crate::allocate::Preset::HW };
            let problem = Problem::by_name(&function, &preset).expect("no PHIs");
            let Ok(allocation) = Greedy::default().allocate(&problem) else { return Ok(()) };
            let banks = Banks { count: u.int_in_range(1..=4)?, ports: u.int_in_range(1..=2)? };
            let before = (allocation.costs(&problem), bank_conflicts(&problem, &allocation, banks));
            let spread = spread_over_banks(&problem, allocation, banks);
            let costs = check_allocation(&problem, &spread).unwrap_or_else(|error| panic!("{error}\n{problem}"));
            let after = bank_conflicts(&problem, &spread, banks);
            reached("allocated", true);
            reached("fewer conflicts", after.count < before.1.count);
            assert!(after.per_run <= before.1.per_run + 1e-6, "{before:?} {after:?}\n{problem}");
            assert!(costs.units.iter().zip(&before.0.units).all(|(now, before)| now <= before), "{problem}");
            assert!(costs.copies <= before.0.copies && costs.link_moves <= before.0.link_moves, "{problem}");
            assert!(costs.tuple_copies <= before.0.tuple_copies, "{:?} {costs:?}\n{problem}", before.0);
            Ok(())
        };
        explore(moved, 1_500, &[("allocated", 90), ("fewer conflicts", 1)]);
    }
}
