//! Where each register is occupied.

use std::ops::Range;

use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences, Point, Segment, ValueDef};
use crate::function::{Effects, Function, Inst, RegClass, VReg};
use crate::index::IndexVec;

/// The live ranges of all registers that occur.
#[derive(Debug)]
pub(super) struct Ranges {
    /// The registers that occur, in order.
    pub(super) registers: Vec<VReg>,
    segments: Vec<Segment>,
    of_register: IndexVec<VReg, Range<u32>>,
    /// Registers that are named by a debug value: a debugger looks there for as long as the name holds something.
    is_observed: IndexVec<VReg, bool>,
    is_live_across_blocks: IndexVec<VReg, bool>,
    /// Operands of instructions of the whole warp (matrix instructions above all), of calls and of inline assembly.
    is_bound: IndexVec<VReg, bool>,
    occurrences: Occurrences,
}

impl Ranges {
    /// Finds them: liveness, but that what inline assembly writes is occupied from where it reads: several instructions
    /// may stand in it, and people who wrote for a compiler that never lets an output share an input's register have left
    /// out the `&` that says so.
    pub(super) fn new(function: &Function) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let occurrences = Occurrences::new(function, &|_| true);
        let registers: Vec<VReg> = function.regs().filter(|&reg| !occurrences.of(reg).is_empty()).collect();
        let live = LiveRanges::new(function, &cfg, &dominators, &occurrences, &registers);
        let mut this = Self {
            registers,
            segments: Vec::new(),
            of_register: IndexVec::filled(0..0, function.num_regs()),
            is_observed: function.regs().map(|reg| !occurrences.debug_uses(reg).is_empty()).collect(),
            is_live_across_blocks: function.regs().map(|reg| !live.live_ins(reg).is_empty()).collect(),
            is_bound: function
                .regs()
                .map(|reg| occurrences.of(reg).iter().any(|it| binds(function, it.inst)))
                .collect(),
            occurrences,
        };
        for &reg in &this.registers {
            let first = this.segments.len();
            for &segment in live.segments(reg) {
                let before = this.segments[first..].last().map_or(Point(0), |before| before.end);
                let start = match live.value_def(segment.value) {
                    ValueDef::Inst { inst, .. }
                        if segment.start == Point::late(inst) && is_assembly(function, inst) =>
                    {
                        Point::early(inst).max(before)
                    }
                    _ => segment.start,
                };
                this.segments.push(Segment { start, ..segment });
            }
            this.of_register[reg] = first as u32..this.segments.len() as u32;
        }
        this
    }

    /// Whether a register may share its name. One that a debug value names may not: the variable would be shown with what
    /// the next one of that name holds.
    ///
    /// Where a name with several definitions, as a shared one has, is live across blocks, or is an operand of a matrix
    /// instruction or of inline assembly, ptxas decides otherwise than for as many registers with one definition each, and
    /// adds moves. Other names it does not notice. `anyhow` says that it may.
    pub(super) fn may_share(&self, reg: VReg, anyhow: bool) -> bool {
        !self.is_observed[reg] && (anyhow || !(self.is_live_across_blocks[reg] || self.is_bound[reg]))
    }

    /// How often a register is named.
    pub(super) fn num_occurrences(&self, reg: VReg) -> usize {
        self.occurrences.of(reg).len()
    }

    /// The segments of a register; none where nothing that it holds is read, and nothing is written.
    pub(super) fn segments(&self, reg: VReg) -> &[Segment] {
        let range = &self.of_register[reg];
        &self.segments[range.start as usize..range.end as usize]
    }

    /// The registers of a class, in order.
    pub(super) fn of_class(&self, function: &Function, class: RegClass) -> impl Iterator<Item = VReg> {
        self.registers.iter().copied().filter(move |&reg| function.class(reg) == class)
    }
}

/// Whether an instruction binds its operands. Inline assembly without side effects does too: it may write a register under
/// a predicate, in parts, and then what the name held before seems to be wanted still.
fn binds(function: &Function, inst: Inst) -> bool {
    let effects = Effects::CONVERGENT | Effects::CALL_SEQUENCE | Effects::OPAQUE;
    function.effects(inst).intersects(effects) || is_assembly(function, inst)
}

fn is_assembly(function: &Function, inst: Inst) -> bool {
    matches!(function.opcodes().name(function.opcode(inst)), "INLINEASM" | "INLINEASM_BR")
}
