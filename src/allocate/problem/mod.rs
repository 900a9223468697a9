//! The problem that every allocator solves: live ranges, and the hardware registers that may hold them.
//!
//! A *file* is a row of registers that alias no registers outside the row (general registers, predicates, uniform
//! registers). It is counted in *units*: registers of 32 bits, or halves of such registers if 16-bit values are packed.
//! A *class* has a file, a width in consecutive units, and an alignment of the first unit. These properties are enough
//! to describe pairs, quads, tensor-core tuples and aliasing. A *fixed* live range has its place from the start.
//! Clobbers of calls are fixed, and so are registers that a calling convention demands.
//!
//! Points are finer than the points of a function's live ranges. Instruction `i` reads at `4i`, calls clobber at `4i +
//! 1`, and the instruction writes at `4i + 2`. The last operand that a call reads ends before its clobbers, and its
//! result starts after them. Operands in consecutive registers are read and written between these points: see [`Lane`].

mod aggregate;
mod builder;
mod classes;
mod flow;
mod from_costs;
mod from_function;
mod from_loops;
mod from_tuples;
mod lanes;
mod live_counts;
mod loops;
mod text;
mod validate;
mod validate_lanes;
mod validate_parts;

use std::ops::Range;
use std::sync::Arc;

pub use builder::ProblemBuilder;
pub use classes::ClassTable;
pub use flow::{Flow, FlowBlock};
pub use lanes::{Lane, lane_point, tuple_point};
pub use loops::{Crossing, Link, LoopData};
pub use text::ProblemParseError;
pub use validate::ProblemError;

use crate::analysis::{Loop, Point, Segment, ValueNumber};
use crate::define_index;
use crate::function::{Inst, VReg};
use crate::index::IndexVec;

define_index! {
    /// A register file.
    File, "file"
}
define_index! {
    /// A class of live ranges.
    Class, "class"
}
define_index! {
    /// A live range, which needs a place.
    LiveRange, "lr"
}

/// Returns the point at which instruction `inst` reads.
pub fn read_point(inst: Inst) -> Point {
    Point(4 * inst.0)
}

/// Returns the point at which instruction `inst` overwrites the registers that it clobbers.
pub fn clobber_point(inst: Inst) -> Point {
    Point(4 * inst.0 + 1)
}

/// Returns the point at which instruction `inst` writes.
pub fn write_point(inst: Inst) -> Point {
    Point(4 * inst.0 + 2)
}

/// A register file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileData {
    /// The file's name, for example `R` in `R17`.
    pub name: Box<str>,
    /// Units that may be used; `None`: unlimited.
    pub register_limit: Option<u32>,
    /// Units in one register: 2 if 16-bit values are packed.
    pub units_per_register: u32,
}

impl FileData {
    /// Returns the number of registers that hold the given units.
    pub fn registers(&self, units: u32) -> u32 {
        units.div_ceil(self.units_per_register.max(1))
    }
}

/// A class of live ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassData {
    /// The class's name.
    pub name: Box<str>,
    /// The file of its members.
    pub file: File,
    /// Consecutive units of a member, at least 1.
    pub width: u32,
    /// Alignment of the first unit, at least 1.
    pub align: u32,
    /// Bytes of a member's stack slot.
    pub bytes: u32,
    /// The class of the same file in which a member may be kept instead, if that saves a copy.
    pub promotes_to: Option<Class>,
}

impl ClassData {
    /// Whether every place of the wider class `into` is a place for a member.
    pub(super) fn fits_into(&self, into: &ClassData) -> bool {
        self.file == into.file && self.width < into.width && into.align.is_multiple_of(self.align)
    }
}

/// Kind of an access to a live range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// The instruction reads it.
    Read,
    /// The instruction writes it.
    Write,
    /// The instruction writes it before it has read its operands.
    EarlyWrite,
    /// The instruction reads and writes it in one register.
    Update,
    /// The instruction reads it beside a tuple: the live range must stay in its place until the instruction writes.
    LateRead,
    /// The instruction writes it to a tuple, from which it is copied after the instruction.
    LateWrite,
}

