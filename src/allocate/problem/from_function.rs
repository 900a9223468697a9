//! The problem of a machine function.

use std::ops::Range;

use super::from_costs::{RangeContext, set_costs};
use super::from_loops::add_loops;
use super::from_tuples::Rows;
use super::{Access, AccessKind, Class, ClassData, CopyInst, File, FileData, LiveRange, Problem, ProblemBuilder};
use super::{clobber_point, read_point, write_point};
use crate::allocate::preset::Preset;
use crate::analysis::{
    Cfg, Dominators, LiveRanges, Occurrence, Occurrences, Point, Segment, UniformityInfo, ValueNumber,
    block_frequencies, with_turns,
};
use crate::error::Error;
use crate::function::{Block, Function, Inst, RegClass, Role, VReg};
use crate::index::IndexVec;
use crate::target::Classification;

impl Problem {
    /// Creates the problem of a function whose opcodes are known only by their names.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn by_name(function: &Function, preset: &Preset) -> Result<Self, Error> {
        Self::from_function(function, &Classification::by_name(function.opcodes()), preset)
    }

    /// Creates the problem of a function that has left SSA form, for the hardware that `preset` describes.
    ///
    /// Registers without a PTX class are left out. O(n log n) in the operands and the blocks in which registers are
    /// live.
    pub fn from_function(function: &Function, classification: &Classification, preset: &Preset) -> Result<Self, Error> {
        if function.insts().any(|inst| function.role(inst) == Role::Phi) {
            return Err(Error::pass("the function is in SSA form", "allocate after PHI elimination"));
        }
        Ok(Self::of_registers((function, classification), preset, &|_| true, &|_| true))
    }

    /// Creates the problem of the registers for which `takes_part` holds, in a function that has left SSA form.
    /// Registers for which `may_spill` does not hold must have a register of the hardware.
    pub(crate) fn of_registers(
        (function, classification): (&Function, &Classification),
        preset: &Preset,
        takes_part: &dyn Fn(VReg) -> bool,
        may_spill: &dyn Fn(VReg) -> bool,
    ) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let is_allocated = |reg: VReg| function.class(reg) != RegClass::Other && takes_part(reg);
        let occurrences = Occurrences::new(function, &is_allocated);
        let registers: Vec<VReg> = function.regs().filter(|&reg| !occurrences.of(reg).is_empty()).collect();
        let live_ranges = LiveRanges::new(function, &cfg, &dominators, &occurrences, &registers);

        let rows = Rows::new(function, preset);
        let mut builder = ProblemBuilder::new(function.name());
        let classes = add_classes(&mut builder, preset);
        let mut frequencies = block_frequencies(function, &cfg, &dominators);
        if let Some(turns) = preset.estimated_turns {
            frequencies = with_turns(function, (&cfg, &dominators), &frequencies, turns);
        }
        add_loops(&mut builder, function, (&cfg, &dominators), &frequencies);
        let (occurrences, live_ranges) = (&occurrences, &live_ranges);
        let lowering = Lowering { function, classification, occurrences, live_ranges, frequencies };
        let mut range_of: IndexVec<VReg, Option<LiveRange>> = IndexVec::filled(None, function.num_regs());
        builder.reserve(registers.len(), registers.len(), 2 * registers.len());
        for &reg in &registers {
            let class = classes[function.class(reg) as usize];
            let range = if rows.concerns(reg) {
                let segments = rows.segments(reg, lowering.segments(reg));
                builder.range(class, segments, rows.accesses(reg, lowering.accesses(reg)))
            } else {
                builder.range(class, lowering.segments(reg), lowering.accesses(reg))
            };
            builder.register(range, reg);
            range_of[reg] = Some(range);
        }
        lowering.add_flow(&mut builder, &range_of);
        lowering.add_copies(&mut builder, &range_of);
        rows.add(&mut builder, (function, preset), &classes, &range_of, &lowering.frequencies);
        if let Some(caller_saved) = &preset.caller_saved {
            lowering.add_clobbers(&mut builder, caller_saved, preset);
        }
        if let Some(reserved) = &preset.reserved {
            lowering.add_reserved(&mut builder, reserved, preset);
        }
        let mut problem = builder.finish();
        // The view does not show whether the function is a kernel: its parameters may differ between threads.
        let uniformity =
            UniformityInfo::new((function, classification), &cfg, &dominators, occurrences, live_ranges, false);
        let registers: IndexVec<LiveRange, Option<VReg>> = problem.ranges.iter().map(|data| data.register).collect();
        set_costs(&mut problem, preset, |range| {
            registers[range].map(|reg| RangeContext {
                loop_depth: lowering.loop_depth(reg),
                is_uniform: uniformity.is_uniform(reg),
            })
        });
        for range in problem.ranges.ids() {
            if problem.ranges[range].register.is_some_and(|reg| !may_spill(reg)) {
                problem.ranges[range].spill_cost = f32::INFINITY;
            }
        }
        problem
    }
}

