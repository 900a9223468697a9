//! Values that are live at the point of highest pressure.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::curve::covered;
use super::pressure::Pressure;
use crate::analysis::{ValueDef, ValueNumber};
use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::footprint::words::Word;
use crate::function::{Function, Inst, Slot, VReg};

/// The point of highest pressure in a function.
#[derive(Clone, Debug)]
pub struct Peak {
    /// Instruction of the code [without dead code](crate::forecast::without_dead_code). All places here except `place`
    /// refer to that code.
    pub inst: Inst,
    /// Source line of the instruction, or of the last instruction before it in its block that has a line; 0 if none
    /// has.
    pub line: u32,
    /// Instruction with this line, in the function as given, dead code included.
    pub place: Option<Inst>,
    /// Number of live words.
    pub words: u32,
    /// Live values. Values with most words come first, then in the order of the code. Empty if only the figures were
    /// requested.
    pub live: Vec<LiveValue>,
}

/// A value that occupies registers at the peak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveValue {
    /// Register of PTX, or stack variable in registers.
    pub holder: Holder,
    /// Source variable, if LLVM knows it.
    pub name: Option<String>,
    /// Source line that computes the value; 0 if unknown.
    pub line: u32,
    /// 32-bit words of the value that no earlier value of the list has.
    pub words: u32,
    /// Whether ptxas keeps the value in uniform registers.
    pub is_uniform: bool,
    /// Instructions at which the register is live, in layout order. Ranges that are less than a step of the
    /// [curve](super::curve::Curve) apart are joined.
    pub ranges: Vec<Range<Inst>>,
}

/// Owner of a live value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// A register of PTX.
    Register(VReg),
    /// A stack variable, by its number in the function.
    StackVariable(Slot),
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(reg) => reg.fmt(f),
            Self::StackVariable(slot) => slot.fmt(f),
        }
    }
}

impl Peak {
    /// Finds the instruction alone, without the values that are live there. O(instructions).
    pub(in crate::forecast) fn new(function: &Function, pressure: &Pressure) -> Self {
        let (point, words) = pressure.peak();
        let last = Inst(function.num_insts().saturating_sub(1) as u32);
        let inst = point.inst().min(last);
        let place = if function.num_insts() == 0 { None } else { place_of_line(function, inst) };
        let line = place.map_or(0, |place| function.line(place));
        Self { inst, line, place, words, live: Vec::new() }
    }

    /// Finds the values that are live at the peak. O(registers, and the segments of the listed registers).
    pub(in crate::forecast) fn find_live(
        &mut self,
        function: &Function,
        footprint: &RegisterFootprint,
        pressure: &Pressure,
    ) {
        let (point, _) = pressure.peak();
        let live = &mut self.live;
        let mut told: Vec<Word> = Vec::new();
        for reg in function.regs() {
            let segments = footprint.ranges.segments(reg);
            // Most registers are not live near the peak.
            if segments.first().is_none_or(|first| first.start > point)
                || segments.last().is_none_or(|last| last.end <= point)
            {
                continue;
            }
            let Some(value) = footprint.ranges.value_at(reg, point) else { continue };
            // A pair may contain one word twice.
            let before = told.len();
            for word in footprint.words.occupied(reg) {
                if !told.contains(&word) {
                    told.push(word);
                }
            }
            let words = (told.len() - before) as u32;
            if words == 0 {
                continue;
            }
            let (name, line) = (function.reg_name(reg).map(str::to_owned), line_of(function, footprint, reg, value));
            let is_uniform = footprint.uniform_registers.has(reg);
            let ranges = covered(function, segments.iter().map(|segment| (segment.start, segment.end)));
            live.push(LiveValue { holder: Holder::Register(reg), name, line, words, is_uniform, ranges });
        }
        for (slot, words) in footprint.promotion.promoted_at(point) {
            let line = often_run_line(function, footprint.promotion.stores_to(slot));
            let ranges = covered(function, footprint.promotion.stretches_of(slot));
            let holder = Holder::StackVariable(slot);
            let name = function.slot(slot).name.as_deref().map(str::to_owned);
            live.push(LiveValue { holder, name, line, words, is_uniform: false, ranges });
        }
        live.sort_by_key(|value| (Reverse(value.words), value.line, value.holder));
    }

    /// Returns the values by the line that computes them, with the words of each line. Lines with most words come
    /// first, then in the order of the source. Line 0 has the values without a known line.
    pub fn by_line(&self) -> Vec<(u32, u32, Vec<&LiveValue>)> {
        let mut by_line: BTreeMap<u32, Vec<&LiveValue>> = BTreeMap::new();
        for value in &self.live {
            by_line.entry(value.line).or_default().push(value);
        }
        let words = |values: &[&LiveValue]| values.iter().map(|value| value.words).sum();
        let mut lines: Vec<(u32, u32, Vec<&LiveValue>)> =
            by_line.into_iter().map(|(line, values)| (line, words(&values), values)).collect();
        lines.sort_by_key(|&(line, words, _)| (Reverse(words), line));
        lines
    }
}

/// Returns the instruction, or the last instruction before it in its block, that has a source line.
fn place_of_line(function: &Function, inst: Inst) -> Option<Inst> {
    let start = function.block_range(function.block_of(inst)).start;
    (start.0..=inst.0).rev().map(Inst).find(|&at| function.line(at) != 0)
}

/// Returns the source line that computes a value. If several definitions meet in the value, as in accumulators and loop
/// counters, or a copy without a line writes it, the line is that of the register's most frequent definition.
fn line_of(function: &Function, footprint: &RegisterFootprint, reg: VReg, value: ValueNumber) -> u32 {
    if let ValueDef::Inst { inst, .. } = footprint.ranges.value_def(value)
        && function.line(inst) != 0
    {
        return function.line(inst);
    }
    let definitions = footprint.occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def());
    often_run_line(function, definitions.map(|definition| definition.inst))
}

/// Returns the source line of the most frequent instruction among those with a line; 0 if none has.
fn often_run_line(function: &Function, insts: impl Iterator<Item = Inst>) -> u32 {
    let with_line = insts.filter(|&inst| function.line(inst) != 0);
    let frequency = |inst: &Inst| function.frequency(function.block_of(*inst));
    with_line.max_by(|a, b| frequency(a).total_cmp(&frequency(b))).map_or(0, |inst| function.line(inst))
}
