//! Replaces SIMD video instructions by instructions that the hardware has.
//!
//! `vsub4`, `vset4` and related instructions compute on the bytes or halves of a word ("PTX ISA", SIMD Video
//! Instructions). Only Kepler implemented them in hardware. For other GPUs, ptxas splits a word into its parts,
//! computes each part, and combines the parts again: `vsub4` with saturation becomes 42 machine instructions. clang's
//! header for CUDA implements `__vsubss4`, `__vcmpne4` and the other SIMD intrinsics as inline assembly with these
//! instructions. NVIDIA's header computes all parts of the word at once.
//!
//! `nvptx-simd-video` also computes all parts at once. Sums and differences omit the top bit of each part, so that no
//! carry reaches the next part. Logic instructions compute the top bits (Warren, "Hacker's Delight", section 2-18).
//! Instructions that ptxas compiles equally well stay unchanged, and so do instructions with a selector, a mask,
//! operands of several types or a sum of the parts.
//!
//! * [`operation`]: the operation of an instruction;
//! * [`sequence`]: equivalent instructions;
//! * [`text`]: replaces the instructions in an assembly text.

mod operation;
mod sequence;
mod text;

pub use text::expanded;

use super::assembly::assembly_text;
use super::{Function, Inst};

/// The prefixes of the names of SIMD video instructions.
const STEMS: [&str; 7] = ["vadd", "vsub", "vset", "vmin", "vmax", "vavrg", "vabsdiff"];

/// Whether an assembly text may contain SIMD video instructions, judged by their names.
pub fn may_be_in(text: &str) -> bool {
    STEMS.iter().any(|stem| text.contains(stem))
}

/// Whether the new inline assembly is the result of [`expanded`] on the old one.
pub fn is_expansion((before, old): (&Function, Inst), (after, new): (&Function, Inst)) -> bool {
    let was = assembly_text(before, old).and_then(expanded);
    was.is_some_and(|was| Some(was.as_str()) == assembly_text(after, new))
}
