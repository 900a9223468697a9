//! SIMD video instructions, in instructions that the hardware has.
//!
//! `vsub4`, `vset4` and their like compute on the bytes or halves of a word ("PTX ISA", SIMD Video Instructions). Only Kepler
//! had them in hardware. ptxas takes a word apart for them, computes each part, and puts the parts together again: `vsub4` with
//! saturation is 42 machine instructions. clang's header for CUDA writes `__vsubss4`, `__vcmpne4` and the other SIMD intrinsics
//! with them, as inline assembly. NVIDIA's header computes all parts of the word at once.
//!
//! So does `nvptx-simd-video`: sums and differences leave out the top bit of each part, so that no carry reaches the next part, and the
//! top bits are made by logic (Warren, "Hacker's Delight", section 2-18). What ptxas does as well stays, and so does what has
//! a selector, a mask, operands of several types or a sum of the parts.
//!
//! * [`operation`]: what an instruction computes;
//! * [`sequence`]: instructions that compute the same;
//! * [`text`]: a text of assembly with these in place of those.

mod operation;
mod sequence;
mod text;

pub use text::expanded;

use super::assembly::assembly_text;
use super::{Function, Inst};

/// What the names of SIMD video instructions begin with.
const STEMS: [&str; 7] = ["vadd", "vsub", "vset", "vmin", "vmax", "vavrg", "vabsdiff"];

/// Whether a text of assembly may have SIMD video instructions, by their names.
pub fn may_be_in(text: &str) -> bool {
    STEMS.iter().any(|stem| text.contains(stem))
}

/// Whether inline assembly is as [`expanded`] makes it of what it was.
pub fn is_expansion((before, old): (&Function, Inst), (after, new): (&Function, Inst)) -> bool {
    let was = assembly_text(before, old).and_then(expanded);
    was.is_some_and(|was| Some(was.as_str()) == assembly_text(after, new))
}
