//! Tuples of a function: rows of registers that its instructions encode.

use super::{Access, AccessKind, Class, ClassData, Lane, LiveRange, ProblemBuilder};
use super::{clobber_point, lane_point, read_point, tuple_point, write_point};
use crate::allocate::preset::Preset;
use crate::analysis::{Grouping, Point, Segment, ValueNumber};
use crate::function::{Block, Function, Inst, Opcode, Operand, OperandFlags, RegClass, VReg};
use crate::index::IndexVec;
use crate::target::{RegisterTuple, TupleKind, VectorShape};

/// A row of registers of one instruction.
#[derive(Debug)]
struct Row {
    inst: Inst,
    start: Point,
    end: Point,
    kind: TupleKind,
    class: RegClass,
    /// Number of registers in the row. It includes registers that are neither copied into the row nor out of it.
    len: u32,
    lanes: Vec<RowLane>,
}

/// A register in a row.
#[derive(Clone, Copy, Debug)]
struct RowLane {
    number: u32,
    operand: usize,
    register: VReg,
    writes: bool,
}

/// Uses of a register by an instruction that has rows.
#[derive(Clone, Copy, Debug, Default)]
struct RowUse {
    inst: u32,
    /// Whether the register is copied into a row.
    is_put: bool,
    /// Whether the register is read outside the rows. It must then stay in its place while rows are assembled.
    is_held: bool,
    /// Whether the register is copied out of a row.
    is_taken: bool,
}

/// The rows of a function, and the other registers of their instructions.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    uses: Grouping<VReg, RowUse>,
}

impl Rows {
    /// Finds the rows of a function that `preset` wants. O(operands), plus the lengths of inline assembly.
    pub(super) fn new(function: &Function, preset: &Preset) -> Self {
        if !preset.tuples {
            return Self::default();
        }
        let mut shapes: IndexVec<Opcode, Option<VectorShape>> = IndexVec::filled(None, function.opcodes().len());
        let (mut rows, mut uses) = (Vec::new(), Vec::new());
        for inst in function.insts() {
            let opcode = function.opcode(inst);
            let shape = *shapes[opcode].get_or_insert_with(|| VectorShape::of(function.opcodes().name(opcode)));
            if shape != VectorShape::None {
                let first = rows.len();
                for tuple in shape.tuples(function, inst) {
                    add_rows(function, inst, &tuple, preset, &mut rows);
                }
                add_uses(function, inst, &rows[first..], &mut uses);
            }
        }
        Self { rows, uses: Grouping::new(function.num_regs(), uses.iter().copied()) }
    }

    /// Whether a register is used by an instruction that has rows.
    pub(super) fn concerns(&self, register: VReg) -> bool {
        !self.uses.of(register).is_empty()
    }

    /// Returns the segments of a register. A segment has a hole while the register's value is in a row.
    pub(super) fn segments(&self, register: VReg, segments: impl Iterator<Item = Segment>) -> Vec<Segment> {
        let uses = self.uses.of(register);
        let mut cut = Vec::new();
        for mut segment in segments {
            let first = uses.partition_point(|at| lane_point(Inst(at.inst)) < segment.start);
            for at in &uses[first..] {
                let inst = Inst(at.inst);
                if read_point(inst) >= segment.end {
                    break;
                }
                if at.is_taken && is_written(&segment, inst) {
                    segment.start = lane_point(inst);
                } else if at.is_held && segment.end == clobber_point(inst) {
                    segment.end = write_point(inst);
                } else if at.is_put && !at.is_held && goes_through(&segment, inst) {
                    cut.push(Segment { end: clobber_point(inst), ..segment });
                    segment.start = write_point(inst);
                }
            }
            cut.push(segment);
        }
        cut
    }

