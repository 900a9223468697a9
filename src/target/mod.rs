//! Facts about the target: opcodes, register classes, processors.
//!
//! The rules classify an opcode by its name alone. A [`Classification`] combines the rules with LLVM's descriptors and
//! flags for all opcodes of a subtarget, and returns the effects of instructions. [`machine`] describes the processors.

mod assembly;
mod assembly_addresses;
mod assembly_effects;
mod assembly_loads;
mod assembly_returns;
mod asynchronous;
mod classes;
mod classification;
mod flags;
mod fusion;
mod info;
pub mod machine;
mod masked;
mod pattern;
pub mod ptx;
mod ptx_version;
mod register_tuples;
mod rules;
mod setmaxnreg;
mod system_functions;
#[cfg(test)]
mod tests;
mod tuple_kind;
mod uniformity;

use std::sync::LazyLock;

pub use assembly_addresses::{address_operands, registers_of};
pub use assembly_effects::AssemblyEffects;
pub use assembly_loads::with_assembly_loads;
pub use assembly_returns::told_by_text;
pub use asynchronous::{Asynchrony, asynchrony, is_fragment};
pub use classification::Classification;
pub use flags::{DescFlags, InstFlags};
pub use fusion::{is_fusible_product, is_fusible_sum};
pub use info::{CopyFamily, CopyOperands, OpcodeInfo, Purity, RematCost, Uniformity};
pub use masked::{Left, Masked, guard, has_masks};
pub use ptx_version::PtxVersion;
pub use register_tuples::{RegisterTuple, VectorShape};
pub use setmaxnreg::{asks_for_registers, assembly_may_ask, repartition_of, repartitions};
pub use system_functions::SYSTEM_FUNCTIONS;
pub use tuple_kind::TupleKind;
pub(crate) use uniformity::named_space;

/// A pattern, and the classification of the names that match it.
type Known = (&'static str, &'static OpcodeInfo);

/// The patterns of all rules, by the first byte of the matching names.
static PATTERNS: LazyLock<[Vec<Known>; 128]> = LazyLock::new(|| {
    let mut by_first = [const { Vec::new() }; 128];
    for rule in rules::RULES.into_iter().flatten() {
        for pattern in rule.names.split_ascii_whitespace() {
            let mut firsts = pattern::first_bytes(pattern);
            while firsts != 0 {
                by_first[firsts.trailing_zeros() as usize].push((pattern, &rule.info));
                firsts &= firsts - 1;
            }
        }
    }
    by_first
});

/// Returns the classification of the opcode with this name, by a search through dozens of patterns. Code outside this
/// module uses a [`Classification`], which stores the result and has LLVM's descriptors.
///
/// Names that LLVM 22 does not have are [`OpcodeInfo::UNKNOWN`], never guessed. LLVM's records without a name,
/// `anonymous_N` (shuffles, matrix instructions, some fences), are unknown, too. Apart from the fences, the whole warp
/// executes them together. LLVM does not mark all of them as convergent, so they count as convergent here. The records
/// of `setmaxnreg` are treated in the same way. The C++ shim gives them the name of the instruction that they print.
fn classify(name: &str) -> OpcodeInfo {
    if let Some(info) = ptx::classify(name) {
        return info;
    }
    let first = name.bytes().next().unwrap_or_default();
    let candidates = PATTERNS.get(usize::from(first)).map_or(&[][..], Vec::as_slice);
    if let Some((_, info)) = candidates.iter().find(|(pattern, _)| pattern::matches(pattern, name)) {
        return **info;
    }
    if is_anonymous(name) || asks_for_registers(name) { OpcodeInfo::UNKNOWN.collective() } else { OpcodeInfo::UNKNOWN }
}

/// Whether TableGen generated the name for a record without a name.
fn is_anonymous(name: &str) -> bool {
    name.strip_prefix("anonymous_").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
