//! Who holds the registers where the most are held.

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

/// Where the most words are live in a function.
#[derive(Clone, Debug)]
pub struct Peak {
    /// The instruction, of the code [without what is needless](crate::forecast::without_dead_code), as all places here but
    /// `place`.
    pub inst: Inst,
    /// Its source line, or that of the last one before it in its block that has one; 0 where none has.
    pub line: u32,
    /// The instruction of the function that has this line.
    pub place: Option<Inst>,
    /// How many words are live.
    pub words: u32,
    /// The values that they belong to; those with most words first, then in the order of the code. None where only the
    /// figures were asked for.
    pub live: Vec<LiveValue>,
}

/// A value that takes registers at the peak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveValue {
    /// The register of PTX, or the stack variable that is held in registers.
    pub holder: Holder,
    /// The source variable, where LLVM knows it.
    pub name: Option<String>,
    /// The source line where it is computed; 0 where unknown.
    pub line: u32,
    /// How many 32-bit words it holds that no value before it in the list holds too.
    pub words: u32,
    /// ptxas keeps it in uniform registers.
    pub is_uniform: bool,
    /// Where its register is live, in layout order; what is less than a step of the [curve](super::curve::Curve) apart is one.
    pub ranges: Vec<Range<Inst>>,
}

/// What takes registers.
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
    /// The place alone, which stands for all that is live there. O(instructions).
    pub(in crate::forecast) fn new(function: &Function, pressure: &Pressure) -> Self {
        let (point, words) = pressure.peak();
        let last = Inst(function.num_insts().saturating_sub(1) as u32);
        let inst = point.inst().min(last);
        let place = if function.num_insts() == 0 { None } else { place_of_line(function, inst) };
        let line = place.map_or(0, |place| function.line(place));
        Self { inst, line, place, words, live: Vec::new() }
    }

    /// Finds the values that are live there. O(registers, and the segments of those that are listed).
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
            // Most live nowhere near.
            if segments.first().is_none_or(|first| first.start > point)
                || segments.last().is_none_or(|last| last.end <= point)
            {
                continue;
            }
            let Some(value) = footprint.ranges.value_at(reg, point) else { continue };
            // A pair may hold one word twice.
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

    /// The values by the line that computes them, with the words of each line; lines with most words first, then in the
    /// order of the source. Line 0 has those of which the line is unknown.
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

/// The instruction, or the last before it in its block, that has a source line.
fn place_of_line(function: &Function, inst: Inst) -> Option<Inst> {
    let start = function.block_range(function.block_of(inst)).start;
    (start.0..=inst.0).rev().map(Inst).find(|&at| function.line(at) != 0)
}

/// The source line where a value is made. Of one that several definitions meet in, as accumulators and counters of
/// loops do, or that a copy without a line makes: the line of the register's definition that runs most often.
fn line_of(function: &Function, footprint: &RegisterFootprint, reg: VReg, value: ValueNumber) -> u32 {
    if let ValueDef::Inst { inst, .. } = footprint.ranges.value_def(value)
        && function.line(inst) != 0
    {
        return function.line(inst);
    }
    let definitions = footprint.occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def());
    often_run_line(function, definitions.map(|definition| definition.inst))
}

/// The source line of the instruction that runs most often, of those that have one; 0 where none has.
fn often_run_line(function: &Function, insts: impl Iterator<Item = Inst>) -> u32 {
    let with_line = insts.filter(|&inst| function.line(inst) != 0);
    let frequency = |inst: &Inst| function.frequency(function.block_of(*inst));
    with_line.max_by(|a, b| frequency(a).total_cmp(&frequency(b))).map_or(0, |inst| function.line(inst))
}