    /// Returns the accesses of a register, with the kinds that its rows require.
    pub(super) fn accesses(&self, register: VReg, accesses: Vec<Access>) -> Vec<Access> {
        let uses = self.uses.of(register);
        let mut found = Vec::with_capacity(accesses.len());
        for access in accesses {
            let at = uses.binary_search_by_key(&access.inst.0, |at| at.inst).map_or(RowUse::default(), |at| uses[at]);
            let read = if at.is_held { AccessKind::LateRead } else { AccessKind::Read };
            match access.kind {
                AccessKind::Read => found.push(Access { kind: read, ..access }),
                AccessKind::Update if at.is_taken => {
                    found.extend([read, AccessKind::LateWrite].map(|kind| Access { kind, ..access }));
                }
                _ if at.is_taken => found.push(Access { kind: AccessKind::LateWrite, ..access }),
                _ => found.push(access),
            }
        }
        found
    }

    /// Adds a tuple for each row, and its lanes.
    pub(super) fn add(
        &self,
        builder: &mut ProblemBuilder,
        (function, preset): (&Function, &Preset),
        classes: &[Class],
        range_of: &IndexVec<VReg, Option<LiveRange>>,
        frequencies: &IndexVec<Block, f64>,
    ) {
        let mut shapes: Vec<((u32, u32), Class)> = Vec::new();
        for row in &self.rows {
            let member = builder.class_data(classes[row.class as usize]).clone();
            let (width, align) = shape(row.kind, row.len, &member, preset);
            let class = shapes.iter().find(|(shape, _)| *shape == (width, align)).map(|&(_, class)| class);
            let class = class.unwrap_or_else(|| {
                let name = format!("tuple{width}x{align}").into();
                let bytes = row.len * member.bytes;
                let class = builder.class(ClassData { name, width, align, bytes, promotes_to: None, ..member });
                shapes.push(((width, align), class));
                class
            });
            let Row { inst, start, end, .. } = *row;
            let frequency = frequencies[function.block_of(inst)] as f32;
            let tuple = builder.range(class, [Segment { start, end, value: ValueNumber(0) }], []);
            for lane in &row.lanes {
                let Some(range) = range_of[lane.register] else { continue };
                let (offset, writes) = (lane.number * member.width, lane.writes);
                builder.lane(Lane { inst, tuple, offset, member: range, writes, frequency });
            }
        }
    }
}

/// Whether a segment begins at the instruction's write.
fn is_written(segment: &Segment, inst: Inst) -> bool {
    segment.start == write_point(inst) || (segment.start == read_point(inst) && segment.end > write_point(inst))
}

/// Whether a segment is live both before the instruction's reads and after its writes.
fn goes_through(segment: &Segment, inst: Inst) -> bool {
    segment.start <= read_point(inst) && segment.end > write_point(inst)
}

/// Returns the width in units of a row of `len` registers, and its alignment.
fn shape(kind: TupleKind, len: u32, member: &ClassData, preset: &Preset) -> (u32, u32) {
    let units = preset.units_per_register();
    let width = len * member.width;
    let most = match kind {
        TupleKind::Memory | TupleKind::Texture => u32::MAX,
        TupleKind::Matrix | TupleKind::TensorMemory => 4 * units,
        TupleKind::Warpgroup => 8 * units,
    };
    (width, width.next_power_of_two().min(most))
}

/// Returns the most hardware registers in a row; `None`: unlimited.
fn longest(kind: TupleKind, preset: &Preset) -> Option<u32> {
    match kind {
        TupleKind::Memory | TupleKind::TensorMemory => None,
        TupleKind::Texture => Some(2),
        TupleKind::Matrix => preset.matrix_tuple,
        TupleKind::Warpgroup => preset.warpgroup_tuple,
    }
}

