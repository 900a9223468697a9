//! The pressure along the code, in few numbers for code of any length.

use std::ops::Range;

use super::pressure::Pressure;
use crate::analysis::Point;
use crate::function::{Function, Inst};

/// Most steps of a curve: a step for each pixel of a drawing is enough.
pub const MAX_STEPS: u32 = 512;

/// Live words along the code. Each step covers the same number of instructions, in layout order. The last step may be
/// shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Instructions of a step, 1 or more; 1 for functions of at most [`MAX_STEPS`] instructions.
    pub stride: u32,
    /// Most 32-bit words live at an instruction of each step. At most [`MAX_STEPS`] entries; empty for a function
    /// without instructions.
    pub words: Vec<u32>,
}

impl Curve {
    /// Returns a curve without steps. Only the length of a step is set.
    pub(in crate::forecast) fn none(function: &Function) -> Self {
        Self { stride: stride(function), words: Vec::new() }
    }

    /// Computes the curve of a function. O(instructions).
    pub(in crate::forecast) fn new(function: &Function, pressure: &Pressure) -> Self {
        let insts = function.num_insts() as u32;
        let stride = stride(function);
        let step = |first| (first..insts.min(first + stride)).map(|inst| pressure.at(Inst(inst))).max().unwrap_or(0);
        Self { stride, words: (0..insts).step_by(stride as usize).map(step).collect() }
    }
}

/// Returns the instructions that point ranges cover, in order. Ranges are joined if less than a step of the curve lies
/// between them.
pub(in crate::forecast) fn covered(
    function: &Function,
    stretches: impl Iterator<Item = (Point, Point)>,
) -> Vec<Range<Inst>> {
    let stride = stride(function);
    let mut covered: Vec<Range<Inst>> = Vec::new();
    for (start, end) in stretches {
        let (start, end) = (start.inst(), Inst(end.0.div_ceil(2)));
        match covered.last_mut() {
            Some(last) if start.0 < last.end.0 + stride => last.end = last.end.max(end),
            _ => covered.push(start..end),
        }
    }
    covered
}

fn stride(function: &Function) -> u32 {
    (function.num_insts() as u32).div_ceil(MAX_STEPS).max(1)
}

#[cfg(test)]
mod tests {
    use super::{MAX_STEPS, covered, stride};
    use crate::analysis::Point;
    use crate::forecast::{Case, forecast_by_name};
    use crate::function::{Function, Inst};
    use crate::target::machine::Architecture;

    /// A kernel of `insts` instructions. The instruction at `wide` writes two words, the others one.
    fn function(insts: usize, wide: usize) -> Function {
        let mut text =
            String::from("mfv 1\nfunction \"k\"\nkernel\nopcode LD_i32\nopcode LDV_i32_v2\nregs %0 B32 B32\n");
        text += "bb0: frequency 1.0 depth 0\n";
        (0..insts).for_each(|inst| {
            text += if inst == wide { "%0, %1 = LDV_i32_v2 1 :: read\n" } else { "%0 = LD_i32 1 :: read\n" };
        });
        Function::parse(&(text + "end\n")).expect("a view")
    }

    /// A peak of one instruction is in the curve for any number of instructions in a step.
    #[test]
    fn steps_keep_their_most() {
        let architecture = Architecture::by_name("sm_90").expect("is known");
        for (insts, wide) in [(3, 1), (512, 511), (513, 512), (5_000, 1_234)] {
            let forecasts = forecast_by_name(&[function(insts, wide)], &Case { architecture, max_registers: None });
            let curve = forecasts.expect("the models are there").remove(0).curve;
            assert!(curve.words.len() <= MAX_STEPS as usize && curve.words.len() * curve.stride as usize >= insts);
            let expected: Vec<u32> =
                (0..curve.words.len()).map(|step| 1 + u32::from(step == wide / curve.stride as usize)).collect();
            assert_eq!(curve.words, expected, "{insts} instructions");
        }
    }

    /// Segments closer than a step are one range, and others stay apart. An instruction that only reads is covered.
    #[test]
    fn near_segments_are_joined() {
        let function = function(2_048, 0);
        assert_eq!(stride(&function), 4);
        let stretches = [(1, 5), (12, 13), (30, 32)].map(|(start, end)| (Point(start), Point(end)));
        let covered = covered(&function, stretches.into_iter());
        assert_eq!(covered, [Inst(0)..Inst(7), Inst(15)..Inst(16)]);
    }
}
