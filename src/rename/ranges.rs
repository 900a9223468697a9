//! Segments in which each register is occupied.

use crate::analysis::{Cfg, Dominators, Grouping, LiveRanges, Occurrences, Point, Segment, ValueDef};
use crate::function::{Effects, Function, Inst, RegClass, VReg};
use crate::target::{Asynchrony, asynchrony};

/// Live ranges of all registers that occur.
#[derive(Debug)]
pub(super) struct Ranges {
    /// Registers that occur, in order.
    pub(super) registers: Vec<VReg>,
    segments: Grouping<VReg, Segment>,
    live: LiveRanges,
    occurrences: Occurrences,
}

impl Ranges {
    /// Computes the live ranges. An output of inline assembly is occupied from the point at which the assembly reads
    /// its inputs. Assembly with several instructions may write an output before it reads all inputs. Such outputs
    /// should be marked with `&`, but authors may have left out this mark if their compiler never lets an output share
    /// an input's register.
    pub(super) fn new(function: &Function) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let occurrences = Occurrences::new(function, &|_| true);
        let registers: Vec<VReg> = function.regs().filter(|&reg| !occurrences.of(reg).is_empty()).collect();
        let live = LiveRanges::new(function, &cfg, &dominators, &occurrences, &registers);
        let mut segments = Vec::with_capacity(registers.len());
        for &reg in &registers {
            let mut before = Point(0);
            for &segment in live.segments(reg) {
                let start = match live.value_def(segment.value) {
                    ValueDef::Inst { inst, .. }
                        if segment.start == Point::late(inst) && is_assembly(function, inst) =>
                    {
                        Point::early(inst).max(before)
                    }
                    _ => segment.start,
                };
                segments.push((reg, Segment { start, ..segment }));
                before = segment.end;
            }
        }
        let segments = Grouping::new(function.num_regs(), segments.iter().copied());
        Self { registers, segments, live, occurrences }
    }

    /// Whether a register may share its name. A register of a debug value may not: a debugger would show the variable
    /// with the value of the next register of the same name.
    ///
    /// A shared name has several definitions. Some shared names make ptxas decide otherwise than for separate registers
    /// with one definition each, and add moves. These are names that are live across blocks, and operands of a matrix
    /// instruction or of inline assembly. Other shared names seldom affect ptxas. If `anyhow` is set, the names that
    /// affect ptxas are also shared.
    ///
    /// The exception is an asynchronous instruction. It uses its registers until another instruction waits for it, so
    /// no other instruction may write them before that.
    pub(super) fn may_share(&self, function: &Function, reg: VReg, anyhow: bool) -> bool {
        let is_observed = !self.occurrences.debug_uses(reg).is_empty();
        let is_live_across_blocks = !self.live.live_ins(reg).is_empty();
        let is_bound = || self.occurrences.of(reg).iter().any(|occurrence| binds(function, occurrence.inst));
        let goes_on = |inst: Inst| asynchrony(function, inst) == Some(Asynchrony::Starts);
        let is_in_use = || self.occurrences.of(reg).iter().any(|occurrence| goes_on(occurrence.inst));
        !is_observed && (!(is_live_across_blocks || is_bound()) || anyhow && !is_in_use())
    }

    /// Returns the number of occurrences of a register.
    pub(super) fn num_occurrences(&self, reg: VReg) -> usize {
        self.occurrences.of(reg).len()
    }

    /// Returns the segments of a register; empty if no value of the register is read and none is written.
    pub(super) fn segments(&self, reg: VReg) -> &[Segment] {
        self.segments.of(reg)
    }

    /// Returns the registers of a class, in order.
    pub(super) fn of_class(&self, function: &Function, class: RegClass) -> impl Iterator<Item = VReg> {
        self.registers.iter().copied().filter(move |&reg| function.class(reg) == class)
    }
}

/// Whether an instruction restricts the names of its operands. This includes inline assembly without side effects,
/// because it may write only a part of a register, or write it under a predicate. The previous value of the name then
/// seems to be still needed.
fn binds(function: &Function, inst: Inst) -> bool {
    let effects = Effects::CONVERGENT | Effects::CALL_SEQUENCE | Effects::OPAQUE;
    function.effects(inst).intersects(effects) || is_assembly(function, inst)
}

fn is_assembly(function: &Function, inst: Inst) -> bool {
    matches!(function.opcodes().name(function.opcode(inst)), "INLINEASM" | "INLINEASM_BR")
}