/// Adds the rows of the operands. Operands form no row in four cases: they have registers of several classes, they are
/// 16-bit registers that occupy whole hardware registers, they are predicates, or their row would be wider than the
/// register limit.
fn add_rows(function: &Function, inst: Inst, tuple: &RegisterTuple, preset: &Preset, rows: &mut Vec<Row>) {
    let operands = function.operands(inst);
    let mut registers = tuple.operands.iter().filter_map(|&operand| operands[operand].reg());
    let Some(class) = registers.next().map(|register| function.class(register)) else { return };
    let halves = match class {
        RegClass::B32 | RegClass::B64 => class.words() * 2,
        RegClass::B16 if preset.packs_halves => 1,
        _ => return,
    };
    let of_operands =
        |wanted: fn(&Operand) -> bool| tuple.operands.iter().filter(|&&operand| wanted(&operands[operand])).count();
    let defs = of_operands(Operand::is_def);
    // A row of only tied reads is already part of the row of the writes to the same registers.
    let is_in_another = defs == 0 && of_operands(|operand| operand.tied.is_none() && operand.use_reg().is_some()) == 0;
    let is_mixed = defs > 0 && defs < tuple.operands.len();
    if is_mixed || is_in_another || registers.any(|register| function.class(register) != class) {
        return;
    }
    let longest = longest(tuple.kind, preset).map_or(usize::MAX, |words| (2 * words / halves).max(1) as usize);
    for part in tuple.operands.chunks(longest).filter(|part| part.len() > 1) {
        let row = row(function, inst, part, (tuple.kind, class));
        let is_taken = |lane: &RowLane| {
            let here = rows.iter().rev().take_while(|other| other.inst == inst);
            lane.writes
                && here.flat_map(|other| &other.lanes).any(|other| other.writes && other.register == lane.register)
        };
        let width = part.len() as u32 * halves;
        let fits = preset.register_limit.is_none_or(|register_limit| width.div_ceil(2) <= register_limit);
        if fits && !row.lanes.is_empty() && !row.lanes.iter().any(is_taken) {
            rows.push(row);
        }
    }
}

fn row(function: &Function, inst: Inst, part: &[usize], (kind, class): (TupleKind, RegClass)) -> Row {
    let operands = function.operands(inst);
    let mut lanes = Vec::new();
    let mut is_early = false;
    for (number, &operand) in (0..).zip(part) {
        if let Some(register) = operands[operand].def() {
            lanes.push(RowLane { number, operand, register, writes: true });
            is_early |= operands[operand].flags.contains(OperandFlags::EARLY_CLOBBER);
        }
        let tied = operands[operand].tied.map(usize::from).filter(|_| operands[operand].is_def());
        let operand = tied.unwrap_or(operand);
        if let Some(register) = operands.get(operand).and_then(Operand::use_reg) {
            lanes.push(RowLane { number, operand, register, writes: false });
        }
    }
    let is_read = lanes.iter().any(|lane| !lane.writes);
    let is_written = lanes.iter().any(|lane| lane.writes);
    let start = match (is_read, is_early) {
        (true, _) => tuple_point(inst),
        (false, true) => read_point(inst),
        (false, false) => write_point(inst),
    };
    let end = if is_written { lane_point(inst) } else { write_point(inst) };
    Row { inst, start, end, kind, class, len: part.len() as u32, lanes }
}

/// Records how each register of the instruction is used: in one of its rows, or outside them.
fn add_uses(function: &Function, inst: Inst, rows: &[Row], uses: &mut Vec<(VReg, RowUse)>) {
    if rows.is_empty() {
        return;
    }
    let of = RowUse { inst: inst.0, ..RowUse::default() };
    let lanes = rows.iter().flat_map(|row| &row.lanes);
    let mut of_lanes: Vec<(VReg, RowUse)> = lanes
        .clone()
        .map(|lane| (lane.register, RowUse { is_put: !lane.writes, is_taken: lane.writes, ..of }))
        .collect();
    if rows.iter().any(|row| row.start == tuple_point(inst)) {
        let operands = function.operands(inst);
        let mut is_put = vec![false; operands.len()];
        lanes.filter(|lane| !lane.writes).for_each(|lane| is_put[lane.operand] = true);
        let beside = operands.iter().zip(is_put).filter(|(_, is_put)| !is_put);
        let held = beside.filter_map(|(operand, _)| operand.use_reg());
        of_lanes.extend(held.map(|register| (register, RowUse { is_held: true, ..of })));
    }
    of_lanes.sort_by_key(|&(register, _)| register);
    for same in of_lanes.chunk_by(|(a, _), (b, _)| a == b) {
        let any = |wanted: fn(&RowUse) -> bool| same.iter().any(|(_, at)| wanted(at));
        let (is_put, is_held, is_taken) = (any(|at| at.is_put), any(|at| at.is_held), any(|at| at.is_taken));
        uses.push((same[0].0, RowUse { is_put, is_held, is_taken, ..of }));
    }
}