/// Adds the files and classes of a preset. Returns the classes in the order of [`RegClass::ALL`].
fn add_classes(builder: &mut ProblemBuilder, preset: &Preset) -> Vec<Class> {
    let units = preset.units_per_register();
    let register_limit = preset.register_limit.map(|register_limit| register_limit.saturating_mul(units));
    let general = builder.file(FileData { name: "R".into(), register_limit, units_per_register: units });
    let predicates =
        builder.file(FileData { name: "P".into(), register_limit: preset.predicates, units_per_register: 1 });
    let mut class = |class: RegClass, file: File, width: u32| {
        let bytes = class.bits().div_ceil(8).max(4);
        builder.class(ClassData { name: class.name().into(), file, width, align: width, bytes, promotes_to: None })
    };
    let words = |class: RegClass| class.words() * units;
    let half = if preset.packs_halves { 1 } else { words(RegClass::B16) };
    let classes = vec![
        class(RegClass::B1, predicates, 1),
        class(RegClass::B16, general, half),
        class(RegClass::B32, general, words(RegClass::B32)),
        class(RegClass::B64, general, words(RegClass::B64)),
        class(RegClass::B128, general, words(RegClass::B128)),
    ];
    for (narrow, wide) in [(1, 2), (2, 3)] {
        builder.promote(classes[narrow], classes[wide]);
    }
    classes
}

/// Adds a class for registers of the hardware that are taken from the start.
fn fixed_class(builder: &mut ProblemBuilder, name: &str, registers: &Range<u32>, preset: &Preset) -> Class {
    let width = registers.len() as u32 * preset.units_per_register();
    builder.class(ClassData { name: name.into(), file: File(0), width, align: 1, bytes: 0, promotes_to: None })
}

struct Lowering<'a> {
    function: &'a Function,
    classification: &'a Classification,
    occurrences: &'a Occurrences,
    live_ranges: &'a LiveRanges,
    frequencies: IndexVec<Block, f64>,
}

