//! The pressure along the code, few numbers however long the code is.

use std::ops::Range;

use super::stretches::Pressure;
use crate::analysis::Segment;
use crate::function::{Function, Inst};

/// How many steps a curve has at most: a step for each pixel of a drawing is enough.
pub const MAX_STEPS: u32 = 512;

/// How many words are live along the code. Its steps are runs of as many instructions each, in layout order, but for
/// the last, which may be shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Instructions of a step, 1 or more; 1 for functions of at most [`MAX_STEPS`] instructions.
    pub stride: u32,
    /// The most 32-bit words live at an instruction of each step: at most [`MAX_STEPS`], none for a function without
    /// instructions.
    pub words: Vec<u32>,
}

impl Curve {
    /// The curve of a function. O(instructions).
    pub(super) fn new(function: &Function, pressure: &Pressure) -> Self {
        let insts = function.num_insts() as u32;
        let stride = stride(function);
        let step = |first| (first..insts.min(first + stride)).map(|inst| pressure.at(Inst(inst))).max().unwrap_or(0);
        Self { stride, words: (0..insts).step_by(stride as usize).map(step).collect() }
    }
}

/// The instructions that segments cover, in order, joined where less than a step of the curve is between them.
pub(super) fn covered(function: &Function, segments: &[Segment]) -> Vec<Range<Inst>> {
    let stride = stride(function);
    let mut covered: Vec<Range<Inst>> = Vec::new();
    for segment in segments {
        let (start, end) = (segment.start.inst(), Inst(segment.end.0.div_ceil(2)));
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
