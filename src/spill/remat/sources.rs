//! The registers that a definition reads, and the places at which a clone of it would read the same values.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::analysis::pressure::instructions;
use crate::analysis::{LiveRanges, Occurrences, Point};
use crate::function::ptx_opcode::equivalent;
use crate::function::{Function, Inst, Operand, VReg};

/// Returns the registers that an instruction reads.
pub(crate) fn sources(function: &Function, inst: Inst) -> impl Iterator<Item = VReg> {
    function.operands(inst).iter().filter(|operand| !operand.is_def()).filter_map(Operand::reg)
}

/// Returns the register that an instruction with one definition writes.
pub(super) fn result(function: &Function, inst: Inst) -> Option<VReg> {
    function.operands(inst).iter().find_map(Operand::def)
}

/// Whether all sources of a definition have the same values at the place of a clone, and are live there anyway.
pub(crate) fn has_sources(function: &Function, live: &LiveRanges, definition: Inst, at: Inst) -> bool {
    sources(function, definition).all(|source| is_at_hand(live, source, definition, at))
}

/// Whether a register is live at a place and has the same value as at a definition that reads it.
pub(super) fn is_at_hand(live: &LiveRanges, source: VReg, definition: Inst, at: Inst) -> bool {
    let value = |inst| live.value_at(source, Point::early(inst));
    value(at).is_some() && value(at) == value(definition)
}

/// Returns how many words of a register are read: 1 for a 64-bit register if all readers take only the low half.
pub(super) fn words_read(function: &Function, occurrences: &Occurrences, reg: VReg) -> u32 {
    let words = function.class(reg).words();
    match words {
        2 if occurrences.of(reg).iter().all(|one| one.is_def() || takes_low_half(function, one.inst)) => 1,
        _ => words,
    }
}

/// Whether an instruction reads only the low half of its operand.
pub(super) fn takes_low_half(function: &Function, inst: Inst) -> bool {
    LOW_HALVES.contains(&&*name_in_llvm(function, inst))
}

/// Returns LLVM's name of an instruction's operation.
pub(super) fn name_in_llvm(function: &Function, inst: Inst) -> Cow<'_, str> {
    let name = function.opcodes().name(function.opcode(inst));
    equivalent(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Conversions that read 32 bits of their operand.
const LOW_HALVES: [&str; 5] = ["CVT_u32_u64", "CVT_s32_s64", "CVT_u64_u32", "CVT_s64_s32", "CVT_INREG_s64_s32"];

/// The additional instructions at which registers are live because clones read them.
#[derive(Default)]
pub(super) struct Extensions(FxHashMap<VReg, Vec<Range<u32>>>);

impl Extensions {
    /// Returns the parts of `stretches` in which a register is live neither by itself nor for chosen clones.
    pub(super) fn missing(&self, live: &LiveRanges, reg: VReg, stretches: &[Range<u32>]) -> Vec<Range<u32>> {
        let mut is_read_by_clones: Vec<Range<u32>> = live.segments(reg).iter().map(instructions).collect();
        is_read_by_clones.extend(self.0.get(&reg).into_iter().flatten().cloned());
        is_read_by_clones.sort_unstable_by_key(|range| range.start);
        let mut missing = Vec::new();
        for stretch in stretches {
            let mut at = stretch.start;
            for range in is_read_by_clones.iter().filter(|range| range.start < stretch.end && stretch.start < range.end)
            {
                if at < range.start {
                    missing.push(at..range.start);
                }
                at = at.max(range.end);
            }
            if at < stretch.end {
                missing.push(at..stretch.end);
            }
        }
        missing
    }

    /// Makes a register live in some ranges.
    pub(super) fn add(&mut self, reg: VReg, ranges: Vec<Range<u32>>) {
        self.0.entry(reg).or_default().extend(ranges);
    }
}
