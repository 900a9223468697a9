//! Asynchronous instructions: products of a warpgroup (`wgmma`), and accesses to tensor memory (`tcgen05`).
//!
//! PTX ISA, `wgmma.mma_async` and `tcgen05.ld`: the registers of these instructions may be neither read nor written
//! until an instruction waits for them. `wgmma.fence`: if other instructions write registers of accumulators or matrix
//! fragments, a fence must follow the writes, or the product may not see them. In a view of LLVM's code, only the names
//! of opcodes and the text of inline assembly show these instructions.

use crate::function::assembly::assembly_text;
use crate::function::{Function, Inst, Operand, RegClass};

/// The relation of an instruction to asynchronous instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asynchrony {
    /// It is asynchronous, or contains an asynchronous instruction without waiting for it.
    Starts,
    /// It waits for asynchronous instructions.
    Waits,
    /// It orders earlier accesses to the registers of asynchronous instructions before these instructions.
    Orders,
}

/// Returns the relation of an instruction to asynchronous instructions. `None` if it has none.
pub fn asynchrony(function: &Function, inst: Inst) -> Option<Asynchrony> {
    of_text(assembly_text(function, inst).unwrap_or_else(|| function.opcodes().name(function.opcode(inst))))
}

/// Whether an operand of an asynchronous instruction is an accumulator or a matrix fragment, for which a fence is
/// needed. Descriptors have 64 bits, and the operand that selects accumulation is a predicate; a fence does not order
/// these.
pub fn is_fragment(function: &Function, operand: &Operand) -> bool {
    operand.is_def() || operand.reg().is_some_and(|reg| function.class(reg) == RegClass::B32)
}

fn of_text(text: &str) -> Option<Asynchrony> {
    let is_family = |word: &str| ["wgmma", "tcgen05"].iter().any(|name| starts_with(word, name));
    let is_wait = |word: &str| {
        [("wgmma", "wait_group"), ("tcgen05", "wait")].iter().any(|(name, wait)| {
            starts_with(word, name) && word.get(name.len() + 1..).is_some_and(|rest| starts_with(rest, wait))
        })
    };
    let mut words = text.split(|letter: char| letter.is_whitespace() || matches!(letter, ';' | '{' | '}'));
    let last = words.rfind(|word| is_family(word.trim_start_matches('@')))?;
    let last = last.trim_start_matches('@');
    let is_fence = starts_with(last, "wgmma") && last.get(6..).is_some_and(|rest| starts_with(rest, "fence"));
    Some(match (is_wait(last), is_fence) {
        (true, _) => Asynchrony::Waits,
        (_, true) => Asynchrony::Orders,
        _ => Asynchrony::Starts,
    })
}

/// In some versions, LLVM's names have capitals.
fn starts_with(word: &str, prefix: &str) -> bool {
    word.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Covers LLVM's opcodes, mnemonics with a form, and inline assembly, in which the last asynchronous instruction
    /// counts.
    #[test]
    fn by_name_and_by_text() {
        for starts in [
            "TCGEN05_LD_32x32b_x1",
            "@tcgen05.ld.sync.aligned.32x32b.x2.b32/v2a",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1;",
            "tcgen05.wait::ld.sync.aligned; tcgen05.ld.sync.aligned.32x32b.x1.b32 {$0}, [$1];",
        ] {
            assert_eq!(of_text(starts), Some(Asynchrony::Starts), "{starts}");
        }
        for waits in [
            "tcgen05_wait_ld",
            "tcgen05.wait::st.sync.aligned/",
            "// wait\nwgmma.wait_group.sync.aligned 0;",
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {$0}, [$1];\n\ttcgen05.wait::ld.sync.aligned;",
        ] {
            assert_eq!(of_text(waits), Some(Asynchrony::Waits), "{waits}");
        }
        for orders in ["WGMMA_FENCE_SYNC_ALIGNED", "wgmma.fence.sync.aligned/", "// fence\nwgmma.fence.sync.aligned;"] {
            assert_eq!(of_text(orders), Some(Asynchrony::Orders), "{orders}");
        }
        for neither in ["ADD32rr", "cp.async.wait_group/i", "wait_group 0;", ""] {
            assert_eq!(of_text(neither), None, "{neither}");
        }
    }
}
