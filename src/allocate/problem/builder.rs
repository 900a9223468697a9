//! Construction of problems.

use std::ops::Range;
use std::sync::Arc;

use super::RangeData;
use super::{
    Access, AccessKind, Class, ClassData, ClassTable, CopyInst, Crossing, File, FileData, Flow, FlowBlock, Lane, Link,
    LiveRange, LoopData, Problem,
};
use crate::analysis::{Loop, Segment};
use crate::function::{Block, Inst, VReg};
use crate::index::IndexVec;

/// Builds a [`Problem`], live range by live range.
#[derive(Debug, Default)]
pub struct ProblemBuilder {
    pub(super) name: String,
    files: IndexVec<File, FileData>,
    pub(super) classes: IndexVec<Class, ClassData>,
    ranges: IndexVec<LiveRange, RangeData>,
    segments: Vec<Segment>,
    accesses: Vec<Access>,
    copies: Vec<CopyInst>,
    lanes: Vec<Lane>,
    loops: IndexVec<Loop, LoopData>,
    crossings: Vec<Crossing>,
    links: Vec<Link>,
    flow: Arc<Flow>,
}

impl ProblemBuilder {
    /// Creates a problem without live ranges.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Creates a problem without live ranges, with the files, classes and control flow of another problem.
    pub fn like(problem: &Problem) -> Self {
        let classes = problem.classes.iter_enumerated().map(|(_, class)| class.clone()).collect();
        Self { files: problem.files.clone(), classes, flow: problem.flow.clone(), ..Self::new(&problem.name) }
    }

    /// Adds a register file.
    pub fn file(&mut self, file: FileData) -> File {
        self.files.push(file)
    }

    /// Changes the register limit of a file, in units.
    pub(in crate::allocate) fn register_limit(&mut self, file: File, register_limit: Option<u32>) {
        self.files[file].register_limit = register_limit;
    }

    /// Adds a class.
    pub fn class(&mut self, class: ClassData) -> Class {
        self.classes.push(class)
    }

    /// Returns the data of a class.
    pub(super) fn class_data(&self, class: Class) -> &ClassData {
        &self.classes[class]
    }

    /// Allows members of a class to be kept in another class, if that class is wide enough for them.
    pub fn promote(&mut self, class: Class, into: Class) {
        let fits = self.classes[class].fits_into(&self.classes[into]);
        self.classes[class].promotes_to = fits.then_some(into);
    }

    /// Makes room for live ranges.
    pub fn reserve(&mut self, ranges: usize, segments: usize, accesses: usize) {
        self.ranges.reserve(ranges);
        self.segments.reserve(segments);
        self.accesses.reserve(accesses);
    }

    /// Adds a live range that may not be spilled. Its other properties can be set later. `segments` are sorted and
    /// disjoint, and `accesses` are in the order of instructions.
    ///
    /// A write is checked for conflicts at the start of a segment. So an early write in the middle of a segment must
    /// begin a new segment. This occurs at the start of a block into which the previous value is live.
    pub fn range(
        &mut self,
        class: Class,
        segments: impl IntoIterator<Item = Segment>,
        accesses: impl IntoIterator<Item = Access>,
    ) -> LiveRange {
        let (first_segment, first_access) = (self.segments.len() as u32, self.accesses.len() as u32);
        self.segments.extend(segments);
        self.accesses.extend(accesses);
        self.split_at_early_writes(first_segment as usize, first_access as usize);
        self.ranges.push(RangeData {
            class,
            fixed: None,
            spill_cost: f32::INFINITY,
            register: None,
            part_of: None,
            is_piece: false,
            segments: first_segment..self.segments.len() as u32,
            accesses: first_access..self.accesses.len() as u32,
        })
    }

    /// Splits the segments of the last live range at the early writes inside them.
    fn split_at_early_writes(&mut self, first_segment: usize, first_access: usize) {
        for access in &self.accesses[first_access..] {
            let at = access.segment().start;
            if access.kind != AccessKind::EarlyWrite {
                continue;
            }
            let number = first_segment + self.segments[first_segment..].partition_point(|segment| segment.end <= at);
            if let Some(segment) = self.segments.get_mut(number).filter(|segment| segment.start < at) {
                let rest = Segment { start: at, ..*segment };
                segment.end = at;
                self.segments.insert(number + 1, rest);
            }
        }
    }

    /// Adds the register that one access to a spilled live range needs.
    pub(in crate::allocate) fn piece(&mut self, class: Class, access: Access) -> LiveRange {
        let piece = self.range(class, [access.segment()], [access]);
        self.ranges[piece].is_piece = true;
        piece
    }

    /// Fixes a live range at a place.
    pub fn fix(&mut self, range: LiveRange, unit: u32) {
        self.ranges[range].fixed = Some(unit);
    }

    /// Sets the spill cost of a live range.
    pub fn spill_cost(&mut self, range: LiveRange, cost: f32) {
        self.ranges[range].spill_cost = cost;
    }

    /// Sets the register of the function that a live range represents.
    pub fn register(&mut self, range: LiveRange, register: VReg) {
        self.ranges[range].register = Some(register);
    }

    /// Makes a live range a part of a register, which is identified by its first part.
    pub fn part_of(&mut self, range: LiveRange, first: LiveRange) {
        self.ranges[range].part_of = Some(first);
    }

    /// Adds a loop, after the loops inside it.
    pub fn loop_(&mut self, data: LoopData) -> Loop {
        self.loops.push(data)
    }

    /// Adds an edge that enters or leaves a loop.
    pub fn crossing(&mut self, crossing: Crossing) {
        self.crossings.push(crossing);
    }

    /// Adds a link from one part of a register to another.
    pub fn link(&mut self, link: Link) {
        self.links.push(link);
    }

    /// Adds a block, after the existing blocks.
    pub fn block(&mut self, insts: Range<Inst>, succs: Vec<Block>) {
        Arc::make_mut(&mut self.flow).blocks.push(FlowBlock { insts, succs });
    }

    /// Marks an instruction as pure: its only effect is its writes. Callers mark instructions in their order.
    pub fn pure(&mut self, inst: Inst) {
        Arc::make_mut(&mut self.flow).pure.push(inst);
    }

    /// Adds a copy.
    pub fn copy(&mut self, copy: CopyInst) {
        self.copies.push(copy);
    }

    /// Adds a member of a tuple.
    pub fn lane(&mut self, lane: Lane) {
        self.lanes.push(lane);
    }

    /// Returns the problem, which is not yet [validated](Problem::validate).
    pub fn finish(mut self) -> Problem {
        self.copies.sort_by_key(|copy| (copy.inst, copy.to));
        self.lanes.sort_by_key(|lane| (lane.inst, lane.tuple, lane.offset, lane.writes, lane.member));
        self.crossings.sort_by_key(|crossing| (crossing.start, crossing.to, crossing.from));
        self.links.sort_by_key(|link| (link.to, link.start, link.from));
        let last = self.segments.iter().map(|segment| segment.end.0).max().unwrap_or(0);
        Problem {
            name: self.name,
            num_insts: last.div_ceil(4),
            files: self.files,
            classes: ClassTable::new(self.classes),
            ranges: self.ranges,
            segments: self.segments,
            accesses: self.accesses,
            copies: self.copies,
            lanes: self.lanes,
            loops: self.loops,
            crossings: self.crossings,
            links: self.links,
            flow: self.flow,
        }
    }
}