/// One use or definition of a live range by an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// The instruction.
    pub inst: Inst,
    /// Kind of the access.
    pub kind: AccessKind,
    /// Executions of the instruction in one run of the function.
    pub frequency: f32,
}

impl Access {
    /// Whether the live range is written.
    pub fn writes(&self) -> bool {
        !matches!(self.kind, AccessKind::Read | AccessKind::LateRead)
    }

    /// Whether the live range is read.
    pub fn reads(&self) -> bool {
        matches!(self.kind, AccessKind::Read | AccessKind::LateRead | AccessKind::Update)
    }

    /// Returns the segment in which this access alone needs a register: for a reloaded value, or for a value before its
    /// store.
    pub fn segment(&self) -> Segment {
        let (read, write, after) = (read_point(self.inst), write_point(self.inst), Point(4 * self.inst.0 + 4));
        let (start, end) = match self.kind {
            AccessKind::Read => (read, clobber_point(self.inst)),
            AccessKind::Write => (write, after),
            AccessKind::EarlyWrite | AccessKind::Update => (read, after),
            AccessKind::LateRead => (read, write),
            AccessKind::LateWrite => (lane_point(self.inst), after),
        };
        Segment { start, end, value: ValueNumber(0) }
    }
}

/// A live range.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeData {
    /// Its class.
    pub class: Class,
    /// The only first unit that it may have, if it is fixed.
    pub fixed: Option<u32>,
    /// Spill cost by the cost model; infinite if it must have a register.
    pub spill_cost: f32,
    /// The register of the function that it represents.
    pub register: Option<VReg>,
    /// For a part of a split live range: the first part. `None` for the first part itself, and for a live range that is
    /// not split. The parts have consecutive numbers and share a slot.
    pub part_of: Option<LiveRange>,
    /// Whether it is a piece of a spilled live range. The value of a piece comes from memory at each start of a
    /// segment.
    is_piece: bool,
    segments: Range<u32>,
    accesses: Range<u32>,
}

/// A copy between live ranges. At the point at which the copy writes `to`, `to` does not conflict with `from`, because
/// both hold the same value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyInst {
    /// The instruction.
    pub inst: Inst,
    /// The live range that is written.
    pub to: LiveRange,
    /// The live range that is read.
    pub from: LiveRange,
    /// Executions in one run of the function.
    pub frequency: f32,
}

/// An allocation problem. It is created by a [`ProblemBuilder`], [from a function](Self::from_function) or [from
/// text](Self::parse).
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    name: String,
    num_insts: u32,
    files: IndexVec<File, FileData>,
    classes: ClassTable,
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

impl Problem {
    /// Returns the name of the problem: the function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of instructions in the problem.
    pub fn num_insts(&self) -> usize {
        self.num_insts as usize
    }

    /// Returns the register files.
    pub fn files(&self) -> &IndexVec<File, FileData> {
        &self.files
    }

    /// Returns the classes.
    pub fn classes(&self) -> &ClassTable {
        &self.classes
    }

    /// Returns the live ranges.
    pub fn ranges(&self) -> &IndexVec<LiveRange, RangeData> {
        &self.ranges
    }

    /// Returns the class of a live range.
    #[inline]
    pub fn class(&self, range: LiveRange) -> &ClassData {
        &self.classes[self.ranges[range].class]
    }

    /// Returns the file of a live range.
    #[inline]
    pub fn file(&self, range: LiveRange) -> File {
        self.class(range).file
    }

    /// Returns the segments in which a live range is live, sorted and disjoint.
    #[inline]
    pub fn segments(&self, range: LiveRange) -> &[Segment] {
        let Range { start, end } = self.ranges[range].segments;
        &self.segments[start as usize..end as usize]
    }

    /// Returns the reads and writes of a live range, in the order of instructions.
    #[inline]
    pub fn accesses(&self, range: LiveRange) -> &[Access] {
        let Range { start, end } = self.ranges[range].accesses;
        &self.accesses[start as usize..end as usize]
    }