impl Lowering<'_> {
    fn segments(&self, reg: VReg) -> impl Iterator<Item = Segment> {
        self.live_ranges.segments(reg).iter().map(|segment| Segment {
            start: start_of(segment.start),
            end: end_of(segment.end),
            value: segment.value,
        })
    }

    /// Returns the accesses of a register. An instruction has one access for its reads and one for its writes, or a
    /// single access for both.
    fn accesses(&self, reg: VReg) -> Vec<Access> {
        let mut accesses: Vec<Access> = Vec::new();
        for occurrence in self.occurrences.of(reg) {
            let Some(kind) = self.kind(reg, occurrence) else { continue };
            let frequency = self.frequencies[occurrence.block] as f32;
            match accesses.last_mut() {
                Some(last) if last.inst == occurrence.inst && last.writes() == (kind != AccessKind::Read) => {}
                Some(last) if last.inst == occurrence.inst && kind == AccessKind::Update => last.kind = kind,
                _ => accesses.push(Access { inst: occurrence.inst, kind, frequency }),
            }
        }
        accesses
    }

    fn kind(&self, reg: VReg, occurrence: &Occurrence) -> Option<AccessKind> {
        if !occurrence.is_def() {
            return occurrence.is_use().then_some(AccessKind::Read);
        }
        let operands = self.function.operands(occurrence.inst);
        let tied = operands[occurrence.operand as usize].tied.and_then(|tied| operands.get(tied as usize));
        Some(match tied {
            Some(source) if source.use_reg() == Some(reg) => AccessKind::Update,
            _ if occurrence.is_early_clobber() => AccessKind::EarlyWrite,
            _ => AccessKind::Write,
        })
    }

    fn add_flow(&self, builder: &mut ProblemBuilder, range_of: &IndexVec<VReg, Option<LiveRange>>) {
        for block in self.function.blocks() {
            builder.block(self.function.block_range(block), self.function.succs(block).to_vec());
        }
        let is_known = |inst: Inst| {
            let mut defs = self.function.operands(inst).iter().filter(|operand| operand.is_def());
            defs.all(|def| def.def().is_some_and(|reg| range_of[reg].is_some()))
        };
        for inst in self.function.insts().filter(|&inst| self.function.effects(inst).is_pure() && is_known(inst)) {
            builder.pure(inst);
        }
    }

    fn add_copies(&self, builder: &mut ProblemBuilder, range_of: &IndexVec<VReg, Option<LiveRange>>) {
        for block in self.function.blocks() {
            for inst in self.function.block_insts(block) {
                let Some((to, from)) = self.function.as_copy(inst) else { continue };
                let is_undefined = self.function.operands(inst)[1].use_reg().is_none();
                if let (Some(to), Some(from), false) = (range_of[to], range_of[from], is_undefined || to == from) {
                    builder.copy(CopyInst { inst, to, from, frequency: self.frequencies[block] as f32 });
                }
            }
        }
    }

    /// Adds a live range for the clobbers of each call.
    fn add_clobbers(&self, builder: &mut ProblemBuilder, caller_saved: &Range<u32>, preset: &Preset) {
        let mut class = None;
        for inst in self.calls() {
            let class = *class.get_or_insert_with(|| fixed_class(builder, "clobbered", caller_saved, preset));
            let (start, value) = (clobber_point(inst), ValueNumber(u32::MAX));
            let clobbered = builder.range(class, [Segment { start, end: start.next(), value }], []);
            builder.fix(clobbered, caller_saved.start * preset.units_per_register());
        }
    }

    /// Adds a live range for reserved registers. Its segments leave out the moments at which calls clobber.
    fn add_reserved(&self, builder: &mut ProblemBuilder, reserved: &Range<u32>, preset: &Preset) {
        let class = fixed_class(builder, "reserved", reserved, preset);
        let (mut segments, mut start, value) = (Vec::new(), Point(0), ValueNumber(u32::MAX));
        for inst in self.calls().filter(|_| preset.caller_saved.is_some()) {
            let clobbered = clobber_point(inst);
            segments.push(Segment { start, end: clobbered, value });
            start = clobbered.next();
        }
        segments.push(Segment { start, end: read_point(Inst(self.function.num_insts() as u32 + 1)), value });
        let range = builder.range(class, segments, []);
        builder.fix(range, reserved.start * preset.units_per_register());
    }

    fn calls(&self) -> impl Iterator<Item = Inst> + '_ {
        self.function.insts().filter(|&inst| self.classification.is_call(self.function, inst))
    }

    /// Returns the loop depth of the blocks in which a register is live, weighted by their frequencies.
    fn loop_depth(&self, reg: VReg) -> f32 {
        let live_in = self.live_ranges.live_ins(reg).iter().map(|live_in| live_in.block);
        let written = self.occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def());
        let (mut depth, mut total) = (0.0, 0.0);
        for block in live_in.chain(written.map(|occurrence| occurrence.block)) {
            depth += self.frequencies[block] * f64::from(self.function.loop_depth(block));
            total += self.frequencies[block];
        }
        if total > 0.0 { (depth / total) as f32 } else { 0.0 }
    }
}

/// Converts a start. In a function's live ranges, reads are at even points and writes at odd points.
fn start_of(point: Point) -> Point {
    if point.0.is_multiple_of(2) { read_point(point.inst()) } else { write_point(point.inst()) }
}

/// Converts an end. A segment that ends at an instruction's write is read by that instruction for the last time, so it
/// ends before clobbers of calls.
fn end_of(point: Point) -> Point {
    if point.0.is_multiple_of(2) { read_point(point.inst()) } else { clobber_point(point.inst()) }
}