    /// Returns the accesses of an instruction to a live range, of which there are at most two. O(log accesses).
    pub fn accesses_at(&self, range: LiveRange, inst: Inst) -> &[Access] {
        at(self.accesses(range), inst, |access| access.inst)
    }

    /// Returns the number of a live range's first access. The accesses of all live ranges are numbered consecutively,
    /// in the order of live ranges.
    pub fn first_access(&self, range: LiveRange) -> usize {
        self.ranges[range].accesses.start as usize
    }

    /// Returns the live range of an access, by its number; `None` if there is no such access. O(log live ranges).
    pub fn accessed(&self, access: usize) -> Option<LiveRange> {
        let behind = self.ranges.as_slice().partition_point(|data| data.accesses.start as usize <= access);
        (access < self.accesses.len()).then(|| LiveRange(behind as u32 - 1))
    }

    /// Returns the number of accesses.
    pub fn num_accesses(&self) -> usize {
        self.accesses.len()
    }

    /// Returns the copies, in the order of instructions.
    pub fn copies(&self) -> &[CopyInst] {
        &self.copies
    }

    /// Returns the copies that write at a point. O(log copies).
    pub fn copies_at(&self, point: Point) -> &[CopyInst] {
        let inst = Inst(point.0 / 4);
        if point == write_point(inst) { at(&self.copies, inst, |copy| copy.inst) } else { &[] }
    }

    /// Whether a live range gets a value at the start of one of its segments: by a write, by a [link](Link), after a
    /// tuple, or because no other origin is known. Otherwise, control flow only carries the previous value to this
    /// point.
    pub fn is_written_at(&self, range: LiveRange, start: Point) -> bool {
        let mut here = self.accesses_at(range, Inst(start.0 / 4)).iter();
        self.accesses(range).is_empty()
            || self.ranges[range].is_piece
            || !self.links_at(range, start).is_empty()
            || self.resumes_at(range, start)
            || here.any(|access| access.writes() && access.segment().start <= start)
    }

    /// Returns the most units of each file that are live at one point. An allocation without spilling needs at least as
    /// many.
    ///
    /// In practice, widths are powers of two, so that alignment needs no additional units. A fixed live range counts
    /// with its own units and all units below its place. O(segments · log segments).
    pub fn peaks(&self) -> IndexVec<File, u32> {
        let mut events: Vec<(Point, bool, u32, File)> = Vec::with_capacity(2 * self.segments.len());
        let mut peaks = IndexVec::filled(0, self.files.len());
        for range in self.ranges.ids() {
            let class = self.class(range);
            if let Some(unit) = self.ranges[range].fixed {
                peaks[class.file] = unit.saturating_add(class.width).max(peaks[class.file]);
            }
            for segment in self.segments(range) {
                events.push((segment.start, true, class.width, class.file));
                events.push((segment.end, false, class.width, class.file));
            }
        }
        // At one point, ends come before starts.
        events.sort_unstable();
        let mut live: IndexVec<File, u32> = IndexVec::filled(0, self.files.len());
        for (_, starts, width, file) in events {
            if starts {
                live[file] += width;
                peaks[file] = peaks[file].max(live[file]);
            } else {
                live[file] -= width;
            }
        }
        peaks
    }
}

/// Returns the entries of a list that belong to one instruction. The list is sorted by instructions.
fn at<T>(list: &[T], inst: Inst, inst_of: impl Fn(&T) -> Inst) -> &[T] {
    let list = &list[list.partition_point(|item| inst_of(item) < inst)..];
    &list[..list.partition_point(|item| inst_of(item) == inst)]
}

/// Whether `unit` is a place for a member of `class` in a file of `register_limit` units.
pub(in crate::allocate) fn is_place(class: &ClassData, unit: u32, register_limit: u32) -> bool {
    unit.is_multiple_of(class.align) && unit.checked_add(class.width).is_some_and(|end| end <= register_limit)
}
